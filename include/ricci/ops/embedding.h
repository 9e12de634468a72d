// Rows of tables, read by whole numbers, with PyTorch's options; the plain `embedding` stands in ricci/ops/index.h. All
// are differentiable in the table to any order, in both modes.
#pragma once

#include <optional>
#include <string>

#include "ricci/tensor.h"

namespace ricci {

/// `{.offsets = begins, .mode = "sum", .per_sample_weights = w}`
struct EmbeddingBagOptions {
  Tensor offsets = {};                   ///< where the bags of a vector of indices begin: ascending integers from 0
  std::string mode = "mean";             ///< what becomes of the rows of a bag: "sum", "mean" or "max"
  Tensor per_sample_weights = {};        ///< multiply the rows, of the index's shape; with the mode "sum" only
  bool include_last_offset = false;      ///< the last offset is the number of indices, and begins no bag
  std::optional<Size> padding_idx = {};  ///< this index adds no row and does not count; negative: from the back
};

namespace ops {

/// Rows of weight [rows, width] as `embedding(index, weight)` reads them, without a gradient for the row `padding_idx`,
/// negative ones counting from the back. IndexError if there is no such row.
///   Tensor x = rc::embedding(tokens, table, 0);
Tensor embedding(const Tensor& index, const Tensor& weight, Size padding_idx);

/// The sum, mean or greatest elements of the rows of weight [rows, width] that a bag of indices names: [bags, width].
/// index is [bags, n], or [n] with offsets [bags]. A bag without rows gives 0. Of equal elements the first is the
/// greatest one, and gets the gradient. Sums and means, and their derivatives of any order, have no row for each index
/// in memory. A table whose rows do not lie side by side is copied, if it is no larger than the rows that are read; for
/// means, float16 and bfloat16 are converted to float32. TypeError unless index and offsets are integers and the weight
/// floating; ValueError for other shapes, or weights of rows in another mode than "sum"; IndexError where an index is
/// out of range, or offsets do not begin with 0, do not ascend, go beyond the indices, or end with another number than
/// theirs under include_last_offset.
///   Tensor y = rc::embedding_bag(words, table, {.offsets = begins, .mode = "sum"});
Tensor embedding_bag(const Tensor& index, const Tensor& weight);
Tensor embedding_bag(const Tensor& index, const Tensor& weight, EmbeddingBagOptions options);

}  // namespace ops
}  // namespace ricci
