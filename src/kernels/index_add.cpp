// Adding rows at places, with totals for all places at once: short rows element by element, long ones row by row. Where
// the totals of long rows would not stay in the caches, place by place, each with its own rows.
#include "kernels/index_add.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <type_traits>

#include "kernels/known_step.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/wide.h"

namespace ricci::kernels {
namespace {

// --- Totals

template <class E>
inline constexpr bool is_half = std::is_same_v<E, Half> || std::is_same_v<E, BFloat16>;

/// The totals of N neighbouring elements of a real type: in float64.
template <class E, int N>
struct Totals {
  double sum[N];

  RICCI_ALWAYS_INLINE void start(const E* x, int n) {
    for (int i = 0; i < n; ++i) sum[i] = static_cast<double>(x[i]);
  }
  RICCI_ALWAYS_INLINE void add(const E* x, int n) {
    for (int i = 0; i < n; ++i) sum[i] += static_cast<double>(x[i]);
  }
  RICCI_ALWAYS_INLINE void round_to(E* to, int n) const {
    for (int i = 0; i < n; ++i) to[i] = static_cast<E>(sum[i]);
  }
};
/// Of halves, which processors convert to and from float32 only: in float32, beside each sum the total of what its
/// additions lost (Knuth's TwoSum), which is NaN where the sum is infinite or NaN.
template <class E, int N>
  requires is_half<E>
struct Totals<E, N> {
  float sum[N], lost[N];

  RICCI_ALWAYS_INLINE void start(const E* x, int n) {
    for (int i = 0; i < n; ++i) sum[i] = x[i], lost[i] = 0;
  }
  RICCI_ALWAYS_INLINE void add(const E* x, int n) {
    constexpr int lanes = scalar::Wide<float>::lanes;
    int i = 0;
    if constexpr (std::is_same_v<E, Half> && N >= lanes) {  // the compiler would convert them one by one
      float wide[lanes];
      for (; i + lanes <= n; i += lanes) {
        scalar::store_wide(wide, scalar::widen(x + i));
        for (int k = 0; k < lanes; ++k) add_to(i + k, wide[k]);
      }
    }
    for (; i < n; ++i) add_to(i, x[i]);
  }
  RICCI_ALWAYS_INLINE void round_to(E* to, int n) const {
    for (int i = 0; i < n; ++i) to[i] = lost[i] < 0 || lost[i] > 0 ? sum[i] + lost[i] : sum[i];
  }

 private:
  RICCI_ALWAYS_INLINE void add_to(int i, float b) {
    const float a = sum[i], s = a + b, of_b = s - a;
    lost[i] += (a - (s - of_b)) + (b - of_b);
    sum[i] = s;
  }
};

/// An element of T as one or two real numbers.
template <class T>
inline constexpr int reals_in = is_complex_element<T> ? 2 : 1;
template <class T>
const real_of<T>* reals(const T* x) {
  return reinterpret_cast<const real_of<T>*>(x);
}
template <class T>
real_of<T>* reals(T* x) {
  return reinterpret_cast<real_of<T>*>(x);
}
template <class T, int count>
using TotalsOf = Totals<real_of<T>, count * reals_in<T>>;

// --- Numbers of places

/// The places that have totals. Of tuples, `place_of` says the slot; a negative one is ~offset of a place in the table
/// that gets one term, and needs no total.
struct Slots {
  std::int64_t count;
  Scratch<std::int64_t> offsets;  // in the table; none: those of all places

  /// f(slot, offset in the table) for slots [begin, end).
  template <class F>
  RICCI_ALWAYS_INLINE void for_each(const AxisList& places, std::int64_t begin, std::int64_t end, const F& f) const {
    if (offsets.data() != nullptr) {
      for (std::int64_t i = begin; i < end; ++i) f(i, offsets.data()[i]);
      return;
    }
    for_each_run(places, begin, end, [&](const Offsets& at, std::int64_t first, std::int64_t steps) {
      with_step<1>(places.last().y, [&](auto step) {
        for (std::int64_t i = 0; i < steps; ++i) f(begin + i, at.y + (first + i) * step);
      });
      begin += steps;
    });
  }
};

std::int64_t offset_of(const AxisList& places, std::int64_t number) {
  if (places.count <= 1) return number * places.last().y;
  return Walk(places.axis, places.count, number).at.y;
}

/// Replaces the numbers of places that are named once by ~offset. Returns how many tuples are left.
std::int64_t leave_repeated(const AxisList& places, std::int64_t* place_of, std::int64_t tuples) {
  struct Word {
    std::uint64_t named, repeated;  // a bit for each of 64 places
  };
  const std::int64_t words = steps_of(places) / 64 + 1;
  const Scratch<Word> bits(words);
  std::fill_n(bits.data(), words, Word{0, 0});
  for (std::int64_t i = 0; i < tuples; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << (place_of[i] & 63);
    Word& word = bits.data()[place_of[i] >> 6];
    word.repeated |= word.named & bit;
    word.named |= bit;
  }
  std::int64_t left = 0;
  for (std::int64_t i = 0; i < tuples; ++i) {
    if ((bits.data()[place_of[i] >> 6].repeated >> (place_of[i] & 63) & 1) != 0) ++left;
    else place_of[i] = ~offset_of(places, place_of[i]);
  }
  return left;
}

/// Replaces the other `repeated` tuples' numbers of places by slots, in the order in which places come.
void number_slots(Slots& slots, const AxisList& places, std::int64_t* place_of, std::int64_t tuples,
                  std::int64_t repeated) {
  struct Entry {
    std::int64_t place, slot;  // slot < 0: free
  };
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(2 * repeated + 1)));
  const std::size_t mask = (std::size_t{1} << bits) - 1;
  const Scratch<Entry> entries(static_cast<std::int64_t>(mask + 1));
  std::fill_n(entries.data(), mask + 1, Entry{0, -1});
  slots.offsets.allocate(repeated + 1);
  slots.count = 0;
  for (std::int64_t i = 0; i < tuples; ++i) {
    if (place_of[i] < 0) continue;
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // spreads neighbours
    auto at = static_cast<std::size_t>(static_cast<std::uint64_t>(place_of[i]) * golden >> (64 - bits));
    while (entries.data()[at].slot >= 0 && entries.data()[at].place != place_of[i]) at = (at + 1) & mask;
    Entry& entry = entries.data()[at];
    if (entry.slot < 0) {
      entry = {place_of[i], slots.count};
      slots.offsets.data()[slots.count++] = offset_of(places, place_of[i]);
    }
    place_of[i] = entry.slot;
  }
}

/// Where there are many places to a term, most have none: only those with several get a total.
void find_slots(Slots& slots, Additions& a, std::int64_t tuples) {
  constexpr std::int64_t many = 4, more_than_bits_pay_for = 256;
  slots.count = steps_of(a.places);
  if (slots.count <= many * tuples) return;
  std::int64_t repeated = tuples;
  if (slots.count <= more_than_bits_pay_for * tuples) repeated = leave_repeated(a.places, a.place_of.data(), tuples);
  number_slots(slots, a.places, a.place_of.data(), tuples, repeated);
}

// --- Element by element of a row

template <class T>
void add_by_elements(const Additions& a, const Slots& slots, std::int64_t tuples, T* table, const T* rows) {
  constexpr double nanoseconds_per_term = 1;
  constexpr std::int64_t ahead = 16, near = 1 << 15;  // terms; places that the nearest caches hold
  const Axis run = a.tuples.last();
  const bool is_far = steps_of(a.places) > near;
  parallel_for({steps_of(a.rest), nanoseconds_per_term * static_cast<double>(tuples + slots.count)},
               [&](std::int64_t begin, std::int64_t end) {
                 constexpr int parts = reals_in<T>;
                 const Scratch<TotalsOf<T, 1>> totals(slots.count);
                 TotalsOf<T, 1>* total = totals.data();
                 Walk element(a.rest.axis, a.rest.count, begin);
                 for (; begin < end; ++begin, element.next()) {
                   T* to = table + element.at.y;
                   slots.for_each(a.places, 0, slots.count, [=](std::int64_t slot, std::int64_t at) {
                     total[slot].start(reals(to + at), parts);
                   });
                   const auto fetch = [=](std::int64_t slot) {
                     __builtin_prefetch(slot >= 0 ? static_cast<const void*>(total + slot) : to + ~slot);
                   };
                   const std::int64_t* slot_of = a.place_of.data();
                   for (Walk outer(a.tuples.axis, a.tuples.count - 1); !outer.done; outer.next(), slot_of += run.size) {
                     const T* from = rows + element.at.out + outer.at.out;
                     with_step<1>(run.out, [=](auto step) {
                       for (std::int64_t i = 0; i < run.size; ++i) {
                         if (is_far && i + ahead < run.size) fetch(slot_of[i + ahead]);
                         const T& term = from[i * step];
                         if (slot_of[i] >= 0) total[slot_of[i]].add(reals(&term), parts);
                         else Adder::write(to[~slot_of[i]], term);
                       }
                     });
                   }
                   slots.for_each(a.places, 0, slots.count, [=](std::int64_t slot, std::int64_t at) {
                     total[slot].round_to(reals(to + at), parts);
                   });
                 }
               });
}

// --- Row by row

/// A run of n elements, side by side: itself, or copied into `buffer`.
template <class T>
RICCI_ALWAYS_INLINE const T* side_by_side(const T* from, std::int64_t step, int n, T* buffer) {
  if (step == 1) return from;
  for (int i = 0; i < n; ++i) buffer[i] = from[i * step];
  return buffer;
}

/// So many elements of a row have their totals side by side.
inline constexpr int strip = 16;

/// A total for each place and each element of a run takes so little that it stays in the caches.
template <class T>
bool keeps_totals_of_runs(const Additions& a, const Slots& slots) {
  constexpr std::int64_t bytes_in_caches = 1 << 19;
  const std::int64_t strips = (a.rest.last().size + strip - 1) / strip;
  return slots.count * strips * static_cast<std::int64_t>(sizeof(TotalsOf<T, strip>)) <= bytes_in_caches;
}

/// The rows in their order, elements [begin, end) of a run of each.
template <class T>
void add_strips(const Additions& a, const Slots& slots, std::int64_t begin, std::int64_t end, T* table, const T* rows) {
  constexpr int parts = reals_in<T>;
  const Axis run = a.rest.last();
  const std::int64_t strips = (end - begin + strip - 1) / strip;
  const Scratch<TotalsOf<T, strip>> totals(slots.count * strips);
  T buffer[strip];
  const auto for_each_strip = [&](std::int64_t slot, const auto& f) __attribute__((always_inline)) {
    TotalsOf<T, strip>* total = totals.data() + slot * strips;
    std::int64_t i = begin;
    for (; i + strip <= end; i += strip) f(*total++, i, strip);
    if (i < end) f(*total, i, static_cast<int>(end - i));
  };
  slots.for_each(a.places, 0, slots.count, [&](std::int64_t slot, std::int64_t at) {
    for_each_strip(slot, [&](auto& total, std::int64_t i, int n) {
      total.start(reals(side_by_side(table + at + i * run.y, run.y, n, buffer)), n * parts);
    });
  });
  const std::int64_t* slot_of = a.place_of.data();
  for (Walk tuple(a.tuples.axis, a.tuples.count); !tuple.done; tuple.next(), ++slot_of) {
    const T* from = rows + tuple.at.out;
    if (*slot_of < 0) {
      T* to = table + ~*slot_of;
      for (std::int64_t i = begin; i < end; ++i) Adder::write(to[i * run.y], from[i * run.out]);
      continue;
    }
    for_each_strip(*slot_of, [&](auto& total, std::int64_t i, int n) {
      total.add(reals(side_by_side(from + i * run.out, run.out, n, buffer)), n * parts);
    });
  }
  slots.for_each(a.places, 0, slots.count, [&](std::int64_t slot, std::int64_t at) {
    for_each_strip(slot, [&](const auto& total, std::int64_t i, int n) {
      T* to = table + at + i * run.y;
      if (run.y == 1) return total.round_to(reals(to), n * parts);
      total.round_to(reals(buffer), n * parts);
      for (int k = 0; k < n; ++k) to[k * run.y] = buffer[k];
    });
  });
}

constexpr double nanoseconds_per_element = 0.3;

template <class T>
void add_by_rows(const Additions& a, const Slots& slots, std::int64_t tuples, T* table, const T* rows) {
  for (Walk outer(a.rest.axis, a.rest.count - 1); !outer.done; outer.next())
    parallel_for({a.rest.last().size, nanoseconds_per_element * static_cast<double>(tuples), 4 * strip},
                 [&](std::int64_t begin, std::int64_t end) {
                   add_strips(a, slots, begin, end, table + outer.at.y, rows + outer.at.out);
                 });
}

// --- Place by place

inline constexpr int block = 256;  // elements that are added at once

/// The rows of each slot, in their order: `rows` [begin[i], begin[i + 1]) are slot i's.
struct RowsOfSlots {
  RowsOfSlots(const Additions& a, std::int64_t slots, std::int64_t tuples) : begin(slots + 1), rows(tuples) {
    std::int64_t* next = begin.data() + 1;  // of each slot, where its next row goes
    std::fill_n(begin.data(), slots + 1, 0);
    const std::int64_t* slot_of = a.place_of.data();
    for (std::int64_t i = 0; i < tuples; ++i)
      if (slot_of[i] >= 0 && slot_of[i] + 1 < slots) ++next[slot_of[i] + 1];
    for (std::int64_t i = 1; i < slots; ++i) next[i] += next[i - 1];
    for (Walk tuple(a.tuples.axis, a.tuples.count); !tuple.done; tuple.next(), ++slot_of)
      if (*slot_of >= 0) rows.data()[next[*slot_of]++] = tuple.at.out;
  }
  Scratch<std::int64_t> begin, rows;
};

/// Starts to load a run of n elements.
template <class T>
RICCI_ALWAYS_INLINE void fetch(const T* from, int n) {
  constexpr int line = 64 / static_cast<int>(sizeof(T));
  for (int i = 0; i < n; i += line) __builtin_prefetch(from + i);
}

/// Adds rows' runs of n elements to one run of the table; `at` are `count` rows, and others up to `end`.
template <class T>
void add_runs(T* to, std::int64_t to_step, const T* rows, std::int64_t step, const std::int64_t* at, std::int64_t count,
              const std::int64_t* end, int n) {
  constexpr int ahead = 4;  // rows
  TotalsOf<T, block> totals;
  T buffer[block];
  totals.start(reals(side_by_side(to, to_step, n, buffer)), n * reals_in<T>);
  for (; count > 0; --count, ++at) {
    if (step == 1 && end - at > ahead) fetch(rows + at[ahead], n);
    totals.add(reals(side_by_side(rows + *at, step, n, buffer)), n * reals_in<T>);
  }
  if (to_step == 1) return totals.round_to(reals(to), n * reals_in<T>);
  totals.round_to(reals(buffer), n * reals_in<T>);
  for (int i = 0; i < n; ++i) to[i * to_step] = buffer[i];
}

/// Adds each row that is the only one of its place.
template <class T>
void add_single_rows(const Additions& a, std::int64_t tuples, double nanoseconds_per_row, T* table, const T* rows) {
  const Axis run = a.rest.last();
  parallel_for({tuples, nanoseconds_per_row}, [&](std::int64_t begin, std::int64_t end) {
    for (Walk tuple(a.tuples.axis, a.tuples.count, begin); begin < end; ++begin, tuple.next()) {
      if (a.place_of.data()[begin] >= 0) continue;
      for (Walk outer(a.rest.axis, a.rest.count - 1); !outer.done; outer.next()) {
        T* to = table + ~a.place_of.data()[begin] + outer.at.y;
        const T* from = rows + tuple.at.out + outer.at.out;
        for (std::int64_t i = 0; i < run.size; ++i) Adder::write(to[i * run.y], from[i * run.out]);
      }
    }
  });
}

template <class T>
void add_by_places(const Additions& a, const Slots& slots, std::int64_t tuples, T* table, const T* rows) {
  const double nanoseconds_per_row = nanoseconds_per_element * static_cast<double>(steps_of(a.rest));
  if (slots.offsets.data() != nullptr) add_single_rows(a, tuples, nanoseconds_per_row, table, rows);
  if (slots.count == 0) return;
  const RowsOfSlots of(a, slots.count, tuples);
  const Axis run = a.rest.last();
  const double rows_per_slot = static_cast<double>(tuples) / static_cast<double>(slots.count);
  parallel_for({slots.count, nanoseconds_per_row * rows_per_slot}, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t* last = of.rows.data() + of.begin.data()[end];
    slots.for_each(a.places, begin, end, [&](std::int64_t slot, std::int64_t at) {
      const std::int64_t first = of.begin.data()[slot], count = of.begin.data()[slot + 1] - first;
      if (count == 0) return;
      for (Walk outer(a.rest.axis, a.rest.count - 1); !outer.done; outer.next()) {
        for (std::int64_t i = 0; i < run.size; i += block)
          add_runs(table + at + outer.at.y + i * run.y, run.y, rows + outer.at.out + i * run.out, run.out,
                   of.rows.data() + first, count, last, static_cast<int>(std::min<std::int64_t>(block, run.size - i)));
      }
    });
  });
}

template <class F>
void visit_narrow(DType dtype, const F& f) {
  switch (dtype) {
    case DType::float16: return f(std::type_identity<Half>());
    case DType::bfloat16: return f(std::type_identity<BFloat16>());
    case DType::float32: return f(std::type_identity<float>());
    default: return f(std::type_identity<std::complex<float>>());
  }
}

/// Whether a row is a long run of memory.
bool has_long_rows(const Additions& a) {
  const Axis row = a.rest.last(), tuple = a.tuples.last();
  constexpr std::int64_t long_enough = 8;
  return row.size >= long_enough && (tuple.size == 1 || row.out < tuple.out || (row.out == 1 && row.y == 1));
}

}  // namespace

void add_rows(Additions& a, DType dtype, void* table, const void* rows) {
  assert(is_narrow(dtype));
  const std::int64_t tuples = steps_of(a.tuples);
  if (tuples == 0 || is_empty(a.rest)) return;
  Slots slots;
  find_slots(slots, a, tuples);
  visit_narrow(dtype, [&]<class T>(std::type_identity<T>) {
    const auto add = !has_long_rows(a)                   ? add_by_elements<T>
                     : keeps_totals_of_runs<T>(a, slots) ? add_by_rows<T>
                                                         : add_by_places<T>;
    add(a, slots, tuples, static_cast<T*>(table), static_cast<const T*>(rows));
  });
}

// --- Lane by lane

namespace {

/// `totals` [size, lanes]. The number of lanes, and steps, are constants where lanes are added one by one.
template <class T, class Lanes, class Step>
void add_terms_of(const TermsOfLanes& a, Lanes lanes, TotalsOf<T, 1>* totals, T* table, const T* start, const T* rows,
                  const std::int64_t* index, Step row_step, Step index_step) {
  constexpr int parts = reals_in<T>;
  constexpr int at_once = 16;             // terms
  constexpr std::int64_t near = 1 << 17;  // places that the caches hold
  const auto for_each_place = [&](auto* of, const auto& f) __attribute__((always_inline)) {
    with_step<1>(a.step, [&](auto step) __attribute__((always_inline)) {
      for (std::int64_t place = 0; place < a.size; ++place)
        for (std::int64_t l = 0; l < lanes; ++l) f(totals[place * lanes + l], of[place * step + l * a.lanes.y]);
    });
  };
  for_each_place(start, [](auto& total, const T& from) { total.start(reals(&from), parts); });
  if constexpr (std::is_same_v<Lanes, std::int64_t>) {
    for (std::int64_t i = 0; i < a.terms.size; ++i)
      for (std::int64_t l = 0; l < lanes; ++l) {
        const std::int64_t place = from_front(index[i * index_step + l * a.lanes.x], a.size);
        totals[place * lanes + l].add(reals(rows + i * row_step + l * a.lanes.out), parts);
      }
  } else {
    static_assert(Lanes::value == 1);
    const bool is_far = a.size > near;
    const auto place_of = [&](std::int64_t term) { return from_front(index[term * index_step], a.size); };
    std::int64_t i = 0, places[at_once];
    for (; i + at_once <= a.terms.size; i += at_once) {
      if (is_far && i + 2 * at_once <= a.terms.size)
        for (int k = 0; k < at_once; ++k) __builtin_prefetch(totals + place_of(i + at_once + k));
      for (int k = 0; k < at_once; ++k) places[k] = place_of(i + k);
      for (int k = 0; k < at_once; ++k) totals[places[k]].add(reals(rows + (i + k) * row_step), parts);
    }
    for (; i < a.terms.size; ++i) totals[place_of(i)].add(reals(rows + i * row_step), parts);
  }
  for_each_place(table, [](const auto& total, T& to) { total.round_to(reals(&to), parts); });
}

}  // namespace

void add_terms(const TermsOfLanes& a, DType dtype, void* table, const void* start, const void* rows) {
  assert(is_narrow(dtype));
  constexpr std::int64_t places_at_once = 1 << 16, least = 16;  // lanes: those of a cache line
  const std::int64_t most = std::min(a.lanes.size, std::max(places_at_once / a.size, least));
  visit_narrow(dtype, [&]<class T>(std::type_identity<T>) {
    const Scratch<TotalsOf<T, 1>> totals(a.size * most);
    for (std::int64_t l = 0; l < a.lanes.size; l += most) {
      const std::int64_t lanes = std::min(most, a.lanes.size - l);
      T* to = static_cast<T*>(table) + l * a.lanes.y;
      const T* first = static_cast<const T*>(start) + l * a.lanes.y;
      const T* from = static_cast<const T*>(rows) + l * a.lanes.out;
      const std::int64_t* index = a.index + l * a.lanes.x;
      constexpr std::integral_constant<std::int64_t, 1> one;
      if (lanes == 1 && a.terms.out == 1 && a.terms.x == 1)
        add_terms_of<T>(a, one, totals.data(), to, first, from, index, one, one);
      else add_terms_of<T>(a, lanes, totals.data(), to, first, from, index, a.terms.out, a.terms.x);
    }
  });
}

}  // namespace ricci::kernels
