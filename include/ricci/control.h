// Control flow on tensors: conditionals and loops that work under every transform. Where the examples of a vmap
// disagree, they part: each runs its own branch or its own number of steps, with the others that agree, and nothing of
// a branch not taken reaches values or gradients. Branches and bodies are ordinary functions and may use what they
// capture; what they compute leaves by the return value. Where a program is recorded (trace, custom_root), they are run
// once each and become programs, the parameters of one operation.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ricci/control/options.h"
#include "ricci/control/parting.h"
#include "ricci/control/recording.h"
#include "ricci/custom_derivatives.h"
#include "ricci/ops.h"
#include "ricci/transforms.h"

namespace ricci {

namespace runs {
/// A predicate as a boolean, whatever its dtype.
Tensor truth(const char* name, const Tensor& predicate);
/// Throws IndexError unless every example's index names one of `count` branches; of a recorded index, when it is known.
Tensor checked_index(const Tensor& index, std::int64_t count);
/// Throws ValueError unless `after` has the structure, shapes and dtypes of `before`: the state of a loop keeps its type.
void require_same_state(const char* name, const tree::Walk& before, const tree::Walk& after);
/// Gives every leaf a cell of its own with the same value: what a step writes to its arguments stays in the step.
void own_cells(const tree::Walk& leaves);
/// Counts the steps of a loop; throws at the limit.
class StepLimit {
 public:
  StepLimit(const char* name, std::int64_t most) : name_(name), left_(most), most_(most) {}
  void step() {
    if (left_-- <= 0) refuse();
  }

 private:
  [[noreturn]] void refuse() const;
  const char* name_;
  std::int64_t left_, most_;
};
/// The lengths of a loop's segments, one longer than the last or twice as long; throws where all steps are used up.
class Segments {
 public:
  Segments(const char* name, bool doubling, std::int64_t most)
      : doubling(doubling), name_(name), left_(most), most_(most) {}
  std::int64_t next();

  const bool doubling;

 private:
  const char* name_;
  std::int64_t last_ = 0, left_, most_;
};
/// The slices of every leaf along axis 0, or the reverse of it; all leaves must have one size along it.
class Slices {
 public:
  Slices(const char* name, const tree::Walk& xs);
  std::int64_t count() const { return count_; }
  /// Replaces every leaf by its slice i; by zeros of a slice's type where there is none.
  void show(std::int64_t i, const tree::Walk& into) const;

 private:
  std::vector<std::vector<Tensor>> slices_;  // [leaf][i]
  std::int64_t count_ = 0;
};
/// No rows of what every leaf is one of: [shape…] → [0, shape…].
void make_empty(const tree::Walk& leaves);
/// The size of axis 0 that all leaves share; ValueError if there is none.
Size scanned_size(const char* name, const tree::Walk& xs);
/// The rows first, odd[0], even[0], odd[1], even[1], …
Tensor interleave(const Tensor& first, const Tensor& even, const Tensor& odd);
}  // namespace runs

namespace call {

template <class... R>
inline constexpr bool all_same = true;
template <class A, class... R>
inline constexpr bool all_same<A, R...> = (std::is_same_v<A, R> && ...);

/// The branch that `answer` names, run on copies of the operands.
template <class R, class Branches, class... A>
R run_branch(const Branches& branches, std::int64_t answer, const A&... operands) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    std::optional<R> result;
    std::tuple<A...> arguments(operands...);
    (void)((static_cast<std::int64_t>(K) == answer &&
            (result.emplace(call::invoke(std::get<K>(branches), arguments)), true)) ||
           ...);
    return *std::move(result);
  }(std::make_index_sequence<std::tuple_size_v<Branches>>{});
}

/// The conditional as one operation of the program that is being recorded.
template <class R, class... F, class... A>
R record_branches(const char* name, const Tensor& question, const std::tuple<F...>& branches, const A&... operands) {
  std::optional<R> result;
  const auto recorded = std::apply(
      [&](const F&... f) {
        return std::array{function::write_down(name, f, std::tuple<A...>(operands...), result)...};
      },
      branches);
  std::tuple<A...> arguments(operands...);
  runs::run_recorded_branches(name, question, walk(arguments), recorded, walk(*result));
  return *std::move(result);
}

template <class... F, class... A>
auto run_branches(const char* name, const Tensor& question, const std::tuple<F...>& branches, const A&... operands) {
  using R = result_t<std::tuple_element_t<0, std::tuple<F...>>, A...>;
  static_assert(all_same<result_t<F, A...>...>, "ricci: the branches must return one C++ type");
  static_assert(!std::is_void_v<R>, "ricci: a branch must return a value");
  if (runs::is_decided_later(question)) return record_branches<R>(name, question, branches, operands...);
  runs::Parting parting(name);
  parting.ask(question, {});
  for (;;) {
    R result = run_branch<R>(branches, parting.answer(), operands...);
    if (!parting.next(walk(result))) return result;
  }
}

}  // namespace call

/// `pred ? true_fn(operands…) : false_fn(operands…)`, for a predicate of one element. Under vmap with a predicate that
/// differs, each branch runs once, on the examples that take it. Values that are no Tensors in the result are those of the
/// branch that ran last. ValueError if the branches' results differ in structure, shape or dtype between examples.
///   Tensor y = rc::cond(x > 0, [](Tensor x) { return sqrt(x); }, [](Tensor x) { return -x; }, x);
template <class T, class F, class... A>
auto cond(const Tensor& pred, const T& true_fn, const F& false_fn, const A&... operands) {
  return call::run_branches("cond", runs::truth("cond", pred), std::tuple<const F&, const T&>(false_fn, true_fn),
                            std::decay_t<const A>(operands)...);
}

/// `branches[index](operands…)`: the branches are a tuple of functions, operations by address. IndexError if the index
/// is not in [0, number of branches).
///   Tensor y = rc::switch_case(i, std::tuple{f0, f1, &rc::sin}, x);
template <class... F, class... A>
auto switch_case(const Tensor& index, const std::tuple<F...>& branches, const A&... operands) {
  return call::run_branches("switch_case", runs::checked_index(index, sizeof...(F)), branches,
                            std::decay_t<const A>(operands)...);
}

namespace call {

/// The loop as one operation of the program that is being recorded.
template <class C, class B, class S>
S record_loop(const char* name, const C& cond_fn, const B& body_fn, S state, const LoopOptions& options) {
  runs::fix_dtypes(walk(state));
  const auto goes_on = [&](const S& s) {
    std::tuple<S> shown(s);
    return runs::truth(name, call::invoke(cond_fn, shown));
  };
  std::optional<Tensor> answer;
  std::optional<S> after;
  runs::Closure condition = function::write_down(name, goes_on, std::tuple<S>(state), answer, function::Runs::many);
  runs::Closure body = function::write_down(name, body_fn, std::tuple<S>(state), after, function::Runs::many);
  runs::require_same_state(name, walk(state), walk(*after));
  runs::run_recorded_loop({std::move(condition), std::move(body), options}, walk(state));
  return state;
}

template <class C, class B, class S>
S while_loop(const char* name, const C& cond_fn, const B& body_fn, S state, std::int64_t max_steps) {
  runs::Parting parting(name);
  runs::StepLimit limit(name, max_steps);
  const auto goes_on = [&] {
    std::tuple<S> shown(state);
    const Tensor answer = runs::truth(name, call::invoke(cond_fn, shown));
    if (!runs::is_decided_later(answer)) return parting.ask(answer, walk(state)) != 0;
    state = record_loop(name, cond_fn, body_fn, std::move(state), {.max_steps = max_steps});
    return false;
  };
  for (bool go = goes_on();;) {
    while (go) {
      limit.step();
      std::tuple<S> shown(state);
      runs::own_cells(walk(shown));
      S after = call::invoke(body_fn, shown);
      runs::require_same_state(name, walk(state), walk(after));
      state = std::move(after);
      go = goes_on();
    }
    if (!parting.next(walk(state))) return state;
    go = parting.answer() != 0;
  }
}

/// Up to `steps` steps.
template <class C, class B, class S>
S bounded_steps(const char* name, const C& cond_fn, const B& body_fn, const S& state, std::int64_t steps) {
  using Counted = std::pair<S, Tensor>;
  const auto below = [&](const Counted& c) {
    std::tuple<S> shown(c.first);
    return logical_and(runs::truth(name, call::invoke(cond_fn, shown)), lt(c.second, steps));
  };
  const auto step = [&](const Counted& c) {
    std::tuple<S> shown(c.first);
    return Counted(call::invoke(body_fn, shown), c.second + 1);
  };
  return while_loop(name, below, step, Counted(state, zeros({}, DType::int64)), steps).first;
}

/// Up to `steps` steps, of which reverse mode keeps a state for each halving.
template <class C, class B, class S>
S halved_steps(const char* name, const C& cond_fn, const B& body_fn, const S& state, std::int64_t steps) {
  if (steps == 1) return bounded_steps(name, cond_fn, body_fn, state, 1);
  return checkpoint([=](const S& s) {
    return halved_steps(name, cond_fn, body_fn, halved_steps(name, cond_fn, body_fn, s, steps / 2), steps - steps / 2);
  })(state);
}

/// A loop of segments that grow, so that their number is as small as what each keeps.
template <class C, class B, class S>
S while_loop(const char* name, const C& cond_fn, const B& body_fn, S state, const LoopOptions& options) {
  static_assert(takes<C, S>, "ricci: the condition of a loop must take the state as its one argument");
  static_assert(takes<B, S>, "ricci: the body of a loop must take the state as its one argument");
  static_assert(std::is_same_v<result_t<B, S>, S>, "ricci: the body of a loop must return the type of the state");
  if (function::is_recorded(walk(state))) return record_loop(name, cond_fn, body_fn, std::move(state), options);
  if (options.checkpoint == Checkpoints::every_step)
    return while_loop(name, cond_fn, body_fn, state, options.max_steps);
  runs::Segments segments(name, options.checkpoint == Checkpoints::log, options.max_steps);
  const auto segment = [&](const S& s) {
    const std::int64_t steps = segments.next();
    if (segments.doubling) return halved_steps(name, cond_fn, body_fn, s, steps);
    return checkpoint([=](const S& first) { return bounded_steps(name, cond_fn, body_fn, first, steps); })(s);
  };
  return while_loop(name, cond_fn, segment, state, options.max_steps);
}

}  // namespace call

/// `while (cond_fn(state)) state = body_fn(state)`; the state is one argument, any tree. Under vmap each example takes as
/// many steps as it needs: those that are done leave the loop. Every differentiation goes through; reverse mode keeps what
/// every step needs. ValueError if the body changes the state's shapes or dtypes, or at `max_steps`.
///   Tensor root = rc::while_loop([](Tensor x) { return abs(x * x - 2) > 1e-6; },
///                                [](Tensor x) { return (x + 2 / x) / 2; }, rc::tensor(1.));
template <class C, class B, class S>
auto while_loop(const C& cond_fn, const B& body_fn, const S& state, LoopOptions options = {}) {
  return call::while_loop("while_loop", cond_fn, body_fn, std::decay_t<const S>(state), options);
}

/// `for (i = lo; i < hi; ++i) state = body(i, state)`: i is an int64 Tensor; the bounds may be Tensors and differ per
/// example of a vmap.
///   Tensor factorial = rc::fori_loop(1, 6, [](Tensor i, Tensor p) { return p * i; }, rc::tensor(1.));
template <class B, class S>
auto fori_loop(const Tensor& lo, const Tensor& hi, const B& body, const S& state, LoopOptions options = {}) {
  using State = std::decay_t<const S>;
  static_assert(call::takes<B, Tensor, State>, "ricci: the body of fori_loop must take the index and the state");
  struct Counted {
    Tensor index, end;
    State state;
  };
  const auto below = [](const Counted& s) { return lt(s.index, s.end); };
  const auto step = [body](const Counted& s) {
    std::tuple<Tensor, State> arguments(s.index, s.state);
    return Counted{s.index + 1, s.end, call::invoke(body, arguments)};
  };
  const Counted first{to(lo, DType::int64), to(hi, DType::int64), state};
  return call::while_loop("fori_loop", below, step, first, options).state;
}

namespace call {
/// The scan as one operation of the program that is being recorded.
template <class R, class C, class X, class F>
R record_scan(const char* name, const F& step, C carry, X xs, ScanOptions options) {
  runs::fix_dtypes(walk(carry));
  X slice = xs;
  runs::show_slice_types(name, walk(slice));
  const auto one_step = [&](const C& c, const X& x) {
    std::tuple<C, X> arguments(c, x);
    auto [after, y] = call::invoke(step, arguments);
    return R(std::move(after), std::move(y));
  };
  std::optional<R> result;
  const runs::Closure closure =
      function::write_down(name, one_step, std::tuple<C, X>(carry, slice), result, function::Runs::many);
  runs::require_same_state(name, walk(carry), walk(result->first));
  runs::run_recorded_scan(closure, options.reverse, walk(carry), walk(xs), walk(result->second));
  return R(std::move(carry), std::move(result->second));
}

template <class C, class X, class F>
auto scan(const char* name, const F& step, C carry, const X& xs, ScanOptions options) {
  static_assert(takes<F, C, X>, "ricci: the step of scan must take the carry and one slice");
  using R = result_t<F, C, X>;
  static_assert(is_two_things<R>, "ricci: the step of scan must return std::pair{carry, y}");
  using Y = std::tuple_element_t<1, R>;
  static_assert(std::is_same_v<std::tuple_element_t<0, R>, C>,
                "ricci: the step of scan must return the type of the carry");
  X slice = xs;
  if (function::is_recorded(walk(carry)) || function::is_recorded(walk(slice)))
    return record_scan<std::pair<C, Y>>(name, step, std::move(carry), std::move(slice), options);
  const runs::Slices slices(name, walk(slice));
  const auto run_step = [&](std::int64_t i) {
    slices.show(i, walk(slice));
    std::tuple<C, X> arguments(carry, slice);
    runs::own_cells(walk(arguments));
    return call::invoke(step, arguments);
  };
  if (slices.count() == 0) {
    Y y = std::get<1>(run_step(0));
    runs::make_empty(walk(y));
    return std::pair{std::move(carry), std::move(y)};
  }
  std::vector<Y> ys;
  for (std::int64_t k = 0; k < slices.count(); ++k) {
    auto [after, y] = run_step(options.reverse ? slices.count() - 1 - k : k);
    runs::require_same_state(name, walk(carry), walk(after));
    carry = std::move(after);
    runs::own_cells(walk(y));
    ys.push_back(std::move(y));
  }
  if (options.reverse) std::reverse(ys.begin(), ys.end());
  return std::pair{std::move(carry), stack_trees(ys)};
}
}  // namespace call

/// `std::pair{carry, ys}` of `carry, y = step(carry, x)` over the slices x of xs along axis 0; ys are stacked along axis
/// 0. The work of reverse mode is that of the steps. Over no slices the step
/// runs once on zeros, to learn what y is. ValueError if xs have no axis 0, or differing ones.
///   auto [total, sums] = rc::scan([](Tensor c, Tensor x) { return std::pair{c + x, c + x}; }, rc::tensor(0.), xs);
template <class F, class C, class X>
auto scan(const F& step, const C& carry, const X& xs, ScanOptions options = {}) {
  return call::scan("scan", step, std::decay_t<const C>(carry), std::decay_t<const X>(xs), options);
}

/// f on every slice of xs along axis 0, one after the other; the results are stacked. What vmap computes at once, in the
/// memory of one example.
template <class F, class X>
auto map(const F& f, const X& xs) {
  using Slice = std::decay_t<const X>;
  const auto step = [&](std::tuple<> none_carried, const Slice& x) {
    std::tuple<Slice> arguments(x);
    return std::pair{none_carried, call::invoke(f, arguments)};
  };
  return call::scan("map", step, std::tuple<>(), Slice(xs), {}).second;
}
template <class X>
auto map(Unary* f, const X& xs) {
  return map([f](const Tensor& x) { return f(x); }, xs);
}

namespace call {
/// The tree with every leaf replaced by f(leaf).
template <class X, class F>
X each_leaf(X tree, const F& f) {
  const tree::Walk into = walk(tree);
  for (Tensor* leaf : into.leaves) *leaf = f(*leaf);
  return tree;
}

template <class F, class X>
X prefixes_of(const F& combine_all, const X& xs, std::int64_t count) {
  if (count < 2) return xs;
  const auto every_second = [&](std::int64_t start, std::int64_t stop) {
    return each_leaf(xs, [&](const Tensor& x) { return slice(x, 0, start, stop, 2); });
  };
  const X odd = prefixes_of(combine_all, X(combine_all(every_second(0, count - 1), every_second(1, count))), count / 2);
  const std::int64_t evens = (count - 1) / 2;
  const X before = each_leaf(odd, [&](const Tensor& x) { return slice(x, 0, 0, evens); });
  const X even = evens == 0 ? before : X(combine_all(before, every_second(2, count)));
  return map_leaves([&](Tensor first, Tensor in_even,
                        Tensor in_odd) { return runs::interleave(slice(first, 0, 0, 1), in_even, in_odd); },
                    xs, even, odd);
}
}  // namespace call

/// All prefixes of xs along `dim`, combined: y[i] = combine(…combine(x[0], x[1])…, x[i]), in about 2 log2(n) calls of
/// vmap(combine). `combine(a, b)` takes two elements, trees like xs without the scanned axis, and must be associative.
/// With `.reverse = true` all suffixes: y[i] = combine(…combine(x[n-1], x[n-2])…, x[i]).
///   Tensor sums = rc::associative_scan(rc::add, x, 0);
template <class F, class X>
auto associative_scan(const F& combine, const X& xs, std::int64_t dim, ScanOptions options) {
  using Tree = std::decay_t<const X>;
  const Tree front = call::each_leaf(Tree(xs), [&](const Tensor& x) {
    const Tensor rows = movedim(x, dim, 0);
    return options.reverse ? flip(rows, 0) : rows;
  });
  Tree shown = front;
  const std::int64_t count = runs::scanned_size("associative_scan", call::walk(shown)).host();
  const Tree prefixes = call::prefixes_of(vmap(combine), front, count);
  return call::each_leaf(prefixes, [&](const Tensor& x) { return movedim(options.reverse ? flip(x, 0) : x, 0, dim); });
}
template <class F, class X>
auto associative_scan(const F& combine, const X& xs, std::int64_t dim) {
  return associative_scan(combine, xs, dim, ScanOptions{});
}
template <class F, class X>
auto associative_scan(const F& combine, const X& xs) {
  return associative_scan(combine, xs, 0);
}
template <class X>
auto associative_scan(Binary* combine, const X& xs, std::int64_t dim, ScanOptions options) {
  return associative_scan([combine](const Tensor& a, const Tensor& b) { return combine(a, b); }, xs, dim, options);
}
template <class X>
auto associative_scan(Binary* combine, const X& xs, std::int64_t dim) {
  return associative_scan(combine, xs, dim, ScanOptions{});
}

}  // namespace ricci
