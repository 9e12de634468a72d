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
      a: f32[] = structural_zeros[shape=(), dtype=f32]
      b: f32[s0] = expand[shape=(s0)] a
      return b
    },program(a: bool[s0], b: f32[s0]) {
      c: f32[s0] = fill_rows a b
      d: f32[s0] = neg c
      return d
    })] predicate(d) branch1(c a)
  f: bool[] = any[axes=(0)] b
  g: f32[s0] = cond[operands=0, branches=(program() {
      a: f32[] = structural_zeros[shape=(), dtype=f32]
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
    }, streams=0, max_steps=1000000000, checkpoint=0, asks_each_example=false] state(a) condition(a) body(a)
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
    }, streams=0, max_steps=1000000000, checkpoint=0, asks_each_example=true] state(a b) body(a)
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
    }, streams=0, max_steps=1000000000, checkpoint=0, asks_each_example=false] state(a b) body(a b)
  return c d
}
)");
}

// Reverse mode: the loop keeps at each step what the way back reads, as rows. A pass goes back over the steps and reads
// the rows by number. The first output is the loop's own, the others are the cotangents that the pass ends with.
TEST(GoldenControl, TheWayBackOfALoopIsAPassOverTheStepsThatItTook) {
  const auto power = [](Tensor a) {
    return rc::while_loop([](Tensor y) { return y < 9; }, [&](Tensor y) { return y * a; }, a);
  };
  expect_golden_whole(rc::trace(rc::grad(power))(rc::tensor(2.)), R"(
program(a: f32[]) {
  b: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  c: f32[] = structural_zeros[shape=(), dtype=f32]
  d: f32[], e: f32[], f: f32[] = unwind[condition=program(a: f32[]) {
      b: bool[] = lt a 9
      return b
    }, stages=({step=program(a: f32[], b: f32[]) {
      c: f32[] = mul a b
      return c a
    }, carried=1, streams=0, reads=()},{step=program(a: f32[], b: f32[], c: f32[], d: f32[]) {
      e: f32[] = mul a d
      f: f32[] = mul a c
      g: f32[] = add b f
      return e g
    }, carried=2, streams=0, reads=(0)}), max_steps=1000000000, checkpoint=0] state(a) body(a) carry1(b c) pass1(a)
  g: f32[] = add e f
  return g
}
)");
}

// Which examples go on is one row more. In a step that an example did not take, its cotangents stay as they are.
TEST(GoldenControl, TheWayBackOfExamplesThatAnswerDifferentlyIsOnePass) {
  const auto power = [](Tensor a) {
    return rc::while_loop([](Tensor y) { return y < 9; }, [&](Tensor y) { return y * a; }, a);
  };
  const char* const text = R"(
program(a: f32[i=s0]) where s0!=1 {
  b: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  c: f32[] = structural_zeros[shape=(), dtype=f32]
  d: bool[s0] = lt a 9
  e: f32[s0] = expand[shape=(s0)] b
  f: f32[s0] = expand[shape=(s0)] c
  g: f32[i=s0], h: bool[s0], k: f32[i=s0], l: f32[i=s0] = unwind[condition=program(a: f32[s0], b: bool[s0]) {
      c: bool[] = any[axes=(0)] b
      return c
    }, stages=({step=program(a: f32[s0], b: bool[s0], c: f32[s0]) {
      d: f32[s0] = fill_rows b a
      e: f32[s0] = fill_rows b c
      f: f32[s0] = mul d e
      g: f32[s0] = where b f a
      h: bool[s0] = lt g 9
      return g h d b
    }, carried=2, streams=0, reads=()},{step=program(a: f32[s0], b: f32[s0], c: f32[s0], d: bool[s0], e: f32[s0]) {
      f: f32[s0] = fill_rows d a
      g: f32[s0] = fill_rows d b
      h: f32[s0] = fill_rows d e
      k: f32[s0] = mul f h
      l: f32[s0] = mul f c
      m: f32[s0] = add g l
      n: f32[s0] = where d k a
      o: f32[s0] = where d m b
      return n o
    }, carried=2, streams=0, reads=(0,1)}), max_steps=1000000000, checkpoint=0] state(a d) body(a) carry1(e f) pass1(a)
  m: f32[i=s0] = add k l
  return m
}
)";
  const rc::Program p = rc::trace(rc::vmap(rc::grad(power)))(rc::tensor({2., 5.}));
  expect_golden_whole(p, text);
  expect_golden_whole(p.simplified(), text);  // the rules left nothing to simplify
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

// A scan's way back is a scan from the other end, of the rows that the forward one keeps.
TEST(GoldenControl, TheWayBackOfAScanIsAScanOfTheRowsThatItKept) {
  const auto last = [](Tensor w, Tensor xs) {
    return rc::scan([&](Tensor c, Tensor x) { return std::pair{tanh(w * c + x), c}; }, rc::zeros({}), xs).first;
  };
  expect_golden_whole(rc::trace(rc::grad(last))(rc::tensor(0.5), rc::ones({4})), R"(
program(a: f32[], b: f32[s0]) {
  c: f32[] = zeros[shape=(), dtype=f32]
  d: f32[], e: f32[s0], f: f32[s0] = scan[step=program(a: f32[], b: f32[], c: f32[]) {
      d: f32[] = mul c a
      e: f32[] = add d b
      f: f32[] = tanh e
      return f a f
    }, carried=1, scanned=1, streams=0, reverse=false, length=none] carry(c) xs(b) step(a)
  g: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  h: f32[] = structural_zeros[shape=(), dtype=f32]
  k: f32[], l: f32[] = scan[step=program(a: f32[], b: f32[], c: f32[], d: f32[], e: f32[]) {
      f: f32[] = tanh_slope a d
      g: f32[] = mul f c
      h: f32[] = mul f e
      k: f32[] = add b g
      return h k
    }, carried=2, scanned=2, streams=0, reverse=true, length=none] carry(g h) xs(e f) step(a)
  return l
}
)");
}

// Both derivatives of a branch are computed in the branch that is taken.
TEST(GoldenControl, AHessianOfABranchIsABranch) {
  const auto kink = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor y) { return y * y; }, [](Tensor y) { return sin(y); }, x);
  };
  expect_golden_whole(rc::trace(rc::hessian(kink))(rc::tensor(2.)), R"(
program(a: f32[]) {
  b: f32[1,1] = seeds[row=0, column=0, rows=1, columns=1, dtype=f32]
  c: f32[i=1] = reshape[shape=(1)] b
  d: bool[] = gt a 0
  e: f32[1,1] = seeds[row=0, column=0, rows=1, columns=1, dtype=f32]
  f: f32[j=1] = reshape[shape=(1)] e
  g: f32[j=1], h: f32[i=1,j=1] = cond[operands=3, branches=(program(a: f32[], b: f32[1], c: f32[1]) {
      d: f32[1] = sin_slope b a
      e: f32[1,1] = reshape[shape=(1,1)] c
      f: f32[1,1] = mul e b
      g: f32[1,1] = cos_slope f a
      return d g
    },program(a: f32[], b: f32[1], c: f32[1]) {
      d: f32[1] = mul b a
      e: f32[1,1] = reshape[shape=(1,1)] c
      f: f32[1,1] = mul e b
      g: f32[1] = mul b a
      h: f32[1,1] = reshape[shape=(1,1)] c
      k: f32[1,1] = mul h b
      l: f32[1] = add d g
      m: f32[1,1] = add f k
      return l m
    })] predicate(d) operands(a f c)
  k: f32[i=1] = reshape[shape=(1)] h
  l: f32[1] = permute[axes=(0)] k
  m: f32[] = reshape[shape=()] l
  return m
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

// Under vmap, custom_root is one equation for all examples; its value is the program of the solver.
TEST(GoldenControl, ARootOfEachExampleIsOneEquation) {
  const auto newton = [](auto g, Tensor x) {
    const Tensor slope = 2 * x;
    return x - g(x) / slope;
  };
  const auto divide = [](auto g, Tensor y) { return y / g(rc::ones_like(y)); };
  const auto root = [&](Tensor a) { return rc::custom_root([a](Tensor x) { return x * x - a; }, a, newton, divide); };
  testing_support::expect_golden(rc::trace(rc::vmap(root))(rc::ones({3})), R"(
program(a: f32[i=s0]) {
  b: f32[i=s0] = custom[function=vmap(custom_root), value=program(a: f32[i=s0], b: f32[i=s0]) {
      c: f32[i=s0] = mul 2 a
      d: f32[i=s0] = mul a a
      e: f32[i=s0] = sub d b
      f: f32[i=s0] = div e c
      g: f32[i=s0] = sub a f
      return g
    }, captured=0] a a
  return b
}
)");
  testing_support::expect_golden(rc::trace(rc::vmap(rc::grad(root)))(rc::ones({3})), R"(
program(a: f32[i=s0]) {
  b: f32[i=s0] = custom[function=vmap(custom_root), value=program(a: f32[i=s0], b: f32[i=s0]) {
      c: f32[i=s0] = mul 2 a
      d: f32[i=s0] = mul a a
      e: f32[i=s0] = sub d b
      f: f32[i=s0] = div e c
      g: f32[i=s0] = sub a f
      return g
    }, captured=0] a a
  c: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  d: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  e: f32[i=s0] = mul d b
  f: f32[i=s0] = mul d b
  g: f32[i=s0] = add e f
  h: f32[i=s0] = div c g
  k: f32[i=s0] = neg h
  l: f32[i=s0] = neg k
  return l
}
)");
}

}  // namespace
