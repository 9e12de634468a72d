// That the laws have something to try: operations are registered, under names of their own, with inputs to try.
#include <set>
#include <string>
#include <string_view>

#include "law.h"
#include "ops/debug.h"

namespace {

/// A static library, or a file that is not linked, would drop operations without a word. Raise it with the library.
constexpr std::size_t fewest_operations = 180;

/// The inputs of elementwise operations are made up, the values of `empty` are whatever its memory held, what a custom
/// operation computes is a function among its parameters, and what checks values and what prints have no result to
/// compare.
bool may_lack_samples(const ricci::Rules& rules) {
  return (rules.kind == ricci::Kind::elementwise && rules.parameters.size == 0) || rules.kind == ricci::Kind::custom ||
         std::string_view(rules.name) == "empty" || rules.effect == ricci::Effect::checks_values ||
         ricci::prints(rules);
}

TEST(Registry, HoldsTheOperationsOfTheLibrary) { EXPECT_GE(laws::operations().size(), fewest_operations); }

TEST(Registry, NamesAreUnique) {
  std::set<std::string> names;
  for (const ricci::Rules* rules : laws::operations()) EXPECT_TRUE(names.insert(rules->name).second) << rules->name;
}

TEST(Registry, EveryOperationHasInputsToTry) {
  for (const ricci::Rules* rules : laws::operations())
    EXPECT_TRUE(rules->samples || may_lack_samples(*rules))
        << rules->name << " needs `static std::vector<Sample<…>> samples()`";
}

}  // namespace
