// Sizes that are open, as numbers to try.
#include "program/sample_sizes.h"

#include <algorithm>

#include "primitive/interpreter.h"

namespace ricci {
namespace {

std::int64_t prime_above(std::int64_t number) {
  const auto is_prime = [](std::int64_t n) {
    for (std::int64_t d = 2; d * d <= n; ++d)
      if (n % d == 0) return false;
    return true;
  };
  while (!is_prime(++number)) {}
  return number;
}

}  // namespace

SampleSizes::SampleSizes(const SymbolTable& of) : table(&of) {
  std::int64_t prime = 100;
  for (const std::int64_t hint : of.hints_of_inputs())
    for (std::vector<Size>& sizes : larger) sizes.push_back(hint + (prime = prime_above(prime)));
}

OwnedParameters SampleSizes::put(const Equation& e, int sample) const {
  if (!table || !any_symbol(e.op())) return e.parameters;
  struct Numbers final : ParameterVisitor {
    const SampleSizes& sizes;
    int sample;
    Numbers(const SampleSizes& sizes, int sample) : ParameterVisitor(Mode::edits), sizes(sizes), sample(sample) {}
    void size(Size& size) override { sizes.put(size, sample); }
  } numbers(*this, sample);
  return {e.rules->parameters, e.parameters.get(), numbers};
}

bool are_same(const Type& a, const Type& b) {
  const auto is_same = [](Size x, Size y) { return x.raw() == y.raw(); };
  return a.dtype == b.dtype && a.weak == b.weak && std::ranges::equal(a.shape, b.shape, is_same);
}

}  // namespace ricci
