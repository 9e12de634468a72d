// What all pooling operations share: places of maxima, and the derivatives that read and write at these places. Knows
// nothing of where windows lie.
#pragma once

#include "ops/spatial.h"
#include "ricci/primitive.h"

namespace ricci {

/// What jvp and vjp are of an operation whose outputs are maxima of input 0, over its last `spatial` axes, and their
/// places, which count the elements of these axes row-major.
Tensors tangents_of_maxima(const Forward& f, int spatial);
Tensors cotangents_of_maxima(const Reverse& r, int spatial);

/// The types of maxima, so many along each of the last axes of x, and of their places. TypeError if x has no order.
Types types_of_maxima(const char* op, const Type& x, const Shape& outputs);

/// Elements of each volume of x, its last `spatial` axes, at `places`, which count row-major.
Tensor taken(const Tensor& x, const Tensor& places, int spatial);
/// Zeros of these last sizes, with each element of y added at its place: the transpose of `taken`.
Tensor placed(const Tensor& y, const Tensor& places, const Shape& sizes);

/// The maxima that an operation gives beside their places, alone: places, which take longer to write, are found where
/// a derivative needs them.
template <class WithPlaces>
struct MaximaAlone {
  using kind = Explicit;
  static constexpr const char* name = WithPlaces::name_alone;
  static constexpr unsigned keeps = nothing;
  WithPlaces with_places;

  Type type(const Type& x) const { return with_places.type(x)[0]; }
  void eval(Outputs out, Inputs in) const { with_places.eval_alone(out[0], in[0]); }
  Kept keep(std::span<const Tensor> x, const Mask&) const {
    const Tensors both = ricci::apply(with_places, x);
    return {.outputs = {both[0]}, .residual = {.tensors = {both[1]}, .rest = {}}};
  }
  Tensors jvp(const Forward& f) const { return {taken(f.tangents[0], f.outputs[1], with_places.spatial())}; }
  Tensors vjp(const Reverse& r) const {
    const Shape sizes = spatial_sizes(r.input_types[0], with_places.spatial());
    return {placed(r.cotangents[0], r.residual->tensors[0], sizes)};
  }
  MaximaAlone lifted() const { return *this; }
  static std::vector<Sample<MaximaAlone>> samples() {
    std::vector<Sample<MaximaAlone>> all;
    for (const Sample<WithPlaces>& sample : WithPlaces::samples()) all.push_back({{sample.op}, sample.inputs});
    return all;
  }
};

/// Throws unless x is images of so many spatial axes, none of them empty; of numbers with an order if maxima are taken.
enum class Pooled : bool { means, maxima };
void require_pooled_images(const char* op, const Tensor& x, int spatial, Pooled pooled);

}  // namespace ricci
