// associative_scan: all prefixes at once.
#pragma once

#include "ricci/control/options.h"
#include "ricci/transforms/call.h"

namespace ricci {

namespace runs {
tree::AnyTree associative_scan(const tree::AnyFunction& combine, tree::AnyTree xs, const ScanOptions& options);
}  // namespace runs

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
  constexpr bool fits = std::is_convertible_v<call::result_t<F, Tree, Tree>, Tree>;
  static_assert(!call::takes<F, Tree, Tree> || fits, "ricci: the function of associative_scan must return an element");
  return runs::associative_scan(call::any_function<Tree, Tree, Tree>(combine), tree::any(Tree(xs)), options)
      .template take<Tree>();
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
