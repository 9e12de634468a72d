// Every volume is computed by itself, one row of outputs at a time. Places of maxima: for each position in the
// window, a loop over the outputs of the row whose window holds an input there (`for_each_tap`). Maxima alone and
// means: as many outputs as fit a register, each of which sees all positions before the next ones begin (`fold_row`).
#include "kernels/pooling.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <vector>

#include "kernels/known_step.h"
#include "kernels/pooling_channels.h"
#include "kernels/pooling_sliding.h"
#include "kernels/pooling_types.h"
#include "kernels/pooling_volumes.h"
#include "kernels/pooling_windows.h"
#include "kernels/strided.h"
#include "ricci/primitive/scalar.h"

namespace ricci::kernels {
namespace {

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

/// take_larger for `block` inputs. Left to themselves, compilers read inputs two apart one by one.
template <int step, class T>
void take_larger_of_block(Largest<T> largest, const T* from, Place<T> place, Place<T> place_step) {
  constexpr int lanes = scalar::Pack<T>::lanes;
  static_assert(block % lanes == 0);  // no element behind the block is read or written
  Lanes<Place<T>, lanes> places;
  for (int lane = 0; lane < lanes; ++lane) places[lane] = place + static_cast<Place<T>>(lane) * place_step;
  for (int i = 0; i < block; i += lanes, places += lanes * place_step) {
    const auto x = load_apart<step>(from + i * step).v, greatest = load<lanes>(largest.value + i);
    const auto at = load<lanes>(largest.place + i);
    const auto take = (x > greatest) | (x != x) | (at < 0);
    store<lanes>(largest.value + i, take ? x : greatest);
    store<lanes>(largest.place + i, take ? places : at);
  }
}

template <class T>
void max_of_row(const Volume<const T>& in, const SlidingWindow& window, std::int64_t out_z, std::int64_t out_y, T least,
                Largest<T> largest) {
  std::fill_n(largest.value, window.count, least);
  std::fill_n(largest.place, window.count, -1);
  const std::int64_t stride = window.axes[2].stride;
  const auto place_step = static_cast<Place<T>>(stride);
  for_each_tap(window, out_z, out_y, [&](std::int64_t z, std::int64_t y, const Tap& tap) {
    const T* from = &in(z, y, tap.column);
    const auto place = static_cast<Place<T>>((z * in.sizes[1] + y) * in.sizes[2] + tap.column);
    const Largest<T> to = {largest.value + tap.begin, largest.place + tap.begin};
    with_step<1, 2>(stride * in.strides[2], [&]<class Step>(Step step) {
      const std::int64_t count = tap.end - tap.begin;
      if constexpr (!std::is_same_v<Step, std::int64_t>) {
        if (may_overrun(in, from, step, tap, window.count)) {
          for (std::int64_t i = 0; i < count; i += block)
            take_larger_of_block<Step::value, T>({to.value + i, to.place + i}, from + i * step,
                                                 place + static_cast<Place<T>>(i) * place_step, place_step);
          return;
        }
      }
      take_larger(to, from, step, place, place_step, count);
    });
  });
}

/// `least`: the value of a window without inputs.
template <class T>
void max_pool_as(const Strided& values, const Strided& indices, const Strided& input, const PoolingShape& shape,
                 T least) {
  const Volumes<T> out(values, shape.spatial);
  const Volumes<std::int64_t> places(indices, shape.spatial);
  const Volumes<const T> in(input, shape.spatial);
  const SlidingWindow window(shape, in.first.sizes, out.first.sizes);
  cut_volumes(out.offsets.size(), out.first.elements() * window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> value_memory(whole_blocks(window.count) + block);
    const Scratch<Place<T>> place_memory(whole_blocks(window.count) + block);
    const Largest<T> largest = {value_memory.data(), place_memory.data()};
    for (std::int64_t i = begin; i < end; ++i) {
      const Volume<const T> volume = in[i];
      const Volume<T> value = out[i];
      const Volume<std::int64_t> place = places[i];
      for_each_row(value, [&](std::int64_t z, std::int64_t y) {
        max_of_row(volume, window, z, y, least, largest);
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
  template <class T>
  T operator()(T so_far, T x) const {
    return so_far + x;
  }
};

/// One position in the windows of a row of outputs: output j of begin <= j < end sees from[j * step] there.
template <class T>
struct Position {
  const T* from;
  std::int64_t begin, end;
};

/// from[i * step] in lane i of the first `count` lanes; the others hold anything, and their elements are not read.
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
template <class T, class Fold>
class RowsOfWindows {
 public:
  RowsOfWindows(const SlidingWindow& window, T start) : window_(window), start_(start) {}

  /// to[j]: what output j of a row sees, after `start`.
  void fold_row(const Volume<const T>& in, std::int64_t out_z, std::int64_t out_y, T* to) {
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
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<Step, std::int64_t>) {
        if (begin < end) {
          fold_alike<Step::value>(to, begin, end);
          if (begin > 0) fold_by_position(to, 0, begin, step);
          if (end < count) fold_by_position(to, end, count, step);
          return;
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
  [[gnu::noinline]] void fold_by_position(T* __restrict to, std::int64_t begin, std::int64_t end, Step step) const {
    std::fill(to + begin, to + std::max(begin, end), start_);
    for (const Position<T>& p : positions_) {
      const std::int64_t last = std::min(end, p.end);
      for (std::int64_t j = std::max(begin, p.begin); j < last; ++j) to[j] = fold_(to[j], p.from[j * step]);
    }
  }

  const SlidingWindow& window_;
  T start_;
  Fold fold_ = {};
  std::vector<Position<T>> positions_;
};

template <class T>
void max_values_as(const Strided& values, const Strided& input, const PoolingShape& shape) {
  const Volumes<T> out(values, shape.spatial);
  const Volumes<const T> in(input, shape.spatial);
  const SlidingWindow window(shape, in.first.sizes, out.first.sizes);
  if (are_channels_last(input, shape.spatial)) return pool_channels(values, input, shape.spatial, window, nullptr);
  cut_volumes(out.offsets.size(), out.first.elements() * window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> row(window.count);
    RowsOfWindows<T, Greater> rows(window, lowest<T>());
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
      T* sums = accumulator.cleared();
      const Volume<const T> ct = out[i];
      const Volume<const std::int64_t> place = places[i];
      for_each_row(ct, [&](std::int64_t z, std::int64_t y) {
        const T* from = ct.row(z, y);
        const std::int64_t* at = place.row(z, y);
        for (std::int64_t x = 0; x < ct.sizes[2]; ++x, from += ct.strides[2], at += place.strides[2])
          if (*at >= 0) sums[*at] += *from;
      });
      accumulator.write(in[i]);
    }
  });
}

template <class T>
void avg_pool_as(const Strided& output, const Strided& input, const PoolingShape& shape, const Averaging& averaging) {
  const Volumes<T> out(output, shape.spatial);
  const Volumes<const T> in(input, shape.spatial);
  const SlidingWindow window(shape, in.first.sizes, out.first.sizes);
  const Divisors divisors(window, out.first.sizes, averaging);
  if (std::is_floating_point_v<T> && are_channels_last(input, shape.spatial))
    return pool_channels(output, input, shape.spatial, window, &divisors);
  cut_volumes(out.offsets.size(), out.first.elements() * window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> sums(window.count);
    RowsOfWindows<T, Plus> rows(window, T{});
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
void spread_row(const T* shares, const SlidingWindow& window, std::int64_t out_z, std::int64_t out_y, T* sums) {
  for_each_tap(window, out_z, out_y, [&](std::int64_t z, std::int64_t y, const Tap& tap) {
    T* to = sums + (z * window.sizes[1] + y) * window.sizes[2] + tap.column;
    with_step<1, 2>(window.axes[2].stride,
                    [&](auto step) { add_strided(to, step, shares + tap.begin, unit_step, tap.end - tap.begin); });
  });
}

template <class T>
void avg_pool_gradient_as(const Strided& input_gradient, const Strided& cotangent, const PoolingShape& shape,
                          const Averaging& averaging) {
  const Volumes<T> in(input_gradient, shape.spatial);
  const Volumes<const T> out(cotangent, shape.spatial);
  const SlidingWindow window(shape, in.first.sizes, out.first.sizes);
  const Divisors divisors(window, out.first.sizes, averaging);
  cut_volumes(in.offsets.size(), out.first.elements() * window.size(), [&](std::int64_t begin, std::int64_t end) {
    const Accumulator<T> accumulator(in.first);
    const Scratch<T> shares(window.count);
    for (std::int64_t i = begin; i < end; ++i) {
      T* sums = accumulator.cleared();
      const Volume<const T> ct = out[i];
      for_each_row(ct, [&](std::int64_t z, std::int64_t y) {
        const T* from = ct.row(z, y);
        divisors.for_row(z, y, [&](auto divisor) {
          for (std::int64_t j = 0; j < window.count; ++j)
            shares.data()[j] = divided<T>(from[j * ct.strides[2]], divisor(j));
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
  run_with_places(values, input, [&]<class T>(std::type_identity<T>, const Strided& out, const Strided& in) {
    max_pool_as<T>(out, indices, in, shape, lowest_of<T>(input.dtype));
  });
}

void max_pool(Strided values, Strided input, const PoolingShape& shape) {
  assert(agree(values, input, shape) && values.dtype == input.dtype && !is_complex(input.dtype));
  if (const auto windows = windows_one_by_one(values, input, shape, {}))
    return max_of_windows(values, input, shape.spatial, *windows);
  run_compared(values, input, [&]<class T>(std::type_identity<T>, const Strided& out, const Strided& in) {
    max_values_as<T>(out, in, shape);
  });
}

void max_pool_gradient(Strided input_gradient, Strided cotangent, Strided indices, int spatial) {
  assert(have_same_batch(input_gradient, cotangent, spatial) && is_like(cotangent, indices));
  assert(cotangent.dtype == input_gradient.dtype && indices.dtype == DType::int64);
  run_as_sums(input_gradient, cotangent, [&]<class T>(std::type_identity<T>, const Strided& to, const Strided& from) {
    max_pool_gradient_as<T>(to, from, indices, spatial);
  });
}

void avg_pool(Strided out, Strided input, const PoolingShape& shape, const Averaging& averaging) {
  assert(agree(out, input, undilated(shape)) && out.dtype == input.dtype);
  if (const auto windows = windows_one_by_one(out, input, undilated(shape), averaging))
    return mean_of_windows(out, input, shape.spatial, *windows, averaging.divisor);
  run_as_sums(out, input, [&]<class T>(std::type_identity<T>, const Strided& to, const Strided& from) {
    avg_pool_as<T>(to, from, undilated(shape), averaging);
  });
}

void avg_pool_gradient(Strided input_gradient, Strided cotangent, const PoolingShape& shape,
                       const Averaging& averaging) {
  assert(agree(cotangent, input_gradient, undilated(shape)) && cotangent.dtype == input_gradient.dtype);
  if (const auto windows = windows_one_by_one(cotangent, input_gradient, undilated(shape), averaging))
    return mean_of_windows_gradient(input_gradient, cotangent, shape.spatial, *windows, averaging.divisor);
  run_as_sums(input_gradient, cotangent, [&]<class T>(std::type_identity<T>, const Strided& to, const Strided& from) {
    avg_pool_gradient_as<T>(to, from, undilated(shape), averaging);
  });
}

}  // namespace ricci::kernels
