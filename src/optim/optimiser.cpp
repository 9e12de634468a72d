// A chain of steps over the leaves of trees. Knows no optimiser.
#include "ricci/optim/optimiser.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/tree_names.h"

namespace ricci::optim {
namespace {

bool is_parameter(const Tensor& leaf) { return leaf.defined() && is_differentiable(leaf.dtype()); }

/// Throws ValueError unless the trees have one structure, and what are parameters in `params` have one shape in both;
/// TypeError where they are integers in `other`, which would cut what a step makes to 0.
void require_fitting(const char* call, const tree::Walk& params, const tree::Walk& other, const char* what,
                     std::size_t position) {
  tree::require_same_structure(call, params, other, position);
  for (std::size_t i = 0; i < params.leaves.size(); ++i) {
    const Tensor &param = *params.leaves[i], &leaf = *other.leaves[i];
    if (param.defined() != leaf.defined() || (is_parameter(param) && param.shape() != leaf.shape()))
      raise<ValueError>(std::string(call) + ": " + tree::described(params, i) + " in the parameters, " +
                        tree::type_of(leaf) + " in the " + what + "; the shapes must agree");
    if (is_parameter(param) && !is_parameter(leaf))
      raise<TypeError>(std::string(call) + ": " + tree::described(params, i) + " in the parameters, " +
                       tree::type_of(leaf) + " in the " + what + "; convert it to a floating dtype");
  }
}

/// What a step made of a tensor, in the tensor's dtype.
void put(Tensor& into, const Tensor& made) { into = made.dtype() == into.dtype() ? made : to(made, into.dtype()); }
/// The same. Throws ValueError unless it has the tensor's shape; `what` it is.
void put_of_step(Tensor& into, const Tensor& made, const std::string& what) {
  if (!made.defined() || made.shape() != into.shape())
    raise<ValueError>("update: a step made " + tree::type_of(made) + " of " + what + " " + tree::type_of(into) +
                      "; it must keep the shape");
  put(into, made);
}

}  // namespace

Optimiser::Optimiser(std::vector<Moment> moments, std::function<void(Step&)> apply)
    : Optimiser(std::vector<Link>{{std::move(moments), std::move(apply), {}}}) {
  std::set<std::string> names;
  for (const Moment* moment : this->moments())
    if (!names.insert(moment->name).second)
      raise<ValueError>("Optimiser: two moments have the name " + moment->name + "; give each its own");
}

Optimiser::Optimiser(std::vector<Link> links) : links_(std::make_shared<const std::vector<Link>>(std::move(links))) {}

std::vector<const Moment*> Optimiser::moments() const {
  std::vector<const Moment*> all;
  for (const Link& link : *links_)
    for (const Moment& moment : link.moments) all.push_back(&moment);
  return all;
}

Tensor Optimiser::first_count() { return zeros({}, int64); }

void Optimiser::begin(const Moment& moment, const tree::Walk& into) {
  for (Tensor* leaf : into.leaves)
    if (is_parameter(*leaf)) *leaf = moment.initial ? moment.initial(*leaf) : zeros_like(*leaf);
}

void Optimiser::step(const tree::Walk& updates, const tree::Walk& params, Tensor& count,
                     const std::map<std::string, tree::Walk>& moments) const {
  require_fitting("update", params, updates, "gradients", 2);
  for (const auto& [name, walk] : moments) require_fitting("update", params, walk, "state", 3);
  for (const Moment* moment : this->moments())
    if (!moments.contains(moment->name))
      raise<ValueError>("update: the state has no moment " + moment->name +
                        "; pass what init of this optimiser or its last update gave");

  std::vector<std::string> names;  // only where a mask asks for them
  for (const Link& link : *links_) {
    if (!link.masks.empty() && names.empty()) names = tree::leaf_names(params);
    const auto is_picked = [&](std::size_t i) {
      return is_parameter(*params.leaves[i]) &&
             std::all_of(link.masks.begin(), link.masks.end(), [&](const Mask& mask) { return mask(names[i]); });
    };
    std::vector<std::size_t> picked;
    Step step{count, {}};
    for (std::size_t i = 0; i < params.leaves.size(); ++i) {
      if (!is_picked(i)) continue;
      picked.push_back(i);
      step.leaves.push_back({*updates.leaves[i], *params.leaves[i], {}});
      for (const Moment& moment : link.moments)
        step.leaves.back().moments.push_back(*moments.at(moment.name).leaves[i]);
    }
    link.apply(step);
    const auto has_all_moments = [&](const Leaf& leaf) { return leaf.moments.size() == link.moments.size(); };
    if (step.leaves.size() != picked.size() || !std::ranges::all_of(step.leaves, has_all_moments))
      raise<ValueError>("update: a step left out a leaf or a moment, or added one; it may only change them");
    for (std::size_t k = 0; k < picked.size(); ++k) {
      put_of_step(*updates.leaves[picked[k]], step.leaves[k].update, "the update");
      for (std::size_t j = 0; j < link.moments.size(); ++j) {
        const auto& [name, initial] = link.moments[j];
        put_of_step(*moments.at(name).leaves[picked[k]], step.leaves[k].moments[j], "the moment " + name + ",");
      }
    }
  }
  count = count + 1;
}

Optimiser chain(const std::vector<Optimiser>& optimisers) {
  std::vector<Optimiser::Link> links;
  std::set<std::string> taken;
  for (const Optimiser& optimiser : optimisers) {
    for (Optimiser::Link link : *optimiser.links_) {
      for (Moment& moment : link.moments) {
        const std::string name = moment.name;
        for (int i = 2; !taken.insert(moment.name).second; ++i) moment.name = name + "_" + std::to_string(i);
      }
      links.push_back(std::move(link));
    }
  }
  return Optimiser(std::move(links));
}

Optimiser masked(const Optimiser& optimiser, const Mask& mask) {
  std::vector<Optimiser::Link> links = *optimiser.links_;
  for (Optimiser::Link& link : links) link.masks.push_back(mask);
  return Optimiser(std::move(links));
}

void add_updates(const tree::Walk& params, const tree::Walk& updates) {
  require_fitting("apply_updates", params, updates, "updates", 2);
  for (std::size_t i = 0; i < params.leaves.size(); ++i)
    if (is_parameter(*params.leaves[i])) put(*params.leaves[i], *params.leaves[i] + *updates.leaves[i]);
}

}  // namespace ricci::optim
