// Long tapes: a million recorded steps of one number, and the gradient of a loop that keeps every state of 4,000 steps,
// beside the loop itself and the same with few states kept.
#include "cases.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

Tensor steps(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 1000000; ++i) y = y * 1.0000001;
  return y;
}

Tensor next_state(const Tensor&, const Tensor& state) { return sin(state) * 1.1 + state * 0.3; }

Tensor loop(const Tensor& x) { return rc::fori_loop(0, 4000, next_state, x).sum(); }

Tensor loop_of_few_states(const Tensor& x) {
  return rc::fori_loop(0, 4000, next_state, x, rc::LoopOptions{.checkpoint = rc::Checkpoints::sqrt}).sum();
}

}  // namespace

std::vector<bench::Case> bench::long_tapes() {
  std::vector<Case> cases{make_case("tape/grad_1000000", [] { return call(rc::grad(steps), rc::tensor(0.5F)); })};
  for (const int size : {1, 1000, 10000}) {
    const std::string of = "_4000_" + std::to_string(size);
    const Tensor x = rc::full({size}, 0.5);
    cases.push_back(make_case("tape/loop_fwd" + of, [=] { return call(loop, x); }));
    cases.push_back(make_case("tape/loop_grad" + of, [=] { return call(rc::grad(loop), x); }));
    cases.push_back(make_case("tape/loop_grad_sqrt" + of, [=] { return call(rc::grad(loop_of_few_states), x); }));
  }
  return cases;
}
