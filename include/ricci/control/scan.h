// scan and map: a function over the slices along an axis, one after the other.
#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ricci/control/loops.h"

namespace ricci {

namespace runs {
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
/// The size along `dim` that all leaves share; ValueError if there is none, IndexError if a leaf has no such axis.
Size scanned_size(const char* name, const tree::Walk& xs, std::int64_t dim = 0);
}  // namespace runs

namespace call {
/// The tree with every leaf replaced by f(leaf).
template <class X, class F>
X each_leaf(X tree, const F& f) {
  const tree::Walk into = walk(tree);
  for (Tensor* leaf : into.leaves) *leaf = f(*leaf);
  return tree;
}

/// xs with the axis that is scanned in front.
template <class X>
X rows_along(const char* name, std::int64_t dim, X xs) {
  if (dim == 0) return xs;  // Slices asks for it
  runs::scanned_size(name, walk(xs), dim);
  return each_leaf(std::move(xs), [&](const Tensor& x) { return movedim(x, dim, 0); });
}

/// Whether the step fits carry and slices; where it does not, one sentence says why.
template <class F, class C, class X>
consteval bool is_step() {
  static_assert(takes<F, C, X>, "ricci: the step of scan must take the carry and one slice");
  if constexpr (takes<F, C, X>) {
    using R = result_t<F, C, X>;
    static_assert(is_two_things<R>, "ricci: the step of scan must return std::pair{carry, y}");
    if constexpr (is_two_things<R>) {
      constexpr bool keeps_type = std::is_same_v<std::tuple_element_t<0, R>, C>;
      static_assert(keeps_type, "ricci: the step of scan must return the type of the carry");
      return keeps_type;
    }
  }
  return false;
}

template <class Y, class C, class X, class F>
std::pair<C, Y> run_scan(const char* name, const F& step, C carry, const X& xs, ScanOptions options) {
  X slice = xs;
  if (function::is_recorded(name, walk(carry)) || function::is_recorded(name, walk(slice))) {
    runs::show_slice_types(name, walk(slice));
    return record_scan<std::pair<C, Y>>(name, step, std::move(carry), xs, std::move(slice),
                                        {.reverse = options.reverse});
  }
  const runs::Slices slices(name, walk(slice));
  const auto run_step = [&](std::int64_t i) {
    slices.show(i, walk(slice));
    return on_copies(name, step, carry, slice);
  };
  if (slices.count() == 0) {
    Y y = std::get<1>(run_step(0));
    runs::make_empty(walk(y));
    function::own_cells(name, walk(carry));
    return std::pair{std::move(carry), std::move(y)};
  }
  std::vector<Y> ys;
  for (std::int64_t k = 0; k < slices.count(); ++k) {
    auto [after, y] = run_step(options.reverse ? slices.count() - 1 - k : k);
    runs::require_same_state(name, walk(carry), walk(after));
    carry = std::move(after);
    function::own_cells(name, walk(y));
    ys.push_back(std::move(y));
  }
  if (options.reverse) std::reverse(ys.begin(), ys.end());
  function::own_cells(name, walk(carry));
  return std::pair{std::move(carry), tree::stacked(name, ys)};
}

template <class C, class X, class F>
auto scan(const char* name, const F& step, C carry, const X& xs, ScanOptions options) {
  if constexpr (is_step<F, C, X>()) {
    using Y = std::tuple_element_t<1, result_t<F, C, X>>;
    return run_scan<Y>(name, step, std::move(carry), xs, options);
  } else {
    return std::pair{std::move(carry), xs};  // refused above, in one sentence
  }
}
}  // namespace call

/// `std::pair{carry, ys}` of `carry, y = step(carry, x)` over the slices x of xs along axis `options.dim`, 0 unless
/// told; ys are stacked along axis 0. The work of reverse mode is that of the steps. Over no slices the step runs once
/// on zeros, to learn what y is. Values in y that are no Tensors are those of the first step.
/// ValueError if a Tensor of xs has no axes or their sizes along `dim` differ, if xs hold an rc::Ragged, which has no
/// axis over its rows, if a step changes the carry's structure, shapes or dtypes, or if the ys of two steps differ in
/// structure or shape. IndexError if a Tensor of xs has axes, but not `dim`. Where a program is recorded, a step that
/// changes values of the carry that are no Tensors is a TransformError.
///   auto [total, sums] = rc::scan([](Tensor c, Tensor x) { return std::pair{c + x, c + x}; }, rc::tensor(0.), xs);
template <class F, class C, class X>
auto scan(const F& step, const C& carry, const X& xs, ScanOptions options = {}) {
  const auto rows = call::rows_along("scan", options.dim, std::decay_t<const X>(xs));
  return call::scan("scan", step, std::decay_t<const C>(carry), rows, options);
}

/// f on every slice of xs along axis 0, one after the other; the results are stacked. What vmap computes at once, in
/// the memory of one example. ValueError if xs have no axis 0, or differing ones, or if two results differ in structure
/// or shape.
template <class F, class X>
auto map(const F& f, const X& xs) {
  using Row = std::decay_t<const X>;
  const auto step = [&](std::tuple<> none_carried, const Row& x) {
    std::tuple<Row> arguments(x);
    return std::pair{none_carried, call::invoke(f, arguments)};
  };
  return call::scan("map", step, std::tuple<>(), Row(xs), {}).second;
}
template <class X>
auto map(Unary* f, const X& xs) {
  return map([f](const Tensor& x) { return f(x); }, xs);
}

}  // namespace ricci
