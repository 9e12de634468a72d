// Derivatives of what an equation defines, of trees and functions without C++ types.
#include "custom/implicit.h"

#include <optional>

#include "custom/closure.h"
#include "custom/operation.h"
#include "ricci/ops.h"

namespace ricci::function {
namespace {

/// Whether any of an equation's parameters has a derivative.
bool any_differentiable(const std::vector<Tensor>& parameters) {
  return !differentiable_among(parameters, types_of_all(parameters)).empty();
}

AnyTree negated(const AnyTree& x) {
  return map_leaves([](const Tensor& t) { return -t; }, x);
}

/// Whether f holds for all elements of a tree.
template <class F>
Tensor all_of(const F& f, const AnyTree& x) {
  Tensor all = ones({}, boolean);
  AnyTree tree = x;
  for (const Tensor* leaf : call::walk(tree).leaves)
    if (leaf->defined()) all = logical_and(all, f(*leaf).all());
  return all;
}
AnyTree zero_where(const Tensor& condition, const AnyTree& x) {
  return map_leaves([&](const Tensor& t) { return where(condition, 0, t); }, x);
}

/// The transpose of a linear map, of a tree like `y` that it gives.
template <class F>
AnyTree transposed(const F& f, const AnyTree& y) {
  const auto anywhere = [](const Tensor& t) { return any_tangents(types_of_all({&t, 1}))[0]; };
  const auto [value, pullback] = ricci::vjp(f, map_leaves(anywhere, y));
  return pullback(y);
}

/// The function again, with these tensors for what it captured.
struct ClosedFunction {
  Program program;
  std::vector<Tensor> captured;

  AnyTree operator()(const AnyTree& x) const {
    Tensors inputs;
    const Emptied like(x, inputs);
    inputs.append(captured.begin(), captured.end());
    return like.filled_tree(program(inputs));
  }
};

/// `f` written down at x, of which it must give the like.
Closure close(const char* name, const AnyFunction& f, const AnyTree& x) {
  AnyTree result;
  Closure closure = write_down(name, f, call::any_list(x), result);
  require_same_types(name, "the function", call::walk(result), call::walk(x), "its argument");
  return closure;
}

/// What a user's solver, which errors call `rule`, gives for `y`: a tree like it, the x with g(x) = y, or near y with
/// g(x) = 0.
template <class G>
AnyTree solution(const char* name, const char* rule, const AnyFunction& solve, const G& g, const AnyTree& y) {
  const AnyFunction function = call::kept_function<AnyTree, AnyTree>(g).kept();
  const std::string with_remedy =
      std::string(name) + "; a solver may use it through the function that it is given, or capture its detach()";
  const With<&ThreadContext::rule> named{&with_remedy};
  const AnyTree found = solve(call::any_list(function, y));
  require_same_types(name, rule, call::walk(found), call::walk(y), "its argument");
  return map_leaves(number_like, found, y);
}

/// What an equation with parameters defines, a tree like its first argument: derivatives need it and the parameters.
class Implicit : public Operation {
 public:
  using Parameters = std::vector<Tensor>;
  Implicit(const char* name, const AnyTree& x, const Parameters& parameters, Tensors& inputs)
      : Operation(name, call::any_list(x, parameters), inputs) {}

  Kept keep(std::span<const Tensor> inputs, const Mask&) const override {
    Tensors outputs = apply(inputs);
    std::vector<Tensor> saved(outputs.begin(), outputs.end());
    saved.insert(saved.end(), inputs.begin() + static_cast<std::ptrdiff_t>(outputs.size()), inputs.end());
    return {.outputs = std::move(outputs), .residual = {std::move(saved), nullptr}};
  }

 protected:
  /// The first argument, or what stands in its place, and the parameters.
  std::pair<AnyTree, Parameters> parts(std::span<const Tensor> inputs) const {
    Arguments all = arguments(inputs);
    return {std::move(all[0]), std::move(all[1]).take<Parameters>()};
  }
};

/// The root of a function of AnyTree with parameters: arguments are the initial guess and the parameters.
class Root final : public Implicit {
 public:
  Root(const AnyTree& initial, const Closure& f, Tensors& inputs, const AnyFunction& solve,
       const AnyFunction& tangent_solve, const AnyFunction* adjoint_solve)
      : Implicit(name, initial, f.captured, inputs),
        f_(f.program),
        solve_(solve.kept()),
        tangent_solve_(tangent_solve.kept()) {
    if (adjoint_solve) adjoint_solve_.emplace(adjoint_solve->kept());
  }

  Tensors call(std::span<const Tensor> inputs) const override {
    auto [initial, parameters] = parts(inputs);
    return tensors_of(solution(name, "the solver", solve_, ClosedFunction{f_, parameters}, initial));
  }
  /// The adjoint solves the transposed linearised equation; its negative is the cotangent of f's value.
  Tensors vjp(const Reverse& rule) const override {
    auto [root, parameters] = parts(rule.residual->tensors);
    if (!any_differentiable(parameters)) return Tensors(rule.input_types.size());
    const AnyTree ct = result(filled_with_zeros(rule.cotangents, rule.output_types));
    const auto solved = [&](const char* rule, const AnyFunction& solve, const AnyTree& y) {
      const auto [zero, slope] = linearize(ClosedFunction{f_, parameters}, root);
      return solution(name, rule, solve, slope, y);
    };
    const auto tangent = [&](const AnyTree& y) { return solved("tangent_solve", tangent_solve_, y); };
    AnyTree adjoint = adjoint_solve_ ? solved("adjoint_solve", *adjoint_solve_, ct) : transposed(tangent, ct);
    if (adjoint_solve_) {
      const Tensor idle = is_idle(ct, root, adjoint);
      adjoint = zero_where(idle, adjoint);
      // The tangents of this root are NaN too, and second derivatives by the parameters multiply them by the adjoint.
      root = map_leaves([&](const Tensor& t) { return where(idle, t.detach(), t); }, root);
    }
    const auto at_root = [&](const Parameters& p) { return ClosedFunction{f_, p}(root); };
    const auto [zero, pullback] = ricci::vjp(at_root, parameters);
    const Parameters found = pullback(negated(adjoint));
    Tensors cotangents(rule.input_types.size() - found.size(), Tensor());
    cotangents.append(found.begin(), found.end());
    return wanted_among(cotangents, rule);
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const override {
    Tensors outputs = apply(inputs);
    const AnyTree root = result(outputs);
    const auto [initial, parameters] = parts(inputs);
    if (!any_differentiable(parameters)) return {outputs, Tensors(outputs.size())};
    const auto [unused, slopes] = parts(filled_with_zeros(tangents, types_of_all(inputs)));
    const auto at_root = [&](const Parameters& p) { return ClosedFunction{f_, p}(root); };
    const auto [zero, change] = ricci::jvp(at_root, parameters, slopes);
    const auto [again, slope] = linearize(ClosedFunction{f_, parameters}, root);
    return {std::move(outputs),
            tangents_of("tangent_solve", negated(solution(name, "tangent_solve", tangent_solve_, slope, change)))};
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
  AnyFunction solve_, tangent_solve_;
  std::optional<AnyFunction> adjoint_solve_;
};

/// The solution of a linear system: arguments are the right-hand side and the parameters of matvec.
class LinearSolve final : public Implicit {
 public:
  LinearSolve(const AnyTree& b, const Closure& matvec, Tensors& inputs, const AnyFunction& solve,
              const AnyFunction& transpose_solve)
      : Implicit(name, b, matvec.captured, inputs),
        matvec_(matvec.program),
        solve_(solve.kept()),
        transpose_solve_(transpose_solve.kept()) {}

  /// Solves matvec(x) = b, whose program and parameters these are.
  static AnyTree run(const Closure& matvec, const AnyTree& b, const AnyFunction& solve,
                     const AnyFunction& transpose_solve) {
    Tensors inputs;
    const auto application = std::make_shared<const LinearSolve>(b, matvec, inputs, solve, transpose_solve);
    return application->result(application->apply(inputs));
  }

  Tensors call(std::span<const Tensor> inputs) const override {
    auto [b, parameters] = parts(inputs);
    return tensors_of(solution(name, "the solver", solve_, ClosedFunction{matvec_, parameters}, b));
  }
  Tensors vjp(const Reverse& rule) const override {
    auto [solution, parameters] = parts(rule.residual->tensors);
    const AnyTree ct = result(filled_with_zeros(rule.cotangents, rule.output_types));
    const ClosedFunction matvec{matvec_, parameters};
    const auto vecmat = [&](const AnyTree& y) { return transposed(matvec, y); };
    const Closure transpose = close(name, call::any_function<AnyTree, AnyTree>(vecmat), ct);
    AnyTree adjoint = run(transpose, ct, transpose_solve_, solve_);
    const Tensor idle = is_idle(ct, solution, adjoint);
    solution = zero_where(idle, solution);
    adjoint = zero_where(idle, adjoint);
    const auto at_solution = [&](const Parameters& p) { return ClosedFunction{matvec_, p}(solution); };
    Tensors cotangents;
    AnyTree of_b = adjoint;
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
    Tensors outputs = apply(inputs);
    const AnyTree solution = result(outputs);
    const auto [b, parameters] = parts(inputs);
    const auto [slope_of_b, slopes] = parts(filled_with_zeros(tangents, types_of_all(inputs)));
    const auto at_solution = [&](const Parameters& p) { return ClosedFunction{matvec_, p}(solution); };
    AnyTree rest = slope_of_b;
    if (any_differentiable(parameters)) {
      const auto [product, change] = ricci::jvp(at_solution, parameters, slopes);
      rest = map_leaves([](const Tensor& t, const Tensor& c) { return t - c; }, slope_of_b, change);
    }
    return {std::move(outputs), tangents_of("solve", run({matvec_, parameters}, rest, solve_, transpose_solve_))};
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
  AnyFunction solve_, transpose_solve_;
};

}  // namespace

Tensor is_idle(const AnyTree& ct, const AnyTree& x, const AnyTree& adjoint) {
  const auto is_zero = [](const Tensor& t) { return t == 0; };
  const auto is_finite = [](const Tensor& t) { return isfinite(t); };
  return logical_and(all_of(is_zero, ct), logical_not(logical_and(all_of(is_finite, x), all_of(is_finite, adjoint))));
}

AnyTree unknown_of(const char* name, const AnyFunction& f, AnyTree x) {
  const tree::Walk walk = call::walk(x);
  const bool is_tensor = walk.nodes.size() == 1 && walk.leaves.size() == 1;
  if (!is_tensor || !walk.leaves[0]->defined() || !types_of_all({walk.leaves[0], 1})[0].weak) return x;
  AnyTree result;
  write_down(name, f, call::any_list(x), result);
  const Tensor given = *call::walk(result).leaves[0];
  if (!given.defined() || !is_differentiable(given.dtype())) return x;
  if (is_complex(walk.leaves[0]->dtype()) && !is_complex(given.dtype())) return x;
  *walk.leaves[0] = number_like(*walk.leaves[0], given);
  return x;
}

AnyTree custom_root(const AnyFunction& f, AnyTree initial, const AnyFunction& solve, const AnyFunction& tangent_solve,
                    const AnyFunction* adjoint_solve) {
  const AnyTree guess = unknown_of("custom_root", f, std::move(initial));
  const Closure closure = close("custom_root", f, guess);
  Tensors inputs;
  const auto root = std::make_shared<const Root>(guess, closure, inputs, solve, tangent_solve, adjoint_solve);
  return root->result(root->apply(inputs));
}
AnyTree custom_root(const AnyFunction& f, AnyTree initial, const AnyFunction& solve, const AnyFunction& tangent_solve) {
  return custom_root(f, std::move(initial), solve, tangent_solve, nullptr);
}

AnyTree custom_linear_solve(const AnyFunction& matvec, AnyTree b, const AnyFunction& solve,
                            const AnyFunction& transpose_solve) {
  const AnyTree side = unknown_of("custom_linear_solve", matvec, std::move(b));
  return LinearSolve::run(close("custom_linear_solve", matvec, side), side, solve, transpose_solve);
}

}  // namespace ricci::function
