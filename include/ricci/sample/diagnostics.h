// What several chains say about each other.
#pragma once

#include "ricci/tree/walk.h"

namespace ricci::samplers {

void rhat_of_leaves(const tree::Walk& draws);
void ess_of_leaves(const tree::Walk& draws);

/// Gelman and Rubin's potential scale reduction, of each element, from draws [chains, draws, …] with each chain cut
/// into halves: near 1 where all halves have one distribution; above 1.01, draw more (Vehtari et al., 2021; here
/// without ranks). NaN for no chains, less than 4 draws, or a constant. Integers are computed in the default dtype;
/// TypeError for complex draws.
///   auto worst = samplers::rhat(chains.draws);
template <class X>
tree::plain_t<X> rhat(const X& draws) {
  tree::plain_t<X> result = draws;
  tree::Walk walk;
  tree::walk(result, walk);
  rhat_of_leaves(walk);
  return result;
}

/// The effective sample size, of each element, from draws [chains, draws, …]: as many independent draws would give a
/// mean of the same variance. Autocorrelations are averaged over chains and added in pairs up to the first pair whose
/// sum is not positive; each pair counts at most as much as the one before (Geyer, 1992; the formula of Stan and
/// blackjax). NaN for no chains, less than 4 draws, or a constant. Dtypes as of rhat.
template <class X>
tree::plain_t<X> ess(const X& draws) {
  tree::plain_t<X> result = draws;
  tree::Walk walk;
  tree::walk(result, walk);
  ess_of_leaves(walk);
  return result;
}

}  // namespace ricci::samplers
