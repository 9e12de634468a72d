// Sets of numbers of elements, each with a number of its own, so that elements that depend on the same share one. Knows
// nothing of programs. Start with `ElementSets`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ricci::sparse {

/// The number of a set. Equal numbers are equal sets; equal sets may have several numbers.
using SetId = std::uint32_t;
inline constexpr SetId empty_set = 0;

class ElementSets {
 public:
  /// With the sets {0}, {1}, … {elements - 1}, whose numbers are 1 and up.
  explicit ElementSets(std::int32_t elements);

  static SetId single(std::int64_t element) { return static_cast<SetId>(element + 1); }
  /// Ascending. Until the next set is made.
  std::span<const std::int32_t> of(SetId set) const {
    return {numbers_.data() + begin_[set], numbers_.data() + begin_[set + 1]};
  }
  /// `a` or `b` itself where it holds the other. ValueError where the sets grow too large to be held.
  SetId unite(SetId a, SetId b) {
    if (a == b || b == empty_set) return a;
    if (a == empty_set) return b;
    return united(a, b);
  }
  /// Of all; reorders the list.
  SetId unite(std::vector<SetId>& sets);

 private:
  struct Known {
    SetId a, b, both;
  };
  SetId united(SetId a, SetId b);
  bool holds(SetId larger, SetId smaller) const;
  std::size_t size(SetId set) const { return begin_[set + 1] - begin_[set]; }
  void require_room(std::size_t more) const;  ///< for as many numbers in one more set
  /// What stands behind the last set becomes one.
  SetId close();

  std::vector<std::int32_t> numbers_;
  std::vector<std::size_t> begin_;
  std::vector<Known> known_;  // unions that were made lately, by a hash of the two
};

}  // namespace ricci::sparse
