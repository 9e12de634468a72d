// Where the elements of views and parts lie, in numbers.
#include "program/element_layout.h"

#include <algorithm>
#include <numeric>

#include "primitive/interpreter.h"
#include "program/structure.h"

namespace ricci {
namespace {

void* first_element() { return reinterpret_cast<void*>(std::uintptr_t{1} << 32); }

Strides strides_with_gaps(Shape shape) {
  for (Size& size : shape) size = size + 1;
  return contiguous_strides(shape);
}

}  // namespace

ElementLayout::ElementLayout(const Type& whole, const SampleSizes& sizes, int sample, Rows rows)
    : type_(sizes.put(whole, sample)),
      whole_(type_),
      of_whole_(rows == Rows::dense ? contiguous_strides(type_.shape) : strides_with_gaps(type_.shape)),
      strides_(of_whole_),
      data_(first_element()),
      sizes_(&sizes),
      sample_(sample) {}

bool ElementLayout::pass(const Equation& view) {
  const OwnedParameters numbers = sizes_->put(view, sample_);
  types_of({view.rules, numbers.get()}, {type_});
  return view.rules->alias(numbers.get(), type_, strides_, data_);
}

bool ElementLayout::pass_to_part(const Equation& put) {
  const OwnedParameters numbers = sizes_->put(put, sample_);
  return structure_as<PartReplaced>(put.op())->alias(numbers.get(), type_, strides_, data_);
}

bool ElementLayout::operator==(const ElementLayout& other) const {
  return are_same(type_, other.type_) && std::ranges::equal(strides_, other.strides_) && data_ == other.data_;
}

std::vector<ElementLayout::Range> ElementLayout::box() const {
  if (type_.dtype != whole_.dtype) return {};
  std::vector<Range> ranges(whole_.shape.size());
  std::int64_t left = (static_cast<std::byte*>(data_) - static_cast<std::byte*>(first_element())) /
                      static_cast<std::int64_t>(element_size(type_.dtype));
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    ranges[k].first = left / of_whole_[k];
    left %= of_whole_[k];
  }
  for (std::size_t axis = 0; axis < strides_.size(); ++axis) {
    const std::int64_t count = type_.shape[axis], stride = strides_[axis];
    if (count == 1) continue;
    const auto is_along = [&](std::size_t k) {
      return ranges[k].count == 1 && stride > 0 && stride % of_whole_[k] == 0 &&
             ranges[k].first + (count - 1) * (stride / of_whole_[k]) < whole_.shape[k];
    };
    std::size_t k = 0;
    while (k < ranges.size() && !is_along(k)) ++k;
    if (k == ranges.size()) return {};
    ranges[k].step = stride / of_whole_[k];
    ranges[k].count = count;
  }
  return ranges;
}

std::vector<Separation> ElementLayout::apart_from(const ElementLayout& other) const {
  std::vector<Separation> separations;
  if (is_empty() || other.is_empty()) return separations;
  const std::vector<Range> ours = box(), theirs = other.box();
  for (std::size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k) {
    const Range &a = ours[k], &b = theirs[k];
    Separation& one = separations.emplace_back();
    if (a.last() < b.first) one.before = b.first - a.last();
    else if (b.last() < a.first) one.behind = a.first - b.last();
    else if (const std::int64_t step = std::gcd(a.step, b.step); step > 1 && (a.first - b.first) % step != 0)
      one = {.remainder = ((a.first - b.first) % step + step) % step, .step = step};
  }
  return separations;
}

}  // namespace ricci
