// Samples that count: Poisson, binomial, and classes in proportion to weights. Constant in their parameters.
#include <algorithm>

#include "kernels/random_samplers.h"
#include "ops/axes.h"
#include "ops/reading.h"
#include "random/element_samplers.h"
#include "random/samplers.h"

namespace ricci {
namespace {

struct PoissonByKeys {
  using kind = Explicit;
  static constexpr const char* name = "poisson_by_keys";
  static constexpr bool locally_constant = true;

  Type type(const Type& keys, const Type& rate) const {
    require_shape(keys.shape, rate.shape);
    return {rate.dtype, rate.shape};
  }
  void eval(Outputs out, Inputs in) const { sample_elements(out, in, kernels::poisson_sample, 1); }
  PoissonByKeys lifted() const { return {}; }
  static std::vector<Sample<PoissonByKeys>> samples() {
    return {{{}, {tensor({1, 2, 3, 4}), tensor({0.25, 0.5, 8.0, 100.0})}}};
  }
};

struct BinomialByKeys {
  using kind = Explicit;
  static constexpr const char* name = "binomial_by_keys";
  static constexpr bool locally_constant = true;

  Type type(const Type& keys, const Type& count, const Type& probability) const {
    require_shape(keys.shape, count.shape);
    require_shape(probability.shape, count.shape);
    return {count.dtype, count.shape};
  }
  void eval(Outputs out, Inputs in) const { sample_elements(out, in, kernels::binomial_sample, 1, 2); }
  BinomialByKeys lifted() const { return {}; }
  static std::vector<Sample<BinomialByKeys>> samples() {
    return {{{}, {tensor({1, 2, 3, 4}), tensor({1.5, 5.5, 100.5, 60.5}), tensor({0.45, 0.25, 0.4, 0.8})}}};
  }
};

/// For numbers u [leading…, n] and running totals of weights [leading…, classes]: the first class whose total is above
/// u.
struct ClassAt {
  using kind = Explicit;
  static constexpr const char* name = "class_at";
  static constexpr bool locally_constant = true;

  Type type(const Type& u, const Type& totals) const {
    require_rank_of_at_least(1, u);
    require_rank_of_at_least(1, totals);
    require_shape(Shape(totals.shape.begin(), totals.shape.end() - 1), Shape(u.shape.begin(), u.shape.end() - 1));
    return {DType::int64, u.shape};
  }
  void eval(Outputs out, Inputs in) const {
    const ArrayRef u = row_major_copy(in[0], DType::float64), totals = row_major_copy(in[1], DType::float64);
    const std::int64_t n = u->type.shape.back(), classes = totals->type.shape.back();
    const auto* number = static_cast<const double*>(u->data);
    const auto* row = static_cast<const double*>(totals->data);
    auto* at = static_cast<std::int64_t*>(out[0].data);
    for (std::int64_t i = 0; i < u->numel(); ++i) {
      if (i > 0 && i % n == 0) row += classes;
      at[i] = std::min(std::upper_bound(row, row + classes, number[i]) - row, classes - 1);
    }
  }
  ClassAt lifted() const { return {}; }
  static std::vector<Sample<ClassAt>> samples() {
    const DType f64 = DType::float64;
    return {{{}, {tensor({0.5, 1.5, 0.0, 2.5}, f64), tensor({1.0, 1.0, 3.0}, f64)}},
            {{}, {tensor({{0.5, 1.5}, {2.0, 0.0}}, f64), tensor({{1.0, 3.0}, {2.0, 2.5}}, f64)}}};
  }
};

/// `sampler` on keys, with parameters in their shape; computed in a floating type that can hold the counts.
template <class P, class... X>
Tensor counted(const P& sampler, const Request& r, const X&... parameters) {
  const DType dtype = r.floating_dtype();
  const Tensor keys = r.noise.keys(r.shape);
  const Shape shape = type_of(keys).shape;
  return apply(sampler, keys, expand(to(parameters, dtype), shape)...);
}

Tensor with_replacement(const Noise& noise, const Tensor& weights, const Shape& shape) {
  const Tensor totals = cumsum(to(weights, DType::float64), -1);
  const Tensor u = noise.uniform(shape, DType::float64) * narrow(totals, -1, type_of(totals).shape.back() - 1, 1);
  Shape all = type_of(u).shape;
  all.back() = type_of(totals).shape.back();
  return apply(ClassAt{}, u, expand(totals, all));
}

Tensor without_replacement(const Noise& noise, const Tensor& weights, Size samples) {
  const Request r{noise, type_of(weights).shape, DType::float64};
  const Tensor scores = GumbelSampler::sample(r, log(to(weights, DType::float64)), 1);
  return topk(scores, samples, -1).second;
}

struct AClassInEachRow {
  static constexpr const char* name = "check_weights";

  void look(const Strided& weights, const Vmaps& vmaps) const {
    const ArrayRef elements = row_major_copy(weights, DType::float64);
    const auto* element = static_cast<const double*>(elements->data);
    const std::int64_t n = elements->type.shape.back().raw(), rows = elements->numel() / n;
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* row = element + i * n;
      if (std::any_of(row, row + n, [](double weight) { return weight > 0; })) continue;
      Shape leading = elements->type.shape;
      leading.pop_back();
      raise<ValueError>("multinomial: the weights are all 0" + place_text(i, leading, vmaps) +
                        "; a row needs a class to draw");
    }
  }
};

/// Throws ValueError unless every row of the weights has a class to draw.
void require_weights(const Tensor& weights) {
  require_elements_in_range("multinomial", "a weight", weights, Range::weight);
  check_elements("multinomial", weights, AClassInEachRow{});
}

Tensor classes(const Noise& noise, const Tensor& weights, Size samples, bool replacement) {
  require_defined("multinomial", weights, 0);
  const Type type = type_of(weights);
  if (is_complex(type.dtype))
    raise<TypeError>("multinomial: the weights are " + to_string(type) + ", which is complex; they must be real");
  if (type.rank() == 0 || type.shape.back() == 0)
    raise<ValueError>("multinomial: the weights are " + to_string(type) + "; their last axis must hold a class");
  if (samples < 0)
    raise<ValueError>("multinomial: " + std::to_string(samples.hint()) + " samples were asked for; ask for at least 0");
  if (!replacement && samples > type.shape.back())
    raise<ValueError>("multinomial: " + std::to_string(samples.hint()) + " samples without replacement of " +
                      count_of(type.shape.back().host(), "class", "classes") +
                      "; ask for fewer, or pass true for replacement");
  require_weights(weights);
  if (!replacement) return without_replacement(noise, weights, samples);
  Shape shape = type.shape;
  shape.back() = samples;
  return with_replacement(noise, weights, shape);
}

}  // namespace

Tensor PoissonSampler::sample(const Request& r, const Tensor& rate) { return counted(PoissonByKeys{}, r, rate); }

Tensor BinomialSampler::sample(const Request& r, const Tensor& count, const Tensor& probability) {
  return counted(BinomialByKeys{}, r, count, probability);
}

namespace ops {

RICCI_DEFINE_SAMPLER_OF_ONE(poisson, PoissonSampler)
RICCI_DEFINE_SAMPLER_OF_TWO(binomial, BinomialSampler)

Tensor multinomial(const Tensor& weights, Size samples) { return multinomial(weights, samples, false); }
Tensor multinomial(const Tensor& weights, Size samples, bool replacement) {
  return classes(Noise("multinomial", GeneratorOption()), weights, samples, replacement);
}
Tensor multinomial(const Tensor& weights, Size samples, bool replacement, RandomOptions options) {
  return classes(Noise("multinomial", GeneratorOption(options.generator)), weights, samples, replacement);
}
Tensor multinomial(const Key& key, const Tensor& weights, Size samples, bool replacement) {
  return classes(Noise("multinomial", key), weights, samples, replacement);
}

}  // namespace ops
}  // namespace ricci
