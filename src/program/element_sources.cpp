// The operation itself moves the numbers of elements.
#include "program/element_sources.h"

#include <algorithm>
#include <numeric>

#include "kernels/strided.h"
#include "primitive/interpreter.h"
#include "tensor/value.h"

namespace ricci {
namespace {

using Numbers = std::vector<std::int64_t>;

/// What the operation gives where elements are numbered from `start` on. `firsts`: by operand, of those that move.
std::vector<Numbers> moved_numbers(Op op, unsigned moved, std::span<const Strided> operands, const Types& results,
                                   const Numbers& firsts, std::int64_t start) {
  std::vector<Numbers> memory, out;
  std::vector<Strides> strides;
  memory.reserve(operands.size()), out.reserve(results.size()), strides.reserve(operands.size() + results.size());
  std::vector<Strided> in, to;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Strided& x = operands[k];
    if (!((moved >> k) & 1U)) {
      in.push_back(x);
      continue;
    }
    Numbers& numbers = memory.emplace_back(static_cast<std::size_t>(kernels::element_count(x)) + 1);
    std::iota(numbers.begin(), numbers.end(), start + firsts[k]);
    const Shape shape(x.shape, x.shape + x.rank);
    const Strides& steps = strides.emplace_back(contiguous_strides(shape));
    in.push_back({numbers.data(), DType::int64, x.rank, x.shape, steps.data()});
  }
  for (const Type& y : results) {
    Numbers& numbers = out.emplace_back(static_cast<std::size_t>(y.shape.numel().raw()) + 1);
    const Strides& steps = strides.emplace_back(contiguous_strides(y.shape));
    to.push_back({numbers.data(), DType::int64, y.rank(), y.shape.host(), steps.data()});
  }
  op.rules->eval(op.parameters, to, in);
  for (Numbers& numbers : out) numbers.pop_back();
  return out;
}

}  // namespace

std::vector<std::vector<ElementSource>> sources_of(Op op, unsigned moved, std::span<const Strided> operands,
                                                   const Types& results) {
  Numbers firsts;
  std::int64_t count = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    firsts.push_back(count);
    if ((moved >> k) & 1U) count += kernels::element_count(operands[k]);
  }
  // A number that the operation writes by itself stays where elements have other numbers.
  const std::int64_t shift = std::max<std::int64_t>(count, 1);
  const std::vector<Numbers> numbers = moved_numbers(op, moved, operands, results, firsts, 0);
  const std::vector<Numbers> shifted = moved_numbers(op, moved, operands, results, firsts, shift);
  std::vector<std::vector<ElementSource>> all;
  for (std::size_t r = 0; r < numbers.size(); ++r) {
    std::vector<ElementSource>& sources = all.emplace_back();
    for (std::size_t i = 0; i < numbers[r].size(); ++i) {
      const std::int64_t n = numbers[r][i];
      if (n < 0 || n >= count || shifted[r][i] != n + shift) {
        sources.push_back({-1, 0});
        continue;
      }
      const auto operand = std::ranges::upper_bound(firsts, n) - firsts.begin() - 1;
      sources.push_back({static_cast<int>(operand), n - firsts[static_cast<std::size_t>(operand)]});
    }
  }
  return all;
}

std::optional<std::vector<bool>> reduced_axes(Op op, Types operands, int rank_of_result) {
  constexpr std::int64_t first = 101;  // a size that tells the axis
  for (Type& type : operands)
    for (std::size_t i = 0; i < type.shape.size(); ++i) type.shape[i] = Size(first + static_cast<std::int64_t>(i));
  const Shape left = types_of(op, operands)[0].shape;
  std::vector<bool> reduced(operands[0].shape.size(), true);
  for (const Size size : left) {
    const std::int64_t axis = size.raw() - first;
    if (axis < 0 || axis >= static_cast<std::int64_t>(reduced.size())) return std::nullopt;
    reduced[static_cast<std::size_t>(axis)] = false;
  }
  if (left.rank() != rank_of_result) return std::nullopt;
  return reduced;
}

bool adds_totals(const Accumulation& a) {
  const Formula::Step& join = a.join.steps[static_cast<std::size_t>(a.join.result)];
  return join.kind == Formula::Kind::word && join.word == scalar::Word::add && a.join.steps.size() == 3 && a.start == 0;
}

}  // namespace ricci
