// Scans and map, of trees and functions without C++ types: the slices that they run over, and what they put together.
#include "ricci/control/scan.h"

#include <algorithm>
#include <optional>
#include <string>

#include "control/loop.h"
#include "ops/axes.h"
#include "ricci/control/associative_scan.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {

namespace {

using function::Arguments;
using tree::AnyFunction, tree::AnyPair, tree::AnyTree;

std::string scanned_leaf(const tree::Walk& xs, std::size_t leaf) {
  const std::string path = tree::leaf_path(xs, leaf);
  return "xs" + (path.empty() ? "" : " (" + path + ")") + " is " + tree::type_of(*xs.leaves[leaf]);
}

}  // namespace

Size scanned_size(const char* name, const tree::Walk& xs, std::int64_t dim) {
  if (xs.leaves.empty())
    raise<ValueError>(std::string(name) + ": there is no Tensor to scan over: xs is " + tree::to_string(xs));
  for (const std::size_t leaf : tree::leaves_of_ragged(xs))
    raise<ValueError>(std::string(name) + ": " + scanned_leaf(xs, leaf) +
                      ", a part of a Ragged, of which no axis runs over its rows; scan over pad(fill) and lengths(), "
                      "or loop over its rows r[i]");
  std::optional<Size> size;
  for (std::size_t i = 0; i < xs.leaves.size(); ++i) {
    const std::string axis_text = "axis " + std::to_string(dim);
    if (!xs.leaves[i]->defined() || type_of(*xs.leaves[i]).rank() == 0)
      raise<ValueError>(std::string(name) + ": " + scanned_leaf(xs, i) + "; every Tensor needs an " + axis_text +
                        " to scan over");
    const auto axis = static_cast<std::size_t>(wrap_own_axis(name, dim, *xs.leaves[i]));
    const Size found = type_of(*xs.leaves[i]).shape[axis];
    if (size && !(*size == found))
      raise<ValueError>(std::string(name) + ": sizes along " + axis_text + " differ: " + scanned_leaf(xs, 0) + ", " +
                        scanned_leaf(xs, i) + "; slice or pad them to one size");
    size = found;
  }
  return *size;
}

namespace {

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

Slices::Slices(const char* name, const tree::Walk& xs) : count_(scanned_size(name, xs).host()) {
  for (const Tensor* leaf : xs.leaves) {
    if (count_ > 0) {
      slices_.push_back(unstack(*leaf));
      continue;
    }
    Type one = type_of(*leaf);
    one.shape.erase(0);
    slices_.push_back({zeros_of(one)});
  }
}

void Slices::show(std::int64_t i, const tree::Walk& into) const {
  for (std::size_t leaf = 0; leaf < slices_.size(); ++leaf)
    *into.leaves[leaf] = slices_[leaf][static_cast<std::size_t>(i)];
}

/// No rows of what every leaf is one of: [shape…] → [0, shape…].
void make_empty(const tree::Walk& leaves) {
  for (Tensor* leaf : leaves.leaves) {
    if (!leaf->defined()) continue;
    Type rows = type_of(*leaf);
    rows.shape.insert(0, 0);
    *leaf = zeros_of(rows);
  }
}

/// ValueError unless what was combined has the structure and shapes of these elements.
void require_combined(const tree::Walk& elements, const tree::Walk& combined) {
  const auto fail = [&](const std::string& given, const std::string& found) {
    raise<ValueError>("associative_scan: combine makes " + found + " of two " + given +
                      "; it must return a tree like each of them");
  };
  if (!tree::same_structure(elements, combined)) fail(tree::to_string(elements), tree::to_string(combined));
  for (std::size_t i = 0; i < elements.leaves.size(); ++i) {
    Type one = type_of(*elements.leaves[i]);
    one.shape.erase(0);
    if (!combined.leaves[i]->defined()) fail(to_string(one), "an undefined Tensor");
    Type found = type_of(*combined.leaves[i]);
    found.shape.erase(0);
    if (!(one.shape == found.shape)) fail(to_string(one), to_string(found));
  }
}

/// The rows first, odd[0], even[0], odd[1], even[1], …
Tensor interleave(const Tensor& first, const Tensor& even, const Tensor& odd) {
  const std::int64_t odds = odd.size(0), evens = even.size(0);
  std::vector<std::int64_t> order{0};
  for (std::int64_t i = 0; i < odds; ++i) {
    order.push_back(1 + evens + i);
    if (i < evens) order.push_back(1 + i);
  }
  return index_select(cat(std::vector{first, even, odd}, 0), 0, tensor(order));
}

/// The tree with every leaf replaced by f(leaf).
template <class F>
AnyTree each_leaf(AnyTree tree, const F& f) {
  for (Tensor* leaf : call::walk(tree).leaves) *leaf = f(*leaf);
  return tree;
}

/// xs with the axis that is scanned in front.
AnyTree rows_along(const char* name, std::int64_t dim, AnyTree xs) {
  if (dim == 0) return xs;  // Slices asks for it
  scanned_size(name, call::walk(xs), dim);
  return each_leaf(std::move(xs), [&](const Tensor& x) { return movedim(x, dim, 0); });
}

/// `step` gives carry and y apart.
AnyPair run_scan(const char* name, const AnyFunction& step, AnyTree carry, const AnyTree& xs, bool reverse) {
  AnyTree slice = xs;
  if (function::is_recorded(name, call::walk(carry)) || function::is_recorded(name, call::walk(slice))) {
    show_slice_types(name, call::walk(slice));
    const ScanStep one_step = [&](LoopState c, AnyTree x) {
      auto [after, y] = step.both(call::any_list(std::move(c.users), std::move(x)));
      return std::pair{LoopState{.users = std::move(after)}, std::move(y)};
    };
    auto [last, ys] = record_scan(name, one_step, {.users = std::move(carry)}, xs, slice, {.reverse = reverse});
    return {std::move(last.users), std::move(ys)};
  }
  const Slices slices(name, call::walk(slice));
  const auto run_step = [&](std::int64_t i) {
    slices.show(i, call::walk(slice));
    tree::Arguments copies = call::any_list(carry, slice);
    function::own_cells(name, tree::walk_of(copies));
    return step.both(copies);
  };
  const StreamScope own{StreamScope::Branch()};
  std::optional<StreamScope> step_draws;
  if (slices.count() == 0) {
    begin_step(step_draws, 0);
    AnyTree y = run_step(0).second;
    make_empty(call::walk(y));
    function::own_cells(name, call::walk(carry));
    return {std::move(carry), std::move(y)};
  }
  std::vector<AnyTree> ys;
  for (std::int64_t k = 0; k < slices.count(); ++k) {
    begin_step(step_draws, static_cast<std::uint64_t>(k));
    auto [after, y] = run_step(reverse ? slices.count() - 1 - k : k);
    require_same_state(name, call::walk(carry), call::walk(after));
    carry = std::move(after);
    function::own_cells(name, call::walk(y));
    ys.push_back(std::move(y));
  }
  if (reverse) std::reverse(ys.begin(), ys.end());
  function::own_cells(name, call::walk(carry));
  return {std::move(carry), tree::stacked(name, ys)};
}

/// `combine` combines the rows of two trees, one by one.
template <class Combine>
AnyTree prefixes_of(const Combine& combine, const AnyTree& xs, std::int64_t count) {
  if (count < 2) return xs;
  const auto every_second = [&](std::int64_t start, std::int64_t stop) {
    return each_leaf(xs, [&](const Tensor& x) { return slice(x, 0, start, stop, 2); });
  };
  AnyTree left = every_second(0, count - 1), pairs = combine(left, every_second(1, count));
  require_combined(call::walk(left), call::walk(pairs));
  const AnyTree odd = prefixes_of(combine, pairs, count / 2);
  const std::int64_t evens = (count - 1) / 2;
  const AnyTree before = each_leaf(odd, [&](const Tensor& x) { return slice(x, 0, 0, evens); });
  const AnyTree even = evens == 0 ? before : combine(before, every_second(2, count));
  return map_leaves(
      [](Tensor first, Tensor in_even, Tensor in_odd) { return interleave(slice(first, 0, 0, 1), in_even, in_odd); },
      xs, even, odd);
}

}  // namespace

std::pair<LoopState, AnyTree> record_scan(const char* name, const ScanStep& step, LoopState carry, const AnyTree& xs,
                                          const AnyTree& slice, const ScanSteps& steps) {
  take_dtypes_of_step(name, carry, [&](LoopState c) {
    AnyTree x = slice;
    return step(std::move(c), std::move(x)).first;
  });
  std::optional<std::pair<LoopState, AnyTree>> result;
  StreamScope own{StreamScope::Branch()};
  const function::Steps draws{own.streams()};
  const std::tuple<LoopState, AnyTree> arguments(carry, slice);
  const Closure closure = function::write_down(name, step, arguments, result, function::Runs::many, &draws);
  require_same_after_step(name, carry, result->first);
  run_recorded_scan(closure, steps, call::walk(carry), call::walk(xs), call::walk(result->second));
  return {std::move(carry), std::move(result->second)};
}

AnyPair scan(const AnyFunction& step, AnyTree carry, AnyTree xs, const ScanOptions& options) {
  return run_scan("scan", step, std::move(carry), rows_along("scan", options.dim, std::move(xs)), options.reverse);
}

AnyTree map(const AnyFunction& f, AnyTree xs) {
  const auto step = [&](const AnyTree& nothing, AnyTree x) {
    return std::pair{nothing, f(call::any_list(std::move(x)))};
  };
  return run_scan("map", call::any_function<call::apart_t<AnyPair>, AnyTree, AnyTree>(step), AnyTree(), xs, false)
      .second;
}

AnyTree associative_scan(const AnyFunction& combine, AnyTree xs, const ScanOptions& options) {
  static constexpr const char* name = "associative_scan";
  function::own_cells(name, call::walk(xs));  // a lone element is its own prefix
  const std::int64_t count = scanned_size(name, call::walk(xs), options.dim).host();
  const AnyTree front = each_leaf(std::move(xs), [&](const Tensor& x) {
    const Tensor rows = movedim(x, options.dim, 0);
    return options.reverse ? flip(rows, 0) : rows;
  });
  const auto on_copies = [&](const AnyTree& a, const AnyTree& b) {
    return function::on_copies(name, combine, call::any_list(a, b));  // it may write to them
  };
  return each_leaf(prefixes_of(ricci::vmap(on_copies), front, count),
                   [&](const Tensor& x) { return movedim(options.reverse ? flip(x, 0) : x, 0, options.dim); });
}

}  // namespace ricci::runs
