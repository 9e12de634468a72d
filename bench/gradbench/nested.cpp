// particle and saddle: optimisers inside optimisers, by the functions of W18. The first letter of a function says how
// the outer one takes its gradient, the second how the inner gradient is taken: f forward, r reverse.
#include "evals.h"
#include "w18_nested_optimisation.h"

namespace gradbench {
namespace {

using bench::nested::Mode;

/// An eval of the four functions ff, fr, rf, rr: `in(outer, inner)` gives one.
template <class In>
Eval in_all_modes(const In& in) {
  Eval all;
  for (const Mode outer : {Mode::forward, Mode::reverse})
    for (const Mode inner : {Mode::forward, Mode::reverse}) {
      const auto letter = [](Mode mode) { return mode == Mode::forward ? "f" : "r"; };
      all.emplace(std::string(letter(outer)) + letter(inner), in(outer, inner));
    }
  return all;
}

}  // namespace

Eval particle() {
  return in_all_modes([](Mode outer, Mode inner) {
    return [=](const json& input) {
      const auto best = [=](const Tensor& w) {
        const auto square_of_landing = [=](const Tensor& w) { return bench::nested::landing(inner, w); };
        return bench::nested::argmin(outer, square_of_landing, w.unsqueeze(0))[0];
      };
      return answer(input, best, read_numbers(input.at("w")));
    };
  });
}

Eval saddle() {
  return in_all_modes([](Mode outer, Mode inner) {
    return [=](const json& input) {
      const auto point = [=](const Tensor& start) { return bench::nested::saddle(outer, inner, start); };
      return answer(input, point, read_numbers(input.at("start")));
    };
  });
}

}  // namespace gradbench
