// The operations of the registry for random programs: on operands made of the program's tensor. Elementwise operations
// are tried on numbers of their domain, all others at the samples that stand beside them. Names no operation.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "operations.h"
#include "ricci/primitive.h"
#include "ricci/primitive/loop_table.h"

namespace fuzz {
namespace {

using ricci::Rules;

Tensor floating(const Tensor& x) { return x.is_floating_point() ? x : x.to(rc::float32); }

/// The element type that the operation is tried on: that of x if it has loops for it.
rc::DType type_to_try(const ricci::LoopTable& table, const Tensor& x) {
  if (x.is_floating_point() && table.loop(rc::float64)) return x.dtype();
  for (const rc::DType dtype : {rc::int64, rc::float64, rc::boolean})
    if (table.loop(dtype)) return dtype;
  return rc::complex128;
}

/// Operand number i of an elementwise operation, within its domain: x itself, a part of its size, or one number.
Tensor operand(const Rules& rules, rc::DType dtype, const Tensor& x, int i) {
  const Tensor y = i == 0 ? floating(x) : i % 2 == 1 ? 0.5 - floating(x) : floating(x).sum();
  const auto [low, high] = rules.domain;
  if (dtype == rc::boolean) return y > 0.3;
  const Tensor between = low + (high - low) * sigmoid(y);
  if (ricci::is_complex(dtype)) return rc::complex(between, between);
  if (ricci::is_floating(dtype)) return between.to(dtype);
  return clamp(floor(between), std::ceil(low), std::floor(high)).to(dtype);
}

Tensor elementwise(const Rules& rules, const Tensor& x) {
  const ricci::LoopTable& table = *rules.loops();
  const rc::DType dtype = type_to_try(table, x);
  ricci::Tensors operands;
  for (int i = 0; i < table.inputs; ++i)
    operands.push_back(operand(rules, (table.conditions >> i) & 1U ? rc::boolean : dtype, x, i));
  return ricci::apply_all({&rules, nullptr}, operands)[0];
}

/// The operation at its sample, each number of which x makes a little larger or smaller.
Tensor at_sample(const Rules& rules, const ricci::ErasedSample& sample, const Tensor& x, int pick) {
  const Tensor factor = 1 + 0.01 * tanh(floating(x).sum());
  ricci::Tensors inputs;
  for (const Tensor& input : sample.inputs)
    inputs.push_back(ricci::is_differentiable(input.dtype()) ? input * factor : input);
  const ricci::Tensors outputs = ricci::apply_all({&rules, sample.op.get()}, inputs);
  return outputs[static_cast<std::size_t>(pick) % outputs.size()];
}

constexpr const char* in_python = "# Python has no calls of the registry, whose operations take dtypes of their own";

bool depends_on_numbers(const ricci::ErasedSample& sample) {
  return std::any_of(sample.inputs.begin(), sample.inputs.end(),
                     [](const Tensor& x) { return ricci::is_differentiable(x.dtype()); });
}

std::vector<Operation> made_of_the_registry() {
  std::vector<const Rules*> all = ricci::registry();
  std::ranges::sort(all, {}, [](const Rules* rules) { return std::string_view(rules->name); });
  std::vector<Operation> operations;
  for (const Rules* rules : all) {
    if (rules->kind == ricci::Kind::elementwise && rules->parameters.size == 0)
      operations.push_back({rules->name, [rules](const Tensor& x, int) { return elementwise(*rules, x); }, in_python});
    if (!rules->samples || rules->kind == ricci::Kind::custom) continue;
    rc::manual_seed(7);  // samples may draw
    std::vector<ricci::ErasedSample> samples = rules->samples();
    std::erase_if(samples, [](const ricci::ErasedSample& sample) { return !depends_on_numbers(sample); });
    if (samples.empty()) continue;
    operations.push_back({rules->name,
                          [rules, samples](const Tensor& x, int pick) {
                            return at_sample(*rules, samples[static_cast<std::size_t>(pick) / 8 % samples.size()], x,
                                             pick);
                          },
                          in_python});
  }
  return operations;
}

}  // namespace

const std::vector<Operation>& registered_operations() {
  static const std::vector<Operation> all = made_of_the_registry();
  return all;
}

}  // namespace fuzz
