// What the examples of the running vmaps answer where the host looks at a value: the elements behind it, and the groups
// of examples that agree on them. Sees through differentiation. Names no operation.
#pragma once

#include <optional>
#include <string_view>
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

/// The outermost vmap whose running examples disagree, and the groups of them that agree.
class Disagreement {
 public:
  explicit Disagreement(const Answers& answers);

  BatchInterpreter* batch() const { return batch_; }  ///< null: all agree
  /// In the order of their answers' bytes. Requires: they disagree.
  std::vector<LaneSetRef> groups() const;
  /// The examples that answer zero, with all their inner ones, and the others; none if all answer something else.
  /// Requires: they disagree.
  struct Leaving {
    LaneSetRef done, going_on;
  };
  std::optional<Leaving> leaving() const;

 private:
  std::string_view row(std::int64_t number) const {
    return {bytes_ + static_cast<std::size_t>(number) * row_bytes_, row_bytes_};
  }
  bool is_zero(std::int64_t row) const;
  LaneSetRef lanes(std::vector<std::int64_t> rows) const;

  BatchInterpreter* batch_ = nullptr;
  ArrayRef elements_;  // one after the other, a row of bytes for each example
  const char* bytes_ = nullptr;
  std::int64_t count_ = 0;
  std::size_t row_bytes_ = 0;
};

/// One example's elements, where all agree; zeros where there is no example.
ArrayRef one_answer(const Answers& answers);

}  // namespace ricci
