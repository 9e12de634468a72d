// What export_object promises with `.open`: one function in C for any number of examples.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/exported.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Layer {
  Tensor weight, bias;
};

class OpenSizes : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  }
  /// Exports f for any number of examples, shown with five, and holds it against f for several numbers of them.
  /// `arguments(n)` gives a tuple of arguments with n examples.
  template <class F, class Arguments>
  void expect_examples(const F& f, const rc::Dims& open, const Arguments& arguments, double tolerance = 0) {
    Exports exports;
    const auto fast = rc::compile(f);
    std::apply([&](const auto&... a) { rc::export_object(fast, exports.path("f"), {.open = open}, a...); },
               arguments(5));
    exports.link();
    for (const std::int64_t n : {1, 2, 7, 16, 17, 100, 1000}) {
      SCOPED_TRACE(std::to_string(n) + " examples");
      const auto given = arguments(n);
      const Tensor expected = std::apply([&](const auto&... a) { return rc::compile(f)(a...); }, given);
      std::vector<Tensor> results{expected};
      const std::vector<Tensor> all = std::apply([](const auto&... a) { return std::vector<Tensor>{a...}; }, given);
      EXPECT_EQ(exports.call("f", all, results, n), 0);
      if (tolerance == 0) expect_equal(results[0], expected);
      else expect_close(results[0], expected, tolerance);
    }
  }
};

Tensor arm(const Tensor& angles) {
  const Tensor sums = cumsum(angles, 0);
  return rc::stack({cos(sums).sum(), sin(sums).sum()});
}

auto rows_of(const rc::Shape& shape, rc::DType dtype = rc::float32) {
  return [=](std::int64_t n) {
    rc::Shape all{n};
    for (const rc::Size size : shape) all.push_back(size);
    return std::tuple(rc::randn(all).to(dtype));
  };
}

TEST_F(OpenSizes, GiveTheBitsOfTheCompiledFunctionForEachNumberOfExamples) {
  rc::manual_seed(1);
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    expect_examples(rc::vmap(arm), 0, rows_of({7}, dtype));
    expect_examples(rc::vmap(rc::jacrev(arm)), 0, rows_of({7}, dtype));
    expect_examples(rc::vmap(rc::hessian([](const Tensor& x) { return arm(x).square().sum(); })), 0,
                    rows_of({5}, dtype));
  }
  expect_examples([](const Tensor& x) { return sin(x) * 2; }, 0, rows_of({}));
  expect_examples(rc::vmap([](const Tensor& x) { return softmax(x, 0); }), 0, rows_of({12}), 1e-6);
  expect_examples([](const Tensor& x) { return x.mT() > 0; }, 0, rows_of({3, 4}));
}

TEST_F(OpenSizes, ShareArgumentsThatAreNotOpen) {
  rc::manual_seed(2);
  const auto dense = [](const Tensor& w, const Tensor& b, const Tensor& x) { return tanh(matmul(w, x) + b); };
  expect_examples(rc::vmap(dense, {.in_dims = {rc::none, rc::none, 0}}), {rc::none, rc::none, 0}, [](std::int64_t n) {
    return std::tuple(rc::randn({4, 3}), rc::randn({4}), rc::randn({n, 3}));
  });
  const auto pairs = [](const Tensor& x, const Tensor& y) { return matmul(x, y); };
  expect_examples(rc::vmap(pairs), 0, [](std::int64_t n) {
    return std::tuple(rc::randn({n, 3, 4}), rc::randn({n, 4, 2}));
  });
}

TEST_F(OpenSizes, RunLoopsOfExamplesThatTakeDifferentNumbersOfTurns) {
  rc::manual_seed(3);
  const auto root = [](const Tensor& a) {
    return rc::while_loop([a](const Tensor& y) { return abs(y * y - a) > 1e-3; },
                          [a](const Tensor& y) { return 0.5 * (y + a / y); }, a + 1, {.max_steps = 100});
  };
  expect_examples(rc::vmap(root), 0, [](std::int64_t n) { return std::tuple(rc::rand({n}) * 50 + 0.1); });
  const auto walk = [](const Tensor& x) {
    return rc::fori_loop(0, 30, [](const Tensor&, const Tensor& y) { return y + 0.1 * sin(y); }, x);
  };
  expect_examples(rc::vmap(rc::grad([walk](const Tensor& x) { return walk(x).sum(); })), 0, rows_of({3}));
}

TEST_F(OpenSizes, MultiplyLargeMatricesByBlas) {
  rc::manual_seed(4);
  const Tensor w = rc::randn({200, 300}) / 15, v = rc::randn({300, 10}) / 17;
  expect_examples([w, v](const Tensor& x) { return matmul(tanh(matmul(x, w)), v); }, 0, rows_of({200}), 1e-5);
}

TEST_F(OpenSizes, AreTheFirstParameterInC) {
  rc::manual_seed(5);
  Exports exports;
  const auto f = [](const Layer& layer, const Tensor& x) {
    const Tensor y = matmul(layer.weight, x) + layer.bias;
    return std::pair(y, y > 0);
  };
  const auto mapped = rc::vmap(f, {.in_dims = {rc::none, 0}});
  const Layer layer{rc::randn({2, 3}), rc::randn({2})};
  rc::export_object(rc::compile(mapped), exports.path("layer"), {.open = {rc::none, 0}}, layer, rc::zeros({40, 3}));
  for (const char* said : {"int layer(int64_t s0,", "argument_0_weight /* f32[2,3] */", "argument_1 /* f32[s0,3] */",
                           "result_0 /* f32[s0,2] */", "result_1 /* bool[s0,2] */"})
    EXPECT_NE(exports.header("layer").find(said), std::string::npos) << said << " in\n" << exports.header("layer");
  std::ofstream(exports.path("program.c")) << R"(#include "layer.h"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
  static _Alignas(64) unsigned char workspace[LAYER_WORKSPACE_BYTES];
  const int64_t n = atoll(words[1]);
  float weight[6], bias[2], *x = malloc(n * 3 * sizeof *x + 1), *y = malloc(n * 2 * sizeof *y + 1);
  uint8_t *is_positive = malloc(n * 2 + 1);
  if (count != 2 || fread(weight, 4, 6, stdin) != 6 || fread(bias, 4, 2, stdin) != 2) return 2;
  if (fread(x, 4, n * 3, stdin) != (size_t)n * 3) return 3;
  if (layer(n, weight, bias, x, y, is_positive, workspace) != 0) return 4;
  fwrite(y, 4, n * 2, stdout);
  fwrite(is_positive, 1, n * 2, stdout);
  return 0;
})";
  const std::string program = exports.path("program");
  const std::string build = std::string(RICCI_TEST_COMPILER) + " -x c -std=c11 -Wall -Wextra -Werror -o " + program +
                            " " + program + ".c -x none " + exports.path("layer.o") + " -lm";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  const auto bytes = [](const Tensor& x) {
    const Tensor rows = x.contiguous();
    const auto elements = static_cast<const rc::Array&>(*rc::value_of(rows)).strided();
    return std::string(static_cast<const char*>(elements.data),
                       static_cast<std::size_t>(x.numel()) * rc::element_size(x.dtype()));
  };
  for (const std::int64_t n : {0, 1, 7, 16, 1000}) {
    const Tensor x = rc::randn({n, 3});
    std::ofstream(program + ".in") << bytes(layer.weight) << bytes(layer.bias) << bytes(x);
    const std::string run = program + " " + std::to_string(n) + " < " + program + ".in > " + program + ".out";
    ASSERT_EQ(std::system(run.c_str()), 0) << run;
    std::ifstream file(program + ".out");
    std::ostringstream found;
    found << file.rdbuf();
    const auto [y, is_positive] = mapped(layer, x);
    EXPECT_EQ(found.str(), bytes(y) + bytes(is_positive)) << n << " examples";
  }
}

TEST_F(OpenSizes, AreAssertedInCpp) {
  Exports exports;
  rc::export_object(rc::compile(rc::vmap(arm)), exports.path("arm"), {.open = 0}, rc::zeros({5, 3}));
  std::ofstream(exports.path("program.cpp")) << R"(#include "arm.hpp"
#include <vector>
int main(int count, char **) {
  static arm::Workspace workspace;
  for (std::int64_t n : {0, 1, 100}) {
    const std::vector<float> x(n * 3 + count - 1);
    std::vector<float> y(n * 2, 7.0F);
    if (!arm::call(n, x, y, workspace)) return 1;
    for (std::int64_t i = 0; i < n; ++i)
      if (y[2 * i] != 3 || y[2 * i + 1] != 0) return 2;
  }
})";
  const std::string program = exports.path("program");
  const std::string build = std::string(RICCI_TEST_COMPILER) + " -std=c++20 -Wall -Wextra -Wpedantic -Werror -o " +
                            program + " " + program + ".cpp " + exports.path("arm.o") + " -lm";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  EXPECT_EQ(std::system(program.c_str()), 0);
  EXPECT_NE(std::system((program + " one_more > /dev/null 2>&1").c_str()), 0);
}

TEST_F(OpenSizes, GiveOneBelowZeroAndWhereNoArrayIsSoLong) {
  Exports exports;
  rc::export_object(rc::compile(rc::vmap(arm)), exports.path("arm"), {.open = 0}, rc::zeros({5, 3}));
  exports.link();
  for (const std::int64_t n : {std::int64_t{-1}, INT64_MIN, INT64_MAX, INT64_MAX / 12 + 1}) {
    std::vector<Tensor> results{rc::zeros({0, 2})};
    EXPECT_EQ(exports.call("arm", {rc::zeros({0, 3})}, results, n), 1) << n;
  }
  std::vector<Tensor> results{rc::zeros({0, 2})};
  EXPECT_EQ(exports.call("arm", {rc::zeros({0, 3})}, results, 0), 0);
}

TEST_F(OpenSizes, GiveOneWhereTheFunctionThrowsForAnExample) {
  Exports exports;
  const auto factor = rc::vmap([](const Tensor& a) { return rc::cholesky(a); });
  const auto good = [](std::int64_t n) { return rc::eye(3).expand({n, 3, 3}); };
  rc::export_object(rc::compile(factor), exports.path("factor"), {.open = 0}, good(5));
  exports.link();
  for (const std::int64_t n : {1, 7, 100}) {
    std::vector<Tensor> results{good(n).contiguous()};
    EXPECT_EQ(exports.call("factor", {good(n)}, results, n), 0);
    expect_equal(results[0], good(n).contiguous());
    const Tensor bad = rc::cat({good(n - 1), -good(1)});
    EXPECT_EQ(exports.call("factor", {bad}, results, n), 1);
  }
}

TEST_F(OpenSizes, LeaveThePlansOfTheFunctionAsTheyAre) {
  Exports exports;
  const auto fast = rc::compile(rc::vmap(arm));
  rc::export_object(fast, exports.path("arm"), {.open = 0}, rc::zeros({40, 3}));
  EXPECT_EQ(fast.plans(), 0U);
}

TEST_F(OpenSizes, RefuseFunctionsWhoseExamplesKnowOfEachOther) {
  Exports exports;
  const Tensor x = rc::ones({20, 3});
  const auto refuse = [&](const auto& f, const std::string& operation,
                          const std::string& remedy = "export what each example does by itself, or all for one number "
                                                      "of them, without .open") {
    expect_error<rc::NotImplementedError>(
        [&] { rc::export_object(rc::compile(f), exports.path("f"), {.open = 0}, x); },
        "export_object: in " + operation +
            " examples may know of each other, and an object goes through them in blocks; " + remedy + "{at}",
        {x});
  };
  refuse([](const Tensor& v) { return v - v.mean({0}, true); }, "mean of f32[s0,3]");
  refuse([](const Tensor& v) { return flip(v, {0}); }, "flip of f32[s0,3]");
  refuse([](const Tensor& v) { return cumsum(v, 0); }, "cumsum of f32[s0,3]");
  refuse([](const Tensor& v) { return v * dot(v.select(1, 0), v.select(1, 1)); }, "matmul of f32[s0]");
  refuse([](const Tensor& v) { return v * matmul(v.select(1, 0), v); }, "matmul of f32[3,s0]");
  const std::string places =
      "reading and writing at a place that each example computes does so (x[k], index_select, gather, index_put under "
      "vmap); write it by all places, x[k] as where(arange(n) == k, x, 0).sum()";
  const auto place_of = [](const Tensor& v) { return argmax(v); };
  const Tensor table = rc::ones({5});
  refuse(rc::vmap([&](const Tensor& v) { return v.index({place_of(v)}); }), "arange_integers of i64[s0]", places);
  refuse(rc::vmap([&](const Tensor& v) { return table.index({place_of(v)}); }), "index of f32[5]", places);
  refuse(rc::vmap([&](const Tensor& v) {
           const auto turn = [&](const Tensor& k, const Tensor& sum) { return sum + v.index({k}); };
           return rc::fori_loop(0, 3, turn, v[0] * 0);
         }),
         "index of f32[3,s0]", places);
  const auto twice = [](const Tensor& v) { return v * 2; };
  const auto sine = [](const Tensor& v) { return sin(v); };
  refuse(rc::vmap([&](const Tensor& v) { return rc::cond(v[0] > 0, twice, sine, v); }), "any of bool[s0]",
         "a cond of each example asks whether any takes a branch; write where(condition, a, b)");
  EXPECT_TRUE(std::filesystem::is_empty(exports.path("")));
}

TEST_F(OpenSizes, RefuseFunctionsThatDecideByTheirNumber) {
  Exports exports;
  const Tensor x = rc::ones({20, 3});
  const auto refuse = [&](const auto& f, const std::string& why) {
    expect_error<rc::ValueError>([&] { rc::export_object(rc::compile(f), exports.path("f"), {.open = 0}, x); },
                                 "export_object: " + why + "{at}", {x});
  };
  refuse([](const Tensor& v) { return v.shape()[0] < 2000 ? v * 2 : v; },
         "a use of a size{at} decides by the number of examples: for 2047 of them it is not so that s0 is less than "
         "2000; export the function for one number of examples, without .open");
  refuse([](const Tensor& v) { return v * static_cast<double>(v.size(0)); },
         "a use of a size{at} needs one number of examples; use x.shape()[0] to leave it open");
  refuse([](const Tensor& v) { return v.sum({0}); },
         "f32[3] is a result without examples in front; give it as one for each example, or export it as a function of "
         "its own");
}

TEST_F(OpenSizes, RefuseAxesThatDoNotFitTheArguments) {
  Exports exports;
  const Tensor x = rc::ones({20, 3}), y = rc::ones({5, 3}), number = rc::tensor(2.0);
  const auto fast = rc::compile([](const Tensor& a, const Tensor& b) { return a * b; });
  const auto refuse = [&](const rc::Dims& open, const Tensor& a, const Tensor& b, const std::string& why) {
    expect_error<rc::ValueError>([&] { rc::export_object(fast, exports.path("f"), {.open = open}, a, b); },
                                 "export_object: " + why + "{at}", {a, b});
  };
  refuse({0, 0}, x, y,
         "the open axis of argument 1, f32[5,3], has 5 examples, and those before have 20; all have one number");
  refuse({1, rc::none}, x, y,
         "axis 1 of argument 0, f32[20,3], is not the first, and only the first can be open; let the function take it "
         "in front");
  refuse({rc::none, 0}, x, number, "no axis to open is in argument 1, f32[], which needs rc::none");
  refuse({rc::none, rc::none}, x, y, "no argument is open; give .open = 0 for one that has examples, or leave it out");
}

}  // namespace
