// Grouping the rows of the elements by their bytes, one vmap's axis after another.
#include "interpreters/answers.h"

#include <map>
#include <string_view>

#include "kernels/elementwise.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

ArrayRef contiguous(const Array& array) {
  ArrayRef copy = make_array({array.type.dtype, array.type.shape});
  kernels::copy(copy->strided(), array.strided());
  return copy;
}

LaneSetRef part_of(const BatchInterpreter& batch, const std::vector<std::int64_t>& rows) {
  auto part = std::make_shared<LaneSet>(LaneSet{batch.level, {}, batch.lanes});
  part->numbers.reserve(rows.size());
  for (std::int64_t row : rows)
    part->numbers.push_back(batch.lanes ? batch.lanes->numbers[static_cast<std::size_t>(row)] : row);
  return part;
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
  if (answers.batches.empty()) return {};
  const ArrayRef elements = contiguous(*answers.elements);
  const auto* bytes = static_cast<const char*>(elements->data);
  std::size_t row_bytes =
      static_cast<std::size_t>(elements->numel()) * static_cast<std::size_t>(element_size(elements->type.dtype));
  for (std::size_t axis = 0; axis < answers.batches.size(); ++axis) {
    const std::int64_t count = elements->type.shape.host()[axis];
    if (count == 0) return {};
    row_bytes /= static_cast<std::size_t>(count);
    std::map<std::string_view, std::vector<std::int64_t>> groups;
    for (std::int64_t row = 0; row < count; ++row)
      groups[{bytes + static_cast<std::size_t>(row) * row_bytes, row_bytes}].push_back(row);
    if (groups.size() == 1) continue;  // all rows are the first
    Disagreement parts{.batch = answers.batches[axis], .groups = {}};
    for (const auto& [answer, rows] : groups) parts.groups.push_back(part_of(*parts.batch, rows));
    return parts;
  }
  return {};
}

ArrayRef one_answer(const Answers& answers) {
  const std::size_t vmaps = answers.batches.size();
  if (vmaps == 0) return answers.elements;
  const Array& all = *answers.elements;
  return make_alias(all, {all.type.dtype, Shape(all.type.shape.begin() + vmaps, all.type.shape.end())},
                    Strides(all.strides.begin() + vmaps, all.strides.end()), all.data);
}

}  // namespace ricci
