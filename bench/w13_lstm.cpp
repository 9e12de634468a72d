// W13: ADBench's LSTM with diagonal weights, 2 layers of 14 numbers along 1,024 characters: the loss, and its gradient
// through a scan. float64. The inputs are ADBench's (adbench.h).
#include "w13_lstm.h"

#include "adbench.h"
#include "cases.h"

namespace rc = ricci;
using bench::adbench::Lstm;
using rc::Tensor;

std::vector<bench::Case> bench::recurrent_net() {
  const std::string file = "lstm_l2_c1024.txt";
  const auto step = [file](auto f) {
    const Lstm read = adbench::read_lstm(adbench::folder() / "lstm" / file);
    return call(f, lstm::Weights{read.main, read.extra}, read.state, read.sequence);
  };
  std::vector<Case> cases{make_case("W13/l2_c1024_F", [=] { return step(lstm::loss); }),
                          make_case("W13/l2_c1024_J", [=] { return step(lstm::gradient); })};
  cases[1].reference = "lstm/" + file + "/gradient";
  return within(1e-8, std::move(cases));
}
