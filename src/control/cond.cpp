// What conditionals ask of their predicates and indices.
#include "ricci/control/cond.h"

#include <string>

#include "control/operands.h"
#include "interpreters/answers.h"
#include "ops/axes.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {

Tensor truth(const char* name, const Tensor& predicate) {
  require_defined(name, predicate, 0);
  require_one_element(name, type_of(predicate));
  return type_of(predicate).dtype == DType::boolean ? predicate : ne(predicate, 0);
}

Tensor whole_number(const char* name, const char* what, const Tensor& number) {
  if (!number.defined())
    raise<ValueError>(std::string(name) + ": " + what + " is an undefined Tensor; give it a value first");
  if (const Type type = type_of(number); category(type.dtype) > 1)
    raise<TypeError>(std::string(name) + ": " + what + " is " + to_string(type) + "; it must be an integer");
  if (const Type type = type_of(number); type.shape.numel() != 1)
    raise<ValueError>(std::string(name) + ": " + what + " is " + to_string(type) +
                      "; it must have one element: take one, for example x[0]");
  return to(number, DType::int64);
}

Tensor checked_index(const Tensor& index, std::int64_t count) {
  const Tensor wide = whole_number("switch_case", "the index", index);
  if (function::is_recorded("switch_case", wide)) return wide;
  const Answers answers = answers_behind("switch_case", read(wide, "switch_case"));
  require_indices(wrap(answers.elements), count);
  return wide;
}

void require_indices(const Tensor& indices, std::int64_t count) {
  for (std::int64_t i : indices.to_vector<std::int64_t>())
    if (i < 0 || i >= count)
      raise<IndexError>("switch_case: index " + std::to_string(i) + " is out of range for " +
                        count_of(count, "branch", "branches") + "; " + legal_range(0, count - 1));
}

}  // namespace ricci::runs
