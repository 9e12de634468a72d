// Every volume is computed by itself, one row of outputs at a time. Places of maxima: for each position in the
// window, a loop over the outputs of the row whose window holds an input there (`for_each_tap`). Maxima alone and
// means: as many outputs as fit a register, each of which sees all positions before the next ones begin (`fold_row`).
#include "kernels/pooling.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

#include "kernels/known_step.h"
#include "kernels/pooling_volumes.h"
#include "kernels/pooling_windows.h"
#include "kernels/strided.h"
#include "kernels/transpose.h"
#include "ricci/primitive/scalar.h"

namespace ricci::kernels {
namespace {

/// One pooled axis: output i sees inputs i * stride + k * dilation - padding.
struct Axis {
  std::int64_t window = 1, stride = 1, padding = 0, dilation = 1;

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

/// The positions of a window, for rows of outputs over volumes of given sizes.
struct Window {
  std::array<Axis, 3> axes;
  std::array<std::int64_t, 3> sizes;  // of the input
  std::int64_t count;                 // outputs of a row
  std::vector<Tap> taps;              // of one row of the window

  template <class In, class Out>
  Window(const PoolingShape& s, const Volume<In>& in, const Volume<Out>& out)
      : sizes{in.sizes[0], in.sizes[1], in.sizes[2]}, count(out.sizes[2]) {
    for (int i = 0; i < s.spatial; ++i) {
      const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(3 - s.spatial + i);
      axes[to] = {s.window[from], s.stride[from], s.padding[from], s.dilation[from]};
    }
    for (std::int64_t k = 0; k < axes[2].window && axes[2].input(0, k) < sizes[2]; ++k) {
      const Tap tap = tap_at(axes[2], k, sizes[2], count);
      if (tap.begin < tap.end) taps.push_back(tap);
    }
  }

  /// How many inputs an output sees at most.
  std::int64_t size() const {
    std::int64_t all = 1;
    for (std::size_t i = 0; i < 3; ++i) all *= std::min(axes[i].window, sizes[i]);
    return all;
  }
};

/// Calls `f(input z, input y, tap)` for every position of the window over one row of outputs that sees inputs.
template <class F>
void for_each_tap(const Window& window, std::int64_t out_z, std::int64_t out_y, F&& f) {
  for (std::int64_t i = 0; i < window.axes[0].window; ++i) {
    const std::int64_t z = window.axes[0].input(out_z, i);
    if (z >= window.sizes[0]) break;
    if (z < 0) continue;
    for (std::int64_t k = 0; k < window.axes[1].window; ++k) {
      const std::int64_t y = window.axes[1].input(out_y, k);
      if (y >= window.sizes[1]) break;
      if (y < 0) continue;
      for (const Tap& tap : window.taps) f(z, y, tap);
    }
  }
}

/// work(z, y) for each row of a volume.
template <class T, class Work>
void for_each_row(const Volume<T>& volume, const Work& work) {
  for (std::int64_t z = 0; z < volume.sizes[0]; ++z)
    for (std::int64_t y = 0; y < volume.sizes[1]; ++y) work(z, y);
}

constexpr std::int64_t block = 16;

constexpr std::int64_t whole_blocks(std::int64_t count) { return (count + block - 1) / block * block; }

/// Whether whole blocks of outputs, the last of which ends the row, find elements of the volume to read: rows of pooled
/// images are shorter than the vector loops that compilers make of an unknown count.
template <class T>
bool may_overrun(const Volume<const T>& in, const T* from, std::int64_t step, const Tap& tap, std::int64_t count) {
  const T* last = &in(in.sizes[0] - 1, in.sizes[1] - 1, in.sizes[2] - 1);
  return tap.end == count && (whole_blocks(tap.end - tap.begin) - 1) * step <= last - from;
}

template <class T>
void max_of_row(const Volume<const T>& in, const Window& window, std::int64_t out_z, std::int64_t out_y,
                Largest<T> largest) {
  std::fill_n(largest.value, window.count, lowest<T>());
  std::fill_n(largest.place, window.count, -1);
  const std::int64_t stride = window.axes[2].stride;
  const auto place_step = static_cast<Place<T>>(stride);
  for_each_tap(window, out_z, out_y, [&](std::int64_t z, std::int64_t y, const Tap& tap) {
    const T* from = &in(z, y, tap.column);
    const auto place = static_cast<Place<T>>((z * in.sizes[1] + y) * in.sizes[2] + tap.column);
    const Largest<T> to = {largest.value + tap.begin, largest.place + tap.begin};
    with_step<1, 2>(stride * in.strides[2], [&](auto step) {
      const std::int64_t count = tap.end - tap.begin;
      if (!may_overrun(in, from, step, tap, window.count)) return take_larger(to, from, step, place, place_step, count);
      for (std::int64_t i = 0; i < count; i += block) {
        const Largest<T> part = {to.value + i, to.place + i};
        take_larger(part, from + i * step, step, place + static_cast<Place<T>>(i) * place_step, place_step, block);
      }
    });
  });
}

template <class T>
void max_pool_as(const Strided& values, const Strided& indices, const Strided& input, const PoolingShape& shape) {
  const Volumes<T> out(values, shape.spatial);
  const Volumes<std::int64_t> places(indices, shape.spatial);
  const Volumes<const T> in(input, shape.spatial);
  const Window window(shape, in.first, out.first);
  cut_volumes(out.offsets.size(), out.first.elements() * window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> value_memory(whole_blocks(window.count) + block);
    const Scratch<Place<T>> place_memory(whole_blocks(window.count) + block);
    const Largest<T> largest = {value_memory.data(), place_memory.data()};
    for (std::int64_t i = begin; i < end; ++i) {
      const Volume<const T> volume = in[i];
      const Volume<T> value = out[i];
      const Volume<std::int64_t> place = places[i];
      for_each_row(value, [&](std::int64_t z, std::int64_t y) {
        max_of_row(volume, window, z, y, largest);
        write_row(value, z, y, [from = largest.value](std::int64_t j) { return from[j]; });
        write_row(place, z, y, [from = largest.place](std::int64_t j) { return from[j]; });
      });
    }
  });
}

/// The greater of two, nan if one is.
struct Greater {
  template <class T>
  T operator()(T so_far, T x) const {
    return x > so_far || is_nan(x) ? x : so_far;
  }
  template <class T>
  scalar::Pack<T> operator()(scalar::Pack<T> so_far, scalar::Pack<T> x) const {
    return scalar::max(x, so_far);
  }
};
struct Plus {
  template <class S, class T>
  S operator()(S so_far, T x) const {
    return so_far + static_cast<S>(x);
  }
};

/// One position in the windows of a row of outputs: output j of begin <= j < end sees from[j * step] there.
template <class T>
struct Position {
  const T* from;
  std::int64_t begin, end;
};

/// from[i * step] in lane i.
template <int step, class T>
scalar::Pack<T> load_apart(const T* from) {
  using Pack = scalar::Pack<T>;
  static_assert(step == 1 || step == 2);
  const auto low = load(from, std::type_identity<Pack>());
  if constexpr (step == 1) return low;
  // The second half begins one element early, to read none behind the last.
  const auto high = load(from + Pack::lanes - 1, std::type_identity<Pack>());
  return [&]<int... lane>(std::integer_sequence<int, lane...>) {
    constexpr int half = Pack::lanes / 2;
    return Pack(__builtin_shufflevector(low.v, high.v, (lane < half ? 2 * lane : 2 * lane + 1)...));
  }(std::make_integer_sequence<int, Pack::lanes>());
}
/// The same of the first `count` lanes; the others hold anything, and their elements are not read.
template <int step, class T>
scalar::Pack<T> load_apart(const T* from, int count) {
  using Pack = scalar::Pack<T>;
  const int reach = (count - 1) * step + 1;
  const auto low =
      reach < Pack::lanes ? load(from, reach, std::type_identity<Pack>()) : load(from, std::type_identity<Pack>());
  if constexpr (step == 1) return low;
  const auto high =
      reach > Pack::lanes ? load(from + Pack::lanes, reach - Pack::lanes, std::type_identity<Pack>()) : Pack(0);
  return [&]<int... lane>(std::integer_sequence<int, lane...>) {
    return Pack(__builtin_shufflevector(low.v, high.v, (2 * lane)...));
  }(std::make_integer_sequence<int, Pack::lanes>());
}

/// The rows of outputs of one volume after another. What an output sees is folded in the order of the positions.
template <class T, class S, class Fold>
class RowsOfWindows {
 public:
  RowsOfWindows(const Window& window, S start, Fold fold) : window_(window), start_(start), fold_(fold) {}

  /// to[j]: what output j of a row sees, after `start`.
  void fold_row(const Volume<const T>& in, std::int64_t out_z, std::int64_t out_y, S* to) {
    const std::int64_t stride = window_.axes[2].stride, count = window_.count;
    positions_.clear();
    std::int64_t begin = 0, end = count;  // of the outputs that see an input at each position
    for_each_tap(window_, out_z, out_y, [&](std::int64_t z, std::int64_t y, const Tap& tap) {
      const T* from = in.row(z, y) + (tap.column - tap.begin * stride) * in.strides[2];
      positions_.push_back({from, tap.begin, tap.end});
      begin = std::max(begin, tap.begin);
      end = std::min(end, tap.end);
    });
    with_step<1, 2>(stride * in.strides[2], [&]<class Step>(Step step) {
      if constexpr (std::is_same_v<T, S> && std::is_arithmetic_v<T> && !std::is_same_v<Step, std::int64_t>) {
        if (begin < end) {
          fold_alike<Step::value>(to, begin, end);
          fold_by_position(to, 0, begin, step);
          return fold_by_position(to, end, count, step);
        }
      }
      fold_by_position(to, 0, count, step);
    });
  }

 private:
  /// Outputs [begin, end), which see an input at each position.
  template <int step>
  void fold_alike(T* to, std::int64_t begin, std::int64_t end) const {
    using Pack = scalar::Pack<T>;
    for (; begin + Pack::lanes <= end; begin += Pack::lanes) {
      Pack folded(start_);
      for (const Position<T>& p : positions_) folded = fold_(folded, load_apart<step>(p.from + begin * step));
      store(to + begin, folded);
    }
    if (begin == end) return;
    const int rest = static_cast<int>(end - begin);
    Pack folded(start_);
    for (const Position<T>& p : positions_) folded = fold_(folded, load_apart<step>(p.from + begin * step, rest));
    store(to + begin, folded, rest);
  }
  template <class Step>
  void fold_by_position(S* __restrict to, std::int64_t begin, std::int64_t end, Step step) const {
    std::fill(to + begin, to + std::max(begin, end), start_);
    for (const Position<T>& p : positions_) {
      const std::int64_t last = std::min(end, p.end);
      for (std::int64_t j = std::max(begin, p.begin); j < last; ++j) to[j] = fold_(to[j], p.from[j * step]);
    }
  }

  const Window& window_;
  S start_;
  Fold fold_;
  std::vector<Position<T>> positions_;
};

/// Pools volumes whose channels lie side by side: a register holds one output of several channels. `finish(z, y, j)`
/// gives what turns the folded inputs of output (z, y, j) into its value. Some rows of outputs are computed with
/// channels last, then copied transposed to the output: of rows that follow each other, so that a channel's part is
/// long.
template <class T, class Fold, class Finish>
void fold_channels(const Strided& output, const Strided& input, int spatial, const Window& window, T start, Fold fold,
                   const Finish& finish) {
  using Pack = scalar::Pack<T>;
  constexpr std::int64_t at_once = 32768 / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T)), ahead = 4;  // outputs
  const int axis = input.rank - spatial - 1;
  const std::int64_t channels = input.shape[axis], to_channel = output.strides[axis];
  const BatchOffsets from(input, spatial + 1), to(output, spatial + 1);
  const Volume<const T> in = Volumes<const T>(input, spatial).first;
  const Volume<T> out = Volumes<T>(output, spatial).first;
  const std::int64_t rows = out.rows(), columns = out.sizes[2], step = window.axes[2].stride * in.strides[2];
  const bool follow = out.strides[1] == columns * out.strides[2] && out.strides[0] == out.sizes[1] * out.strides[1];
  const std::int64_t rows_of_block =
      follow ? std::clamp<std::int64_t>(at_once / std::max<std::int64_t>(columns * channels, 1), 1, rows) : 1;
  const std::int64_t blocks = (rows + rows_of_block - 1) / rows_of_block;
  const std::int64_t steps = rows_of_block * columns * channels * window.size();
  cut_volumes(from.size() * blocks, steps, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> results(rows_of_block * columns * channels);
    std::vector<Position<T>> positions;
    std::vector<const T*> seen;  // by one output
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t first = unit % blocks * rows_of_block, last = std::min(first + rows_of_block, rows);
      const T* const data = from(unit / blocks) + in.data;
      const std::int64_t outputs = (last - first) * columns;
      T* const block =
          out.data + to(unit / blocks) + first / out.sizes[1] * out.strides[0] + first % out.sizes[1] * out.strides[1];
      const T* fetched = block;  // lines of the output, which are fetched while inputs are read
      std::int64_t left = outputs;
      T* result = results.data();
      for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t z = row / out.sizes[1], y = row % out.sizes[1];
        positions.clear();
        for_each_tap(window, z, y, [&](std::int64_t in_z, std::int64_t in_y, const Tap& tap) {
          const T* place = data + in_z * in.strides[0] + in_y * in.strides[1];
          positions.push_back({place + tap.column * in.strides[2] - tap.begin * step, tap.begin, tap.end});
        });
        for (std::int64_t j = 0; j < columns; ++j, result += channels) {
          seen.clear();
          for (const Position<T>& p : positions) {
            const T* from = p.from + j * step;
            if (p.begin <= j && j < p.end) seen.push_back(from);
            for (std::int64_t c = 0; c < channels; c += line) __builtin_prefetch(from + ahead * step + c);
          }
          for (std::int64_t c = 0; c < channels; c += line, left -= line) {
            if (left <= 0) fetched += to_channel, left = outputs;
            __builtin_prefetch(fetched + (outputs - left), 1);
          }
          const auto finished = finish(z, y, j);
          const auto fold_packs = [&]<int packs>(std::integral_constant<int, packs>, std::int64_t c) {
            Pack folded[packs];
            for (Pack& each : folded) each = Pack(start);
            for (const T* from : seen)
              for (int k = 0; k < packs; ++k)
                folded[k] = fold(folded[k], load(from + c + k * Pack::lanes, std::type_identity<Pack>()));
            for (int k = 0; k < packs; ++k) store(result + c + k * Pack::lanes, finished(folded[k]));
          };
          constexpr int packs = 4;
          std::int64_t c = 0;
          for (; c + packs * Pack::lanes <= channels; c += packs * Pack::lanes)
            fold_packs(std::integral_constant<int, packs>(), c);
          for (; c + Pack::lanes <= channels; c += Pack::lanes) fold_packs(std::integral_constant<int, 1>(), c);
          if (c == channels) continue;
          const int rest = static_cast<int>(channels - c);
          Pack folded(start);
          for (const T* from : seen) folded = fold(folded, load(from + c, rest, std::type_identity<Pack>()));
          store(result + c, finished(folded), rest);
        }
      }
      if (out.strides[2] == 1) {
        constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
        turn_plane(reinterpret_cast<char*>(block), to_channel * bytes, reinterpret_cast<const char*>(results.data()),
                   channels * bytes, channels, outputs, bytes);
        continue;
      }
      const Matrix<T> turned = {block, channels, outputs, to_channel, out.strides[2]};
      copy_matrix(turned, row_major(results.data(), outputs, channels).transposed());
    }
  });
}

template <class T>
void max_values_as(const Strided& values, const Strided& input, const PoolingShape& shape) {
  const Volumes<T> out(values, shape.spatial);
  const Volumes<const T> in(input, shape.spatial);
  const Window window(shape, in.first, out.first);
  if constexpr (std::is_arithmetic_v<T>) {
    if (are_channels_last(input, shape.spatial))
      return fold_channels(values, input, shape.spatial, window, lowest<T>(), Greater(),
                           [](std::int64_t, std::int64_t, std::int64_t) { return [](auto folded) { return folded; }; });
  }
  cut_volumes(out.offsets.size(), out.first.elements() * window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> row(window.count);
    RowsOfWindows<T, T, Greater> rows(window, lowest<T>(), {});
    for (std::int64_t i = begin; i < end; ++i) {
      const Volume<const T> volume = in[i];
      const Volume<T> value = out[i];
      for_each_row(value, [&](std::int64_t z, std::int64_t y) {
        if (value.strides[2] == 1) return rows.fold_row(volume, z, y, value.row(z, y));
        rows.fold_row(volume, z, y, row.data());
        write_row(value, z, y, [from = row.data()](std::int64_t j) { return from[j]; });
      });
    }
  });
}

template <class T>
void max_pool_gradient_as(const Strided& input_gradient, const Strided& cotangent, const Strided& indices,
                          int spatial) {
  const Volumes<T> in(input_gradient, spatial);
  const Volumes<const T> out(cotangent, spatial);
  const Volumes<const std::int64_t> places(indices, spatial);
  cut_volumes(in.offsets.size(), 2 * out.first.elements(), [&](std::int64_t begin, std::int64_t end) {
    const Accumulator<T> accumulator(in.first);
    for (std::int64_t i = begin; i < end; ++i) {
      Sum<T>* sums = accumulator.cleared();
      const Volume<const T> ct = out[i];
      const Volume<const std::int64_t> place = places[i];
      for_each_row(ct, [&](std::int64_t z, std::int64_t y) {
        const T* from = ct.row(z, y);
        const std::int64_t* at = place.row(z, y);
        for (std::int64_t x = 0; x < ct.sizes[2]; ++x, from += ct.strides[2], at += place.strides[2])
          if (*at >= 0) sums[*at] += static_cast<Sum<T>>(*from);
      });
      accumulator.write(in[i]);
    }
  });
}

/// How many elements a mean counts along an axis, one at least. The window reaches from `first` up to `end`; elements
/// count that lie among the `size` elements of the input, or in the `outside` elements of padding on either side.
std::int64_t counted(std::int64_t first, std::int64_t end, std::int64_t size, std::int64_t outside) {
  return std::max<std::int64_t>(1, std::min(end, size + outside) - std::max(first, -outside));
}

/// How many elements the mean of each output counts along each axis.
class Divisors {
 public:
  template <class Out>
  Divisors(const Window& window, const Volume<Out>& out, const Averaging& averaging) : divisor_(averaging.divisor) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Axis& a = window.axes[axis];
      const std::int64_t outside = averaging.counts_padding ? a.padding : 0;
      for (std::int64_t i = 0; i < out.sizes[axis]; ++i) {
        const std::int64_t first = a.input(i, 0);
        counts_[axis].push_back(counted(first, first + a.window, window.sizes[axis], outside));
      }
    }
    const std::vector<std::int64_t>& along = counts_[2];
    is_even_ = divisor_ != 0 || along.empty() || std::equal(along.begin() + 1, along.end(), along.begin());
  }

  std::int64_t operator()(std::int64_t z, std::int64_t y, std::int64_t j) const {
    return divisor_ != 0 ? divisor_ : counts_[0][z] * counts_[1][y] * counts_[2][j];
  }
  /// f(divisor), where divisor(j) is that of output j of a row.
  template <class F>
  void for_row(std::int64_t z, std::int64_t y, F&& f) const {
    if (counts_[2].empty()) return;
    const std::int64_t outer = divisor_ != 0 ? divisor_ : counts_[0][z] * counts_[1][y];
    const std::int64_t* along = counts_[2].data();
    if (is_even_) return f([all = divisor_ != 0 ? outer : outer * along[0]](std::int64_t) { return all; });
    f([=](std::int64_t j) { return outer * along[j]; });
  }

 private:
  std::int64_t divisor_;
  bool is_even_;
  std::vector<std::int64_t> counts_[3];
};

template <class T>
void avg_pool_as(const Strided& output, const Strided& input, const PoolingShape& shape, const Averaging& averaging) {
  const Volumes<T> out(output, shape.spatial);
  const Volumes<const T> in(input, shape.spatial);
  const Window window(shape, in.first, out.first);
  const Divisors divisors(window, out.first, averaging);
  if constexpr (std::is_floating_point_v<T>) {
    if (are_channels_last(input, shape.spatial))
      return fold_channels(
          output, input, shape.spatial, window, T(0), Plus(), [&](std::int64_t z, std::int64_t y, std::int64_t j) {
            return [divisor = scalar::Pack<T>(divisors(z, y, j))](scalar::Pack<T> folded) { return folded / divisor; };
          });
  }
  cut_volumes(out.offsets.size(), out.first.elements() * window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<Sum<T>> sums(window.count);
    RowsOfWindows<T, Sum<T>, Plus> rows(window, Sum<T>{}, {});
    for (std::int64_t i = begin; i < end; ++i) {
      const Volume<const T> volume = in[i];
      const Volume<T> mean = out[i];
      for_each_row(mean, [&](std::int64_t z, std::int64_t y) {
        rows.fold_row(volume, z, y, sums.data());
        divisors.for_row(z, y, [&](auto divisor) {
          write_row(mean, z, y,
                    [from = sums.data(), divisor](std::int64_t j) { return divided<T>(from[j], divisor(j)); });
        });
      });
    }
  });
}

/// Adds the shares of one row of outputs to the inputs they were the means of.
template <class T>
void spread_row(const Sum<T>* shares, const Window& window, std::int64_t out_z, std::int64_t out_y, Sum<T>* sums) {
  for_each_tap(window, out_z, out_y, [&](std::int64_t z, std::int64_t y, const Tap& tap) {
    Sum<T>* to = sums + (z * window.sizes[1] + y) * window.sizes[2] + tap.column;
    with_step<1, 2>(window.axes[2].stride,
                    [&](auto step) { add_strided(to, step, shares + tap.begin, unit_step, tap.end - tap.begin); });
  });
}

template <class T>
void avg_pool_gradient_as(const Strided& input_gradient, const Strided& cotangent, const PoolingShape& shape,
                          const Averaging& averaging) {
  const Volumes<T> in(input_gradient, shape.spatial);
  const Volumes<const T> out(cotangent, shape.spatial);
  const Window window(shape, in.first, out.first);
  const Divisors divisors(window, out.first, averaging);
  cut_volumes(in.offsets.size(), out.first.elements() * window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Accumulator<T> accumulator(in.first);
    const Scratch<Sum<T>> shares(window.count);
    for (std::int64_t i = begin; i < end; ++i) {
      Sum<T>* sums = accumulator.cleared();
      const Volume<const T> ct = out[i];
      for_each_row(ct, [&](std::int64_t z, std::int64_t y) {
        const T* from = ct.row(z, y);
        divisors.for_row(z, y, [&](auto divisor) {
          for (std::int64_t j = 0; j < window.count; ++j)
            shares.data()[j] = divided<T>(static_cast<Sum<T>>(from[j * ct.strides[2]]), divisor(j));
        });
        spread_row<T>(shares.data(), window, z, y, sums);
      });
      accumulator.write(in[i]);
    }
  });
}

[[maybe_unused]] bool is_like(const Strided& a, const Strided& b) {
  return a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape);
}

[[maybe_unused]] bool have_same_batch(const Strided& a, const Strided& b, int spatial) {
  const int batch_rank = a.rank - spatial;
  return spatial >= 1 && spatial <= 3 && a.rank == b.rank && batch_rank >= 0 && batch_rank <= max_batch_rank &&
         std::equal(a.shape, a.shape + batch_rank, b.shape);
}

[[maybe_unused]] bool agree(const Strided& out, const Strided& in, const PoolingShape& shape) {
  if (!have_same_batch(out, in, shape.spatial)) return false;
  const auto at = static_cast<std::size_t>(in.rank - shape.spatial);
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.spatial); ++i) {
    if (shape.window[i] < 1 || shape.stride[i] < 1 || shape.padding[i] < 0 || shape.dilation[i] < 1) return false;
    if (out.shape[at + i] > pooling_size(in.shape[at + i], shape, i) + 1) return false;
  }
  return true;
}

/// The windows one by one, where rows of outputs are short and windows wide, so that loops along a row of outputs do
/// little; else nothing.
std::optional<Windows> windows_one_by_one(const Strided& out, const Strided& in, const PoolingShape& shape,
                                          const Averaging& averaging) {
  const int last = shape.spatial - 1;
  if (shape.window[static_cast<std::size_t>(last)] < 2 * out.shape[out.rank - 1]) return {};
  Windows windows;
  for (int k = 0; k < shape.spatial; ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (shape.dilation[i] != 1) return {};
    const std::int64_t outputs = out.shape[out.rank - shape.spatial + k], size = in.shape[in.rank - shape.spatial + k];
    const std::int64_t outside = averaging.counts_padding ? shape.padding[i].host() : 0;
    WindowsOfAxis& w = windows[static_cast<std::size_t>(3 - shape.spatial + k)];
    w = {{}, {}, {}};
    for (std::int64_t o = 0; o < outputs; ++o) {
      const std::int64_t first = o * shape.stride[i].host() - shape.padding[i].host();
      const std::int64_t end = first + shape.window[i].host();
      w.begin.push_back(std::max<std::int64_t>(first, 0));
      w.end.push_back(std::min(end, size));
      w.count.push_back(counted(first, end, size, outside));
      if (w.begin.back() >= w.end.back()) return {};
    }
  }
  return windows;
}

/// Averages have no dilation.
PoolingShape undilated(PoolingShape shape) {
  shape.dilation = {1, 1, 1};
  return shape;
}

}  // namespace

void max_pool(Strided values, Strided indices, Strided input, const PoolingShape& shape) {
  assert(agree(values, input, shape) && is_like(values, indices));
  assert(values.dtype == input.dtype && indices.dtype == DType::int64 && !is_complex(input.dtype));
  if (const auto windows = windows_one_by_one(values, input, shape, {}))
    return max_of_windows(values, indices, input, shape.spatial, *windows);
  visit_dtype(input.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_complex(dtype_of<T>)) max_pool_as<T>(values, indices, input, shape);
  });
}

void max_pool(Strided values, Strided input, const PoolingShape& shape) {
  assert(agree(values, input, shape) && values.dtype == input.dtype && !is_complex(input.dtype));
  if (const auto windows = windows_one_by_one(values, input, shape, {}))
    return max_of_windows(values, input, shape.spatial, *windows);
  visit_dtype(input.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_complex(dtype_of<T>)) max_values_as<T>(values, input, shape);
  });
}

void max_pool_gradient(Strided input_gradient, Strided cotangent, Strided indices, int spatial) {
  assert(have_same_batch(input_gradient, cotangent, spatial) && is_like(cotangent, indices));
  assert(cotangent.dtype == input_gradient.dtype && indices.dtype == DType::int64);
  visit_dtype(cotangent.dtype, [&]<class T>(std::type_identity<T>) {
    max_pool_gradient_as<T>(input_gradient, cotangent, indices, spatial);
  });
}

void avg_pool(Strided out, Strided input, const PoolingShape& shape, const Averaging& averaging) {
  assert(agree(out, input, undilated(shape)) && out.dtype == input.dtype);
  if (const auto windows = windows_one_by_one(out, input, undilated(shape), averaging))
    return mean_of_windows(out, input, shape.spatial, *windows, averaging.divisor);
  visit_dtype(out.dtype,
              [&]<class T>(std::type_identity<T>) { avg_pool_as<T>(out, input, undilated(shape), averaging); });
}

void avg_pool_gradient(Strided input_gradient, Strided cotangent, const PoolingShape& shape,
                       const Averaging& averaging) {
  assert(agree(cotangent, input_gradient, undilated(shape)) && cotangent.dtype == input_gradient.dtype);
  if (const auto windows = windows_one_by_one(cotangent, input_gradient, undilated(shape), averaging))
    return mean_of_windows_gradient(input_gradient, cotangent, shape.spatial, *windows, averaging.divisor);
  visit_dtype(cotangent.dtype, [&]<class T>(std::type_identity<T>) {
    avg_pool_gradient_as<T>(input_gradient, cotangent, undilated(shape), averaging);
  });
}

}  // namespace ricci::kernels
