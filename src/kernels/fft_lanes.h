// Vector registers for ducc0's plans, in place of its header infra/simd.h: g++ takes long over the standard library's
// registers, which that header uses. A few operators that the compiler has for its vector types, and no more.
#pragma once

#include <cstddef>

#include "kernels/machine.h"

#define DUCC0_SIMD_H  // that header's guard

namespace ricci::ducc0 {

template <class T, int lanes>
struct FftLanes {
  kernels::Lanes<T, lanes> v;

  FftLanes() = default;
  RICCI_ALWAYS_INLINE FftLanes(T x) : v(x - kernels::Lanes<T, lanes>{}) {}
  RICCI_ALWAYS_INLINE explicit FftLanes(kernels::Lanes<T, lanes> x) : v(x) {}
  static constexpr std::size_t size() { return lanes; }

  RICCI_ALWAYS_INLINE T& operator[](std::size_t lane) { return reinterpret_cast<T*>(&v)[lane]; }
  RICCI_ALWAYS_INLINE T operator[](std::size_t lane) const { return v[lane]; }
  RICCI_ALWAYS_INLINE FftLanes operator-() const { return FftLanes(-v); }
  RICCI_ALWAYS_INLINE friend FftLanes operator+(FftLanes a, FftLanes b) { return FftLanes(a.v + b.v); }
  RICCI_ALWAYS_INLINE friend FftLanes operator-(FftLanes a, FftLanes b) { return FftLanes(a.v - b.v); }
  RICCI_ALWAYS_INLINE friend FftLanes operator*(FftLanes a, FftLanes b) { return FftLanes(a.v * b.v); }
  RICCI_ALWAYS_INLINE FftLanes& operator+=(FftLanes b) { return *this = *this + b; }
  RICCI_ALWAYS_INLINE FftLanes& operator-=(FftLanes b) { return *this = *this - b; }
  RICCI_ALWAYS_INLINE FftLanes& operator*=(FftLanes b) { return *this = *this * b; }
};

template <class T>
using native_simd = FftLanes<T, kernels::max_lanes<T>>;
template <class T, int lanes>
struct simd_select {
  using type = FftLanes<T, lanes>;
};

}  // namespace ricci::ducc0
