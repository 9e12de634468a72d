// What only a few operations say of themselves, kept beside their Rules. Knows no operation by name.
#pragma once

#include <utility>
#include <vector>

#include "ricci/primitive.h"

namespace ricci {

/// Facts of one kind, by operation. `Fact` names the kind and the type of its functions: two kinds may have one type.
///   struct RolesOf { using Function = Roles (*)(const void* parameters, std::size_t operands); };
///   Facts<RolesOf>::add(rules_of<Scan>, roles);  const auto roles = Facts<RolesOf>::of(*equation.rules);
template <class Fact>
class Facts {
 public:
  using Function = typename Fact::Function;

  static bool add(const Rules& rules, Function fact) {
    all().emplace_back(&rules, fact);
    return true;
  }
  /// Null of an operation that says nothing.
  static Function of(const Rules& rules) {
    for (const auto& [known, fact] : all())
      if (known == &rules) return fact;
    return nullptr;
  }

 private:
  static std::vector<std::pair<const Rules*, Function>>& all() {
    static std::vector<std::pair<const Rules*, Function>> facts;
    return facts;
  }
};

}  // namespace ricci
