// Showing a caller's tensors to a function under a transform, and taking its results out again.
#pragma once

#include <optional>

#include "primitive/writing.h"
#include "ricci/error.h"
#include "ricci/transforms/runs.h"

namespace ricci {

/// A cell of the current level that holds `value` and passes writes on through `link`.
Tensor show_argument(ValueRef value, Owned<ArgumentLink> link);
/// A tensor as the argument of the transform of this level, or as a view of it.
struct ShownArgument {
  ShownArgument(const Tensor& leaf, Level level);
  const ArgumentLink* argument = nullptr;      // null: the tensor is neither
  SmallVector<const OperationLink*, 4> views;  // the argument's first
};
/// The caller's tensor that this leaf is as the argument of the transform of this level, or the same view of the
/// caller's tensor; undefined if it is neither. Requires: the transform differentiates. Call it outside the level.
Tensor shown_argument(const Tensor& leaf, Level level);
/// Readers of the view `of_caller` drop the derivatives that those of `leaf`, which it stands for, do.
Tensor cut_like(Tensor of_caller, const Tensor& leaf);

/// The argument of a differentiating transform: the caller's tensor gets the primal of what is written.
struct DifferentiatedArgument final : ArgumentLink {
  DifferentiatedArgument(const Tensor& base_tensor, Level of) {
    base = base_tensor;
    level = of;
  }
  ValueRef base_after(const ValueRef&, const ValueRef& value) const override;
  Tensor part_of_caller(const Interpreter& transform, std::span<const Op> views) const override;
  ValueRef value_of_caller(Interpreter& transform, const ValueRef& value) const override;
};

/// The view of every example, whose rows are along axis 0.
Tensor view_of_rows(Op view, const Tensor& rows, Size size);

/// The argument of vmap, mapped over `axis` of the caller's tensor.
struct MappedArgument final : ArgumentLink {
  std::int64_t axis;
  std::size_t leaf;  // which of the arguments' leaves it is
  MappedArgument(const Tensor& base_tensor, Level of, std::int64_t axis, std::size_t leaf) : axis(axis), leaf(leaf) {
    base = base_tensor;
    level = of;
  }
  ValueRef base_after(const ValueRef& base_value, const ValueRef& value) const override;
  Tensor part_of_caller(const Interpreter& transform, std::span<const Op> views) const override;
  /// With the examples along axis 0.
  ValueRef value_of_caller(Interpreter& transform, const ValueRef& value) const override;
  /// One example of it.
  bool locate(Type& type, Strides& strides, void*& data) const override;
};

/// The arguments as the caller gave them, for a function that runs several times and may write to them: each run finds
/// them as the first did.
class GivenArguments {
 public:
  /// Requires: called before the function runs. `is_shared`: the same leaf goes to every run, not a part to each.
  void note(const Tensor& leaf, bool is_shared = true);
  /// Requires: called outside the transform.
  void restore() const;
  /// Those that go to every run. Requires: called outside the transform, before another run.
  void restore_shared() const;

 private:
  struct Leaf {
    Tensor tensor, before;
    ValueRef root;  // what its root held; none: lent memory
    std::uint64_t version;
    bool is_shared;
    bool is_written() const;
    void restore() const;
  };
  std::vector<Leaf> leaves_;
};

/// `value` without the given level: the primal, or itself.
ValueRef without_level(const ValueRef& value, Level level);

Entry entry_of(const char* name, runs::Place where);

/// A transform's own error: `text (file:line)` and the transforms around it.
template <class E>
[[noreturn]] void raise_own(const std::string& text, runs::Place where);

[[noreturn]] void raise_no_tensor(const char* name, const std::string& found, runs::Place where);
/// Throws unless the tree holds a Tensor, and every one it holds is defined. `root` is what errors call the tree.
void require_tensors(const char* name, const char* root, const tree::Walk& walk, runs::Place where);
/// Throws unless the tree holds a Tensor that is defined; those beside it that are not are nothing.
void require_some_tensor(const char* name, const char* root, const tree::Walk& walk, runs::Place where);
/// Brings views among the leaves up to date while the level that their values belong to is alive.
void refresh(const tree::Walk& walk);
/// Throws unless the tree holds a Tensor, every one is defined, and every element type has derivatives.
void require_differentiable(const char* name, const tree::Walk& output, runs::Place where);
/// The same for a Jacobian, where leaves without derivatives, and undefined ones, may stand beside others: they stay
/// what they are.
void require_some_differentiable(const char* name, const tree::Walk& output, runs::Place where);
/// How a transform was told what to differentiate: argument by argument, or all of its arguments at once.
enum class Chosen : std::uint8_t { by_number, together };
/// Throws TypeError where there is nothing to differentiate: in a tensor, or in a tree that was chosen by number or is
/// all there is, whose tensors are all of integers. A lone tensor of integers goes along like such a tree if its
/// tangent, where there are `tangents`, is undefined. `word` is what errors call an argument.
void require_arguments(const char* name, const char* word, std::span<const tree::Walk> arguments,
                       std::span<const int> differentiated, Chosen chosen, runs::Place where,
                       std::span<const tree::Walk> tangents = {});
/// Throws unless a gradient can be taken of a tensor of this type. `instead` is what serves one of several elements.
void require_loss(const char* name, const Type& type, runs::Place where, const char* instead = "use vjp or jacrev");
/// The function returned no lone tensor where it should have returned a loss.
[[noreturn]] void raise_no_loss(const char* name, const std::string& found, runs::Place where);
/// Throws if a chunk would hold nothing.
void require_chunk_size(const char* name, std::optional<std::int64_t> chunk_size, runs::Place where);
void require_real(const char* name, const char* root, const tree::Walk& walk, runs::Place where, const char* remedy);
/// How errors speak of cotangents that are not like the output, or tangents that are not like the primals.
struct Misfit {
  const char* name;
  const char* what;    // `the cotangent does not fit the output`
  const char* remedy;  // `pass a cotangent like the output`
  runs::Place where;

  template <class E>
  [[noreturn]] void raise(const std::string& finding) const;
};
/// Leaf i of a given tree in the type of its counterpart, `want`, which is nothing where that is undefined. `given` and
/// `like` name the two trees. Throws where shape or element type differ, or where only one is undefined.
Tensor fitted_leaf(const Misfit& misfit, const std::string& given, const std::string& like, const tree::Walk& walk,
                   std::size_t i, const std::optional<Type>& want);
/// `output`, or `output (layers[1].bias)`: where leaf i of a tree is.
std::string path_of(const char* root, const tree::Walk& walk, std::size_t i);

}  // namespace ricci
