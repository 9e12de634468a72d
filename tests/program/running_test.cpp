// What a running program holds: a value ends with its last use, and gives its elements to the result where it can.
#include "ricci/primitive.h"
#include "ricci/primitive/pool.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// The bytes in use when an equation of the program runs that calls it; a custom operation is one equation.
std::size_t in_use = 0;
struct Note {
  using kind = rc::Custom;
  static constexpr const char* name = "note_memory";
  rc::Tensors call(std::span<const Tensor> inputs) const {
    in_use = std::max(in_use, rc::pool::bytes_in_use());
    return {inputs[0].clone()};
  }
  static std::vector<rc::Sample<Note>> samples() { return {}; }
};

TEST(RunningProgram, HoldsAValueUntilItsLastUse) {
  const Tensor x = rc::ones({10000});
  const auto f = [](Tensor y) {
    for (int i = 0; i < 50; ++i) y = rc::apply(Note{}, sin(y).unsqueeze(0))[0] + 1;
    return y;
  };
  const rc::Program p = rc::trace(f)(x);
  in_use = 0;
  const std::size_t before = rc::pool::bytes_in_use();
  const Tensor y = p({x})[0];
  expect_equal(y, f(x));
  EXPECT_LE(in_use - before, 5 * 10000 * sizeof(float));
}

TEST(RunningProgram, LeavesItsInputsAndWhatItReturnsAlone) {
  const Tensor captured = rc::full({3}, 5.0).clone();
  const auto f = [&](Tensor x) {
    const Tensor y = x + 1, z = y * 2, w = (z + captured) * z;
    return std::tuple{y, w, captured * 2, x.view({3, 1}) * 2};
  };
  const Tensor x = rc::arange(3.0).clone();
  const rc::Program p = rc::trace(f)(x);
  for (int run = 0; run < 2; ++run) {
    const std::vector<Tensor> found = p({x});
    expect_values(x, {0, 1, 2});
    expect_values(captured, {5, 5, 5});
    expect_values(found[0], {1, 2, 3});
    expect_values(found[1], {14, 36, 66});
    expect_values(found[2], {10, 10, 10});
    expect_values(found[3], {0, 2, 4});
  }
}

/// Also where the function copied what the program passes on.
TEST(RunningProgram, GivesResultsThatShareWithNothing) {
  const Tensor captured = rc::full({3}, 5.0).clone();
  const auto f = [&](Tensor x) {
    const Tensor copy = rc::zeros({3}), turned = rc::zeros({3, 1}), constant = rc::zeros({3}), row = rc::zeros({3});
    copy.copy_(x);
    turned.copy_(x.unsqueeze(1));
    row.copy_(captured);
    return std::vector<Tensor>{copy, turned, x, x.view({3, 1}), captured, row, constant, constant, rc::full({3}, 1.0)};
  };
  const rc::Program p = rc::trace(f)(rc::arange(3.0));
  const Tensor x = rc::arange(3.0).clone();
  const std::vector<Tensor> wanted = p({x});
  std::vector<Tensor> found = p({x});
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    found[i].add_(100);
    expect_values(x, {0, 1, 2});
    expect_values(captured, {5, 5, 5});
    const std::vector<Tensor> again = p({x});
    for (std::size_t j = 0; j < found.size(); ++j) {
      expect_equal(again[j], wanted[j]);
      if (j > i) expect_equal(found[j], wanted[j]);
    }
  }
  x.fill_(7);
  captured.fill_(7);
  for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], wanted[i] + 100);
}

/// A view outlives the variable that it is a view of; the base must not be overwritten under it.
TEST(RunningProgram, KeepsWhatAViewShows) {
  const auto f = [](Tensor x) {
    const Tensor y = x * 2, row = y[0];
    const Tensor z = y + 1;
    return z.sum(0) * row;
  };
  const Tensor x = rc::arange(6.0).reshape({2, 3});
  expect_equal(rc::trace(f)(x)({x})[0], f(x));
}

TEST(RunningProgram, FillsATableInPlace) {
  const auto f = [](Tensor x) {
    const Tensor D = x.new_zeros({40, x.size(0)});
    D[0] = x;
    for (int i = 1; i < 40; ++i) D[i] = sin(D[i - 1]);
    return D;
  };
  const Tensor x = rc::rand({1000});
  const rc::Program p = rc::trace(f)(x);
  const std::uint64_t before = rc::pool::bytes_in_use();
  const Tensor found = p({x})[0];
  EXPECT_LE(rc::pool::bytes_in_use() - before, 41 * 1000 * sizeof(float) + 10000);
  expect_equal(found, f(x));
  expect_equal(rc::vmap([&](Tensor x) { return p({x})[0]; })(rc::stack({x, x * 2}))[1], f(x * 2));
}

}  // namespace
