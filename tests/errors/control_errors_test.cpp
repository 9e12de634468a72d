// What control flow says of branches, states and scanned tensors that do not agree, and vmap of examples that return
// different things.
#include <string>
#include <tuple>
#include <vector>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const char* const inside_vmap = "\n  inside vmap over axis 0 of 2{at}";
const std::vector<double> two_signs = {-1, 1};

TEST(BranchErrors, TreesThatDiffer) {
  const Tensor x = doubles(two_signs);
  const auto f = [](Tensor a) {
    const auto one = [](Tensor b) { return std::vector<Tensor>{b}; };
    const auto two = [](Tensor b) { return std::vector<Tensor>{b, b}; };
    return rc::cond(a > 0, two, one, a)[0];
  };
  expect_error<rc::ValueError>(
      [&] { rc::vmap(f)(x); },
      std::string("cond: the branches return different trees: [*] and [*, *]; they must agree") + inside_vmap, {x});
}

TEST(LoopErrors, ARecordedBodyThatWritesToAnArgumentItCaptures) {
  const auto f = [](Tensor x) {
    const auto body = [x](Tensor, Tensor y) { return y + x.add_(1); };
    return rc::fori_loop(0, 2, body, rc::zeros({}));
  };
  const Tensor alone = rc::ones({}), x = rc::ones({});
  EXPECT_EQ(f(alone).item(), 5);
  EXPECT_EQ(alone.item(), 3);
  expect_error<rc::NotImplementedError>(
      [&] { rc::trace(f)(x); },
      "add_: the target f32[] was captured from outside fori_loop; a recorded function writes only to its arguments "
      "and to what it creates: pass it as an argument (in a loop, make it a part of the state), or return the new "
      "value\n"
      "  inside fori_loop, inside trace{at}",
      {x});
}

TEST(BranchErrors, TypesThatDiffer) {
  const Tensor x = doubles(two_signs);
  const auto f = [](Tensor a) {
    return rc::cond(a > 0, [](Tensor b) { return b; }, [](Tensor b) { return b.unsqueeze(0); }, a);
  };
  expect_error<rc::ValueError>(
      [&] { rc::vmap(f)(x); },
      std::string("cond: the branches' results differ in type: f64[1] and f64[]; every branch "
                  "must return one shape and dtype: convert with to(dtype), or expand to one shape") +
          inside_vmap,
      {x});
}

TEST(BranchErrors, AnUndefinedTensorInOneOfThem) {
  const Tensor x = doubles(two_signs);
  const auto f = [](Tensor a) {
    return rc::cond(a > 0, [](Tensor b) { return b; }, [](Tensor) { return Tensor(); }, a);
  };
  expect_error<rc::ValueError>([&] { rc::vmap(f)(x); },
                               std::string("cond: one branch returns an undefined Tensor where another returns f64[]; "
                                           "return a value in each") +
                                   inside_vmap,
                               {x});
}

TEST(BranchErrors, APredicateOfSeveralElements) {
  const auto same = [](Tensor a) { return a; };
  expect_error<rc::ValueError>([&] { rc::cond(rc::ones({2}), same, same, rc::ones({2})); },
                               "cond: the predicate or index is f32[2]; it must have one element: reduce it with any() "
                               "or all(), or vmap over it");
}

TEST(LoopErrors, AConditionOfFloats) {
  const Tensor x = doubles({3, 3});
  const auto f = [](Tensor a) { return rc::while_loop([](Tensor b) { return b; }, [](Tensor b) { return b - 1; }, a); };
  expect_error<rc::TypeError>(
      [&] { rc::vmap(f)(x); },
      std::string("while_loop: the condition is f64[]; it must be a bool, or an integer that is 0 at the end: compare, "
                  "as in x > 0") +
          inside_vmap,
      {x});
}

TEST(LaneErrors, GroupsThatReturnDifferentTrees) {
  const Tensor x = doubles(two_signs);
  const auto f = [](Tensor a) {
    if (a > 0) return std::vector<Tensor>{a, a};
    return std::vector<Tensor>{a};
  };
  expect_error<rc::ValueError>([&] { rc::vmap(f, {.lanes = rc::Lanes::split})(x); },
                               "vmap: the examples return different trees: [*] and [*, *]; every run must return one "
                               "structure{at}",
                               {x});
}

TEST(LaneErrors, AWriteToAnArgumentOfWhichSomeExamplesRun) {
  const Tensor x = doubles(two_signs);
  const auto f = [](Tensor a) {
    if (a > 0) a.mul_(2);
    return a;
  };
  expect_error<rc::NotImplementedError>(
      [&] { rc::vmap(f, {.lanes = rc::Lanes::split})(x); },
      "mul_: the target is an argument of vmap over axis 0 of 2{at}, of whose examples only a part runs; write to a "
      "clone() of it\n  inside vmap over axis 0 of 2{at}",
      {x});
}

TEST(LaneErrors, ACustomFunctionWhoseExamplesWouldPart) {
  const Tensor x = doubles(two_signs);
  const auto sign = [](Tensor a) { return a.item() > 0 ? a : -a; };
  const auto absolute = rc::custom_vjp(
      sign, [=](Tensor a) { return std::pair{sign(a), a}; }, [](Tensor a, Tensor ct) { return ct * rc::sign(a); });
  const auto mapped = rc::vmap(absolute, {.lanes = rc::Lanes::split});
  const std::string text =
      "item: needs the value of f64[], which differs per example of vmap over axis 0 of 2{at}, in a custom function, "
      "where examples cannot part; use where, cond or while_loop there\n  inside vmap over axis 0 of 2{at}";
  expect_error<rc::TransformError>([&] { mapped(x); }, text, {x});
  expect_error<rc::TransformError>([&] { rc::grad([&](Tensor a) { return mapped(a).sum(); })(x); },
                                   text + ", inside grad{at}", {x});
}

TEST(LoopErrors, AStateThatChangesItsTree) {
  const std::vector<Tensor> state{ramp({2})};
  const auto go = [](std::vector<Tensor> s) { return s[0].sum() > 0; };
  const auto grow = [](std::vector<Tensor> s) { return std::vector<Tensor>{s[0], s[0]}; };
  expect_error<rc::ValueError>([&] { rc::while_loop(go, grow, state); },
                               "while_loop: the state changes its tree from [f64[2]] to [f64[2], f64[2]]; every step "
                               "must return the state's structure",
                               state);
}

struct Ball {
  Tensor height, speed;
};

TEST(LoopErrors, AStateThatChangesItsTypeWhateverIsKept) {
  const Ball ball{doubles({1}), doubles({2})};
  for (const auto kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log})
    expect_error<rc::ValueError>(
        [&] {
          rc::while_loop([](Ball b) { return b.height.sum() < 9; },
                         [](Ball b) { return Ball{b.height + 1, b.speed.sum()}; }, ball, {.checkpoint = kept});
        },
        "while_loop: the state (speed) changes from f64[1] to f64[]; every step must keep its shape and dtype",
        {ball.height, ball.speed});
}

TEST(LoopErrors, AStateOfWhichAStepLeavesNothing) {
  const Tensor x = ramp({2});
  expect_error<rc::ValueError>(
      [&] { rc::fori_loop(0, 2, [](Tensor, Tensor) { return Tensor(); }, x); },
      "fori_loop: the state changes from f64[2] to undefined; every step must keep its shape and dtype", {x});
}

using Counted = std::pair<Tensor, int>;
const auto below_three = [](Counted s) { return s.first < 3; };
const auto count = [](Counted s) { return Counted(s.first + 1, s.second + 1); };

TEST(LoopErrors, ANumberInTheStateThatDiffersWhereExamplesLeave) {
  const Tensor x = doubles({0, 2});
  for (const auto kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto steps = [&](Tensor a) {
      return rc::while_loop(below_three, count, Counted(a, 0), {.checkpoint = kept});
    };
    expect_error<rc::TransformError>(
        [&] { rc::vmap(steps)(x); },
        std::string(
            "while_loop: examples leave at different steps with different values that are no Tensors ([1] is of ") +
            "type int); such a value is one for all examples: make it a Tensor" + inside_vmap,
        {x});
    EXPECT_THROW(rc::vmap(rc::vmap(steps))(doubles({0, 2, 2, 0}).reshape({2, 2})), rc::TransformError);
    EXPECT_THROW(rc::vmap(rc::vmap(steps))(doubles({3, 0, 3, 3}).reshape({2, 2})), rc::TransformError);
  }
}

TEST(LoopErrors, ANumberInTheStateOfForiLoop) {
  const Tensor ends = rc::tensor({1, 3});
  const auto body = [](Tensor, Counted s) { return count(s); };
  for (const auto kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log})
    expect_error<rc::TransformError>(
        [&] {
          rc::vmap([&](Tensor n) {
            return rc::fori_loop(0, n, body, Counted(number(0), 0), {.checkpoint = kept}).first;
          })(ends);
        },
        std::string(
            "fori_loop: examples leave at different steps with different values that are no Tensors ([1] is of ") +
            "type int); such a value is one for all examples: make it a Tensor" + inside_vmap,
        {ends});
  expect_error<rc::TransformError>(
      [&] { rc::trace([&](Tensor a) { return rc::fori_loop(0, 3, body, Counted(a, 0)).first; })(number(0)); },
      "fori_loop: a step begins and ends with different values that are no Tensors ([1] is of type int); a program "
      "keeps one: make it a Tensor\n  inside trace{at}");
}

TEST(LoopErrors, ABoundTooLargeForAnInteger) {
  const Tensor x = rc::ones({2});
  expect_error<rc::ValueError>(
      [&] { rc::fori_loop(0, std::uint64_t{1} << 63, [](Tensor, Tensor s) { return s + 1; }, x, {.max_steps = 3}); },
      "fori_loop: still running after 3 steps; the condition may never become false: mend it, or raise .max_steps",
      {x});
}

TEST(LoopErrors, ANumberInTheStateThatARecordedStepChanges) {
  const Tensor x = doubles({0, 2});
  const auto steps = [](Tensor a) { return rc::while_loop(below_three, count, Counted(a, 0)).first; };
  expect_error<rc::TransformError>(
      [&] { rc::trace(steps)(x[0]); },
      "while_loop: a step begins and ends with different values that are no Tensors ([1] is of type int); a program "
      "keeps one: make it a Tensor\n  inside trace{at}",
      {x});
  const auto sums = [](Tensor a) {
    const auto step = [](Counted c, Tensor row) { return std::pair{Counted(c.first + row, c.second + 1), row}; };
    return rc::scan(step, Counted(a[0], 0), a).second;
  };
  EXPECT_THROW(rc::trace(sums)(x), rc::TransformError);
}

TEST(BranchErrors, NumbersThatDiffer) {
  const Tensor x = doubles(two_signs);
  const auto sign = [](Tensor a) {
    return rc::cond(a > 0, [](Tensor b) { return Counted(b, 1); }, [](Tensor b) { return Counted(b, -1); }, a);
  };
  const std::string differ = " different values that are no Tensors ([1] is of type int); ";
  expect_error<rc::TransformError>([&] { rc::vmap(sign)(x); },
                                   "cond: examples take branches that return" + differ +
                                       "such a value is one for all examples: make it a Tensor" + inside_vmap,
                                   {x});
  expect_error<rc::TransformError>(
      [&] { rc::trace([&](Tensor a) { return sign(a).first; })(x[0]); },
      "cond: the branches return" + differ + "a program keeps one: make it a Tensor\n  inside trace{at}", {x});
}

TEST(LoopErrors, ABoundThatIsNoInteger) {
  const Tensor x = rc::ones({2});
  const auto step = [](Tensor, Tensor y) { return y * 2; };
  expect_error<rc::TypeError>([&] { rc::fori_loop(0.5, 3, step, x); },
                              "fori_loop: the lower bound is f64[]; it must be an integer", {x});
  expect_error<rc::TypeError>([&] { rc::fori_loop(0, x.sum(), step, x); },
                              "fori_loop: the upper bound is f32[]; it must be an integer", {x});
  expect_error<rc::ValueError>([&] { rc::fori_loop(0, Tensor(), step, x); },
                               "fori_loop: the upper bound is an undefined Tensor; give it a value first", {x});
  expect_error<rc::ValueError>(
      [&] { rc::fori_loop(0, rc::arange(3), step, x); },
      "fori_loop: the upper bound is i64[3]; it must have one element: take one, for example x[0]", {x});
}

TEST(LoopErrors, AStateOfForiLoopThatChanges) {
  const std::vector<Tensor> state{ramp({2})};
  const auto grow = [](Tensor, std::vector<Tensor> s) { return std::vector<Tensor>{s[0], s[0]}; };
  expect_error<rc::ValueError>([&] { rc::fori_loop(0, 3, grow, state); },
                               "fori_loop: the state changes its tree from [f64[2]] to [f64[2], f64[2]]; every step "
                               "must return the state's structure",
                               state);
  const auto shrink = [](Tensor, std::vector<Tensor> s) { return std::vector<Tensor>{s[0].sum()}; };
  expect_error<rc::ValueError>(
      [&] { rc::trace([&](std::vector<Tensor> s) { return rc::fori_loop(0, 3, shrink, s); })(state); },
      "fori_loop: the state ([0]) changes from f64[2] to f64[]; every step must keep its shape and dtype\n"
      "  inside trace{at}",
      state);
}

TEST(ScanErrors, ResultsThatDiffer) {
  const Tensor x = rc::tril(rc::ones({2, 2}));
  expect_error<rc::ValueError>([&] { rc::map([](Tensor row) { return rc::nonzero(row); }, x); },
                               "map: the trees have different shapes: in the first the tree is i64[1,1], in number 2 "
                               "the tree is i64[2,1]; each Tensor must have one shape in all of them",
                               {x});
  int steps = 0;
  const auto step = [&](Tensor c, Tensor) { return std::pair{c, std::vector<Tensor>{rc::ones({++steps})}}; };
  expect_error<rc::ValueError>([&] { rc::scan(step, number(0), x); },
                               "scan: the trees have different shapes: in the first [0] is f32[1], in number 2 [0] is "
                               "f32[2]; each Tensor must have one shape in all of them",
                               {x});
  expect_error<rc::ValueError>(
      [&] { rc::stack_trees(std::vector<std::pair<Tensor, Tensor>>{{x, x}, {x, x[0]}}); },
      "stack_trees: the trees have different shapes: in the first [1] is f32[2,2], in number 2 [1] is f32[2]; each "
      "Tensor must have one shape in all of them",
      {x});
}

TEST(ScanErrors, OfAssociativeScan) {
  const Tensor x = rc::ones({4, 3});
  expect_error<rc::IndexError>([&] { rc::associative_scan(rc::add, x, 2); },
                               "associative_scan: axis 2 is out of range: f32[4,3] has 2 axes; the legal range is "
                               "[-2, 1]",
                               {x});
  expect_error<rc::ValueError>(
      [&] { rc::associative_scan([](Tensor a, Tensor b) { return rc::cat({a, b}); }, x, 0); },
      "associative_scan: combine makes f32[6] of two f32[3]; it must return a tree like each of them", {x});
  const std::pair<Tensor, Tensor> both{x, x};
  const auto half = [](std::pair<Tensor, Tensor> a, std::pair<Tensor, Tensor>) { return std::pair{a.first, Tensor()}; };
  expect_error<rc::ValueError>(
      [&] { rc::associative_scan(half, both); },
      "associative_scan: combine makes an undefined Tensor of two f32[3]; it must return a tree "
      "like each of them",
      {x});
  expect_error<rc::ValueError>([&] { rc::associative_scan([](Tensor, Tensor) { return Tensor(); }, x, 0); },
                               "vmap: result is an undefined Tensor; give it a value first", {x});
  expect_error<rc::ValueError>([&] { rc::scan([](Tensor c, Tensor) { return std::pair{c, Tensor()}; }, number(0), x); },
                               "scan: the tree is undefined; every Tensor needs a value to be stacked", {x});
}

TEST(RaggedErrors, ExamplesThatDifferInMoreThanTheirLength) {
  const Tensor x = rc::tensor({1, 2});
  expect_error<rc::ValueError>(
      [&] {
        rc::vmap([](Tensor n) { return rc::ones({2, n.item<std::int64_t>()}); },
                 {.out_dims = rc::ragged, .lanes = rc::Lanes::split})(x);
      },
      "vmap: a ragged result's examples differ in more than their length: their rows are f32[1] and f32[2]; return "
      "examples that differ along axis 0 alone{at}",
      {x});
}

TEST(ScanErrors, NothingToScan) {
  const auto step = [](Tensor c, std::vector<Tensor>) { return std::pair{c, c}; };
  expect_error<rc::ValueError>([&] { rc::scan(step, rc::tensor(0.), std::vector<Tensor>()); },
                               "scan: there is no Tensor to scan over: xs is []");
}

TEST(RaggedErrors, RowsAndLengthsThatDoNotFit) {
  const rc::Ragged r = rc::unpad(ramp({2, 3}), rc::tensor({1, 3}));
  expect_error<rc::IndexError>([&] { r[2]; }, "Ragged: row 2 is out of range: there are 2 rows", {r.values});
  expect_error<rc::ValueError>([&] { r.with(ramp({3})); },
                               "Ragged: f64[3] does not fit rows of f64[4]; a function of the values must keep axis 0",
                               {r.values});
  expect_error<rc::ValueError>([] { rc::unpad(ramp({2, 3}), rc::tensor({1, 2, 3})); },
                               "unpad: f64[2,3] and lengths i64[3] do not fit; pass [rows, longest, …] and [rows]");
  expect_error<rc::ValueError>([] { rc::unpad(ramp({2, 3}), rc::tensor({1, 4})); },
                               "unpad: length 4 of row 1 is out of range; the rows of f64[2,3] have 3");
  expect_error<rc::ValueError>([] { rc::cat_rows({}); }, "cat_rows: there is no Ragged to join; the vector is empty");
  expect_error<rc::ValueError>([&] { rc::cat_rows({r, rc::unpad(ramp({1, 3}), rc::tensor({2}))}); },
                               "cat_rows: the Ragged differ in their number of rows: 2 and 1");
}

}  // namespace
