// What control flow asks while a function is recorded: whether a question is answered only when the program runs.
#include "ricci/control/recording.h"

#include "interpreters/batch.h"
#include "interpreters/record.h"

namespace ricci::runs {

bool is_decided_later(const char* name, const Tensor& question) {
  if (function::is_recorded(name, question)) return true;
  // One program serves all examples of a vmap around it.
  const Interpreter* record = innermost_recording();
  if (!record) return false;
  return innermost_part(*read(question, name), [&](const Value& part) {
    return part.kind == ValueKind::batched && part.level < record->level;
  });
}

void fix_dtypes(const tree::Walk& state) {
  for (Tensor* leaf : state.leaves)
    if (leaf->defined()) *leaf = function::with_dtype(*leaf);
}

}  // namespace ricci::runs
