// Grouping the rows of the elements by their bytes, one vmap's axis after another.
#include "interpreters/answers.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "kernels/elementwise.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

ArrayRef contiguous(const Array& array) {
  ArrayRef copy = make_array({array.type.dtype, array.type.shape});
  kernels::copy(copy->strided(), array.strided());
  return copy;
}

/// The rows in groups of equal bytes, in the order of the bytes.
std::vector<std::vector<std::int64_t>> equal_rows(const char* bytes, std::int64_t count, std::size_t row_bytes) {
  std::unordered_map<std::string_view, std::vector<std::int64_t>> groups;
  for (std::int64_t row = 0; row < count; ++row)
    groups[{bytes + static_cast<std::size_t>(row) * row_bytes, row_bytes}].push_back(row);
  std::vector<std::string_view> keys;
  for (const auto& [key, rows] : groups) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  std::vector<std::vector<std::int64_t>> sorted;
  for (const std::string_view key : keys) sorted.push_back(std::move(groups[key]));
  return sorted;
}

/// What no example answers.
ArrayRef zeros(const Type& type) {
  ArrayRef array = make_array(type);
  std::memset(array->data, 0, static_cast<std::size_t>(bytes_of(type)));
  return array;
}

bool all_equal(const char* bytes, std::int64_t count, std::size_t row_bytes) {
  return std::memcmp(bytes, bytes + row_bytes, static_cast<std::size_t>(count - 1) * row_bytes) == 0;
}

}  // namespace

Answers answers_behind(const char* op, const ValueRef& value) {
  Answers answers;
  const ValueRef* v = &value;
  while ((*v)->kind != ValueKind::array) {
    if ((*v)->kind == ValueKind::recorded)
      raise<TransformError>(std::string(op) + ": needs the value of " + to_string(value->type) +
                            ", which is not known while " + transform_text(find_interpreter((*v)->level)) +
                            " records the function; use where, cond or while_loop");
    if ((*v)->kind == ValueKind::batched)
      answers.batches.insert(answers.batches.begin(), static_cast<BatchInterpreter*>(find_interpreter((*v)->level)));
    v = inner_of(**v);
  }
  answers.elements = ArrayRef::share(static_cast<Array*>(v->get()));
  return answers;
}

Disagreement disagreement_on(const Answers& answers) {
  if (answers.elements->numel() <= 1) return {};
  const ArrayRef elements = contiguous(*answers.elements);
  const auto* bytes = static_cast<const char*>(elements->data);
  std::size_t row_bytes =
      static_cast<std::size_t>(elements->numel()) * static_cast<std::size_t>(element_size(elements->type.dtype));
  for (std::size_t axis = 0; axis < answers.batches.size(); ++axis) {
    const std::int64_t count = elements->type.shape.host()[axis];
    if (count == 0) return {};
    row_bytes /= static_cast<std::size_t>(count);
    if (all_equal(bytes, count, row_bytes)) continue;  // all rows are the first
    BatchInterpreter* batch = answers.batches[axis];
    Disagreement parts{.batch = batch, .groups = {}};
    for (const auto& rows : equal_rows(bytes, count, row_bytes))
      parts.groups.push_back(make_lanes(batch->level, batch->lanes, rows));
    return parts;
  }
  return {};
}

ArrayRef one_answer(const Answers& answers) {
  const std::size_t vmaps = answers.batches.size();
  if (vmaps == 0) return answers.elements;
  const Array& all = *answers.elements;
  const Type one{all.type.dtype,
                 Shape(all.type.shape.begin() + static_cast<std::ptrdiff_t>(vmaps), all.type.shape.end())};
  if (all.numel() == 0) return zeros(one);
  return make_alias(all, one, Strides(all.strides.begin() + vmaps, all.strides.end()), all.data);
}

}  // namespace ricci
