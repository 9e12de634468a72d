// The numbers of factors L D U and the systems that they solve, panel by panel. Knows nothing of tensors. The layout of
// the numbers stands in sparse/analysis.h.
#pragma once

#include "ricci/primitive/scratch.h"
#include "sparse/analysis.h"

namespace ricci::sparse {

/// Memory for one factorisation after another.
class FactorMemory {
 public:
  explicit FactorMemory(const Analysis::Data& analysis);

 private:
  friend class Factorisation;
  kernels::Scratch<std::int32_t> local;     // of each row of the matrix: where it is in the panel at hand
  kernels::Scratch<std::int32_t> targets;   // of the rows of an earlier panel
  kernels::Scratch<std::int32_t> head;      // of each supernode: the first of those that are subtracted from it
  kernels::Scratch<std::int32_t> next;      // the one behind it
  kernels::Scratch<std::int64_t> done;      // how many of a supernode's rows below it are subtracted already
  kernels::Scratch<double> scaled, product;
};

/// L D U of the matrix with these values. Returns the k of a pivot that is zero, or -1.
std::int64_t factor_matrix(const Analysis::Data& analysis, const double* values, double* numbers,
                           const FactorMemory& memory);

/// Right-hand sides that go through the factors together are padded with zeros to so many: one, or whole registers.
std::int64_t padded(std::int64_t columns);

/// x [n, padded(columns)], in the order of elimination, becomes (L D U)⁻¹ x, or the same of the transposed matrix. What
/// becomes of a column does not depend on how many there are. `work` has room for the largest panel's rows of x.
void substitute(const Analysis::Data& analysis, const double* numbers, bool transpose, double* x, double* work,
                std::int64_t columns);
std::int64_t most_rows(const Analysis::Data& analysis);

}  // namespace ricci::sparse
