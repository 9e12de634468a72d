// Which cases of an operation, and which forms of each, the laws of compiled code try. Making machine code takes a
// hundred times as long as computing a case, and most of it does not depend on the case: all operations together try
// every form on every kind of case, no operation tries all of them. Knows no operation.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cases.h"
#include "compile/target.h"
#include "ricci/primitive/formula.h"
#include "ricci/primitive/loop_table.h"

namespace laws {

/// A number below `count` that an operation's name chooses.
inline std::size_t chosen_by_name(const ricci::Rules& rules, std::size_t count) {
  std::size_t sum = 0;
  for (const char letter : std::string_view(rules.name)) sum += static_cast<unsigned char>(letter);
  return sum % count;
}

/// Whether a case of an operation takes a form, one of `forms` of it. The first case, whose place is 0, takes all; each
/// later one, which has other shapes or parameters, takes one, the next case the next one.
inline bool takes_form(std::size_t place, std::size_t form, std::size_t forms) {
  return place == 0 || place % forms == form;
}

/// The place of the case behind that at `place`. Behind the first it depends on the operation: operations of two cases
/// together try their second case in all forms.
inline std::size_t next_place(const ricci::Rules& rules, std::size_t place) {
  return place == 0 ? std::string_view(rules.name).size() : place + 1;
}

inline std::vector<Case> with_elements(std::vector<Case> cases) {
  std::erase_if(cases, [](const Case& c) {
    return std::ranges::any_of(c.inputs, [](const Tensor& x) { return x.numel() == 0; });
  });
  return cases;
}

/// Without those, but for the first, whose formula has hundreds of steps: their machine code takes seconds to make.
inline std::vector<Case> with_one_long_formula(std::vector<Case> cases) {
  constexpr std::size_t many = 400;
  bool has_one = false;
  std::erase_if(cases, [&](const Case& c) {
    const bool is_long = c.rules->formula() && c.rules->formula()(c.parameters.get()).steps.size() > many;
    return is_long && std::exchange(has_one, true);
  });
  return cases;
}

/// All cases, of long formulas one. The cases of an elementwise operation without parameters differ in shapes and
/// numbers alone. Of these: one with axes, and one that the operation's name chooses. The second one of sqrt has no
/// elements.
inline std::vector<Case> cases_of_few_shapes(const ricci::Rules& rules) {
  std::vector<Case> all = with_one_long_formula(cases_of(rules));
  if (rules.kind != ricci::Kind::elementwise || rules.parameters.size > 0 || all.size() < 2) return all;
  const auto has_axes = [](const Case& c) {
    return std::ranges::all_of(c.inputs, [](const Tensor& x) { return x.dim() > 0 && x.numel() > 1; });
  };
  const auto first = std::ranges::find_if(all, has_axes);
  if (first != all.end()) std::rotate(all.begin(), first, first + 1);
  return {all[0], all[1 + chosen_by_name(rules, all.size() - 1)]};
}

/// The cases of few shapes. Where registers are narrower than the library's, the one of all that the operation's name
/// chooses: such code differs from the library's in the number of lanes, whatever the operation.
inline std::vector<Case> cases_to_compile(const ricci::Rules& rules) {
  if (!ricci::compiled::has_narrow_registers()) return cases_of_few_shapes(rules);
  const std::vector<Case> all = with_one_long_formula(cases_of(rules)), some = with_elements(all);
  return some.empty() ? all : std::vector<Case>{some[chosen_by_name(rules, some.size())]};
}

/// For each type of elements: all cases of float64, and one of each other type, the next type the next case. Where
/// registers are narrow, every fourth of these. What is not elementwise has its samples.
inline std::vector<Case> cases_to_compile_by_type(const ricci::Rules& rules) {
  if (rules.kind != ricci::Kind::elementwise) return cases_of(rules);
  std::vector<Case> all;
  for (const DType element : {ricci::float64, ricci::float32, ricci::float16, ricci::bfloat16, ricci::int64,
                              ricci::int32, ricci::int16, ricci::int8, ricci::uint8, ricci::boolean}) {
    if (!rules.loops()->loop(element)) continue;
    std::vector<Case> of_type = elementwise_cases(rules, element);
    if (element != ricci::float64) {
      of_type = with_elements(of_type);
      if (of_type.empty()) continue;
      of_type = {of_type[all.size() % of_type.size()]};
    }
    all.insert(all.end(), of_type.begin(), of_type.end());
  }
  if (!ricci::compiled::has_narrow_registers() || all.empty()) return all;
  std::vector<Case> some;
  for (std::size_t i = chosen_by_name(rules, std::min<std::size_t>(4, all.size())); i < all.size(); i += 4)
    some.push_back(all[i]);
  return some;
}

}  // namespace laws
