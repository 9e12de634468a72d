// The parameters of a primitive (its data members) with their C++ type erased: copied, compared, hashed, printed, and
// searched for sizes. Knows nothing of what operations do.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include "ricci/dtype.h"
#include "ricci/shape.h"
#include "ricci/tree/reflect.h"

namespace ricci {

class Program;

/// Called with every Size, and with every Program, inside a primitive's parameters.
struct SizeVisitor {
  virtual void visit(Size& size) = 0;
  /// Visits the sizes inside the program, which becomes another one for it.
  virtual void visit_program(Program& program);

 protected:
  ~SizeVisitor() = default;
};

namespace parameters {

// A parameter is a number, a bool, an enum, a DType, a Size, a list of these, an optional of one, or an aggregate.
// A type of another kind brings `print_parameter` and `operator==` itself, `visit_parameter_sizes` if there are sizes
// inside it, and `parse_parameter` if its text can be read back.
void print(bool value, std::string& out);
void print(std::int64_t value, std::string& out);
void print(double value, std::string& out);
void print(DType value, std::string& out);
void print(Size value, std::string& out);
inline void print(const std::string& value, std::string& out) { out += value; }

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
void print_any(const T& value, std::string& out) {
  if constexpr (requires { value.print_parameter(out); }) {
    value.print_parameter(out);
  } else if constexpr (std::is_same_v<T, DType> || std::is_same_v<T, bool> || std::is_same_v<T, Size> ||
                       std::is_same_v<T, std::string>) {
    print(value, out);
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    print(static_cast<std::int64_t>(value), out);
  } else if constexpr (std::is_floating_point_v<T>) {
    print(static_cast<double>(value), out);
  } else if constexpr (Optional<T>) {
    if (value) print_any(*value, out);
    else out += "none";
  } else if constexpr (List<T>) {
    out += '(';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i) out += ',';
      print_any(value[i], out);
    }
    out += ')';
  } else {
    out += '{';
    bool first = true;
    tree::for_each_field(value, [&](const auto& field) {
      if (!first) out += ',';
      first = false;
      print_any(field, out);
    });
    out += '}';
  }
}

/// `axes=(0,1), keepdim=true`: the members by name.
template <class P>
void print_members(const P& op, std::string& out) {
  bool first = true;
  tree::for_each_named_field(op, [&](std::string_view name, const auto& field) {
    if (!first) out += ", ";
    first = false;
    out += name;
    out += '=';
    print_any(field, out);
  });
}

/// Reads back what print_any wrote: takes the text of one value from the front of `text`. Throws ValueError.
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
void parse_any(T& value, std::string_view& text) {
  if constexpr (requires { value.parse_parameter(text); }) {
    value.parse_parameter(text);
  } else if constexpr (requires(std::string& out) { value.print_parameter(out); }) {
    refuse_to_parse(text);
  } else if constexpr (std::is_same_v<T, DType> || std::is_same_v<T, bool> || std::is_same_v<T, Size> ||
                       std::is_same_v<T, std::string>) {
    parse(value, text);
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    std::int64_t number = 0;
    parse(number, text);
    value = static_cast<T>(number);
  } else if constexpr (std::is_floating_point_v<T>) {
    double number = 0;
    parse(number, text);
    value = static_cast<T>(number);
  } else if constexpr (Optional<T>) {
    value.reset();
    if (!take(text, "none")) parse_any(value.emplace(), text);
  } else if constexpr (requires { value.push_back(value[0]); }) {
    expect(text, "(");
    value.clear();
    while (!take(text, ")")) {
      if (value.size()) expect(text, ",");
      std::remove_cvref_t<decltype(value[0])> element{};
      parse_any(element, text);
      value.push_back(element);
    }
  } else if constexpr (List<T>) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      expect(text, i ? "," : "(");
      parse_any(value[i], text);
    }
    expect(text, ")");
  } else {
    expect(text, "{");
    bool first = true;
    tree::for_each_field(value, [&](auto& field) {
      if (!first) expect(text, ",");
      first = false;
      parse_any(field, text);
    });
    expect(text, "}");
  }
}

template <class P>
void parse_members(P& op, std::string_view& text) {
  bool first = true;
  tree::for_each_named_field(op, [&](std::string_view name, auto& field) {
    if (!first) expect(text, ", ");
    first = false;
    expect(text, name);
    expect(text, "=");
    parse_any(field, text);
  });
}

template <class T>
bool equal(const T& a, const T& b) {
  if constexpr (requires {
                  { a == b } -> std::same_as<bool>;
                }) {
    return a == b;
  } else if constexpr (List<T>) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!equal(a[i], b[i])) return false;
    return true;
  } else {
    bool same = true;
    tree::for_each_field_pair(a, b, [&](const auto& x, const auto& y) { same = same && equal(x, y); });
    return same;
  }
}

template <class T>
void visit_sizes(T& value, SizeVisitor& visitor) {
  if constexpr (requires { value.visit_parameter_sizes(visitor); }) value.visit_parameter_sizes(visitor);
  else if constexpr (requires(std::string& out) { value.print_parameter(out); }) return;
  else if constexpr (std::is_same_v<T, Size>) visitor.visit(value);
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>) return;
  else if constexpr (Optional<T>) {
    if (value) visit_sizes(*value, visitor);
  } else if constexpr (List<T>) {
    for (auto& element : value) visit_sizes(element, visitor);
  } else tree::for_each_field(value, [&](auto& field) { visit_sizes(field, visitor); });
}

}  // namespace parameters

class OwnedParameters;

struct ParameterRules {
  std::size_t size = 0, align = 1;  // size 0: no data members, nothing to store
  void (*copy)(void* to, const void* from) = nullptr;
  void (*destroy)(void*) = nullptr;
  bool (*equal)(const void*, const void*) = nullptr;
  void (*print)(const void*, std::string&) = nullptr;  // `axes=(0,1), keepdim=true`
  void (*visit_sizes)(void*, SizeVisitor&) = nullptr;
  OwnedParameters (*parse)(std::string_view& text) = nullptr;
};

/// A primitive's parameters, owned and shared; immutable once made.
class OwnedParameters {
 public:
  OwnedParameters() = default;
  OwnedParameters(const ParameterRules& rules, const void* from);
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
OwnedParameters parse_parameters(std::string_view& text);

template <class P>
constexpr ParameterRules parameter_rules() {
  ParameterRules r;
  r.size = std::is_empty_v<P> ? 0 : sizeof(P);
  r.align = alignof(P);
  r.copy = [](void* to, const void* from) { new (to) P(*static_cast<const P*>(from)); };
  r.destroy = [](void* p) { static_cast<P*>(p)->~P(); };
  r.equal = [](const void* a, const void* b) {
    return parameters::equal(*static_cast<const P*>(a), *static_cast<const P*>(b));
  };
  r.print = [](const void* p, std::string& out) { parameters::print_members(*static_cast<const P*>(p), out); };
  r.visit_sizes = [](void* p, SizeVisitor& visitor) { parameters::visit_sizes(*static_cast<P*>(p), visitor); };
  r.parse = parse_parameters<P>;
  return r;
}

template <class P>
inline constexpr ParameterRules parameter_rules_of = parameter_rules<P>();

template <class P>
OwnedParameters own(const P& op) {
  return {parameter_rules_of<P>, &op};
}

template <class P>
OwnedParameters parse_parameters(std::string_view& text) {
  P op{};
  parameters::parse_members(op, text);
  return own(op);
}

}  // namespace ricci
