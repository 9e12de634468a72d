// Grouping the rows of the elements by their bytes, one vmap's axis after another.
#include "interpreters/answers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "interpreters/record.h"
#include "kernels/elementwise.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

/// The array itself where its elements lie one after the other.
ArrayRef contiguous(const ArrayRef& array) {
  if (is_contiguous(array->type.shape, array->strides)) return array;
  ArrayRef copy = make_array({array->type.dtype, array->type.shape});
  kernels::copy(copy->strided(), array->strided());
  return copy;
}

/// What no example answers.
ArrayRef array_of_zeros(const Type& type) {
  ArrayRef array = make_array(type);
  kernels::clear(array->strided());
  return array;
}

/// What the recording knows of the value, since no input stands behind it.
const ValueRef* known_or_raise(const char* op, const Value& recorded, const Type& type) {
  auto* const recording = static_cast<RecordInterpreter*>(find_interpreter(recorded.level));
  const ValueRef* known = recording->known(static_cast<const Recorded&>(recorded).variable);
  if (!known)
    raise<TransformError>(std::string(op) + ": needs the value of " + to_string(type) + ", which is not known while " +
                          transform_text(recording) + " records the function; use where, cond or while_loop");
  return known;
}

}  // namespace

Answers answers_behind(const char* op, const ValueRef& value) {
  require_running_throughout(*value, op);
  Answers answers;
  const ValueRef* v = &value;
  while ((*v)->kind != ValueKind::array) {
    if ((*v)->kind == ValueKind::recorded) {
      v = known_or_raise(op, **v, value->type);
      continue;
    }
    if ((*v)->kind == ValueKind::batched)
      answers.batches.insert(answers.batches.begin(), static_cast<BatchInterpreter*>(find_interpreter((*v)->level)));
    v = inner_of(**v);
  }
  answers.elements = ArrayRef::share(static_cast<Array*>(v->get()));
  return answers;
}

Disagreement::Disagreement(const Answers& answers) : elements_(contiguous(answers.elements)) {
  const Array& elements = *elements_;
  for (BatchInterpreter* batch : answers.batches) batch->was_asked = true;
  if (elements.numel() <= 1) return;
  bytes_ = static_cast<const char*>(elements.data);
  row_bytes_ = static_cast<std::size_t>(elements.numel()) * static_cast<std::size_t>(element_size(elements.type.dtype));
  for (std::size_t axis = 0; axis < answers.batches.size(); ++axis) {
    count_ = elements.type.shape.host()[axis];
    row_bytes_ /= static_cast<std::size_t>(count_);
    const bool all_equal =
        std::memcmp(bytes_, bytes_ + row_bytes_, static_cast<std::size_t>(count_ - 1) * row_bytes_) == 0;
    if (all_equal) continue;  // to the first
    batch_ = answers.batches[axis];
    return;
  }
}

bool Disagreement::is_zero(std::int64_t row) const {
  return row_bytes_ == 1 ? bytes_[row] == 0 : this->row(row).find_first_not_of('\0') == std::string_view::npos;
}

LaneSetRef Disagreement::lanes(std::vector<std::int64_t> rows) const {
  return make_lanes(batch_->level, batch_->lanes, std::move(rows));
}

std::vector<LaneSetRef> Disagreement::groups() const {
  std::unordered_map<std::string_view, std::vector<std::int64_t>> rows_by_answer;
  for (std::int64_t i = 0; i < count_; ++i) rows_by_answer[row(i)].push_back(i);
  std::vector<std::string_view> answers;
  for (const auto& [answer, rows] : rows_by_answer) answers.push_back(answer);
  std::sort(answers.begin(), answers.end());
  std::vector<LaneSetRef> groups;
  for (const std::string_view answer : answers) groups.push_back(lanes(std::move(rows_by_answer[answer])));
  return groups;
}

std::optional<Disagreement::Leaving> Disagreement::leaving() const {
  std::array apart = {std::vector<std::int64_t>(static_cast<std::size_t>(count_)),
                      std::vector<std::int64_t>(static_cast<std::size_t>(count_))};
  std::int64_t* end[] = {apart[0].data(), apart[1].data()};
  for (std::int64_t i = 0; i < count_; ++i) *end[is_zero(i) ? 0 : 1]++ = i;
  for (std::size_t i = 0; i < 2; ++i) apart[i].resize(static_cast<std::size_t>(end[i] - apart[i].data()));
  auto& [done, going_on] = apart;
  if (done.empty() || going_on.empty()) return std::nullopt;
  return Leaving{lanes(std::move(done)), lanes(std::move(going_on))};
}

ArrayRef one_answer(const Answers& answers) {
  const std::size_t vmaps = answers.batches.size();
  if (vmaps == 0) return answers.elements;
  const Array& all = *answers.elements;
  const Type one{all.type.dtype,
                 Shape(all.type.shape.begin() + static_cast<std::ptrdiff_t>(vmaps), all.type.shape.end())};
  if (all.numel() == 0) return array_of_zeros(one);
  return make_alias(all, one, Strides(all.strides.begin() + vmaps, all.strides.end()), all.data);
}

}  // namespace ricci
