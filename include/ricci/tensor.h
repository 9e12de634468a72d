// The tensor a user holds: a handle to a cell. Copying the handle aliases, `clone()` copies, views share, in-place
// methods end in `_`. Operations are free functions, declared in ops.h; the ones people chain are methods too.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/dtype.h"
#include "ricci/ref_count.h"
#include "ricci/shape.h"

namespace ricci {

struct Cell;
class Index;
struct RandomOptions;
namespace ops {
class Tensor;
class IndexedTensor;
}  // namespace ops
using namespace ops;  // argument-dependent lookup finds operations, and never a transform or a tree function

/// Axes of a tensor: `sum(x, 0)`, `sum(x, {0, -1})`. Negative ones count from the back.
class Axes : public SmallVector<std::int64_t, 6> {
 public:
  Axes() = default;
  template <Integer I>
  Axes(I axis) {
    push_back(static_cast<std::int64_t>(axis));
  }
  Axes(std::initializer_list<std::int64_t> axes) : SmallVector(axes) {}
  template <Integer I>
  Axes(const std::vector<I>& axes) : SmallVector(axes.begin(), axes.end()) {}
};

namespace ops {

/// Elements of one dtype in a grid of any number of axes. Any number of threads may read a tensor and its views; while one
/// writes to one of them, no other may use any.
///   rc::Tensor x = rc::zeros({2, 3});  x[0] = 1;  float top = (x * 2).sum().item<float>();
class Tensor {
 public:
  Tensor() = default;  ///< undefined: holds nothing until assigned
  /// A number is a weak 0-dim tensor kept in double: it does not raise the type of what it meets.
  template <class T>
    requires std::is_arithmetic_v<T>
  Tensor(T number) : Tensor(weak_number(number)) {}
  Tensor(const std::complex<double>& number);
  Tensor(const std::complex<float>& number);

  Tensor(const Tensor& other) : cell_(other.cell_) { retain(); }
  Tensor(Tensor&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  ~Tensor() {
    if (cell_) release();
  }
  Tensor& operator=(const Tensor& other) & {
    Tensor copy(other);
    std::swap(cell_, copy.cell_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  /// `x[i] = v` writes through the view.
  const Tensor& operator=(const Tensor& value) const&& { return copy_(value); }
  const Tensor& operator=(Tensor&& value) const&& { return copy_(value); }

  // ── what it is; inside vmap these describe one example ──
  bool defined() const { return cell_ != nullptr; }
  Shape shape() const;
  std::int64_t size(std::int64_t axis) const;  ///< negative axes count from the back
  std::int64_t dim() const;
  std::int64_t numel() const;
  DType dtype() const;
  bool is_floating_point() const { return is_floating(dtype()); }
  bool is_complex() const { return ricci::is_complex(dtype()); }
  Strides strides() const;  ///< in elements; those of a contiguous tensor where a transform hides the layout
  bool is_contiguous() const;
  bool is_same(const Tensor& other) const { return cell_ == other.cell_; }  ///< the same tensor, not an equal one

  // ── reading values; errors on a batched value inside vmap ──
  /// The one element as a T, converted as by a cast; any arithmetic, half-precision or complex T. ValueError if there is
  /// not exactly one, TypeError if it is complex and T is not.
  template <class T = double>
  T item() const;
  /// All elements, row-major, converted as by `item`.
  template <class T = double>
  std::vector<T> to_vector() const;
  /// The elements where they are, until the tensor is written to or gone. TypeError if T is not the element type,
  /// ValueError if they do not lie in row-major order.
  template <class T>
  const T* data() const;
  explicit operator bool() const;  ///< whether the one element is not 0; ValueError if there is not exactly one

  // ── indexing; every result is a view, and `x[i] = v` writes through it ──
  Tensor operator[](std::int64_t i) const;
  Tensor operator[](int i) const { return (*this)[static_cast<std::int64_t>(i)]; }
  IndexedTensor operator[](const Tensor& index) const;
  IndexedTensor index(std::initializer_list<Index> indices) const;
  IndexedTensor index(const std::vector<Index>& indices) const;

  // ── views ──
  Tensor view(const Shape& shape) const;
  Tensor reshape(const Shape& shape) const;
  Tensor view_as(const Tensor& other) const;
  Tensor reshape_as(const Tensor& other) const;
  Tensor expand(const Shape& shape) const;
  Tensor expand_as(const Tensor& other) const;
  Tensor permute(const Axes& axes) const;
  Tensor transpose(std::int64_t a, std::int64_t b) const;
  Tensor t() const;
  Tensor T() const;   ///< all axes in reverse order
  Tensor mT() const;  ///< the last two swapped
  Tensor movedim(const Axes& from, const Axes& to) const;
  Tensor slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> stop) const;
  Tensor slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
               std::int64_t step) const;
  Tensor select(std::int64_t dim, std::int64_t index) const;
  Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  Tensor diagonal() const;
  Tensor diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const;
  Tensor unfold(std::int64_t dim, std::int64_t size, std::int64_t step) const;
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t dim) const;
  Tensor unsqueeze(std::int64_t dim) const;
  Tensor flatten() const;
  Tensor flatten(std::int64_t start, std::int64_t end) const;
  Tensor as_strided(const Shape& size, const Axes& stride) const;
  Tensor as_strided(const Shape& size, const Axes& stride, std::int64_t offset) const;
  std::vector<Tensor> unbind() const;
  std::vector<Tensor> unbind(std::int64_t dim) const;
  std::vector<Tensor> split(std::int64_t size, std::int64_t dim) const;
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t dim) const;

  // ── rearranged copies ──
  Tensor flip(const Axes& dims) const;
  Tensor roll(std::int64_t shift) const;
  Tensor roll(const Axes& shifts, const Axes& dims) const;
  Tensor repeat(const Shape& repeats) const;
  Tensor tile(const Shape& repeats) const;

  // ── new tensors; new_… have this tensor's dtype ──
  Tensor clone() const;
  Tensor contiguous() const;
  Tensor detach() const;
  Tensor to(DType dtype) const;
  Tensor new_zeros(const Shape& shape) const;
  Tensor new_ones(const Shape& shape) const;
  Tensor new_empty(const Shape& shape) const;
  Tensor new_full(const Shape& shape, const Tensor& value) const;
  /// Of these strides, in as few elements as hold it. ValueError if a stride is negative.
  Tensor new_empty_strided(const Shape& size, const Axes& stride) const;

  // ── chained arithmetic ──
  Tensor abs() const;
  Tensor exp() const;
  Tensor log() const;
  Tensor sqrt() const;
  Tensor square() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tanh() const;
  Tensor sigmoid() const;
  Tensor relu() const;
  Tensor neg() const;
  Tensor conj() const;
  Tensor add(const Tensor& other) const;
  Tensor sub(const Tensor& other) const;
  Tensor mul(const Tensor& other) const;
  Tensor div(const Tensor& other) const;
  Tensor pow(const Tensor& exponent) const;
  Tensor clamp(const Tensor& low, const Tensor& high) const;
  Tensor eq(const Tensor& other) const;
  Tensor ne(const Tensor& other) const;
  Tensor lt(const Tensor& other) const;
  Tensor le(const Tensor& other) const;
  Tensor gt(const Tensor& other) const;
  Tensor ge(const Tensor& other) const;
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor mv(const Tensor& other) const;
  Tensor dot(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;
  Tensor inverse() const;

  // ── reductions ──
  Tensor sum() const;
  Tensor sum(const Axes& dims) const;
  Tensor sum(const Axes& dims, bool keepdim) const;
  Tensor mean() const;
  Tensor mean(const Axes& dims) const;
  Tensor mean(const Axes& dims, bool keepdim) const;
  Tensor prod() const;
  Tensor prod(std::int64_t dim) const;
  Tensor max() const;
  Tensor min() const;
  std::pair<Tensor, Tensor> max(std::int64_t dim) const;
  std::pair<Tensor, Tensor> min(std::int64_t dim) const;
  Tensor amax(const Axes& dims) const;
  Tensor amin(const Axes& dims) const;
  Tensor argmax() const;
  Tensor argmax(std::int64_t dim) const;
  Tensor argmin() const;
  Tensor argmin(std::int64_t dim) const;
  Tensor any() const;
  Tensor any(const Axes& dims) const;
  Tensor all() const;
  Tensor all(const Axes& dims) const;
  Tensor var() const;
  Tensor var(const Axes& dims) const;
  Tensor std() const;
  Tensor std(const Axes& dims) const;
  Tensor norm() const;
  Tensor softmax(std::int64_t dim) const;
  Tensor log_softmax(std::int64_t dim) const;
  Tensor logsumexp(std::int64_t dim) const;
  Tensor cumsum(std::int64_t dim) const;
  Tensor cumprod(std::int64_t dim) const;

  // ── indexing by tensors ──
  Tensor gather(std::int64_t dim, const Tensor& index) const;
  Tensor index_select(std::int64_t dim, const Tensor& index) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const;
  Tensor nonzero() const;
  Tensor masked_select(const Tensor& mask) const;

  // ── in-place: the result takes this tensor's shape and type, through views to their base ──
  const Tensor& copy_(const Tensor& source) const;
  const Tensor& fill_(const Tensor& value) const;
  const Tensor& zero_() const;
  const Tensor& add_(const Tensor& other) const;
  const Tensor& sub_(const Tensor& other) const;
  const Tensor& mul_(const Tensor& other) const;
  const Tensor& div_(const Tensor& other) const;
  const Tensor& pow_(const Tensor& exponent) const;
  const Tensor& neg_() const;
  const Tensor& abs_() const;
  const Tensor& exp_() const;
  const Tensor& log_() const;
  const Tensor& sqrt_() const;
  const Tensor& square_() const;
  const Tensor& reciprocal_() const;
  const Tensor& sin_() const;
  const Tensor& cos_() const;
  const Tensor& tanh_() const;
  const Tensor& sigmoid_() const;
  const Tensor& relu_() const;
  const Tensor& floor_() const;
  const Tensor& ceil_() const;
  const Tensor& round_() const;
  const Tensor& clamp_(const Tensor& low, const Tensor& high) const;
  const Tensor& lerp_(const Tensor& end, const Tensor& weight) const;
  const Tensor& masked_fill_(const Tensor& mask, const Tensor& value) const;
  const Tensor& scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  const Tensor& scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  const Tensor& index_put_(const std::vector<Index>& indices, const Tensor& value) const;
  const Tensor& index_put_(const std::vector<Index>& indices, const Tensor& value, bool accumulate) const;

  // ── in-place draws (ops/random.h); the options say `{.generator = g}` ──
  const Tensor& normal_() const;
  const Tensor& normal_(RandomOptions options) const;
  const Tensor& normal_(const Tensor& mean, const Tensor& std) const;
  const Tensor& normal_(const Tensor& mean, const Tensor& std, RandomOptions options) const;
  const Tensor& uniform_() const;
  const Tensor& uniform_(RandomOptions options) const;
  const Tensor& uniform_(const Tensor& low, const Tensor& high) const;
  const Tensor& uniform_(const Tensor& low, const Tensor& high, RandomOptions options) const;
  const Tensor& log_normal_() const;  ///< mean 1, std 2, as torch
  const Tensor& log_normal_(const Tensor& mean, const Tensor& std) const;
  const Tensor& log_normal_(const Tensor& mean, const Tensor& std, RandomOptions options) const;
  const Tensor& exponential_() const;
  const Tensor& exponential_(RandomOptions options) const;
  const Tensor& exponential_(const Tensor& rate) const;
  const Tensor& exponential_(const Tensor& rate, RandomOptions options) const;
  const Tensor& cauchy_() const;
  const Tensor& cauchy_(RandomOptions options) const;
  const Tensor& cauchy_(const Tensor& median, const Tensor& sigma) const;
  const Tensor& cauchy_(const Tensor& median, const Tensor& sigma, RandomOptions options) const;
  const Tensor& bernoulli_() const;  ///< p is 0.5
  const Tensor& bernoulli_(RandomOptions options) const;
  const Tensor& bernoulli_(const Tensor& p) const;
  const Tensor& bernoulli_(const Tensor& p, RandomOptions options) const;
  const Tensor& geometric_(const Tensor& p) const;
  const Tensor& geometric_(const Tensor& p, RandomOptions options) const;
  /// Whole numbers: from low (0) to high - 1; without a bound, all that the element type tells apart from 0 on.
  const Tensor& random_() const;
  const Tensor& random_(RandomOptions options) const;
  const Tensor& random_(std::int64_t high) const;
  const Tensor& random_(std::int64_t high, RandomOptions options) const;
  const Tensor& random_(std::int64_t low, std::int64_t high) const;
  const Tensor& random_(std::int64_t low, std::int64_t high, RandomOptions options) const;

  const Tensor& operator+=(const Tensor& other) const { return add_(other); }
  const Tensor& operator-=(const Tensor& other) const { return sub_(other); }
  const Tensor& operator*=(const Tensor& other) const { return mul_(other); }
  const Tensor& operator/=(const Tensor& other) const { return div_(other); }

  // ── for the library ──
  Cell* cell() const { return cell_; }
  static Tensor adopt(Cell* cell) {
    Tensor t;
    t.cell_ = cell;
    return t;
  }  ///< takes over one reference
  Cell* leak() { return std::exchange(cell_, nullptr); }  ///< gives its reference away

 private:
  template <class T>
  static Tensor weak_number(T number) {
    if constexpr (std::is_same_v<T, bool>) return weak_boolean(number);
    else if constexpr (std::is_integral_v<T>) return weak_integer(static_cast<std::int64_t>(number));
    else return weak_floating(static_cast<double>(number));
  }
  static Tensor weak_boolean(bool value);
  static Tensor weak_integer(std::int64_t value);
  static Tensor weak_floating(double value);
  void retain() const {
    if (cell_) reinterpret_cast<RefCount*>(cell_)->add();
  }
  void release();

  Cell* cell_ = nullptr;  // a Cell begins with its RefCount
};

/// What indexing by tensors gives: a copy, which writes back when assigned to: `x.index({i, j}) = v`.
class IndexedTensor : public Tensor {
 public:
  IndexedTensor(Tensor value, Tensor base, std::vector<Index> indices);
  IndexedTensor(const IndexedTensor&) = default;
  const Tensor& operator=(const Tensor& value) const&&;
  const Tensor& operator+=(const Tensor& other) const&& { return std::move(*this) = add(other); }
  const Tensor& operator-=(const Tensor& other) const&& { return std::move(*this) = sub(other); }
  const Tensor& operator*=(const Tensor& other) const&& { return std::move(*this) = mul(other); }
  const Tensor& operator/=(const Tensor& other) const&& { return std::move(*this) = div(other); }
  const Tensor& operator=(const IndexedTensor& value) const&& {
    return std::move(*this) = static_cast<const Tensor&>(value);
  }

 private:
  Tensor base_;
  std::vector<Index> indices_;
};

/// `[[1, 2], [3, 4]] f32[2,2]` over several lines, axes longer than 6 cut where there are more than 1000 elements; in a
/// transform the nest, as `Dual{primal 1 f32[], tangent 2 f32[]}`; `undefined`; `stale{…}`. Never throws on account of
/// the tensor.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace ops

/// A range of an axis, as Python's `start:stop:step` with a positive step.
struct Slice {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
  Slice() = default;
  Slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::int64_t step = 1)
      : start(start), stop(stop), step(step) {}
};

struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};  ///< as many full slices as are needed

/// One entry of `x.index({…})`: an integer, a Slice, `rc::none` (a new axis), `rc::ellipsis`, or a tensor of indices.
class Index {
 public:
  enum class Kind : std::uint8_t { integer, slice, new_axis, ellipsis, tensor };
  template <Integer I>
  Index(I i) : kind(Kind::integer), integer(static_cast<std::int64_t>(i)) {}
  Index(Slice s) : kind(Kind::slice), slice(s) {}
  Index(std::nullopt_t) : kind(Kind::new_axis) {}
  Index(Ellipsis) : kind(Kind::ellipsis) {}
  Index(Tensor t) : kind(Kind::tensor), tensor(std::move(t)) {}

  Kind kind;
  std::int64_t integer = 0;
  Slice slice;
  Tensor tensor;
};

/// True while a transform runs on this thread.
bool inside_transform();

}  // namespace ricci
