// Where the matrices, vectors or planes of a batch begin. Knows nothing of what they are.
#pragma once

#include <cstdint>

#include "kernels/matmul_product.h"
#include "ricci/strided.h"

namespace ricci::kernels {

/// Where the i-th element of a batch begins, i counting the batch axes in row-major order.
class BatchOffsets {
 public:
  /// The last `inner_rank` axes belong to the elements.
  BatchOffsets(const Strided& x, int inner_rank) {
    for (int i = 0; i < x.rank - inner_rank; ++i) {
      if (x.shape[i] == 1) continue;
      const bool continues = rank_ > 0 && strides_[rank_ - 1] == x.strides[i] * x.shape[i];
      if (continues) --rank_;
      shape_[rank_] = continues ? shape_[rank_] * x.shape[i] : x.shape[i];
      strides_[rank_++] = x.strides[i];
    }
  }

  std::int64_t size() const {
    std::int64_t size = 1;
    for (int i = 0; i < rank_; ++i) size *= shape_[i];
    return size;
  }

  std::int64_t operator()(std::int64_t index) const {
    if (rank_ == 0) return 0;
    std::int64_t offset = 0;
    for (int i = rank_ - 1; i > 0; --i) {
      offset += index % shape_[i] * strides_[i];
      index /= shape_[i];
    }
    return offset + index * strides_[0];
  }

  /// Whether the offset is a multiple of the index.
  bool is_linear() const { return rank_ <= 1; }

 private:
  int rank_ = 0;
  std::int64_t shape_[max_batch_rank], strides_[max_batch_rank];
};

}  // namespace ricci::kernels
