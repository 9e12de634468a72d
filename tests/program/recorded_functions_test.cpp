// Recorded functions that write to views of views, return what they captured, index with tensors, apply layers and are
// Hessians of many examples: each program gives what the function gives at other inputs.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

template <class F>
void expect_replayed(const F& f, const Tensor& x) {
  const rc::Program program = rc::trace(f)(x);
  const Tensor other = cos(x);
  const Tensor kept = other.clone();
  expect_close(program({other})[0], f(other.clone()));
  expect_equal(other, kept);  // a program writes to no input
}

TEST(RecordedFunctions, WriteToAViewOfATransposedView) {
  expect_replayed(
      [](Tensor x) {
        const Tensor base = x * 2, turned = base.t(), part = turned[1].slice(0, 0, 2), flat = turned.reshape({-1});
        part.add_(10);
        flat.slice(0, 0, 2).mul_(part);
        return base + turned.t();
      },
      ramp({4, 3}));
}

TEST(RecordedFunctions, KnowTensorsApartThatLiveForOneOperation) {
  const auto f = [](Tensor x) {
    for (double k = 1; k < 8; ++k) {
      double numbers[] = {k, k + 1, k + 2};
      x = x * rc::from_blob(numbers, {3}, rc::float64);
    }
    return x;
  };
  expect_replayed(f, ramp({3}).to(rc::float64));
}

TEST(RecordedFunctions, MayReturnWhatTheyCapture) {
  const Tensor captured = ramp({3});
  const auto f = [&](Tensor x) { return std::pair{captured, x * captured}; };
  const rc::Program program = rc::trace(f)(ramp({3}));
  const Tensor x = cos(ramp({3}));
  const auto results = program({x});
  expect_equal(results[0], captured);
  expect_close(results[1], x * captured);
}

TEST(RecordedFunctions, IndexWithTensors) {
  const Tensor i = rc::tensor({2, 0}), k = rc::tensor({1, 1});
  expect_replayed([&](Tensor x) { return Tensor(x.index({i})); }, ramp({4, 3}));
  expect_replayed([&](Tensor x) { return Tensor(x.index({i, k})); }, ramp({4, 3}));
  expect_replayed([&](Tensor x) { return Tensor(x.index({rc::Slice(), i})); }, ramp({4, 3}));
  const auto by_index = [](Tensor x, Tensor n) { return Tensor(x.index({n})); };
  const rc::Program program = rc::trace(by_index)(ramp({4, 3}), i);
  const Tensor longer = ramp({6, 3}), places = rc::tensor({5, 4, 0});
  expect_close(program({longer, places})[0], by_index(longer, places));
  expect_replayed(rc::grad([&](Tensor x) { return Tensor(x.index({i, k})).square().sum(); }), ramp({4, 3}));
}

TEST(RecordedFunctions, ApplyALinearLayer) {
  const Linear layer = make_linear(3, 2);
  const auto f = [](Tensor x, Tensor w, Tensor b) { return rc::linear(x, w, b); };
  const Tensor w = layer.weight.t().contiguous(), x = ramp({5, 3});
  const rc::Program program = rc::trace(f)(x, w, layer.bias);
  const Tensor other = cos(ramp({7, 3}));
  expect_close(program({other, w, layer.bias})[0], matmul(other, layer.weight) + layer.bias);
}

TEST(RecordedFunctions, AreHessiansOfManyExamplesAndCompiled) {
  const auto f = [](Tensor x) { return (sin(x) * x.sum()).sum(); };
  const auto hessians = rc::vmap(rc::jacfwd(rc::jacrev(f)));
  const Tensor x = ramp({4, 3}), other = cos(ramp({4, 3}));
  const Tensor wanted = hessians(other);
  for (std::int64_t i = 0; i < 4; ++i) expect_close(wanted[i], rc::hessian(f)(other[i]));
  expect_close(rc::trace(hessians)(x)({other})[0], wanted);
  const auto compiled = rc::compile(hessians);
  expect_close(compiled(x), hessians(x), 1e-12);
  expect_close(compiled(other), wanted, 1e-12);
}

}  // namespace
