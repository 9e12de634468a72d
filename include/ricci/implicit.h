// Derivatives of what an equation defines: custom_root, custom_linear_solve. How the equation was solved does not
// matter to them: they follow from the implicit function theorem. What the equation's function captures counts as its
// parameters and is differentiated; for that the function is recorded once, so it may not look at values.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ricci/function/closure.h"
#include "ricci/function/operation.h"
#include "ricci/ops.h"
#include "ricci/transforms.h"

namespace ricci {

namespace function {

/// What an unknown is kept as: a number as a Tensor.
template <class X>
using tree_of_t = std::conditional_t<std::is_arithmetic_v<X>, Tensor, tree::plain_t<X>>;

/// What `x` is kept as: a number in the floating or complex dtype that `f` gives for it, where that holds it. f is
/// recorded for that, not run.
template <class F, class X>
tree_of_t<X> unknown_of(const char* name, const F& f, const X& x) {
  tree_of_t<X> unknown(x);
  if constexpr (std::is_same_v<tree_of_t<X>, Tensor> && std::is_same_v<call::result_t<F, Tensor>, Tensor>) {
    if (!unknown.defined() || !types_of_all({&unknown, 1})[0].weak) return unknown;
    std::optional<Tensor> given;
    write_down(name, f, std::tuple<Tensor>(unknown), given);
    if (!given->defined() || !is_differentiable(given->dtype())) return unknown;
    if (is_complex(unknown.dtype()) && !is_complex(given->dtype())) return unknown;
    return number_like(unknown, *given);
  } else {
    return unknown;
  }
}

/// Whether any of an equation's parameters has a derivative.
inline bool any_differentiable(const std::vector<Tensor>& parameters) {
  return !differentiable_among(parameters, types_of_all(parameters)).empty();
}

template <class X>
X negated(const X& x) {
  return map_leaves([](const Tensor& t) { return -t; }, x);
}

/// The transpose of a linear map, of a tree like `y` that it gives.
template <class F, class X>
X transposed(const F& f, const X& y) {
  const auto anywhere = [](const Tensor& t) { return any_tangents(types_of_all({&t, 1}))[0]; };
  const auto [value, pullback] = ricci::vjp(f, map_leaves(anywhere, y));
  return pullback(y);
}

/// What a user's solver, which errors call `rule`, gives for `y`: a tree like it, the x with g(x) = y, or near y with
/// g(x) = 0.
template <class X, class Solve, class G>
X solution(const char* name, const char* rule, const Solve& solve, const G& g, const X& y) {
  X found(solve(g, y)), like = y;
  require_same_types(name, rule, call::walk(found), call::walk(like), "its argument");
  return map_leaves(number_like, found, like);
}

/// What an equation with parameters defines, a tree like its first argument: derivatives need it and the parameters.
template <class X>
class Implicit : public Typed<Operation, X, X, std::vector<Tensor>> {
 public:
  using Parameters = std::vector<Tensor>;
  using Typed<Operation, X, X, Parameters>::Typed;

  Kept keep(std::span<const Tensor> inputs, const Mask&) const override {
    Tensors outputs = this->apply(inputs);
    std::vector<Tensor> saved(outputs.begin(), outputs.end());
    saved.insert(saved.end(), inputs.begin() + static_cast<std::ptrdiff_t>(outputs.size()), inputs.end());
    return {.outputs = std::move(outputs), .residual = {std::move(saved), nullptr}};
  }
};

/// The root of a function of X with parameters: arguments are the initial guess and the parameters.
template <class X, class Solve, class TangentSolve>
class Root final : public Implicit<X> {
  using Base = Implicit<X>;
  using typename Base::Parameters;

 public:
  Root(std::tuple<X, Parameters> arguments, Tensors& inputs, Program f, const Solve& solve,
       const TangentSolve& tangent_solve)
      : Base(std::move(arguments), inputs, name), f_(std::move(f)), solve_(solve), tangent_solve_(tangent_solve) {}

  Tensors call(std::span<const Tensor> inputs) const override {
    auto [initial, parameters] = this->arguments(inputs);
    return this->tensors_of(solution(name, "the solver", solve_, ClosedFunction<X>{f_, parameters}, initial));
  }
  /// The adjoint solves the transposed linearised equation; its negative is the cotangent of f's value.
  Tensors vjp(const Reverse& rule) const override {
    auto [root, parameters] = this->arguments(rule.residual->tensors);
    if (!any_differentiable(parameters)) return Tensors(rule.input_types.size());
    const X ct = this->result(filled_with_zeros(rule.cotangents, rule.output_types));
    const auto solved = [&](const X& y) {
      const auto [zero, slope] = linearize(ClosedFunction<X>{f_, parameters}, root);
      return solution(name, "tangent_solve", tangent_solve_, slope, y);
    };
    const auto at_root = [&](const Parameters& p) { return ClosedFunction<X>{f_, p}(root); };
    const auto [zero, pullback] = ricci::vjp(at_root, parameters);
    const Parameters found = pullback(negated(transposed(solved, ct)));
    Tensors cotangents(rule.input_types.size() - found.size(), Tensor());
    cotangents.append(found.begin(), found.end());
    return wanted_among(cotangents, rule);
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const override {
    Tensors outputs = this->apply(inputs);
    const X root = this->result(outputs);
    const auto [initial, parameters] = this->arguments(inputs);
    if (!any_differentiable(parameters)) return {outputs, Tensors(outputs.size())};
    const auto [unused, slopes] = this->arguments(filled_with_zeros(tangents, types_of_all(inputs)));
    const auto at_root = [&](const Parameters& p) { return ClosedFunction<X>{f_, p}(root); };
    const auto [zero, change] = ricci::jvp(at_root, parameters, slopes);
    const auto [again, slope] = linearize(ClosedFunction<X>{f_, parameters}, root);
    return {
        std::move(outputs),
        this->tangents_of("tangent_solve", negated(solution(name, "tangent_solve", tangent_solve_, slope, change)))};
  }

  const Program* program() const override { return &f_; }
  std::shared_ptr<const Operation> with_program(Program program) const override {
    const auto other = std::make_shared<Root>(*this);
    other->f_ = std::move(program);
    return other;
  }

 private:
  static constexpr const char* name = "custom_root";
  Program f_;
  Solve solve_;
  TangentSolve tangent_solve_;
};

/// The solution of a linear system: arguments are the right-hand side and the parameters of matvec.
template <class X, class Solve, class TransposeSolve>
class LinearSolve final : public Implicit<X> {
  using Base = Implicit<X>;
  using typename Base::Parameters;

 public:
  LinearSolve(std::tuple<X, Parameters> arguments, Tensors& inputs, Program matvec, const Solve& solve,
              const TransposeSolve& transpose_solve)
      : Base(std::move(arguments), inputs, name),
        matvec_(std::move(matvec)),
        solve_(solve),
        transpose_solve_(transpose_solve) {}

  /// Solves matvec(x) = b, whose program and parameters these are.
  static X run(const Closure& matvec, const X& b, const Solve& solve, const TransposeSolve& transpose_solve) {
    Tensors inputs;
    const auto application = std::make_shared<const LinearSolve>(std::tuple<X, Parameters>(b, matvec.captured), inputs,
                                                                 matvec.program, solve, transpose_solve);
    return application->result(application->apply(inputs));
  }

  Tensors call(std::span<const Tensor> inputs) const override {
    auto [b, parameters] = this->arguments(inputs);
    return this->tensors_of(solution(name, "the solver", solve_, ClosedFunction<X>{matvec_, parameters}, b));
  }
  Tensors vjp(const Reverse& rule) const override {
    auto [solution, parameters] = this->arguments(rule.residual->tensors);
    const X ct = this->result(filled_with_zeros(rule.cotangents, rule.output_types));
    const ClosedFunction<X> matvec{matvec_, parameters};
    const auto vecmat = [&](const X& y) { return transposed(matvec, y); };
    const X adjoint = LinearSolve<X, TransposeSolve, Solve>::run(close(name, vecmat, ct), ct, transpose_solve_, solve_);
    const auto at_solution = [&](const Parameters& p) { return ClosedFunction<X>{matvec_, p}(solution); };
    Tensors cotangents;
    X of_b = adjoint;
    take_tensors(call::walk(of_b), cotangents);
    if (any_differentiable(parameters)) {
      const auto [product, pullback] = ricci::vjp(at_solution, parameters);
      const Parameters found = pullback(negated(adjoint));
      cotangents.append(found.begin(), found.end());
    }
    cotangents.resize(rule.input_types.size());
    return wanted_among(cotangents, rule);
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const override {
    Tensors outputs = this->apply(inputs);
    const X solution = this->result(outputs);
    const auto [b, parameters] = this->arguments(inputs);
    const auto [slope_of_b, slopes] = this->arguments(filled_with_zeros(tangents, types_of_all(inputs)));
    const auto at_solution = [&](const Parameters& p) { return ClosedFunction<X>{matvec_, p}(solution); };
    X rest = slope_of_b;
    if (any_differentiable(parameters)) {
      const auto [product, change] = ricci::jvp(at_solution, parameters, slopes);
      rest = map_leaves([](const Tensor& t, const Tensor& c) { return t - c; }, slope_of_b, change);
    }
    return {std::move(outputs), this->tangents_of("solve", run({matvec_, parameters}, rest, solve_, transpose_solve_))};
  }

  const Program* program() const override { return &matvec_; }
  std::shared_ptr<const Operation> with_program(Program program) const override {
    const auto other = std::make_shared<LinearSolve>(*this);
    other->matvec_ = std::move(program);
    return other;
  }

 private:
  static constexpr const char* name = "custom_linear_solve";
  Program matvec_;
  Solve solve_;
  TransposeSolve transpose_solve_;
};

}  // namespace function

/// A root of `f`: what `solve(f, initial)` returns, an x like `initial` with f(x) = 0. Its derivative with respect to
/// everything f captures is by the implicit function theorem; that with respect to `initial` is zero. A number as
/// `initial` takes the dtype that f gives for it.
/// `tangent_solve(g, y)` returns the x with g(x) = y for a linear g, and must be differentiable in y as often as
/// derivatives are asked for. f: from x to a tree like x. Throws ValueError if f or a solver gives another structure,
/// shape or dtype.
///   Tensor r = rc::custom_root([a](Tensor x) { return x * x - a; }, 1.0, newton,
///                              [](auto g, Tensor y) { return y / g(1.0); });
template <class F, class X, class Solve, class TangentSolve>
auto custom_root(const F& f, const X& initial, const Solve& solve, const TangentSolve& tangent_solve) {
  using Tree = function::tree_of_t<X>;
  const Tree guess = function::unknown_of("custom_root", f, initial);
  const function::Closure closure = function::close("custom_root", f, guess);
  Tensors inputs;
  const auto root = std::make_shared<const function::Root<Tree, Solve, TangentSolve>>(
      std::tuple<Tree, std::vector<Tensor>>(guess, closure.captured), inputs, closure.program, solve, tangent_solve);
  return root->result(root->apply(inputs));
}

/// The x with matvec(x) = b: what `solve(matvec, b)` returns. Its derivatives with respect to b and everything matvec
/// captures solve a system with the same matrix, by `solve`, or with its transpose, by `transpose_solve(vecmat, b)`.
/// matvec: linear, from a tree like b to a tree like b. A number as b takes the dtype that matvec gives for it. Throws
/// ValueError if it or a solver gives another structure, shape or dtype.
///   Tensor x = rc::custom_linear_solve([a](Tensor v) { return matmul(a, v); }, b, solve, solve_transposed);
template <class F, class X, class Solve, class TransposeSolve>
auto custom_linear_solve(const F& matvec, const X& b, const Solve& solve, const TransposeSolve& transpose_solve) {
  using Tree = function::tree_of_t<X>;
  const Tree side = function::unknown_of("custom_linear_solve", matvec, b);
  return function::LinearSolve<Tree, Solve, TransposeSolve>::run(function::close("custom_linear_solve", matvec, side),
                                                                 side, solve, transpose_solve);
}

}  // namespace ricci
