// Reading values on the host: item, to_vector, data, bool, and what a tensor is.
#include "ops/reading.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <string_view>

#include "interpreters/answers.h"
#include "interpreters/layout.h"
#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "ricci/primitive/raise.h"
#include "tensor/symbols.h"
#include "tensor/thread_context.h"

namespace ricci {
namespace {

enum class Needs { value, size };

Parts parts_for(Needs needs) { return needs == Needs::size ? Parts::sizes : Parts::values; }

[[noreturn]] void raise_batched(const char* op, const Type& type, const BatchInterpreter& batch, Needs needs) {
  const bool sizes = needs == Needs::size;
  const std::string start =
      std::string(op) + (sizes ? ": the size of the result depends on the values of " : ": needs the value of ") +
      to_string(type) + (sizes ? ", which differ per example of " : ", which differs per example of ");
  const Interpreter* run = nullptr;  // the user's vmap, if `batch` stands for it in a rule
  for (const Interpreter* i : whole_nest())
    if (i->level == batch.run() && i != &batch) run = i;
  if (run && static_cast<const BatchInterpreter*>(run)->parts >= parts_for(needs))
    raise<TransformError>(start + transform_text(run) +
                          ", in a custom function, where examples cannot part; use where, " +
                          (sizes ? "or nonzero with .size, there" : "cond or while_loop there"));
  const bool parts_inside = std::ranges::any_of(whole_nest(), [&](const Interpreter* i) {
    return i->kind == ValueKind::batched && i->level > batch.level &&
           static_cast<const BatchInterpreter*>(i)->parts >= parts_for(needs);
  });
  if (parts_inside)
    raise<TransformError>(start + transform_text(&batch) +
                          "; the examples of the vmap inside it may part, its own may not: give it .lanes = "
                          "rc::Lanes::split" +
                          (sizes ? " or .out_dims = rc::ragged" : "") + " too");
  const std::string_view name = op;
  const bool mask = type.dtype == DType::boolean && name != "nonzero", saves = name.starts_with("save_");
  raise<TransformError>(
      start + transform_text(&batch) +
      (mask && sizes
           ? "; use masked_select(x, mask, {.size = n}), where, .out_dims = rc::ragged, or .lanes = rc::Lanes::split"
       : sizes ? "; use where, nonzero with .size, .out_dims = rc::ragged, or .lanes = rc::Lanes::split"
       : saves ? "; return it from the function and save the result of vmap, which has all examples"
               : "; use where, cond or while_loop, or pass .lanes = rc::Lanes::split to vmap"));
}

/// `x` is read, `about` is what errors speak of.
ArrayRef elements_behind(const char* op, const Tensor& x, const Tensor& about, Needs needs) {
  require_defined(op, x, 0);
  for (ValueRef seen = read(x, op);; seen = in_running_lanes(std::move(seen))) {
    const Answers answers = answers_behind(op, seen);
    for (auto batch = answers.batches.rbegin(); batch != answers.batches.rend(); ++batch)
      if ((*batch)->parts < parts_for(needs)) raise_batched(op, type_of(about), **batch, needs);
    const Disagreement differing(answers);
    if (!differing.batch()) return one_answer(answers);
    differing.batch()->go_on_with_largest(op, differing.groups());
  }
}

/// What the kernels convert to on the way to T.
template <class T>
struct carrier {
  using type = std::int64_t;
};
template <ElementType T>
struct carrier<T> {
  using type = T;
};
template <class T>
using carrier_t = typename carrier<T>::type;

template <class T>
inline constexpr bool is_complex_type =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T>
void require_real_for(const char* op, const Type& type) {
  if (!is_complex_type<T> && is_complex(type.dtype))
    raise<TypeError>(std::string(op) + ": " + to_string(type) +
                     " is complex; ask for std::complex<double>, or take real() of it first");
}

/// Row-major.
template <class C>
void copy_out(C* to, const Array& array) {
  const Strides strides = contiguous_strides(array.type.shape);
  kernels::copy({to, dtype_of<C>, array.type.rank(), array.type.shape.host(), strides.data()}, array.strided());
}

const Type& type_for(const char* op, const Tensor& x) {
  require_defined(op, x, 0);
  return value_of(x)->type;
}

}  // namespace

ArrayRef concrete(const char* op, const Tensor& x) { return elements_behind(op, x, x, Needs::value); }
ArrayRef concrete_for_size(const char* op, const Tensor& x) { return elements_behind(op, x, x, Needs::size); }

AllExamples elements_of_all_examples(const char* op, const Tensor& x) {
  require_defined(op, x, 0);
  const ValueRef seen = read(x, op);
  if (is_recorded({&seen, 1})) return {};
  const Answers answers = answers_behind(op, seen);
  return {answers.elements, Vmaps(answers.batches.begin(), answers.batches.end())};
}

std::int64_t size_of_result(const char* op, const Tensor& count, const Tensor& x) {
  return only_element<std::int64_t>(op, *elements_behind(op, count, x, Needs::size), "");
}

bool differs_per_example(const char* op, const Tensor& x) {
  require_defined(op, x, 0);
  return !answers_behind(op, read(x, op)).batches.empty();
}

template <class T>
T only_element(const char* op, const Array& array, const char* remedy) {
  const std::int64_t n = array.numel();
  if (n != 1)
    raise<ValueError>(std::string(op) + ": " + to_string(array.type) + " has " + count_of(n, "element", "elements") +
                      ", exactly one is needed; " + remedy);
  require_real_for<T>(op, array.type);
  carrier_t<T> element;
  kernels::copy({&element, dtype_of<carrier_t<T>>, 0, nullptr, nullptr},
                {array.data, array.type.dtype, 0, nullptr, nullptr});
  return static_cast<T>(element);
}

namespace ops {

template <class T>
T Tensor::item() const {
  const ArrayRef array = concrete("item", *this);
  return only_element<T>("item", *array, "use to_vector for all of them");
}

Tensor::operator bool() const {
  const ArrayRef array = concrete("bool", *this);
  // Not by way of a real number: i is true.
  return only_element<std::complex<double>>("bool", *array, "use any or all, and & and | in place of && and ||") != 0.0;
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const ArrayRef array = concrete("to_vector", *this);
  require_real_for<T>("to_vector", array->type);
  const auto n = static_cast<std::size_t>(array->numel());
  if constexpr (ElementType<T> && !std::is_same_v<T, bool>) {
    std::vector<T> values(n);
    copy_out(values.data(), *array);
    return values;
  } else {  // std::vector<bool> has no elements in memory, and the kernels know no unsigned types
    const std::unique_ptr<carrier_t<T>[]> elements(new carrier_t<T>[n]);
    copy_out(elements.get(), *array);
    return std::vector<T>(elements.get(), elements.get() + n);
  }
}

template <class T>
const T* Tensor::data() const {
  const ArrayRef array = concrete("data", *this);
  if (array->type.dtype != dtype_of<T>)
    raise<TypeError>("data: " + type_text(*this) + " was asked for as " + short_name(dtype_of<T>) +
                     "; ask for its own element type, or convert it first with to()");
  if (!is_contiguous() || !ricci::is_contiguous(array->type.shape, array->strides))
    raise<ValueError>("data: " + type_text(*this) + " is not contiguous; call contiguous() first");
  return static_cast<const T*>(array->data);
}

#define RICCI_READ_AS(T)           \
  template T Tensor::item() const; \
  template std::vector<T> Tensor::to_vector() const;
#define RICCI_READ_ELEMENTS_AS(T) \
  RICCI_READ_AS(T)                \
  template const T* Tensor::data() const;
RICCI_READ_ELEMENTS_AS(bool)
RICCI_READ_ELEMENTS_AS(signed char)
RICCI_READ_ELEMENTS_AS(unsigned char)
RICCI_READ_ELEMENTS_AS(short)
RICCI_READ_ELEMENTS_AS(int)
RICCI_READ_ELEMENTS_AS(long)
RICCI_READ_ELEMENTS_AS(long long)
RICCI_READ_ELEMENTS_AS(Half)
RICCI_READ_ELEMENTS_AS(BFloat16)
RICCI_READ_ELEMENTS_AS(float)
RICCI_READ_ELEMENTS_AS(double)
RICCI_READ_ELEMENTS_AS(std::complex<float>)
RICCI_READ_ELEMENTS_AS(std::complex<double>)
RICCI_READ_AS(char)
RICCI_READ_AS(unsigned short)
RICCI_READ_AS(unsigned int)
RICCI_READ_AS(unsigned long)
RICCI_READ_AS(unsigned long long)
#undef RICCI_READ_ELEMENTS_AS
#undef RICCI_READ_AS

// ── what it is ──

Shape Tensor::shape() const { return type_for("shape", *this).shape; }

std::int64_t Tensor::size(std::int64_t axis) const {
  const std::int64_t own = wrap_own_axis("size", axis, *this);
  return host_of(value_of(*this)->type.shape[at(own)],
                 [own] { return "use x.shape()[" + std::to_string(own) + "] to leave it open"; });
}

std::int64_t Tensor::dim() const { return type_for("dim", *this).rank(); }
std::int64_t Tensor::numel() const {
  return host_of(type_for("numel", *this).shape.numel(), [] { return "use x.shape().numel() to leave it open"; });
}
DType Tensor::dtype() const { return type_for("dtype", *this).dtype; }

Strides Tensor::strides() const {
  require_defined("strides", *this, 0);
  for (Size size : value_of(*this)->type.shape) size.host();  // strides are numbers
  return layout_of(*this).strides;
}
std::int64_t Tensor::stride(std::int64_t axis) const { return strides()[at(wrap_own_axis("stride", axis, *this))]; }

bool Tensor::is_contiguous() const {
  require_defined("is_contiguous", *this, 0);
  const ValueRef& value = value_of(*this);
  const bool lies_as_seen = value->kind == ValueKind::array && (!cell()->link || !this_thread.innermost);
  if (lies_as_seen) return ricci::is_contiguous(value->type.shape, static_cast<const Array&>(*value).strides);
  return layout_of(*this).is_row_major();
}

}  // namespace ops

template std::int64_t only_element(const char*, const Array&, const char*);
template double only_element(const char*, const Array&, const char*);
template std::complex<double> only_element(const char*, const Array&, const char*);

}  // namespace ricci
