// Grouping the rows of the elements by their bytes, one vmap's axis after another.
#include "interpreters/answers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "kernels/elementwise.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

/// What the examples of one vmap answer, a row of bytes each.
struct Rows {
  BatchInterpreter* batch = nullptr;  // null: there are none
  const char* bytes = nullptr;
  std::int64_t count = 0;
  std::size_t row_bytes = 0;

  std::string_view operator[](std::int64_t row) const {
    return {bytes + static_cast<std::size_t>(row) * row_bytes, row_bytes};
  }
  bool is_zero(std::int64_t row) const {
    return row_bytes == 1 ? bytes[row] == 0 : (*this)[row].find_first_not_of('\0') == std::string_view::npos;
  }
  bool all_equal() const {
    return std::memcmp(bytes, bytes + row_bytes, static_cast<std::size_t>(count - 1) * row_bytes) == 0;
  }
};

/// The array itself where its elements lie one after the other.
ArrayRef contiguous(const ArrayRef& array) {
  if (is_contiguous(array->type.shape, array->strides)) return array;
  ArrayRef copy = make_array({array->type.dtype, array->type.shape});
  kernels::copy(copy->strided(), array->strided());
  return copy;
}

/// Of the outermost vmap whose examples disagree. `elements` are those of the answers, one after the other.
Rows differing_rows(const Answers& answers, const Array& elements) {
  if (elements.numel() <= 1) return {};
  Rows rows{.bytes = static_cast<const char*>(elements.data),
            .row_bytes = static_cast<std::size_t>(elements.numel()) *
                         static_cast<std::size_t>(element_size(elements.type.dtype))};
  for (std::size_t axis = 0; axis < answers.batches.size(); ++axis) {
    rows.count = elements.type.shape.host()[axis];
    if (rows.count == 0) return {};
    rows.row_bytes /= static_cast<std::size_t>(rows.count);
    rows.batch = answers.batches[axis];
    if (!rows.all_equal()) return rows;  // else all are the first
  }
  return {};
}

using RowNumbers = std::vector<std::int64_t>;

/// The rows in groups of equal bytes, in the order of the bytes.
std::vector<RowNumbers> equal_rows(const Rows& rows) {
  std::unordered_map<std::string_view, RowNumbers> groups;
  for (std::int64_t row = 0; row < rows.count; ++row) groups[rows[row]].push_back(row);
  std::vector<std::string_view> keys;
  for (const auto& [key, numbers] : groups) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  std::vector<RowNumbers> sorted;
  for (const std::string_view key : keys) sorted.push_back(std::move(groups[key]));
  return sorted;
}

/// The rows of zeros, and the others.
std::array<RowNumbers, 2> rows_of_zeros_apart(const Rows& rows) {
  const auto count = static_cast<std::size_t>(rows.count);
  std::array groups = {RowNumbers(count), RowNumbers(count)};
  std::int64_t* end[] = {groups[0].data(), groups[1].data()};
  for (std::int64_t row = 0; row < rows.count; ++row) *end[rows.is_zero(row) ? 0 : 1]++ = row;
  for (std::size_t i = 0; i < 2; ++i) groups[i].resize(static_cast<std::size_t>(end[i] - groups[i].data()));
  return groups;
}

/// What no example answers.
ArrayRef zeros(const Type& type) {
  ArrayRef array = make_array(type);
  std::memset(array->data, 0, static_cast<std::size_t>(bytes_of(type)));
  return array;
}

}  // namespace

Answers answers_behind(const char* op, const ValueRef& value) {
  require_running_throughout(*value, op);
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
  const ArrayRef elements = contiguous(answers.elements);
  const Rows rows = differing_rows(answers, *elements);
  Disagreement parts{.batch = rows.batch, .groups = {}};
  if (!rows.batch) return parts;
  for (RowNumbers& group : equal_rows(rows))
    parts.groups.push_back(make_lanes(rows.batch->level, rows.batch->lanes, std::move(group)));
  return parts;
}

Leaving leaving_by(const Answers& answers) {
  const ArrayRef elements = contiguous(answers.elements);
  const Rows rows = differing_rows(answers, *elements);
  if (!rows.batch) return {};
  auto [done, going_on] = rows_of_zeros_apart(rows);
  if (done.empty() || going_on.empty()) return {};
  return {rows.batch, make_lanes(rows.batch->level, rows.batch->lanes, std::move(done)),
          make_lanes(rows.batch->level, rows.batch->lanes, std::move(going_on))};
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
