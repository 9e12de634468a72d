// Sums of products of two operands. A header for the files of its types, each of which takes long to compile.
#pragma once

#include "kernels/reduce.h"
#include "ricci/primitive/reduction_elements.h"

namespace ricci::kernels {
namespace {

template <class Elements>
struct SumOfProducts {
  using elements = Elements;
  static constexpr double start = -0.0, nothing = 0;
  static constexpr bool symmetric = true;
  template <class T>
  auto term(T a, T b) const {
    return a * b;
  }
  template <class T>
  auto add(T sum, T a, T b) const {
    return scalar::fma(a, b, sum);
  }
  template <class T>
  auto join(T a, T b) const {
    return a + b;
  }
};

}  // namespace
}  // namespace ricci::kernels
