// Every plane is computed by itself, one row of outputs at a time: for each position in the window, a loop over the
// outputs of the row whose window holds an input there. Start with `for_each_tap`.
#include "kernels/pooling.h"

#include <algorithm>
#include <cassert>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/known_step.h"
#include "kernels/matmul_copy.h"
#include "kernels/matmul_offsets.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// The pooled axes of a view as matrices; a single axis is a row.
template <class T>
struct Planes {
  Matrix<T> first;
  BatchOffsets offsets;

  Planes(const Strided& x, int spatial) : offsets(x, spatial) {
    const int last = x.rank - 1;
    const bool flat = spatial == 1;
    first = {static_cast<T*>(x.data), flat ? 1 : x.shape[last - 1], x.shape[last], flat ? 0 : x.strides[last - 1],
             x.strides[last]};
  }

  Matrix<T> operator[](std::int64_t index) const { return first.with(first.data + offsets(index)); }
};

/// One pooled axis: output i sees inputs i * stride + k * dilation - padding.
struct Axis {
  std::int64_t window, stride, padding, dilation;

  std::int64_t input(std::int64_t output, std::int64_t k) const { return output * stride + k * dilation - padding; }
};

/// The outputs begin <= i < end of a row that see an input at one position of the window; the first of those inputs.
struct Tap {
  std::int64_t begin, end, column;
};

Tap tap_at(const Axis& axis, std::int64_t k, std::int64_t width, std::int64_t count) {
  const std::int64_t shift = axis.input(0, k), room = width - shift;
  const std::int64_t begin = shift >= 0 ? 0 : (-shift + axis.stride - 1) / axis.stride;
  const std::int64_t end = room <= 0 ? 0 : std::min(count, (room - 1) / axis.stride + 1);
  return {begin, std::max(begin, end), axis.input(begin, k)};
}

/// The positions of a window, for rows of `count` outputs over planes of a given height and width.
struct Window {
  Axis y, x;
  std::int64_t height, count;
  std::vector<Tap> taps;  // of one row of the window

  Window(const PoolingShape& s, std::int64_t plane_height, std::int64_t width, std::int64_t outputs)
      : height(plane_height), count(outputs) {
    const auto axis = [&](int at) {
      const auto i = static_cast<std::size_t>(at);
      return Axis{s.window[i], s.stride[i], s.padding[i], s.dilation[i]};
    };
    y = s.spatial == 1 ? Axis{1, 1, 0, 1} : axis(0);
    x = axis(s.spatial - 1);
    for (std::int64_t k = 0; k < x.window; ++k) {
      const Tap tap = tap_at(x, k, width, count);
      if (tap.begin < tap.end) taps.push_back(tap);
    }
  }

  std::int64_t size() const { return y.window * x.window; }
};

/// Calls `f(input row, tap)` for every position of the window over one row of outputs that sees inputs.
template <class F>
void for_each_tap(const Window& window, std::int64_t output_row, F&& f) {
  for (std::int64_t k = 0; k < window.y.window; ++k) {
    const std::int64_t row = window.y.input(output_row, k);
    if (row < 0 || row >= window.height) continue;
    for (const Tap& tap : window.taps) f(row, tap);
  }
}

constexpr std::int64_t block = 16;

constexpr std::int64_t whole_blocks(std::int64_t count) { return (count + block - 1) / block * block; }

/// Whether whole blocks of outputs, the last of which ends the row, find elements of the plane to read: rows of pooled
/// images are shorter than the vector loops that compilers make of an unknown count.
template <class T>
bool may_overrun(const Matrix<const T>& plane, const T* from, std::int64_t step, const Tap& tap, std::int64_t count) {
  const T* last = &plane(plane.rows - 1, plane.cols - 1);
  return tap.end == count && (whole_blocks(tap.end - tap.begin) - 1) * step <= last - from;
}

/// Sets element j of a row to `f(j)`.
template <class T, class F>
void write_row(const Matrix<T>& to, std::int64_t row, F&& f) {
  T* __restrict data = to.data + row * to.row_stride;
  if (to.col_stride == 1) {
    for (std::int64_t j = 0; j < to.cols; ++j) data[j] = static_cast<T>(f(j));
  } else {
    for (std::int64_t j = 0; j < to.cols; ++j) data[j * to.col_stride] = static_cast<T>(f(j));
  }
}

/// Positions within a plane, as wide as the elements where that helps vectorising.
template <class T>
using Position = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

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

template <class T>
struct Largest {
  T* __restrict value;
  Position<T>* __restrict place;  // -1: nothing yet
};

/// Compares `count` inputs, the first at `place` and `place_step` apart there, with what the outputs have.
template <class T, class Step>
void take_larger(Largest<T> largest, const T* __restrict from, Step step, Position<T> place, Position<T> place_step,
                 std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T x = from[i * step];
    const bool larger = x > largest.value[i], nan = is_nan(x), first = largest.place[i] < 0;
    const bool take = larger | nan | first;  // without branches
    largest.value[i] = take ? x : largest.value[i];
    largest.place[i] = take ? place + static_cast<Position<T>>(i) * place_step : largest.place[i];
  }
}

template <class T>
void max_of_row(const Matrix<const T>& in, const Window& window, std::int64_t row, Largest<T> largest) {
  std::fill_n(largest.value, window.count, lowest<T>());
  std::fill_n(largest.place, window.count, -1);
  const auto place_step = static_cast<Position<T>>(window.x.stride);
  for_each_tap(window, row, [&](std::int64_t in_row, const Tap& tap) {
    const T* from = &in(in_row, tap.column);
    const auto place = static_cast<Position<T>>(in_row * in.cols + tap.column);
    const Largest<T> to = {largest.value + tap.begin, largest.place + tap.begin};
    with_step<1, 2>(window.x.stride * in.col_stride, [&](auto step) {
      const std::int64_t count = tap.end - tap.begin;
      if (!may_overrun(in, from, step, tap, window.count)) return take_larger(to, from, step, place, place_step, count);
      for (std::int64_t i = 0; i < count; i += block) {
        const Largest<T> part = {to.value + i, to.place + i};
        take_larger(part, from + i * step, step, place + static_cast<Position<T>>(i) * place_step, place_step, block);
      }
    });
  });
}

/// work(begin, end) for planes [begin, end), on several threads; `taps` of the window for each of `outputs`.
template <class Work>
void cut_planes(std::int64_t planes, std::int64_t outputs, std::int64_t taps, const Work& work) {
  constexpr double nanoseconds_per_tap = 0.3;
  parallel_for({planes, nanoseconds_per_tap * static_cast<double>(outputs * taps)}, work);
}

template <class T>
void max_pool_as(const Strided& values, const Strided& indices, const Strided& input, const PoolingShape& shape) {
  const Planes<T> out(values, shape.spatial);
  const Planes<std::int64_t> places(indices, shape.spatial);
  const Planes<const T> in(input, shape.spatial);
  const std::int64_t count = out.first.cols;
  const Window window(shape, in.first.rows, in.first.cols, count);
  cut_planes(out.offsets.size(), out.first.rows * count, window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> value_memory(whole_blocks(count) + block);
    const Scratch<Position<T>> place_memory(whole_blocks(count) + block);
    const Largest<T> largest = {value_memory.data(), place_memory.data()};
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> plane = in[i];
      const Matrix<T> value = out[i];
      const Matrix<std::int64_t> place = places[i];
      for (std::int64_t row = 0; row < value.rows; ++row) {
        max_of_row(plane, window, row, largest);
        write_row(value, row, [from = largest.value](std::int64_t j) { return from[j]; });
        write_row(place, row, [from = largest.place](std::int64_t j) { return from[j]; });
      }
    }
  });
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

/// A plane of sums, which the transposes add into before it is rounded to the elements.
template <class T>
class Accumulator {
 public:
  explicit Accumulator(const Matrix<T>& shape)
      : memory_(shape.rows * shape.cols), rows_(shape.rows), cols_(shape.cols) {}

  Sum<T>* cleared() const {
    std::fill_n(memory_.data(), rows_ * cols_, Sum<T>{});
    return memory_.data();
  }
  void write(const Matrix<T>& to) const { copy_matrix(to, row_major(memory_.data(), rows_, cols_)); }

 private:
  Scratch<Sum<T>> memory_;
  std::int64_t rows_, cols_;
};

template <class T>
void max_pool_gradient_as(const Strided& input_gradient, const Strided& cotangent, const Strided& indices,
                          const PoolingShape& shape) {
  const Planes<T> in(input_gradient, shape.spatial);
  const Planes<const T> out(cotangent, shape.spatial);
  const Planes<const std::int64_t> places(indices, shape.spatial);
  cut_planes(in.offsets.size(), out.first.rows * out.first.cols, 2, [&](std::int64_t begin, std::int64_t end) {
    const Accumulator<T> accumulator(in.first);
    for (std::int64_t i = begin; i < end; ++i) {
      Sum<T>* sums = accumulator.cleared();
      const Matrix<const T> ct = out[i];
      const Matrix<const std::int64_t> place = places[i];
      for (std::int64_t row = 0; row < ct.rows; ++row) {
        for (std::int64_t column = 0; column < ct.cols; ++column) {
          const std::int64_t at = place(row, column);
          if (at >= 0) sums[at] += static_cast<Sum<T>>(ct(row, column));
        }
      }
      accumulator.write(in[i]);
    }
  });
}

/// to[i * to_step] += from[i * from_step]
template <class To, class From, class ToStep, class FromStep>
void add_strided(To* __restrict to, ToStep to_step, const From* __restrict from, FromStep from_step,
                 std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i * to_step] += static_cast<To>(from[i * from_step]);
}

constexpr std::integral_constant<std::int64_t, 1> one{};

template <class T>
void sum_of_row(const Matrix<const T>& in, const Window& window, std::int64_t row, Sum<T>* sums) {
  std::fill_n(sums, window.count, Sum<T>{});
  for_each_tap(window, row, [&](std::int64_t in_row, const Tap& tap) {
    const T* from = &in(in_row, tap.column);
    Sum<T>* to = sums + tap.begin;
    with_step<1, 2>(window.x.stride * in.col_stride, [&](auto step) {
      const std::int64_t count = tap.end - tap.begin;
      if (!may_overrun(in, from, step, tap, window.count)) return add_strided(to, one, from, step, count);
      for (std::int64_t i = 0; i < count; i += block) add_strided(to + i, one, from + i * step, step, block);
    });
  });
}

template <class T>
void avg_pool_as(const Strided& output, const Strided& input, const PoolingShape& shape) {
  const Planes<T> out(output, shape.spatial);
  const Planes<const T> in(input, shape.spatial);
  const std::int64_t count = out.first.cols;
  const Window window(shape, in.first.rows, in.first.cols, count);
  cut_planes(out.offsets.size(), out.first.rows * count, window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<Sum<T>> sums(whole_blocks(count) + block);
    for (std::int64_t i = begin; i < end; ++i) {
      const Matrix<const T> plane = in[i];
      const Matrix<T> mean = out[i];
      for (std::int64_t row = 0; row < mean.rows; ++row) {
        sum_of_row(plane, window, row, sums.data());
        write_row(mean, row, [from = sums.data(), elements = window.size()](std::int64_t j) {
          return divided<T>(from[j], elements);
        });
      }
    }
  });
}

/// Adds the shares of one row of outputs to the inputs they were the means of.
template <class T>
void spread_row(const Sum<T>* shares, const Window& window, std::int64_t row, std::int64_t width, Sum<T>* sums) {
  for_each_tap(window, row, [&](std::int64_t in_row, const Tap& tap) {
    Sum<T>* to = sums + in_row * width + tap.column;
    with_step<1, 2>(window.x.stride,
                    [&](auto step) { add_strided(to, step, shares + tap.begin, one, tap.end - tap.begin); });
  });
}

template <class T>
void avg_pool_gradient_as(const Strided& input_gradient, const Strided& cotangent, const PoolingShape& shape) {
  const Planes<T> in(input_gradient, shape.spatial);
  const Planes<const T> out(cotangent, shape.spatial);
  const std::int64_t count = out.first.cols;
  const Window window(shape, in.first.rows, in.first.cols, count);
  cut_planes(in.offsets.size(), out.first.rows * count, window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Accumulator<T> accumulator(in.first);
    const Scratch<Sum<T>> shares(count);
    for (std::int64_t i = begin; i < end; ++i) {
      Sum<T>* sums = accumulator.cleared();
      const Matrix<const T> ct = out[i];
      for (std::int64_t row = 0; row < ct.rows; ++row) {
        for (std::int64_t j = 0; j < count; ++j) {
          shares.data()[j] = divided<T>(static_cast<Sum<T>>(ct(row, j)), window.size());
        }
        spread_row<T>(shares.data(), window, row, in.first.cols, sums);
      }
      accumulator.write(in[i]);
    }
  });
}

[[maybe_unused]] bool is_like(const Strided& a, const Strided& b) {
  return a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape);
}

[[maybe_unused]] bool agree(const Strided& out, const Strided& in, const PoolingShape& shape) {
  if (shape.spatial < 1 || shape.spatial > 2 || in.rank < shape.spatial || out.rank != in.rank) return false;
  const int batch_rank = in.rank - shape.spatial;
  const auto at = static_cast<std::size_t>(batch_rank);
  if (batch_rank > max_batch_rank || !std::equal(in.shape, in.shape + batch_rank, out.shape)) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.spatial); ++i) {
    if (shape.window[i] < 1 || shape.stride[i] < 1 || shape.padding[i] < 0 || shape.dilation[i] < 1) return false;
    if (out.shape[at + i] != pooling_size(in.shape[at + i], shape, i)) return false;
  }
  return true;
}

/// Averages have no dilation.
PoolingShape undilated(PoolingShape shape) {
  shape.dilation = {1, 1};
  return shape;
}

}  // namespace

void max_pool(Strided values, Strided indices, Strided input, const PoolingShape& shape) {
  assert(agree(values, input, shape) && is_like(values, indices));
  assert(values.dtype == input.dtype && indices.dtype == DType::int64 && !is_complex(input.dtype));
  visit_dtype(input.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_complex(dtype_of<T>)) max_pool_as<T>(values, indices, input, shape);
  });
}

void max_pool_gradient(Strided input_gradient, Strided cotangent, Strided indices, const PoolingShape& shape) {
  assert(agree(cotangent, input_gradient, shape) && is_like(cotangent, indices));
  assert(cotangent.dtype == input_gradient.dtype && indices.dtype == DType::int64);
  visit_dtype(cotangent.dtype, [&]<class T>(std::type_identity<T>) {
    max_pool_gradient_as<T>(input_gradient, cotangent, indices, shape);
  });
}

void avg_pool(Strided out, Strided input, const PoolingShape& shape) {
  assert(agree(out, input, undilated(shape)) && out.dtype == input.dtype);
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) { avg_pool_as<T>(out, input, undilated(shape)); });
}

void avg_pool_gradient(Strided input_gradient, Strided cotangent, const PoolingShape& shape) {
  assert(agree(cotangent, input_gradient, undilated(shape)) && cotangent.dtype == input_gradient.dtype);
  visit_dtype(cotangent.dtype, [&]<class T>(std::type_identity<T>) {
    avg_pool_gradient_as<T>(input_gradient, cotangent, undilated(shape));
  });
}

}  // namespace ricci::kernels
