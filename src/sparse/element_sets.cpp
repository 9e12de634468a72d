// Unions of sets of numbers, those made lately remembered.
#include "sparse/element_sets.h"

#include <algorithm>
#include <numeric>

#include "ricci/error.h"
#include "ricci/primitive/raise.h"

namespace ricci::sparse {
namespace {

constexpr std::size_t known_unions = std::size_t{1} << 16;
constexpr std::size_t most_numbers = std::size_t{1} << 31;  // 8 GB

}  // namespace

ElementSets::ElementSets(std::int32_t elements)
    : numbers_(static_cast<std::size_t>(elements)),
      begin_(static_cast<std::size_t>(elements) + 2),
      known_(known_unions) {
  std::iota(numbers_.begin(), numbers_.end(), 0);
  std::iota(begin_.begin() + 1, begin_.end(), std::size_t{0});
}

void ElementSets::require_room(std::size_t more) const {
  if (numbers_.size() + more > most_numbers || begin_.size() > UINT32_MAX - 2)
    raise<ValueError>(
        "sparsity: what the function's elements depend on takes more than 8 GB; it mixes too many elements for a "
        "sparse derivative: use jacfwd or jacrev");
}

SetId ElementSets::close() {
  begin_.push_back(numbers_.size());
  return static_cast<SetId>(begin_.size() - 2);
}

bool ElementSets::holds(SetId larger, SetId smaller) const {
  const std::span<const std::int32_t> all = of(larger);
  auto from = all.begin();
  for (const std::int32_t number : of(smaller)) {
    from = std::lower_bound(from, all.end(), number);
    if (from == all.end() || *from != number) return false;
  }
  return true;
}

SetId ElementSets::united(SetId a, SetId b) {
  if (size(a) < size(b)) std::swap(a, b);
  Known& known = known_[(a * 0x9E3779B1U + b * 0x85EBCA77U) >> 16];
  if (known.a == a && known.b == b) return known.both;
  known = {a, b, a};
  // A search in the larger one costs less than a walk through it.
  constexpr std::size_t much = 16;
  if (size(a) > much * size(b) && holds(a, b)) return a;
  require_room(size(a) + size(b));
  const std::size_t first = numbers_.size();
  numbers_.resize(first + size(a) + size(b));
  const auto x = of(a), y = of(b);
  const auto end =
      std::set_union(x.begin(), x.end(), y.begin(), y.end(), numbers_.begin() + static_cast<std::ptrdiff_t>(first));
  const auto count = static_cast<std::size_t>(end - numbers_.begin()) - first;
  numbers_.resize(count == x.size() ? first : first + count);
  if (count == size(a)) return a;
  return known.both = close();
}

SetId ElementSets::unite(std::vector<SetId>& sets) {
  constexpr std::size_t few = 4;
  if (sets.size() <= few) {
    SetId all = empty_set;
    for (const SetId set : sets) all = unite(all, set);
    return all;
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (!sets.empty() && sets[0] == empty_set) sets.erase(sets.begin());
  if (sets.size() <= few) return unite(sets);
  const auto largest = *std::max_element(sets.begin(), sets.end(), [&](SetId a, SetId b) { return size(a) < size(b); });
  if (std::all_of(sets.begin(), sets.end(), [&](SetId set) { return holds(largest, set); })) return largest;
  std::size_t more = 0;
  for (const SetId set : sets) more += size(set);
  require_room(more);
  const std::size_t first = numbers_.size();
  for (const SetId set : sets)
    for (std::size_t i = begin_[set]; i < begin_[set + 1]; ++i) numbers_.push_back(numbers_[i]);
  const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(first);
  if (!std::is_sorted(begin, numbers_.end())) std::sort(begin, numbers_.end());
  numbers_.erase(std::unique(begin, numbers_.end()), numbers_.end());
  return close();
}

}  // namespace ricci::sparse
