// Products of vectors and matrices. One primitive serves matrix·matrix, matrix·vector, vector·vector and outer
// products, with leading axes as broadcast batches, so that a small product makes no views and a mapped one finds its
// GEMM.
#include <algorithm>
#include <array>

#include "kernels/matmul.h"
#include "ops/axes.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "program/structure.h"
#include "ricci/primitive/element_rules.h"
#include "ricci/primitive/scalar.h"

namespace ricci {
namespace {

enum class Form : std::uint8_t { matrices, matvec, dot, outer };

/// Axes of one operand, or of the result, that are not batch axes.
struct Cores {
  int left, right, out;
};
constexpr Cores cores_of(Form form) {
  switch (form) {
    case Form::matrices: return {2, 2, 2};
    case Form::matvec: return {2, 1, 1};
    case Form::dot: return {1, 1, 0};
    case Form::outer: return {1, 1, 2};
  }
  __builtin_unreachable();
}

/// A strided operand with unit axes put in, so that it is a stack of matrices over all batch axes of the result.
struct Matrices {
  Shape shape;
  Strides strides;
  Strided view;
  Matrices(Strided x, int core, int batch_rank, bool as_row, bool as_column) {
    const int own = x.rank - core;
    for (int i = 0; i < batch_rank; ++i) {
      const int j = i - (batch_rank - own);
      shape.push_back(j < 0 ? Size(1) : Size(x.shape[j]));
      strides.push_back(j < 0 || x.shape[j] == 1 ? 0 : x.strides[j]);
    }
    if (as_row) append(1, 0);
    for (int i = own; i < x.rank; ++i) append(x.shape[i], x.strides[i]);
    if (as_column) append(1, 0);
    view = {x.data, x.dtype, shape.rank(), shape.host(), strides.data()};
  }
  void append(std::int64_t size, std::int64_t stride) {
    shape.push_back(size);
    strides.push_back(stride);
  }
  /// Batch axes of size 1 repeat over the result's.
  void broadcast_to(const Shape& out) {
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) shape[i] = out[i];
  }
};

struct Product {
  using kind = Multilinear;
  static constexpr const char* name = "matmul";
  Form form;

  Type type(const Type& a, const Type& b) const {
    require_between(0, static_cast<std::int64_t>(form), static_cast<std::int64_t>(Form::outer));
    const Cores c = cores_of(form);
    require_rank_of_at_least(c.left, a);
    require_rank_of_at_least(c.right, b);
    require_dtype(a.dtype, b);
    if (form != Form::outer) {
      const Size rows = b.shape[b.shape.size() - (form == Form::matrices ? 2 : 1)], columns = a.shape.back();
      if (rows.raw() != columns.raw()) require_shape({rows}, {columns});
    }
    Shape shape;
    const int batch_a = a.rank() - c.left, batch_b = b.rank() - c.right, batch = std::max(batch_a, batch_b);
    for (int i = 0; i < batch; ++i) {
      const int ia = i - (batch - batch_a), ib = i - (batch - batch_b);
      const Size na = ia < 0 ? Size(1) : a.shape[static_cast<std::size_t>(ia)],
                 nb = ib < 0 ? Size(1) : b.shape[static_cast<std::size_t>(ib)];
      if (na.raw() != 1 && nb.raw() != 1 && na.raw() != nb.raw()) require_shape({nb}, {na});
      shape.push_back(na == 1 ? nb : na);
    }
    if (c.left == 2 || form == Form::outer) shape.push_back(a.shape[static_cast<std::size_t>(batch_a)]);
    if (c.right == 2 || form == Form::outer) shape.push_back(b.shape[b.shape.size() - 1]);
    return {a.dtype, shape};
  }

  void eval(Outputs out, Inputs in) const {
    const Cores c = cores_of(form);
    const int batch = out[0].rank - c.out;
    Matrices y(out[0], c.out, batch, form == Form::dot, form == Form::dot || form == Form::matvec);
    Matrices a(in[0], c.left, batch, form == Form::dot, form == Form::outer);
    Matrices b(in[1], c.right, batch, form == Form::outer, form == Form::dot || form == Form::matvec);
    a.broadcast_to(y.shape);
    b.broadcast_to(y.shape);
    if (form == Form::dot) kernels::dot_products(y.view, a.view, b.view);
    else kernels::matmul(y.view, a.view, b.view);
  }

  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    const Tensor other = conj_if_complex(r.inputs[static_cast<std::size_t>(1 - i)]);
    switch (form) {
      case Form::matrices: return i == 0 ? product(Form::matrices, ct, mT(other)) : transpose_right(ct, other, r);
      case Form::matvec: return i == 0 ? product(Form::outer, ct, other) : product(Form::matvec, mT(other), ct);
      case Form::dot: return mul(unsqueeze(ct, -1), other);
      case Form::outer: return i == 0 ? product(Form::matvec, ct, other) : product(Form::matvec, mT(ct), other);
    }
    __builtin_unreachable();
  }

  /// Operands that are not mapped stay as they are: the batch axes broadcast. A shared matrix makes one GEMM.
  BatchedOutputs batch(const Batch& b) const {
    const Cores c = cores_of(form);
    const bool shared_left = !b.is_mapped(0) && b.inputs[0].dim() == c.left;
    if (shared_left && form == Form::matvec && b.inputs[1].dim() == 2)
      return {.outputs = {product(Form::matrices, b.inputs[1], mT(b.inputs[0]))}};
    // Both ways are right for all sizes: the sizes at hand choose one, and a program relies on none.
    const auto is_narrow = [](const Tensor& x) { return x.dim() == 3 && type_of(x).shape[2].hint() <= 16; };
    if (shared_left && form == Form::matrices && is_narrow(b.inputs[1])) {
      const Type right = type_of(b.inputs[1]);  // [B, k, n]
      const Tensor rows = reshape(mT(b.inputs[1]), {right.shape[0] * right.shape[2], right.shape[1]});
      const Tensor y = product(Form::matrices, rows, mT(b.inputs[0]));  // [B·n, m]
      return {.outputs = {mT(reshape(y, {right.shape[0], right.shape[2], type_of(y).shape[1]}))}};
    }
    const std::int64_t batch_left = b.inputs[0].dim() - c.left - (b.is_mapped(0) ? 1 : 0);
    const std::int64_t batch_right = b.inputs[1].dim() - c.right - (b.is_mapped(1) ? 1 : 0);
    const std::int64_t batch = std::max(batch_left, batch_right);
    return {.outputs = {product(form, padded(b, 0, batch - batch_left), padded(b, 1, batch - batch_right))}};
  }

  /// Each sum in the order of the inner axis, product by product.
  template <class T>
  Elements<T> on_elements(const Elements<T>& a, const Elements<T>& b) const {
    const Cores c = cores_of(form);
    Elements<T> y{type({DType::float32, a.shape}, {DType::float32, b.shape}).shape, {}};
    const std::int64_t columns = form == Form::matrices ? b.size(1) : form == Form::outer ? b.size(1) : 1;
    const std::int64_t rows = c.left == 2 ? a.size(2) : form == Form::outer ? a.size(1) : 1;
    const std::int64_t inner = form == Form::outer ? 1 : a.size(1);
    const Shape batch(y.shape.begin(), y.shape.end() - c.out);
    const auto first = [&](const Elements<T>& x, int core, std::int64_t member) {  // of this member of the batch
      std::int64_t place = 0, step = 1;
      for (std::size_t i = x.shape.size(); i-- > x.shape.size() - static_cast<std::size_t>(core);)
        step *= x.shape[i].host();
      std::size_t own = x.shape.size() - static_cast<std::size_t>(core);
      for (std::size_t i = batch.size(); i-- > 0 && own-- > 0; step *= x.shape[own].host()) {
        place += x.shape[own].host() == 1 ? 0 : member % batch[i].host() * step;
        member /= batch[i].host();
      }
      return place;
    };
    for (std::int64_t member = 0; member < batch.numel(); ++member) {
      const std::int64_t left = first(a, c.left, member), right = first(b, c.right, member);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          const auto of = [&](std::int64_t p) {
            return std::pair(a.of[at(left + i * inner + p)], b.of[at(right + p * columns + j)]);
          };
          if (inner == 0) {
            y.of.push_back(T(0));
            continue;
          }
          T sum = of(0).first * of(0).second;
          for (std::int64_t p = 1; p < inner; ++p) sum = scalar::fma(of(p).first, of(p).second, sum);
          y.of.push_back(sum);
        }
    }
    return y;
  }

  Structure structure() const {
    const Cores c = cores_of(form);
    return ProductAxes{c.left, c.right, form == Form::outer};
  }

  static Tensor product(Form form, const Tensor& a, const Tensor& b) { return apply(Product{form}, a, b); }

  static std::vector<Sample<Product>> samples() {
    const auto x = [](Shape shape) { return rand(shape) * 2 - 1; };
    return {{{Form::matrices}, {x({2, 3}), x({3, 4})}},    {{Form::matrices}, {x({2, 2, 3}), x({3, 2})}},
            {{Form::matrices}, {x({2, 3}), x({2, 3, 2})}}, {{Form::matrices}, {x({2, 1, 2, 3}), x({3, 3, 2})}},
            {{Form::matrices}, {x({2, 0}), x({0, 3})}},    {{Form::matvec}, {x({2, 3}), x({3})}},
            {{Form::matvec}, {x({2, 2, 3}), x({3})}},      {{Form::dot}, {x({3}), x({3})}},
            {{Form::dot}, {x({2, 3}), x({2, 3})}},         {{Form::outer}, {x({2}), x({3})}},
            {{Form::outer}, {x({2, 2}), x({3})}}};
  }

 private:
  /// aᵀ ct; a shared right matrix sums over the batch inside the GEMM.
  static Tensor transpose_right(const Tensor& ct, const Tensor& a, const Reverse& r) {
    const bool shared = r.input_types[1].rank() == 2 && r.input_types[0].rank() > 2;
    return shared ? product(Form::matrices, mT(flatten(a, 0, -2)), flatten(ct, 0, -2))
                  : product(Form::matrices, mT(a), ct);
  }
  static Tensor padded(const Batch& b, int i, std::int64_t missing) {
    const Tensor& x = b.inputs[static_cast<std::size_t>(i)];
    if (!b.is_mapped(i) || missing <= 0) return x;
    Shape shape = type_of(x).shape;
    for (std::int64_t k = 0; k < missing; ++k) shape.insert(1, 1);
    return reshape(x, shape);
  }
};

std::string axes_text(const char* side, int axis, Size size) {
  return std::string(side) + " axis " + std::to_string(axis) + " (" + std::to_string(size.hint()) + ")";
}

/// Both operands in one element type, their sizes checked.
Tensor checked_product(const char* op, Form form, const Tensor& a, const Tensor& b) {
  const Type ta = type_of(a), tb = type_of(b);
  const Cores c = cores_of(form);
  if (form != Form::outer) {
    const int inner_a = ta.rank() - 1, inner_b = tb.rank() - c.right;
    if (!(ta.shape[static_cast<std::size_t>(inner_a)] == tb.shape[static_cast<std::size_t>(inner_b)]))
      raise<ValueError>(std::string(op) + ": inner sizes differ: left is " + to_string(ta) + ", right is " +
                        to_string(tb) + "; " + axes_text("left", inner_a, ta.shape[static_cast<std::size_t>(inner_a)]) +
                        " must equal " + axes_text("right", inner_b, tb.shape[static_cast<std::size_t>(inner_b)]));
  }
  for (int back = 1; back <= std::min(ta.rank() - c.left, tb.rank() - c.right); ++back) {
    const Size na = ta.shape[static_cast<std::size_t>(ta.rank() - c.left - back)],
               nb = tb.shape[static_cast<std::size_t>(tb.rank() - c.right - back)];
    if (!(na == nb) && !(na == 1) && !(nb == 1))
      raise<ValueError>(std::string(op) + ": shapes do not broadcast: " + to_string(ta) + " and " + to_string(tb) +
                        "; axis -" + std::to_string(back + 2) + " is " + std::to_string(na.hint()) + " against " +
                        std::to_string(nb.hint()) + ", and neither is 1");
  }
  const DType dtype = promote(ta.dtype, tb.dtype);
  return Product::product(form, ta.dtype == dtype ? a : to(a, dtype), tb.dtype == dtype ? b : to(b, dtype));
}

void require_rank(const char* op, const Tensor& x, int operand, std::int64_t rank) {
  require_defined(op, x, operand);
  if (type_of(x).rank() != rank)
    raise<ValueError>(std::string(op) + ": operand " + std::to_string(operand) + " must have " +
                      count_of(rank, "axis", "axes") + ", it is " + type_text(x));
}

}  // namespace

namespace ops {

Tensor matmul(const Tensor& a, const Tensor& b) {
  require_defined("matmul", a, 0);
  require_defined("matmul", b, 1);
  const int ra = type_of(a).rank(), rb = type_of(b).rank();
  if (ra == 0 || rb == 0)
    raise<ValueError>("matmul: needs operands of at least 1 axis: left is " + type_text(a) + ", right is " +
                      type_text(b) + "; use mul for numbers");
  if (ra == 1 && rb == 1) return checked_product("matmul", Form::dot, a, b);
  if (rb == 1) return checked_product("matmul", Form::matvec, a, b);
  if (ra > 1) return checked_product("matmul", Form::matrices, a, b);
  const Type ta = type_of(a), tb = type_of(b);
  if (!(ta.shape[0] == tb.shape[tb.shape.size() - 2]))
    raise<ValueError>("matmul: inner sizes differ: left is " + to_string(ta) + ", right is " + to_string(tb) + "; " +
                      axes_text("left", 0, ta.shape[0]) + " must equal " +
                      axes_text("right", tb.rank() - 2, tb.shape[tb.shape.size() - 2]));
  return checked_product("matmul", Form::matvec, mT(b), a);
}

Tensor mm(const Tensor& a, const Tensor& b) {
  require_rank("mm", a, 0, 2);
  require_rank("mm", b, 1, 2);
  return checked_product("mm", Form::matrices, a, b);
}
Tensor bmm(const Tensor& a, const Tensor& b) {
  require_rank("bmm", a, 0, 3);
  require_rank("bmm", b, 1, 3);
  return checked_product("bmm", Form::matrices, a, b);
}
Tensor mv(const Tensor& a, const Tensor& x) {
  require_rank("mv", a, 0, 2);
  require_rank("mv", x, 1, 1);
  return checked_product("mv", Form::matvec, a, x);
}
Tensor dot(const Tensor& a, const Tensor& b) {
  require_rank("dot", a, 0, 1);
  require_rank("dot", b, 1, 1);
  return checked_product("dot", Form::dot, a, b);
}
Tensor vdot(const Tensor& a, const Tensor& b) {
  const Called as("vdot", a, b);
  return dot(conj_if_complex(a), b);
}
Tensor outer(const Tensor& a, const Tensor& b) {
  const Called as("outer", a, b);
  require_rank("outer", a, 0, 1);
  require_rank("outer", b, 1, 1);
  return checked_product("outer", Form::outer, a, b);
}
Tensor inner(const Tensor& a, const Tensor& b) {
  const Called as("inner", a, b);
  if (a.dim() == 0 || b.dim() == 0) return mul(a, b);
  return tensordot(a, movedim(b, -1, 0), 1);
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims) {
  require_defined("tensordot", a, 0);
  require_defined("tensordot", b, 1);
  const Type ta = type_of(a), tb = type_of(b);
  if (dims < 0 || dims > ta.rank() || dims > tb.rank())
    raise<ValueError>("tensordot: cannot contract " + count_of(dims, "axis", "axes") + " of " + to_string(ta) +
                      " and " + to_string(tb));
  Shape left(ta.shape.begin(), ta.shape.end() - dims), right(tb.shape.begin() + dims, tb.shape.end());
  Size contracted = 1;
  for (std::int64_t i = 0; i < dims; ++i) {
    const Size na = ta.shape[static_cast<std::size_t>(ta.rank() - dims + i)],
               nb = tb.shape[static_cast<std::size_t>(i)];
    if (!(na == nb))
      raise<ValueError>("tensordot: inner sizes differ: left is " + to_string(ta) + ", right is " + to_string(tb) +
                        "; " + axes_text("left", static_cast<int>(ta.rank() - dims + i), na) + " must equal " +
                        axes_text("right", static_cast<int>(i), nb));
    contracted = contracted * na;
  }
  const Tensor product = matmul(reshape(a, {left.numel(), contracted}), reshape(b, {contracted, right.numel()}));
  left.append(right.begin(), right.end());
  return reshape(product, left);
}

Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b) {
  const Called as("addmm", bias, a, b);
  return add(bias, mm(a, b));
}

Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b, double beta, double alpha) {
  const Called as("addmm", bias, a, b);
  const Tensor product = mm(a, b), part = alpha == 1 ? product : times(alpha, product);
  return beta == 0 ? add(zeros_like(bias), part) : add(beta == 1 ? bias : times(beta, bias), part);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& dims_a, const Axes& dims_b) {
  const Called as("tensordot", a, b);
  if (dims_a.size() != dims_b.size())
    raise<ValueError>("tensordot: there are " + count_of(dims_a.size(), "axis", "axes") + " of a and " +
                      std::to_string(dims_b.size()) + " of b; give one of b for each of a");
  const auto chosen = [](const Tensor& x, const Axes& dims) {
    return dims.empty() ? Axes() : wrap_axes("tensordot", dims, x);
  };
  const auto moved = [](const Tensor& x, const Axes& axes, bool to_the_back) {
    Axes order, rest;
    for (std::int64_t axis = 0; axis < type_of(x).rank(); ++axis)
      if (std::ranges::find(axes, axis) == axes.end()) rest.push_back(axis);
    for (const Axes& part : to_the_back ? std::array{rest, axes} : std::array{axes, rest})
      for (const std::int64_t axis : part) order.push_back(axis);
    return permute(x, order);
  };
  const Axes of_a = chosen(a, dims_a), of_b = chosen(b, dims_b);
  return tensordot(moved(a, of_a, true), moved(b, of_b, false), static_cast<std::int64_t>(of_a.size()));
}

Tensor linear(const Tensor& x, const Tensor& weight) {
  const Called as("linear", x, weight);
  const Type tx = type_of(x), tw = type_of(weight);
  if (tw.rank() != 1 && tw.rank() != 2)
    raise<ValueError>("linear: the weight must be [outputs, inputs] or [inputs], it is " + to_string(tw));
  if (tx.rank() == 0 || !(tx.shape.back() == tw.shape.back()))
    raise<ValueError>("linear: inner sizes differ: the input is " + to_string(tx) + ", the weight is " + to_string(tw) +
                      "; the last axis of the input must equal axis " + std::to_string(tw.rank() - 1) +
                      " of the weight");
  if (tw.rank() == 1) return checked_product("linear", tx.rank() == 1 ? Form::dot : Form::matvec, x, weight);
  return tx.rank() == 1 ? checked_product("linear", Form::matvec, weight, x)
                        : checked_product("linear", Form::matrices, x, mT(weight));
}
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Called as("linear", x, weight);
  return bias.defined() ? add(linear(x, weight), bias) : linear(x, weight);
}

Tensor kron(const Tensor& a, const Tensor& b) {
  const Called as("kron", a, b);
  const int rank = std::max(type_of(a).rank(), type_of(b).rank());
  Shape sa = type_of(a).shape, sb = type_of(b).shape, wide_a, wide_b, merged;
  while (sa.rank() < rank) sa.insert(0, 1);
  while (sb.rank() < rank) sb.insert(0, 1);
  for (std::size_t i = 0; i < sa.size(); ++i) {
    wide_a.push_back(sa[i]);
    wide_a.push_back(1);
    wide_b.push_back(1);
    wide_b.push_back(sb[i]);
  }
  Shape both = sa;
  both.append(sb.begin(), sb.end());
  require_countable("kron", both);
  for (std::size_t i = 0; i < sa.size(); ++i) merged.push_back(sa[i] * sb[i]);
  return reshape(mul(reshape(a, wide_a), reshape(b, wide_b)), merged);
}

Tensor cross(const Tensor& a, const Tensor& b) { return cross(a, b, -1); }
Tensor cross(const Tensor& a, const Tensor& b, std::int64_t dim) {
  const Called as("cross", a, b);
  const Type types[] = {type_of(a), type_of(b)};
  const Type* both[] = {&types[0], &types[1]};
  const Shape shape = broadcast_shape("cross", both);
  const Tensor left = types[0].shape == shape ? a : expand(a, shape),
               right = types[1].shape == shape ? b : expand(b, shape);
  const std::int64_t axis = wrap_own_axis("cross", dim, left);
  if (!(shape[at(axis)] == 3))
    raise<ValueError>("cross: axis " + std::to_string(axis) + " must have size 3 in both: " + type_text(a) + " and " +
                      type_text(b));
  return sub(mul(roll(left, {-1}, {axis}), roll(right, {-2}, {axis})),
             mul(roll(left, {-2}, {axis}), roll(right, {-1}, {axis})));
}

}  // namespace ops
}  // namespace ricci
