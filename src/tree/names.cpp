// Leaves by name: listing them, and replacing them by tensors that were saved under their names.
#include <algorithm>
#include <set>

#include "primitive/escaped.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/tree_names.h"

namespace ricci::tree {
namespace {

constexpr std::size_t most_listed = 8;

/// `layers[0].weight` as PyTorch spells it: `layers.0.weight`.
std::string torch_name(std::string_view name) {
  std::string spelt;
  for (const char letter : name) {
    if (letter == '"' || letter == ']') continue;
    if (letter != '[') spelt += letter;
    else if (!spelt.empty()) spelt += '.';
  }
  return spelt;
}

std::string listed(const char* what, const std::vector<std::string>& entries) {
  if (entries.empty()) return "";
  std::string text = std::string("; ") + what + ": ";
  for (std::size_t i = 0; i < std::min(entries.size(), most_listed); ++i) text += (i > 0 ? ", " : "") + entries[i];
  if (entries.size() > most_listed) text += ", … " + std::to_string(entries.size() - most_listed) + " more";
  return text;
}

/// The prefix that makes names of `shorter` of all of `longer`; empty if none does.
std::string prefix_of(const std::vector<std::string>& longer, const std::vector<std::string>& shorter) {
  std::set<std::string> known;
  for (const std::string& name : shorter) known.insert(torch_name(name));
  const std::string first = torch_name(longer[0]);
  for (const std::string& name : known) {
    if (!first.ends_with(name)) continue;
    const std::string prefix = first.substr(0, first.size() - name.size());
    const bool fits = std::all_of(longer.begin(), longer.end(), [&](const std::string& other) {
      const std::string spelt = torch_name(other);
      return spelt.starts_with(prefix) && known.contains(spelt.substr(prefix.size()));
    });
    if (fits) return prefix;
  }
  return "";
}

/// What to do where names that are missing and extra ones do not fit.
std::string remedy(const std::vector<std::string>& missing, const std::vector<std::string>& extra) {
  if (!missing.empty() && !extra.empty()) {
    if (const std::string given = prefix_of(extra, missing); !given.empty())
      return "the names given begin with " + given +
             ", those of the tree do not; take it off, or load a tree that has it";
    if (const std::string own = prefix_of(missing, extra); !own.empty())
      return "the names of the tree begin with " + own +
             ", those given do not; put it in front, or load the part below";
  }
  return "pass a tree of the structure that was saved";
}

/// The names, for a call that needs each leaf to have one.
std::vector<std::string> required_names(const char* call, const Walk& walk) {
  std::vector<std::string> names = leaf_names(walk);
  if (names.size() == 1 && names[0].empty())
    raise<ValueError>(std::string(call) +
                      ": the tree is a lone Tensor, which has no name; give it one, for example "
                      "std::map<std::string, Tensor>{{\"x\", x}}");
  return names;
}

}  // namespace

std::map<std::string, Tensor> named_leaves(const Walk& walk) {
  const std::vector<std::string> names = required_names("named_leaves", walk);
  std::map<std::string, Tensor> named;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!walk.leaves[i]->defined()) continue;
    if (!named.emplace(names[i], *walk.leaves[i]).second)
      raise_escaped<ValueError>("named_leaves: two Tensors of the tree are both named " + names[i] +
                                "; rename a key of its map");
  }
  return named;
}

std::vector<std::size_t> sizes_of_empty_lists(const Walk& walk, const std::map<std::string, Tensor>& named) {
  const std::vector<std::string> lists = empty_list_names(walk);
  if (lists.empty()) return {};
  std::set<std::string> known;
  for (const auto& [name, tensor] : named) known.insert(torch_name(name));
  const auto is_there = [&](const std::string& element) {
    const auto below = known.lower_bound(element + ".");
    return known.contains(element) || (below != known.end() && below->starts_with(element + "."));
  };
  std::vector<std::size_t> sizes;
  for (const std::string& list : lists) {
    sizes.push_back(0);
    while (is_there(torch_name(list + "[" + std::to_string(sizes.back()) + "]"))) ++sizes.back();
  }
  return sizes;
}

void load_leaves(const Walk& into, const std::map<std::string, Tensor>& named) {
  const std::vector<std::string> names = required_names("load_leaves", into);
  std::vector<std::string> missing, misshaped, extra;
  std::vector<const Tensor*> found(names.size(), nullptr);
  std::map<std::string_view, bool> used;
  for (const auto& [name, tensor] : named) used.emplace(name, false);

  for (std::size_t i = 0; i < names.size(); ++i) {
    auto at = named.find(names[i]);
    if (at == named.end()) at = named.find(torch_name(names[i]));
    if (at == named.end() || !at->second.defined()) {
      if (into.leaves[i]->defined()) missing.push_back(names[i]);
      continue;
    }
    used[at->first] = true;
    found[i] = &at->second;
    const Tensor& leaf = *into.leaves[i];
    if (!leaf.defined()) continue;
    if (leaf.shape() != at->second.shape())
      misshaped.push_back(described(into, i) + ", given is " + type_of(at->second));
    else if (category(at->second.dtype()) > category(leaf.dtype()))
      raise_escaped<TypeError>("load_leaves: " + described(into, i) + ", given is " + type_of(at->second) +
                               ", which it cannot hold; convert one of them first");
  }
  for (const auto& [name, is_used] : used)
    if (!is_used && named.at(std::string(name)).defined()) extra.emplace_back(name);

  if (!missing.empty() || !misshaped.empty() || !extra.empty()) {
    raise_escaped<ValueError>("load_leaves: the named tensors do not fit the tree" + listed("missing", missing) +
                              listed("of another shape", misshaped) + listed("in no place of the tree", extra) + "; " +
                              (misshaped.empty() ? remedy(missing, extra) : remedy({}, {})));
  }
  std::vector<Tensor> converted(names.size());  // all of them first: an error leaves the tree as it was
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!found[i]) converted[i] = *into.leaves[i];
    else converted[i] = into.leaves[i]->defined() ? to(*found[i], into.leaves[i]->dtype()) : *found[i];
  }
  for (std::size_t i = 0; i < names.size(); ++i) *into.leaves[i] = converted[i];
}

}  // namespace ricci::tree
