// The parameters of a primitive (its data members) with their C++ type erased: copied, and shown to visitors, which
// print, compare and change them. Knows nothing of what operations do. Start with `ParameterVisitor`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ricci/dtype.h"
#include "ricci/shape.h"
#include "ricci/tree/reflect.h"

namespace ricci {

class Program;
class ParameterVisitor;

/// A parameter whose text only its own type knows, erased.
struct ParameterObject {
  void* value;
  void (*print)(const void*, std::string&);
  void (*parse)(void*, std::string_view&);           // throws ValueError where its text cannot be read back
  void (*walk)(void*, ParameterVisitor&) = nullptr;  // over what stands in it; null: nothing that a visitor sees
  bool (*equal)(const void*, const void*) = nullptr;
};

/// Is shown an operation's parameters in their order, down to numbers, sizes and programs. Printing, reading text back,
/// comparing, and looking for sizes or programs are visitors.
class ParameterVisitor {
 public:
  /// reads: what is shown stays as it is; others may share it. edits: it may be changed. fills: it is read from
  /// somewhere, and lists are made as long as they are found to be.
  enum class Mode : std::uint8_t { reads, edits, fills };
  explicit ParameterVisitor(Mode how) : mode(how) {}
  const Mode mode;

  virtual void truth(bool&) {}
  virtual void integer(std::int64_t&) {}
  virtual void real(double&) {}
  virtual void dtype(DType&) {}
  virtual void size(Size&) {}
  virtual void text(std::string&) {}
  /// Shows the sizes inside the program. Where those are edited, the program becomes another one.
  virtual void program(Program& program);
  virtual void object(const ParameterObject& object) {
    if (object.walk) object.walk(object.value, *this);
  }

  virtual void member(std::size_t, std::string_view) {}  ///< of the operation: its number and name, before its value
  virtual void open(char) {}  ///< '(' of a list, '{' of an aggregate
  virtual void element(std::size_t) {}  ///< comes next; its number
  virtual void close(char) {}  ///< ')' or '}'
  virtual bool is_there(bool now) { return now; }  ///< an optional
  virtual bool has_ended() { return true; }        ///< Mode::fills: whether the list has no more elements

 protected:
  ~ParameterVisitor() = default;
};

namespace parameters {

// A parameter is a number, a bool, an enum, a DType, a Size, a Program, a list of these, an optional of one, or an
// aggregate. A type of another kind brings `print_parameter` and `operator==` itself, `walk_parameter` if there are
// sizes inside it, and `parse_parameter` if its text can be read back.
void print(bool value, std::string& out);
void print(std::int64_t value, std::string& out);
void print(double value, std::string& out);
void print(DType value, std::string& out);
void print(Size value, std::string& out);
/// Reads back what was printed: takes the text of one value from the front of `text`. Throws ValueError.
void parse(bool& value, std::string_view& text);
void parse(std::int64_t& value, std::string_view& text);
void parse(double& value, std::string_view& text);
void parse(DType& value, std::string_view& text);
void parse(Size& value, std::string_view& text);
void parse(std::string& value, std::string_view& text);
/// For a parameter that is more than its text, as a function is. Throws ValueError.
[[noreturn]] void refuse_to_parse(std::string_view text);
/// Takes `token` from the front, or says no.
bool take(std::string_view& text, std::string_view token);
void expect(std::string_view& text, std::string_view token);

template <class T>
concept List = requires(const T& t) {
  t.begin();
  t.size();
  t[0];
} && !std::is_same_v<T, std::string>;
template <class T>
concept Optional = requires(const T& t) {
  t.has_value();
  *t;
};
template <class T>
concept Object = requires(const T& t, std::string& out) { t.print_parameter(out); };

template <Object T>
ParameterObject object_of(T& value) {
  ParameterObject object{
      .value = &value,
      .print = [](const void* p, std::string& out) { static_cast<const T*>(p)->print_parameter(out); },
      .parse = [](void*, std::string_view& text) { refuse_to_parse(text); }};
  if constexpr (requires(std::string_view& text) { value.parse_parameter(text); })
    object.parse = [](void* p, std::string_view& text) { static_cast<T*>(p)->parse_parameter(text); };
  if constexpr (requires(ParameterVisitor& visitor) { value.walk_parameter(visitor); })
    object.walk = [](void* p, ParameterVisitor& visitor) { static_cast<T*>(p)->walk_parameter(visitor); };
  if constexpr (requires { value == value; })
    object.equal = [](const void* a, const void* b) { return *static_cast<const T*>(a) == *static_cast<const T*>(b); };
  return object;
}

template <class T>
void walk(T& value, ParameterVisitor& visitor);

template <class T>
void walk_list(T& list, ParameterVisitor& visitor) {
  using Element = std::remove_cvref_t<decltype(list[0])>;
  visitor.open('(');
  constexpr bool may_grow = requires { list.push_back(list[0]); };
  if constexpr (may_grow) {
    if (visitor.mode == ParameterVisitor::Mode::fills) {
      list.clear();
      while (!visitor.has_ended()) {
        visitor.element(list.size());
        Element element{};
        walk(element, visitor);
        list.push_back(std::move(element));
      }
    }
  }
  const bool is_filled = may_grow && visitor.mode == ParameterVisitor::Mode::fills;
  for (std::size_t i = 0; i < (is_filled ? 0 : list.size()); ++i) {
    visitor.element(i);
    if constexpr (std::is_same_v<decltype(list[i]), Element&>) {
      walk(list[i], visitor);
    } else {
      Element element = list[i];
      walk(element, visitor);
      if (visitor.mode != ParameterVisitor::Mode::reads) list[i] = element;
    }
  }
  visitor.close(')');
}

/// A value that the visitor is shown as a `As`.
template <class As, class T>
void walk_as(T& value, ParameterVisitor& visitor, void (ParameterVisitor::*show)(As&)) {
  As shown = static_cast<As>(value);
  (visitor.*show)(shown);
  if (visitor.mode != ParameterVisitor::Mode::reads) value = static_cast<T>(shown);
}

template <class T>
void walk(T& value, ParameterVisitor& visitor) {
  if constexpr (std::is_same_v<T, Program>) {
    visitor.program(value);
  } else if constexpr (Object<T>) {
    visitor.object(object_of(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    visitor.truth(value);
  } else if constexpr (std::is_same_v<T, DType>) {
    visitor.dtype(value);
  } else if constexpr (std::is_same_v<T, Size>) {
    visitor.size(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    visitor.text(value);
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    walk_as(value, visitor, &ParameterVisitor::integer);
  } else if constexpr (std::is_floating_point_v<T>) {
    walk_as(value, visitor, &ParameterVisitor::real);
  } else if constexpr (Optional<T>) {
    const bool is_there = visitor.is_there(value.has_value());
    if (is_there && !value.has_value()) value.emplace();
    if (!is_there && value.has_value()) value.reset();
    if (is_there) walk(*value, visitor);
  } else if constexpr (List<T>) {
    walk_list(value, visitor);
  } else {
    visitor.open('{');
    std::size_t number = 0;
    tree::for_each_field(value, [&](auto& field) {
      visitor.element(number++);
      walk(field, visitor);
    });
    visitor.close('}');
  }
}

/// The members of an operation, by name.
template <class P>
void walk_members(void* op, ParameterVisitor& visitor) {
  std::size_t number = 0;
  tree::for_each_named_field(*static_cast<P*>(op), [&](std::string_view name, auto& field) {
    visitor.member(number++, name);
    walk(field, visitor);
  });
}

using Walk = void (*)(void*, ParameterVisitor&);
/// `axes=(0,1), keepdim=true`: the members by name.
void print_members(const void* op, Walk walk, std::string& out);
/// Reads back what print_members wrote, from the front of `text`. Throws ValueError.
void parse_members(void* op, Walk walk, std::string_view& text);

}  // namespace parameters

class OwnedParameters;

struct ParameterRules {
  std::size_t size = 0, align = 1;  // size 0: no data members, nothing to store
  void (*copy)(void* to, const void* from) = nullptr;
  void (*destroy)(void*) = nullptr;
  void (*walk_members)(void*, ParameterVisitor&) = nullptr;
  OwnedParameters (*make)() = nullptr;  // some, to be filled

  void walk(const void* parameters, ParameterVisitor& reads) const {
    walk_members(const_cast<void*>(parameters), reads);
  }
  void print(const void* parameters, std::string& out) const;  // `axes=(0,1), keepdim=true`
  bool equal(const void*, const void*) const;
  OwnedParameters parse(std::string_view& text) const;
};

/// A primitive's parameters, owned and shared; immutable once made.
class OwnedParameters {
 public:
  OwnedParameters() = default;
  OwnedParameters(const ParameterRules& rules, const void* from);
  /// A copy that the visitor has edited.
  OwnedParameters(const ParameterRules& rules, const void* from, ParameterVisitor& edits);
  OwnedParameters(const OwnedParameters& other);
  OwnedParameters(OwnedParameters&& other) noexcept : box_(other.box_) { other.box_ = nullptr; }
  OwnedParameters& operator=(OwnedParameters other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~OwnedParameters();
  const void* get() const;
  /// Requires: nobody else shares these.
  void* mutable_get() { return const_cast<void*>(get()); }

 private:
  struct Box;
  Box* box_ = nullptr;
};

template <class P>
OwnedParameters own(const P& op);

template <class P>
constexpr ParameterRules parameter_rules() {
  ParameterRules r;
  r.size = std::is_empty_v<P> ? 0 : sizeof(P);
  r.align = alignof(P);
  r.copy = [](void* to, const void* from) { new (to) P(*static_cast<const P*>(from)); };
  r.destroy = [](void* p) { static_cast<P*>(p)->~P(); };
  r.walk_members = parameters::walk_members<P>;
  r.make = [] { return own(P{}); };
  return r;
}

template <class P>
inline constexpr ParameterRules parameter_rules_of = parameter_rules<P>();

template <class P>
OwnedParameters own(const P& op) {
  return {parameter_rules_of<P>, &op};
}

}  // namespace ricci
