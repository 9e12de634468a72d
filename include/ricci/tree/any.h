// Trees and functions of trees whose C++ types are gone. A call site packs its trees and its function; transforms,
// loops and branches are compiled once, in the library, and see nothing else. Start with `AnyTree` and `AnyFunction`.
#pragma once

#include <type_traits>
#include <utility>

#include "ricci/ref_count.h"
#include "ricci/small_vector.h"
#include "ricci/tree/values.h"
#include "ricci/tree/walk.h"

namespace ricci::tree {

/// What can be done with a tree of a C++ type that only a call site knows.
struct TreeType {
  void* (*copy)(const void* tree);
  void (*destroy)(void* tree);
  void (*walk)(void* tree, Walk& into);
  void (*list_values)(void* tree, Values& into);
};

template <class T>
inline constexpr TreeType tree_type = {
    .copy = [](const void* tree) -> void* { return new T(*static_cast<const T*>(tree)); },
    .destroy = [](void* tree) { delete static_cast<T*>(tree); },
    .walk = [](void* tree, Walk& into) { tree::walk(*static_cast<T*>(tree), into); },
    .list_values = [](void* tree, Values& into) { tree::list_values(*static_cast<T*>(tree), into); },
};

/// A tree, owned. A tree itself: it is walked as what it holds. Copies hold copies, whose Tensors are the same handles.
class AnyTree {
 public:
  AnyTree() = default;  ///< of nothing, which has no node
  explicit AnyTree(Tensor tensor) : tensor_(std::move(tensor)), is_tensor_(true) {}
  /// Takes over `tree`, made with `new`.
  AnyTree(void* tree, const TreeType& type) : tree_(tree), type_(&type) {}
  AnyTree(const AnyTree& other);
  AnyTree(AnyTree&& other) noexcept;
  AnyTree& operator=(AnyTree other) noexcept;
  ~AnyTree();

  explicit operator bool() const { return is_tensor_ || tree_; }
  /// Requires: it was made of a T.
  template <class T>
  T& as() {
    if constexpr (std::is_same_v<T, AnyTree>) return *this;
    else if constexpr (std::is_same_v<T, Tensor>) return tensor_;
    else return *static_cast<T*>(tree_);
  }
  template <class T>
  const T& as() const {
    return const_cast<AnyTree*>(this)->as<T>();
  }
  template <class T>
  T take() && {
    return std::move(as<T>());
  }
  void walk(Walk& into) const;
  void list_values(Values& into) const;

 private:
  Tensor tensor_;  // a lone Tensor needs no memory of its own
  bool is_tensor_ = false;
  void* tree_ = nullptr;
  const TreeType* type_ = nullptr;
};

/// `tree` without its type; of an AnyTree, that.
template <class T>
AnyTree any(T tree) {
  if constexpr (std::is_same_v<T, AnyTree>) return tree;
  else if constexpr (std::is_same_v<T, Tensor>) return AnyTree(std::move(tree));
  else return AnyTree(new T(std::move(tree)), tree_type<T>);
}

/// The arguments of a function. What a list of them does is compiled once, as every call makes one.
class Arguments : public SmallVector<AnyTree, 3> {
 public:
  Arguments();
  Arguments(const Arguments& other);
  Arguments(Arguments&& other) noexcept;
  Arguments& operator=(const Arguments& other);
  Arguments& operator=(Arguments&& other) noexcept;
  ~Arguments();
  void push_back(AnyTree tree);
};
using Walks = SmallVector<Walk, 3>;
/// As a tuple.
Walk walk_of(const Arguments& arguments);
Walks walks_of(const Arguments& arguments);
Values values_of(const Arguments& arguments);

/// What a function gives that returns two things which compiled code sees apart.
using AnyPair = std::pair<AnyTree, AnyTree>;

/// A copy of a function, shared by those who keep it.
struct KeptFunction {
  RefCount owners = {};
};

/// What can be done with a function of a C++ type that only a call site knows.
struct FunctionType {
  /// Gives what f returns, or, of two things, the first, and `second` gets the other. May move from the arguments.
  AnyTree (*call)(const void* f, AnyTree* arguments, AnyTree& second);
  KeptFunction* (*keep)(const void* f, const void*& copy) = nullptr;  ///< null of what is no object
  void (*destroy)(KeptFunction* f) = nullptr;
};

/// A function of trees. It refers to the function that it was made of, which must outlive it, unless it is `kept`.
class AnyFunction {
 public:
  AnyFunction(const void* f, const FunctionType& type) : f_(f), type_(&type) {}
  AnyFunction(const AnyFunction& other);
  AnyFunction(AnyFunction&& other) noexcept;
  AnyFunction& operator=(const AnyFunction&) = delete;
  ~AnyFunction();
  /// May move from the arguments.
  AnyTree operator()(Arguments& arguments) const;
  AnyTree operator()(Arguments&& arguments) const;
  /// Of a function that gives two things.
  AnyPair both(Arguments& arguments) const;
  AnyPair both(Arguments&& arguments) const;
  /// A function of a copy. Requires: it was made by `call::kept_function`.
  AnyFunction kept() const;

 private:
  const void* f_;
  const FunctionType* type_;
  KeptFunction* owner_ = nullptr;
};

}  // namespace ricci::tree
