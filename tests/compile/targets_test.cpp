// What export_object promises for another processor than the one that runs, and for C: objects of the processor's
// instructions alone, or text, which give what the function gives.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <functional>
#include <limits>
#include <sstream>
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
  const auto swaps = [](const Tensor& x) {
    using Pair = std::pair<Tensor, Tensor>;
    const auto turn = [](const Tensor&, const Pair& s) { return Pair(s.second, s.first + 1); };
    const Pair both = rc::fori_loop(0, 3, turn, Pair(x, x * 2));
    return both.first - 2 * both.second;
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
      {"swaps", swaps, rc::randn({100})},
      {"records", rc::grad([descent](const Tensor& x) { return descent(x).sum(); }), rc::tensor(1.5)},
      {"adds", rc::grad([](const Tensor& x) { return sin(x.index_select(0, rc::tensor({4, 0, 4}))).sum(); }),
       rc::randn({5, 3})},
      {"running", [](const Tensor& x) { return cumsum(x, 1); }, rc::randn({4, 300, 3})},
      {"products", [](const Tensor& x) { return matmul(x, x.mT()); }, rc::randn({3, 20, 70})},
      {"softmax", [](const Tensor& x) { return rc::softmax(x, -1); }, rc::randn({5, 300})},
      {"branches_of_examples", rc::vmap(branch), rc::randn({30, 2})},
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
    expect_all_called();
  }
  void expect_all_called() {
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
    if (exports_.header(s.name).find("CBLAS") != std::string::npos) continue;  // there is none for ARM
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

TEST_F(Targets, TextInCGivesWhatTheFunctionGives) {
  export_samples("c");
  exports_.compile_c("-O2");
  expect_all_called();
}
/// A trap ends the process where behaviour is undefined.
TEST_F(Targets, TextInCDoesNothingUndefined) {
  export_samples("c");
  exports_.compile_c("-O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error");
  expect_all_called();
}
TEST_F(Targets, TextInCTakesHalves) {
  const auto f = [](const Tensor& x) { return matmul(x.to(rc::float16), x.to(rc::float16).mT()); };
  const auto halves = [](const Tensor& x) { return x.to(rc::float16).to(rc::float32); };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = rc::randn({20, 70}), edges = rc::cat({rc::linspace(-70000, 70000, 999), rc::linspace(0, 2e-4, 999),
                                                         rc::tensor({infinity, -infinity, -0.0, 65519.0, 65520.0})});
  rc::export_object(rc::compile(f), exports_.path("f"), {.target = "c"}, x);
  rc::export_object(rc::compile(halves), exports_.path("halves"), {.target = "c"}, edges);
  exports_.compile_c();
  std::vector<Tensor> results{f(x)};
  EXPECT_EQ(exports_.call("f", {x}, results), 0);
  expect_close(results[0], f(x), 1e-2);
  results = {halves(edges)};
  EXPECT_EQ(exports_.call("halves", {edges}, results), 0);
  expect_equal(results[0], halves(edges));
}
TEST_F(Targets, TextInCGivesOneWhereTheFunctionThrows) {
  const auto forever = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& y) { return y.sum() < 1; }, [](const Tensor& y) { return y * 1; }, x,
                          {.max_steps = 10});
  };
  const auto take = [](const Tensor& x) { return rc::take(x, x.to(rc::int64)); };
  const Tensor at_once = rc::ones({2}), never = rc::zeros({2}), places = rc::zeros({300}), outside = places + 300;
  rc::export_object(rc::compile(forever), exports_.path("forever"), {.target = "c"}, at_once);
  rc::export_object(rc::compile(take), exports_.path("take"), {.target = "c"}, places);
  exports_.compile_c();
  std::vector<Tensor> results{at_once};
  EXPECT_EQ(exports_.call("forever", {at_once}, results), 0);
  EXPECT_EQ(exports_.call("forever", {never}, results), 1);
  results = {places};
  EXPECT_EQ(exports_.call("take", {places}, results), 0);
  EXPECT_EQ(exports_.call("take", {outside}, results), 1);
}
TEST_F(Targets, TextInCTakesAnyNumberOfExamples) {
  const auto f = rc::vmap(rc::jacrev(arm));
  rc::export_object(rc::compile(f), exports_.path("f"), {.open = 0, .target = "c"}, rc::ones({5, 7}));
  exports_.compile_c();
  for (const std::int64_t examples : {1, 3, 40}) {
    const Tensor x = rc::randn({examples, 7});
    std::vector<Tensor> results{f(x)};
    EXPECT_EQ(exports_.call("f", {x}, results, examples), 0);
    expect_close(results[0], f(x), 1e-5);
  }
  std::vector<Tensor> none{rc::zeros({1, 2, 7})};
  EXPECT_EQ(exports_.call("f", {rc::zeros({1, 7})}, none, -1), 1);
}

TEST_F(Targets, ExamplesAreThreadsInPtx) {
  const auto f = [](const Tensor& x) { return x * x.sum() + 1; };
  rc::export_object(rc::compile(rc::vmap(f)), exports_.path("kernel"), {.open = 0, .target = "ptx"}, rc::ones({5, 7}));
  rc::export_object(rc::compile(f), exports_.path("function"), {.target = "ptx"}, rc::ones({7}));
  const std::string kernel = exports_.text("kernel.ptx"), function = exports_.text("function.ptx");
  EXPECT_NE(kernel.find(".visible .entry kernel("), std::string::npos);
  EXPECT_NE(kernel.find("%ctaid.x"), std::string::npos);
  EXPECT_EQ(kernel.find("fma."), std::string::npos) << "a product is fused with a sum, which rounds another way";
  EXPECT_EQ(kernel.find(".local"), std::string::npos) << "values of a short function stand in memory";
  EXPECT_NE(function.find("function(\n"), std::string::npos);
  EXPECT_EQ(function.find(".entry"), std::string::npos);
  const std::string of_kernel = exports_.header("kernel"), of_function = exports_.header("function");
  EXPECT_NE(of_kernel.find("__global__ void kernel(int64_t s0, const float *argument_0 /* f32[s0,7] */, "
                           "float *result /* f32[s0,7] */, int *failed);"),
            std::string::npos);
  EXPECT_NE(of_function.find("__device__ int function(const float *argument_0 /* f32[7] */, "
                             "float *result /* f32[7] */);"),
            std::string::npos);
}
/// Accesses at addresses that are no multiple of their size fail there.
TEST_F(Targets, PtxCopiesComplexNumbersHalfByHalf) {
  const auto turn = [](const Tensor& x) { return rc::flip(x, {0}); };
  rc::export_object(rc::compile(turn), exports_.path("turn"), {.target = "ptx"}, rc::ones({40}, rc::complex64));
  const std::string text = exports_.text("turn.ptx");
  EXPECT_EQ(text.find("ld.u64"), std::string::npos);
  EXPECT_NE(text.find("ld.u32"), std::string::npos);
}
TEST_F(Targets, PtxIsRefusedWhereAThreadLacksMemory) {
  const auto large = [](const Tensor& x) { return rc::cumsum(rc::cumsum(x, 0) * 2, 0); };
  const auto write = [&] {
    rc::export_object(rc::compile(large), exports_.path("large"), {.target = "ptx"}, rc::ones({300'000}));
  };
  expect_error<rc::NotImplementedError>(
      write,
      "export_object: the function needs 2400008 bytes of memory in each thread, which has at most 500000; export its "
      "parts, or smaller examples{at}");
  EXPECT_EQ(exports_.text("large.ptx"), "");
}

TEST_F(Targets, TextInCIsReadByPeople) {
  struct Layer {
    Tensor weight, bias;
  };
  const auto f = [](const Layer& layer, const Tensor& x) { return tanh(x * layer.weight + layer.bias).sum(); };
  const Layer layer{rc::ones({500}), rc::tensor(0.5)};
  rc::export_object(rc::compile(f), exports_.path("layer"), {.target = "c"}, layer, rc::ones({500}));
  std::ifstream file(exports_.path("layer.c"));
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(),
            "/* Written by Ricci for any machine. Compile layer.c as C99, and link the C library's functions, -lm. */\n"
            R"(#include <math.h>
#include <stdint.h>

#include "layer.h"

int layer(const float *restrict argument_0_weight,
          const float *restrict argument_0_bias,
          const float *restrict argument_1,
          float *restrict result,
          void *restrict workspace) {
  (void)workspace;
  float total1 = -0.0F;
  for (int64_t i = 0; i < 500; ++i) {
    const float v0 = argument_0_bias[0] + argument_1[i] * argument_0_weight[i];
    total1 = total1 + tanhf(v0);
  }
  result[0] = total1;
  return 0;
}
)");
}

TEST_F(Targets, TextInCIsRefusedWhereCHasNoFunction) {
  const Tensor x = rc::ones({300});
  const auto refuse = [&](const auto& f, const std::string& why) {
    expect_error<rc::NotImplementedError>(
        [&] { rc::export_object(rc::compile(f), exports_.path("f"), {.target = "c"}, x); },
        "export_object: " + why + "; export the parts before and behind it as functions of their own{at}", {x});
  };
  refuse([](const Tensor& v) { return digamma(v); },
         "the C library has no digamma of float32, and an exported function calls no other library");
  refuse([](const Tensor& v) { return rc::sort(v).first; },
         "sort of f32[300] is computed by the library, and an exported function runs without it");
  for (const char* name : {"exp", "erff", "sqrtl"})
    expect_error<rc::ValueError>(
        [&] { rc::export_object(rc::compile(wave), exports_.path(name), {.target = "c"}, x); },
        "export_object: C has a function called " + std::string(name) + ", in math.h; choose another name{at}", {x});
  EXPECT_TRUE(std::filesystem::is_empty(exports_.path("")));
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
      "\"aarch64\", \"c\", \"ptx\", and without a target the object is for this machine{at}",
      {x});
  const auto halves = [](const Tensor& v) { return (v.to(rc::float16) * 3).to(rc::float32); };
  expect_error<rc::NotImplementedError>(
      [&] { rc::export_object(rc::compile(halves), exports_.path("f"), {.target = "x86-64-v2"}, x); },
      "export_object: code for x86-64-v2 calls __truncsfhf2, which is no function of C's library: the processor has no "
      "such instruction (of float16, mostly); take another target{at}",
      {x});
}

}  // namespace
