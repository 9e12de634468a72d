// Tensors as lists of lists of numbers, and back.
#include "evals.h"

namespace gradbench {
namespace {

template <class T>
void append(const json& lists, std::vector<T>& numbers) {
  if (!lists.is_array()) return numbers.push_back(lists.get<T>());
  for (const json& list : lists) append(list, numbers);
}

template <class T>
Tensor read(const json& lists) {
  std::vector<T> numbers;
  append(lists, numbers);
  std::vector<std::int64_t> shape;
  for (const json* level = &lists; level->is_array(); level = &level->front()) {
    shape.push_back(static_cast<std::int64_t>(level->size()));
    if (level->empty()) break;
  }
  return rc::tensor(numbers).reshape(shape);
}

}  // namespace

Tensor read_numbers(const json& lists) { return read<double>(lists); }
Tensor read_integers(const json& lists) { return read<std::int64_t>(lists); }

json write(const Tensor& tensor) {
  if (tensor.dim() > 1) {
    json rows = json::array();
    for (std::int64_t i = 0; i < tensor.size(0); ++i) rows.push_back(write(tensor[i]));
    return rows;
  }
  const json numbers =
      rc::is_floating(tensor.dtype()) ? json(tensor.to_vector<double>()) : json(tensor.to_vector<std::int64_t>());
  return tensor.dim() == 0 ? numbers.front() : numbers;
}

}  // namespace gradbench
