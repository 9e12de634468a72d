// associative_scan: all prefixes at once.
#pragma once

#include <utility>
#include <vector>

#include "ricci/control/scan.h"

namespace ricci {

namespace runs {
/// The rows first, odd[0], even[0], odd[1], even[1], …
Tensor interleave(const Tensor& first, const Tensor& even, const Tensor& odd);
/// ValueError if a Tensor is undefined, IndexError if one does not have the axis that is scanned.
void require_axis(const tree::Walk& xs, std::int64_t dim);
/// ValueError unless what was combined has the structure and shapes of these elements.
void require_combined(const tree::Walk& elements, const tree::Walk& combined);
}  // namespace runs

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
  X left = every_second(0, count - 1), pairs = combine_all(left, every_second(1, count));
  runs::require_combined(walk(left), walk(pairs));
  const X odd = prefixes_of(combine_all, pairs, count / 2);
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
/// With `.reverse = true` all suffixes: y[i] = combine(…combine(x[n-1], x[n-2])…, x[i]). IndexError if a tensor of xs
/// has no axis `dim`, ValueError if their sizes along it differ or combine gives another structure or shape.
///   Tensor sums = rc::associative_scan(rc::add, x, 0);
template <class F, class X>
auto associative_scan(const F& combine, const X& xs, std::int64_t dim, ScanOptions options) {
  using Tree = std::decay_t<const X>;
  static_assert(call::takes<F, Tree, Tree>, "ricci: the function of associative_scan must take two elements");
  static_assert(!call::takes<F, Tree, Tree> || std::is_convertible_v<call::result_t<F, Tree, Tree>, Tree>,
                "ricci: the function of associative_scan must return an element");
  Tree given = xs;
  runs::require_axis(call::walk(given), dim);
  Tree front = call::each_leaf(given, [&](const Tensor& x) {
    const Tensor rows = movedim(x, dim, 0);
    return options.reverse ? flip(rows, 0) : rows;
  });
  const std::int64_t count = runs::scanned_size("associative_scan", call::walk(front)).host();
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
