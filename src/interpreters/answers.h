// What the examples of the running vmaps answer where the host looks at a value: the elements behind it, and the groups
// of examples that agree on them. Sees through differentiation. Names no operation.
#pragma once

#include <vector>

#include "interpreters/batch.h"

namespace ricci {

/// The elements behind a value, with an axis in front for each vmap on whose examples they depend, outermost first.
struct Answers {
  ArrayRef elements;
  std::vector<BatchInterpreter*> batches;
};

/// `op` is the operation that looks. Throws TransformError if the value is being recorded.
Answers answers_behind(const char* op, const ValueRef& value);

/// A vmap whose running examples disagree, and the groups of them that agree, in the order of their answers' bytes.
struct Disagreement {
  BatchInterpreter* batch = nullptr;  // the outermost such vmap; null: all agree
  std::vector<LaneSetRef> groups;
};
Disagreement disagreement_on(const Answers& answers);

/// The examples of a vmap of which some want to go on, that is, answer something other than zero.
struct Leaving {
  BatchInterpreter* batch = nullptr;  // the outermost that disagrees; null: in it none is done with all inner ones
  LaneSetRef done, going_on;
};
Leaving leaving_by(const Answers& answers);

/// One example's elements, where all agree; zeros where there is no example.
ArrayRef one_answer(const Answers& answers);

}  // namespace ricci
