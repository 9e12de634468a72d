// The linear operations between ranks, in pairs that are each other's transpose, as operations on one or several
// tensors. They compare types, and say where they may stand. Start with `Ranks`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/world.h"
#include "ricci/primitive/rule_arguments.h"
#include "ricci/tensor.h"
#include "tensor/thread_context.h"

namespace ricci::mpi {

/// How many rows each rank has.
using Counts = std::vector<std::int64_t>;
/// Those of the blocks of `count` rows.
Counts counts_of_blocks(std::int64_t count, const WorldState& world);

/// Throws where `call` between these ranks has no meaning: in a function that mpi::vmap runs, or mpi::sum_over between
/// others (these tell the other ranks), and where only a part of a vmap's examples runs (all ranks throw).
void require_place(const char* call, WorldState& world);
/// Whether the values here are own values of these ranks, so that what is shared becomes an own value too.
bool are_own_values(const World& world);

/// While it lives and is true, the operations of this page do not compare what the ranks pass: their caller has. Has no
/// effect inside a transform, where there may be more operations than the caller knows of.
using Agreed = With<&ThreadContext::ranks_agree>;

/// Where a call stands that no transform surrounds: the last part of what ranks agree on before they send.
inline constexpr const char* outside_transforms = "\na call outside all transforms";

/// `f32[4,3]`; of rows along `axis`, of which another rank may have more, `rows of f32[3]` or `rows along axis 1 of …`.
std::string to_text(const Type& type, std::optional<std::int64_t> axis_of_rows);

// Own values to shared ones, and their transposes below.
Tensors sums(std::span<const Tensor> own, const World& world);  // of one dtype, not bool; at most 32
Tensors replicas(std::span<const Tensor> shared, const World& world);

Tensor gathered(const Tensor& own, const Counts& counts, const World& world);
Tensor own_rows(const Tensor& all, const Counts& counts, const World& world);

Tensor of_root(const Tensor& own, int root, const World& world);
Tensor at_root(const Tensor& shared, int root, const World& world);  // zeros elsewhere

// Own values to own ones.
Tensor rows_to_root(const Tensor& own, const Counts& counts, int root, const World& world);
Tensor rows_from_root(const Tensor& all, const Counts& counts, int root, const World& world);

}  // namespace ricci::mpi
