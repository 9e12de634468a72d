// Trees and functions of trees whose C++ types are gone.
#include "ricci/tree/any.h"

namespace ricci::tree {

AnyTree::AnyTree(const AnyTree& other)
    : tensor_(other.tensor_),
      is_tensor_(other.is_tensor_),
      tree_(other.tree_ ? other.type_->copy(other.tree_) : nullptr),
      type_(other.type_) {}

AnyTree::AnyTree(AnyTree&& other) noexcept
    : tensor_(std::move(other.tensor_)),
      is_tensor_(other.is_tensor_),
      tree_(std::exchange(other.tree_, nullptr)),
      type_(other.type_) {}

AnyTree::~AnyTree() {
  if (tree_) type_->destroy(tree_);
}

AnyTree& AnyTree::operator=(AnyTree other) noexcept {
  std::swap(tensor_, other.tensor_);
  std::swap(is_tensor_, other.is_tensor_);
  std::swap(tree_, other.tree_);
  std::swap(type_, other.type_);
  return *this;
}

void AnyTree::walk(Walk& into) const {
  if (is_tensor_) into.tensor(&tensor_);
  else if (tree_) type_->walk(tree_, into);
}

void AnyTree::list_values(Values& into) const {
  if (tree_) type_->list_values(tree_, into);
}

Arguments::Arguments() = default;
Arguments::Arguments(const Arguments& other) = default;
Arguments::Arguments(Arguments&& other) noexcept = default;
Arguments& Arguments::operator=(const Arguments& other) = default;
Arguments& Arguments::operator=(Arguments&& other) noexcept = default;
Arguments::~Arguments() = default;
void Arguments::push_back(AnyTree tree) { SmallVector::push_back(std::move(tree)); }

Walk walk_of(const Arguments& arguments) {
  Walk walk;
  walk.node(NodeKind::tuple, arguments.size());
  for (const AnyTree& argument : arguments) argument.walk(walk);
  return walk;
}

Walks walks_of(const Arguments& arguments) {
  Walks walks;
  walks.reserve(arguments.size());
  for (const AnyTree& argument : arguments) {
    walks.push_back(Walk());
    argument.walk(walks.back());
  }
  return walks;
}

Values values_of(const Arguments& arguments) {
  Values values;
  for (const AnyTree& argument : arguments) argument.list_values(values);
  return values;
}

void walk_any(const AnyTree& tree, Walk& into) { tree.walk(into); }
void list_values_of_any(const AnyTree& tree, Values& into) { tree.list_values(into); }

AnyFunction::AnyFunction(const AnyFunction& other) : f_(other.f_), type_(other.type_), owner_(other.owner_) {
  if (owner_) owner_->owners.add();
}

AnyFunction::AnyFunction(AnyFunction&& other) noexcept
    : f_(other.f_), type_(other.type_), owner_(std::exchange(other.owner_, nullptr)) {}

AnyFunction::~AnyFunction() {
  if (owner_ && owner_->owners.drop()) type_->destroy(owner_);
}

AnyTree AnyFunction::operator()(Arguments& arguments) const {
  AnyTree second;
  return type_->call(f_, arguments.data(), second);
}

AnyTree AnyFunction::operator()(Arguments&& arguments) const { return (*this)(arguments); }

AnyPair AnyFunction::both(Arguments& arguments) const {
  AnyPair both;
  both.first = type_->call(f_, arguments.data(), both.second);
  return both;
}

AnyPair AnyFunction::both(Arguments&& arguments) const { return both(arguments); }

AnyFunction AnyFunction::kept() const {
  AnyFunction kept = *this;
  if (!owner_ && type_->keep) kept.owner_ = type_->keep(f_, kept.f_);
  return kept;
}

}  // namespace ricci::tree
