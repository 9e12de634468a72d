// The erasure boundary: a walk lists the Tensors of a tree and describes the nodes around them, so that everything past
// it is compiled code. Knows nothing of transforms. Start with `walk`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "ricci/small_vector.h"
#include "ricci/tree/kind.h"

namespace ricci::tree {

enum class NodeKind : std::uint8_t { tensor, value, tuple, list, map, fields, nothing };

/// One node of a tree. A full optional is what it holds; an empty one is `nothing`.
struct Node {
  NodeKind kind;
  std::uint32_t children = 0;
  std::uint32_t first_key = 0;              // map: where in Walk::keys the keys of its children start
  const std::string_view* names = nullptr;  // fields: the names of the children; value: its C++ type
  bool is_ragged = false;                   // fields: no axis of its tensors is one of the whole (ricci/ragged.h)
};

/// A tree seen from compiled code: its Tensors, and its nodes with parents before children, both from left to right.
/// Lives no longer than the tree, and only while no container in it changes size.
struct Walk {
  SmallVector<Tensor*, 4> leaves;
  SmallVector<Node, 4> nodes;
  std::vector<std::string_view> keys;

  void tensor(const Tensor* leaf);
  void value(const std::string_view* type);
  void node(NodeKind kind, std::size_t children, const std::string_view* names = nullptr);
  void key(std::string_view key);  ///< once for each child, between the map's node and its first child
};

/// What two trees must share to be mapped together: nodes, field names and keys, not the types of leaves.
class Structure {
 public:
  Structure() = default;  ///< of no tree
  explicit Structure(const Walk& walk);
  std::size_t hash() const;
  std::size_t leaf_count() const;  ///< Tensors only
  std::string to_string() const;   ///< `{weight: *, bias: *}`
  friend bool operator==(const Structure& left, const Structure& right);

 private:
  SmallVector<Node, 4> nodes_;
  std::vector<std::string> keys_;
};

std::ostream& operator<<(std::ostream& out, const Structure& structure);

/// The tree with the types of its leaves: `(f32[3], {weight: f32[3,4], rate: double})`.
std::string to_string(const Walk& walk);

std::string type_of(const Tensor& leaf);  ///< `f32[3,4]`, or `undefined`

/// A C++ type as its user writes it: `std::string`, not what the standard library calls it.
std::string readable_type(std::string_view name);

/// Where Tensor leaf i is: `layers[0].weight`; empty if it is the whole tree.
std::string leaf_path(const Walk& walk, std::size_t i);

/// Leaf i in a sentence: `layers[0].weight is f32[3,4]`.
std::string described(const Walk& walk, std::size_t i);

/// The same as leaf_path for a tuple of arguments: `argument 1`, or `argument 1 (layers[0].weight)`.
std::string argument_name(const Walk& arguments, std::size_t i);

/// The leaves that belong to a Ragged, whose axes are not to be mapped, stacked or scanned over.
std::vector<std::size_t> leaves_of_ragged(const Walk& walk);

/// The walks of a node's children: of a tuple its parts, of a list its elements. Requires: the tree is such a node.
SmallVector<Walk, 3> parts(const Walk& walk);

bool same_structure(const Walk& left, const Walk& right);

/// Throws ValueError with both trees printed unless tree number `position` has the structure of the first.
void require_same_structure(std::string_view call, const Walk& first, const Walk& other, std::size_t position);

template <class T>
consteval const char* spelling_of_type() {
  return __PRETTY_FUNCTION__;
}

constexpr std::string_view between(std::string_view text, std::string_view before, char after) {
  text.remove_prefix(text.find(before) + before.size());
  return text.substr(0, text.rfind(after));
}

template <class T>
inline constexpr std::string_view type_name = between(spelling_of_type<T>(), "T = ", ']');

template <class S>
consteval bool check_struct() {
  static_assert(std::is_copy_constructible_v<S> && std::is_copy_assignable_v<S>,
                "ricci: a struct that cannot be copied and assigned cannot be a tree: "
                "it has a const, reference or move-only member");
  return std::is_copy_constructible_v<S> && std::is_copy_assignable_v<S>;
}

template <class T>
consteval void check_leaf() {
  static_assert(!hides_tensor<T>,
                "ricci: this type would keep its Tensors from transforms: a tree is a Tensor, std::tuple, pair, array, "
                "vector, optional, map<std::string, T>, an aggregate struct of those, or a class with tree_fields");
  static_assert(std::is_copy_constructible_v<T>, "ricci: a value that passes through a transform must be copyable");
}

void walk_any(const AnyTree& tree, Walk& into);

/// Appends `object` to `into`. The leaves of a const tree are there to be read only.
template <class T>
void walk(T& object, Walk& into) {
  using Plain = std::remove_const_t<T>;
  const auto walk_all = [&into](auto&... parts) { (tree::walk(parts, into), ...); };
  if constexpr (TensorLike<Plain>) {
    into.tensor(&object);
  } else if constexpr (std::is_same_v<Plain, AnyTree>) {
    walk_any(object, into);
  } else if constexpr (is_optional<Plain>) {
    if (object) tree::walk(*object, into);
    else into.node(NodeKind::nothing, 0);
  } else if constexpr (is_tuple<Plain>) {
    into.node(NodeKind::tuple, std::tuple_size_v<Plain>);
    std::apply(walk_all, object);
  } else if constexpr (is_list<Plain>) {
    into.node(NodeKind::list, object.size());
    for (auto& part : object) tree::walk(part, into);
  } else if constexpr (is_map<Plain>) {
    into.node(NodeKind::map, object.size());
    for (const auto& [key, part] : object) into.key(key);
    for (auto& [key, part] : object) tree::walk(part, into);
  } else if constexpr (HasFields<Plain>) {
    const auto fields = Plain::tree_fields(object);
    constexpr std::size_t count = std::tuple_size_v<std::remove_const_t<decltype(fields)>>;
    if constexpr (HasNames<Plain>) into.node(NodeKind::fields, count, Plain::tree_names());
    else into.node(NodeKind::tuple, count);
    std::apply(walk_all, fields);
  } else if constexpr (Struct<Plain>) {
    if constexpr (check_struct<Plain>()) {
      into.node(NodeKind::fields, field_count<Plain>, field_names<Plain>.data());
      if constexpr (requires { typename Plain::is_ragged; }) into.nodes.back().is_ragged = true;
      with_fields(object, walk_all);
    }
  } else {
    check_leaf<Plain>();
    into.value(&type_name<Plain>);
  }
}

}  // namespace ricci::tree
