// What only a few operations say of themselves, kept beside their Rules. Knows no operation by name.
#pragma once

#include <utility>
#include <vector>

#include "ricci/primitive.h"

namespace ricci {

/// Facts of one kind, by operation. A Fact is a pointer.
///   Facts<RolesOf>::add(rules_of<Scan>, roles);  RolesOf roles = Facts<RolesOf>::of(*equation.rules);
template <class Fact>
class Facts {
 public:
  static bool add(const Rules& rules, Fact fact) {
    all().emplace_back(&rules, fact);
    return true;
  }
  /// Null of an operation that says nothing.
  static Fact of(const Rules& rules) {
    for (const auto& [known, fact] : all())
      if (known == &rules) return fact;
    return nullptr;
  }

 private:
  static std::vector<std::pair<const Rules*, Fact>>& all() {
    static std::vector<std::pair<const Rules*, Fact>> facts;
    return facts;
  }
};

}  // namespace ricci
