// rc::Tape records what is computed from watched tensors; it works inside every transform and every transform inside
// it.
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Tape, GivesTheGradientOfWhatItSaw) {
  Tensor x = doubles({2, 3});
  rc::Tape tape;
  tape.watch(x);
  const Tensor loss = (x * x * doubles({1, 10})).sum();
  expect_values(tape.gradient(loss, x), {4, 60});
}

TEST(Tape, GivesTheGradientOfATree) {
  Mlp model = make_mlp();
  const Tensor x = ramp({3});
  rc::Tape tape;
  tape.watch(model);
  const Tensor loss = predict(model, x).sum();
  const Mlp gradient = tape.gradient(loss, model);
  const Mlp expected = rc::grad([&](Mlp m) { return predict(m, x).sum(); })(make_mlp());
  expect_close(gradient.layers[0].weight, expected.layers[0].weight, 1e-12);
  expect_close(gradient.layers[1].bias, expected.layers[1].bias, 1e-12);
  EXPECT_EQ(gradient.dropout, 0.1);
}

TEST(Tape, FollowsPlainControlFlow) {
  Tensor x = number(3);
  rc::Tape tape;
  tape.watch(x);
  Tensor y = x;
  while (y < 100) y = y * x;
  expect_values(tape.gradient(y, x), {5 * 81});
}

TEST(Tape, GivesZerosForWhatIsUnrelated) {
  Tensor x = ramp({2}), y = ramp({3});
  rc::Tape tape;
  tape.watch(x);
  tape.watch(y);
  const Tensor loss = (x * x).sum();
  expect_values(tape.gradient(loss, y), {0, 0, 0});
}

TEST(Tape, FollowsInPlaceOperations) {
  Tensor x = doubles({2, 3});
  rc::Tape tape;
  tape.watch(x);
  Tensor y = x * 1;
  y[0].mul_(x[1]);
  expect_values(tape.gradient(y.sum(), x), {3, 3});
}

TEST(Tape, ObeysNoGradAndDetach) {
  Tensor x = number(3);
  rc::Tape tape;
  tape.watch(x);
  Tensor constant;
  {
    rc::no_grad guard;
    constant = x * x;
  }
  expect_values(tape.gradient(constant * x + x.detach() * x, x), {12});
}

TEST(Tape, LeavesNoTransformBehind) {
  {
    Tensor x = number(3);
    rc::Tape tape;
    tape.watch(x);
    EXPECT_THROW(rc::matmul(x, x), rc::ValueError);
  }
  EXPECT_FALSE(rc::inside_transform());
}

TEST(Tape, OfATensorThatWasNeverWatchedGivesZeros) {
  const Tensor x = rc::tensor(std::vector<double>{1, 2});
  rc::Tape tape;
  const Tensor y = (x * 2).sum();
  EXPECT_EQ(tape.gradient(y, x).to_vector<double>(), (std::vector<double>{0, 0}));
}

TEST(Tape, InsideATapeGivesSecondDerivatives) {
  const Tensor y = rc::tensor(std::vector<double>{1, 2, 3});
  rc::Tape outer;
  outer.watch(y);
  Tensor total;
  {
    rc::Tape inner;
    inner.watch(y);
    total = inner.gradient((y * y * y).sum(), y).sum();
    EXPECT_EQ(outer.gradient(total, y).to_vector<double>(), (std::vector<double>{6, 12, 18}));
  }
  EXPECT_EQ(outer.gradient(total, y).to_vector<double>(), (std::vector<double>{6, 12, 18}));
}

TEST(Tape, GivesTheGradientOfATensorAsItWasWatchedThoughItWasWrittenLater) {
  const Tensor w = doubles({3, 5});
  rc::Tape tape;
  tape.watch(w);
  const Tensor y = w * w;
  w.mul_(2);
  expect_values(w, {6, 10});
  expect_values(tape.gradient(y.sum(), w), {6, 10});
  expect_values(tape.gradient((w * w).sum(), w), {24, 40});
}

TEST(Tape, GivesTheGradientOfWhatWasComputedOnIt) {
  const Tensor x = doubles({1, 2});
  rc::Tape tape;
  tape.watch(x);
  const Tensor y = x * 2, z = x * 3;
  tape.watch(y);
  const Tensor loss = (y * y * z).sum();
  const auto [of_y, of_z, of_x] = tape.gradient(loss, std::tuple{y, z, x});
  expect_values(of_y, {12, 48});
  expect_values(of_z, {4, 16});
  expect_values(of_x, {36, 144});
}

TEST(Tape, LeavesATensorThatGradMayWriteToItself) {
  Tensor square;
  {
    const Tensor x = doubles({1, 2});
    rc::Tape tape;
    tape.watch(x);
    square = x * x;
  }
  const auto f = [&](Tensor a) {
    square.copy_(square);
    return a * square.sum();
  };
  expect_values(rc::grad(f)(number(1)), {5});
}

TEST(Tape, GivesZerosForWhatIsLeftOfAVmapThatHasEnded) {
  const Tensor x = doubles({1, 2});
  rc::Tape tape;
  tape.watch(x);
  Tensor left;
  const Tensor loss = rc::vmap([&](Tensor a) { return left = a * a; })(x).sum();
  const auto [of_x, of_left] = tape.gradient(loss, std::pair{x, left});
  expect_values(of_x, {2, 4});
  expect_values(of_left, {0});
}

TEST(Tape, GivesZerosForOneExampleOfAVmapInsideIt) {
  const Tensor x = doubles({1, 2});
  rc::Tape tape;
  tape.watch(x);
  const Tensor outside = (x * x).sum();
  expect_values(rc::vmap([&](Tensor a) { return tape.gradient(outside, a * 2); })(x), {0, 0});
}

TEST(Tape, WatchesATensorAnewAfterAnUpdateWithoutGradient) {
  const Tensor w = doubles({1, 2});
  rc::Tape tape;
  for (int step = 0; step < 3; ++step) {
    tape.watch(w);
    const Tensor g = tape.gradient((w * w).sum(), w);
    expect_close(g, w * 2);
    const rc::no_grad guard;
    w.sub_(g * 0.25);
  }
  expect_values(w, {0.125, 0.25});
  const Tensor v = doubles({1, 1, 1});
  tape.watch(v);
  {
    const rc::no_grad guard;
    v[0] = 5;
  }
  expect_values(tape.gradient((v * v).sum(), v), {0, 2, 2});
  tape.watch(v);
  expect_values(tape.gradient((v * v).sum(), v), {10, 2, 2});
}

TEST(Tape, GivesTheGradientOfOneOutputOfSeveral) {
  const Tensor a = doubles({3, 1, 1, 2}).view({2, 2});
  rc::Tape tape;
  tape.watch(a);
  const auto [values, vectors] = rc::eigh(a);
  expect_values(tape.gradient(values.sum(), a), {1, 0, 0, 1});
  expect_values(tape.gradient(values.sum() + vectors.sum() * 0, std::pair{values, vectors}).first, {1, 1});
  expect_values(tape.gradient(values.sum() + vectors.sum() * 2, vectors), {2, 2, 2, 2});
}

TEST(Tape, OfAViewFollowsAWatchedBase) {
  const Tensor w = doubles({3, 5});
  const Tensor first = w[0];
  rc::Tape tape;
  tape.watch(w);
  expect_values(tape.gradient(first * first, w), {6, 0});
}

TEST(Tape, LeavesIntegersBesideFloatingTensorsAlone) {
  const std::pair<Tensor, Tensor> pair{doubles({2}), rc::tensor({7})};
  rc::Tape tape;
  tape.watch(pair);
  const auto [gradient, kept] = tape.gradient((pair.first * pair.second).sum(), pair);
  expect_values(gradient, {7});
  expect_values(kept, {7});
  EXPECT_EQ(kept.dtype(), rc::int64);
}

/// Two tapes watch one tensor, and one of them ends before the other is asked again.
void expect_two_tapes_work(bool outer_watches_first, bool outer_ends_first) {
  const Tensor x = doubles({2, 3});
  auto outer = std::make_unique<rc::Tape>(), inner = std::make_unique<rc::Tape>();
  (outer_watches_first ? *outer : *inner).watch(x);
  (outer_watches_first ? *inner : *outer).watch(x);
  const Tensor y = (x * x).sum();
  expect_values(inner->gradient(y, x), {4, 6});
  expect_values(outer->gradient(y, x), {4, 6});
  (outer_ends_first ? outer : inner).reset();
  rc::Tape& left = outer_ends_first ? *inner : *outer;
  expect_values(left.gradient(y, x), {4, 6});
  expect_values(left.gradient((x * x * x).sum(), x), {12, 27});
  outer.reset();
  inner.reset();
  EXPECT_FALSE(rc::inside_transform());
  expect_values(rc::grad([](Tensor a) { return (a * a).sum(); })(x), {4, 6});
  x.add_(1);
  expect_values(x, {3, 4});
}

TEST(Tape, SharesATensorWithAnotherTapeInWhateverOrderTheyEnd) {
  for (const bool outer_watches_first : {true, false})
    for (const bool outer_ends_first : {true, false}) expect_two_tapes_work(outer_watches_first, outer_ends_first);
}

TEST(Tape, MayEndBeforeATransformThatRunsInsideIt) {
  const Tensor x = doubles({2, 3});
  auto tape = std::make_unique<rc::Tape>();
  tape->watch(x);
  const Tensor squares = rc::vmap([&](Tensor row) {
    tape.reset();
    return row * row;
  })(x);
  expect_values(squares, {4, 9});
  EXPECT_FALSE(rc::inside_transform());
}

TEST(Tape, ThatOutlivesTheFunctionChangesNoDerivative) {
  std::unique_ptr<rc::Tape> escaped;
  const auto f = [&](Tensor a) {
    escaped = std::make_unique<rc::Tape>();
    escaped->watch(a);
    return (a * a).sum();
  };
  const Tensor x = doubles({2, 3});
  expect_values(rc::grad(f)(x), {4, 6});
  expect_values(rc::jacfwd(f)(x), {4, 6});
  expect_values(std::get<1>(rc::jvp(f, x, x)), {26});
  auto [y, f_jvp] = rc::linearize(f, x);
  expect_values(f_jvp(x), {26});
  EXPECT_FALSE(rc::inside_transform());
}

TEST(Tape, MayBeDestroyedOnAnotherThreadThanItsOwn) {
  const Tensor x = number(3);
  std::thread([&] {
    auto tape = std::make_unique<rc::Tape>();
    tape->watch(x);
    std::thread([&] { tape.reset(); }).join();
    expect_values(rc::grad([](Tensor a) { return a * a; })(x), {6});
  }).join();
  EXPECT_FALSE(rc::inside_transform());
  expect_values(x * 1, {3});
}

TEST(Tape, GivesTheGradientOfATensorAsItWasWatchedLast) {
  const Tensor u = doubles({3}), x = doubles({5});
  rc::Tape tape;
  tape.watch(u);
  tape.watch(x);
  x.mul_(2);
  tape.watch(x);
  x.fill_(0);
  const Tensor loss = (u * u).sum();
  expect_values(tape.gradient(loss, x), {0});
  expect_values(tape.gradient(loss, u), {6});
}

/// torch.autograd.grad with grad_outputs.
TEST(Tape, GivesTheGradientOfOutputsUnderCotangents) {
  const Tensor x = doubles({1, 2, 3}), v = doubles({1, 10, 100});
  rc::Tape tape;
  tape.watch(x);
  const Tensor y = x * x * x.sum(), z = x.sum();
  const auto f = [](Tensor a) { return a * a * a.sum(); };
  expect_close(tape.gradient(y, x, v), std::get<1>(rc::vjp(f, x))(v));
  expect_values(tape.gradient(z, x, 3), {3, 3, 3});
  const std::vector<Tensor> outputs{y, z, x > 1};
  expect_close(tape.gradient(outputs, x, {v, rc::ones({}, rc::float64), rc::none}),
               tape.gradient(y, x, v) + tape.gradient(z, x));
  expect_values(tape.gradient(rc::ones({2}, rc::float64), x, rc::ones({2}, rc::float64)), {0, 0, 0});
  const Tensor w = x.to(rc::complex128);
  expect_values(rc::real(tape.gradient(w, x, v.to(rc::complex128))), {1, 10, 100});
}

TEST(Tape, MapsCotangentsWithoutRunningAgain) {
  const Tensor x = doubles({1, 2, 3}), vs = doubles({1, 0, 0, 1, 10, 100}, {2, 3});
  const auto f = [](Tensor a) { return a * a * a.sum(); };
  rc::Tape tape;
  tape.watch(x);
  const Tensor y = f(x);
  expect_close(rc::vmap([&](Tensor v) { return tape.gradient(y, x, v); })(vs), vs.matmul(rc::jacrev(f)(x)));
  expect_close(rc::vmap([&](Tensor v) { return tape.gradient(y, x, v); })(rc::eye(3, rc::float64)), rc::jacrev(f)(x));
  const auto along = [&](Tensor v) { return tape.gradient(y, x, v); };
  expect_close(std::get<1>(rc::jvp(along, vs[1], vs[0])), along(vs[0]));
  expect_close(rc::jacrev(along)(vs[1]), rc::jacrev(f)(x).t());
}

/// A watched view is a variable of the tape. What is written to a part of it leaves the rest what was watched, whatever
/// becomes of the base, on the tape or not.
TEST(Tape, KeepsThePlaceOfAWatchedViewThatIsWritten) {
  using View = Tensor (*)(const Tensor&);
  const std::pair<const char*, View> views[] = {
      {"reshape", [](const Tensor& base) { return base.reshape({3, -1}); }},
      {"row", [](const Tensor& base) -> Tensor { return base.reshape({1, 3, -1})[0]; }},
      {"t", [](const Tensor& base) { return base.reshape({-1, 3}).t(); }},
      {"copy", [](const Tensor& base) { return base.reshape({-1, 3}).t().reshape({3, -1}); }}};
  enum class Of { clone, base, watched_base };
  const auto gradient = [](const View& view, const Tensor& x, Of of) {
    rc::Tape tape;
    const Tensor base = x * 1, w = of == Of::clone ? view(base).clone() : view(base);
    if (of == Of::watched_base) tape.watch(base);
    tape.watch(w);
    w[1] = w[0] * 3;
    w[2].mul_(w[1]);
    w.slice(1, 0, 2).add_(1);
    return tape.gradient((w * w).sum(), w);
  };
  for (const std::int64_t columns : {3, 2000})
    for (const auto& [name, view] : views) {
      SCOPED_TRACE(name);
      const Tensor x = rc::linspace(-1, 1, 3 * columns, rc::float64);
      expect_equal(gradient(view, x, Of::base), gradient(view, x, Of::clone));
      expect_equal(gradient(view, x, Of::watched_base), gradient(view, x, Of::clone));
    }
}

TEST(Tape, GivesDataOfWhatIsContiguousAlone) {
  const Tensor x = doubles({1, 2, 3});
  rc::Tape tape;
  tape.watch(x);
  const Tensor table = rc::zeros({3, 3}, rc::float64);
  table[0] = x;
  const Tensor column = table.select(1, 0);
  EXPECT_EQ((column * 2).sum().item<double>(), 2);
  EXPECT_FALSE(column.is_contiguous());
  EXPECT_THROW(column.data<double>(), rc::ValueError);
  EXPECT_EQ(column.contiguous().data<double>()[0], 1);
}

TEST(Tape, TakesCotangentsThatAreOnIt) {
  const Tensor x = doubles({1, 2, 3}), scales = doubles({1, 10});
  rc::Tape tape;
  tape.watch(x);
  const Tensor y = x * x * x;
  const auto under = [&](Tensor scale) { return tape.gradient(y, x, scale * x); };
  expect_values(under(scales[1]), {30, 240, 810});
  const Tensor mapped = rc::vmap(under)(scales);
  expect_values(mapped, {3, 24, 81, 30, 240, 810});
  expect_values(tape.gradient(mapped.sum(), x), {0, 0, 0});  // a gradient is not on the tape that gave it
  expect_values(std::get<1>(rc::jvp(under, scales[0], scales[1])), {30, 240, 810});
}

TEST(Tape, MayWatchWhatTheRunsOfAnotherTransformShare) {
  const auto squares = [](Tensor a, Tensor x) {
    rc::Tape tape;
    tape.watch(a);
    return tape.gradient((a * a * x).sum(), a) * x;  // 2 a x²
  };
  const auto jacobian = [&](rc::JacobianOptions options) {
    return [=](Tensor a, Tensor x) {
      return rc::jacfwd([&](Tensor b) { return squares(a, b); }, options)(x).sum() +
             rc::jacfwd<1>(squares, options)(a, x).sum();
    };
  };
  const auto mapped = [&](rc::VmapOptions options) {
    options.in_dims = {rc::none, 0};
    return [=](Tensor a, Tensor x) { return rc::vmap(squares, options)(a, x).sum(); };
  };
  using Function = std::function<Tensor(Tensor, Tensor)>;
  const std::pair<Function, Function> inside[] = {
      {mapped({.chunk_size = 1}), mapped({})},
      {mapped({.chunk_size = 2}), mapped({})},
      {mapped({.lanes = rc::Lanes::split}), mapped({})},
      {jacobian({.chunk_size = 1}), jacobian({})},
  };
  using Outer = std::function<Tensor(std::function<Tensor(Tensor)>, Tensor)>;
  const Outer outside[] = {
      [](auto f, Tensor x) { return rc::grad(f)(x); },
      [](auto f, Tensor x) { return std::get<1>(rc::jvp(f, x, x)); },
      [](auto f, Tensor x) { return rc::jacrev(f)(x); },
      [](auto f, Tensor x) { return rc::jacfwd(f)(x); },
      [](auto f, Tensor x) { return rc::hessian(f)(x); },
      [](auto f, Tensor x) { return std::get<1>(rc::linearize(f, x))(x); },
      [](auto f, Tensor x) { return rc::vmap(f)(rc::stack({x, x + 1})); },
      [](auto f, Tensor x) { return rc::vmap(rc::grad(f), {.chunk_size = 1})(rc::stack({x, x + 1})); },
  };
  std::vector<double> memory{1, 2, 3};
  const Tensor wide = ramp({2, 3});
  const Tensor shared[] = {ramp({3}), wide[1], wide.slice(1, 0, 2).sum().expand({3}),
                           rc::from_blob(memory.data(), {3}, rc::float64)};
  const Tensor x = doubles({0.5, -1, 2});
  for (std::size_t a = 0; a < std::size(shared); ++a)
    for (std::size_t i = 0; i < std::size(inside); ++i)
      for (std::size_t o = 0; o < std::size(outside); ++o) {
        SCOPED_TRACE(std::to_string(a) + " " + std::to_string(i) + " " + std::to_string(o));
        const Tensor before = shared[a].clone();
        const auto of = [&](const Function& f) { return outside[o]([&](Tensor y) { return f(shared[a], y); }, x); };
        expect_close(of(inside[i].first), of(inside[i].second));
        expect_equal(shared[a], before);
      }
}

TEST(Tape, LetsAnOlderTapeDifferentiateAGradientUnderCotangents) {
  const Tensor x = doubles({1, 2, 3}), v = doubles({1, 10, 100});
  rc::Tape outer;
  outer.watch(x);
  outer.watch(v);
  Tensor g;
  {
    rc::Tape inner;
    inner.watch(x);
    g = inner.gradient(x * x * x, x, v);
  }
  expect_values(outer.gradient(g.sum(), x), {6, 120, 1800});
  expect_values(outer.gradient(g.sum(), v), {3, 12, 27});
}

}  // namespace
