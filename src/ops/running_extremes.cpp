// The greatest and the smallest elements so far, and the most frequent ones.
#include "kernels/scan.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/indexing.h"
#include "ops/patterns.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/statistics.h"

namespace ricci {
namespace {

/// The greatest (smallest) element up to each, and its place, which has the derivative.
template <bool greatest>
struct RunningExtreme {
  using kind = Explicit;
  static constexpr const char* name = greatest ? "cummax" : "cummin";
  static constexpr unsigned keeps = output(1);
  std::int64_t axis;

  Types type(const Type& x) const {
    require_real(name, x);
    require_axis(axis, x.rank());
    return {x, {DType::int64, x.shape}};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::scan_extreme(greatest, out[0], out[1], in[0], static_cast<int>(axis));
  }
  Tensors jvp(const Forward& f) const { return {gather(f.tangents[0], axis, f.outputs[1]), Tensor()}; }
  Tensors vjp(const Reverse& r) const {
    const Type& x = r.input_types[0];
    return {scatter_add(zeros_of({x.dtype, x.shape}), axis, r.outputs[1], r.cotangents[0])};
  }
  RunningExtreme lifted() const { return {axis + 1}; }
  static std::vector<Sample<RunningExtreme>> samples() { return samples_along_axes<RunningExtreme>(); }
};

template <bool greatest>
std::pair<Tensor, Tensor> running_extreme(const Tensor& x, std::int64_t dim) {
  const char* name = RunningExtreme<greatest>::name;
  const Called as(name, x);
  require_order(name, x);
  return along_axis(name, x, dim, [](const Tensor& v, std::int64_t axis) {
    Tensors y = ricci::apply(RunningExtreme<greatest>{axis}, std::span(&v, 1));
    return std::pair{std::move(y[0]), std::move(y[1])};
  });
}

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> cummax(const Tensor& x, std::int64_t dim) { return running_extreme<true>(x, dim); }
std::pair<Tensor, Tensor> cummin(const Tensor& x, std::int64_t dim) { return running_extreme<false>(x, dim); }

std::pair<Tensor, Tensor> mode(const Tensor& x) { return mode(x, -1); }
std::pair<Tensor, Tensor> mode(const Tensor& x, std::int64_t dim) { return mode(x, dim, false); }
/// Equal values stand side by side once they are sorted: the longest run wins, of equal ones the first, at its end.
std::pair<Tensor, Tensor> mode(const Tensor& x, std::int64_t dim, bool keepdim) {
  const Called as("mode", x);
  require_order("mode", x);
  return along_axis("mode", x, dim, [&](const Tensor& v, std::int64_t axis) {
    require_elements("mode", v, {axis});
    const auto [values, places] = sort(v, axis);
    Shape beside = Shape::filled(type_of(v).shape.size(), 1);
    beside[at(axis)] = type_of(v).shape[at(axis)];
    const Tensor number = reshape(places_along(beside[at(axis)]), beside);
    const Tensor is_first = ne(values, roll(values, 1, axis)), is_start = logical_or(is_first, eq(number, 0));
    const Tensor start = cummax(where(is_start, number, 0), axis).first;
    const Tensor best = argmax(number - start, axis, true);
    const bool keep = keepdim && type_of(x).rank() > 0;
    const auto found = [&](const Tensor& all) {
      const Tensor y = gather(all, axis, best);
      return keep ? y : squeeze(y, axis);
    };
    return std::pair{found(values), found(places)};
  });
}

}  // namespace ops
}  // namespace ricci
