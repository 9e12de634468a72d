// Checks of the parameters of distributions.
#include "distributions/parameters.h"

#include <algorithm>

#include "ops/axes.h"
#include "ops/reading.h"
#include "primitive/promotion.h"

namespace ricci::distributions {

bool has_values(const char* op, const Tensor& x) { return static_cast<bool>(elements_of_all_examples(op, x).elements); }

Method::Method(const char* op, std::initializer_list<Parameter> parameters) : as(op) {
  SmallVector<Type, 4> types;
  SmallVector<const Type*, 4> pointers;
  bool numbers = true;
  for (const Parameter& parameter : parameters) {
    if (!parameter.value.defined())
      raise<ValueError>(std::string(op) + ": " + parameter.name + " is undefined; give the distribution one");
    types.push_back(type_of(parameter.value));
    if (is_complex(types.back().dtype))
      raise<TypeError>(std::string(op) + ": " + parameter.name + " is " + to_string(types.back()) +
                       ", which is complex; it must be real");
    if (parameter.range != Range::any && has_values(op, parameter.value))
      require_elements_in_range(op, parameter.name, parameter.value, parameter.range);
    numbers = numbers && types.back().weak;
  }
  for (const Type& type : types) pointers.push_back(&type);
  const std::span<const Type* const> all{pointers.data(), pointers.size()};
  shape = broadcast_shape(op, all);
  const DType promoted = result_dtype(all);
  dtype = !numbers && is_floating(promoted) ? promoted : default_dtype();
}

Method::Method(const char* op, std::initializer_list<Parameter> parameters, const Tensor& value)
    : Method(op, parameters) {
  require_defined(op, value, 0);
  const Type type = type_of(value);
  const auto is_number = [](const Parameter& parameter) { return type_of(parameter.value).weak; };
  if (!type.weak && is_floating(type.dtype) && std::ranges::all_of(parameters, is_number)) dtype = type.dtype;
}

Tensor Method::value(const Tensor& x) const {
  const Type type = type_of(x);
  return is_floating(type.dtype) || is_complex(type.dtype) ? x : to(x, dtype);
}

Tensor Method::of_batch(const Tensor& x) const { return expand(to(x, dtype), shape); }

Shape joined(const Shape& sample_shape, const Shape& shape) {
  Shape all = sample_shape;
  for (const Size& size : shape) all.push_back(size);
  return all;
}

Request request_for(const char* op, const Key& key, const Shape& sample_shape,
                    std::initializer_list<Parameter> parameters) {
  require_sizes(op, sample_shape);
  Request r = request(Noise(op, key), parameters);
  r.shape = joined(sample_shape, r.shape);
  return r;
}

}  // namespace ricci::distributions
