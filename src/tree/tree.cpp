// Walks and structures of trees: listing, comparing, printing, naming leaves. Knows no C++ type of a tree and no
// transform.
#include "ricci/tree.h"

#include <algorithm>
#include <ostream>
#include <span>

#include "ricci/primitive/raise.h"
#include "ricci/tree/values.h"
#include "ricci/tree_names.h"
#include "ricci/type.h"

namespace ricci::tree {
namespace {

constexpr std::size_t longest_printed_list = 8;

std::string replaced(std::string text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
  return text;
}

/// The nodes and keys of a Walk or a Structure; without leaves, Tensors are printed as `*`.
template <class Keys>
class Printer {
 public:
  Printer(std::span<const Node> nodes, const Keys& keys, const SmallVector<Tensor*, 4>* leaves)
      : nodes_(nodes), keys_(keys), leaves_(leaves) {}

  std::string print() {
    if (nodes_.empty()) return "nothing";
    print_node();
    return std::move(out_);
  }

 private:
  void print_node() {
    const Node& node = nodes_[at_++];
    switch (node.kind) {
      case NodeKind::tensor: return print_leaf();
      case NodeKind::value: out_ += readable_type(*node.names); return;
      case NodeKind::nothing: out_ += "none"; return;
      case NodeKind::tuple: return print_children(node, "(", ")");
      case NodeKind::list: return print_children(node, "[", "]");
      case NodeKind::map:
      case NodeKind::fields: return print_children(node, "{", "}");
    }
  }

  void print_leaf() {
    out_ += leaves_ ? type_of(*(*leaves_)[leaf_]) : "*";
    ++leaf_;
  }

  void print_children(const Node& node, const char* open, const char* close) {
    out_ += open;
    for (std::size_t i = 0; i < node.children; ++i) {
      if (node.kind == NodeKind::list && i == longest_printed_list) {
        out_ += ", … " + std::to_string(node.children - i) + " more";
        return skip_children(node.children - i, close);
      }
      if (i > 0) out_ += ", ";
      print_label(node, i);
      print_node();
    }
    out_ += close;
  }

  void print_label(const Node& node, std::size_t child) {
    if (node.kind == NodeKind::fields && !node.names[child].empty()) out_.append(node.names[child]) += ": ";
    if (node.kind == NodeKind::map) ((out_ += '"') += keys_[node.first_key + child]) += "\": ";
  }

  void skip_children(std::size_t count, const char* close) {
    const std::string printed = out_;
    while (count-- > 0) print_node();
    out_ = printed + close;
  }

  std::span<const Node> nodes_;
  const Keys& keys_;
  const SmallVector<Tensor*, 4>* leaves_;
  std::string out_;
  std::size_t at_ = 0, leaf_ = 0;
};

/// The step from a node to one of its children: `.weight`, `[2]`, `["key"]`.
std::string step_to(const Walk& walk, const Node& node, std::size_t child) {
  if (node.kind == NodeKind::map) return "[\"" + std::string(walk.keys[node.first_key + child]) + "\"]";
  const bool named = node.kind == NodeKind::fields && !node.names[child].empty();
  return named ? "." + std::string(node.names[child]) : "[" + std::to_string(child) + "]";
}

/// The first node from `at` on, in its subtree, of which `is_wanted` holds, with the steps that lead to it in reverse.
/// Leaves `at` behind the subtree if there is none.
template <class Wanted>
bool find_node(const Walk& walk, std::size_t& at, Wanted& is_wanted, std::vector<std::string>& steps) {
  const Node& node = walk.nodes[at++];
  if (is_wanted(node)) return true;
  for (std::size_t i = 0; i < node.children; ++i) {
    if (!find_node(walk, at, is_wanted, steps)) continue;
    steps.push_back(step_to(walk, node, i));
    return true;
  }
  return false;
}

/// The steps from the root to the first wanted node, and that node; null if there is none.
template <class Wanted>
const Node* find_node(const Walk& walk, Wanted is_wanted, std::vector<std::string>& steps) {
  std::size_t at = 0;
  if (walk.nodes.empty() || !find_node(walk, at, is_wanted, steps)) return nullptr;
  std::reverse(steps.begin(), steps.end());
  return &walk.nodes[at - 1];
}

std::vector<std::string> steps_to_leaf(const Walk& walk, std::size_t i) {
  std::vector<std::string> steps;
  find_node(walk, [&i](const Node& node) { return node.kind == NodeKind::tensor && i-- == 0; }, steps);
  return steps;
}

std::string join_steps(const std::vector<std::string>& steps, std::size_t first) {
  std::string path;
  for (std::size_t i = first; i < steps.size(); ++i) path += steps[i];
  return path.starts_with('.') ? path.substr(1) : path;
}

template <class LeftKeys, class RightKeys>
bool same_nodes(std::span<const Node> left, const LeftKeys& left_keys, std::span<const Node> right,
                const RightKeys& right_keys) {
  const auto same = [](const Node& a, const Node& b) {
    if (a.kind != b.kind || a.children != b.children) return false;
    return a.kind != NodeKind::fields || a.names == b.names || std::equal(a.names, a.names + a.children, b.names);
  };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), same) &&
         std::equal(left_keys.begin(), left_keys.end(), right_keys.begin(), right_keys.end());
}

std::size_t mixed(std::size_t hash, std::size_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15U + (hash >> 29); }

}  // namespace

std::string readable_type(std::string_view name) {
  std::string text = std::string(name);
  for (const char* noise : {"__cxx11::", "{anonymous}::", "(anonymous namespace)::"}) text = replaced(text, noise, "");
  text = replaced(std::move(text), "basic_string<char>", "string");
  return replaced(replaced(std::move(text), "long long int", "long long"), "long int", "long");
}

void Walk::tensor(const Tensor* leaf) {
  leaves.push_back(const_cast<Tensor*>(leaf));
  nodes.push_back({NodeKind::tensor});
}

void Walk::value(const std::string_view* type) { nodes.push_back({NodeKind::value, 0, 0, type}); }

void Walk::node(NodeKind kind, std::size_t children, const std::string_view* names) {
  nodes.push_back({kind, static_cast<std::uint32_t>(children), static_cast<std::uint32_t>(keys.size()), names});
}

void Walk::key(std::string_view key) { keys.push_back(key); }

Structure::Structure(const Walk& walk) : nodes_(walk.nodes), keys_(walk.keys.begin(), walk.keys.end()) {}

std::size_t Structure::hash() const {
  std::size_t hash = nodes_.size();
  for (const Node& node : nodes_) hash = mixed(mixed(hash, static_cast<std::size_t>(node.kind)), node.children);
  for (const std::string& key : keys_) hash = mixed(hash, std::hash<std::string>()(key));
  return hash;
}

std::size_t Structure::leaf_count() const {
  const auto is_tensor = [](const Node& node) { return node.kind == NodeKind::tensor; };
  return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), is_tensor));
}

std::string Structure::to_string() const { return Printer(nodes_, keys_, nullptr).print(); }

bool operator==(const Structure& left, const Structure& right) {
  return same_nodes(left.nodes_, left.keys_, right.nodes_, right.keys_);
}

std::ostream& operator<<(std::ostream& out, const Structure& structure) { return out << structure.to_string(); }

std::string to_string(const Walk& walk) { return Printer(walk.nodes, walk.keys, &walk.leaves).print(); }

std::string type_of(const Tensor& leaf) {
  return leaf.defined() ? to_string(Type{leaf.dtype(), leaf.shape()}) : "undefined";
}

namespace {

/// The names of the nodes that are wanted.
template <class Wanted>
std::vector<std::string> names_of(const Walk& walk, Wanted is_wanted) {
  struct Open {  // a node whose children are being named
    const Node* node;
    std::size_t child;
    std::string path;
  };
  std::vector<std::string> names;
  std::vector<Open> open;
  for (const Node& node : walk.nodes) {
    std::string path;
    if (!open.empty()) path = open.back().path + step_to(walk, *open.back().node, open.back().child++);
    if (is_wanted(node)) names.push_back(path.starts_with('.') ? path.substr(1) : path);
    if (node.children > 0) open.push_back({&node, 0, std::move(path)});
    while (!open.empty() && open.back().child == open.back().node->children) open.pop_back();
  }
  return names;
}

}  // namespace

std::vector<std::string> leaf_names(const Walk& walk) {
  return names_of(walk, [](const Node& node) { return node.kind == NodeKind::tensor; });
}

std::vector<std::string> empty_list_names(const Walk& walk) {
  return names_of(walk, [](const Node& node) { return node.kind == NodeKind::list && node.children == 0; });
}

std::string leaf_path(const Walk& walk, std::size_t i) { return join_steps(steps_to_leaf(walk, i), 0); }

std::string described(const Walk& walk, std::size_t i) {
  const std::string path = leaf_path(walk, i);
  return (path.empty() ? "the tree" : path) + " is " + type_of(*walk.leaves[i]);
}

std::string argument_name(const Walk& arguments, std::size_t i) {
  const std::vector<std::string> steps = steps_to_leaf(arguments, i);
  if (steps.empty()) return "argument 0";
  const std::string& first = steps.front();  // `[1]`
  const std::string argument = "argument " + first.substr(1, first.size() - 2);
  return steps.size() == 1 ? argument : argument + " (" + join_steps(steps, 1) + ")";
}

std::vector<std::size_t> leaves_of_ragged(const Walk& walk) {
  std::vector<std::size_t> leaves;
  std::size_t leaf = 0;
  for (std::size_t i = 0; i < walk.nodes.size(); ++i) {
    leaf += walk.nodes[i].kind == NodeKind::tensor;
    if (walk.nodes[i].is_ragged) leaves.insert(leaves.end(), {leaf, leaf + 1});
  }
  return leaves;
}

std::string described_value(const Walk& walk, std::size_t i) {
  std::vector<std::string> steps;
  const Node* node = find_node(walk, [&i](const Node& n) { return n.kind == NodeKind::value && i-- == 0; }, steps);
  const std::string path = join_steps(steps, 0);
  return (path.empty() ? "it" : path) + " is of type " + readable_type(*node->names);
}

SmallVector<Walk, 3> parts(const Walk& walk) {
  SmallVector<Walk, 3> parts;
  std::size_t node = 1, leaf = 0, keys = walk.nodes[0].kind == NodeKind::map ? walk.nodes[0].children : 0;
  for (std::uint32_t k = 0; k < walk.nodes[0].children; ++k) {
    parts.push_back(Walk());
    Walk& part = parts.back();
    const std::size_t first_key = keys;
    for (std::size_t open = 1; open > 0; --open) {
      Node next = walk.nodes[node++];
      open += next.children;
      if (next.kind == NodeKind::tensor) part.leaves.push_back(walk.leaves[leaf++]);
      if (next.children > 0) next.first_key -= static_cast<std::uint32_t>(first_key);
      if (next.kind == NodeKind::map) keys += next.children;
      part.nodes.push_back(next);
    }
    part.keys.assign(walk.keys.begin() + static_cast<std::ptrdiff_t>(first_key),
                     walk.keys.begin() + static_cast<std::ptrdiff_t>(keys));
  }
  return parts;
}

bool same_structure(const Walk& left, const Walk& right) {
  return same_nodes(left.nodes, left.keys, right.nodes, right.keys);
}

void require_same_structure(std::string_view call, const Walk& first, const Walk& other, std::size_t position) {
  if (same_structure(first, other)) return;
  raise<ValueError>(std::string(call) + ": the trees have different structures: the first is " + to_string(first) +
                    ", number " + std::to_string(position) + " is " + to_string(other) +
                    "; pass trees of one structure");
}

std::vector<Tensor> copy_leaves(const Walk& walk) {
  std::vector<Tensor> copies;
  copies.reserve(walk.leaves.size());
  for (const Tensor* leaf : walk.leaves) copies.push_back(*leaf);
  return copies;
}

}  // namespace ricci::tree
