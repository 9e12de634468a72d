// The independent normals nearest to a distribution that is known by its log density. Start with `meanfield_vi`.
#pragma once

#include <cstdint>

#include "ricci/optim/optimisers.h"
#include "ricci/sample/chain.h"

namespace ricci::samplers {

struct MeanFieldOptions {
  optim::Optimiser optimiser = optim::adam(0.05);
  std::int64_t steps = 1000;
  std::int64_t samples = 10;  ///< of the log density for each step
};

/// A normal distribution for each element: a tree.
template <class X>
struct MeanField {
  X mean, log_std;
  Tensor elbo;  ///< [steps]: estimates of the evidence's lower bound, E[log_density(x)] plus the normals' entropy
};

MeanField<Tensor> fit_vector(const LogDensity& f, const Tensor& start, const Key& key, const MeanFieldOptions& options);
/// [n, elements]
Tensor draws_of_vectors(const Tensor& mean, const Tensor& log_std, const Key& key, std::int64_t n);

/// The normals that maximise the evidence's lower bound, by gradients along x = mean + std z (Kucukelbir et al., 2017),
/// with the entropy's own formula. The mean begins at `initial`, each std at e⁻². The means are often right and the
/// stds too small, where elements depend on each other. Errors as of `sample`.
///   auto q = samplers::meanfield_vi(log_density, start, rc::Key(0), {.steps = 2000});
template <class F, class X>
MeanField<tree::plain_t<X>> meanfield_vi(const F& log_density, const X& initial, const Key& key,
                                         const MeanFieldOptions& options = {}) {
  tree::require_unknowns("meanfield_vi", call::walk(initial));
  const auto [vector, unravel] = ravel(initial);
  const MeanField<Tensor> found = fit_vector(of_vector(log_density, unravel), vector, key, options);
  return {unravel(found.mean), unravel(found.log_std), found.elbo};
}

/// n draws: [n, …] of each leaf.
///   auto x = samplers::draws_of(q, rc::Key(1), 100);
template <class X>
X draws_of(const MeanField<X>& q, const Key& key, std::int64_t n) {
  const auto [mean, unravel] = ravel(q.mean);
  return trees_of_rows(draws_of_vectors(mean, ravel(q.log_std).vector, key, n), unravel);
}

}  // namespace ricci::samplers
