// Elements behind the axis share their weights: they are summed as vectors. Where there are none, blocks of lines are
// turned first, so that each vector holds one element of many lines.
#include "kernels/resample.h"

#include <algorithm>
#include <cstring>

#include "kernels/elementwise.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"
#include "ricci/primitive/wide.h"

namespace ricci::kernels {
namespace {

using scalar::fma;
using scalar::load_wide;
using scalar::store_wide;
using scalar::Wide;

/// The windows with weights of T.
template <class T>
struct Weights {
  const WeightedWindows& windows;
  std::vector<T> of;
  explicit Weights(const WeightedWindows& w) : windows(w), of(w.weights.begin(), w.weights.end()) {}
};

/// to[i, :] = the sum of window i of from[:, :], in rows of `width` elements.
template <class T>
void sum_rows(T* to, const T* from, std::int64_t width, const Weights<T>& weights) {
  const WeightedWindows& w = weights.windows;
  constexpr std::int64_t lanes = Wide<T>::lanes;
  for (std::int64_t i = 0; i < w.size(); ++i) {
    const T* weight = weights.of.data() + w.first_weight[static_cast<std::size_t>(i)];
    const T* first = from + w.begin[static_cast<std::size_t>(i)] * width;
    const std::int64_t count = w.count[static_cast<std::size_t>(i)];
    T* row = to + i * width;
    if (count == 1 && weight[0] == T(1)) {
      std::copy_n(first, width, row);
      continue;
    }
    std::int64_t c = 0;
    const auto sum_vectors = [&]<int N>(std::integral_constant<int, N>) {
      for (; c + N * lanes <= width; c += N * lanes) {
        Wide<T> sums[N];
        for (int n = 0; n < N; ++n) sums[n] = Wide<T>(T(0));
        for (std::int64_t t = 0; t < count; ++t) {
          const Wide<T> by(weight[t]);
          for (int n = 0; n < N; ++n) sums[n] = fma(by, load_wide<T>(first + t * width + c + n * lanes), sums[n]);
        }
        for (int n = 0; n < N; ++n) store_wide(row + c + n * lanes, sums[n]);
      }
    };
    sum_vectors(std::integral_constant<int, 4>());
    sum_vectors(std::integral_constant<int, 1>());
    for (; c < width; ++c) {
      T sum = 0;
      for (std::int64_t t = 0; t < count; ++t) sum = scalar::fma(weight[t], first[t * width + c], sum);
      row[c] = sum;
    }
  }
}

constexpr std::int64_t lines_in_block = 64;

/// to = from of the other order of axes: [rows, cols] row-major from column-major.
template <class T>
void turn(T* to, std::int64_t rows, std::int64_t cols, const T* from, std::int64_t to_row, std::int64_t from_col) {
  const std::int64_t shape[] = {rows, cols}, to_strides[] = {to_row, 1}, from_strides[] = {1, from_col};
  copy({to, dtype_of<T>, 2, shape, to_strides},
       {const_cast<T*>(from), dtype_of<T>, 2, shape, from_strides});  // is only read
}

template <class T>
void resample_along(Strided out, Strided in, int axis, const WeightedWindows& windows) {
  const Weights<T> weights(windows);
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= in.shape[i];
  for (int i = axis + 1; i < in.rank; ++i) inner *= in.shape[i];
  const std::int64_t n = in.shape[axis], m = windows.size();
  auto* to = static_cast<T*>(out.data);
  const auto* from = static_cast<const T*>(in.data);
  const double of_plane = 0.1 * static_cast<double>((static_cast<std::int64_t>(weights.of.size()) + n) * inner);
  if (inner > 1) {
    parallel_for({outer, of_plane}, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) sum_rows(to + o * m * inner, from + o * n * inner, inner, weights);
    });
    return;
  }
  parallel_for({outer, of_plane, lines_in_block}, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t most = std::min(lines_in_block, end - begin);
    const Scratch<T> lines(n * most), results(m * most);
    for (std::int64_t o = begin; o < end; o += lines_in_block) {
      const std::int64_t count = std::min(lines_in_block, end - o);
      turn(lines.data(), n, count, from + o * n, count, n);
      sum_rows(results.data(), lines.data(), count, weights);
      turn(to + o * m, count, m, results.data(), m, count);
    }
  });
}

}  // namespace

void WeightedWindows::append(std::int64_t at, std::int64_t size, const double* weights_of_window) {
  begin.push_back(at);
  count.push_back(size);
  first_weight.push_back(static_cast<std::int64_t>(weights.size()));
  weights.insert(weights.end(), weights_of_window, weights_of_window + size);
}

WeightedWindows transposed(const WeightedWindows& windows, std::int64_t size) {
  WeightedWindows result;
  std::int64_t first = 0, last = 0;  // of the windows that hold element i
  std::vector<double> weights;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto begin = [&](std::int64_t k) { return windows.begin[static_cast<std::size_t>(k)]; };
    const auto end = [&](std::int64_t k) { return begin(k) + windows.count[static_cast<std::size_t>(k)]; };
    while (first < windows.size() && end(first) <= i) ++first;
    last = std::max(last, first);
    while (last < windows.size() && begin(last) <= i) ++last;
    weights.clear();
    for (std::int64_t k = first; k < last; ++k)
      weights.push_back(
          windows.weights[static_cast<std::size_t>(windows.first_weight[static_cast<std::size_t>(k)] + i - begin(k))]);
    result.append(first < windows.size() ? first : 0, static_cast<std::int64_t>(weights.size()), weights.data());
  }
  return result;
}

void resample(Strided out, Strided in, int axis, const WeightedWindows& windows) {
  if (in.dtype == DType::float64) resample_along<double>(out, in, axis, windows);
  else resample_along<float>(out, in, axis, windows);
}

}  // namespace ricci::kernels
