// What control flow asks while a function is recorded: whether a question is answered only when the program runs.
#include "control/recording.h"

#include <algorithm>

#include "interpreters/batch.h"
#include "interpreters/record.h"

namespace ricci::runs {

void fix_dtypes(const tree::Walk& state) {
  for (Tensor* leaf : state.leaves)
    if (leaf->defined()) *leaf = function::with_dtype(*leaf);
}

bool has_numbers(const tree::Walk& state) {
  return std::any_of(state.leaves.begin(), state.leaves.end(),
                     [](const Tensor* leaf) { return leaf->defined() && type_of(*leaf).weak; });
}

void take_dtypes(const tree::Walk& state, const tree::Walk& after) {
  for (std::size_t i = 0; i < std::min(state.leaves.size(), after.leaves.size()); ++i) {
    Tensor& before = *state.leaves[i];
    if (!before.defined() || !after.leaves[i]->defined() || !type_of(before).weak) continue;
    const DType dtype = type_of(*after.leaves[i]).dtype;
    if (category(dtype) == category(type_of(before).dtype)) before = to(before, dtype);
  }
}

}  // namespace ricci::runs
