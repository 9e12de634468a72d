// What a sampler is asked for: numbers of a shape and element type, under parameters that have been checked.
// Knows nothing of any distribution. Start with `request`.
#pragma once

#include <initializer_list>

#include "random/draws.h"

namespace ricci {

/// What numbers a parameter may be.
enum class Range : std::uint8_t { any, positive, not_negative, probability, positive_probability, weight };

/// Throws ValueError `op: name is -1; it must be positive` unless the number is one of the range.
void require_in_range(const char* op, const char* name, double number, Range range);

/// Throws ValueError `op: name is -1 at [0,2] in example 3; it must be positive` of the first element that is none of
/// the range, among those of all examples of the running vmaps. Nothing but that error follows from looking, so an
/// example may be told from others. A program that is being recorded looks when it runs.
void require_elements_in_range(const char* op, const char* name, const Tensor& x, Range range);

/// A parameter as errors name it.
struct Parameter {
  const Tensor& value;
  const char* name;
  Range range;
};

struct Request {
  Noise noise;
  Shape shape;
  DType dtype;

  /// What numbers are computed in: float64 for whole ones, which it holds up to 2^53, as it does small probabilities.
  DType floating_dtype() const { return is_floating(dtype) ? dtype : DType::float64; }
  Tensor uniform() const { return noise.uniform(shape, dtype); }
  Tensor normal() const { return noise.normal(shape, dtype); }
  /// Uniform on (0, 1): 0 stands for the numbers below the first step, and becomes their middle.
  Tensor open_uniform() const;
};

/// The shape the parameters broadcast to, their floating type, the default dtype if all are numbers or integers.
/// TypeError if one is complex,
/// ValueError if they do not broadcast, if one is undefined, or an element out of its range.
Request request(const Noise& noise, std::initializer_list<Parameter> parameters);
/// The given shape, to which the parameters must broadcast, and type; without one, as above.
Request request(const Noise& noise, std::initializer_list<Parameter> parameters, const Shape& shape,
                std::optional<DType> dtype);

/// Throws ValueError if both are numbers and `low` is above `high`, or not below it where they must differ.
void require_order(const char* op, const Tensor& low, const Tensor& high, bool must_differ);

}  // namespace ricci
