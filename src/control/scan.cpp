// The slices that scans run over, and what they put together.
#include "ricci/control/scan.h"

#include <optional>
#include <string>

#include "ops/axes.h"
#include "ricci/control/associative_scan.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {

namespace {

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

void make_empty(const tree::Walk& leaves) {
  for (Tensor* leaf : leaves.leaves) {
    if (!leaf->defined()) continue;
    Type rows = type_of(*leaf);
    rows.shape.insert(0, 0);
    *leaf = zeros_of(rows);
  }
}

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

Tensor interleave(const Tensor& first, const Tensor& even, const Tensor& odd) {
  const std::int64_t odds = odd.size(0), evens = even.size(0);
  std::vector<std::int64_t> order{0};
  for (std::int64_t i = 0; i < odds; ++i) {
    order.push_back(1 + evens + i);
    if (i < evens) order.push_back(1 + i);
  }
  return index_select(cat(std::vector{first, even, odd}, 0), 0, tensor(order));
}

}  // namespace ricci::runs
