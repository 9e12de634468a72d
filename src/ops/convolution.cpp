// Convolution. The product of input x, weight w and output y is linear in each; Convolution gives y of x and w,
// ConvolutionInput x of y and w, ConvolutionWeight w of x and y, and each one's transposes are the other two. Mapped
// operands become rows, channels or groups of one larger convolution.
// x: [N, C, …], w: [O, C / groups, …], y: [N, O, …]; 1 to 3 spatial axes. Start with `Convolution`. What users call
// stands in convolution_calls.cpp.
#include "ops/convolution.h"

#include "ops/dense.h"
#include "ops/samples.h"
#include "ops/spatial.h"
#include "ops/sums.h"

namespace ricci {
namespace {

using kernels::ConvolutionShape;

/// Where the axis of examples goes when it has to vanish: into `axis`, inside its groups or around them.
struct Fold {
  std::size_t axis;
  bool inside_groups = false;
};

/// How the examples of one mapped operand show up in the result.
struct Folding {
  Fold operand, result;
};

/// [B, …, g n, …] → […, g B n, …].
Tensor folded(const Tensor& x, Fold f, Size all_groups) {
  Shape split = type_of(x).shape;  // [B, …, g, n, …]
  const Size batch = split[0], groups = f.inside_groups ? all_groups : Size(1), each = split[f.axis + 1] / groups;
  split[f.axis + 1] = groups;
  split.insert(f.axis + 2, each);
  Shape merged(split.begin() + 1, split.end());  // […, g, n, …]
  merged.erase(f.axis);
  merged[f.axis] = groups * batch * each;
  return reshape(movedim(reshape(x, split), 0, static_cast<std::int64_t>(f.axis + 1)), merged);
}

/// […, g B n, …] → [B, …, g n, …].
Tensor unfolded(const Tensor& y, Fold f, Size all_groups, Size batch) {
  Shape split = type_of(y).shape;  // […, g, B, n, …]
  const Size groups = f.inside_groups ? all_groups : Size(1), each = split[f.axis] / (groups * batch);
  split[f.axis] = groups;
  split.insert(f.axis + 1, batch);
  split.insert(f.axis + 2, each);
  Shape merged = type_of(y).shape;  // [B, …, g n, …]
  merged[f.axis] = groups * each;
  merged.insert(0, batch);
  return reshape(movedim(reshape(y, split), static_cast<std::int64_t>(f.axis + 1), 0), merged);
}

Type without_batch(const Tensor& x, bool mapped) {
  Type type = type_of(x);
  if (mapped) type.shape.erase(0);
  return type;
}

/// The result for no examples, [0, …], which depends on the operands as it does for some: whether a derivative reaches
/// an operand must not depend on the number of examples.
template <class P>
Tensor result_of_none(const P& op, const Batch& b) {
  const auto total = [&](int i) {
    const Tensor& x = b.inputs[static_cast<std::size_t>(i)];
    Axes own;
    for (std::int64_t axis = b.is_mapped(i) ? 1 : 0; axis < x.dim(); ++axis) own.push_back(axis);
    return sum_along(x, own);
  };
  Type type = op.type(without_batch(b.inputs[0], b.is_mapped(0)), without_batch(b.inputs[1], b.is_mapped(1)));
  type.shape.insert(0, 0);
  Shape column = Shape::filled(type.shape.size(), 1);
  column[0] = 0;
  return expand(reshape(total(0) * total(1), column), type.shape);
}

template <class P>
BatchedOutputs batch_by_folding(const P& op, const Batch& b) {
  const Tensor &first = b.inputs[0], &second = b.inputs[1];
  const Size groups = op.shape.groups;
  if (b.size == 0) return {.outputs = {result_of_none(op, b)}};
  if (b.is_mapped(0) && b.is_mapped(1)) {
    P grouped = op;
    grouped.shape.groups = groups * b.size;
    const Tensor y = apply(grouped, folded(first, {P::channels[0]}, groups), folded(second, {P::channels[1]}, groups));
    return {.outputs = {unfolded(y, {P::channels[2]}, groups, b.size)}};
  }
  const Folding& f = b.is_mapped(0) ? P::of_first : P::of_second;
  const Tensor y = b.is_mapped(0) ? apply(op, folded(first, f.operand, groups), second)
                                  : apply(op, first, folded(second, f.operand, groups));
  return {.outputs = {unfolded(y, f.result, groups, b.size)}};
}

/// Both operands have the axes that the shape speaks of and one element type, and no product of two numbers overflows.
void require_fit(const ConvolutionShape& shape, const Type& first, const Type& second) {
  constexpr std::int64_t most = most_of_a_window;
  require_between(1, shape.spatial, 3);
  require_between(shape.spatial + 2, first.rank(), shape.spatial + 2);
  require_between(shape.spatial + 2, second.rank(), shape.spatial + 2);
  require_between(1, shape.groups, most);
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.spatial); ++i) {
    for (Size number : {shape.stride[i], shape.dilation[i]}) require_between(1, number, most);
    for (Size number : {shape.padding_low[i], shape.padding_high[i]}) require_between(0, number, most);
  }
  for (const Type* operand : {&first, &second})
    for (Size size : operand->shape) require_between(0, size, 4 * most);
  require_dtype(first.dtype, second);
}

/// [n, c, i…], of x, [o, c / groups, k…], of w, and [n, o, j…], of y, are the shapes of one convolution; a size that is
/// a symbol is taken to fit.
void require_related(const ConvolutionShape& shape, const Shape& x, const Shape& w, const Shape& y) {
  require_shape({x[0], w[0]}, {y[0], y[1]});
  if (!any_symbol(x[1], w[1]) && !shape.groups.is_symbol()) require_shape({x[1]}, {w[1] * shape.groups});
  if (!any_symbol(w[0], shape.groups)) require_between(0, w[0].raw() % shape.groups.raw(), 0);
  for (int i = 0; i < shape.spatial; ++i) {
    const std::size_t axis = static_cast<std::size_t>(i) + 2;
    const auto k = static_cast<std::size_t>(i);
    const bool is_open = any_symbol(x[axis], w[axis]) || any_symbol(shape.stride[k], shape.dilation[k]) ||
                         any_symbol(shape.padding_low[k], shape.padding_high[k]);
    if (!is_open) require_shape({y[axis]}, {kernels::convolution_size(x[axis], w[axis], shape, k)});
  }
}

/// A sample with uniform operands of these shapes.
template <class P>
Sample<P> sample_of(P op, Shape first, Shape second) {
  return {std::move(op), {uniform_around_zero(first), uniform_around_zero(second)}};
}

Tensor convolution_weight(const Tensor& x, const Tensor& y, const ConvolutionShape& shape, const Type& w);

/// y[n, o, i] = Σ w[o, c, k] x[n, c, stride i + dilation k - padding], c in the group of o.
struct Convolution {
  using kind = Multilinear;
  static constexpr const char* name = "convolution";
  static constexpr Folding of_first{{0}, {0}}, of_second{{0, true}, {1, true}};
  static constexpr std::size_t channels[] = {1, 0, 1};  // the axes that hold the groups: of x, of w, of y
  ConvolutionShape shape;

  Type type(const Type& x, const Type& w) const {
    require_fit(shape, x, w);
    Shape sizes = {x.shape[0], w.shape[0]};
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape.spatial); ++i) {
      const Size room =
          x.shape[i + 2] + shape.padding_low[i] + shape.padding_high[i] - shape.dilation[i] * (w.shape[i + 2] - 1) - 1;
      sizes.push_back(room < 0 ? Size(0) : room / Size(shape.stride[i]) + 1);
    }
    require_related(shape, x.shape, w.shape, sizes);
    return {x.dtype, sizes};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::row_major, out, in,
                 [&](Outputs y, Inputs operand) { kernels::convolution(y[0], operand[0], operand[1], shape); });
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    if (i == 0)
      return convolution_input(ct, conj_if_complex(r.inputs[1]), shape, spatial_sizes(r.input_types[0], shape.spatial));
    return convolution_weight(conj_if_complex(r.inputs[0]), ct, shape, r.input_types[1]);
  }
  BatchedOutputs batch(const Batch& b) const { return batch_by_folding(*this, b); }
  static std::vector<Sample<Convolution>> samples() {
    return {{{{1, {1}, {0}, {0}, {1}, 1}}, {uniform_around_zero({2, 2, 5}), uniform_around_zero({3, 2, 3})}},
            {{{1, {2}, {1}, {1}, {1}, 2}}, {uniform_around_zero({1, 4, 5}), uniform_around_zero({2, 2, 2})}},
            {{{2, {1, 1}, {1, 0}, {1, 0}, {1, 1}, 1}},
             {uniform_around_zero({2, 1, 3, 4}), uniform_around_zero({2, 1, 2, 3})}},
            {{{2, {2, 1}, {0, 2}, {0, 2}, {1, 2}, 2}},
             {uniform_around_zero({1, 2, 4, 3}), uniform_around_zero({4, 1, 2, 2})}},
            {{{3, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 1}},
             {uniform_around_zero({1, 1, 2, 2, 3}), uniform_around_zero({1, 1, 1, 2, 2})}},
            {{{1, {1}, {0}, {0}, {1}, 1}}, {uniform_around_zero({0, 2, 3}), uniform_around_zero({2, 2, 2})}}};
  }
};

/// The x for which Σ x' x = Σ y Convolution(x', w) for all x': transposed convolution.
struct ConvolutionInput {
  using kind = Multilinear;
  static constexpr const char* name = "convolution_input";
  static constexpr Folding of_first{{0}, {0}}, of_second{{1}, {1, true}};
  static constexpr std::size_t channels[] = {1, 0, 1};  // of y, of w, of x
  ConvolutionShape shape;
  Shape sizes;  // the spatial sizes of x

  Type type(const Type& y, const Type& w) const {
    require_fit(shape, y, w);
    require_between(shape.spatial, sizes.rank(), shape.spatial);
    Shape all = {y.shape[0], w.shape[1] * shape.groups};
    all.append(sizes.begin(), sizes.end());
    require_related(shape, all, w.shape, y.shape);
    return {y.dtype, all};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::row_major, out, in, [&](Outputs x, Inputs operand) {
      kernels::convolution_input_gradient(x[0], operand[0], operand[1], shape);
    });
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    if (i == 0) return convolution(ct, conj_if_complex(r.inputs[1]), shape);
    return convolution_weight(ct, conj_if_complex(r.inputs[0]), shape, r.input_types[1]);
  }
  BatchedOutputs batch(const Batch& b) const { return batch_by_folding(*this, b); }
  static std::vector<Sample<ConvolutionInput>> samples() {
    return {sample_of<ConvolutionInput>({{1, {1}, {0}, {0}, {1}, 1}, {5}}, {2, 3, 3}, {3, 2, 3}),
            sample_of<ConvolutionInput>({{1, {2}, {1}, {1}, {1}, 2}, {5}}, {1, 2, 3}, {2, 2, 2}),
            sample_of<ConvolutionInput>({{2, {2, 1}, {0, 2}, {0, 2}, {1, 2}, 2}, {4, 3}}, {1, 4, 2, 5}, {4, 1, 2, 2}),
            sample_of<ConvolutionInput>({{3, {1, 2, 1}, {0, 1, 0}, {0, 0, 0}, {1, 1, 1}, 1}, {2, 4, 2}},
                                        {1, 2, 2, 2, 1}, {2, 1, 1, 2, 2}),
            sample_of<ConvolutionInput>({{1, {1}, {0}, {0}, {1}, 1}, {3}}, {0, 2, 2}, {2, 2, 2})};
  }
};

/// The w for which Σ w' w = Σ y Convolution(x, w') for all w'.
struct ConvolutionWeight {
  using kind = Multilinear;
  static constexpr const char* name = "convolution_weight";
  static constexpr Folding of_first{{1, true}, {1}}, of_second{{1, true}, {0, true}};
  static constexpr std::size_t channels[] = {1, 1, 0};  // of x, of y, of w
  ConvolutionShape shape;
  Shape sizes;  // the spatial sizes of w

  Type type(const Type& x, const Type& y) const {
    require_fit(shape, x, y);
    require_between(shape.spatial, sizes.rank(), shape.spatial);
    Shape all = {y.shape[1], x.shape[1] / shape.groups};
    all.append(sizes.begin(), sizes.end());
    require_related(shape, x.shape, all, y.shape);
    return {x.dtype, all};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::row_major, out, in, [&](Outputs w, Inputs operand) {
      kernels::convolution_weight_gradient(w[0], operand[0], operand[1], shape);
    });
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    if (i == 0)
      return convolution_input(conj_if_complex(r.inputs[1]), ct, shape, spatial_sizes(r.input_types[0], shape.spatial));
    return convolution(conj_if_complex(r.inputs[0]), ct, shape);
  }
  BatchedOutputs batch(const Batch& b) const { return batch_by_folding(*this, b); }
  static std::vector<Sample<ConvolutionWeight>> samples() {
    return {sample_of<ConvolutionWeight>({{1, {1}, {0}, {0}, {1}, 1}, {3}}, {2, 2, 5}, {2, 3, 3}),
            sample_of<ConvolutionWeight>({{1, {2}, {1}, {1}, {1}, 2}, {2}}, {1, 4, 5}, {1, 2, 3}),
            sample_of<ConvolutionWeight>({{2, {2, 1}, {0, 2}, {0, 2}, {1, 2}, 2}, {2, 2}}, {1, 2, 4, 3}, {1, 4, 2, 5}),
            sample_of<ConvolutionWeight>({{1, {1}, {0}, {0}, {1}, 1}, {2}}, {0, 2, 3}, {0, 2, 2})};
  }
};

Tensor convolution_weight(const Tensor& x, const Tensor& y, const ConvolutionShape& shape, const Type& w) {
  return apply(ConvolutionWeight{shape, spatial_sizes(w, shape.spatial)}, x, y);
}

}  // namespace

Tensor convolution(const Tensor& x, const Tensor& w, const ConvolutionShape& shape) {
  return apply(Convolution{shape}, x, w);
}
Tensor convolution_input(const Tensor& y, const Tensor& w, const ConvolutionShape& shape, const Shape& sizes) {
  return apply(ConvolutionInput{shape, sizes}, y, w);
}

}  // namespace ricci
