// One call of a transformed function, without C++ types: what vmap, grad and the others do. Not for users;
// transforms.h is written with it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ricci/transforms/runs.h"
#include "ricci/tree/any.h"

namespace ricci::runs {

using tree::AnyFunction, tree::AnyTree, tree::Arguments;

/// What is called, and what errors say of the call. A function that has aux gives it apart.
struct Call {
  const AnyFunction& f;
  const char* name;
  Place where;
  bool has_aux = false;
};

/// A result in its parts; aux is of nothing where the function has none.
struct Result {
  AnyTree out, aux;
};

/// Runs f for every chunk and group of examples, each on arguments of its own; gives the first run's result.
AnyTree run_examples(BatchRun& run, const AnyFunction& f, const Arguments& given, Arguments& shown);
AnyTree vmap(const AnyFunction& f, const Arguments& given, const VmapOptions& options, Place where);
/// The first run's result, and the values and offsets of each leaf of all of them.
std::pair<AnyTree, std::vector<Tensor>> ragged_vmap(const AnyFunction& f, const Arguments& given,
                                                    const VmapOptions& options, Place where);

/// The arguments at these positions.
Arguments those(std::span<const int> chosen, const Arguments& arguments);

struct Gradients {
  Arguments of_chosen;
  Result result;
};
/// `chosen` are positions among the arguments. `is_tensor` says whether the type of the loss already is Tensor.
Gradients grad(const Call& called, Arguments arguments, std::span<const int> chosen, bool is_tensor);

struct Rows {
  Result result;
  std::vector<Tensor> rows;  // for each leaf of the output, one for each leaf of the chosen arguments
};
/// Whether a Jacobian is taken by reverse mode, and whether the nest that errors print shows it.
struct JacobianKind {
  bool reverse, shown;
};
Rows jacobian(const Call& called, JacobianKind kind, const Arguments& given, std::span<const int> chosen,
              const JacobianOptions& options);

/// A pullback: what it recorded, and the trees that cotangents are held against and that gradients are written into.
struct AnyPullback {
  Recording recording;
  AnyTree output;
  Arguments primals;

  Arguments operator()(const AnyTree& cotangent) const;
};
struct Pulled {
  Result result;
  AnyPullback pullback;
};
Pulled vjp(const Call& called, Arguments primals);

struct Derivative {
  Result result;
  AnyTree tangent;
};
Derivative jvp(const Call& called, Arguments primals, const Arguments& tangents, bool is_strict);

/// The derivative at a point, of a function that gave `output` there.
struct AnyLinearMap {
  Linearized linearized;
  AnyTree output;

  AnyTree operator()(const Arguments& tangents) const;
};
AnyLinearMap linearize(const Call& called, Arguments primals);

/// The value of f, then its derivatives along a curve: at x, with the coefficients of each order.
std::vector<AnyTree> jet(const AnyFunction& f, const Arguments& x, std::span<const Arguments> coefficients,
                         Place where);

Program trace(const AnyFunction& f, Arguments arguments, Place where);

}  // namespace ricci::runs
