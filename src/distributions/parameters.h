// What the functions of all distributions begin with: the checks of parameters, the shape and type that follow from
// them, and samples of that shape. Knows no distribution. Start with `Method`.
#pragma once

#include <initializer_list>

#include "random/samplers.h"
#include "ricci/default_dtype.h"

namespace ricci::distributions {

/// A function of a distribution while it runs: errors of the operations it is made of speak in its name.
struct Method {
  /// Checks the parameters; but where values are being recorded, their types alone. `op` is `Normal.log_prob`.
  Method(const char* op, std::initializer_list<Parameter> parameters);
  /// A function of `value`, whose type counts where all parameters are numbers.
  Method(const char* op, std::initializer_list<Parameter> parameters, const Tensor& value);

  Called as;
  Shape shape;  // that the parameters broadcast to
  DType dtype;  // floating, that parameters are computed in

  /// Whole numbers as floating ones of the parameters' type.
  Tensor value(const Tensor& x) const;
  /// What is computed of some of the parameters, in the shape and type of all.
  Tensor of_batch(const Tensor& x) const;
};

/// Whether anything is known of the values of x: not while it is being recorded.
bool has_values(const char* op, const Tensor& x);

/// What a sample of a distribution takes. Parameters are checked; where they are being recorded, when the program runs.
Request request_for(const char* op, const Key& key, const Shape& sample_shape, std::initializer_list<Parameter>);

/// A sample by one of the samplers of ops/random.h.
template <class Sampler, class... P>
Tensor sampled(const char* op, const Key& key, const Shape& sample_shape, std::initializer_list<Parameter> parameters,
               const P&... p) {
  return samplers::sample<Sampler>(request_for(op, key, sample_shape, parameters), p...);
}

/// `sample_shape` and then `shape`.
Shape joined(const Shape& sample_shape, const Shape& shape);

inline Tensor normal_log_density(const Tensor& z) {
  constexpr double log_root_of_two_pi = 0.91893853320467274178;
  return square(z) * -0.5 - log_root_of_two_pi;
}

}  // namespace ricci::distributions
