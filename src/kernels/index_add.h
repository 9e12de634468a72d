// Adding rows at places of a table, float32 and narrower types. The terms of a place are added in order, in numbers of
// at least twice the digits, and rounded at the end: so the error does not grow with the number of terms. Knows nothing
// of how indices are given.
#pragma once

#include "kernels/index_loops.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {

/// Rows and the places of a table that they are added to.
struct Additions {
  AxisList places;                 // the axes of the table that places lie along: its steps as y
  AxisList tuples;                 // the axes of the rows that say which row: their steps as out
  AxisList rest;                   // the axes of one row: the rows' steps as out, the table's as y
  Scratch<std::int64_t> place_of;  // of each tuple in row-major order, its place's number in row-major order

  /// Requires: `tuples` is set.
  void allocate() { place_of.allocate(steps_of(tuples)); }
};

/// Terms that are added along lanes of a table: each lane has its own, and an index for each of them.
struct TermsOfLanes {
  Axis terms;         // of one lane: the rows' step as out, the index's as x
  Axis lanes;         // the same, and the table's step as y
  std::int64_t size;  // of a lane of the table
  std::int64_t step;
  const std::int64_t* index;  // from the back where it is negative
};

/// Whether elements are added here. Those of float64 are added as they are.
constexpr bool is_narrow(DType dtype) {
  return (is_floating(dtype) && dtype != DType::float64) || dtype == DType::complex64;
}

/// table[place of each tuple, element of a row] += rows[tuple, element of a row]. Each element of the table gets its
/// terms in the tuples' order, so no bit depends on the number of threads. Overwrites `place_of`.
/// Requires: `dtype` is narrow; steps of the table are positive and no two lead to one element.
void add_rows(Additions& additions, DType dtype, void* table, const void* rows);

/// table[place, lane] = start[place, lane] + Σ rows[term, lane] of the terms whose index is the place. Nothing is noted
/// of places. Requires: as add_rows; `start` is the table, or like it.
void add_terms(const TermsOfLanes& terms, DType dtype, void* table, const void* start, const void* rows);

}  // namespace ricci::kernels
