// Programs with kernels, at the sizes of a call. Knows no operation.
#pragma once

#include <ricci/ricci.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compile/lane_steps.h"

namespace testing_support {

/// The program of f with kernels, in a call with this argument: its sizes below 16 are known, the others open.
template <class F>
ricci::Program kernels_in_call(const F& f, const ricci::Tensor& x) {
  const auto with_small_sizes = [&](const ricci::Tensor& t) {
    for (std::int64_t axis = 0; axis < t.dim(); ++axis)
      if (x.size(axis) < 16) t.size(axis);
    return f(t);
  };
  ricci::ProgramBody body = ricci::trace(with_small_sizes)(x).simplified().body();
  const std::shared_ptr<const ricci::SymbolTable> table = std::exchange(body.symbols, nullptr);
  const ricci::Program program(ricci::Shared<const ricci::ProgramBody>(new ricci::ProgramBody(std::move(body))));
  std::vector<ricci::Size> sizes;
  for (const ricci::Size size : x.shape()) sizes.push_back(size);
  return ricci::compiled::with_kernels_throughout(program, {.table = table})
      .in_call(std::make_shared<const ricci::CallSizes>(table, sizes));
}

}  // namespace testing_support
