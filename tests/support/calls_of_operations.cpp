// The calls of operations, compiled once for the tests that make them.
#include "support/calls_of_operations.h"

#include <tuple>
#include <utility>

namespace testing_support {
namespace {

namespace rc = ricci;
using rc::Tensor;

/// `into(list), f()` appends the tensors of what f returns. Where f returns nothing, the comma is the language's own.
struct To {
  Tensors& list;
};
To into(Tensors& list) { return {list}; }
void operator,(To to, const Tensor& x) { to.list.push_back(x); }
void operator,(To to, const Tensors& more) { to.list.insert(to.list.end(), more.begin(), more.end()); }
template <class... T>
void operator,(To to, const std::tuple<T...>& parts) {
  std::apply([&](const T&... part) { ((to, part), ...); }, parts);
}
template <class A, class B>
void operator,(To to, const std::pair<A, B>& parts) {
  to, parts.first;
  to, parts.second;
}
template <class T>
void operator,(To, const T&) {}  // numbers and texts are no tensors

/// What a call may write to.
Tensor copy(const Tensor& x) { return x.defined() ? x.clone() : x; }

const Call all_calls[] = {
#include "calls_of_operations.inc"
    {"einsum", [](const In& in, Tensors& list) { into(list), rc::einsum("ij,jk->ik", in.a, in.b); }},
    {"einsum", [](const In& in, Tensors& list) { into(list), rc::einsum("ii,j", in.a, in.b); }},
    {"from_blob",
     [](const In& in, Tensors& list) {
       into(list), rc::from_blob(static_cast<void*>(nullptr), rc::Shape{in.n}, rc::float32);
     }},
    {"index", [](const In& in, Tensors& list) { into(list), rc::index(in.a, {in.n, in.n}); }},
    {"index_put", [](const In& in, Tensors& list) { into(list), rc::index_put(in.a, {in.b}, in.c); }},
    {"index_put", [](const In& in, Tensors& list) { into(list), rc::index_put(in.a, {in.b, in.n}, in.c, true); }},
    {"index_put", [](const In& in, Tensors& list) { into(list), rc::index_put(in.a, {in.n}, in.b); }},
    {"instance_norm",
     [](const In& in, Tensors& list) { into(list), rc::instance_norm(in.a, {}, {}, in.b, in.c, true, in.x, in.x); }},
    {"split", [](const In& in, Tensors& list) { into(list), rc::split(in.a, {in.n, 1}, in.n); }},
    {"tensor", [](const In&, Tensors& list) { into(list), rc::tensor({{1., 2.}, {3.}}); }},
    {"triplet_margin_with_distance_loss",
     [](const In& in, Tensors& list) {
       const auto distance = [](const Tensor&, const Tensor&) { return rc::zeros({}); };
       into(list), rc::triplet_margin_with_distance_loss(in.a, in.b, in.c, distance, {});
     }},
    {"triangular_solve",
     [](const In& in, Tensors& list) {
       into(list), rc::triangular_solve(in.a, in.b, {.upper = false, .transpose = true});
     }},
};

}  // namespace

std::span<const Call> calls() { return all_calls; }

}  // namespace testing_support
