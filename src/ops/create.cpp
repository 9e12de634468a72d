// Tensors from nothing: one value everywhere, and patterns. A factory is an operation without inputs, so that a
// recording sees it; outside transforms it writes straight into fresh memory.
#include "ricci/ops/create.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "interpreters/record.h"
#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "ops/patterns.h"
#include "ops/reading.h"
#include "primitive/called.h"
#include "primitive/writing.h"
#include "program/element_writer.h"
#include "program/structure.h"
#include "ricci/primitive/scalar.h"
#include "tensor/default_dtype.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

// ── the operations ──

/// Structural zeros are what rules put where nothing is: a cotangent that nobody gave, the elements beside those that a
/// view shows. A reader of programs may take them for structure: a product with one is one, a sum with one the other
/// term. A zero that the user wrote is a number.
template <bool are_structural>
struct AllZeros {
  using kind = Explicit;
  static constexpr const char* name = are_structural ? "structural_zeros" : "zeros";
  static constexpr bool locally_constant = true;
  Shape shape;
  DType dtype;

  Type type() const { return {dtype, shape}; }
  void eval(Outputs out, Inputs) const { kernels::clear(out[0]); }
  Structure structure() const {
    Made made{.of_type = [](const void*, const Type& type) { return own(AllZeros{type.shape, type.dtype}); }};
    if (are_structural)
      made.run_of_structural = [](const void* op, const AxisRun& run) {
        AllZeros part = erase::as<AllZeros>(op);
        part.shape[static_cast<std::size_t>(run.axis)] = run.size;
        return own(part);
      };
    return made;
  }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<AllZeros>> samples() { return {{{{2, 3}, DType::float64}, {}}}; }
};
using Zeros = AllZeros<false>;
using StructuralZeros = AllZeros<true>;

/// The number of a size of a recorded program.
struct SizeNumber {
  using kind = Explicit;
  static constexpr const char* name = "size_number";
  static constexpr bool locally_constant = true;
  Size size;

  Type type() const { return {DType::int64, {}, true}; }
  void eval(Outputs out, Inputs) const { *static_cast<std::int64_t*>(out[0].data) = size.host(); }
  SizeNumber lifted() const { return *this; }
  static std::vector<Sample<SizeNumber>> samples() { return {{{Size(3)}, {}}}; }
};

struct Empty {
  using kind = Explicit;
  static constexpr const char* name = "empty";
  static constexpr bool locally_constant = true;
  Shape shape;
  DType dtype;

  Type type() const { return {dtype, shape}; }
  void eval(Outputs, Inputs) const {}
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
};

/// Integers and booleans are made of `integer`, the others of `real` and `imaginary`.
struct Full {
  using kind = Explicit;
  static constexpr const char* name = "full";
  static constexpr bool locally_constant = true;
  Shape shape;
  DType dtype;
  std::int64_t integer;
  double real, imaginary;

  Type type() const { return {dtype, shape}; }
  void eval(Outputs out, Inputs) const {
    if (is_integral(dtype)) kernels::fill(out[0], integer);
    else kernels::fill(out[0], real, imaginary);
  }
  Structure structure() const {
    return Made{.of_type = [](const void* op, const Type& type) {
      const Full& all = erase::as<Full>(op);
      return own(Full{type.shape, type.dtype, all.integer, all.real, all.imaginary});
    }};
  }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Full>> samples() {
    return {{{{2}, DType::float64, 0, 1.5, 0}, {}}, {{{2}, DType::int64, 7, 7, 0}, {}}};
  }
};

/// Part of an identity: its rows from `row` on, its columns from `column` on.
struct EyePart {
  using kind = Explicit;
  static constexpr const char* name = "eye";
  static constexpr bool locally_constant = true;
  Size row, column, rows, columns;
  DType dtype;

  Type type() const {
    for (const Size size : {rows, columns})
      if (!size.is_symbol()) require_between(0, size.raw(), INT64_MAX);
    return {dtype, {rows, columns}};
  }
  void eval(Outputs out, Inputs) const {
    kernels::fill(out[0], std::int64_t{0});
    const std::int64_t height = rows, width = columns;
    if (height == 0 || width == 0) return;  // however long the other one is
    const std::int64_t shift = std::clamp<std::int64_t>(row - column, -height, width);
    const std::int64_t from = std::max<std::int64_t>(0, -shift), until = std::min(height, width - shift);
    if (from >= until) return;
    const std::int64_t count = until - from, stride = width + 1;
    auto* one =
        static_cast<std::byte*>(out[0].data) + (from * stride + shift) * static_cast<std::int64_t>(element_size(dtype));
    kernels::fill({one, dtype, 1, &count, &stride}, std::int64_t{1});
  }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<EyePart>> samples() {
    return {{{1, 0, 2, 4, DType::float64}, {}}, {{0, 1, 3, 2, DType::int64}, {}}};
  }
};

/// The place of an element, and a number of type float64 as an element of a floating type.
Whole place_of(ElementWriter& y) {
  std::int64_t first = 0, of_lane = 0;
  y.number_by_lane(first, of_lane);  // there is one axis
  return of_lane == 0 ? Whole(first) : Whole(first) + y.lane() * Whole(of_lane);
}
Scalar as_element(const Typed<double>& value, DType dtype) {
  return is_floating(dtype) ? this_thread.scalars->converted(dtype, value.scalar(), false) : no_scalar;
}

/// Seeds of derivatives: the same part of an identity. A reader of programs may take its zeros for structure.
struct Seeds {
  using kind = Explicit;
  static constexpr const char* name = "seeds";
  static constexpr bool locally_constant = true;
  Size row, column, rows, columns;
  DType dtype;

  EyePart part() const { return {row, column, rows, columns, dtype}; }
  Type type() const { return part().type(); }
  void eval(Outputs out, Inputs in) const { part().eval(out, in); }
  Scalar element(ElementWriter& y) const {
    const auto place = [&](int axis, Size first) {
      const Coordinate c = y.coordinate(axis);
      return (c.is_lane ? y.lane() : c.value()) + Whole(first.raw());
    };
    const Typed<double> one(1), zero(0);
    return as_element(scalar::select(scalar::equal(place(0, row), place(1, column)), one, zero), dtype);
  }
  Structure structure() const {
    const auto run_of = [](const void* op, const AxisRun& run) {
      const auto& [row, column, rows, columns, dtype] = erase::as<Seeds>(op);
      return run.axis == 0 ? own(Seeds{row + run.start, column, run.size, columns, dtype})
                           : own(Seeds{row, column + run.start, rows, run.size, dtype});
    };
    return Made{.run_of_structural = run_of,
                .diagonal = [](const void* op) { return erase::as<Seeds>(op).row - erase::as<Seeds>(op).column; }};
  }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Seeds>> samples() {
    return {{{1, 0, 2, 4, DType::float64}, {}}, {{0, 1, 3, 2, DType::float32}, {}}};
  }
};

template <class T>
T element(double value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return static_cast<T>(static_cast<std::int64_t>(value));
  else if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, float>)
    return T(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(static_cast<float>(value));
  else return T(value);
}

/// Element i becomes `value_at(i)`. Requires: a contiguous vector.
template <class F>
void fill_by_place(const Strided& out, const F& value_at) {
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    auto* elements = static_cast<T*>(out.data);
    for (std::int64_t i = 0; i < out.shape[0]; ++i) elements[i] = element<T>(value_at(i));
  });
}

/// Holds sums, differences and products of two 64-bit numbers.
__extension__ using Wide = __int128;

struct ArangeIntegers {
  using kind = Explicit;
  static constexpr const char* name = "arange_integers";
  static constexpr bool locally_constant = true;
  std::int64_t start, step;
  Size size;
  DType dtype;

  Type type() const {
    if (!size.is_symbol() && size.raw() > 0) {
      const Wide last = start + Wide{size.raw() - 1} * step;
      if (last < INT64_MIN || last > INT64_MAX) throw IndexError("counts further than a 64-bit number does");
    }
    return {dtype, {size}};
  }
  void eval(Outputs out, Inputs) const {
    const Strided& to = out[0];
    if (dtype != DType::int64)
      return fill_by_place(to, [this](std::int64_t i) { return static_cast<double>(element_at(i)); });
    for (std::int64_t i = 0; i < to.shape[0]; ++i) static_cast<std::int64_t*>(to.data)[i] = element_at(i);
  }
  /// i * step alone may be more than a number holds.
  std::int64_t element_at(std::int64_t i) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                     static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(step));
  }
  Scalar element(ElementWriter& y) const {
    const Whole value = Whole(start) + place_of(y) * Whole(step);
    return dtype == DType::int64 ? value.scalar() : as_element(value.to<double>(), dtype);
  }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<ArangeIntegers>> samples() {
    return {{{1, 2, 4, DType::int64}, {}}, {{INT64_MIN, INT64_MAX, 3, DType::int64}, {}}};
  }
};

struct Arange {
  using kind = Explicit;
  static constexpr const char* name = "arange";
  static constexpr bool locally_constant = true;
  double start, step;
  Size size;
  DType dtype;

  Type type() const { return {dtype, {size}}; }
  void eval(Outputs out, Inputs) const {
    fill_by_place(out[0], [this](std::int64_t i) { return start + static_cast<double>(i) * step; });
  }
  Scalar element(ElementWriter& y) const {
    return as_element(Typed<double>(start) + place_of(y).to<double>() * Typed<double>(step), dtype);
  }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Arange>> samples() { return {{{0.5, 0.25, 4, DType::float64}, {}}}; }
};

struct Linspace {
  using kind = Explicit;
  static constexpr const char* name = "linspace";
  static constexpr bool locally_constant = true;
  double start, end;
  Size size;
  DType dtype;

  Type type() const {
    require_between(0, size, INT64_MAX);
    return {dtype, {size}};
  }
  /// From both ends, so that the last element is `end` and the values lie symmetrically.
  void eval(Outputs out, Inputs) const {
    const std::int64_t n = size;
    const double step = n > 1 ? (end - start) / static_cast<double>(n - 1) : 0;
    fill_by_place(out[0], [&](std::int64_t i) {
      return i < (n + 1) / 2 ? start + step * static_cast<double>(i) : end - step * static_cast<double>(n - 1 - i);
    });
  }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Linspace>> samples() { return {{{0, 1, 5, DType::float64}, {}}}; }
};

/// `name` is what the user called, for the error of a shape that is too large.
template <class P>
Tensor make(const char* name, const P& op) {
  if (this_thread.innermost) return apply(op);
  (void)&registered<P>;
  try {
    ArrayRef array = make_array(op.type());
    const Strided out = array->strided();
    op.eval({&out, 1}, {});
    return make_tensor(std::move(array), 0);
  } catch (const TooLarge& error) { raise<ValueError>(std::string(name) + ": " + error.what()); }
}

Tensor make_full(const char* op, const Shape& shape, DType dtype, std::int64_t integer, double real, double imaginary) {
  require_sizes(op, shape);
  return make(op, Full{shape, dtype, integer, real, imaginary});
}

Tensor full_like_type(const char* op, const Shape& shape, const Tensor& value, std::optional<DType> wanted) {
  require_defined(op, value, 0);
  require_sizes(op, shape);
  const Type given = type_of(value);
  if (given.rank() != 0)
    raise<ValueError>(std::string(op) + ": the value " + to_string(given) + " has " +
                      count_of(given.rank(), "axis", "axes") + "; pass a number or a 0-dim tensor");
  const DType dtype = wanted.value_or(given.weak ? dtype_for_number(given.dtype) : given.dtype);
  if (is_complex(given.dtype)) converted(value, dtype, op);  // throws where imaginary parts would be lost
  const ValueRef seen = read(value, op);
  if (!is_number(*seen)) {
    const Called as(op);
    return clone(expand(to(value, dtype), shape));
  }
  const auto& array = static_cast<const Array&>(*seen);
  const auto z = only_element<std::complex<double>>(op, array, "");
  const bool exact = is_integral(given.dtype);
  const std::int64_t integer = exact ? only_element<std::int64_t>(op, array, "") : static_cast<std::int64_t>(z.real());
  if (exact) require_fits(op, integer, dtype);
  return make(op, Full{shape, dtype, dtype == DType::boolean ? z != 0.0 : integer, z.real(), z.imag()});
}

// ── arange ──

struct HostNumber {
  bool integral;
  std::int64_t integer;
  double value;
};

HostNumber host_number(const char* op, const Tensor& x) {
  const ArrayRef array = concrete_for_size(op, x);
  const double value = only_element<double>(op, *array, "pass a number");
  const bool integral = is_integral(array->type.dtype);
  return {integral, integral ? only_element<std::int64_t>(op, *array, "pass a number") : 0, value};
}

[[noreturn]] void raise_arange(const std::string& found, const char* remedy) {
  raise<ValueError>("arange: " + found + "; " + remedy);
}

std::string text_of(const HostNumber& n) {
  std::string text;
  if (n.integral) parameters::print(n.integer, text);
  else parameters::print(n.value, text);
  return text;
}

Wide rounded_up_quotient(Wide a, Wide b) { return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0); }

/// The size that x is the number of, where x is one that is being recorded: a symbol; else none.
std::optional<Size> size_behind(const char* op, const Tensor& x) {
  require_defined(op, x, 0);
  const ValueRef seen = read(x, op);
  if (seen->kind != ValueKind::recorded) return std::nullopt;
  const auto* recording = static_cast<const RecordInterpreter*>(find_interpreter(seen->level));
  const Variable variable = static_cast<const Recorded&>(*seen).variable;
  const std::vector<Equation>& equations = recording->body->equations;
  const auto made = std::find_if(equations.rbegin(), equations.rend(), [&](const Equation& equation) {
    return std::find(equation.outputs.begin(), equation.outputs.end(), variable) != equation.outputs.end();
  });
  if (made == equations.rend() || made->rules != &rules_of<SizeNumber>) return std::nullopt;
  return static_cast<const SizeNumber*>(made->parameters.get())->size;
}

/// Where one of the numbers is a size of a recorded program and the others are integers: nothing is read, so that the
/// size stays open. None for other numbers.
std::optional<Tensor> make_open_arange(const Tensor& start, const Tensor& end, const Tensor& step,
                                       std::optional<DType> dtype) {
  Size numbers[3];
  bool any = false;
  for (Size* number = numbers; const Tensor* x : {&start, &end, &step}) {
    if (const std::optional<Size> size = size_behind("arange", *x)) {
      any = true;
      *number++ = *size;
    } else if (is_number(*read(*x, "arange")) && is_integral(type_of(*x).dtype)) {
      *number++ = x->item<std::int64_t>();
    } else {
      return std::nullopt;
    }
  }
  if (!any) return std::nullopt;
  const auto [a, b, by] = numbers;
  const bool rises = by > 0;
  if (by == 0) raise_arange("step is 0", "it must not be");
  const Size length = rises ? b - a : a - b, every = rises ? by : 0 - by;
  if (length < 0)
    raise_arange("from " + hint_text(a) + " to " + hint_text(b) + " by " + hint_text(by) + " leads away from the end",
                 "change the sign of the step");
  const Tensor places = places_along(every == 1 ? length : (length + every - 1) / every);
  const Tensor spread = every == 1 && rises ? places : places * by;
  return to(!a.is_symbol() && a == 0 ? spread : spread + a, dtype.value_or(DType::int64));
}

Tensor make_arange(const Tensor& start, const Tensor& end, const Tensor& step, std::optional<DType> dtype) {
  if (this_thread.innermost)
    if (const std::optional<Tensor> open = make_open_arange(start, end, step, dtype)) return *open;
  const HostNumber a = host_number("arange", start), b = host_number("arange", end), by = host_number("arange", step);
  if (by.value == 0) raise_arange("step is 0", "it must not be");
  const bool integers = a.integral && b.integral && by.integral;
  const Wide exact = integers ? rounded_up_quotient(Wide{b.integer} - a.integer, by.integer) : 0;
  const double count = integers ? static_cast<double>(exact) : std::ceil((b.value - a.value) / by.value);
  if (!std::isfinite(count))
    raise_arange("from " + text_of(a) + " to " + text_of(b) + " by " + text_of(by) + " is no finite range",
                 "pass finite numbers");
  if (count >= 0x1p62)
    raise_arange(
        "from " + text_of(a) + " to " + text_of(b) + " by " + text_of(by) + " has more elements than memory can hold",
        "make it shorter");
  const bool is_empty = integers ? a.integer == b.integer : a.value == b.value;
  const bool rises = integers ? a.integer < b.integer : a.value < b.value;
  if (!is_empty && rises != (by.value > 0))
    raise_arange("from " + text_of(a) + " to " + text_of(b) + " by " + text_of(by) + " leads away from the end",
                 "change the sign of the step");
  const auto size = integers ? static_cast<std::int64_t>(exact) : static_cast<std::int64_t>(count);
  return integers ? make("arange", ArangeIntegers{a.integer, by.integer, size, dtype.value_or(DType::int64)})
                  : make("arange", Arange{a.value, by.value, size, dtype.value_or(default_dtype())});
}

}  // namespace

Tensor seeds_part(Size row, Size column, Size rows, Size columns, DType dtype) {
  require_sizes("eye", {rows, columns});
  return make("eye", Seeds{row, column, rows, columns, dtype});
}
Tensor zeros_of(const Type& type) { return make("zeros", StructuralZeros{type.shape, type.dtype}); }
Tensor places_along(Size size) { return make("arange", ArangeIntegers{0, 1, size, DType::int64}); }

namespace ops {

Tensor Tensor::number_of_size(Size size) { return size.is_symbol() ? apply(SizeNumber{size}) : Tensor(size.raw()); }

Tensor zeros(const Shape& shape) { return zeros(shape, TensorOptions{}); }
Tensor zeros(const Shape& shape, TensorOptions options) {
  require_sizes("zeros", shape);
  return make("zeros", Zeros{shape, options.dtype});
}
Tensor ones(const Shape& shape) { return ones(shape, TensorOptions{}); }
Tensor ones(const Shape& shape, TensorOptions options) { return make_full("ones", shape, options.dtype, 1, 1, 0); }
Tensor empty(const Shape& shape) { return empty(shape, TensorOptions{}); }
Tensor empty(const Shape& shape, TensorOptions options) {
  require_sizes("empty", shape);
  return make("empty", Empty{shape, options.dtype});
}
Tensor full(const Shape& shape, const Tensor& value) { return full_like_type("full", shape, value, std::nullopt); }
Tensor full(const Shape& shape, const Tensor& value, TensorOptions options) {
  return full_like_type("full", shape, value, options.dtype);
}

Tensor zeros_like(const Tensor& x) {
  require_defined("zeros_like", x, 0);
  const Type type = type_of(x);
  return make("zeros_like", Zeros{type.shape, type.dtype});
}
Tensor ones_like(const Tensor& x) {
  require_defined("ones_like", x, 0);
  const Type type = type_of(x);
  return make("ones_like", Full{type.shape, type.dtype, 1, 1, 0});
}
Tensor empty_like(const Tensor& x) {
  require_defined("empty_like", x, 0);
  const Type type = type_of(x);
  return make("empty_like", Empty{type.shape, type.dtype});
}
Tensor full_like(const Tensor& x, const Tensor& value) {
  require_defined("full_like", x, 0);
  const Type type = type_of(x);
  return full_like_type("full_like", type.shape, value, type.dtype);
}
Tensor full_like(const Tensor& x, const Tensor& value, DType dtype) {
  require_defined("full_like", x, 0);
  return full_like_type("full_like", Type{type_of(x)}.shape, value, dtype);
}

Tensor Tensor::new_zeros(const Shape& shape) const { return new_zeros(shape, dtype()); }
Tensor Tensor::new_zeros(const Shape& shape, DType dtype) const {
  require_sizes("new_zeros", shape);
  return make("new_zeros", Zeros{shape, dtype});
}
Tensor Tensor::new_ones(const Shape& shape) const { return new_ones(shape, dtype()); }
Tensor Tensor::new_ones(const Shape& shape, DType dtype) const { return make_full("new_ones", shape, dtype, 1, 1, 0); }
Tensor Tensor::new_empty(const Shape& shape) const { return new_empty(shape, dtype()); }
Tensor Tensor::new_empty(const Shape& shape, DType dtype) const {
  require_sizes("new_empty", shape);
  return make("new_empty", Empty{shape, dtype});
}
Tensor Tensor::new_full(const Shape& shape, const Tensor& value) const { return new_full(shape, value, dtype()); }
Tensor Tensor::new_full(const Shape& shape, const Tensor& value, DType dtype) const {
  return full_like_type("new_full", shape, value, dtype);
}

Tensor eye_rows(Size first, Size rows, Size columns, DType dtype) {
  require_sizes("eye_rows", {rows, columns});
  const Size row = std::max(first, Size(0)), column = first < 0 ? 0 - first : Size(0);
  return make("eye_rows", EyePart{row, column, rows, columns, dtype});
}
Tensor eye(Size n) { return eye(n, n, default_dtype()); }
Tensor eye(Size n, DType dtype) { return eye(n, n, dtype); }
Tensor eye(Size n, Size m) { return eye(n, m, default_dtype()); }
Tensor eye(Size n, Size m, DType dtype) {
  require_sizes("eye", {n, m});
  return make("eye", EyePart{0, 0, n, m, dtype});
}

Tensor arange(const Tensor& end) { return make_arange(0, end, 1, std::nullopt); }
Tensor arange(const Tensor& end, DType dtype) { return make_arange(0, end, 1, dtype); }
Tensor arange(const Tensor& start, const Tensor& end) { return make_arange(start, end, 1, std::nullopt); }
Tensor arange(const Tensor& start, const Tensor& end, DType dtype) { return make_arange(start, end, 1, dtype); }
Tensor arange(const Tensor& start, const Tensor& end, const Tensor& step) {
  return make_arange(start, end, step, std::nullopt);
}
Tensor arange(const Tensor& start, const Tensor& end, const Tensor& step, DType dtype) {
  return make_arange(start, end, step, dtype);
}

Tensor linspace(const Tensor& start, const Tensor& end, Size steps) {
  return linspace(start, end, steps, default_dtype());
}
Tensor linspace(const Tensor& start, const Tensor& end, Size steps, DType dtype) {
  const Called as("linspace", start, end);
  for (const Tensor* bound : {&start, &end})
    if (type_of(*bound).rank() != 0)
      raise<ValueError>("linspace: the " + std::string(bound == &start ? "start " : "end ") + type_text(*bound) +
                        " has axes; pass a number or a 0-dim tensor, and map over it by vmap");
  if (steps < 0) raise<ValueError>("linspace: steps is " + std::to_string(steps) + "; it must be at least 0");
  if (is_number(*read(start, "linspace")) && is_number(*read(end, "linspace")))
    return make("linspace", Linspace{start.item<double>(), end.item<double>(), steps, dtype});
  const bool computes_in_dtype = is_floating(dtype) || is_complex(dtype);
  const Tensor weights =
      make("linspace", Linspace{0, 1, steps, computes_in_dtype ? real_dtype(dtype) : default_dtype()});
  return to(lerp(start, end, weights), dtype);
}

}  // namespace ops
}  // namespace ricci
