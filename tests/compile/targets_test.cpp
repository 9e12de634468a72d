// What export_object promises for another processor than the one that runs: objects of its instructions alone, which
// give what the function gives.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/exported.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// A function of one tensor, and what to call it with.
struct Sample {
  std::string name;
  std::function<Tensor(const Tensor&)> f;
  Tensor x;
};

Tensor wave(const Tensor& x) { return sin(x) * exp(-x * x) + tanh(x) / (1 + sqrt(abs(x))); }
Tensor arm(const Tensor& angles) {
  const Tensor sums = cumsum(angles, 0);
  return rc::stack({cos(sums).sum(), sin(sums).sum()});
}

/// Kernels of many lanes and of one, of floats and whole numbers, with rows, totals, loops, branches, calls of libm,
/// large angles and copies.
std::vector<Sample> samples() {
  rc::manual_seed(1);
  const auto loop = [](const Tensor& xs) {
    const auto step = [](const Tensor& c, const Tensor& x) { return std::pair(sin(c) * 0.5 + x, c * 2); };
    return rc::scan(step, rc::zeros({3}), xs).second;
  };
  const auto branch = [](const Tensor& x) {
    return rc::cond(x.sum() > 0, [](const Tensor& v) { return exp(v); }, [](const Tensor& v) { return v * 2; }, x);
  };
  const auto descent = [](const Tensor& x) {
    const auto goes_on = [](const Tensor& y) { return abs(y * y - 2) > 1e-5; };
    return rc::while_loop(goes_on, [](const Tensor& y) { return y - (y * y - 2) / (2 * y); }, x, {.max_steps = 50});
  };
  return {
      {"wave", wave, rc::randn({1000}, rc::float64)},
      {"wave_of_floats", wave, rc::randn({37})},
      {"total", [](const Tensor& x) { return wave(x).sum(); }, rc::randn({5000})},
      {"rows", rc::vmap(rc::jacrev(arm)), rc::randn({40, 7})},
      {"one", rc::hessian([](const Tensor& x) { return arm(x).square().sum(); }), rc::randn({7})},
      {"called", [](const Tensor& x) { return rc::erf(x) + rc::pow(abs(x), 2.5) + lgamma(abs(x) + 1); },
       rc::randn({90})},
      {"angles", [](const Tensor& x) { return sin(x) + cos(x); }, rc::linspace(0, 1e9, 100, rc::float64)},
      {"bits", [](const Tensor& x) { return expm1(x) + rc::log(abs(x)) + round(x) + floor(x * 3); }, rc::randn({90})},
      {"whole",
       [](const Tensor& x) {
         return remainder(x.to(rc::int32) * 7, 5) + bitwise_left_shift(x.to(rc::int64), rc::tensor(2));
       },
       rc::randn({90}) * 100},
      {"loop", loop, rc::randn({30, 3})},
      {"gradient", rc::grad([loop](const Tensor& x) { return loop(x).square().sum(); }), rc::randn({30, 3})},
      {"branch", branch, rc::randn({50})},
      {"solver", rc::vmap(descent), rc::rand({40}) + 1},
      {"places", [](const Tensor& x) { return x.index_select(0, x.to(rc::int64)); }, rc::rand({20}) * 20},
      {"places_of_rows", [](const Tensor& x) { return flip(rc::pad(x.mT(), {2, 3}, 7.0), {0}); }, rc::randn({40, 30})},
      {"halves_of_lanes", [](const Tensor& x) { return (x.to(rc::bfloat16) * 3).to(rc::float32); }, rc::randn({90})},
  };
}

void expect_as_function(const Sample& s, const Tensor& result) {
  SCOPED_TRACE(s.name);
  const Tensor expected = s.f(s.x);
  expect_close(result, expected, expected.dtype() == rc::float64 ? 1e-13 : 2e-5);
}

bool has_command(const std::string& name) { return std::system(("command -v " + name + " > /dev/null").c_str()) == 0; }

/// By its name among the flags that Linux lists.
bool processor_has(const std::string& feature) {
  return std::system(("grep -qw " + feature + " /proc/cpuinfo").c_str()) == 0;
}

class Targets : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  }
  void export_samples(const std::string& target) {
    for (const Sample& s : all_) rc::export_object(rc::compile(s.f), exports_.path(s.name), {.target = target}, s.x);
  }
  void expect_called(const std::string& target) {
    SCOPED_TRACE(target);
    export_samples(target);
    exports_.link();
    for (const Sample& s : all_) {
      std::vector<Tensor> results{s.f(s.x)};
      EXPECT_EQ(exports_.call(s.name, {s.x}, results), 0) << s.name;
      expect_as_function(s, results[0]);
    }
  }
  /// How often a disassembly of the objects has what the pattern finds.
  int count_instructions(const std::string& pattern) {
    const std::string command =
        "for f in " + exports_.path("") + "*.o; do objdump -d $f; done | grep -cE '" + pattern + "' > " +
        exports_.path("count");
    static_cast<void>(std::system(command.c_str()));
    int count = -1;
    std::ifstream(exports_.path("count")) >> count;
    return count;
  }

  const std::vector<Sample> all_ = samples();
  Exports exports_;
};

TEST_F(Targets, ObjectsForOlderProcessorsRunHereAndGiveWhatTheFunctionGives) {
  if (!processor_has("sse4_2")) GTEST_SKIP() << "[SKIP] needs a processor with SSE 4.2";
  expect_called("x86-64-v2");
}
TEST_F(Targets, ObjectsForAvx2RunHereAndGiveWhatTheFunctionGives) {
  if (!processor_has("avx2")) GTEST_SKIP() << "[SKIP] needs a processor with AVX2";
  expect_called("x86-64-v3");
}
TEST_F(Targets, ObjectsForAvx512RunHereAndGiveWhatTheFunctionGives) {
  if (!processor_has("avx512vl")) GTEST_SKIP() << "[SKIP] needs a processor with AVX-512";
  expect_called("x86-64-v4");
}

TEST_F(Targets, ObjectsHaveNoRegistersThatTheProcessorLacks) {
  if (!has_command("objdump") || !processor_has("sse4_2")) GTEST_SKIP() << "[SKIP] needs objdump for x86";
  const std::string of_avx = "%ymm|\\bv[a-z0-9]+ ", of_avx512 = "%zmm|%k[0-7]|%[xy]mm(1[6-9]|2[0-9]|3[01])";
  export_samples("x86-64-v2");
  EXPECT_EQ(count_instructions(of_avx), 0);
  EXPECT_EQ(count_instructions(of_avx512), 0);
  EXPECT_GT(count_instructions("%xmm"), 100);
  export_samples("x86-64-v3");
  EXPECT_EQ(count_instructions(of_avx512), 0);
  EXPECT_GT(count_instructions("%ymm"), 100);
  export_samples("x86-64-v4");
  EXPECT_GT(count_instructions("%zmm"), 100);
}

/// A program in C that reads the argument, calls the function and writes the result.
std::string program_of(const Sample& s, const Tensor& expected) {
  const auto bytes = [](const Tensor& x) {
    return std::to_string(static_cast<std::size_t>(x.numel()) * rc::element_size(x.dtype()));
  };
  std::string upper = s.name;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  return "#include \"" + s.name + ".h\"\n#include <stdio.h>\nstatic _Alignas(64) char x[" + bytes(s.x) + "], y[" +
         bytes(expected) + "], workspace[" + upper + "_WORKSPACE_BYTES];\nint main(void) {\n" +
         "  if (fread(x, 1, sizeof x, stdin) != sizeof x) return 3;\n  if (" + s.name +
         "((void *)x, (void *)y, workspace)) return 1;\n" +
         "  return fwrite(y, 1, sizeof y, stdout) == sizeof y ? 0 : 2;\n}\n";
}

TEST_F(Targets, ObjectsForArmGiveWhatTheFunctionGivesUnderAnEmulator) {
  if (!has_command("aarch64-linux-gnu-gcc") || !has_command("qemu-aarch64"))
    GTEST_SKIP() << "[SKIP] needs qemu-user and gcc-aarch64-linux-gnu";
  export_samples("aarch64");
  for (const Sample& s : all_) {
    const Tensor expected = s.f(s.x), x = s.x.contiguous(), y = rc::clone(expected.contiguous());
    const std::string path = exports_.path(s.name);
    std::ofstream(path + ".c") << program_of(s, expected);
    std::ofstream(path + ".in", std::ios::binary)
        .write(static_cast<const char*>(bytes_at(x)), static_cast<std::streamsize>(byte_count(x)));
    const std::string command = "aarch64-linux-gnu-gcc -static -o " + path + " " + path + ".c " + path +
                                ".o -lm && qemu-aarch64 " + path + " < " + path + ".in > " + path + ".out";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream(path + ".out", std::ios::binary)
        .read(static_cast<char*>(bytes_at(y)), static_cast<std::streamsize>(byte_count(y)));
    expect_as_function(s, y);
  }
}

TEST_F(Targets, HeadersNameTheTarget) {
  rc::export_object(rc::compile(wave), exports_.path("f"), {.target = "aarch64"}, rc::ones({3}));
  EXPECT_NE(exports_.header("f").find("for the target aarch64. Link f.o"), std::string::npos) << exports_.header("f");
}

TEST_F(Targets, ObjectsForAnotherProcessorTakeAnyNumberOfExamples) {
  if (!processor_has("sse4_2")) GTEST_SKIP() << "[SKIP] needs a processor with SSE 4.2";
  const auto f = rc::vmap(rc::jacrev(arm));
  rc::export_object(rc::compile(f), exports_.path("f"), {.open = 0, .target = "x86-64-v2"}, rc::ones({5, 7}));
  exports_.link();
  for (const std::int64_t examples : {1, 3, 40}) {
    const Tensor x = rc::randn({examples, 7});
    std::vector<Tensor> results{f(x)};
    EXPECT_EQ(exports_.call("f", {x}, results, examples), 0);
    expect_close(results[0], f(x), 1e-5);
  }
}

TEST_F(Targets, RefuseOtherNamesAndWhatTheProcessorLacks) {
  const Tensor x = rc::ones({3});
  expect_error<rc::ValueError>(
      [&] { rc::export_object(rc::compile(wave), exports_.path("f"), {.target = "x86-64-v9"}, x); },
      "export_object: there is no target \"x86-64-v9\"; there are \"x86-64-v2\", \"x86-64-v3\", \"x86-64-v4\", "
      "\"aarch64\", and without a target the object is for this machine{at}",
      {x});
  const auto halves = [](const Tensor& v) { return (v.to(rc::float16) * 3).to(rc::float32); };
  expect_error<rc::NotImplementedError>(
      [&] { rc::export_object(rc::compile(halves), exports_.path("f"), {.target = "x86-64-v2"}, x); },
      "export_object: code for x86-64-v2 calls __truncsfhf2, which is no function of C's library: the processor has no "
      "such instruction (of float16, mostly); take another target{at}",
      {x});
}

}  // namespace
