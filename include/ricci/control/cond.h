// cond and switch_case: conditionals.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ricci/transforms/call.h"

namespace ricci {

namespace runs {

/// A predicate as a boolean, whatever its dtype.
Tensor truth(const char* name, const Tensor& predicate);
/// The number as int64. Throws TypeError unless it is an integer; `what` errors call it.
Tensor whole_number(const char* name, const char* what, const Tensor& number);
/// Throws IndexError unless every example's index names one of `count` branches; of a recorded index, when it is known.
Tensor checked_index(const Tensor& index, std::int64_t count);

/// One of the functions that a conditional chooses among.
struct Choice {
  tree::AnyFunction f;
  std::optional<std::uint64_t> identity;  // tells functions of one C++ type apart; none: nothing does
};

/// A conditional's place in the user's program, which remembers for which operands and results its branches have been
/// held against each other. Any number of threads may ask.
class CheckedBranches {
 public:
  /// What is remembered; `branches` tells functions of one C++ type apart.
  static std::uint64_t key_of(const tree::Walk& operands, const tree::Walk& result, std::uint64_t branches);
  bool knows(std::uint64_t key) const;
  void remember(std::uint64_t key);

 private:
  std::array<std::atomic<std::uint64_t>, 8> known_ = {};
  std::atomic<unsigned> next_ = 0;
};

/// What the branch that `question` names gives for the operands: the conditional itself.
tree::AnyTree choose(const char* name, const Tensor& question, std::span<const Choice> branches,
                     const tree::Arguments& operands, CheckedBranches& checked);

}  // namespace runs

namespace call {

template <class... R>
inline constexpr bool all_same = true;
template <class A, class... R>
inline constexpr bool all_same<A, R...> = (std::is_same_v<A, R> && ...);

/// What tells functions of one C++ type apart. Objects with captures may differ in what they hold.
template <class F>
std::optional<std::uint64_t> identity_of(const F& f) {
  if constexpr (std::is_function_v<F>) return reinterpret_cast<std::uintptr_t>(&f);
  else if constexpr (std::is_pointer_v<F>) return reinterpret_cast<std::uintptr_t>(f);
  else if constexpr (std::is_empty_v<F>) return 0;
  else return std::nullopt;
}

template <class... F, class... A>
auto run_branches(const char* name, const Tensor& question, const std::tuple<F...>& branches, const A&... operands) {
  using R = result_t<std::tuple_element_t<0, std::tuple<F...>>, A...>;
  constexpr bool agree = all_same<result_t<F, A...>...>, return_something = !std::is_void_v<R>;
  static_assert(agree, "ricci: the branches must return one C++ type");
  static_assert(!agree || return_something, "ricci: a branch must return a value");
  if constexpr (agree && return_something) {
    static constinit runs::CheckedBranches checked;
    const auto erased = [](const auto&... f) {
      return std::array{runs::Choice{any_function<R, A...>(f), identity_of(f)}...};
    };
    return runs::choose(name, question, std::apply(erased, branches), any_list(operands...), checked)
        .template take<R>();
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
