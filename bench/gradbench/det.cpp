// det: a determinant by expansion along the first row, and its gradient. A minor that several others need is computed
// once: for l columns some l 2^l products, where the plain recursion takes l! of them.
#include <bit>

#include "evals.h"

namespace gradbench {
namespace {

/// The terms of all minors of so many columns in the last rows: a set of columns is a number, a bit a column. A minor
/// is expanded along its first row.
struct Level {
  std::vector<std::int64_t> column, smaller;  // [sets, columns]: of each term, its column, and the minor without it
  std::vector<double> sign;                   // of each term
  std::int64_t terms;                         // of one set: its columns
};

Level level(unsigned columns, int size) {
  std::map<unsigned, std::int64_t> place;  // of the sets of one column less
  for (unsigned set = 0; set < 1U << columns; ++set)
    if (std::popcount(set) == size - 1) place.emplace(set, static_cast<std::int64_t>(place.size()));
  Level found{.column = {}, .smaller = {}, .sign = {}, .terms = size};
  for (unsigned set = 0; set < 1U << columns; ++set) {
    if (std::popcount(set) != size) continue;
    double sign = 1;
    for (unsigned column = 0; column < columns; ++column) {
      if ((set >> column & 1U) == 0) continue;
      found.column.push_back(column), found.smaller.push_back(place.at(set & ~(1U << column)));
      found.sign.push_back(sign), sign = -sign;
    }
  }
  return found;
}

Tensor determinant(const Tensor& a) {
  const std::int64_t n = a.size(0);
  Tensor minors = rc::ones({1}, rc::float64);  // of no row
  for (std::int64_t size = 1; size <= n; ++size) {
    const Level now = level(static_cast<unsigned>(n), static_cast<int>(size));
    const Tensor entries = a[n - size].index_select(0, rc::tensor(now.column));
    const Tensor terms = rc::tensor(now.sign) * entries * minors.index_select(0, rc::tensor(now.smaller));
    minors = terms.reshape({-1, now.terms}).sum(1);
  }
  return minors[0];
}

Tensor read_matrix(const json& input) {
  const std::int64_t n = input.at("ell");
  return read_numbers(input.at("A")).reshape({n, n});
}

Tensor gradient(const Tensor& a) { return rc::grad(determinant)(a).flatten(); }

}  // namespace

Eval det() {
  return {{"primal", [](const json& input) { return answer(input, determinant, read_matrix(input)); }},
          {"gradient", [](const json& input) { return answer(input, gradient, read_matrix(input)); }}};
}

}  // namespace gradbench
