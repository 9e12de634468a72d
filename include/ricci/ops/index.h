// Reading and writing by tensors of indices, and operations whose result's size depends on values.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index);
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
Tensor take_along_dim(const Tensor& x, const Tensor& index, std::int64_t dim);
Tensor take(const Tensor& x, const Tensor& index);
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& value);
/// NumPy's advanced indexing; boolean masks read values.
Tensor index(const Tensor& x, const std::vector<Index>& indices);
Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Tensor& value);
Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Tensor& value, bool accumulate);
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);
Tensor nonzero(const Tensor& x);  ///< int64 [count, x.dim()]; reads values
Tensor masked_select(const Tensor& x, const Tensor& mask);
Tensor unique(const Tensor& x);                               ///< sorted distinct values; reads values
Tensor embedding(const Tensor& weight, const Tensor& index);  ///< rows of weight
Tensor one_hot(const Tensor& index, std::int64_t classes);    ///< int64
Tensor searchsorted(const Tensor& sorted, const Tensor& values);

}  // namespace ricci::ops
