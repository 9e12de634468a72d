// One row of outputs at a time: the rows of inputs that its windows reach over become one row, of maxima or of sums,
// whose elements each output's window then goes through.
#include "kernels/pooling_windows.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "kernels/known_step.h"
#include "kernels/matmul_lanes.h"
#include "kernels/pooling_types.h"
#include "kernels/pooling_volumes.h"
#include "ricci/primitive/scalar.h"

namespace ricci::kernels {
namespace {

/// f(input z, input y) for the rows that the windows of a row of outputs reach over.
template <class F>
void for_each_input_row(const Windows& w, std::int64_t out_z, std::int64_t out_y, F&& f) {
  for (std::int64_t z = w[0].begin[out_z]; z < w[0].end[out_z]; ++z)
    for (std::int64_t y = w[1].begin[out_y]; y < w[1].end[out_y]; ++y) f(z, y);
}

template <class F>
void for_each_row(const Windows& w, F&& f) {
  for (std::size_t z = 0; z < w[0].begin.size(); ++z)
    for (std::size_t y = 0; y < w[1].begin.size(); ++y) f(static_cast<std::int64_t>(z), static_cast<std::int64_t>(y));
}

/// The steps that one volume takes, roughly.
std::int64_t steps_of(const Windows& w, std::int64_t width) {
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    std::int64_t reached = 0;
    for (std::size_t i = 0; i < w[axis].begin.size(); ++i) reached += w[axis].end[i] - w[axis].begin[i];
    rows *= reached;
  }
  return 2 * rows * width;
}

/// The greater of two numbers, or of each two in a few lanes; nan if one is.
template <class T>
T greater(T a, T b) {
  return ((b > a) | (b != b)) ? b : a;
}

/// The greatest of at least as many numbers as a register holds, nan if one is.
template <class T>
T greatest_of(const T* x, std::int64_t count) {
  using Pack = scalar::Pack<T>;
  const auto at = [x](std::int64_t i) { return load(x + i, std::type_identity<Pack>()); };
  Pack greatest = at(count - Pack::lanes);
  for (std::int64_t i = 0; i + Pack::lanes <= count; i += Pack::lanes) greatest = scalar::max(at(i), greatest);
  T lanes[Pack::lanes];
  store(lanes, greatest);
  T result = lanes[0];
  for (int lane = 1; lane < Pack::lanes; ++lane) result = greater(result, lanes[lane]);
  return result;
}

/// The greatest of any number of numbers.
template <class T>
[[gnu::noinline]] T greatest_of_some(const T* x, std::int64_t count) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (count > scalar::Pack<T>::lanes) return greatest_of(x, count);
  }
  T greatest = lowest<T>();
  for (std::int64_t i = 0; i < count; ++i) greatest = greater(greatest, x[i]);
  return greatest;
}

/// The greatest of columns [begin, end), each of which has its first maximum or last nan, and where that stands.
template <class T>
std::pair<T, Place<T>> maximum_of_columns(const Largest<T>& columns, std::int64_t begin, std::int64_t end) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (end - begin >= scalar::Pack<T>::lanes) {
      const T greatest = greatest_of<T>(columns.value + begin, end - begin);
      Place<T> last = -1, first = std::numeric_limits<Place<T>>::max();
      if (is_nan(greatest)) {
        for (std::int64_t i = begin; i < end; ++i)
          last = std::max(last, is_nan(columns.value[i]) ? columns.place[i] : Place<T>(-1));
        return {greatest, last};
      }
      for (std::int64_t i = begin; i < end; ++i)
        first = std::min(first, columns.value[i] == greatest ? columns.place[i] : std::numeric_limits<Place<T>>::max());
      return {greatest, first};
    }
  }
  std::int64_t best = begin;
  for (std::int64_t i = begin + 1; i < end; ++i) {
    const T x = columns.value[i], y = columns.value[best];
    const bool comes_first = columns.place[i] < columns.place[best];
    if (is_nan(x) ? !is_nan(y) || !comes_first : x > y || (x == y && comes_first)) best = i;
  }
  return {columns.value[best], columns.place[best]};
}

template <class T>
void max_of_volume(const Volume<T>& values, const Volume<std::int64_t>& places, const Volume<const T>& in,
                   const Windows& w, const Largest<T>& columns) {
  const std::int64_t width = in.sizes[2], outputs = values.sizes[2];
  for_each_row(w, [&](std::int64_t z, std::int64_t y) {
    std::fill_n(columns.value, width, lowest<T>());
    std::fill_n(columns.place, width, -1);
    for_each_input_row(w, z, y, [&](std::int64_t in_z, std::int64_t in_y) {
      const auto place = static_cast<Place<T>>((in_z * in.sizes[1] + in_y) * width);
      const T* row = in.row(in_z, in_y);
      if (in.strides[2] == 1) take_larger<T>(columns, row, unit_step, place, 1, width);
      else take_larger<T>(columns, row, in.strides[2], place, 1, width);
    });
    T* value = values.row(z, y);
    std::int64_t* at = places.row(z, y);
    for (std::int64_t i = 0; i < outputs; ++i, value += values.strides[2], at += places.strides[2]) {
      const auto [greatest, place] = maximum_of_columns(columns, w[2].begin[i], w[2].end[i]);
      *value = greatest;
      *at = place;
    }
  });
}

/// Each column becomes the greater of itself and an element of the row.
template <class T, class Step>
[[gnu::noinline]] void raise_columns(T* __restrict columns, const T* __restrict row, Step step, std::int64_t width) {
  if constexpr (std::is_same_v<Step, UnitStep>) {
    constexpr int lanes = scalar::Pack<T>::lanes;
    return update_row<lanes>(columns, row, width, [](auto a, auto b) { return greater(a, b); });
  }
  for (std::int64_t i = 0; i < width; ++i) columns[i] = greater(columns[i], row[i * step]);
}

/// Maxima alone. A window of one row is gone through where it lies.
template <class T>
void max_values_of_volume(const Volume<T>& values, const Volume<const T>& in, const Windows& w, T* columns) {
  const std::int64_t width = in.sizes[2];
  for_each_row(w, [&](std::int64_t z, std::int64_t y) {
    const bool is_one_row = w[0].end[z] - w[0].begin[z] == 1 && w[1].end[y] - w[1].begin[y] == 1;
    const T* from = columns;
    if (is_one_row && in.strides[2] == 1) {
      from = in.row(w[0].begin[z], w[1].begin[y]);
    } else {
      std::fill_n(columns, width, lowest<T>());
      for_each_input_row(w, z, y, [&](std::int64_t in_z, std::int64_t in_y) {
        const T* row = in.row(in_z, in_y);
        with_step<1>(in.strides[2], [&](auto step) { raise_columns(columns, row, step, width); });
      });
    }
    write_row(values, z, y,
              [&](std::int64_t i) { return greatest_of_some(from + w[2].begin[i], w[2].end[i] - w[2].begin[i]); });
  });
}

template <class T>
void max_values_as(const Strided& values, const Strided& input, int spatial, const Windows& w) {
  const Volumes<T> out(values, spatial);
  const Volumes<const T> in(input, spatial);
  const std::int64_t width = in.first.sizes[2];
  cut_volumes(out.offsets.size(), steps_of(w, width), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> columns(width);
    for (std::int64_t i = begin; i < end; ++i) max_values_of_volume<T>(out[i], in[i], w, columns.data());
  });
}

template <class T>
void max_of_windows_as(const Strided& values, const Strided& indices, const Strided& input, int spatial,
                       const Windows* shared, const WindowsOfVolume& each) {
  const Volumes<T> out(values, spatial);
  const Volumes<std::int64_t> places(indices, spatial);
  const Volumes<const T> in(input, spatial);
  const std::int64_t width = in.first.sizes[2], volumes = out.offsets.size();
  if (volumes == 0 || out.first.elements() == 0) return;
  cut_volumes(volumes, steps_of(shared ? *shared : each(0), width), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> value_memory(width);
    const Scratch<Place<T>> place_memory(width);
    const Largest<T> columns = {value_memory.data(), place_memory.data()};
    for (std::int64_t i = begin; i < end; ++i)
      max_of_volume(out[i], places[i], in[i], shared ? *shared : each(i), columns);
  });
}

/// In partial sums, which do not wait for each other.
template <std::int64_t parts, class S, class T>
S sum_in_parts(const T* x, std::int64_t count) {
  S sums[parts] = {};
  std::int64_t i = 0;
  for (; i + parts <= count; i += parts)
    for (std::int64_t k = 0; k < parts; ++k) sums[k] += static_cast<S>(x[i + k]);
  for (std::int64_t k = 0; k < parts; ++k)  // by known numbers: the sums stay in registers
    if (i + k < count) sums[k] += static_cast<S>(x[i + k]);
  for (std::int64_t half = parts / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}
template <class S, class T>
S sum_of(const T* x, std::int64_t count) {
  return count < 32 ? sum_in_parts<4, S>(x, count) : sum_in_parts<16, S>(x, count);
}

template <class T, int N>
T sum_of_lanes(Lanes<T, N> x) {
  if constexpr (N == 1) return x[0];
  else return sum_of_lanes<T, N / 2>(add_halves<T, N>(x));
}

/// Of a run of floating numbers, in registers.
template <class T>
T sum_of_run(const T* x, std::int64_t count) {
  using Pack = scalar::Pack<T>;
  constexpr std::int64_t lanes = Pack::lanes, at_once = 4;
  if (count < lanes) return sum_of<T>(x, count);
  Pack sums[at_once] = {Pack(0), Pack(0), Pack(0), Pack(0)};
  std::int64_t i = 0;
  for (; i + at_once * lanes <= count; i += at_once * lanes)
    for (std::int64_t k = 0; k < at_once; ++k) sums[k] = sums[k] + load(x + i + k * lanes, std::type_identity<Pack>());
  for (std::int64_t k = 0; i + lanes <= count; i += lanes, ++k)
    sums[k] = sums[k] + load(x + i, std::type_identity<Pack>());
  const std::int64_t rest = count - i;
  const T last = rest == 1 ? x[i] : T(0);
  if (rest > 1) sums[3] = sums[3] + load(x + i, static_cast<int>(rest), std::type_identity<Pack>());
  return last + sum_of_lanes<T, Pack::lanes>(((sums[0] + sums[1]) + (sums[2] + sums[3])).v);
}

/// Whether each window is as wide as the volume, whose rows lie one behind the other.
template <class T>
bool are_runs(const Windows& w, const Volume<T>& in) {
  const WindowsOfAxis& x = w[2];
  return x.begin.size() == 1 && x.begin[0] == 0 && x.end[0] == in.sizes[2] && in.strides[2] == 1 &&
         (in.sizes[1] == 1 || in.strides[1] == in.sizes[2]);
}

/// Volumes whose channels, the axis in front, lie side by side in memory: all channels of an output at once.
template <class T>
void mean_of_channels(const Strided& output, const Strided& input, int spatial, const Windows& w,
                      std::int64_t divisor) {
  const int axis = input.rank - spatial - 1;
  const std::int64_t channels = input.shape[axis], to_channel = output.strides[axis];
  const BatchOffsets from(input, spatial + 1), to(output, spatial + 1);
  const Volume<const T> in = Volumes<const T>(input, spatial).first;
  const Volume<T> out = Volumes<T>(output, spatial).first;
  cut_volumes(from.size(), steps_of(w, in.sizes[2]) * channels, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> memory(channels);
    T* const sums = memory.data();
    for (std::int64_t member = begin; member < end; ++member)
      for_each_row(w, [&](std::int64_t z, std::int64_t y) {
        for (std::int64_t j = 0; j < out.sizes[2]; ++j) {
          std::fill_n(sums, channels, T(0));
          for_each_input_row(w, z, y, [&](std::int64_t in_z, std::int64_t in_y) {
            const T* pixel = from(member) + in.row(in_z, in_y) + w[2].begin[j] * in.strides[2];
            for (std::int64_t x = w[2].begin[j]; x < w[2].end[j]; ++x, pixel += in.strides[2])
              add_strided(sums, unit_step, pixel, unit_step, channels);
          });
          const std::int64_t count = divisor != 0 ? divisor : w[0].count[z] * w[1].count[y] * w[2].count[j];
          T* mean = out.row(z, y) + to(member) + j * out.strides[2];
          for (std::int64_t c = 0; c < channels; ++c) mean[c * to_channel] = divided<T>(sums[c], count);
        }
      });
  });
}

template <class T>
void mean_of_windows_as(const Strided& output, const Strided& input, int spatial, const Windows& w,
                        std::int64_t divisor) {
  const Volumes<T> out(output, spatial);
  const Volumes<const T> in(input, spatial);
  const std::int64_t width = in.first.sizes[2];
  if constexpr (std::is_floating_point_v<T>) {
    if (are_channels_last(input, spatial)) return mean_of_channels<T>(output, input, spatial, w, divisor);
  }
  const bool runs = are_runs(w, in.first);
  cut_volumes(out.offsets.size(), steps_of(w, width), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<Sum<T>> columns(width);
    for (std::int64_t i = begin; i < end; ++i) {
      const Volume<const T> volume = in[i];
      const Volume<T> mean = out[i];
      for_each_row(w, [&](std::int64_t z, std::int64_t y) {
        if (runs) {
          Sum<T> sum{};
          for (std::int64_t in_z = w[0].begin[z]; in_z < w[0].end[z]; ++in_z) {
            const T* run = volume.row(in_z, w[1].begin[y]);
            const std::int64_t elements = (w[1].end[y] - w[1].begin[y]) * width;
            if constexpr (std::is_floating_point_v<T>) sum += sum_of_run(run, elements);
            else sum += sum_of<Sum<T>>(run, elements);
          }
          const std::int64_t count = w[0].count[z] * w[1].count[y] * w[2].count[0];
          mean(z, y, 0) = static_cast<T>(divided<T>(sum, divisor != 0 ? divisor : count));
          return;
        }
        std::fill_n(columns.data(), width, Sum<T>{});
        for_each_input_row(w, z, y, [&](std::int64_t in_z, std::int64_t in_y) {
          const T* row = volume.row(in_z, in_y);
          if (volume.strides[2] == 1) add_strided(columns.data(), unit_step, row, unit_step, width);
          else add_strided(columns.data(), unit_step, row, volume.strides[2], width);
        });
        const std::int64_t rows = w[0].count[z] * w[1].count[y];
        write_row(mean, z, y, [&](std::int64_t j) {
          const auto sum = sum_of<Sum<T>>(columns.data() + w[2].begin[j], w[2].end[j] - w[2].begin[j]);
          return divided<T>(sum, divisor != 0 ? divisor : rows * w[2].count[j]);
        });
      });
    }
  });
}

template <class T>
void mean_of_windows_gradient_as(const Strided& input_gradient, const Strided& cotangent, int spatial, const Windows& w,
                                 std::int64_t divisor) {
  const Volumes<T> in(input_gradient, spatial);
  const Volumes<const T> out(cotangent, spatial);
  const std::int64_t width = in.first.sizes[2];
  cut_volumes(in.offsets.size(), steps_of(w, width), [&](std::int64_t begin, std::int64_t end) {
    const Accumulator<T> accumulator(in.first);
    const Scratch<T> columns(width);
    for (std::int64_t i = begin; i < end; ++i) {
      T* sums = accumulator.cleared();
      const Volume<const T> ct = out[i];
      for_each_row(w, [&](std::int64_t z, std::int64_t y) {
        std::fill_n(columns.data(), width, T{});
        const std::int64_t rows = w[0].count[z] * w[1].count[y];
        for (std::int64_t j = 0; j < ct.sizes[2]; ++j) {
          const auto share = divided<T>(ct(z, y, j), divisor != 0 ? divisor : rows * w[2].count[j]);
          for (std::int64_t x = w[2].begin[j]; x < w[2].end[j]; ++x) columns.data()[x] += share;
        }
        for_each_input_row(w, z, y, [&](std::int64_t in_z, std::int64_t in_y) {
          T* row = sums + (in_z * in.first.sizes[1] + in_y) * width;
          add_strided(row, unit_step, columns.data(), unit_step, width);
        });
      });
      accumulator.write(in[i]);
    }
  });
}

[[maybe_unused]] bool agree(const Strided& out, const Strided& in, int spatial, const Windows& windows) {
  const int batch_rank = in.rank - spatial;
  if (spatial < 1 || spatial > 3 || out.rank != in.rank || batch_rank < 0 || batch_rank > max_batch_rank) return false;
  if (!std::equal(in.shape, in.shape + batch_rank, out.shape)) return false;
  for (int i = 0; i < spatial; ++i) {
    const WindowsOfAxis& w = windows[static_cast<std::size_t>(3 - spatial + i)];
    if (static_cast<std::int64_t>(w.begin.size()) != out.shape[batch_rank + i] || w.begin.size() != w.end.size() ||
        w.begin.size() != w.count.size())
      return false;
    for (std::size_t k = 0; k < w.begin.size(); ++k)
      if (w.begin[k] < 0 || w.begin[k] >= w.end[k] || w.end[k] > in.shape[batch_rank + i]) return false;
  }
  return true;
}

}  // namespace

WindowsOfAxis dividing_windows(std::int64_t inputs, std::int64_t outputs) {
  WindowsOfAxis w{{}, {}, {}};
  // i inputs / outputs and its remainder, by steps: the product may overflow.
  const std::int64_t step = outputs > 0 ? inputs / outputs : 0, rest = outputs > 0 ? inputs % outputs : 0;
  std::int64_t whole = 0, part = 0;
  for (std::int64_t i = 0; i < outputs; ++i) {
    w.begin.push_back(whole);
    whole += step;
    part += rest;
    if (part >= outputs) {
      part -= outputs;
      ++whole;
    }
    w.end.push_back(whole + (part > 0 ? 1 : 0));
    w.count.push_back(w.end.back() - w.begin.back());
  }
  return w;
}

Windows dividing_windows(const Strided& input, const Strided& output, int spatial) {
  Windows w;
  for (int i = 1; i <= spatial; ++i)
    w[static_cast<std::size_t>(3 - i)] = dividing_windows(input.shape[input.rank - i], output.shape[output.rank - i]);
  return w;
}

void max_of_windows(Strided values, Strided indices, Strided input, int spatial, const WindowsOfVolume& windows) {
  run_with_places(values, input, [&]<class T>(std::type_identity<T>, const Strided& out, const Strided& in) {
    max_of_windows_as<T>(out, indices, in, spatial, nullptr, windows);
  });
}

void max_of_windows(Strided values, Strided indices, Strided input, int spatial, const Windows& windows) {
  assert(agree(values, input, spatial, windows));
  run_with_places(values, input, [&]<class T>(std::type_identity<T>, const Strided& out, const Strided& in) {
    max_of_windows_as<T>(out, indices, in, spatial, &windows, {});
  });
}

void max_of_windows(Strided values, Strided input, int spatial, const Windows& windows) {
  assert(agree(values, input, spatial, windows));
  run_compared(values, input, [&]<class T>(std::type_identity<T>, const Strided& out, const Strided& in) {
    max_values_as<T>(out, in, spatial, windows);
  });
}

void mean_of_windows(Strided out, Strided input, int spatial, const Windows& windows, std::int64_t divisor) {
  assert(agree(out, input, spatial, windows));
  // Halves are read where they lie: a copy of all of them takes longer than one look at each.
  if (out.dtype == DType::float16) return mean_of_windows_as<Half>(out, input, spatial, windows, divisor);
  if (out.dtype == DType::bfloat16) return mean_of_windows_as<BFloat16>(out, input, spatial, windows, divisor);
  run_as_sums(out, input, [&]<class T>(std::type_identity<T>, const Strided& to, const Strided& from) {
    mean_of_windows_as<T>(to, from, spatial, windows, divisor);
  });
}

void mean_of_windows_gradient(Strided input_gradient, Strided cotangent, int spatial, const Windows& windows,
                              std::int64_t divisor) {
  assert(agree(cotangent, input_gradient, spatial, windows));
  run_as_sums(input_gradient, cotangent, [&]<class T>(std::type_identity<T>, const Strided& to, const Strided& from) {
    mean_of_windows_gradient_as<T>(to, from, spatial, windows, divisor);
  });
}

}  // namespace ricci::kernels
