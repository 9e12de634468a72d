// What the functions given to conditionals and loops must fulfil. Not for users; control.h is written with it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "ricci/tree.h"
#include "ricci/tree/values.h"
#include "ricci/type.h"

namespace ricci::runs {

/// A state or result without its C++ type. Points into that object: valid while it lives and none of its containers
/// changes size.
struct ErasedTree {
  tree::Walk tensors = {};
  tree::Values values = {};  // what is no Tensor
  void* shown = nullptr;     // what errors name places in: the whole, or the part of it that is the user's
  tree::Walk (*walk_shown)(void* shown) = nullptr;
};
/// Requires: `shown` is the object, or a part of it that holds all of its values.
template <class T, class Shown>
ErasedTree erased(T& object, Shown& shown) {
  ErasedTree erased{.values = tree::values(shown), .shown = &shown, .walk_shown = [](void* part) {
                      tree::Walk walk;
                      tree::walk(*static_cast<Shown*>(part), walk);
                      return walk;
                    }};
  tree::walk(object, erased.tensors);
  return erased;
}
template <class T>
ErasedTree erased(T& object) {
  return erased(object, object);
}

/// Throws ValueError unless two branches return one structure.
void require_same_tree(const char* name, const tree::Structure& one, const tree::Structure& other);
/// The same with a Tensor at the same places.
void require_same_tree(const char* name, const tree::Walk& one, const tree::Walk& other);
/// Throws ValueError: one branch returns no value where another returns this.
[[noreturn]] void raise_undefined_in_one(const char* name, const Type& type);
/// Throws ValueError unless the results of two branches have one shape and dtype.
void require_same_type(const char* name, const Type& one, const Type& other);
/// What a branch returns, without its elements.
struct ResultTypes {
  tree::Structure structure;
  std::vector<std::optional<Type>> types;  // one per leaf; none where it is undefined
  explicit ResultTypes(const tree::Walk& result);
};
/// Throws TransformError, which says the finding, the first value that differs, and the reason, unless the values of a
/// tree that are no Tensors are these. Values of a type without == are not compared.
void require_same_values(const char* name, const char* finding, const char* reason, const ErasedTree& tree,
                         const tree::CopiedValues& other);
inline constexpr const char* one_for_all_examples = "such a value is one for all examples";
inline constexpr const char* kept_by_program = "a program keeps one";
/// Throws ValueError unless a branch that was not taken would return what the others did; a number fits a tensor of its
/// kind.
void require_same_results(const char* name, const ResultTypes& taken, const ResultTypes& other);

/// A conditional's place in the user's program, which remembers for which operands and results its branches have been
/// held against each other. Any number of threads may ask.
class CheckedBranches {
 public:
  /// What is remembered; `branches` tells functions of one C++ type apart.
  static std::uint64_t key_of(const tree::Walk& operands, const tree::Walk& result, std::uint64_t branches);
  bool knows(std::uint64_t key) const;
  void remember(std::uint64_t key);

 private:
  std::array<std::atomic<std::uint64_t>, 8> known_ = {};
  std::atomic<unsigned> next_ = 0;
};

/// While it lives, a branch is written down for its result's type alone. Conditionals may stand four deep in such a
/// branch; a deeper one, as in recursion, is not checked.
class TypingOfBranch {
 public:
  TypingOfBranch();
  TypingOfBranch(const TypingOfBranch&) = delete;
  ~TypingOfBranch();
  /// Thrown through the user's functions.
  struct GivenUp {};
  /// While it lives, the branches of a conditional are written down. Throws GivenUp.
  class Inside {
   public:
    Inside();
    Inside(const Inside&) = delete;
    ~Inside();
  };

 private:
  const int saved_;
};

/// Throws ValueError unless a predicate or index of this type has one element.
void require_one_element(const char* name, const Type& type);

/// Throws ValueError unless `after` has the structure, shapes and dtypes of `before`: the state of a loop keeps its
/// type. A number in it takes the dtype that a step gives it, within its kind.
void require_same_state(const char* name, const tree::Walk& before, const tree::Walk& after);
/// Throws ValueError where this many steps are all that a loop may take.
void require_below_limit(const char* name, std::int64_t steps, std::int64_t most);

}  // namespace ricci::runs
