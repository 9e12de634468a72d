// associative_scan: all prefixes at once.
#pragma once

#include <utility>
#include <vector>

#include "ricci/control/scan.h"

namespace ricci {

namespace runs {
/// The rows first, odd[0], even[0], odd[1], even[1], …
Tensor interleave(const Tensor& first, const Tensor& even, const Tensor& odd);
/// ValueError unless what was combined has the structure and shapes of these elements.
void require_combined(const tree::Walk& elements, const tree::Walk& combined);
}  // namespace runs

namespace call {
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

/// All prefixes of xs along `dim`, 0 unless told, combined: y[i] = combine(…combine(x[0], x[1])…, x[i]), in about 2
/// log2(n) calls of vmap(combine). `combine(a, b)` takes two elements, trees like xs without the scanned axis, and must
/// be associative; what it writes to them stays in it. The result has the shapes of xs. With `.reverse = true` all
/// suffixes: y[i] = combine(…combine(x[n-1], x[n-2])…, x[i]). IndexError if a tensor of xs has axes, but not `dim`,
/// ValueError if it has none, if their sizes along it differ or if combine gives another structure or shape.
///   Tensor sums = rc::associative_scan(rc::add, x, {.dim = 1, .reverse = true});
template <class F, class X>
auto associative_scan(const F& combine, const X& xs, ScanOptions options) {
  using Tree = std::decay_t<const X>;
  static_assert(call::takes<F, Tree, Tree>, "ricci: the function of associative_scan must take two elements");
  static_assert(!call::takes<F, Tree, Tree> || std::is_convertible_v<call::result_t<F, Tree, Tree>, Tree>,
                "ricci: the function of associative_scan must return an element");
  Tree given = xs;
  function::own_cells("associative_scan", call::walk(given));  // a lone element is its own prefix
  const std::int64_t count = runs::scanned_size("associative_scan", call::walk(given), options.dim).host();
  Tree front = call::each_leaf(given, [&](const Tensor& x) {
    const Tensor rows = movedim(x, options.dim, 0);
    return options.reverse ? flip(rows, 0) : rows;
  });
  const auto on_copies = [&combine](const Tree& a, const Tree& b) {
    return Tree(call::on_copies("associative_scan", combine, a, b));  // it may write to them
  };
  const Tree prefixes = call::prefixes_of(vmap(on_copies), front, count);
  return call::each_leaf(prefixes,
                         [&](const Tensor& x) { return movedim(options.reverse ? flip(x, 0) : x, 0, options.dim); });
}
/// The axis as a number: `associative_scan(combine, xs, 1)`, `associative_scan(combine, xs, 1, {.reverse = true})`.
template <class F, class X>
auto associative_scan(const F& combine, const X& xs, std::int64_t dim = 0, ScanOptions options = {}) {
  options.dim = dim;
  return associative_scan(combine, xs, options);
}
/// Of an operation by its name.
template <class X>
auto associative_scan(Binary* combine, const X& xs, ScanOptions options) {
  return associative_scan([combine](const Tensor& a, const Tensor& b) { return combine(a, b); }, xs, options);
}
template <class X>
auto associative_scan(Binary* combine, const X& xs, std::int64_t dim = 0, ScanOptions options = {}) {
  options.dim = dim;
  return associative_scan(combine, xs, options);
}

}  // namespace ricci
