// A call of every operation in the index of operations, with operands of the caller's choice. Knows nothing of what a
// test asks of the calls. `NamesOfCalls` says where the index has an operation that is not called.
#pragma once

#include <ricci/ricci.h>

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace testing_support {

namespace rc = ricci;
using rc::Tensor;
using Tensors = std::vector<Tensor>;

/// What a call is made of: as many of the tensors as it takes, and one number for all that is a number.
struct In {
  Tensor a, b, c;
  std::int64_t n;
  double x;
};

inline void append_tensors(Tensors& list, const Tensor& x) { list.push_back(x); }
inline void append_tensors(Tensors& list, const std::vector<Tensor>& more) {
  list.insert(list.end(), more.begin(), more.end());
}
template <class... T>
void append_tensors(Tensors& list, const std::tuple<T...>& parts) {
  std::apply([&](const T&... part) { (append_tensors(list, part), ...); }, parts);
}
template <class A, class B>
void append_tensors(Tensors& list, const std::pair<A, B>& parts) {
  append_tensors(list, parts.first);
  append_tensors(list, parts.second);
}
template <class T>
void append_tensors(Tensors&, const T&) {}  // numbers and texts are no tensors

struct Call {
  template <class F>
  Call(std::string name, F f) : name(std::move(name)) {
    call = [f](const In& in) {
      Tensors results;
      if constexpr (std::is_void_v<std::invoke_result_t<F, const In&>>) f(in);
      else append_tensors(results, f(in));
      return results;
    };
  }
  std::string name;
  std::function<Tensors(const In&)> call;  // the tensors of what it returns
};

/// What a call may write to.
inline Tensor copy(const Tensor& x) { return x.defined() ? x.clone() : x; }

/// Calls of each declaration in include/ricci/ops, which tools/calls_of_operations.py makes, and those that it cannot
/// make: of memory, of lists in braces, and where a text or the form of an operand matters.
inline std::vector<Call> calls() {
  return {
#include "calls_of_operations.inc"
      {"einsum", [](const In& in) { return rc::einsum("ij,jk->ik", in.a, in.b); }},
      {"einsum", [](const In& in) { return rc::einsum("ii,j", in.a, in.b); }},
      {"from_blob",
       [](const In& in) { return rc::from_blob(static_cast<void*>(nullptr), rc::Shape{in.n}, rc::float32); }},
      {"index", [](const In& in) { return rc::index(in.a, {in.n, in.n}); }},
      {"index_put", [](const In& in) { return rc::index_put(in.a, {in.b}, in.c); }},
      {"index_put", [](const In& in) { return rc::index_put(in.a, {in.b, in.n}, in.c, true); }},
      {"index_put", [](const In& in) { return rc::index_put(in.a, {in.n}, in.b); }},
      {"instance_norm", [](const In& in) { return rc::instance_norm(in.a, {}, {}, in.b, in.c, true, in.x, in.x); }},
      {"split", [](const In& in) { return rc::split(in.a, {in.n, 1}, in.n); }},
      {"tensor", [](const In&) { return rc::tensor({{1., 2.}, {3.}}); }},
      {"triplet_margin_with_distance_loss",
       [](const In& in) {
         const auto distance = [](const Tensor&, const Tensor&) { return rc::zeros({}); };
         return rc::triplet_margin_with_distance_loss(in.a, in.b, in.c, distance, {});
       }},
      {"triangular_solve",
       [](const In& in) { return rc::triangular_solve(in.a, in.b, {.upper = false, .transpose = true}); }},
  };
}

}  // namespace testing_support
