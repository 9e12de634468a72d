// Sorting and selecting lane by lane: the elements become records of a key and a place, which are sorted or selected
// from, and written back.
#include "kernels/sort.h"

#include <algorithm>
#include <cassert>

#include "kernels/scan_lanes.h"
#include "kernels/sort_keys.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// One lane of T: where it is read and where results go.
template <class T>
struct Lane {
  const T* in;
  std::int64_t size, in_step;
  T* values;
  std::int64_t* places;
  std::int64_t values_step, places_step;
  bool descending;
  Key<T> base = 0;  // taken off the keys in records

  Key<T> key(std::int64_t i) const {
    const Key<T> key = key_of(in[i * in_step]);
    return descending ? static_cast<Key<T>>(~key) : key;
  }
  template <class Record>
  Record record(std::int64_t i) const {
    return Record(static_cast<Key<T>>(key(i) - base), i);
  }
  template <class Record>
  void write(std::int64_t to, const Record& record) const {
    const auto stored = static_cast<Key<T>>(static_cast<Key<T>>(record.key()) + base);
    const auto key = descending ? static_cast<Key<T>>(~stored) : stored;
    values[to * values_step] = is_exact<T>(key) ? element_of<T>(key) : in[record.place() * in_step];
    places[to * places_step] = record.place();
  }
};

/// Records of one lane, with as many more to work in.
template <class Record>
struct Records {
  explicit Records(std::int64_t size) : memory(2 * size), first(memory.data()), working(first + size) {}
  Scratch<Record> memory;
  Record *first, *working;
};

template <class T, class Record>
void read_lane(const Lane<T>& lane, Record* records) {
  for (std::int64_t i = 0; i < lane.size; ++i) records[i] = lane.template record<Record>(i);
}

/// The first `count` of the sorted lane. Without their base, 64-bit integers are often short, and sorted in few steps.
template <class T, class Record>
void sort_lane(Lane<T> lane, const Records<Record>& records, std::int64_t count) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    lane.base = lane.key(0);
    for (std::int64_t i = 1; i < lane.size; ++i) lane.base = std::min(lane.base, lane.key(i));
  }
  read_lane(lane, records.first);
  sort_records(records.first, records.working, lane.size, sizeof(T));
  for (std::int64_t i = 0; i < count; ++i) lane.write(i, records.first[i]);
}

/// The same for a small count: keeps the best so far, with as many candidates again, and drops the worse half when
/// full.
template <class T, class Record>
void select_lane(const Lane<T>& lane, const Records<Record>& records, std::int64_t count) {
  Record* best = records.first;
  const std::int64_t room = std::min(lane.size, std::max<std::int64_t>(2 * count, 256));
  std::int64_t kept = 0, i = 0;
  for (; i < room; ++i) best[kept++] = lane.template record<Record>(i);
  while (true) {
    partition_records(best, count - 1, kept);
    const Record worst = best[count - 1];
    kept = count;
    for (; i < lane.size && kept < room; ++i) {
      const Record candidate = lane.template record<Record>(i);
      best[kept] = candidate;
      kept += candidate < worst;
    }
    if (i == lane.size) break;
  }
  partition_records(best, count - 1, kept);
  sort_shuffled(best, count);
  for (std::int64_t k = 0; k < count; ++k) lane.write(k, best[k]);
}

/// f(lane, records) for every lane of `in` along `axis`.
template <class T, class Record, class F>
void for_each_lane(LaneAxes& axes, const Strided& values, const Strided& places, const Strided& in, Order order, F f) {
  constexpr double nanoseconds_per_element = 5;
  const double nanoseconds = nanoseconds_per_element * static_cast<double>(axes.lane.size);
  cut_axes(axes.others, nanoseconds, [&](const AxisList& others, const Offsets& from) {
    const Records<Record> records(axes.lane.size);
    for (Walk at(others.axis, others.count); !at.done; at.next()) {
      f(Lane<T>{static_cast<const T*>(in.data) + from.x + at.at.x, axes.lane.size, axes.lane.x,
                static_cast<T*>(values.data) + from.out + at.at.out,
                static_cast<std::int64_t*>(places.data) + from.y + at.at.y, axes.lane.out, axes.lane.y,
                order == Order::descending},
        records);
    }
  });
}

/// Every lane of `in` along `axis`, of which `values` and `places` have `count` elements.
template <class F>
void sort_lanes(const Strided& values, const Strided& places, const Strided& in, int axis, Order order, F f) {
  assert(values.dtype == in.dtype && places.dtype == DType::int64);
  LaneAxes axes = lanes_along(axis, values, in, places);
  if (axes.empty) return;
  visit_real(in.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) > sizeof(std::uint32_t)) {
      for_each_lane<T, WideRecord>(axes, values, places, in, order, f);
    } else {
      assert(axes.lane.size < (std::int64_t{1} << 32));
      for_each_lane<T, PackedRecord>(axes, values, places, in, order, f);
    }
  });
}

/// Where partitioning's random jumps become slower than sorting by radix.
constexpr std::int64_t longest_to_partition = 50000;

std::int64_t size_along(const Strided& x, int axis) { return x.rank == 0 ? 1 : x.shape[axis]; }

// --- Searching

/// How many of `size` ascending elements have keys below `key`, or at most `key` with `right`.
template <class T>
std::int64_t count_below(const T* sorted, std::int64_t size, std::int64_t step, Key<T> key, bool right) {
  std::int64_t first = 0;
  while (size > 0) {
    const std::int64_t half = size / 2;
    const Key<T> middle = key_of(sorted[(first + half) * step]);
    const bool below = right ? middle <= key : middle < key;
    first += below ? half + 1 : 0;
    size = below ? size - half - 1 : half;
  }
  return first;
}

}  // namespace

void sort(Strided values, Strided places, Strided in, int axis, Order order) {
  sort_lanes(values, places, in, axis, order,
             [](const auto& lane, const auto& records) { sort_lane(lane, records, lane.size); });
}

void topk(Strided values, Strided places, Strided in, int axis, Order order) {
  const std::int64_t count = size_along(values, axis);
  assert(count <= size_along(in, axis) && size_along(places, axis) == count);
  if (count == 0) return;
  sort_lanes(values, places, in, axis, order, [count](const auto& lane, const auto& records) {
    if (lane.size <= 256 || count > lane.size / 32) sort_lane(lane, records, count);
    else select_lane(lane, records, count);
  });
}

void kth_value(Strided values, Strided places, Strided in, int axis, std::int64_t place, Order order) {
  assert(0 <= place && place < size_along(in, axis));
  sort_lanes(values, places, in, axis, order, [place](const auto& lane, const auto& records) {
    read_lane(lane, records.first);
    if (lane.size > longest_to_partition) sort_records(records.first, records.working, lane.size, sizeof(*lane.in));
    else partition_records(records.first, place, lane.size);
    lane.write(0, records.first[place]);
  });
}

void search_sorted(Strided out, Strided sorted, Strided values, bool right) {
  assert(out.dtype == DType::int64 && sorted.dtype == values.dtype && sorted.rank >= 1);
  const int last = sorted.rank - 1;
  const std::int64_t size = sorted.shape[last], step = sorted.strides[last];
  std::int64_t repeated[max_axes] = {};  // the steps of `sorted` over the axes of `values`
  if (sorted.rank > 1) std::copy_n(sorted.strides, last, repeated);
  const Strided table{sorted.data, sorted.dtype, values.rank, values.shape, repeated};
  // Without a lane of its own: an axis past the last.
  LaneAxes axes = lanes_along(values.rank, out, values, table);
  if (axes.empty) return;
  visit_real(values.dtype, [&]<class T>(std::type_identity<T>) {
    constexpr double nanoseconds = 20;
    cut_axes(axes.others, nanoseconds, [&](const AxisList& others, const Offsets& from) {
      for (Walk at(others.axis, others.count); !at.done; at.next()) {
        const Key<T> key = key_of(static_cast<const T*>(values.data)[from.x + at.at.x]);
        static_cast<std::int64_t*>(out.data)[from.out + at.at.out] =
            count_below(static_cast<const T*>(sorted.data) + from.y + at.at.y, size, step, key, right);
      }
    });
  });
}

}  // namespace ricci::kernels
