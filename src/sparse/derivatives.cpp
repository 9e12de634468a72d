// Compressed derivatives: directions that add the columns, or rows, of one color; one gather takes the sums apart.
#include "ricci/sparse/derivatives.h"

#include <map>

#include "primitive/interpreter.h"
#include "program/program.h"
#include "program/running.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"
#include "sparse/propagation.h"
#include "sparse/tangent_program.h"

namespace ricci::sparse {
namespace {

Tensor shown(std::span<const std::int64_t> numbers) {
  return tensor(std::vector<std::int64_t>(numbers.begin(), numbers.end()));
}

/// [colors, count]: 1 where the element has the color.
Tensor directions(std::int64_t colors, std::span<const std::int64_t> color_of, DType dtype) {
  return to(eq(unsqueeze(arange(colors), -1), shown(color_of)), dtype);
}

void require_size(const char* call, const char* what, const Tensor& x, std::int64_t size) {
  if (x.numel() == size) return;
  raise<ValueError>(std::string(call) + ": the " + what + " has " + std::to_string(x.numel()) +
                    " elements, the pattern has " + std::to_string(size) + " " +
                    (std::string(what) == "result" ? "rows" : "columns") +
                    "; find the pattern of this function at arguments of these shapes");
}

void require_result(const Tensor& y, std::int64_t rows) {
  require_real("jacobian", "result", type_of(y));
  require_size("jacobian", "result", y, rows);
}

Sparse by_colors(const VectorFunction& f, const Tensor& x, const Coloring& coloring, where_t where) {
  const Sparsity& sparsity = coloring.sparsity();
  std::vector<Tensor> products;
  if (coloring.column_colors() > 0) {
    const auto along = [&](const Tensor& direction) { return jvp(f, x, direction, where).second; };
    const Tensor seeds = directions(coloring.column_colors(), coloring.color_of_column(), x.dtype());
    products.push_back(vmap(along)(seeds));  // [colors, rows]
    require_result(products[0][0], sparsity.rows());
  }
  if (coloring.row_colors() > 0) {
    const auto [y, pullback] = vjp<VectorFunction, Tensor>(f, x, where);
    require_result(y, sparsity.rows());
    const Tensor seeds = directions(coloring.row_colors(), coloring.color_of_row(), y.dtype());
    products.push_back(vmap(pullback)(seeds));  // [colors, columns]
  }
  if (products.empty()) {
    const Tensor y = f(x);
    require_result(y, sparsity.rows());
    return {sparsity, zeros({0}, y.dtype())};
  }
  for (Tensor& product : products) product = flatten(product, 0, -1);
  Tensor all = products.size() == 1 ? products[0] : cat(products, 0);
  if (const Sparsity& system = coloring.system().sparsity(); system.rows() > 0) {
    const Sparse sums{system, ones({system.nnz()}, all.dtype())};
    all = cat({all, solve(sums, index_select(all, 0, shown(coloring.sums())), coloring.system())}, 0);
  }
  return {sparsity, index_select(all, 0, shown(coloring.places()))};
}

/// What the recorded function gives. An array among the captured tensors is one that the function made of numbers (what
/// is from outside belongs to the recording around): it is made anew, as the function does.
Tensor run_again(const Program& recorded, const Tensor& x) {
  std::map<Variable, ValueRef> arrays;
  for (const Capture& c : recorded.body().captures)
    if (const ValueRef& value = value_of(c.tensor); value->kind == ValueKind::array) arrays.emplace(c.variable, value);
  return run_program(recorded, {&x, 1}, [&](const Equation& e, Tensors& operands, const auto& compute) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (const auto made = arrays.find(e.inputs[i]); made != arrays.end()) operands[i] = wrap(made->second);
    compute();
  })[0];
}

}  // namespace

Sparse jacobian_of(const VectorFunction& f, const Tensor& x, const Coloring& coloring, where_t where) {
  require_real("jacobian", "argument", type_of(x));
  require_size("jacobian", "argument", x, coloring.sparsity().columns());
  if (!recorder_of_everything()) return by_colors(f, x, coloring, where);
  // What is found out here is found once, and kept with the program. f runs once; its recording can run again.
  const Program recorded = runs::trace(call::any_function<Tensor, Tensor>(f), call::any_list(Tensor(x)), where);
  require_real("jacobian", "result", recorded.body().types[static_cast<std::size_t>(recorded.body().outputs[0])]);
  const auto again = [&](const Tensor& v) { return run_again(recorded, v); };
  if (is_plain(recorded))
    if (auto values = propagated(again, x, coloring, where)) return {coloring.sparsity(), std::move(*values)};
  return by_colors(again, x, coloring, where);
}

Sparse hessian_of(const VectorFunction& loss, const Tensor& x, const Coloring& coloring, where_t where) {
  if (coloring.row_colors() > 0)
    raise<ValueError>("hessian: the coloring has " + std::to_string(coloring.row_colors()) +
                      " colors of rows; use {.mode = rc::ColorMode::star}, acyclic or columns");
  return jacobian_of([&](const Tensor& v) { return grad(loss, where)(v); }, x, coloring, where);
}

}  // namespace ricci::sparse
