// Colors of a sparse matrix: which columns, or rows, one derivative can find together. Knows nothing of functions.
// Start with `color`.
#pragma once

#include "ricci/sparse/direct.h"
#include "ricci/sparse/sparsity.h"

namespace ricci {

enum class ColorMode : std::uint8_t {
  both,  ///< long rows by reverse mode, the others by forward mode, split where colors are fewest: perhaps none or all
  columns,  ///< columns of a color have no row in common: forward mode finds them together
  rows,     ///< rows of a color have no column in common: reverse mode
  star,     ///< of a symmetric matrix: each nonzero, or the one across the diagonal, is alone in its row and color
  /// Of a symmetric matrix, with fewer colors: nonzeros are found one from another, on trees of two colors. Roundings
  /// add up along a tree, and a NaN spreads.
  acyclic,
};
/// In which order columns get their colors, each the first that is free.
enum class ColorOrder : std::uint8_t {
  natural,        ///< as they stand: a banded matrix gets the fewest
  largest_first,  ///< those with the most neighbours first
  smallest_last,  ///< the one with the fewest neighbours last, then the one with the fewest among the others, and so on
};
struct ColorOptions {
  ColorMode mode = ColorMode::both;
  ColorOrder order = ColorOrder::largest_first;
};

/// A pattern with its colors. Immutable; a copy shares them. Transforms leave it alone, as a number in a tree.
class Coloring {
 public:
  const Sparsity& sparsity() const { return data_->sparsity; }
  bool is_symmetric() const { return data_->is_symmetric; }
  /// Derivatives of one direction each: forward ones, then reverse ones.
  std::int64_t colors() const { return column_colors() + row_colors(); }
  std::int64_t column_colors() const { return data_->column_colors; }
  std::int64_t row_colors() const { return data_->row_colors; }
  std::span<const std::int64_t> color_of_column() const { return data_->color_of_column; }
  std::span<const std::int64_t> color_of_row() const { return data_->color_of_row; }  ///< -1: found by its columns
  /// Where each nonzero stands in the products [column_colors, rows], then [row_colors, columns], then what the system
  /// gives.
  std::span<const std::int64_t> places() const { return data_->places; }
  /// Of an acyclic coloring: the equations of the nonzeros that no product gives alone. Each says which of them add up
  /// to one element of the products, which `sums` names. Of other colorings: no equations.
  const sparse::Analysis& system() const { return data_->system; }
  std::span<const std::int64_t> sums() const { return data_->sums; }

 private:
  struct Data {
    Sparsity sparsity;
    bool is_symmetric = false;
    std::int64_t column_colors = 0, row_colors = 0;
    std::vector<std::int64_t> color_of_column, color_of_row, places, sums;
    sparse::Analysis system;
  };
  explicit Coloring(Data data) : data_(std::make_shared<const Data>(std::move(data))) {}
  friend Coloring color(const Sparsity& sparsity, ColorOptions options);
  std::shared_ptr<const Data> data_;
};

/// Colors, as few as the order finds (Gebremedhin, Manne and Pothen, SIAM Review 47, 2005; star coloring by the stars
/// of two colors, acyclic coloring by their trees: Gebremedhin, Tarafdar, Manne and Pothen, SIAM J. Sci. Comput. 29,
/// 2007). An acyclic coloring finds a nonzero by adding and subtracting products along a tree: its error is at most the
/// sum of their rounding errors, and a NaN or an infinity spreads along the tree. The others read each nonzero out of
/// one product. The time grows as the sum of the squares of the rows' numbers of nonzeros. ValueError for `star` and
/// `acyclic` of a matrix that is not symmetric.
///   rc::Coloring coloring = rc::color(pattern, {.mode = rc::ColorMode::columns});
Coloring color(const Sparsity& sparsity, ColorOptions options = {});

/// `Coloring of Sparsity 6 x 6, 12 nonzeros: 3 colors of columns, 0 of rows`
std::ostream& operator<<(std::ostream& out, const Coloring& coloring);

}  // namespace ricci
