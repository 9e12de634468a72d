// One call of a transformed function, without C++ types.
#include "ricci/transforms/calls.h"

namespace ricci::runs {
namespace {

using tree::Walks, tree::walk_of, tree::walks_of;

tree::Walk walk_of(const AnyTree& tree) {
  tree::Walk walk;
  tree.walk(walk);
  return walk;
}

/// What f gives; a function that gives nothing is refused by `run`.
template <class Run>
Result result_of(Run& run, const Call& called, Arguments& arguments) {
  auto [out, aux] = called.f.both(arguments);
  if (!out) run.refuse("nothing");
  return {std::move(out), std::move(aux)};
}

/// Ends a run with the walks of a result.
template <class Leave>
auto with_aux(const Call& called, const Result& result, const Leave& leave) {
  const tree::Walk aux = walk_of(result.aux);
  return leave(walk_of(result.out), called.has_aux ? &aux : nullptr);
}

}  // namespace

// ── vmap ──

AnyTree run_examples(BatchRun& run, const AnyFunction& f, const Arguments& given, Arguments& shown) {
  const auto run_once = [&](Arguments& arguments) {
    AnyTree result = f(arguments);
    if (!result) {
      run.refuse("nothing");
      result = AnyTree(Tensor());
    }
    run.leave(walk_of(result));
    return result;
  };
  run.enter(walk_of(shown));
  AnyTree first = run_once(shown);
  for (Arguments next = given; run.enter(walk_of(next)); next = given) run_once(next);
  return first;
}

AnyTree vmap(const AnyFunction& f, const Arguments& given, const VmapOptions& options, Place where) {
  Arguments shown = given;
  BatchRun run(walk_of(shown), options, where);
  AnyTree result = run_examples(run, f, given, shown);
  run.finish(walk_of(result));
  return result;
}

std::pair<AnyTree, std::vector<Tensor>> ragged_vmap(const AnyFunction& f, const Arguments& given,
                                                    const VmapOptions& options, Place where) {
  Arguments shown = given;
  BatchRun run(walk_of(shown), options, where, true);
  AnyTree result = run_examples(run, f, given, shown);
  std::vector<Tensor> parts = run.finish_ragged();
  return {std::move(result), std::move(parts)};
}

// ── reverse mode ──

Arguments those(std::span<const int> chosen, const Arguments& arguments) {
  Arguments found;
  for (const int i : chosen) found.push_back(arguments[static_cast<std::size_t>(i)]);
  return found;
}

namespace {

/// Refuses a function that gives nothing as one that should have given a loss.
struct LossRun : ReverseRun {
  using ReverseRun::ReverseRun;
  void refuse(const char* found) { refuse_loss(found); }
};

}  // namespace

Gradients grad(const Call& called, Arguments arguments, std::span<const int> chosen, bool is_tensor) {
  Gradients found{those(chosen, arguments), {}};
  const Walks gradients = walks_of(found.of_chosen);
  LossRun run(called.name, called.where);
  run.enter(walks_of(arguments), chosen);
  found.result = result_of(run, called, arguments);
  const Recording recording = with_aux(called, found.result, [&](const tree::Walk& loss, const tree::Walk* aux) {
    run.check_loss(loss, is_tensor);
    return run.leave(loss, aux);
  });
  write_gradients(recording, gradients);
  return found;
}

Pulled vjp(const Call& called, Arguments primals) {
  Arguments structure = primals;
  ReverseRun run(called.name, called.where, {.cotangents_are_given = true});
  std::vector<int> all(primals.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  run.enter(walks_of(primals), all);
  Result result = result_of(run, called, primals);
  forget_floating(walks_of(structure));
  Recording recording = with_aux(called, result, [&](const tree::Walk& out, const tree::Walk* aux) {
    run.check_outputs(out);
    return run.leave(out, aux);
  });
  AnyTree output = result.out;
  return {std::move(result), {std::move(recording), std::move(output), std::move(structure)}};
}

Arguments AnyPullback::operator()(const AnyTree& cotangent) const {
  Arguments gradients = primals;
  write_pullback(recording, walk_of(cotangent), walks_of(gradients));
  return gradients;
}

// ── whole derivatives ──

namespace {

Rows jacobian_by_rows(const Call& called, bool shown, const Arguments& given, std::span<const int> chosen,
                      const JacobianOptions& options) {
  Arguments arguments = given, inputs = those(chosen, given);
  ReverseRun run(called.name, called.where, {.shown = shown});
  run.enter(walks_of(arguments), chosen);
  Result result = result_of(run, called, arguments);
  const Recording recording = with_aux(called, result, [&](const tree::Walk& out, const tree::Walk* aux) {
    run.check_jacobian_outputs(out);
    return run.leave(out, aux);
  });
  auto rows =
      reverse_jacobian(recording, walk_of(result.out), walks_of(inputs), chosen, options, called.name, called.where);
  return {std::move(result), std::move(rows)};
}

Rows jacobian_by_columns(const Call& called, const Arguments& given, std::span<const int> chosen,
                         const JacobianOptions& options) {
  ForwardJacobian run(called.name, options, called.where);
  const auto run_once = [&](Arguments& arguments) {
    Result result = result_of(run, called, arguments);
    with_aux(called, result, [&](const tree::Walk& out, const tree::Walk* aux) { run.leave(out, aux); });
    return result;
  };
  Arguments arguments = given;
  run.enter(walks_of(arguments), chosen);
  Result first = run_once(arguments);
  for (Arguments next = given; run.enter(walks_of(next), chosen); next = given) run_once(next);
  return {std::move(first), run.finish()};
}

}  // namespace

Rows jacobian(const Call& called, JacobianKind kind, const Arguments& given, std::span<const int> chosen,
              const JacobianOptions& options) {
  return kind.reverse ? jacobian_by_rows(called, kind.shown, given, chosen, options)
                      : jacobian_by_columns(called, given, chosen, options);
}

// ── forward mode ──

Derivative jvp(const Call& called, Arguments primals, const Arguments& tangents, bool is_strict) {
  ForwardRun run(called.name, called.where);
  run.enter(walks_of(primals), walks_of(tangents));
  Result result = result_of(run, called, primals);
  AnyTree tangent = result.out;
  with_aux(called, result,
           [&](const tree::Walk& out, const tree::Walk* aux) { run.leave(out, walk_of(tangent), aux, is_strict); });
  return {std::move(result), std::move(tangent)};
}

AnyLinearMap linearize(const Call& called, Arguments primals) {
  LinearizeRun run(called.where);
  run.enter(walks_of(primals));
  AnyTree output = result_of(run, called, primals).out;
  Linearized linearized = run.leave(walk_of(output));
  return {std::move(linearized), std::move(output)};
}

AnyTree AnyLinearMap::operator()(const Arguments& tangents) const {
  AnyTree result = output;
  linearized.apply(walks_of(tangents), walk_of(result));
  return result;
}

namespace {

/// A point of a curve, then the curve's first, second, … derivative there.
using Curve = std::vector<Arguments>;

tree::Walk walk_of(const Curve& curve) {
  tree::Walk walk;
  walk.node(tree::NodeKind::list, curve.size());
  for (const Arguments& element : curve) {
    walk.node(tree::NodeKind::tuple, element.size());
    for (const AnyTree& argument : element) argument.walk(walk);
  }
  return walk;
}

/// The value of f at the curve's point, then the derivatives of f along the curve. One forward level lets every element
/// of the curve but the last move along the next element; the elements but the last are again a curve, of one order
/// less.
std::vector<AnyTree> along_curve(const AnyFunction& f, const Curve& curve, int order, Place where) {
  if (curve.size() == 1) {
    Arguments arguments = curve.front();
    return {f(arguments)};
  }
  Curve places(curve.begin(), curve.end() - 1), directions(curve.begin() + 1, curve.end());
  ForwardRun run("jet", where, order);
  const tree::Walk of_places = walk_of(places), of_directions = walk_of(directions);
  run.enter({&of_places, 1}, {&of_directions, 1});
  std::vector<AnyTree> derivatives = along_curve(f, places, order, where), next = derivatives;
  const auto walk = [](std::vector<AnyTree>& trees) {
    tree::Walk walk;
    tree::walk(trees, walk);
    return walk;
  };
  run.leave(walk(derivatives), walk(next), nullptr, false);
  derivatives.push_back(std::move(next.back()));
  return derivatives;
}

}  // namespace

std::vector<AnyTree> jet(const AnyFunction& f, const Arguments& x, std::span<const Arguments> coefficients,
                         Place where) {
  for (std::size_t k = 0; k < coefficients.size(); ++k)
    require_coefficients(k + 1, tree::walks_of(x), tree::walks_of(coefficients[k]), where);
  Curve curve{x};
  curve.insert(curve.end(), coefficients.begin(), coefficients.end());
  return along_curve(f, curve, static_cast<int>(coefficients.size()), where);
}

Program trace(const AnyFunction& f, Arguments arguments, Place where) {
  TraceRun run(where);
  run.enter(walk_of(arguments));
  const Result result = result_of(run, {f, "trace", where}, arguments);
  return run.leave(walk_of(result.out));
}

}  // namespace ricci::runs
