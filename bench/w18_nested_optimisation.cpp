// W18: optimisers inside optimisers, GradBench's saddle and particle, in float64. The two letters of a case: how the
// outer optimiser takes its gradient, and how the inner gradient is taken (f: forward, r: reverse).
#include "w18_nested_optimisation.h"

#include "cases.h"

namespace rc = ricci;
using rc::Tensor;

std::vector<bench::Case> bench::nested_optimisation() {
  using nested::Mode;
  std::vector<Case> cases;
  for (const Mode outer : {Mode::forward, Mode::reverse}) {
    for (const Mode inner : {Mode::forward, Mode::reverse}) {
      const auto letter = [](Mode mode) { return mode == Mode::forward ? "f" : "r"; };
      const std::string modes = std::string(letter(outer)) + letter(inner);
      cases.push_back(make_case("W18/saddle_" + modes, [=] {
        return call([=](const Tensor& start) { return nested::saddle(outer, inner, start); },
                    rc::ones({2}, rc::float64));
      }));
      cases.push_back(make_case("W18/particle_" + modes, [=] {
        const auto best = [=](const Tensor& w) {
          return nested::argmin(outer, [=](const Tensor& w) { return nested::landing(inner, w); }, w);
        };
        return call(best, rc::zeros({1}, rc::float64));
      }));
    }
  }
  return within(1e-6, std::move(cases));
}
