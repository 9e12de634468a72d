// In-place operations on intermediates, on their views and on bases after a view was taken are differentiable in both
// directions, and writing never spoils a gradient. Each function is compared with one that writes nothing.
#include <functional>
#include <string>

#include "support/difference_quotient.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(Tensor)>;

/// Value, reverse, forward and second derivative of `writes` are those of `pure`, alone and under vmap.
void expect_same_derivatives(const Function& writes, const Function& pure, const Tensor& x) {
  const Tensor kept = x.clone();
  expect_close(writes(x), pure(x));
  expect_close(rc::jacrev(writes)(x), rc::jacrev(pure)(x));
  expect_close(rc::jacfwd(writes)(x), rc::jacfwd(pure)(x));
  expect_close(rc::hessian(writes)(x), rc::hessian(pure)(x), 1e-10);
  expect_close(rc::jacrev(writes)(x), difference_quotient(pure, x), difference_tolerance);
  const Tensor xs = rc::stack({x, x * 2}, 0);
  expect_close(rc::vmap(rc::jacrev(writes))(xs), rc::vmap(rc::jacrev(pure))(xs));
  expect_close(rc::jacrev(rc::vmap(writes))(xs), rc::jacrev(rc::vmap(pure))(xs));
  expect_equal(x, kept);
}

TEST(InPlaceGradient, OfAnIntermediate) {
  const auto writes = [](Tensor x) {
    Tensor y = x * 1;
    y.mul_(x);
    y.add_(3);
    y.sin_();
    return y;
  };
  expect_same_derivatives(writes, [](Tensor x) { return sin(x * x + 3); }, ramp({3}));
}

TEST(InPlaceGradient, KeepsAValueTheBackwardPassNeeds) {
  const auto writes = [](Tensor x) {
    Tensor y = exp(x);
    Tensor z = y * y;
    y.zero_();
    return z + y;
  };
  expect_same_derivatives(writes, [](Tensor x) { return exp(x) * exp(x); }, ramp({3}));
}

TEST(InPlaceGradient, OfAViewReachesTheBase) {
  const auto writes = [](Tensor x) {
    Tensor base = x * x;
    Tensor first = base[0];
    first.mul_(10);
    return base;
  };
  const auto pure = [](Tensor x) { return x * x * doubles({10, 1, 1}); };
  expect_same_derivatives(writes, pure, ramp({3}));
}

TEST(InPlaceGradient, OfABaseReachesAViewTakenBefore) {
  const auto writes = [](Tensor x) {
    Tensor base = x * 1;
    Tensor tail = base.slice(0, 1, 3, 1);
    base.mul_(x);
    return tail;
  };
  expect_same_derivatives(writes, [](Tensor x) { return (x * x).slice(0, 1, 3, 1); }, ramp({3}));
}

TEST(InPlaceGradient, OfAViewOfAView) {
  const auto writes = [](Tensor x) {
    Tensor base = x * 2;
    base.t()[1].slice(0, 0, 1, 1).mul_(x[0][0]);
    return base;
  };
  const auto pure = [](Tensor x) {
    const Tensor mask = doubles({0, 1, 0, 0}, {2, 2});
    return x * 2 * (mask * x[0][0] + (1 - mask));
  };
  expect_same_derivatives(writes, pure, ramp({2, 2}));
}

TEST(InPlaceGradient, OverlappingViewsSeeEachOther) {
  const auto writes = [](Tensor x) {
    Tensor base = x * 1;
    Tensor left = base.slice(0, 0, 2, 1), right = base.slice(0, 1, 3, 1);
    left.mul_(2);
    right.mul_(left);
    return rc::cat({left, right}, 0);
  };
  const auto pure = [](Tensor x) {
    const Tensor a = x[0] * 2, b = x[1] * 2;
    const Tensor b2 = b * a, c2 = x[2] * b;
    return rc::stack({a, b2, b2, c2}, 0);
  };
  expect_same_derivatives(writes, pure, ramp({3}));
}

TEST(InPlaceGradient, OfADiagonal) {
  const auto writes = [](Tensor x) {
    Tensor result = rc::zeros({3, 3}, rc::float64);
    result.diagonal().copy_(x * x);
    return result;
  };
  expect_same_derivatives(writes, [](Tensor x) { return rc::eye(3, rc::float64) * (x * x); }, ramp({3}));
}

TEST(InPlaceGradient, OfABufferFilledElementByElement) {
  const auto writes = [](Tensor x) {
    Tensor buffer = rc::zeros({4}, rc::float64);
    buffer[0] = x[0];
    for (int i = 1; i < 4; ++i) buffer[i] = buffer[i - 1] * x[i];
    return buffer;
  };
  const auto pure = [](Tensor x) {
    const Tensor a = x[0], b = a * x[1], c = b * x[2];
    return rc::stack({a, b, c, c * x[3]}, 0);
  };
  expect_same_derivatives(writes, pure, ramp({4}));
}

TEST(InPlaceGradient, AnOverwrittenValueHasNoGradient) {
  const auto writes = [](Tensor x) {
    Tensor y = x * 5;
    y[0] = 7;
    return y;
  };
  const auto pure = [](Tensor x) { return x * doubles({0, 5, 5}) + doubles({7, 0, 0}); };
  expect_same_derivatives(writes, pure, ramp({3}));
}

TEST(InPlaceGradient, CopyIntoAnIntermediateReplacesItsGradient) {
  const auto writes = [](Tensor x) {
    Tensor y = x * 5;
    y.copy_(x * x);
    return y;
  };
  expect_same_derivatives(writes, [](Tensor x) { return x * x; }, ramp({3}));
}

TEST(InPlaceGradient, OutVariantsAreDifferentiable) {
  const auto writes = [](Tensor x) {
    Tensor out = rc::empty({3}, rc::float64);
    rc::mul_out(out, x, x);
    return out;
  };
  expect_same_derivatives(writes, [](Tensor x) { return x * x; }, ramp({3}));
}

TEST(InPlaceGradient, ALoopThatUpdatesAStateInPlace) {
  const auto writes = [](Tensor x) {
    Tensor state = x * 1;
    for (int i = 0; i < 4; ++i) {
      state.sin_();
      state.add_(x);
    }
    return state;
  };
  const auto pure = [](Tensor x) {
    Tensor state = x;
    for (int i = 0; i < 4; ++i) state = sin(state) + x;
    return state;
  };
  expect_same_derivatives(writes, pure, ramp({2}));
}

TEST(InPlaceGradient, WritingToTheArgumentIsDifferentiableAndSeenByTheCaller) {
  const auto f = [](Tensor x) {
    x.mul_(x);
    return x.sum();
  };
  const Tensor x = doubles({2, 3});
  expect_values(rc::grad(f)(x), {4, 6});
  expect_values(x, {4, 9});
}

TEST(InPlaceGradient, WritingToAViewOfTheArgumentIsDifferentiable) {
  const auto f = [](Tensor x) {
    x[0].mul_(10);
    return (x * x).sum();
  };
  expect_values(rc::grad(f)(doubles({2, 3})), {400, 6});
}

TEST(InPlaceGradient, AForwardTangentFollowsAWrittenArgument) {
  const auto f = [](Tensor x) {
    x.mul_(x);
    return x * 1;
  };
  expect_values(std::get<1>(rc::jvp(f, doubles({2, 3}), doubles({1, 10}))), {4, 60});
}

TEST(InPlaceGradient, OfOneOperandOfTwoTangents) {
  const auto f = [](Tensor x, Tensor y) {
    Tensor base = x * 1;
    base[0].add_(y);
    return base;
  };
  const auto [out, tangent] =
      rc::jvp(f, std::tuple{doubles({1, 2}), number(3)}, std::tuple{doubles({10, 20}), number(100)});
  expect_values(out, {4, 2});
  expect_values(tangent, {110, 20});
}

TEST(InPlaceGradient, AConstantBufferTakesATangentWhenWritten) {
  const auto f = [](Tensor y) {
    Tensor base = rc::zeros({2}, rc::float64);
    Tensor first = base[0];
    first.copy_(y);
    return std::tuple{base, first};
  };
  const auto [out, tangent] = rc::vmap([&](Tensor y) { return rc::jvp(f, y, y * 0 + 1); })(doubles({5, 6}));
  expect_values(std::get<0>(tangent), {1, 0, 1, 0});
  expect_values(std::get<1>(tangent), {1, 1});
}

TEST(InPlaceGradient, ACapturedTensorCannotBeWritten) {
  const Tensor captured = doubles({1, 2});
  const auto f = [&](Tensor x) {
    captured.mul_(x);
    return captured.sum();
  };
  EXPECT_THROW(rc::grad(f)(doubles({3, 4})), rc::TransformError);
  EXPECT_THROW(rc::jvp(f, doubles({3, 4}), doubles({1, 1})), rc::TransformError);
  EXPECT_THROW(rc::vjp(f, doubles({3, 4})), rc::TransformError);
  EXPECT_THROW(rc::jacrev(f)(doubles({3, 4})), rc::TransformError);
  EXPECT_THROW(rc::jacfwd(f)(doubles({3, 4})), rc::TransformError);
  expect_values(captured, {1, 2});
  EXPECT_FALSE(rc::inside_transform());
}

TEST(InPlaceGradient, AViewOfACapturedTensorCannotBeWrittenEither) {
  const Tensor captured = doubles({1, 2});
  const auto f = [&](Tensor x) {
    captured[0].copy_(x.sum());
    return x.sum();
  };
  EXPECT_THROW(rc::grad(f)(doubles({3, 4})), rc::TransformError);
  expect_values(captured, {1, 2});
}

TEST(InPlaceGradient, ACapturedTensorPassedAsAnArgumentCanBeWritten) {
  const auto f = [](Tensor x, Tensor running) {
    running.mul_(0.5);
    running.add_(x.detach());
    return (x * x).sum();
  };
  const Tensor running = doubles({2, 4});
  expect_values(rc::grad(f)(doubles({3, 4}), running), {6, 8});
  expect_values(running, {4, 6});
}

TEST(InPlaceGradient, PerSampleGradientsOfWritesToViews) {
  const auto f = [](Tensor x) {
    Tensor base = x * x;
    base.diagonal().add_(x[0]);
    return (base * base).sum();
  };
  const Tensor xs = ramp({3, 2, 2});
  const Tensor each = rc::vmap(rc::grad(f))(xs);
  for (std::int64_t i = 0; i < 3; ++i) expect_close(each[i], difference_quotient(f, xs[i].clone()), 1e-6);
}

}  // namespace
