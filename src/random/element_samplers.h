// Samples that are taken one element at a time, each on the stream of its own 64-bit key. Knows nothing of any
// distribution.
#pragma once

#include <cstdint>

#include "ops/dense.h"

namespace ricci {

inline ArrayRef row_major_copy(const Strided& x, DType dtype) {
  ArrayRef copy = array_like(x, dtype);
  kernels::copy(copy->strided(), x);
  return copy;
}

/// out[i] = sample(key of i, parameters of i…) in double precision. Requires: all of one shape; in[0] holds the keys,
/// `parameter`s are the places of the others.
template <class Sample, class... Index>
void sample_elements(Outputs out, Inputs in, Sample sample, Index... parameter) {
  const ArrayRef keys = row_major_copy(in[0], DType::int64);
  const ArrayRef parameters[] = {row_major_copy(in[static_cast<std::size_t>(parameter)], DType::float64)...};
  const ArrayRef samples = array_like(out[0], DType::float64);
  const auto* key = static_cast<const std::uint64_t*>(keys->data);
  auto* to = static_cast<double*>(samples->data);
  const std::int64_t n = samples->numel();
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = sample(key[i], static_cast<const double*>(parameters[parameter - 1]->data)[i]...);
  kernels::copy(out[0], samples->strided());
}

}  // namespace ricci
