// Transforms of functions from a list of tensors to a list of tensors: the form in which every operation can be put
// under every transform. Compiled once, for all laws.
#pragma once

#include <ricci/ricci.h>

#include <functional>
#include <vector>

namespace laws {

using ricci::Dim;
using ricci::Tensor;
using List = std::vector<Tensor>;
using Function = std::function<List(const List&)>;

/// Where each tensor of a list is mapped.
using Mapped = std::vector<Dim>;

List tangents(const Function& f, const List& x, const List& t);
List cotangents(const Function& f, const List& x, const List& ct);
List mapped(const Function& f, const List& x, const Mapped& in_dims, Dim out_dim = 0);

/// x and t in one list to f's tangents.
Function pushforward(Function f);
/// x and cotangents of f(x) in one list to the cotangents of x; x is the first `inputs` of them.
Function pullback(Function f, std::size_t inputs);

List joined(const List& a, const List& b);

}  // namespace laws
