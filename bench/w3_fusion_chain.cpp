// W3: tanh(1.3 x + 0.2) exp(-x^2) + sin(x)^2, element by element: vector mathematics, fusion and bandwidth.
#include <numeric>

#include "by_hand.h"
#include "cases.h"
#include "inputs.h"
#include "kernels/machine.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

Tensor chain(const Tensor& x) {
  const Tensor s = sin(x);
  return tanh(1.3 * x + 0.2) * exp(-x * x) + s * s;
}

Tensor total(const Tensor& x) { return chain(x).sum(); }

// ── by hand: one loop ──

namespace inlined = bench::by_hand::inlined;
using V = bench::by_hand::Pack<float>;

/// Results beyond the caches go past them.
constexpr std::int64_t streamed = 1 << 22;

/// Stores f(elements of x) to y, all but the rest of a vector; f may keep what it likes besides. Gives where the rest
/// begins.
template <bool stream, class F>
std::int64_t map_vectors(const float* x, float* y, std::int64_t begin, std::int64_t end, const F& f) {
  std::int64_t i = begin;
  for (; i + V::lanes <= end; i += V::lanes) {
    const V value = f(load(x + i, std::type_identity<V>{}));
    if constexpr (stream) rc::kernels::stream<V::lanes, float>(y + i, value.v);
    else store(y + i, value);
  }
  if constexpr (stream) rc::kernels::finish_streaming();
  return i;
}

/// y[i] = f(x[i]), V -> V, by all threads.
template <class F>
void map_elements(const float* x, float* y, std::int64_t n, double nanoseconds, const F& f) {
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    const bool stream = n >= streamed && reinterpret_cast<std::uintptr_t>(y + begin) % sizeof(V) == 0;
    const std::int64_t i = stream ? map_vectors<true>(x, y, begin, end, f) : map_vectors<false>(x, y, begin, end, f);
    if (i == end) return;
    const int rest = static_cast<int>(end - i);
    store(y + i, f(load(x + i, rest, std::type_identity<V>{})), rest);
  };
  rc::kernels::parallel_for({.size = n, .nanoseconds = nanoseconds, .step = 4096}, part);
}

Tensor chain_by_hand(const Tensor& x) {
  Tensor y = rc::empty({x.numel()}, rc::float32);
  map_elements(x.data<float>(), bench::by_hand::elements<float>(y), x.numel(), 0.3, [](V x) {
    const V s = inlined::sin(x);
    return fma(inlined::tanh(fma(V(1.3), x, V(0.2))), inlined::exp(-x * x), s * s);
  });
  return y;
}

std::pair<Tensor, Tensor> value_and_gradient_by_hand(const Tensor& x) {
  const std::int64_t n = x.numel(), part = 4096;
  Tensor gradient = rc::empty({n}, rc::float32);
  const float* const from = x.data<float>();
  float* const to = bench::by_hand::elements<float>(gradient);
  std::vector<double> sums(static_cast<std::size_t>((n + part - 1) / part));
  rc::kernels::parallel_for({.size = n, .nanoseconds = 0.45, .step = part}, [&](std::int64_t begin, std::int64_t end) {
    const bool stream = n >= streamed && reinterpret_cast<std::uintptr_t>(to) % sizeof(V) == 0;
    for (std::int64_t at = begin; at < end; at += part) {
      V sum(0);
      const auto f = [&sum](V x) {
        const V s = inlined::sin(x), c = inlined::cos(x), t = inlined::tanh(fma(V(1.3), x, V(0.2))),
                e = inlined::exp(-x * x);
        sum = sum + fma(t, e, s * s);
        return fma(e, fma(V(-1.3) * t, t, V(1.3)) - V(2) * x * t, V(2) * s * c);
      };
      const std::int64_t until = std::min(at + part, end);
      if (stream) map_vectors<true>(from, to, at, until, f);
      else map_vectors<false>(from, to, at, until, f);
      double& total = sums[static_cast<std::size_t>(at / part)];
      for (int l = 0; l < V::lanes; ++l) total += static_cast<double>(sum[l]);
    }
  });
  return {rc::tensor(static_cast<float>(std::accumulate(sums.begin(), sums.end(), 0.0))), gradient};
}

}  // namespace

std::vector<bench::Case> bench::fusion_chain() {
  std::vector<Case> cases;
  for (const std::int64_t n : {4096, 65536, 16777216}) {
    const auto x = [n] { return uniform({n}, 3, -2.0, 2.0); };
    cases.push_back(beside_loop(make_case("W3/fwd_" + std::to_string(n), [x] { return call(chain, x()); }),
                                [x] { return [x = x()] { return chain_by_hand(x); }; }));
    cases.push_back(beside_loop(
        make_case("W3/value_grad_" + std::to_string(n), [x] { return call(rc::value_and_grad(total), x()); }),
        [x] { return [x = x()] { return value_and_gradient_by_hand(x); }; }));
  }
  return cases;
}
