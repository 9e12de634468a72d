// Conditionals, of functions without C++ types, and what they ask of predicates and indices.
#include "ricci/control/cond.h"

#include <algorithm>
#include <new>
#include <string>

#include "control/operands.h"
#include "control/parting.h"
#include "control/recording.h"
#include "interpreters/answers.h"
#include "ops/axes.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {
namespace {

using function::Arguments;
using tree::AnyTree;

/// The type of a branch's result. None: the branch cannot be recorded, as it looks at values.
std::optional<ResultTypes> types_of(const char* name, const Choice& branch, Arguments operands) {
  try {
    const TypingOfBranch typing(0);
    const Recorder scratch(name, Records::part, {.name = name});
    scratch.show(tree::walk_of(operands).leaves);
    const AnyTree result = branch.f(std::move(operands));
    return ResultTypes(call::walk(result));
  } catch (const std::bad_alloc&) { throw; } catch (...) {
    return std::nullopt;
  }
}

/// Throws ValueError unless the branches that no example of a vmap takes would return what the others returned. Such a
/// branch is recorded for its result's type, not run. Where the C++ types of the branches tell them apart, this is done
/// once for each type of operands and result. A branch that cannot be recorded is not checked.
void check_branches_left_out(const char* name, const Parting& parting, std::span<const Choice> branches,
                             const AnyTree& result, const Arguments& operands, CheckedBranches& checked) {
  std::vector<const Choice*> left_out;
  std::uint64_t identity = 0;
  bool told_apart = true;
  for (const Choice& branch : branches) {
    if (parting.is_left_out(&branch - branches.data())) left_out.push_back(&branch);
    identity = identity * 31 + branch.identity.value_or(0);
    told_apart &= branch.identity.has_value();
  }
  if (left_out.empty()) return;
  const std::uint64_t key = CheckedBranches::key_of(tree::walk_of(operands), call::walk(result), identity);
  if (told_apart && checked.knows(key)) return;
  for (const Choice* branch : left_out)
    if (const auto types = types_of(name, *branch, operands))
      require_same_results(name, ResultTypes(call::walk(result)), *types);
  if (told_apart) checked.remember(key);
}

/// The conditional as one operation of the program that is being recorded.
AnyTree record_branches(const char* name, const Tensor& question, std::span<const Choice> branches,
                        const Arguments& operands) {
  const TypingOfBranch deeper(depth_of_branches());
  AnyTree first, result;
  std::vector<Closure> recorded;
  StreamScope own{StreamScope::Branch()};
  for (const Choice& branch : branches) {
    own.streams()->set_positions({});
    recorded.push_back(function::write_down(name, branch.f, operands, result));
    if (!first) first = result;
    require_same_tree(name, call::walk(first), call::walk(result));
    require_same_values(name, "the branches return", kept_by_program, erased(result),
                        tree::copy_values(tree::values(first)));
  }
  run_recorded_branches(name, question, tree::walk_of(operands), recorded, call::walk(result));
  return result;
}

}  // namespace

AnyTree choose(const char* name, const Tensor& question, std::span<const Choice> branches, const Arguments& operands,
               CheckedBranches& checked) {
  if (function::is_recorded(name, question)) return record_branches(name, question, branches, operands);
  Parting parting(name);
  parting.choose(question);
  for (;;) {
    AnyTree result = function::on_copies(name, branches[static_cast<std::size_t>(parting.answer())].f, operands);
    if (parting.next(erased(result))) continue;
    check_branches_left_out(name, parting, branches, result, operands, checked);
    return result;
  }
}

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
