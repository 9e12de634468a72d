// lstm: the loss of a recurrent net along a text and its gradient, by the functions of W13.
#include "evals.h"
#include "w13_lstm.h"

gradbench::Eval gradbench::lstm() {
  const auto evaluated = [](auto f) {
    return [f](const json& input) {
      return answer(input, f,
                    bench::lstm::Weights{read_numbers(input.at("main_params")), read_numbers(input.at("extra_params"))},
                    read_numbers(input.at("state")), read_numbers(input.at("sequence")));
    };
  };
  return {{"objective", evaluated(&bench::lstm::loss)}, {"jacobian", evaluated(&bench::lstm::gradient)}};
}
