// The tensor a user holds: a handle to a cell. Copying the handle aliases, `clone()` copies, views share, in-place
// methods end in `_`. Operations are free functions, declared in ops.h; the ones people chain are methods too.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
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
class Rows;
struct SizeOptions;
struct NanToNumOptions;
struct RepeatOptions;
}  // namespace ops
using namespace ops;  // argument-dependent lookup finds operations, and never a transform or a tree function

/// Axes of a tensor: `sum(x, 0)`, `sum(x, {0, -1})`. Negative ones count from the back.
class Axes : public SmallVector<std::int64_t, 6> {
 public:
  Axes() = default;
  template <Integer I>
  Axes(I axis) {
    push_back(host_index(axis));
  }
  Axes(std::initializer_list<std::int64_t> axes) : SmallVector(axes) {}
  template <Integer I>
  Axes(const std::vector<I>& axes) : SmallVector(axes.begin(), axes.end()) {}
};

/// Whole numbers for axes or for their ends, each a number or a size: shifts, widths, strides, windows. One number, or
/// a list: `roll(x, n, 0)`, `pad(x, {1, n})`.
class Sizes : public SmallVector<Size, 6> {
 public:
  Sizes() = default;
  template <WholeNumber I>
  Sizes(I number) {
    push_back(Size(number));
  }
  Sizes(std::initializer_list<Size> numbers) : SmallVector(numbers) {}
  template <WholeNumber I>
  Sizes(const std::vector<I>& numbers) : SmallVector(numbers.begin(), numbers.end()) {}
  Sizes(const Axes& numbers) : SmallVector(numbers.begin(), numbers.end()) {}
  Sizes(const Shape& numbers) : SmallVector(numbers) {}
};

namespace ops {

/// Elements of one dtype in a grid of any number of axes. Any number of threads may read a tensor and its views; while
/// one writes to one of them, no other may use any.
///   rc::Tensor x = rc::zeros({2, 3});  x[0] = 1;  float top = (x * 2).sum().item<float>();
class Tensor {
 public:
  Tensor() = default;  ///< undefined: holds nothing until assigned
  /// A number is a weak 0-dim tensor kept in double: it does not raise the type of what it meets.
  template <class T>
    requires std::is_arithmetic_v<T>
  Tensor(T number) : Tensor(weak_number(number)) {}
  /// The number of a size, 0-dim and weak. In a recorded program it is that of the run: `x.sum() / x.shape()[0]`.
  template <std::same_as<Size> S>
  Tensor(S size) : Tensor(number_of_size(size)) {}
  Tensor(const std::complex<double>& number);
  Tensor(const std::complex<float>& number);
  Tensor(std::nullopt_t) {}  ///< undefined, where a tensor may be left out: `clamp(x, rc::none, 1)`

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
  /// `x[i] = v` and `x.index({…}) = v` write to x; a tensor with a name is only made to stand for another one.
  Tensor operator=(const Tensor& value) const&& { return write_through(value); }
  Tensor operator=(Tensor&& value) const&& { return write_through(value); }

  // ── what it is; inside vmap these describe one example ──
  bool defined() const { return cell_ != nullptr; }
  /// In a function that is being traced its sizes stay open: `zeros(x.shape())`, `x.sum() / x.shape()[0]`,
  /// `arange(x.shape()[0])`. What reads one as a C++ number, as `size` does, fixes it in the program.
  Shape shape() const;
  /// A C++ number; negative axes count from the back. In a function that is being traced the program serves this size
  /// alone from then on: there write `shape()[axis]`, which serves all.
  std::int64_t size(std::int64_t axis) const;
  std::int64_t dim() const;
  std::int64_t numel() const;  ///< a C++ number, as `size`; `shape().numel()` stays open in a traced function
  DType dtype() const;
  bool is_floating_point() const { return is_floating(dtype()); }
  bool is_complex() const { return ricci::is_complex(dtype()); }
  Strides strides() const;                       ///< in elements; of one example inside vmap
  std::int64_t stride(std::int64_t axis) const;  ///< that of an axis; IndexError if there is none
  bool is_contiguous() const;
  bool is_same(const Tensor& other) const { return cell_ == other.cell_; }  ///< the same tensor, not an equal one

  // ── reading values; errors on a batched value inside vmap ──
  /// The one element as a T, converted as by a cast; any arithmetic, half-precision or complex T. ValueError if there
  /// is not exactly one, TypeError if it is complex and T is not.
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

  // ── indexing: integers, slices, `rc::none` and `rc::ellipsis` give views, tensors of indices and masks copies.
  // Either is a Tensor like any other. `x[i] = v`, `x.index({…}) = v` and the same with += -= *= /= write to x ──
  Tensor operator[](std::int64_t i) const;
  template <Integer I>
  Tensor operator[](I i) const {
    return (*this)[host_index(i)];
  }
  Tensor operator[](Size i) const;
  template <std::floating_point F>
  Tensor operator[](F) const = delete;  ///< an index is an integer
  Tensor operator[](const Tensor& index) const;
  Tensor operator[](const Index& index) const;  ///< `x[rc::Slice(0, 2)]`
  Tensor operator[](std::nullopt_t) const;      ///< `x[rc::none]`: a new axis in front
#if defined(__cpp_multidimensional_subscript)
  template <class... I>
    requires(sizeof...(I) != 1)
  Tensor operator[](const I&...) const {
    static_assert(sizeof...(I) == 1, "ricci: brackets take one index: write x[i][j] or x.index({i, j})");
    return {};
  }
#endif
  Tensor index(std::initializer_list<Index> indices) const;
  Tensor index(const std::vector<Index>& indices) const;
  /// `for (Tensor row : x)`: x[0], x[1], …, as views. ValueError if x has no axes.
  Rows begin() const;
  Rows end() const;

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
  Tensor mH() const;  ///< the conjugate of mT()
  Tensor H() const;   ///< the same of a matrix; of a 0-dim tensor the conjugate. ValueError for another number of axes
  Tensor movedim(const Axes& from, const Axes& to) const;
  Tensor slice(std::int64_t dim, std::optional<Size> start, std::optional<Size> stop) const;
  Tensor slice(std::int64_t dim, std::optional<Size> start, std::optional<Size> stop, Size step) const;
  Tensor select(std::int64_t dim, Size index) const;
  Tensor narrow(std::int64_t dim, Size start, Size length) const;
  Tensor diagonal() const;
  Tensor diagonal(Size offset) const;
  Tensor diagonal(Size offset, std::int64_t dim1, std::int64_t dim2) const;
  Tensor unfold(std::int64_t dim, Size size, Size step) const;
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t dim) const;
  Tensor squeeze(const Axes& dims) const;
  Tensor unsqueeze(std::int64_t dim) const;
  Tensor flatten() const;
  Tensor flatten(std::int64_t start) const;
  Tensor flatten(std::int64_t start, std::int64_t end) const;
  Tensor unflatten(std::int64_t dim, const Shape& sizes) const;
  Tensor as_strided(const Shape& size, const Sizes& stride) const;
  Tensor as_strided(const Shape& size, const Sizes& stride, Size offset) const;
  std::vector<Tensor> unbind() const;
  std::vector<Tensor> unbind(std::int64_t dim) const;
  Tensor broadcast_to(const Shape& shape) const;
  std::vector<Tensor> split(Size size) const;
  std::vector<Tensor> split(Size size, std::int64_t dim) const;
  std::vector<Tensor> split(const Shape& sizes, std::int64_t dim) const;
  std::vector<Tensor> split(std::initializer_list<Size> sizes, std::int64_t dim) const;
  std::vector<Tensor> chunk(std::int64_t chunks) const;
  std::vector<Tensor> chunk(std::int64_t chunks, std::int64_t dim) const;
  std::vector<Tensor> tensor_split(std::int64_t sections) const;
  std::vector<Tensor> tensor_split(std::int64_t sections, std::int64_t dim) const;
  std::vector<Tensor> tensor_split(const Shape& indices) const;
  std::vector<Tensor> tensor_split(const Shape& indices, std::int64_t dim) const;
  template <std::convertible_to<Size> I = Size>  // {1} is a list, no number
  std::vector<Tensor> tensor_split(std::initializer_list<I> indices) const {
    return tensor_split(Shape(indices.begin(), indices.end()));
  }
  template <std::convertible_to<Size> I = Size>
  std::vector<Tensor> tensor_split(std::initializer_list<I> indices, std::int64_t dim) const {
    return tensor_split(Shape(indices.begin(), indices.end()), dim);
  }

  // ── rearranged copies ──
  Tensor flip(const Axes& dims) const;
  Tensor roll(Size shift) const;
  Tensor roll(const Sizes& shifts, const Axes& dims) const;
  Tensor repeat(const Shape& repeats) const;
  Tensor tile(const Shape& repeats) const;
  Tensor repeat_interleave(Size repeats) const;
  Tensor repeat_interleave(Size repeats, std::int64_t dim) const;
  Tensor repeat_interleave(RepeatOptions options) const;
  Tensor tril() const;
  Tensor tril(Size diagonal) const;
  Tensor triu() const;
  Tensor triu(Size diagonal) const;
  Tensor diag() const;
  Tensor diag(Size k) const;
  Tensor diag_embed() const;
  Tensor diag_embed(Size offset) const;
  Tensor diag_embed(Size offset, std::int64_t dim1, std::int64_t dim2) const;
  Tensor slice_scatter(const Tensor& value, std::int64_t dim, Size start, Size stop, Size step) const;
  Tensor select_scatter(const Tensor& value, std::int64_t dim, Size index) const;
  Tensor diagonal_scatter(const Tensor& value, Size offset, std::int64_t dim1, std::int64_t dim2) const;

  // ── new tensors; new_… have this tensor's dtype unless one is given ──
  Tensor clone() const;
  Tensor contiguous() const;
  Tensor detach() const;
  Tensor to(DType dtype) const;
  Tensor type_as(const Tensor& other) const;  ///< in the dtype of another one
  Tensor new_zeros(const Shape& shape) const;
  Tensor new_zeros(const Shape& shape, DType dtype) const;
  Tensor new_ones(const Shape& shape) const;
  Tensor new_ones(const Shape& shape, DType dtype) const;
  Tensor new_empty(const Shape& shape) const;
  Tensor new_empty(const Shape& shape, DType dtype) const;
  Tensor new_full(const Shape& shape, const Tensor& value) const;
  Tensor new_full(const Shape& shape, const Tensor& value, DType dtype) const;
  /// Of these strides, in as few elements as hold it. ValueError if a stride is negative.
  Tensor new_empty_strided(const Shape& size, const Sizes& stride) const;

  // ── elementwise: ops/elementwise.h ──
  Tensor neg() const;
  Tensor positive() const;
  Tensor abs() const;
  Tensor sign() const;
  Tensor sgn() const;
  Tensor floor() const;
  Tensor ceil() const;
  Tensor round() const;
  /// To so many decimals, or to tens, hundreds, … for negative ones; integers stay as they are.
  Tensor round(std::int64_t decimals) const;
  Tensor trunc() const;
  Tensor frac() const;
  Tensor nan_to_num() const;
  Tensor nan_to_num(NanToNumOptions options) const;
  Tensor square() const;
  Tensor sqrt() const;
  Tensor rsqrt() const;
  Tensor reciprocal() const;
  Tensor exp() const;
  Tensor exp2() const;
  Tensor expm1() const;
  Tensor log() const;
  Tensor log2() const;
  Tensor log10() const;
  Tensor log1p() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tan() const;
  Tensor asin() const;
  Tensor acos() const;
  Tensor atan() const;
  Tensor deg2rad() const;
  Tensor rad2deg() const;
  Tensor sinh() const;
  Tensor cosh() const;
  Tensor tanh() const;
  Tensor asinh() const;
  Tensor acosh() const;
  Tensor atanh() const;
  Tensor erf() const;
  Tensor erfc() const;
  Tensor lgamma() const;
  Tensor digamma() const;
  Tensor polygamma(std::int64_t n) const;
  Tensor sigmoid() const;
  Tensor relu() const;
  Tensor real() const;
  Tensor imag() const;
  Tensor conj() const;
  Tensor angle() const;
  Tensor isnan() const;
  Tensor isinf() const;
  Tensor isfinite() const;
  Tensor logical_not() const;
  Tensor bitwise_not() const;
  Tensor add(const Tensor& other) const;
  Tensor add(const Tensor& other, double alpha) const;  ///< + alpha other
  Tensor sub(const Tensor& other) const;
  Tensor sub(const Tensor& other, double alpha) const;
  Tensor mul(const Tensor& other) const;
  Tensor div(const Tensor& other) const;
  /// The quotient rounded towards 0, "trunc", or downwards, "floor": integers stay integers. ValueError for others.
  Tensor div(const Tensor& other, std::string_view rounding_mode) const;
  Tensor pow(const Tensor& exponent) const;
  Tensor floor_divide(const Tensor& other) const;
  Tensor remainder(const Tensor& other) const;
  Tensor fmod(const Tensor& other) const;
  Tensor addcmul(const Tensor& a, const Tensor& b) const;
  Tensor addcmul(const Tensor& a, const Tensor& b, double value) const;  ///< + value a b
  Tensor addcdiv(const Tensor& a, const Tensor& b) const;
  Tensor addcdiv(const Tensor& a, const Tensor& b, double value) const;
  Tensor lerp(const Tensor& end, const Tensor& weight) const;
  Tensor hypot(const Tensor& other) const;
  Tensor atan2(const Tensor& x) const;
  Tensor copysign(const Tensor& sign) const;
  Tensor logaddexp(const Tensor& other) const;
  Tensor xlogy(const Tensor& y) const;
  Tensor where(const Tensor& condition, const Tensor& other) const;  ///< this tensor where the condition is true
  Tensor maximum(const Tensor& other) const;
  Tensor minimum(const Tensor& other) const;
  Tensor fmax(const Tensor& other) const;
  Tensor fmin(const Tensor& other) const;
  Tensor clamp(const Tensor& low, const Tensor& high) const;
  Tensor clamp_min(const Tensor& low) const;
  Tensor clamp_max(const Tensor& high) const;
  Tensor eq(const Tensor& other) const;
  Tensor ne(const Tensor& other) const;
  Tensor lt(const Tensor& other) const;
  Tensor le(const Tensor& other) const;
  Tensor gt(const Tensor& other) const;
  Tensor ge(const Tensor& other) const;
  Tensor isclose(const Tensor& other) const;
  Tensor isclose(const Tensor& other, double rtol, double atol) const;
  Tensor isclose(const Tensor& other, double rtol, double atol, bool equal_nan) const;
  bool allclose(const Tensor& other) const;
  bool allclose(const Tensor& other, double rtol, double atol) const;
  bool allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const;
  bool equal(const Tensor& other) const;
  Tensor logical_and(const Tensor& other) const;
  Tensor logical_or(const Tensor& other) const;
  Tensor logical_xor(const Tensor& other) const;
  Tensor bitwise_and(const Tensor& other) const;
  Tensor bitwise_or(const Tensor& other) const;
  Tensor bitwise_xor(const Tensor& other) const;
  Tensor bitwise_left_shift(const Tensor& other) const;
  Tensor bitwise_right_shift(const Tensor& other) const;

  // ── products and factorisations: ops/linalg.h ──
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor mv(const Tensor& other) const;
  Tensor dot(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;
  Tensor vdot(const Tensor& other) const;
  Tensor inner(const Tensor& other) const;
  Tensor outer(const Tensor& other) const;
  Tensor kron(const Tensor& other) const;
  Tensor cross(const Tensor& other) const;
  Tensor cross(const Tensor& other, std::int64_t dim) const;
  Tensor addmm(const Tensor& a, const Tensor& b) const;
  Tensor addmm(const Tensor& a, const Tensor& b, double beta, double alpha) const;
  Tensor inverse() const;
  Tensor det() const;
  Tensor logdet() const;
  std::pair<Tensor, Tensor> slogdet() const;
  Tensor matrix_power(std::int64_t n) const;
  Tensor cholesky() const;
  Tensor cholesky_solve(const Tensor& l) const;
  std::tuple<Tensor, Tensor, Tensor> svd() const;

  // ── reductions, scans and sorting: ops/reduce.h ──
  Tensor sum() const;
  Tensor sum(const Axes& dims) const;
  Tensor sum(const Axes& dims, bool keepdim) const;
  Tensor sum(DType dtype) const;
  Tensor sum(const Axes& dims, bool keepdim, DType dtype) const;
  Tensor sum(std::same_as<bool> auto keepdim) const { return sum({}, keepdim); }
  Tensor mean() const;
  Tensor mean(const Axes& dims) const;
  Tensor mean(const Axes& dims, bool keepdim) const;
  Tensor mean(DType dtype) const;
  Tensor mean(const Axes& dims, bool keepdim, DType dtype) const;
  Tensor mean(std::same_as<bool> auto keepdim) const { return mean({}, keepdim); }
  Tensor prod() const;
  Tensor prod(std::int64_t dim) const;
  Tensor prod(std::int64_t dim, bool keepdim) const;
  Tensor prod(DType dtype) const;
  Tensor prod(std::int64_t dim, bool keepdim, DType dtype) const;
  Tensor trace() const;
  Tensor max() const;
  Tensor max(const Tensor& other) const;
  template <Integer I>
  std::pair<Tensor, Tensor> max(I dim) const {
    return extreme_along(true, host_index(dim), false);
  }
  template <Integer I>
  std::pair<Tensor, Tensor> max(I dim, bool keepdim) const {
    return extreme_along(true, host_index(dim), keepdim);
  }
  Tensor min() const;
  Tensor min(const Tensor& other) const;
  template <Integer I>
  std::pair<Tensor, Tensor> min(I dim) const {
    return extreme_along(false, host_index(dim), false);
  }
  template <Integer I>
  std::pair<Tensor, Tensor> min(I dim, bool keepdim) const {
    return extreme_along(false, host_index(dim), keepdim);
  }
  Tensor amax() const;
  Tensor amax(const Axes& dims) const;
  Tensor amax(const Axes& dims, bool keepdim) const;
  Tensor amax(std::same_as<bool> auto keepdim) const { return amax({}, keepdim); }
  Tensor amin() const;
  Tensor amin(const Axes& dims) const;
  Tensor amin(const Axes& dims, bool keepdim) const;
  Tensor amin(std::same_as<bool> auto keepdim) const { return amin({}, keepdim); }
  Tensor argmax() const;
  Tensor argmax(std::int64_t dim) const;
  Tensor argmax(std::int64_t dim, bool keepdim) const;
  Tensor argmin() const;
  Tensor argmin(std::int64_t dim) const;
  Tensor argmin(std::int64_t dim, bool keepdim) const;
  Tensor any() const;
  Tensor any(const Axes& dims) const;
  Tensor any(const Axes& dims, bool keepdim) const;
  Tensor any(std::same_as<bool> auto keepdim) const { return any({}, keepdim); }
  Tensor all() const;
  Tensor all(const Axes& dims) const;
  Tensor all(const Axes& dims, bool keepdim) const;
  Tensor all(std::same_as<bool> auto keepdim) const { return all({}, keepdim); }
  Tensor count_nonzero() const;
  Tensor count_nonzero(const Axes& dims) const;
  Tensor var() const;
  Tensor var(const Axes& dims) const;
  Tensor var(const Axes& dims, Size correction, bool keepdim) const;
  Tensor var(std::same_as<bool> auto unbiased) const { return var({}, unbiased ? 1 : 0, false); }
  Tensor var(const Axes& dims, std::same_as<bool> auto unbiased) const { return var(dims, unbiased ? 1 : 0, false); }
  Tensor std() const;
  Tensor std(const Axes& dims) const;
  Tensor std(const Axes& dims, Size correction, bool keepdim) const;
  Tensor std(std::same_as<bool> auto unbiased) const { return std({}, unbiased ? 1 : 0, false); }
  Tensor std(const Axes& dims, std::same_as<bool> auto unbiased) const { return std(dims, unbiased ? 1 : 0, false); }
  Tensor norm() const;
  Tensor norm(double p) const;
  Tensor norm(double p, const Axes& dims) const;
  Tensor norm(double p, const Axes& dims, bool keepdim) const;
  Tensor softmax(std::int64_t dim) const;
  Tensor softmax(std::int64_t dim, DType dtype) const;
  Tensor log_softmax(std::int64_t dim) const;
  Tensor log_softmax(std::int64_t dim, DType dtype) const;
  Tensor logsumexp() const;
  Tensor logsumexp(const Axes& dims) const;
  Tensor logsumexp(const Axes& dims, bool keepdim) const;
  Tensor logsumexp(std::same_as<bool> auto keepdim) const { return logsumexp({}, keepdim); }
  Tensor cumsum(std::int64_t dim) const;
  Tensor cumsum(std::int64_t dim, DType dtype) const;
  Tensor cumprod(std::int64_t dim) const;
  Tensor cumprod(std::int64_t dim, DType dtype) const;
  Tensor logcumsumexp(std::int64_t dim) const;
  std::pair<Tensor, Tensor> sort() const;
  std::pair<Tensor, Tensor> sort(std::int64_t dim) const;
  std::pair<Tensor, Tensor> sort(std::int64_t dim, bool descending) const;
  Tensor argsort() const;
  Tensor argsort(std::int64_t dim) const;
  Tensor argsort(std::int64_t dim, bool descending) const;
  std::pair<Tensor, Tensor> topk(Size k) const;
  std::pair<Tensor, Tensor> topk(Size k, std::int64_t dim) const;
  std::pair<Tensor, Tensor> topk(Size k, std::int64_t dim, bool largest) const;
  Tensor median() const;
  std::pair<Tensor, Tensor> median(std::int64_t dim) const;
  std::pair<Tensor, Tensor> median(std::int64_t dim, bool keepdim) const;

  // ── indexing by tensors: ops/index.h; draws: ops/random.h ──
  Tensor gather(std::int64_t dim, const Tensor& index) const;
  Tensor index_select(std::int64_t dim, const Tensor& index) const;
  Tensor scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor take(const Tensor& index) const;
  Tensor take_along_dim(const Tensor& index, std::int64_t dim) const;
  Tensor take_along_dim(const Tensor& index) const;
  Tensor index_add(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor index_add(std::int64_t dim, const Tensor& index, const Tensor& src, double alpha) const;
  Tensor index_fill(std::int64_t dim, const Tensor& index, const Tensor& value) const;
  Tensor index_put(const std::vector<Index>& indices, const Tensor& value) const;
  Tensor index_put(const std::vector<Index>& indices, const Tensor& value, bool accumulate) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const;
  Tensor nonzero() const;
  Tensor nonzero(SizeOptions options) const;
  Tensor masked_select(const Tensor& mask) const;
  Tensor masked_select(const Tensor& mask, SizeOptions options) const;
  Tensor unique() const;
  Tensor unique(SizeOptions options) const;
  Tensor bernoulli() const;  ///< the elements are probabilities
  Tensor bernoulli(RandomOptions options) const;
  Tensor bernoulli(double p) const;  ///< of this tensor's shape and dtype
  Tensor multinomial(Size samples) const;
  Tensor multinomial(Size samples, bool replacement) const;
  Tensor multinomial(Size samples, bool replacement, RandomOptions options) const;

  // ── in-place: the result takes this tensor's shape and type, through views to their base ──
  const Tensor& copy_(const Tensor& source) const;
  const Tensor& fill_(const Tensor& value) const;
  const Tensor& zero_() const;
  const Tensor& add_(const Tensor& other) const;
  const Tensor& sub_(const Tensor& other) const;
  const Tensor& mul_(const Tensor& other) const;
  const Tensor& div_(const Tensor& other) const;
  const Tensor& pow_(const Tensor& exponent) const;
  const Tensor& floor_divide_(const Tensor& other) const;
  const Tensor& remainder_(const Tensor& other) const;
  const Tensor& fmod_(const Tensor& other) const;
  const Tensor& addcmul_(const Tensor& a, const Tensor& b) const;
  const Tensor& addcdiv_(const Tensor& a, const Tensor& b) const;
  const Tensor& addmm_(const Tensor& a, const Tensor& b) const;
  const Tensor& lerp_(const Tensor& end, const Tensor& weight) const;
  const Tensor& hypot_(const Tensor& other) const;
  const Tensor& atan2_(const Tensor& x) const;
  const Tensor& copysign_(const Tensor& sign) const;
  const Tensor& xlogy_(const Tensor& y) const;
  const Tensor& clamp_(const Tensor& low, const Tensor& high) const;
  const Tensor& clamp_min_(const Tensor& low) const;
  const Tensor& clamp_max_(const Tensor& high) const;
  const Tensor& neg_() const;
  const Tensor& abs_() const;
  const Tensor& sign_() const;
  const Tensor& sgn_() const;
  const Tensor& floor_() const;
  const Tensor& ceil_() const;
  const Tensor& round_() const;
  const Tensor& trunc_() const;
  const Tensor& frac_() const;
  const Tensor& nan_to_num_() const;
  const Tensor& square_() const;
  const Tensor& sqrt_() const;
  const Tensor& rsqrt_() const;
  const Tensor& reciprocal_() const;
  const Tensor& exp_() const;
  const Tensor& exp2_() const;
  const Tensor& expm1_() const;
  const Tensor& log_() const;
  const Tensor& log2_() const;
  const Tensor& log10_() const;
  const Tensor& log1p_() const;
  const Tensor& sin_() const;
  const Tensor& cos_() const;
  const Tensor& tan_() const;
  const Tensor& asin_() const;
  const Tensor& acos_() const;
  const Tensor& atan_() const;
  const Tensor& deg2rad_() const;
  const Tensor& rad2deg_() const;
  const Tensor& sinh_() const;
  const Tensor& cosh_() const;
  const Tensor& tanh_() const;
  const Tensor& asinh_() const;
  const Tensor& acosh_() const;
  const Tensor& atanh_() const;
  const Tensor& erf_() const;
  const Tensor& erfc_() const;
  const Tensor& lgamma_() const;
  const Tensor& digamma_() const;
  const Tensor& polygamma_(std::int64_t n) const;
  const Tensor& sigmoid_() const;
  const Tensor& relu_() const;
  const Tensor& eq_(const Tensor& other) const;  ///< 1 where it holds, else 0, in this tensor's type
  const Tensor& ne_(const Tensor& other) const;
  const Tensor& lt_(const Tensor& other) const;
  const Tensor& le_(const Tensor& other) const;
  const Tensor& gt_(const Tensor& other) const;
  const Tensor& ge_(const Tensor& other) const;
  const Tensor& logical_and_(const Tensor& other) const;
  const Tensor& logical_or_(const Tensor& other) const;
  const Tensor& logical_xor_(const Tensor& other) const;
  const Tensor& logical_not_() const;
  const Tensor& bitwise_and_(const Tensor& other) const;
  const Tensor& bitwise_or_(const Tensor& other) const;
  const Tensor& bitwise_xor_(const Tensor& other) const;
  const Tensor& bitwise_not_() const;
  const Tensor& bitwise_left_shift_(const Tensor& other) const;
  const Tensor& bitwise_right_shift_(const Tensor& other) const;
  const Tensor& cumsum_(std::int64_t dim) const;
  const Tensor& cumprod_(std::int64_t dim) const;
  const Tensor& tril_() const;
  const Tensor& tril_(Size diagonal) const;
  const Tensor& triu_() const;
  const Tensor& triu_(Size diagonal) const;
  const Tensor& masked_fill_(const Tensor& mask, const Tensor& value) const;
  const Tensor& scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  const Tensor& scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  const Tensor& index_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const;
  const Tensor& index_fill_(std::int64_t dim, const Tensor& index, const Tensor& value) const;
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
  const Tensor& random_(Bound high) const;
  const Tensor& random_(Bound high, RandomOptions options) const;
  const Tensor& random_(Bound low, Bound high) const;
  const Tensor& random_(Bound low, Bound high, RandomOptions options) const;

  const Tensor& operator+=(const Tensor& other) const& { return add_(other); }
  const Tensor& operator-=(const Tensor& other) const& { return sub_(other); }
  const Tensor& operator*=(const Tensor& other) const& { return mul_(other); }
  const Tensor& operator/=(const Tensor& other) const& { return div_(other); }
  Tensor operator+=(const Tensor& other) const&& { return write_through(other, &Tensor::add_); }
  Tensor operator-=(const Tensor& other) const&& { return write_through(other, &Tensor::sub_); }
  Tensor operator*=(const Tensor& other) const&& { return write_through(other, &Tensor::mul_); }
  Tensor operator/=(const Tensor& other) const&& { return write_through(other, &Tensor::div_); }

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
  /// Assigns to what an index has given: a view writes to its base, a copy to what it was read from.
  Tensor write_through(const Tensor& value) const;
  using Write = const Tensor& (Tensor::*)(const Tensor&) const;
  Tensor write_through(const Tensor& other, Write write) const;
  std::pair<Tensor, Tensor> extreme_along(bool greatest, std::int64_t dim, bool keepdim) const;
  static Tensor number_of_size(Size size);
  static Tensor weak_boolean(bool value);
  static Tensor weak_integer(std::int64_t value);
  static Tensor weak_floating(double value);
  void retain() const {
    if (cell_) reinterpret_cast<RefCount*>(cell_)->add();
  }
  void release();

  Cell* cell_ = nullptr;  // a Cell begins with its RefCount
};

/// Goes over the rows of a tensor, which it keeps.
class Rows {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Tensor;
  using difference_type = std::int64_t;
  using pointer = void;
  using reference = Tensor;
  Rows() = default;
  Rows(Tensor tensor, std::int64_t row) : tensor_(std::move(tensor)), row_(row) {}
  Tensor operator*() const { return tensor_[row_]; }
  Rows& operator++() {
    ++row_;
    return *this;
  }
  Rows operator++(int) {
    Rows before = *this;
    ++row_;
    return before;
  }
  bool operator==(const Rows& other) const { return row_ == other.row_; }

 private:
  Tensor tensor_;
  std::int64_t row_ = 0;
};

/// `[[1, 2], [3, 4]] f32[2,2]` over several lines, as print_options() say; in a transform the nest, as
/// `Dual{primal 1 f32[], tangent 2 f32[]}`; `undefined`; `stale{…}`. std::setprecision, std::fixed, std::scientific and
/// std::showpos hold. Never throws on account of the tensor.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
std::string to_string(const Tensor& tensor);  ///< what `<<` prints

}  // namespace ops
using ops::to_string;

/// How tensors are printed, `rc::set_print_options({.precision = 3})`: as torch.set_printoptions.
struct PrintOptions {
  int precision = 6;              ///< digits; of float16 and bfloat16 at most 4. std::setprecision overrules it
  std::int64_t threshold = 1000;  ///< with more elements than that, long axes are cut
  std::int64_t edge_items = 3;    ///< elements that are left at either end of a cut axis
};
/// For all threads, from now on; gives the options until now. ValueError if one is negative.
PrintOptions set_print_options(PrintOptions options);
PrintOptions print_options();

/// A range of an axis, as Python's `start:stop:step` with a positive step.
struct Slice {
  std::optional<Size> start, stop;
  Size step = 1;
  Slice() = default;
  Slice(std::optional<Size> from, std::optional<Size> to, Size every = 1) : start(from), stop(to), step(every) {}
};

struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};  ///< as many full slices as are needed

/// One entry of `x.index({…})`: an integer, a Slice, `rc::none` (a new axis), `rc::ellipsis`, or a tensor of indices.
class Index {
 public:
  enum class Kind : std::uint8_t { integer, slice, new_axis, all_others, tensor };
  template <Integer I>
  Index(I i) : kind(Kind::integer), integer(host_index(i)) {}
  Index(Size i) : kind(Kind::integer), integer(i) {}
  Index(Slice s) : kind(Kind::slice), slice(s) {}
  Index(std::nullopt_t) : kind(Kind::new_axis) {}
  Index(Ellipsis) : kind(Kind::all_others) {}
  Index(Tensor t) : kind(Kind::tensor), tensor(std::move(t)) {}

  Kind kind;
  Size integer = 0;
  Slice slice;
  Tensor tensor;
};

/// True while a transform runs on this thread.
bool inside_transform();

// In C++20 `x[0, 1]` is x[1]: refused wherever this header is included. C++23 has no such comma.
#if defined(__clang__)
#pragma clang diagnostic error "-Wdeprecated-comma-subscript"
#elif __cplusplus <= 202002L
#pragma GCC diagnostic error "-Wcomma-subscript"
#endif

}  // namespace ricci
