// Places are taken in blocks: first the elements that each reads and their weights, then the sums. Images of many
// channels are read as rows of channels, a place at a time; those of few plane by plane, the places of a block side by
// side.
#include "kernels/grid_sample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/keys_kernel.h"
#include "kernels/known_step.h"
#include "kernels/matmul_offsets.h"
#include "kernels/row_strips.h"
#include "kernels/strided.h"
#include "kernels/transpose.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

constexpr int most_at_once = 64;  // places
constexpr int most_axes = 3, most_taps = 4, most_choices = most_taps * most_taps;
constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::min();  // the offset of what lies outside

// --- One axis

/// The elements of a block of places along one axis: how far they lie from the first, and their weights.
template <class T>
struct Taps {
  int count;
  std::int64_t offset[most_taps][most_at_once];
  T weight[most_taps][most_at_once];
};

/// One axis of an image of `size` elements, `step` apart. Whatever is the same for all places is asked outside of
/// loops.
template <class T>
class ReadAxis {
 public:
  ReadAxis(std::int64_t size, std::int64_t step, const GridReading& reading)
      : step_(step),
        size_(static_cast<T>(size)),
        last_(static_cast<T>(size - 1)),
        outside_(reading.outside),
        interpolation_(reading.interpolation),
        align_corners_(reading.align_corners) {}

  /// Of `count` coordinates, `apart` from each other. Weights are the derivatives of this order.
  void find(Taps<T>& taps, const T* x, std::int64_t apart, int count, std::int64_t order) const {
    T place[most_at_once], slope[most_at_once];
    const T length = span(), less = align_corners_ ? T(0) : T(1);
    for (int j = 0; j < count; ++j) place[j] = ((x[j * apart] + 1) * length - less) / 2;
    std::fill_n(slope, count, length / 2);
    if (interpolation_ == Interpolation::cubic) return find_cubic(taps, place, slope, count, order);
    move_inside(place, slope, count);
    if (interpolation_ == Interpolation::linear) return find_linear(taps, place, slope, count, order);
    taps.count = 1;
    for (int j = 0; j < count; ++j) place[j] = std::nearbyint(place[j]);
    set_offsets(taps.offset[0], place, count);
    std::fill_n(taps.weight[0], count, order == 0 ? T(1) : T(0));
  }

 private:
  /// From one end to the other, in elements.
  T span() const { return align_corners_ ? last_ : size_; }

  /// Mirrored at both ends, as often as it takes. Where an axis has one element and corners meet, that one.
  void mirror(T* place, T* slope, int count) const {
    const T low = align_corners_ ? T(0) : T(-0.5), length = span();
    const T all = length == 0 ? T(1) : length, factor = length == 0 ? T(0) : T(1);
    for (int j = 0; j < count; ++j) {
      const T x = place[j] * factor, from_low = std::abs(x - low), turns = std::floor(from_low / all);
      const T rest = from_low - turns * all, half = turns / 2;
      const bool is_even = half == std::floor(half);
      slope[j] = (x < low) == is_even ? -slope[j] : slope[j];
      place[j] = is_even ? rest + low : length - rest + low;
    }
  }
  /// The places that are read for some that may lie outside, and their derivatives.
  void move_inside(T* place, T* slope, int count) const {
    if (outside_ == Outside::zeros) return;
    if (outside_ == Outside::reflection) mirror(place, slope, count);
    for (int j = 0; j < count; ++j) {
      const T x = place[j];
      slope[j] = ((x > 0) & (x < last_)) ? slope[j] : T(0);
      const T above = x < 0 ? T(0) : x;
      place[j] = above > last_ ? last_ : above;
    }
  }
  void set_offsets(std::int64_t* offset, const T* place, int count) const {
    for (int j = 0; j < count; ++j) {
      const bool is_inside = (place[j] >= 0) & (place[j] <= last_);
      const auto element = static_cast<std::int64_t>(is_inside ? place[j] : T(0));
      offset[j] = is_inside ? element * step_ : nowhere;
    }
  }

  void find_linear(Taps<T>& taps, T* place, const T* slope, int count, std::int64_t order) const {
    taps.count = 2;
    T next[most_at_once];
    for (int j = 0; j < count; ++j) {
      const T below = std::floor(place[j]), t = place[j] - below;
      place[j] = below, next[j] = below + 1;
      taps.weight[0][j] = 1 - t, taps.weight[1][j] = t;
    }
    set_offsets(taps.offset[0], place, count);
    set_offsets(taps.offset[1], next, count);
    if (order == 0) return;
    for (int j = 0; j < count; ++j) {
      taps.weight[0][j] = order == 1 ? -slope[j] : T(0);
      taps.weight[1][j] = order == 1 ? slope[j] : T(0);
    }
  }

  void find_cubic(Taps<T>& taps, const T* place, const T* slope, int count, std::int64_t order) const {
    taps.count = most_taps;
    T t[most_at_once], at[most_at_once], ignored[most_at_once];
    for (int j = 0; j < count; ++j) t[j] = place[j] - std::floor(place[j]);
    for (int tap = 0; tap < most_taps; ++tap) {
      for (int j = 0; j < count; ++j) at[j] = std::floor(place[j]) + static_cast<T>(tap - 1), ignored[j] = 0;
      move_inside(at, ignored, count);
      set_offsets(taps.offset[tap], at, count);
    }
    const auto weigh = [&](auto known) {
      const T sign = known % 2 == 0 ? T(1) : T(-1);  // of a distance that shrinks as the place grows
      for (int j = 0; j < count; ++j) {
        taps.weight[0][j] = keys_far(1 + t[j], keys_slope<T>, known);
        taps.weight[1][j] = keys_near(t[j], keys_slope<T>, known);
        taps.weight[2][j] = sign * keys_near(1 - t[j], keys_slope<T>, known);
        taps.weight[3][j] = sign * keys_far(2 - t[j], keys_slope<T>, known);
      }
    };
    with_step<0, 1, 2, 3>(order, weigh);
    for (; order > 0; --order)
      for (T* weight : {taps.weight[0], taps.weight[1], taps.weight[2], taps.weight[3]})
        for (int j = 0; j < count; ++j) weight[j] *= slope[j];
  }

  std::int64_t step_;
  T size_, last_;
  Outside outside_;
  Interpolation interpolation_;
  bool align_corners_;
};

// --- All axes

/// Each choice of one tap of each axis, the first axis's outermost: how far the element lies from the image's first,
/// and the product of the weights; of one derivative or, for slopes, of as many as there are coordinates.
template <class T>
struct Choices {
  int count;
  std::int64_t offset[most_choices][most_at_once];
  T weight[most_axes][most_choices][most_at_once];
};

/// The steps of an image's axes.
struct Image {
  int axes;
  std::int64_t sizes[most_axes], steps[most_axes];
};

/// What finds the choices of a block of places.
template <class T>
class Chooser {
 public:
  Chooser(const Image& image, const GridReading& reading) : image_(image), reading_(reading) {}

  /// `grid`: the coordinates of the first place; those of a place stand side by side.
  void find(Choices<T>& choices, const T* grid, int places) const {
    Taps<T> taps[most_axes];
    for (int axis = 0; axis < image_.axes; ++axis) find_taps(taps[axis], grid, places, axis, 0);
    find_offsets(choices, taps, places);
    multiply(choices.weight[0], taps, places);
  }
  /// Of the derivatives by each coordinate in turn.
  void find_slopes(Choices<T>& choices, const T* grid, int places) const {
    Taps<T> taps[most_axes], steeper[most_axes];
    for (int axis = 0; axis < image_.axes; ++axis) {
      find_taps(taps[axis], grid, places, axis, 0);
      find_taps(steeper[axis], grid, places, axis, 1);
    }
    find_offsets(choices, taps, places);
    for (int i = 0; i < image_.axes; ++i) {
      const int axis = coordinate(i);
      std::swap(taps[axis], steeper[axis]);
      multiply(choices.weight[i], taps, places);
      std::swap(taps[axis], steeper[axis]);
    }
  }

 private:
  /// The coordinate along an axis, and the axis of a coordinate.
  int coordinate(int axis) const { return image_.axes - 1 - axis; }

  void find_taps(Taps<T>& taps, const T* grid, int places, int axis, std::int64_t more) const {
    const ReadAxis<T> read(image_.sizes[axis], image_.steps[axis], reading_);
    const int i = coordinate(axis);
    read.find(taps, grid + i, image_.axes, places, reading_.orders[static_cast<std::size_t>(i)] + more);
  }

  /// f(which choice, the chosen tap of each axis)
  template <class F>
  void for_each_choice(const Taps<T>* taps, const F& f) const {
    int count = 1;
    for (int axis = 0; axis < image_.axes; ++axis) count *= taps[axis].count;
    for (int choice = 0; choice < count; ++choice) {
      int tap[most_axes] = {};
      for (int axis = image_.axes - 1, left = choice; axis >= 0; left /= taps[axis--].count)
        tap[axis] = left % taps[axis].count;
      f(choice, tap);
    }
  }
  void find_offsets(Choices<T>& choices, const Taps<T>* taps, int places) const {
    for_each_choice(taps, [&](int choice, const int* tap) {
      std::int64_t* to = choices.offset[choice];
      std::copy_n(taps[0].offset[tap[0]], places, to);
      for (int axis = 1; axis < image_.axes; ++axis) {
        const std::int64_t* more = taps[axis].offset[tap[axis]];
        for (int j = 0; j < places; ++j) to[j] = to[j] == nowhere || more[j] == nowhere ? nowhere : to[j] + more[j];
      }
      choices.count = choice + 1;
    });
  }
  void multiply(T (*weight)[most_at_once], const Taps<T>* taps, int places) const {
    for_each_choice(taps, [&](int choice, const int* tap) {
      T* to = weight[choice];
      std::copy_n(taps[0].weight[tap[0]], places, to);
      for (int axis = 1; axis < image_.axes; ++axis) {
        const T* more = taps[axis].weight[tap[axis]];
        for (int j = 0; j < places; ++j) to[j] = to[j] * more[j];
      }
    });
  }

  Image image_;
  const GridReading& reading_;
};

// --- Operands

/// The sizes of a call.
struct Sizes {
  int axes;
  std::int64_t channels, places;

  Sizes(const Strided& images, const Strided& grid)
      : axes(static_cast<int>(grid.shape[grid.rank - 1])), channels(images.shape[images.rank - axes - 1]), places(1) {
    assert(images.rank == grid.rank && (axes == 2 || axes == 3));
    for (int i = grid.rank - axes - 1; i < grid.rank - 1; ++i) places *= grid.shape[i];
  }
};

/// An operand whose elements lie row by row: itself, or a copy.
template <class T>
class Rows {
 public:
  explicit Rows(const Strided& x) {
    data = static_cast<const T*>((is_contiguous(x) ? x : copy_.emplace(x).view()).data);
  }
  const T* data;

 private:
  std::optional<RowMajorCopy> copy_;
};

/// The image of each of the grid's members: its steps along b, 0 where it is shared.
class ImagesOfMembers {
 public:
  /// `steps`: of the images' axes b.
  ImagesOfMembers(const Strided& images, const Strided& grid, int axes, const std::int64_t* steps) {
    const int batch = grid.rank - axes - 1;
    for (int i = 0; i < batch; ++i) steps_[i] = images.shape[i] == 1 ? 0 : steps[i];
    offsets_.emplace(Strided{nullptr, grid.dtype, batch, grid.shape, steps_}, 0);
  }
  std::int64_t size() const { return offsets_->size(); }
  std::int64_t operator[](std::int64_t member) const { return (*offsets_)(member); }

 private:
  std::int64_t steps_[max_batch_rank];
  std::optional<BatchOffsets> offsets_;
};

/// Whether a row of channels is worth registers of its own.
bool has_rows(std::int64_t channels) { return channels >= W::lanes; }

/// Images that are read: themselves or, where each has many channels and all have fewer elements than are read, a copy
/// whose channels lie side by side.
template <class T>
class ReadImages {
 public:
  ReadImages(const Strided& images, const Strided& grid, const Sizes& sizes)
      : data(static_cast<const T*>(images.data)) {
    const int channel = images.rank - sizes.axes - 1;
    std::copy_n(images.strides, images.rank, steps_);
    std::int64_t members = 1;
    for (int i = 0; i < channel; ++i) members *= grid.shape[i];
    const bool are_few = element_count(images) <= members * sizes.places * sizes.channels;
    if (has_rows(sizes.channels) && steps_[channel] != 1 && are_few) turn(images, channel);
    channel_step = steps_[channel];
    image.axes = sizes.axes;
    std::copy_n(images.shape + channel + 1, sizes.axes, image.sizes);
    std::copy_n(steps_ + channel + 1, sizes.axes, image.steps);
    of_member.emplace(images, grid, sizes.axes, steps_);
  }
  ReadImages(const ReadImages&) = delete;

  const T* data;
  Image image;
  std::int64_t channel_step;
  std::optional<ImagesOfMembers> of_member;

 private:
  void turn(const Strided& images, int channel) {
    std::int64_t shape[max_batch_rank], steps[max_batch_rank];
    const auto move_last = [=, rank = images.rank](std::int64_t* to, const std::int64_t* from) {
      std::copy_n(from, rank, to);
      std::rotate(to + channel, to + channel + 1, to + rank);
    };
    move_last(shape, images.shape);
    move_last(steps, images.strides);
    const Strided turned = copy_.emplace(Strided{images.data, images.dtype, images.rank, shape, steps}).view();
    data = static_cast<const T*>(turned.data);
    std::copy_n(turned.strides, turned.rank, steps_);
    std::rotate(steps_ + channel, steps_ + turned.rank - 1, steps_ + turned.rank);
  }

  std::optional<RowMajorCopy> copy_;
  std::int64_t steps_[max_batch_rank];
};

/// Some places of a member of the grid.
struct Block {
  std::int64_t member, first;
  int count;
};
struct Blocks {
  std::int64_t members, places;
  std::int64_t of_member() const { return (places + most_at_once - 1) / most_at_once; }
  std::int64_t size() const { return members * of_member(); }
  Block operator[](std::int64_t i) const {
    const std::int64_t first = i % of_member() * most_at_once;
    return {i / of_member(), first, static_cast<int>(std::min<std::int64_t>(most_at_once, places - first))};
  }
};

double nanoseconds_per_place(const Sizes& sizes, const GridReading& reading) {
  const double choices = reading.interpolation == Interpolation::cubic ? most_choices : 4;
  return choices * (2 + 0.3 * static_cast<double>(sizes.channels));
}

/// to[r, c] = from[c, r], with rows of `to` and columns of `from` so many elements apart.
template <class T>
void turn(T* to, std::int64_t to_row, const T* from, std::int64_t from_column, std::int64_t rows,
          std::int64_t columns) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  turn_plane(reinterpret_cast<char*>(to), to_row * bytes, reinterpret_cast<const char*>(from), from_column * bytes,
             rows, columns, bytes);
}

// --- Reading

/// The `wides` vectors of channels at `image` and behind, of place j.
template <int wides, class T>
RICCI_ALWAYS_INLINE void read_strip(T* to, const T* image, const Choices<T>& choices, int j) {
  constexpr std::integral_constant<std::int64_t, 1> one;
  W sum[wides];
  for_each_of<wides>([&](auto k) { sum[k] = W(0.0); });
  for (int c = 0; c < choices.count; ++c) {
    const std::int64_t at = choices.offset[c][j];
    const W weight(static_cast<double>(choices.weight[0][c][j]));
    if (at == nowhere) for_each_of<wides>([&](auto k) { sum[k] = fma(weight, W(0.0), sum[k]); });
    else for_each_of<wides>([&](auto k) { sum[k] = fma(weight, load(image + at + k * W::lanes, one), sum[k]); });
  }
  for_each_of<wides>([&](auto k) { store(to + k * W::lanes, sum[k]); });
}
/// to[j, channel] for a block of places.
template <class T>
void read_rows(T* to, const T* image, const Choices<T>& choices, int places, std::int64_t channels) {
  constexpr int most = 4;  // vectors
  const auto strip = [&](auto wides, std::int64_t channel) {
    for (int j = 0; j < places; ++j) read_strip<wides>(to + j * channels + channel, image + channel, choices, j);
  };
  const std::int64_t done = by_strips<most>(0, channels, strip);
  if (done < channels) strip(std::integral_constant<int, 1>(), channels - W::lanes);  // some once more
}

/// The elements of one choice, 0 outside.
template <class T>
RICCI_ALWAYS_INLINE void take(T* to, const T* image, const std::int64_t* offset, int places) {
  for (int j = 0; j < places; ++j) {
    const T element = image[offset[j] == nowhere ? 0 : offset[j]];
    to[j] = offset[j] == nowhere ? T(0) : element;
  }
}

/// One channel.
template <class T>
void read_plane(T* to, const T* image, const Choices<T>& choices, int places) {
  double sum[most_at_once] = {};
  T element[most_at_once];
  for (int c = 0; c < choices.count; ++c) {
    take(element, image, choices.offset[c], places);
    for (int j = 0; j < places; ++j)
      sum[j] = scalar::fma(static_cast<double>(choices.weight[0][c][j]), static_cast<double>(element[j]), sum[j]);
  }
  for (int j = 0; j < places; ++j) to[j] = static_cast<T>(sum[j]);
}

template <class T>
void read_as(const Strided& values, const Strided& images, const Strided& grid, const GridReading& reading) {
  const Sizes sizes(images, grid);
  const Rows<T> places(grid);
  const ReadImages<T> read(images, grid, sizes);
  const Chooser<T> chooser(read.image, reading);
  const bool by_rows = has_rows(sizes.channels) && read.channel_step == 1;
  const Blocks blocks{read.of_member->size(), sizes.places};
  const double nanoseconds = most_at_once * nanoseconds_per_place(sizes, reading);
  parallel_for({blocks.size(), nanoseconds}, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<Choices<T>> memory(1);
    Choices<T>& choices = *memory.data();
    const Scratch<T> rows(by_rows ? most_at_once * sizes.channels : 0);
    for (; begin < end; ++begin) {
      const auto [member, first, count] = blocks[begin];
      chooser.find(choices, places.data + (member * sizes.places + first) * sizes.axes, count);
      const T* image = read.data + (*read.of_member)[member];
      T* to = static_cast<T*>(values.data) + member * sizes.channels * sizes.places + first;
      if (by_rows) {
        read_rows(rows.data(), image, choices, count, sizes.channels);
        turn(to, sizes.places, rows.data(), sizes.channels, sizes.channels, count);
        continue;
      }
      for (std::int64_t c = 0; c < sizes.channels; ++c)
        read_plane(to + c * sizes.places, image + c * read.channel_step, choices, count);
    }
  });
}

// --- Slopes

/// to[j, i] = Σ over channels, `step` apart in the image, of values[j, channel] times what weights i read.
template <int axes, class T, class Step>
void slopes_of_rows(T* to, const T* image, const Choices<T>& choices, int places, const T* values,
                    std::int64_t channels, Step step) {
  constexpr std::integral_constant<std::int64_t, 1> one;
  for (int j = 0; j < places; ++j, values += channels, to += axes) {
    W sum[axes];
    double rest[axes] = {};
    for_each_of<axes>([&](auto i) { sum[i] = W(0.0); });
    for (int c = 0; c < choices.count; ++c) {
      W product(0.0);
      double product_of_rest = 0;
      if (choices.offset[c][j] != nowhere) {
        const T* row = image + choices.offset[c][j];
        const std::int64_t done = by_strips<1>(0, channels, [&](auto, std::int64_t d) {
          product = fma(load(values + d, one), load(row + d * step, step), product);
        });
        for (std::int64_t d = done; d < channels; ++d)
          product_of_rest =
              scalar::fma(static_cast<double>(values[d]), static_cast<double>(row[d * step]), product_of_rest);
      }
      for_each_of<axes>([&](auto i) {
        const auto weight = static_cast<double>(choices.weight[i][c][j]);
        sum[i] = fma(W(weight), product, sum[i]);
        rest[i] = scalar::fma(weight, product_of_rest, rest[i]);
      });
    }
    for_each_of<axes>([&](auto i) {
      const double all = scalar::fold(sum[i], [](auto x, auto y) { return x + y; }).part[0][0];
      to[i] = static_cast<T>(all + rest[i]);
    });
  }
}

/// sum[i, j] += one channel's part.
template <class T>
void add_slopes_of_plane(double (*sum)[most_at_once], int axes, const T* image, const Choices<T>& choices, int places,
                         const T* values) {
  double product[most_at_once];
  T element[most_at_once];
  for (int c = 0; c < choices.count; ++c) {
    take(element, image, choices.offset[c], places);
    for (int j = 0; j < places; ++j) product[j] = static_cast<double>(values[j]) * static_cast<double>(element[j]);
    for (int i = 0; i < axes; ++i)
      for (int j = 0; j < places; ++j)
        sum[i][j] = scalar::fma(static_cast<double>(choices.weight[i][c][j]), product[j], sum[i][j]);
  }
}

template <class T>
void slopes_as(const Strided& slopes, const Strided& images, const Strided& grid, const Strided& values,
               const GridReading& reading) {
  const Sizes sizes(images, grid);
  const Rows<T> places(grid), of_values(values);
  const ReadImages<T> read(images, grid, sizes);
  const Chooser<T> chooser(read.image, reading);
  const bool by_rows = has_rows(sizes.channels);  // by their number alone: sums have another order than by planes
  const Blocks blocks{read.of_member->size(), sizes.places};
  const double nanoseconds = 2 * most_at_once * nanoseconds_per_place(sizes, reading);
  parallel_for({blocks.size(), nanoseconds}, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<Choices<T>> memory(1);
    Choices<T>& choices = *memory.data();
    const Scratch<T> rows(by_rows ? most_at_once * sizes.channels : 0);
    for (; begin < end; ++begin) {
      const auto [member, first, count] = blocks[begin];
      const std::int64_t place = (member * sizes.places + first) * sizes.axes;
      chooser.find_slopes(choices, places.data + place, count);
      const T* image = read.data + (*read.of_member)[member];
      const T* value = of_values.data + member * sizes.channels * sizes.places + first;
      T* to = static_cast<T*>(slopes.data) + place;
      if (by_rows) {
        turn(rows.data(), sizes.channels, value, sizes.places, count, sizes.channels);
        with_step<1>(read.channel_step, [&](auto step) {
          if (sizes.axes == 2) slopes_of_rows<2>(to, image, choices, count, rows.data(), sizes.channels, step);
          else slopes_of_rows<3>(to, image, choices, count, rows.data(), sizes.channels, step);
        });
        continue;
      }
      double sum[most_axes][most_at_once] = {};
      for (std::int64_t c = 0; c < sizes.channels; ++c)
        add_slopes_of_plane(sum, sizes.axes, image + c * read.channel_step, choices, count, value + c * sizes.places);
      for (int j = 0; j < count; ++j)
        for (int i = 0; i < sizes.axes; ++i) to[j * sizes.axes + i] = static_cast<T>(sum[i][j]);
    }
  });
}

// --- Spreading

/// The members that add to each image, in their order: `members` [begin[i], begin[i + 1]).
struct MembersOfImages {
  MembersOfImages(const ImagesOfMembers& image, std::int64_t images)
      : count(image.size()), begin(images + 1), members(count) {
    std::fill_n(begin.data(), images + 1, 0);
    for (std::int64_t m = 0; m < image.size(); ++m) ++begin.data()[image[m] + 1];
    for (std::int64_t i = 0; i < images; ++i) begin.data()[i + 1] += begin.data()[i];
    const Scratch<std::int64_t> next(images);
    std::copy_n(begin.data(), images, next.data());
    for (std::int64_t m = 0; m < image.size(); ++m) members.data()[next.data()[image[m]]++] = m;
  }
  std::int64_t count;
  Scratch<std::int64_t> begin, members;
};

/// Adds rows of channels to rows of float64. Requires: `channels` is a multiple of the lanes.
template <class T>
void add_rows(double* image, const T* values, const Choices<T>& choices, int places, std::int64_t channels) {
  constexpr std::integral_constant<std::int64_t, 1> one;
  for (int j = 0; j < places; ++j, values += channels)
    for (int c = 0; c < choices.count; ++c) {
      if (choices.offset[c][j] == nowhere) continue;
      double* row = image + choices.offset[c][j];
      const W weight(static_cast<double>(choices.weight[0][c][j]));
      for (std::int64_t d = 0; d < channels; d += W::lanes)
        scalar::store_wide(row + d, fma(weight, load(values + d, one), load(row + d, one)));
    }
}
template <class T>
void add_plane(double* image, const T* values, const Choices<T>& choices, int places) {
  for (int j = 0; j < places; ++j)
    for (int c = 0; c < choices.count; ++c) {
      if (choices.offset[c][j] == nowhere) continue;
      double& element = image[choices.offset[c][j]];
      element = scalar::fma(static_cast<double>(choices.weight[0][c][j]), static_cast<double>(values[j]), element);
    }
}

/// What a thread adds: some channels of one image. They are few where threads would have no image else.
struct Groups {
  Groups(std::int64_t images, const Sizes& sizes) : by_rows(has_rows(sizes.channels)) {
    const std::int64_t least = by_rows ? 2 * W::lanes : 1, wanted = images >= thread_count() ? 1 : thread_count();
    count = std::clamp<std::int64_t>(sizes.channels / least, 1, wanted);
    channels = (sizes.channels + count - 1) / count;
    width = by_rows ? (channels + W::lanes - 1) / W::lanes * W::lanes : 1;
  }
  bool by_rows;
  std::int64_t count, channels;
  std::int64_t width;  // of a row of sums, whole vectors
};

/// Adds values [channels, places] of a member to sums: [elements, width] by rows, else [channels, elements].
template <class T>
void add_member(double* sums, std::int64_t elements, const Groups& groups, const Chooser<T>& chooser,
                Choices<T>& choices, const T* grid, const T* values, std::int64_t channels, const Sizes& sizes,
                T* rows) {
  for (std::int64_t first = 0; first < sizes.places; first += most_at_once) {
    const int count = static_cast<int>(std::min<std::int64_t>(most_at_once, sizes.places - first));
    chooser.find(choices, grid + first * sizes.axes, count);
    if (groups.by_rows) {
      turn(rows, groups.width, values + first, sizes.places, count, channels);
      add_rows(sums, rows, choices, count, groups.width);
      continue;
    }
    for (std::int64_t c = 0; c < channels; ++c)
      add_plane(sums + c * elements, values + c * sizes.places + first, choices, count);
  }
}

template <class T>
void spread_as(const Strided& images, const Strided& values, const Strided& grid, const GridReading& reading) {
  const Sizes sizes(images, grid);
  const Rows<T> places(grid), of_values(values);
  const int batch = images.rank - sizes.axes - 1;
  std::int64_t numbers[max_batch_rank], all_images = 1;
  for (int i = batch - 1; i >= 0; all_images *= images.shape[i--]) numbers[i] = all_images;
  const MembersOfImages of(ImagesOfMembers(images, grid, sizes.axes, numbers), all_images);
  const Groups groups(all_images, sizes);
  Image image{sizes.axes, {}, {}};
  std::int64_t elements = 1;
  for (int i = sizes.axes - 1; i >= 0; elements *= image.sizes[i--]) {
    image.sizes[i] = images.shape[batch + 1 + i];
    image.steps[i] = elements * groups.width;
  }
  const Chooser<T> chooser(image, reading);
  const double terms = static_cast<double>(sizes.places * of.count) / static_cast<double>(all_images * groups.count);
  parallel_for({all_images * groups.count, terms * nanoseconds_per_place(sizes, reading)}, [&](auto begin, auto end) {
    const Scratch<Choices<T>> choices(1);
    const Scratch<double> sums(elements * (groups.by_rows ? groups.width : groups.channels));
    const Scratch<T> rows(groups.by_rows ? most_at_once * groups.width : 0);
    if (groups.by_rows) std::fill_n(rows.data(), most_at_once * groups.width, T(0));
    for (; begin < end; ++begin) {
      const std::int64_t number = begin / groups.count, channel = begin % groups.count * groups.channels;
      const std::int64_t channels = std::min(groups.channels, sizes.channels - channel);
      if (channels <= 0) continue;
      std::fill_n(sums.data(), elements * (groups.by_rows ? groups.width : channels), 0.0);
      for (std::int64_t k = of.begin.data()[number]; k < of.begin.data()[number + 1]; ++k) {
        const std::int64_t member = of.members.data()[k];
        add_member(sums.data(), elements, groups, chooser, *choices.data(),
                   places.data + member * sizes.places * sizes.axes,
                   of_values.data + (member * sizes.channels + channel) * sizes.places, channels, sizes, rows.data());
      }
      T* to = static_cast<T*>(images.data) + (number * sizes.channels + channel) * elements;
      const std::int64_t step = groups.width, next = groups.by_rows ? 1 : elements;
      for (std::int64_t c = 0; c < channels; ++c, to += elements)
        for (std::int64_t i = 0; i < elements; ++i) to[i] = static_cast<T>(sums.data()[c * next + i * step]);
    }
  });
}

template <class F>
void visit(DType dtype, const F& f) {
  if (dtype == DType::float32) return f(std::type_identity<float>());
  assert(dtype == DType::float64);
  f(std::type_identity<double>());
}

}  // namespace

void read_grid(Strided values, Strided images, Strided grid, const GridReading& reading) {
  if (is_empty(values)) return;
  visit(values.dtype, [&]<class T>(std::type_identity<T>) { read_as<T>(values, images, grid, reading); });
}
void spread_grid(Strided images, Strided values, Strided grid, const GridReading& reading) {
  if (is_empty(images)) return;
  visit(images.dtype, [&]<class T>(std::type_identity<T>) { spread_as<T>(images, values, grid, reading); });
}
void slopes_of_grid(Strided slopes, Strided images, Strided grid, Strided values, const GridReading& reading) {
  if (is_empty(slopes)) return;
  visit(slopes.dtype, [&]<class T>(std::type_identity<T>) { slopes_as<T>(slopes, images, grid, values, reading); });
}

}  // namespace ricci::kernels
