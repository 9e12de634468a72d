// Trees taken apart and put together, and what they must have in common.
#include "ode/state.h"

#include <string>

#include "primitive/interpreter.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/ravel.h"
#include "ricci/transforms.h"

namespace ricci::ode {
namespace {

/// Throws unless the leaf of what f gave is a derivative of the state's, in a dtype that `dtype` holds.
void require_derivative(const char* call, const tree::Walk& state, std::size_t i, const Tensor& slope, DType dtype) {
  if (!slope.defined() || slope.shape() != state.leaves[i]->shape())
    raise<ValueError>(std::string(call) + ": " + tree::described(state, i) + " in the state, " + tree::type_of(slope) +
                      " in what f gives; the shapes must agree");
  const bool is_real_number = type_of(slope).weak && !is_complex(slope.dtype());
  if (!is_real_number && promote(slope.dtype(), dtype) != dtype)
    raise<TypeError>(std::string(call) + ": " + tree::described(state, i) + " in the state, " + tree::type_of(slope) +
                     " in what f gives; convert the state to that dtype, or what f computes with to the state's");
}

}  // namespace

tree::AnyTree rows_as_trees(const Tensor& rows, const tree::AnyTree& like) {
  if (call::walk(like).leaves.empty()) return like;
  return vmap(Unravel<tree::AnyTree>{like})(rows);
}

Tensor slope_vector(const char* call, const tree::AnyTree& slope, const tree::AnyTree& like, DType dtype) {
  tree::AnyTree result = like;
  const tree::Walk state = call::walk(like), given = call::walk(slope), into = call::walk(result);
  if (!tree::same_structure(state, given))
    raise<ValueError>(std::string(call) + ": the state is " + tree::to_string(state) + ", f gives " +
                      tree::to_string(given) + "; f must give a tree like the state, its derivative by time");
  for (std::size_t i = 0; i < into.leaves.size(); ++i) {
    if (!into.leaves[i]->defined() || !is_differentiable(into.leaves[i]->dtype())) continue;
    require_derivative(call, state, i, *given.leaves[i], dtype);
    *into.leaves[i] = to(*given.leaves[i], dtype);
  }
  return to(tree::ravel(into), dtype);
}

Tensor times_of(const char* call, const Tensor& save_at) {
  if (!save_at.defined()) return save_at;
  if (save_at.dim() != 1)
    raise<ValueError>(std::string(call) + ": save_at is " + tree::type_of(save_at) + "; give a vector of times");
  return is_floating(save_at.dtype()) ? save_at : to(save_at, float64);
}

}  // namespace ricci::ode
