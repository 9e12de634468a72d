// Control flow is one equation, whose parameters are programs: their inputs are the operands of the groups in order.
// Each program stands under the function that it is of.
#include "support/golden.h"

namespace rc = ricci;
using rc::Tensor;
using testing_support::expect_golden_whole;

namespace {

// A branch takes the operands, then what it captures. The first branch is the one for false.
TEST(GoldenControl, ABranchTakesTheOperandsThenWhatItCaptures) {
  const auto f = [](Tensor x, Tensor scale) {
    return rc::cond(x.sum() > 0, [&](Tensor y) { return y * scale; }, [](Tensor y) { return -y; }, x);
  };
  expect_golden_whole(rc::trace(f)(rc::ones({3}), rc::tensor(2.)), R"(
program(a: f32[s0], b: f32[]) {
  c: f32[] = sum[axes=(0)] a
  d: bool[] = gt c 0
  e: f32[s0] = cond[operands=1, branches=(program(a: f32[s0]) {
      b: f32[s0] = neg a
      return b
    },program(a: f32[s0], b: f32[]) {
      c: f32[s0] = mul a b
      return c
    })] predicate(d) operands(a) branch1(b)
  return e
}
)");
}

// Where examples answer differently, a branch runs if any of them takes it, on all rows: those of the others are filled
// with copies. Of the results each takes its own.
TEST(GoldenControl, ABranchRunsOnAllRowsIfAnyExampleTakesIt) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor y) { return sqrt(y); }, [](Tensor y) { return -y; }, x);
  };
  expect_golden_whole(rc::trace(rc::vmap(f))(rc::tensor({4., -1., 9.})), R"(
program(a: f32[i=s0]) where s0!=1 {
  b: bool[i=s0] = gt a 0
  c: bool[s0] = logical_not b
  d: bool[] = any[axes=(0)] c
  e: f32[s0] = cond[operands=0, branches=(program() {
      a: f32[] = zeros[shape=(), dtype=f32]
      b: f32[s0] = expand[shape=(s0)] a
      return b
    },program(a: bool[s0], b: f32[s0]) {
      c: f32[s0] = fill_rows a b
      d: f32[s0] = neg c
      return d
    })] predicate(d) branch1(c a)
  f: bool[] = any[axes=(0)] b
  g: f32[s0] = cond[operands=0, branches=(program() {
      a: f32[] = zeros[shape=(), dtype=f32]
      b: f32[s0] = expand[shape=(s0)] a
      return b
    },program(a: bool[s0], b: f32[s0]) {
      c: f32[s0] = fill_rows a b
      d: f32[s0] = sqrt c
      return d
    })] predicate(f) branch1(b a)
  h: f32[i=s0] = where b g e
  return h
}
)");
}

// Condition and body take the state, then what each of them captures: `a` is looked at by both.
TEST(GoldenControl, ConditionAndBodyOfALoopTakeTheStateThenWhatEachCaptures) {
  const auto root = [](Tensor a) {
    return rc::while_loop([&](Tensor x) { return abs(x * x - a) > 1e-6; }, [&](Tensor x) { return (x + a / x) / 2; },
                          a);
  };
  expect_golden_whole(rc::trace(root)(rc::tensor(2.)), R"(
program(a: f32[]) {
  b: f32[] = while_loop[condition=program(a: f32[], b: f32[]) {
      c: f32[] = mul a a
      d: f32[] = sub c b
      e: f32[] = abs d
      f: bool[] = gt e 1e-06
      return f
    }, body=program(a: f32[], b: f32[]) {
      c: f32[] = div b a
      d: f32[] = add a c
      e: f32[] = div d 2
      return e
    }, streams=0, max_steps=1000000000, checkpoint=0] state(a) condition(a) body(a)
  return b
}
)");
}

// Examples that answer differently stay in one loop, which knows of each whether it goes on. The rows of those that are
// done are filled with a copy of one that goes on before each step, and keep what they had after it.
TEST(GoldenControl, ExamplesThatAnswerDifferentlyStayInOneLoop) {
  const auto halve = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y > 1; }, [&](Tensor y) { return y / (2 + x); }, x);
  };
  expect_golden_whole(rc::trace(rc::vmap(halve))(rc::tensor({2., 5., 0.5})), R"(
program(a: f32[i=s0]) {
  b: bool[s0] = gt a 1
  c: f32[i=s0], d: bool[s0] = while_loop[condition=program(a: f32[s0], b: bool[s0]) {
      c: bool[] = any[axes=(0)] b
      return c
    }, body=program(a: f32[s0], b: bool[s0], c: f32[s0]) {
      d: f32[s0] = fill_rows b a
      e: f32[s0] = fill_rows b c
      f: f32[s0] = add 2 e
      g: f32[s0] = div d f
      h: f32[s0] = where b g a
      k: bool[s0] = gt h 1
      return h k
    }, streams=0, max_steps=1000000000, checkpoint=0] state(a b) body(a)
  return c
}
)");
}

// Forward mode: the tangent goes along, and the condition looks at the state alone.
TEST(GoldenControl, TheTangentOfALoopGoesAlongInItsState) {
  const auto f = [](Tensor x, Tensor t) {
    const auto cube = [](Tensor a) {
      return rc::while_loop([](Tensor y) { return y < 9; }, [&](Tensor y) { return y * a; }, a);
    };
    return rc::jvp(cube, x, t);
  };
  expect_golden_whole(rc::trace(f)(rc::tensor(2.), rc::tensor(1.)), R"(
program(a: f32[], b: f32[]) {
  c: f32[], d: f32[] = while_loop[condition=program(a: f32[], b: f32[]) {
      c: bool[] = lt a 9
      return c
    }, body=program(a: f32[], b: f32[], c: f32[], d: f32[]) {
      e: f32[] = mul a c
      f: f32[] = mul b c
      g: f32[] = mul d a
      h: f32[] = add f g
      return e h
    }, streams=0, max_steps=1000000000, checkpoint=0] state(a b) body(a b)
  return c d
}
)");
}

// A step takes the carry, one slice of xs, then what it captures; it gives the carry and what is stacked.
TEST(GoldenControl, AStepTakesTheCarryOneSliceAndWhatItCaptures) {
  const auto f = [](Tensor w, Tensor xs) {
    const auto step = [&](Tensor c, Tensor x) {
      const Tensor h = tanh(w * c + x);
      return std::pair{h, h};
    };
    return rc::scan(step, rc::zeros({}), xs);
  };
  expect_golden_whole(rc::trace(f)(rc::tensor(0.5), rc::ones({4})), R"(
program(a: f32[], b: f32[s0]) {
  c: f32[] = zeros[shape=(), dtype=f32]
  d: f32[], e: f32[s0] = scan[step=program(a: f32[], b: f32[], c: f32[]) {
      d: f32[] = mul c a
      e: f32[] = add d b
      f: f32[] = tanh e
      return f f
    }, carried=1, scanned=1, streams=0, reverse=false, length=none] carry(c) xs(b) step(a)
  return d e
}
)");
}

// No pass may merge equations across a checkpoint: what it computes is computed again for the derivative.
TEST(GoldenControl, ACheckpointIsOneEquation) {
  const auto f = rc::checkpoint([](Tensor x) { return sin(x) * x; });
  expect_golden_whole(rc::trace(f)(rc::ones({3})), R"(
program(a: f32[s0]) {
  b: f32[s0] = checkpoint[f=program(a: f32[s0]) {
      b: f32[s0] = sin a
      c: f32[s0] = mul b a
      return c
    }] a
  return b
}
)");
}

// The way back computes the function again, behind a checkpoint of its own, from the inputs alone.
TEST(GoldenControl, TheWayBackOfACheckpointComputesTheFunctionAgain) {
  const auto f = [](Tensor x) { return rc::checkpoint([](Tensor y) { return sin(y) * y; })(x).sum(); };
  expect_golden_whole(rc::trace(rc::grad(f))(rc::ones({3})), R"(
program(a: f32[s0]) where s0!=1 {
  b: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  c: f32[s0] = expand[shape=(s0)] b
  d: f32[s0] = checkpoint[f=program(a: f32[s0], b: f32[s0]) {
      c: f32[s0] = sin a
      d: f32[s0] = mul b a
      e: f32[s0] = mul b c
      f: f32[s0] = sin_slope d a
      g: f32[s0] = add e f
      return g
    }] a c
  return d
}
)");
}

TEST(GoldenControl, ACheckpointOfAllExamplesIsOne) {
  const auto f = rc::vmap(rc::checkpoint([](Tensor x, Tensor w) { return dot(x, w) * w; }), {.in_dims = {0, rc::none}});
  expect_golden_whole(rc::trace(f)(rc::ones({5, 3}), rc::ones({3})), R"(
program(a: f32[i=s0,s1], b: f32[s1]) where s0!=1, s1!=1 {
  c: f32[i=s0,s1] = checkpoint[f=program(a: f32[i=s0,s1], b: f32[s1]) {
      c: f32[i=s0] = matmul[form=2] a b
      d: f32[s0,1] = reshape[shape=(s0,1)] c
      e: f32[i=s0,s1] = mul d b
      return e
    }] a b
  return c
}
)");
}

}  // namespace
