// Random numbers that take more than one uniform number each: published rejection and search algorithms, each sample
// on the stream of a 64-bit key of its own. So a sample is a pure function of its key and its parameters.
// Knows nothing of tensors or generators.
#pragma once

#include <cstdint>

namespace ricci::kernels {

/// The logarithm of a sample of the gamma distribution of rate 1: it does not underflow where `concentration` is small.
/// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; below 1, a sample at concentration + 1
/// times u^(1 / concentration). NaN unless concentration > 0.
double log_gamma_sample(std::uint64_t key, double concentration);

/// A sample of the Poisson distribution. Rates from 10 on: algorithm PTRS of Hörmann, "The transformed rejection method
/// for generating Poisson random variables", 1993; below, inversion. NaN unless rate >= 0.
double poisson_sample(std::uint64_t key, double rate);

/// The successes among floor(count) trials. Where either outcome is expected at least 10 times: algorithm BTRS of
/// Hörmann, "The generation of binomial random variates", 1993; else the gaps between successes are drawn (Devroye,
/// "Non-uniform random variate generation", 1986, X.4.3). NaN unless count >= 0 and 0 <= probability <= 1.
double binomial_sample(std::uint64_t key, double count, double probability);

/// An angle of the von Mises distribution around 0. Best and Fisher, "Efficient simulation of the von Mises
/// distribution", 1979; what their numbers lack to 1 is computed as such, so that large concentrations keep digits.
/// NaN unless 0 < concentration < infinity.
double von_mises_sample(std::uint64_t key, double concentration);

}  // namespace ricci::kernels
