// Trees of Python's containers as one C++ type, `Tree`: transforms and control flow take it like any other tree, since
// ricci::tree::walk is told here how to walk it. Its tensors are taken out; the containers are described by a Structure
// that all copies share. Start with `tree_of` and `rebuild`.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "object.h"
#include "ricci/dims.h"
#include "ricci/tree.h"
#include "ricci/tree/values.h"

namespace ricci::python {

struct TypeInfo;  // tree.cpp

/// One node; children follow their parent. A dict's children stand in the order of its keys.
struct TreeNode {
  enum class Kind : std::uint8_t {
    tensor,
    value,
    none,
    tuple,
    list,
    dict,
    key,
    made
  };  // made: of a class, by TypeInfo
  Kind kind;
  std::uint32_t children = 0;
  const TypeInfo* type = nullptr;  // value: for its name; dict and made: how it is made
  Held keys = {};  // dict: its keys in their own order; registered: what the class keeps beside; else the class
  std::vector<std::uint32_t> order = {};     // dict: places among the keys, where these are not in order
  std::vector<std::string_view> names = {};  // dict: the keys in order, as texts
};

struct Structure {
  std::vector<TreeNode> nodes;
  bool operator==(const Structure& other) const;
};

struct Tree {
  std::vector<Tensor> leaves;
  std::vector<Held> values;  // what is neither a Tensor nor a container
  std::shared_ptr<const Structure> structure;

  static auto tree_fields(auto& self) { return std::tie(self.leaves); }  // says that it holds Tensors
};

/// The tree of an object. With `like`, None stands for undefined Tensors, for all that `like` has in its place.
/// `objects` gets the Python objects of the leaves, which live as long as the object.
Tree tree_of(nb::handle object, const Structure* like = nullptr, std::vector<PyObject*>* objects = nullptr);
/// The tree with 0-dim Tensors in place of its numbers, 1 as 1.0. Booleans stay.
Tree with_numbers_as_tensors(const Tree& tree);
/// The same of the start of a solver, a sampler or an integrator. TypeError if it has no unknowns
/// (ricci/tree/unknowns.h); `name`: of the call, for the error.
Tree unknowns_of(const char* name, const Tree& tree);
/// The object again, of the tree's tensors. A leaf that is the same tensor as one of `known` is that Python object.
nb::object rebuild(const Tree& tree, std::span<PyObject* const> known = {});
/// The same with `leaf(i)` in place of Tensor i.
nb::object rebuild_with(const Tree& tree, const std::function<nb::object(std::size_t)>& leaf);
/// The tree whose parts are these, a tuple; and the parts of a tree that is a tuple.
Tree joined(std::span<const Tree> parts);
std::vector<Tree> parts_of(const Tree& tuple);

/// in_dims and out_dims: None, an int, or containers of those. `name` is what errors call them.
Dims dims_from(nb::handle o, const char* name);
nb::object dims_to(const Dims& dims);
/// Whether they hold a dict; such dims must have the keys of the tree that they are for, ValueError else.
bool has_dict(nb::handle dims);
void require_keys(nb::handle dims, const Structure& tree, const char* name);

void make_trees(nb::module_& m);

/// How Python's values are kept, compared and restored.
extern const tree::ValueType held_value;

}  // namespace ricci::python

namespace ricci::tree {
template <>
void walk(python::Tree& tree, Walk& into);
template <>
void walk(const python::Tree& tree, Walk& into);
template <>
void list_values(python::Tree& tree, Values& into);
template <>
void list_values(const python::Tree& tree, Values& into);
}  // namespace ricci::tree
