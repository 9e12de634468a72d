// Programs run by lane kernels. Knows no operation.
#pragma once

#include <ricci/ricci.h>

#include <span>
#include <vector>

#include "compile/lane_kernel.h"
#include "primitive/interpreter.h"

namespace testing_support {

inline ricci::Strided strided(const ricci::Tensor& x) {
  return static_cast<const ricci::Array&>(*ricci::value_of(x)).strided();
}

/// Contiguous tensors for the results of `program`, filled with what no result is.
inline std::vector<ricci::Tensor> room_for(const std::vector<ricci::Tensor>& results) {
  std::vector<ricci::Tensor> room;
  for (const ricci::Tensor& y : results) {
    room.push_back(ricci::clone(y.contiguous()));
    if (y.numel() > 0) room.back().fill_(97);
  }
  return room;
}

/// What the kernel gives for these inputs; empty where it says that the program throws. `like`: the results' types.
inline std::vector<ricci::Tensor> run(const ricci::compiled::LaneKernel& kernel, const ricci::Program& program,
                                      std::vector<ricci::Tensor> inputs, const std::vector<ricci::Tensor>& like,
                                      std::int64_t lanes) {
  const std::vector<ricci::Tensor> captured = program.captured();
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  for (ricci::Tensor& x : inputs) x = ricci::clone(x.contiguous());
  const std::vector<ricci::Tensor> outputs = room_for(like);
  std::vector<ricci::Strided> in, out;
  for (const ricci::Tensor& x : inputs) in.push_back(strided(x));
  for (const ricci::Tensor& y : outputs) out.push_back(strided(y));
  return kernel.run(in, out, lanes) ? outputs : std::vector<ricci::Tensor>();
}

inline const ricci::compiled::LaneKernel* kernel_of(const ricci::compiled::MadeKernel& made) {
  const auto* const kernel = std::get_if<std::shared_ptr<const ricci::compiled::LaneKernel>>(&made);
  return kernel ? kernel->get() : nullptr;
}
inline std::string why_not(const ricci::compiled::MadeKernel& made) {
  const auto* const why = std::get_if<ricci::compiled::NotExpandable>(&made);
  return why ? why->why : "";
}

/// Whether kernels are made at all (RICCI_COMPILE).
inline bool makes_kernels() {
  const ricci::Program program = ricci::trace([](const ricci::Tensor& x) { return -x; })(ricci::tensor(1.0));
  return kernel_of(ricci::compiled::lane_kernel(program)) != nullptr;
}

}  // namespace testing_support
