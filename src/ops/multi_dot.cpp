// A product of many matrices, in the cheapest order: Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms",
// section 15.2. Knows nothing of how one product is computed.
#include <limits>

#include "ops/axes.h"
#include "primitive/called.h"

namespace ricci {
namespace {

/// Where to part the product of matrices i … j: `last_of_left[i][j]` ends the left factor.
class Order {
 public:
  /// Matrix i is [sizes[i], sizes[i + 1]].
  explicit Order(const std::vector<double>& sizes)
      : count_(sizes.size() - 1), cost_(count_ * count_, 0), last_of_left_(count_ * count_, 0) {
    for (std::size_t length = 2; length <= count_; ++length)
      for (std::size_t i = 0; i + length <= count_; ++i) choose(i, i + length - 1, sizes);
  }
  std::size_t last_of_left(std::size_t i, std::size_t j) const { return last_of_left_[i * count_ + j]; }

 private:
  void choose(std::size_t i, std::size_t j, const std::vector<double>& sizes) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = i; k < j; ++k) {
      const double cost = cost_[i * count_ + k] + cost_[(k + 1) * count_ + j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
      if (cost >= least) continue;
      least = cost;
      last_of_left_[i * count_ + j] = k;
    }
    cost_[i * count_ + j] = least;
  }

  std::size_t count_;
  std::vector<double> cost_;
  std::vector<std::size_t> last_of_left_;
};

Tensor product(const std::vector<Tensor>& matrices, const Order& order, std::size_t i, std::size_t j) {
  if (i == j) return matrices[i];
  const std::size_t k = order.last_of_left(i, j);
  return matmul(product(matrices, order, i, k), product(matrices, order, k + 1, j));
}

void require_chain(const std::vector<Tensor>& matrices) {
  if (matrices.size() < 2)
    raise<ValueError>("multi_dot: " + count_of(static_cast<std::int64_t>(matrices.size()), "matrix", "matrices") +
                      "; pass at least two");
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    require_defined("multi_dot", matrices[i], static_cast<int>(i));
    const int rank = type_of(matrices[i]).rank();
    const bool at_an_end = i == 0 || i + 1 == matrices.size();
    if (rank != 2 && !(rank == 1 && at_an_end))
      raise<ValueError>("multi_dot: operand " + std::to_string(i) + " is " + type_text(matrices[i]) +
                        "; pass matrices, and vectors only as the first or the last");
  }
}

}  // namespace

namespace ops {

Tensor multi_dot(const std::vector<Tensor>& tensors) {
  const Called as("multi_dot");
  require_chain(tensors);
  std::vector<Tensor> matrices = tensors;
  const bool starts_with_row = type_of(tensors.front()).rank() == 1,
             ends_with_column = type_of(tensors.back()).rank() == 1;
  if (starts_with_row) matrices.front() = unsqueeze(tensors.front(), 0);
  if (ends_with_column) matrices.back() = unsqueeze(tensors.back(), 1);
  std::vector<double> sizes{static_cast<double>(type_of(matrices[0]).shape[0].hint())};
  for (const Tensor& matrix : matrices) sizes.push_back(static_cast<double>(type_of(matrix).shape[1].hint()));
  Tensor result = product(matrices, Order(sizes), 0, matrices.size() - 1);
  if (ends_with_column) result = squeeze(result, -1);
  return starts_with_row ? squeeze(result, 0) : result;
}

}  // namespace ops
}  // namespace ricci
