// Compiled functions beside the same functions run eagerly, for sizes from 1 to 1,024: products of matrices, layers,
// attention, small networks and their gradients. No compiled function should be slower. Prints compiled / eager, each
// the least processor time of interleaved runs on one thread. A ! stands behind what takes more than 1.1 of eager.
//
//     build/release/bench/sizes_bench                    # all
//     build/release/bench/sizes_bench attention 8 12 16  # functions whose name holds the word, at these sizes, in us
//     build/release/bench/sizes_bench --small            # each function once at a few sizes, values compared
#include <ricci/compile.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

struct Sized {
  std::string name;
  Function f;
  std::function<Tensors(std::int64_t)> inputs;
};

/// The gradients of the sum of squares of f by all inputs, or by the first `count`.
Function gradient_of(const Function& f, std::size_t count = SIZE_MAX) {
  return [=](const Tensors& x) {
    const auto by = x.begin() + static_cast<std::ptrdiff_t>(std::min(count, x.size()));
    const auto loss = [&](const Tensors& first) {
      Tensors all = first;
      all.insert(all.end(), by, x.end());
      return square(f(all)[0]).sum();
    };
    return rc::grad(loss)(Tensors(x.begin(), by));
  };
}

Tensor uniform(const rc::Shape& shape) { return rc::rand(shape) - 0.5; }

Tensors product(const Tensors& x) { return {matmul(x[0], x[1])}; }
Tensors dense(const Tensors& x) { return {tanh(matmul(x[0], x[1]) + x[2])}; }
Tensors softmax_of_rows(const Tensors& x) { return {softmax(x[0], -1)}; }
Tensors normalised(const Tensors& x) { return {rc::layer_norm(x[0], {x[0].size(-1)}, x[1], x[2])}; }
Tensors normalised_by_hand(const Tensors& x) {
  const Tensor centred = x[0] - x[0].mean({-1}, true);
  return {centred / sqrt(square(centred).mean({-1}, true) + 1e-5) * x[1] + x[2]};
}
Tensors attended(const Tensors& x) { return {rc::scaled_dot_product_attention(x[0], x[1], x[2])}; }
Tensors attended_by_hand(const Tensors& x) {
  return {matmul(softmax(matmul(x[0], x[1].transpose(-1, -2)) * 0.125, -1), x[2])};
}
Tensors chain(const Tensors& x) { return {sin(x[0]) * x[0] + exp(-square(x[0]))}; }
Tensors network(const Tensors& x) {
  return {matmul(tanh(matmul(tanh(matmul(x[0], x[1]) + x[2]), x[3]) + x[4]), x[5])};
}

std::vector<Sized> functions() {
  const auto shapes = [](auto of) {
    return [of](std::int64_t n) {
      Tensors all;
      for (const rc::Shape& shape : of(n)) all.push_back(uniform(shape));
      return all;
    };
  };
  using Shapes = std::vector<rc::Shape>;
  const auto squares = shapes([](std::int64_t n) { return Shapes{{n, n}, {n, n}}; });
  const auto row = shapes([](std::int64_t n) { return Shapes{{n}, {n, n}}; });
  const auto batch = shapes([](std::int64_t n) { return Shapes{{32, n}, {n, n}}; });
  const auto skinny = shapes([](std::int64_t n) { return Shapes{{n, 8}, {8, 3}}; });
  const auto layer = shapes([](std::int64_t n) { return Shapes{{32, n}, {n, n}, {n}}; });
  const auto rows = shapes([](std::int64_t n) { return Shapes{{64, n}}; });
  const auto scaled_rows = shapes([](std::int64_t n) { return Shapes{{64, n}, {n}, {n}}; });
  const auto heads = shapes([](std::int64_t n) {
    const std::int64_t count = std::max<std::int64_t>(1, (1 << 14) / (n * n));
    return Shapes{{count, n, 64}, {count, n, 64}, {count, n, 64}};
  });
  const auto of_net = [&](std::int64_t examples) {
    return shapes([=](std::int64_t n) {
      return Shapes{{examples, n}, {n, 16}, {16}, {16, 16}, {16}, {16, 1}};
    });
  };
  const auto lone = shapes([](std::int64_t n) { return Shapes{{n}, {n, n}, {n}, {n, n}, {n}, {n, 1}}; });
  return {
      {"product", product, squares},
      {"product, gradient", gradient_of(product), squares},
      {"row times matrix", product, row},
      {"row times matrix, gradient by the row", gradient_of(product, 1), row},
      {"row times matrix, gradient", gradient_of(product), row},
      {"32 rows times matrix", product, batch},
      {"32 rows times matrix, gradient", gradient_of(product), batch},
      {"n rows times 8 x 3", product, skinny},
      {"n rows times 8 x 3, gradient", gradient_of(product), skinny},
      {"dense layer", dense, layer},
      {"dense layer, gradient", gradient_of(dense), layer},
      {"softmax", softmax_of_rows, rows},
      {"softmax, gradient", gradient_of(softmax_of_rows), rows},
      {"layer norm", normalised, scaled_rows},
      {"layer norm, gradient", gradient_of(normalised), scaled_rows},
      {"layer norm by hand", normalised_by_hand, scaled_rows},
      {"layer norm by hand, gradient", gradient_of(normalised_by_hand), scaled_rows},
      {"attention", attended, heads},
      {"attention, gradient", gradient_of(attended), heads},
      {"attention by hand", attended_by_hand, heads},
      {"attention by hand, gradient", gradient_of(attended_by_hand), heads},
      {"elementwise", chain, rows},
      {"elementwise, gradient", gradient_of(chain), rows},
      {"network", network, of_net(32)},
      {"network, gradient", gradient_of(network), of_net(32)},
      {"network of one example", network, lone},
      {"network of one example, gradient", gradient_of(network), lone},
  };
}

/// Of the processor, so that other programs on the machine count less.
double nanoseconds_now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <class F>
double nanoseconds_of(const F& f, int times) {
  const double begin = nanoseconds_now();
  for (int i = 0; i < times; ++i) f();
  return (nanoseconds_now() - begin) / times;
}

struct Times {
  double eager = 1e300, compiled = 1e300;  // nanoseconds
};

Times times_of(const Sized& one, std::int64_t n) {
  constexpr double of_batch = 20e3, of_all = 10e6;
  constexpr int fewest_rounds = 7;
  const Tensors x = one.inputs(n);
  const auto fast = rc::compile(one.f);
  const auto eager = [&] { one.f(x); };
  const auto compiled = [&] { fast(x); };
  for (int i = 0; i < 3; ++i) eager(), compiled();
  const double once = std::max(nanoseconds_of(eager, 1), nanoseconds_of(compiled, 1));
  const int times = static_cast<int>(std::max(1., of_batch / once));
  Times least;
  double all = 0;
  for (int round = 0; round < fewest_rounds || all < of_all; ++round) {
    const double of_eager = nanoseconds_of(eager, times), of_compiled = nanoseconds_of(compiled, times);
    least.eager = std::min(least.eager, of_eager);
    least.compiled = std::min(least.compiled, of_compiled);
    all += (of_eager + of_compiled) * times;
  }
  return least;
}

bool agree(const Sized& one, std::int64_t n) {
  const Tensors x = one.inputs(n), eager = one.f(x), compiled = rc::compile(one.f)(x);
  for (std::size_t i = 0; i < eager.size(); ++i) {
    const double most = abs(eager[i]).max().item<double>();
    if (!(abs(eager[i] - compiled[i]).max().item<double>() <= 1e-4 * (most + 1e-3))) return false;
  }
  return true;
}

int compare_values() {
  for (const Sized& one : functions())
    for (const std::int64_t n : {1, 8, 33})
      if (!agree(one, n)) {
        std::printf("%s at %d: compiled values differ\n", one.name.c_str(), static_cast<int>(n));
        return 1;
      }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "--small") return compare_values();
  rc::set_num_threads(1);
  std::vector<std::int64_t> sizes{1, 2, 3, 4, 6, 8, 12, 16, 17, 24, 32, 48, 64, 96, 128, 192, 256, 300, 512, 1024};
  const bool prints_times = argc > 2;
  if (prints_times) sizes.clear();
  for (int i = 2; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  std::printf("%-38s", "compiled / eager, n =");
  for (const std::int64_t n : sizes) std::printf(prints_times ? "%21d" : "%6d", static_cast<int>(n));
  std::printf("\n");
  int slower = 0;
  for (const Sized& one : functions()) {
    if (one.name.find(word) == std::string::npos) continue;
    std::printf("%-38s", one.name.c_str());
    for (const std::int64_t n : sizes) {
      const Times times = times_of(one, n);
      const double ratio = times.compiled / times.eager;
      if (prints_times) std::printf(" %6.2f/%6.2f=%5.2f ", times.compiled * 1e-3, times.eager * 1e-3, ratio);
      else std::printf(ratio > 1.1 ? "%5.2f!" : "%5.2f ", ratio);
      slower += ratio > 1.1 ? 1 : 0;
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  std::printf("slower than 1.1 of eager: %d\n", slower);
  return 0;
}
