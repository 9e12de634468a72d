// Estimates of traces, and Lanczos's basis.
#include "ricci/linear/curvature.h"

#include <string>
#include <utility>

#include "linear/krylov.h"
#include "ricci/control.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

void require_positive(const char* call, const char* name, std::int64_t number) {
  if (number < 1)
    raise<ValueError>(std::string(call) + ": " + name + " is " + std::to_string(number) + "; it must be positive");
}

/// [n, the shape's sizes]
Shape with_examples(std::int64_t n, const Shape& shape) {
  Shape all{n};
  for (const Size& size : shape) all.push_back(size);
  return all;
}

/// The mean of f(v, a(v)) over vectors v of signs.
template <class F>
Estimate mean_of_samples(const char* call, const LinearOperator& a, const Key& key, const HutchinsonOptions& options,
                         const F& f) {
  require_positive(call, "samples", options.samples);
  if (!a.argument)
    raise<ValueError>(std::string(call) +
                      ": the function's argument is not known; set the operator's argument, a shape and dtype");
  const auto& [dtype, shape, weak] = *a.argument;
  const Tensor signs = 2 * bernoulli(key, 0.5, with_examples(options.samples, shape), dtype) - 1;
  const Tensor samples = vmap([&](const Tensor& v) { return f(v, a.apply(v)); })(signs);
  const double n = static_cast<double>(options.samples);
  const Tensor mean = samples.mean(0);
  return {mean, sqrt(square(abs(samples - mean)).sum(0) / (n - 1) / n)};
}

}  // namespace

namespace operators {

Tensor basis_like(const Tensor& vector) { return eye(vector.shape()[0], vector.dtype()); }

void add_up_examples(const tree::Walk& walk) {
  for (Tensor* leaf : walk.leaves)
    if (leaf->defined()) *leaf = leaf->sum(0);
}

}  // namespace operators

Estimate hutchinson(const LinearOperator& a, const Key& key, const HutchinsonOptions& options) {
  return mean_of_samples("hutchinson", a, key, options,
                         [](const Tensor& v, const Tensor& product) { return (v * product).sum(); });
}
Estimate hutchinson_diagonal(const LinearOperator& a, const Key& key, const HutchinsonOptions& options) {
  return mean_of_samples("hutchinson_diagonal", a, key, options,
                         [](const Tensor& v, const Tensor& product) { return v * product; });
}

LanczosBasis lanczos(const LinearOperator& a, const Tensor& start, std::int64_t k) {
  require_positive("lanczos", "k", k);
  struct State {
    Tensor vectors;  // [k, n]: those that are known, else 0
    Tensor next;
  };
  struct Row {
    Tensor diagonal, beside;
  };
  const DType given = is_differentiable(start.dtype()) ? start.dtype() : default_dtype();
  const DType dtype = a.argument ? promote(given, a.argument->dtype) : given;
  const Tensor first = to(flatten(start), dtype), nothing = zeros({k, first.shape()[0]}, dtype);
  const double rounding = sparse::rounding_of(dtype);
  const auto step = [&](const State& s, const Tensor& i) {
    const Tensor vectors = sparse::with_row(s.vectors, i, s.next);
    const Tensor product = flatten(a.apply(s.next.reshape(start.shape())));
    Tensor rest = product;
    for (int twice = 0; twice < 2; ++twice)  // once leaves rounding errors as large as what is left
      rest = rest - matmul(matmul(conj(vectors), rest), vectors);
    const Tensor size = norm(rest), is_new = size > rounding * norm(product), divisor = where(is_new, size, 1);
    return std::pair{State{vectors, where(is_new, rest / divisor, 0)},
                     Row{real(dot(conj(s.next), product)), where(is_new, size, 0)}};
  };
  const auto [last, rows] = scan(step, State{nothing, first / norm(first)}, arange(k));
  return {rows.diagonal, rows.beside.slice(0, 0, k - 1), last.vectors.reshape(with_examples(k, start.shape()))};
}

}  // namespace ricci
