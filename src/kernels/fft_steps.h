// One line of complex numbers, one behind the other, as two steps of shorter transforms that run side by side in the
// lanes of vector registers: Bailey, "FFTs in external or hierarchical memory", 1990. The shorter ones are ducc0's.
// Start with `TwoSteps`.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/fft_engine.h"
#include "kernels/machine.h"

namespace ricci::kernels {
namespace {

/// The lanes `of(0)`, `of(1)`, … of the two registers in a row.
template <int lanes, class V, class Of>
V picked(V a, V b, Of) {
  return [&]<int... lane>(std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(a, b, Of()(lane)...);
  }(std::make_integer_sequence<int, lanes>());
}

/// Parts that alternate in two registers, apart: real ones in a, imaginary ones in b. `alternate` is the way back.
template <int lanes, class V>
void part(V& a, V& b) {
  const V x = a, y = b;
  a = picked<lanes>(x, y, [](int lane) { return 2 * lane; });
  b = picked<lanes>(x, y, [](int lane) { return 2 * lane + 1; });
}
template <int lanes, class V>
void alternate(V& a, V& b) {
  const V x = a, y = b;
  a = picked<lanes>(x, y, [](int lane) { return lane / 2 + lane % 2 * lanes; });
  b = picked<lanes>(x, y, [](int lane) { return lanes / 2 + lane / 2 + lane % 2 * lanes; });
}

/// Lane j of register i becomes lane i of register j: blocks [A B; C D] -> [A C; B D], then within each.
template <int lanes, int half = lanes / 2, class V>
void turn_registers(V* rows) {
  for (int i = 0; i < lanes; ++i) {
    if (i & half) continue;
    const V a = rows[i], b = rows[i + half];
    rows[i] = picked<lanes>(a, b, [](int lane) { return lane & half ? lanes + lane - half : lane; });
    rows[i + half] = picked<lanes>(a, b, [](int lane) { return lane & half ? lanes + lane : lane + half; });
  }
  if constexpr (half > 1) turn_registers<lanes, half / 2>(rows);
}

/// Lines of n = `lanes` m elements, m a multiple of `lanes`. Element j = m j1 + j2, frequency k = k1 + lanes k2: for
/// each j2 a transform of `lanes` elements over j1, then turned by the root exp(∓2πi j2 k1 / n); for each k1 one of m
/// elements over j2.
template <class T, int lanes>
class TwoSteps {
 public:
  using V = Lanes<T, lanes>;
  static bool fits(std::int64_t n) { return n % (lanes * lanes) == 0; }

  explicit TwoSteps(std::size_t n, bool = true)
      : m_(static_cast<std::int64_t>(n) / lanes), first_(lanes), second_(static_cast<std::size_t>(m_)), roots_(2 * n) {
    const ducc0::UnityRoots<T, ducc0::Cmplx<T>> roots(n);
    T* to = roots_.data();
    for (std::int64_t j = 0; j < m_; j += lanes)
      for (std::int64_t k = 0; k < lanes; ++k, to += 2 * lanes)
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          const auto root = roots[static_cast<std::size_t>((j + lane) * k)];
          to[lane] = root.r;
          to[lanes + lane] = root.i;
        }
  }

  /// Working memory for `transform`, in registers.
  std::int64_t work_size() const {
    const auto of_plans = static_cast<std::int64_t>(std::max(first_.bufsize(), second_.bufsize()));
    return 2 * m_ + 2 * lanes + 2 * of_plans + 4;
  }

  void transform(std::complex<T>* y, const std::complex<T>* x, V* work, T factor, bool backward) const {
    V *const line = work, *const block = line + 2 * m_, *const rest = block + 2 * lanes;
    const T* from = reinterpret_cast<const T*>(x);
    const T* root = roots_.data();
    for (std::int64_t j = 0; j < m_; j += lanes, from += 2 * lanes, root += 2 * lanes * lanes) {
      for (int k = 0; k < lanes; ++k) {
        // A register at a time: of one copy of two, g++ 12 makes stores of 16 bytes, for which the loads wait.
        for (int half = 0; half < 2; ++half)
          std::memcpy(block + 2 * k + half, from + 2 * k * m_ + half * lanes, sizeof(V));
        part<lanes>(block[2 * k], block[2 * k + 1]);
      }
      const V* const sums = run(first_, block, rest, T(1), backward);
      V re[lanes], im[lanes];
      for (int k = 0; k < lanes; ++k) {
        V r, i;
        std::memcpy(&r, root + 2 * k * lanes, sizeof(V));
        std::memcpy(&i, root + (2 * k + 1) * lanes, sizeof(V));
        if (!backward) i = -i;
        re[k] = sums[2 * k] * r - sums[2 * k + 1] * i;
        im[k] = sums[2 * k] * i + sums[2 * k + 1] * r;
      }
      turn_registers<lanes>(re);
      turn_registers<lanes>(im);
      for (int lane = 0; lane < lanes; ++lane) {
        line[2 * (j + lane)] = re[lane];
        line[2 * (j + lane) + 1] = im[lane];
      }
    }
    V* const done = run(second_, line, block, factor, backward);
    T* to = reinterpret_cast<T*>(y);
    for (std::int64_t k = 0; k < m_; ++k, to += 2 * lanes) {
      V pair[2] = {done[2 * k], done[2 * k + 1]};
      alternate<lanes>(pair[0], pair[1]);
      for (int half = 0; half < 2; ++half) std::memcpy(to + half * lanes, &pair[half], sizeof(V));
    }
  }

 private:
  static V* run(const ducc0::detail_fft::pocketfft_c<T>& plan, V* x, V* work, T factor, bool backward) {
    using Complex = ducc0::Cmplx<typename ducc0::simd_select<T, lanes>::type>;
    return reinterpret_cast<V*>(
        plan.exec(reinterpret_cast<Complex*>(x), reinterpret_cast<Complex*>(work), factor, !backward));
  }

  std::int64_t m_;
  ducc0::detail_fft::pocketfft_c<T> first_, second_;
  ducc0::quick_array<T> roots_;  // [m / lanes, k1, 2 parts, lanes of j2]
};

}  // namespace
}  // namespace ricci::kernels
