// What an optimiser is: a chain of steps, each of which changes the updates of all parameters by moments that it keeps.
// Start with `Optimiser`; an optimiser of your own is made of `Moment` and `Step`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ricci/small_vector.h"
#include "ricci/tree/walk.h"

namespace ricci::optim {

/// What an optimiser keeps between steps: a tree. P is the parameters' type.
template <class P>
struct State {
  Tensor count;                      ///< steps so far: int64, 0-dim
  std::map<std::string, P> moments;  ///< trees like the parameters: "mu", "nu", …
};

/// The result of a step: `auto [updates, state] = optimiser.update(gradients, state, parameters);`.
template <class G, class P>
struct Updated {
  G updates;
  State<P> state;
};

/// Which parameters, by name as `leaf_names` gives it: `layers[0].weight`.
///   [](const std::string& name) { return name.ends_with("weight"); }
using Mask = std::function<bool(const std::string& name)>;

/// One parameter in a step.
struct Leaf {
  Tensor update;  ///< at first the gradient; what the step leaves here is the update
  Tensor param;
  SmallVector<Tensor, 2> moments;  ///< in the order in which the step names them; of the same shape
};

struct Step {
  Tensor count;  ///< steps before this one
  std::vector<Leaf> leaves;
};

/// A tree like the parameters, which a step keeps.
struct Moment {
  std::string name;
  std::function<Tensor(const Tensor& param)> initial;  ///< of the parameter's shape; not given: zeros
};

class Optimiser {
 public:
  /// An optimiser of one step. ValueError if two moments have one name; from `update`, if the step changes a shape, or
  /// which leaves and moments there are.
  ///   Optimiser signs({}, [](Step& step) { for (Leaf& leaf : step.leaves) leaf.update = sign(leaf.update); });
  Optimiser(std::vector<Moment> moments, std::function<void(Step&)> apply);

  template <class P>
  State<tree::plain_t<P>> init(const P& params) const {
    State<tree::plain_t<P>> state{first_count(), {}};
    for (const Moment* moment : moments()) {
      tree::Walk walk;
      tree::walk(state.moments.emplace(moment->name, params).first->second, walk);
      begin(*moment, walk);
    }
    return state;
  }

  /// What to add to the parameters, and the state after. ValueError if gradients, parameters and state differ in
  /// structure or shapes; TypeError if a gradient of a floating parameter is of integers.
  template <class G, class S, class P>
  Updated<tree::plain_t<G>, S> update(const G& gradients, const State<S>& state, const P& params) const {
    Updated<tree::plain_t<G>, S> next{gradients, state};
    tree::Walk updates, at;
    tree::walk(next.updates, updates);
    tree::walk(params, at);
    std::map<std::string, tree::Walk> moments;
    for (auto& [name, moment] : next.state.moments) tree::walk(moment, moments[name]);
    step(updates, at, next.state.count, moments);
    return next;
  }

  friend Optimiser chain(const std::vector<Optimiser>& optimisers);
  friend Optimiser masked(const Optimiser& optimiser, const Mask& mask);
  /// Equal are copies of one.
  friend bool operator==(const Optimiser&, const Optimiser&) = default;

 private:
  struct Link {
    std::vector<Moment> moments;
    std::function<void(Step&)> apply;
    std::vector<Mask> masks;
  };
  explicit Optimiser(std::vector<Link> links);

  std::vector<const Moment*> moments() const;
  static Tensor first_count();
  static void begin(const Moment& moment, const tree::Walk& into);
  void step(const tree::Walk& updates, const tree::Walk& params, Tensor& count,
            const std::map<std::string, tree::Walk>& moments) const;

  std::shared_ptr<const std::vector<Link>> links_;
};

/// One after the other: each gets the updates of the one before. Of two moments of one name the second is called
/// `mu_2`.
///   chain(clip_by_global_norm(1), adam(1e-3))
Optimiser chain(const std::vector<Optimiser>& optimisers);
template <class... More>
Optimiser chain(const Optimiser& first, const More&... more) {
  return chain(std::vector<Optimiser>{first, more...});
}

/// The optimiser on the parameters that the mask picks; updates of the others stay what they are.
Optimiser masked(const Optimiser& optimiser, const Mask& mask);

void add_updates(const tree::Walk& params, const tree::Walk& updates);

/// params + updates, leaf by leaf, in the parameters' dtypes. ValueError if structures or shapes differ.
template <class P, class U>
tree::plain_t<P> apply_updates(const P& params, const U& updates) {
  tree::plain_t<P> result = params;
  tree::Walk into, by;
  tree::walk(result, into);
  tree::walk(updates, by);
  add_updates(into, by);
  return result;
}

}  // namespace ricci::optim
