// What a tensor holds: immutable values, the arrays among them, and the cells that make values assignable.
// Knows nothing of operations or transforms; the interpreters add their own kinds of Value. Start with `Value`.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "ricci/error.h"
#include "ricci/owned.h"
#include "ricci/ref_count.h"
#include "ricci/strided.h"
#include "ricci/tensor.h"
#include "ricci/type.h"
#include "tensor/level.h"

namespace ricci {

enum class ValueKind : std::uint8_t { array, batched, dual, taped, recorded };

/// An immutable value of one level, reference counted.
struct Value {
  RefCount refs;
  ValueKind kind;
  Level level;
  Type type;  // as seen by the user at this level

  Value(ValueKind kind, Level level, Type type) : kind(kind), level(level), type(std::move(type)) {}
  Value(const Value&) = delete;
  virtual ~Value() = default;
  virtual void destroy() noexcept = 0;  // ends the value and gives its memory back
};

/// An owning pointer to an immutable Value.
template <class V>
class Ref {
 public:
  Ref() = default;
  static Ref adopt(V* value) {
    Ref r;
    r.value_ = value;
    return r;
  }
  static Ref share(V* value) {
    if (value) value->refs.add();
    return adopt(value);
  }
  Ref(const Ref& o) : value_(o.value_) {
    if (value_) value_->refs.add();
  }
  Ref(Ref&& o) noexcept : value_(std::exchange(o.value_, nullptr)) {}
  template <class W>
    requires(!std::is_same_v<V, W> && std::is_convertible_v<W*, V*>)
  Ref(Ref<W> o) : value_(o.leak()) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(value_, o.value_);
    return *this;
  }
  ~Ref() { drop(); }
  V* get() const { return value_; }
  V* operator->() const { return value_; }
  V& operator*() const { return *value_; }
  explicit operator bool() const { return value_ != nullptr; }
  V* leak() { return std::exchange(value_, nullptr); }

 private:
  void drop() {
    if (value_ && value_->refs.drop()) value_->destroy();
  }
  V* value_ = nullptr;
};

using ValueRef = Ref<Value>;
using Values = SmallVector<ValueRef, 3>;

/// Moves the value, where a list in braces would copy it.
inline Values one_value(ValueRef value) {
  Values values;
  values.push_back(std::move(value));
  return values;
}

/// A counted piece of pool memory. Elements, the Array that describes them and the Cell that holds the Array live in
/// one Block when an operation makes them, so that one allocation serves all three.
struct Block {
  RefCount refs;
  bool lends = false;  // the elements are memory of the user's: a Loan stands where they would
  std::size_t bytes;

  void retain() { refs.add(); }
  void release() noexcept;
};

/// Elements in memory: the only value the eager level knows.
struct Array final : Value {
  Strides strides;  // in elements; 0 along broadcast axes
  void* data;       // element (0, …, 0)
  Block* storage;   // owns the elements
  Block* home;      // owns this object

  Array(Type type, Strides strides, void* data, Block* storage, Block* home)
      : Value(ValueKind::array, 0, std::move(type)),
        strides(std::move(strides)),
        data(data),
        storage(storage),
        home(home) {}
  void destroy() noexcept override;

  Strided strided() const { return {data, type.dtype, type.rank(), type.shape.host(), strides.data()}; }
  std::int64_t numel() const;
};
using ArrayRef = Ref<Array>;

/// A C++ number, not a tensor with a history.
inline bool is_number(const Value& value) {
  return value.kind == ValueKind::array && value.type.weak && value.type.shape.empty();
}

struct OperationLink;
struct ArgumentLink;

/// How a cell that views another cell relates to it. Through an operation, or as the argument of a transform: both
/// kinds stand in primitive/writing.h. There may be others, so nobody casts a Link: it says itself what it is.
struct Link {
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  Tensor base;
  std::atomic<std::uint64_t> seen = never;  // the base's version when the cell's value was computed
  Cell* root = nullptr;                     // root_of the base; the base keeps it alive
  int depth = 1;                            // how many views there are from here to the root, this one included
  // Readers of this view drop derivatives up to this level, because the view, or a view it was made of, was made under
  // no_grad.
  Level cut_below = 0;
  // Once a tape has watched this view, derivatives up to this level are dropped when the view is recomputed from its
  // base; the watched value keeps them.
  Level cut_of_base = 0;
  // While the view holds a value that is current, the link stands in its root's list of such views, `root->current`: a
  // write makes them forget their values, so that none of these stops it from being made in place.
  Cell* view = nullptr;
  Link* next = nullptr;
  Link** place = nullptr;  // what points to this link; null: it stands in no list

  virtual ~Link() = default;
  /// The view's value, given the base's.
  virtual ValueRef value_of(const ValueRef& base) const = 0;
  /// The base's value after the view has been given `value`.
  virtual ValueRef base_after(const ValueRef& base, const ValueRef& value) const = 0;
  /// Turns the base's layout into this view's; false where a transform stands between, or the layout does not allow it.
  virtual bool locate(Type& type, Strides& strides, void*& data) const = 0;
  /// Itself if it is a view made by an operation; else null.
  virtual const OperationLink* operation() const { return nullptr; }
  /// Itself if it is the argument of a transform, which keeps its own value when the base changes; else null.
  virtual const ArgumentLink* argument() const { return nullptr; }
  bool is_argument() const { return argument() != nullptr; }
};

/// What a Tensor points to: one assignable place. Requires: `refs` comes first (Tensor counts on it).
struct Cell {
  RefCount refs;
  std::uint32_t source = 0;   // not 0: a copy that an index gave, and its number among those
  Level birth;                // the innermost level alive when the cell was made
  ValueRef value;             // of a view: what `link` last gave, current if the base is as `link->seen` says
  std::uint64_t version = 0;  // counts assignments
  Link* link = nullptr;       // not null: a view, owned
  Link* current = nullptr;    // of a root: the first of its views that hold a current value

  Cell(Level birth, ValueRef value) : birth(birth), value(std::move(value)) {}
};

// ── making values and cells ──

/// No address space holds the elements: `f32[1125899906842624] has more elements than memory can hold`. Whoever knows
/// the operation says its name before it.
struct TooLarge final : ValueError {
  explicit TooLarge(const Type& type);
};

/// The bytes that elements of this type take. Throws TooLarge.
std::int64_t bytes_of(const Type& type);
/// An uninitialised contiguous array, and with it the memory for a cell. Throws TooLarge.
ArrayRef make_array(const Type& type);
/// Another view of the elements of `base`.
ArrayRef make_alias(const Array& base, Type type, Strides strides, void* data);
/// Elements lent by the user; `deleter(context, data)` is called when the last user is gone.
ArrayRef make_lent(const Type& type, void* data, void (*deleter)(void*, void*), void* context);

/// A new cell. Where nothing else has seen the array, its block serves the cell as well.
Tensor make_tensor(ValueRef value, Level birth);
/// A new cell that views `link->base`.
Tensor make_view(ValueRef value, Level birth, Owned<Link> link);

Strides contiguous_strides(const Shape& shape);
bool is_contiguous(const Shape& shape, const Strides& strides);
/// Whether two elements may share one place in memory: expanded axes, overlapping windows.
bool overlaps_itself(const Shape& shape, const Strides& strides);

// ── reading ──

/// The current value; refreshes a view whose base has changed. Throws ValueError if undefined. Any number of threads
/// may ask at once, as long as none writes.
const ValueRef& value_of(const Tensor& tensor);
/// The block that the cell stands in.
inline Block* home_of(const Cell* cell) { return reinterpret_cast<Block*>(const_cast<Cell*>(cell)) - 1; }
/// The cell that owns the elements: the end of the chain of links, found in one step.
Cell* root_of(Cell* cell);
/// The views from a cell to its root, the cell first and the root not among them. They may be more than the stack is
/// deep: nobody follows links by recursion.
SmallVector<Cell*, 8> views_to_root(Cell* cell);
/// The views of this root forget their values and compute them anew when they are read next; those that a tape watches
/// keep theirs until the root changes. Requires: nobody else reads or writes the root or a view of it meanwhile.
void forget_views(Cell* root);
/// What a view, not an argument, shows from now on, given that it has been written through. Null: it computes it anew.
void show(Cell* view, ValueRef value) noexcept;
/// The array of a base cell nobody else can see, where an in-place operation may write; else null. `reader` is a value
/// that the caller holds: it may be a view of the elements.
Array* sole_array(Cell* cell, const Value* reader = nullptr);

/// What a tensor is, as the user sees it at the tensor's level.
inline Type type_of(const Tensor& tensor) { return value_of(tensor)->type; }

[[noreturn]] void throw_undefined();

// ── where a copy was read from ──

/// What `x.index({…})` read, so that assigning to its result without a name writes there.
struct Source {
  Tensor base;
  std::vector<Index> indices;
};

/// C++ computes the value that is assigned before the target, so nothing runs between an index and the assignment to
/// it, and each thread remembers one source: that of its last index, until the result is gone.
void remember_source(const Tensor& result, Source source);
/// Null where it is forgotten, or where no index gave the tensor.
const Source* source_of(const Tensor& tensor);

}  // namespace ricci
