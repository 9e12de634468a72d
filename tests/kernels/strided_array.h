// Arrays in odd memory layouts for kernel tests, read and written element by element.
// Knows nothing of tensors. Start with `StridedArray`.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tensor/strided.h"

namespace ricci::kernel_tests {

using Sizes = std::vector<std::int64_t>;

enum class Layout { contiguous, reversed, rotated, gapped, repeated };
inline constexpr Layout all_layouts[] = {Layout::contiguous, Layout::reversed, Layout::rotated, Layout::gapped,
                                         Layout::repeated};
inline constexpr Layout written_layouts[] = {Layout::contiguous, Layout::reversed, Layout::rotated, Layout::gapped};

inline std::int64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

/// The index of the `flat`-th position of a shape, in row-major order.
inline Sizes unravel(std::int64_t flat, const Sizes& shape) {
  Sizes at(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) at[i] = flat % shape[i], flat /= shape[i];
  return at;
}
inline std::int64_t ravel(const Sizes& at, const Sizes& shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + at[i];
  return flat;
}

/// Calls `f` with every index of `shape`, in row-major order.
template <class F>
void for_each_index(const Sizes& shape, F&& f) {
  Sizes at(shape.size());
  for (std::int64_t left = product(shape); left > 0; --left) {
    f(std::as_const(at));
    for (std::size_t a = shape.size(); a-- > 0 && ++at[a] == shape[a];) at[a] = 0;
  }
}

/// A shape over memory of its own. Layouts: row-major; first axis fastest; axes rotated by one; every other element
/// with padding behind; row-major with the first axis repeated (stride 0).
template <class T>
class StridedArray {
 public:
  explicit StridedArray(Sizes shape, Layout layout = Layout::contiguous) : shape_(std::move(shape)) {
    const int rank = static_cast<int>(shape_.size());
    std::vector<int> order(shape_.size());  // fastest last
    std::iota(order.begin(), order.end(), 0);
    if (layout == Layout::reversed) std::reverse(order.begin(), order.end());
    if (layout == Layout::rotated && rank > 1) std::rotate(order.begin(), order.begin() + 1, order.end());
    std::int64_t step = layout == Layout::gapped ? 2 : 1;
    strides_.resize(shape_.size());
    for (int i = rank; i-- > 0;) {
      const auto axis = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      strides_[axis] = layout == Layout::repeated && axis == 0 ? 0 : step;
      step *= shape_[axis] + (layout == Layout::gapped ? 1 : 0);
    }
    bytes_.assign(static_cast<std::size_t>(std::max<std::int64_t>(step, 1)) * sizeof(T), 0);
  }

  const Sizes& shape() const { return shape_; }
  std::int64_t size() const { return product(shape_); }
  Strided view() const {
    return {const_cast<unsigned char*>(bytes_.data()), dtype_of<T>, static_cast<int>(shape_.size()), shape_.data(),
            strides_.data()};
  }

  T& at(const Sizes& index) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * strides_[i];
    return reinterpret_cast<T*>(bytes_.data())[offset];
  }
  /// The `flat`-th element in row-major order.
  T& operator[](std::int64_t flat) {
    std::int64_t offset = 0;
    for (std::size_t i = shape_.size(); i-- > 0; flat /= shape_[i]) offset += flat % shape_[i] * strides_[i];
    return reinterpret_cast<T*>(bytes_.data())[offset];
  }
  const T& operator[](std::int64_t flat) const { return const_cast<StridedArray&>(*this)[flat]; }
  const T& at(const Sizes& index) const { return const_cast<StridedArray&>(*this).at(index); }

 private:
  Sizes shape_, strides_;
  std::vector<unsigned char> bytes_;
};

/// Any element, exactly.
using Number = std::complex<long double>;
template <class T>
Number number(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return Number(static_cast<float>(x), 0);
  else if constexpr (std::is_arithmetic_v<T>) return Number(static_cast<long double>(x), 0);
  else return Number(x.real(), x.imag());
}

/// Pseudo-random elements: integers of a few tens (all signs where there are), floating numbers in [-2, 2).
template <class T, class Generator>
T random_element(Generator& generator) {
  const int whole = static_cast<int>(generator() % 61) - 30;
  const double real = static_cast<double>(generator() % 4096) / 1024 - 2;
  if constexpr (std::is_same_v<T, bool>) return whole > 0;
  else if constexpr (std::is_unsigned_v<T>) return static_cast<T>(std::abs(whole));
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(whole);
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return T(static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(whole) / 16);
  else return T(static_cast<float>(real));
}

template <class T>
StridedArray<T> random_array(Sizes shape, Layout layout, unsigned seed = 1) {
  std::minstd_rand generator(seed);
  StridedArray<T> array(std::move(shape), layout);
  for_each_index(array.shape(), [&](const Sizes& at) { array.at(at) = random_element<T>(generator); });
  return array;
}

}  // namespace ricci::kernel_tests
