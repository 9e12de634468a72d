// What pooling kernels share: the pooled axes of a view as volumes, sums and their division, work cut for threads.
// Knows nothing of windows.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/matmul_copy.h"
#include "kernels/matmul_offsets.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"
#include "ricci/primitive/wide.h"

namespace ricci::kernels {

/// One to three pooled axes of a view; those it lacks lead with size 1.
template <class T>
struct Volume {
  T* data = nullptr;
  std::int64_t sizes[3] = {1, 1, 1}, strides[3] = {};

  T* row(std::int64_t z, std::int64_t y) const { return data + z * strides[0] + y * strides[1]; }
  T& operator()(std::int64_t z, std::int64_t y, std::int64_t x) const { return row(z, y)[x * strides[2]]; }
  Matrix<T> plane(std::int64_t z) const { return {row(z, 0), sizes[1], sizes[2], strides[1], strides[2]}; }
  std::int64_t rows() const { return sizes[0] * sizes[1]; }
  std::int64_t elements() const { return rows() * sizes[2]; }
};

/// The volumes of a view, whose leading axes count them.
template <class T>
struct Volumes {
  Volume<T> first;
  BatchOffsets offsets;

  Volumes(const Strided& x, int spatial) : offsets(x, spatial) {
    first.data = static_cast<T*>(x.data);
    for (int i = 0; i < spatial; ++i) {
      first.sizes[3 - spatial + i] = x.shape[x.rank - spatial + i];
      first.strides[3 - spatial + i] = x.strides[x.rank - spatial + i];
    }
  }
  Volume<T> operator[](std::int64_t index) const {
    Volume<T> volume = first;
    volume.data += offsets(index);
    return volume;
  }
};

/// Whether the axis in front of the pooled ones, that of channels, has its elements side by side in memory, and enough
/// of them to compute these together.
inline bool are_channels_last(const Strided& x, int spatial) {
  const int axis = x.rank - spatial - 1;
  return axis >= 0 && x.strides[axis] == 1 && x.strides[x.rank - 1] != 1 && x.shape[axis] >= 16;
}

/// Sets the elements of a row to `f(j)`.
template <class T, class F>
void write_row(const Volume<T>& to, std::int64_t z, std::int64_t y, F&& f) {
  T* __restrict data = to.row(z, y);
  const std::int64_t count = to.sizes[2], step = to.strides[2];
  if (step == 1) {
    for (std::int64_t j = 0; j < count; ++j) data[j] = static_cast<T>(f(j));
  } else {
    for (std::int64_t j = 0; j < count; ++j) data[j * step] = static_cast<T>(f(j));
  }
}

/// Places within a volume, as wide as the elements where that helps vectorising.
template <class T>
using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

template <class T>
constexpr T lowest() {
  if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::lowest();
  else return T(-std::numeric_limits<float>::infinity());
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>) return false;
  else return x != x;
}

/// The greatest elements so far, and their places.
template <class T>
struct Largest {
  T* __restrict value;
  Place<T>* __restrict place;  // -1: nothing yet
};

/// Compares `count` inputs, the first at `place` and `place_step` apart there, with what the outputs have.
template <class T, class Step>
void take_larger(Largest<T> largest, const T* __restrict from, Step step, Place<T> place, Place<T> place_step,
                 std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T x = from[i * step], greatest = largest.value[i];
    const Place<T> at = largest.place[i];
    const bool take = (x > greatest) | is_nan(x) | (at < 0);  // without branches
    largest.value[i] = take ? x : greatest;
    largest.place[i] = take ? place + static_cast<Place<T>>(i) * place_step : at;
  }
}

/// work(begin, end) for volumes [begin, end), on several threads; each takes so many steps.
template <class Work>
void cut_volumes(std::int64_t volumes, std::int64_t steps, const Work& work) {
  constexpr double nanoseconds_per_step = 0.3;
  parallel_for({volumes, nanoseconds_per_step * static_cast<double>(steps)}, work);
}

/// What elements are added up in.
template <class T>
struct SumOf {
  using type = T;
};
template <>
struct SumOf<Half> {
  using type = float;
};
template <>
struct SumOf<BFloat16> {
  using type = float;
};
template <class T>
  requires std::is_integral_v<T>
struct SumOf<T> {
  using type = std::int64_t;
};
template <class T>
using Sum = typename SumOf<T>::type;

template <class T>
Sum<T> divided(Sum<T> sum, std::int64_t count) {
  if constexpr (std::is_integral_v<T>) return sum / count;
  else if constexpr (is_complex(dtype_of<T>)) return sum / static_cast<typename T::value_type>(count);
  else return sum / static_cast<Sum<T>>(count);
}

/// A volume of sums, which transposes add into before it is rounded to the elements.
template <class T>
class Accumulator {
 public:
  explicit Accumulator(const Volume<T>& like) : elements_(like.elements()), memory_(elements_) {}

  Sum<T>* cleared() const {
    std::fill_n(memory_.data(), elements_, Sum<T>{});
    return memory_.data();
  }
  void write(const Volume<T>& to) const {
    for (std::int64_t z = 0; z < to.sizes[0]; ++z) {
      const Matrix<T> plane = to.plane(z);
      copy_matrix(plane, row_major(memory_.data() + z * plane.rows * plane.cols, plane.rows, plane.cols));
    }
  }

 private:
  std::int64_t elements_;
  Scratch<Sum<T>> memory_;
};

using UnitStep = std::integral_constant<std::int64_t, 1>;
inline constexpr UnitStep unit_step{};

/// to[i] = f(to[i], from[i]). f takes vectors of N, N / 2, … and 1 lanes. A row may be shorter than the vector loops
/// that compilers make of an unknown count.
template <int N, class T, class F>
void update_row(T* __restrict to, const T* __restrict from, std::int64_t count, const F& f) {
  for (; count >= N; count -= N, to += N, from += N) store<N>(to, f(load<N>(to), load<N>(from)));
  if constexpr (N > 1) update_row<N / 2>(to, from, count, f);
}

/// to[i * to_step] += from[i * from_step]
template <class To, class From, class ToStep, class FromStep>
void add_strided(To* __restrict to, ToStep to_step, const From* __restrict from, FromStep from_step,
                 std::int64_t count) {
  std::int64_t i = 0;
  constexpr bool unit_steps = std::is_same_v<FromStep, UnitStep> && std::is_same_v<ToStep, UnitStep>;
  if constexpr (unit_steps && std::is_same_v<From, Half>) {
    constexpr int lanes = scalar::Wide<float>::lanes;  // the compiler would convert them one by one
    for (; i + lanes <= count; i += lanes)
      scalar::store_wide(to + i, scalar::load_wide<float>(to + i) + scalar::widen(from + i));
  } else if constexpr (unit_steps && std::is_same_v<To, From> && std::is_floating_point_v<To>) {
    return update_row<scalar::Pack<To>::lanes>(to, from, count, [](auto sum, auto x) { return sum + x; });
  }
  for (; i < count; ++i) to[i * to_step] += static_cast<To>(from[i * from_step]);
}

}  // namespace ricci::kernels
