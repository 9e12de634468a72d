// cond and switch_case: conditionals.
#pragma once

#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "ricci/control/checks.h"
#include "ricci/control/parting.h"
#include "ricci/control/recording.h"
#include "ricci/ops.h"

namespace ricci {

namespace runs {
/// A predicate as a boolean, whatever its dtype.
Tensor truth(const char* name, const Tensor& predicate);
/// The number as int64. Throws TypeError unless it is an integer; `what` errors call it.
Tensor whole_number(const char* name, const char* what, const Tensor& number);
/// Throws IndexError unless every example's index names one of `count` branches; of a recorded index, when it is known.
Tensor checked_index(const Tensor& index, std::int64_t count);
}  // namespace runs

namespace call {

template <class... R>
inline constexpr bool all_same = true;
template <class A, class... R>
inline constexpr bool all_same<A, R...> = (std::is_same_v<A, R> && ...);

/// The branch that `answer` names, run on copies of the operands.
template <class R, class Branches, class... A>
R run_branch(const char* name, const Branches& branches, std::int64_t answer, const A&... operands) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    std::optional<R> result;
    (void)((static_cast<std::int64_t>(K) == answer &&
            (result.emplace(on_copies(name, std::get<K>(branches), operands...)), true)) ||
           ...);
    return *std::move(result);
  }(std::make_index_sequence<std::tuple_size_v<Branches>>{});
}

/// Tells functions of one C++ type apart; none: nothing does, since objects with captures may differ in what they hold.
template <class F>
std::optional<std::uint64_t> identity_of(const F& f) {
  if constexpr (std::is_function_v<F>) return reinterpret_cast<std::uintptr_t>(&f);
  else if constexpr (std::is_pointer_v<F>) return reinterpret_cast<std::uintptr_t>(f);
  else if constexpr (std::is_empty_v<F>) return 0;
  else return std::nullopt;
}

/// Throws ValueError unless the branches that no example of a vmap takes would return what the others returned. Such a
/// branch is recorded for its result's type, not run. Where the C++ types of the branches tell them apart, this is done
/// once for each type of operands and result. A branch that cannot be recorded, as it looks at values, is not checked.
template <class R, class... F, class... A>
void check_branches_left_out(const char* name, const runs::Parting& parting, const std::tuple<F...>& branches,
                             R& result, const A&... operands) {
  const auto check = [&](const auto& f) {
    std::optional<runs::ResultTypes> types;
    try {
      const runs::TypingOfBranch typing;
      function::ClosureRun run(name);
      std::tuple<A...> arguments(operands...);
      run.enter(walk(arguments));
      R other = call::invoke(f, arguments);
      types.emplace(walk(other));
    } catch (const std::bad_alloc&) { throw; } catch (...) {
      return;
    }
    runs::require_same_results(name, runs::ResultTypes(walk(result)), *types);
  };
  static constinit runs::CheckedBranches checked;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    if ((!parting.is_left_out(static_cast<std::int64_t>(K)) && ...)) return;
    std::uint64_t identity = 0;
    const auto add = [&identity](std::optional<std::uint64_t> one) {
      identity = identity * 31 + one.value_or(0);
      return one.has_value();
    };
    const bool told_apart = (add(identity_of(std::get<K>(branches))) & ...);
    std::tuple<A...> arguments(operands...);
    const std::uint64_t key = runs::CheckedBranches::key_of(walk(arguments), walk(result), identity);
    if (told_apart && checked.knows(key)) return;
    ((parting.is_left_out(static_cast<std::int64_t>(K)) ? check(std::get<K>(branches)) : void()), ...);
    if (told_apart) checked.remember(key);
  }(std::index_sequence_for<F...>{});
}

/// The conditional as one operation of the program that is being recorded.
template <class R, class... F, class... A>
R record_branches(const char* name, const Tensor& question, const std::tuple<F...>& branches, const A&... operands) {
  const runs::TypingOfBranch::Inside inside;
  std::optional<R> first, result;
  const auto record = [&](const auto& f) {
    function::Closure branch = function::write_down(name, f, std::tuple<A...>(operands...), result);
    if (!first) first = result;
    runs::require_same_tree(name, walk(*first), walk(*result));
    runs::require_same_values(name, "the branches return", runs::kept_by_program, runs::erased(*result),
                              tree::copy_values(tree::values(*first)));
    return branch;
  };
  const auto recorded = std::apply([&](const F&... f) { return std::array{record(f)...}; }, branches);
  std::tuple<A...> arguments(operands...);
  runs::run_recorded_branches(name, question, walk(arguments), recorded, walk(*result));
  return *std::move(result);
}

template <class... F, class... A>
auto run_branches(const char* name, const Tensor& question, const std::tuple<F...>& branches, const A&... operands) {
  using R = result_t<std::tuple_element_t<0, std::tuple<F...>>, A...>;
  constexpr bool agree = all_same<result_t<F, A...>...>, return_something = !std::is_void_v<R>;
  static_assert(agree, "ricci: the branches must return one C++ type");
  static_assert(!agree || return_something, "ricci: a branch must return a value");
  if constexpr (agree && return_something) {
    if (function::is_recorded(name, question)) return record_branches<R>(name, question, branches, operands...);
    runs::Parting parting(name);
    parting.choose(question);
    for (;;) {
      R result = run_branch<R>(name, branches, parting.answer(), operands...);
      if (parting.next(runs::erased(result))) continue;
      check_branches_left_out(name, parting, branches, result, operands...);
      return result;
    }
  } else if constexpr (return_something) {
    return *std::optional<R>();  // refused above, in one sentence
  }
}

}  // namespace call

/// `pred ? true_fn(operands…) : false_fn(operands…)`, for a predicate of one element.
/// Under vmap, if the predicate differs between examples, each branch runs once, on the examples that take it. Results
/// that are no Tensors are shared by all examples: TransformError if the branches return different ones (values of a
/// type without == are not compared). While a program is recorded, every branch runs once, and such results must agree
/// too.
/// ValueError if the predicate has more than one element, or if the branches' results differ in structure, shape or
/// dtype. To find a difference under vmap, a branch that no example takes is recorded, not run: its code is called with
/// tensors that have a type and no values, and errors it throws are ignored. Branches that are functions or capture
/// nothing are recorded once for these types of operands and results, others each time. Where one answer is for all,
/// only the branch that is taken is looked at.
///   Tensor y = rc::cond(x > 0, [](Tensor x) { return sqrt(x); }, [](Tensor x) { return -x; }, x);
template <class T, class F, class... A>
auto cond(const Tensor& pred, const T& true_fn, const F& false_fn, const A&... operands) {
  return call::run_branches("cond", runs::truth("cond", pred), std::tuple<const F&, const T&>(false_fn, true_fn),
                            std::decay_t<const A>(operands)...);
}

/// `branches[index](operands…)`, for an index of one element: the branches are a tuple of functions, operations by
/// address; they run as those of cond. IndexError if the index is not in [0, number of branches), TypeError if it is no
/// integer, ValueError if it has more than one element or if the branches' results differ in structure, shape or dtype.
///   Tensor y = rc::switch_case(i, std::tuple{f0, f1, &rc::sin}, x);
template <class... F, class... A>
auto switch_case(const Tensor& index, const std::tuple<F...>& branches, const A&... operands) {
  return call::run_branches("switch_case", runs::checked_index(index, sizeof...(F)), branches,
                            std::decay_t<const A>(operands)...);
}

}  // namespace ricci
