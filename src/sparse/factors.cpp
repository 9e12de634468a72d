// Left-looking factors of panels: from each panel, those before it that share its rows are subtracted, then it is
// factored alone (Ng and Peyton, "Block sparse Cholesky algorithms", SIAM J. Sci. Comput. 14, 1993).
#include "sparse/factors.h"

#include <algorithm>
#include <utility>

#include "kernels/blas.h"
#include "kernels/matmul_lanes.h"
#include "tensor/at.h"

namespace ricci::sparse {
namespace {

using Data = Analysis::Data;

// --- Products of columns

/// c [rows, columns] -= left [rows, depth] rightᵀ, right [columns, depth], all column after column; the steps are those
/// from a column to the next. What is above the diagonal of c may be left out.
void subtract_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const double* left,
                      std::int64_t left_step, const double* right, std::int64_t right_step, double* c,
                      std::int64_t c_step) {
  constexpr std::int64_t worth_a_library = 1 << 14, block = 96;
  if (rows * columns * depth >= worth_a_library && columns > 1) {
    for (std::int64_t j = 0, end; j < columns; j = end) {
      end = columns - j <= block + block / 2 ? columns : j + block;
      const int sizes[] = {static_cast<int>(rows - j), static_cast<int>(end - j), static_cast<int>(depth)};
      const int steps[] = {static_cast<int>(left_step), static_cast<int>(right_step), static_cast<int>(c_step)};
      const double minus_one = -1, one = 1;
      kernels::blas<double>()->gemm("N", "T", &sizes[0], &sizes[1], &sizes[2], &minus_one, left + j, &steps[0],
                                    right + j, &steps[1], &one, c + j * c_step + j, &steps[2], 1, 1);
    }
    return;
  }
  for (std::int64_t j = 0; j < columns; ++j, c += c_step) {
    std::int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const double *l = left + k * left_step, *r = right + k * right_step + j;
      const double r0 = r[0], r1 = r[right_step], r2 = r[2 * right_step], r3 = r[3 * right_step];
      for (std::int64_t i = j; i < rows; ++i)
        c[i] -= (l[i] * r0 + l[i + left_step] * r1) + (l[i + 2 * left_step] * r2 + l[i + 3 * left_step] * r3);
    }
    for (; k < depth; ++k) {
      const double *l = left + k * left_step, r = right[k * right_step + j];
      for (std::int64_t i = j; i < rows; ++i) c[i] -= l[i] * r;
    }
  }
}

}  // namespace

// --- Factors

FactorMemory::FactorMemory(const Data& a)
    : local(a.size()),
      targets(a.size()),
      head(a.supernodes.count()),
      next(a.supernodes.count()),
      done(a.supernodes.count()) {
  std::int64_t largest = 0;
  for (std::int32_t s = 0; s < a.supernodes.count(); ++s)
    largest = std::max(largest, a.supernodes.rows(s) * a.supernodes.columns(s));
  scaled.allocate(largest), product.allocate(largest);
}

class Factorisation {
 public:
  Factorisation(const Data& a, const double* values, double* numbers, const FactorMemory& memory)
      : a_(a), nodes_(a.supernodes), values_(values), numbers_(numbers), m_(memory) {
    std::fill_n(m_.head.data(), nodes_.count(), no_node);
  }

  std::int64_t run() {
    for (std::int32_t s = 0; s < nodes_.count(); ++s) {
      const Panel panel = panel_of(s);
      read_values(s, panel);
      const std::int32_t first = nodes_.first[at(s)], end = nodes_.first[at(s + 1)];
      for (std::int32_t i = first; i < end; ++i) m_.local.data()[i] = i - first;
      std::int32_t row = end - first;
      for (const std::int32_t i : nodes_.below[s]) m_.local.data()[i] = row++;
      for (std::int32_t d = m_.head.data()[s], following; d != no_node; d = following) {
        following = m_.next.data()[d];
        subtract(d, panel, end);
      }
      if (const std::int64_t zero = factor(panel, 0, panel.columns); zero >= 0) return first + zero;
      m_.done.data()[s] = 0;
      wait_for_next(s);
    }
    return -1;
  }

 private:
  struct Panel {
    double *l, *u;  // the same where U is Lᵀ
    std::int64_t rows, columns;
  };
  Panel panel_of(std::int32_t s) const {
    double* const l = numbers_ + a_.panels[at(s)];
    const std::int64_t rows = nodes_.rows(s), columns = nodes_.columns(s);
    return {l, a_.is_symmetric ? l : l + rows * columns, rows, columns};
  }

  void read_values(std::int32_t s, const Panel& panel) const {
    std::fill(panel.l, numbers_ + a_.panels[at(s + 1)], 0.);
    const double part = a_.is_symmetric ? 0.5 : 1;
    for (const Entry& entry : a_.entries[s]) panel.l[entry.to] += part * values_[entry.place];
  }

  /// A supernode is subtracted next from that of its first row which is not done.
  void wait_for_next(std::int32_t s) const {
    const std::int64_t done = m_.done.data()[s];
    if (done == nodes_.below.size(s)) return;
    const std::int32_t target = nodes_.of_column[at(nodes_.below[s][at(done)])];
    m_.next.data()[s] = std::exchange(m_.head.data()[target], s);
  }

  /// From the panel of the columns before `end`, what the panel of d has for its rows and columns.
  void subtract(std::int32_t d, const Panel& from, std::int32_t end) const {
    const Panel panel = panel_of(d);
    const std::span<const std::int32_t> below = nodes_.below[d].subspan(at(m_.done.data()[d]));
    const auto rows = std::ssize(below);
    std::int64_t columns = 0;
    while (columns < rows && below[at(columns)] < end) ++columns;
    for (std::int64_t i = 0; i < rows; ++i) m_.targets.data()[i] = m_.local.data()[below[at(i)]];
    const std::int64_t first = panel.rows - rows;
    subtract(panel, panel.l + first, panel.u + first, rows, columns, from.l, from.rows);
    if (!a_.is_symmetric) subtract(panel, panel.u + first, panel.l + first, rows, columns, from.u, from.rows);
    m_.done.data()[d] += columns;
    wait_for_next(d);
  }
  void subtract(const Panel& panel, const double* left, const double* right, std::int64_t rows, std::int64_t columns,
                double* from, std::int64_t step) const {
    const std::int32_t* targets = m_.targets.data();
    if (panel.columns == 1) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const double r = right[j] * panel.l[0];
        double* c = from + targets[j] * step;
        for (std::int64_t i = j; i < rows; ++i) c[targets[i]] -= left[i] * r;
      }
      return;
    }
    double *scaled = m_.scaled.data(), *product = m_.product.data();
    scale(panel, right, columns, 0, panel.columns, scaled);
    const bool side_by_side = targets[rows - 1] - targets[0] == rows - 1;
    if (side_by_side) {
      subtract_product(rows, columns, panel.columns, left, panel.rows, scaled, columns,
                       from + targets[0] * step + targets[0], step);
      return;
    }
    std::fill_n(product, rows * columns, 0.);
    subtract_product(rows, columns, panel.columns, left, panel.rows, scaled, columns, product, rows);
    for (std::int64_t j = 0; j < columns; ++j) {
      double* c = from + targets[j] * step;
      for (std::int64_t i = j; i < rows; ++i) c[targets[i]] += product[j * rows + i];
    }
  }
  /// Rows of a panel's columns, times their pivots.
  void scale(const Panel& panel, const double* rows, std::int64_t count, std::int64_t begin, std::int64_t end,
             double* scaled) const {
    for (std::int64_t k = begin; k < end; ++k, scaled += count) {
      const double pivot = panel.l[k * panel.rows + k];
      for (std::int64_t i = 0; i < count; ++i) scaled[i] = rows[k * panel.rows + i] * pivot;
    }
  }

  /// Columns of a panel, from which all before them are subtracted: the left half, then the right.
  std::int64_t factor(const Panel& panel, std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t few = 8;
    if (end - begin <= few) return factor_few(panel, begin, end);
    const std::int64_t middle = begin + (end - begin + few) / 2 / few * few;
    const std::int64_t zero = factor(panel, begin, middle);
    if (zero >= 0) return zero;
    const auto subtract = [&](double* left, const double* right) {
      double* scaled = m_.scaled.data();
      scale(panel, right + middle, end - middle, begin, middle, scaled);
      subtract_product(panel.rows - middle, end - middle, middle - begin, left + begin * panel.rows + middle,
                       panel.rows, scaled, end - middle, left + middle * panel.rows + middle, panel.rows);
    };
    subtract(panel.l, panel.u);
    if (!a_.is_symmetric) subtract(panel.u, panel.l);
    return factor(panel, middle, end);
  }
  std::int64_t factor_few(const Panel& panel, std::int64_t begin, std::int64_t end) const {
    const std::int64_t rows = panel.rows;
    const auto subtract = [&](double* left, const double* right, std::int64_t k, double pivot) {
      const double* column = left + k * rows;
      for (std::int64_t j = k + 1; j < end; ++j) {
        const double r = right[k * rows + j] * pivot;
        double* c = left + j * rows;
        for (std::int64_t i = j; i < rows; ++i) c[i] -= column[i] * r;
      }
    };
    for (std::int64_t k = begin; k < end; ++k) {
      const double pivot = panel.l[k * rows + k];
      if (pivot == 0) return k;
      for (std::int64_t i = k + 1; i < rows; ++i) panel.l[k * rows + i] /= pivot;
      if (!a_.is_symmetric)
        for (std::int64_t i = k + 1; i < rows; ++i) panel.u[k * rows + i] /= pivot;
      subtract(panel.l, panel.u, k, pivot);
      if (!a_.is_symmetric) subtract(panel.u, panel.l, k, pivot);
    }
    return -1;
  }

  const Data& a_;
  const Supernodes& nodes_;
  const double* values_;
  double* numbers_;
  const FactorMemory& m_;
};

std::int64_t factor_matrix(const Data& a, const double* values, double* numbers, const FactorMemory& memory) {
  return Factorisation(a, values, numbers, memory).run();
}

// --- Substitution

namespace {

using kernels::fused, kernels::load, kernels::store, kernels::splat;
constexpr int width = kernels::max_lanes<double>;
using Register = kernels::Lanes<double, width>;

/// x + y z, as a lane of `fused` rounds it.
double fused_number(double x, double y, double sum) {
  return fused<double, width>(splat<width>(x), splat<width>(y), splat<width>(sum))[0];
}
/// Each half is added to the other.
template <int n>
double sum_of_lanes(kernels::Lanes<double, n> x) {
  if constexpr (n == 2) return x[0] + x[1];
  else return sum_of_lanes<n / 2>(kernels::add_halves<double, n>(x));
}
Register load_some(const double* from, std::int64_t count) {
  return count >= width ? load<width>(from) : kernels::load_first<width>(from, static_cast<int>(count));
}

/// One right-hand side. The sums are those of `ManyColumns`, term by term.
struct OneColumn {
  static constexpr std::int64_t step = 1;

  /// t[j + 1, rows) -= l t[j] for each of the columns j of a panel.
  static void subtract_columns(const double* l, std::int64_t rows, std::int64_t columns, double* t) {
    std::int64_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      const double* const c = l + j * rows;
      for (std::int64_t k = 0; k < 3; ++k)
        for (std::int64_t i = j + k + 1; i < j + 4; ++i) t[i] = fused_number(c[k * rows + i], -t[j + k], t[i]);
      const Register x0 = splat<width>(-t[j]), x1 = splat<width>(-t[j + 1]), x2 = splat<width>(-t[j + 2]),
                     x3 = splat<width>(-t[j + 3]);
      for (std::int64_t i = j + 4; i < rows; i += width) {
        const std::int64_t count = rows - i;
        Register sum = load_some(t + i, count);
        sum = fused<double, width>(load_some(c + i, count), x0, sum);
        sum = fused<double, width>(load_some(c + rows + i, count), x1, sum);
        sum = fused<double, width>(load_some(c + 2 * rows + i, count), x2, sum);
        sum = fused<double, width>(load_some(c + 3 * rows + i, count), x3, sum);
        store_some(t + i, sum, count);
      }
    }
    for (; j < columns; ++j) {
      const Register x = splat<width>(-t[j]);
      for (std::int64_t i = j + 1; i < rows; i += width)
        store_some(t + i, fused<double, width>(load_some(l + j * rows + i, rows - i), x, load_some(t + i, rows - i)),
                   rows - i);
    }
  }
  /// t[j] -= the sum of u t[j + 1, rows), for each of the columns j, from the last to the first.
  static void subtract_rows(const double* u, std::int64_t rows, std::int64_t columns, double* t) {
    for (std::int64_t j = columns; j-- > 0;) {
      const double* const c = u + j * rows;
      Register sums[2] = {};
      std::int64_t i = j + 1;
      for (; i + 2 * width <= rows; i += 2 * width) {
        sums[0] = fused<double, width>(load<width>(c + i), load<width>(t + i), sums[0]);
        sums[1] = fused<double, width>(load<width>(c + i + width), load<width>(t + i + width), sums[1]);
      }
      for (int half = 0; i < rows; i += width, ++half)
        sums[half] = fused<double, width>(load_some(c + i, rows - i), load_some(t + i, rows - i), sums[half]);
      t[j] -= sum_of_lanes<width>(sums[0] + sums[1]);
    }
  }
  static void store_some(double* to, Register x, std::int64_t count) {
    if (count >= width) store<width>(to, x);
    else kernels::store_first<width>(to, x, static_cast<int>(count));
  }
};

/// Some registers of right-hand sides beside each other.
struct ManyColumns {
  std::int64_t step;  // from a row of t to the next

  void subtract_columns(const double* l, std::int64_t rows, std::int64_t columns, double* t) const {
    for (std::int64_t first = 0; first < step; first += width) {
      double* const x = t + first;
      std::int64_t j = 0;
      for (; j + 4 <= columns; j += 4) {
        const double* const c = l + j * rows;
        Register x0 = -load<width>(x + j * step), x1 = load<width>(x + (j + 1) * step),
                 x2 = load<width>(x + (j + 2) * step), x3 = load<width>(x + (j + 3) * step);
        x1 = -fused<double, width>(splat<width>(c[j + 1]), x0, x1);
        x2 = fused<double, width>(splat<width>(c[j + 2]), x0, x2);
        x2 = -fused<double, width>(splat<width>(c[rows + j + 2]), x1, x2);
        x3 = fused<double, width>(splat<width>(c[j + 3]), x0, x3);
        x3 = fused<double, width>(splat<width>(c[rows + j + 3]), x1, x3);
        x3 = -fused<double, width>(splat<width>(c[2 * rows + j + 3]), x2, x3);
        store<width>(x + (j + 1) * step, -x1), store<width>(x + (j + 2) * step, -x2);
        store<width>(x + (j + 3) * step, -x3);
        for (std::int64_t i = j + 4; i < rows; ++i) {
          Register sum = load<width>(x + i * step);
          sum = fused<double, width>(splat<width>(c[i]), x0, sum);
          sum = fused<double, width>(splat<width>(c[rows + i]), x1, sum);
          sum = fused<double, width>(splat<width>(c[2 * rows + i]), x2, sum);
          sum = fused<double, width>(splat<width>(c[3 * rows + i]), x3, sum);
          store<width>(x + i * step, sum);
        }
      }
      for (; j < columns; ++j) {
        const Register xj = -load<width>(x + j * step);
        for (std::int64_t i = j + 1; i < rows; ++i) {
          double* const xi = x + i * step;
          store<width>(xi, fused<double, width>(splat<width>(l[j * rows + i]), xj, load<width>(xi)));
        }
      }
    }
  }
  void subtract_rows(const double* u, std::int64_t rows, std::int64_t columns, double* t) const {
    for (std::int64_t first = 0; first < step; first += width) {
      double* const x = t + first;
      for (std::int64_t j = columns; j-- > 0;) {
        const double* const c = u + j * rows;
        Register sums[2 * width] = {};
        std::int64_t i = j + 1;
        for (; i + 2 * width <= rows; i += 2 * width)
          kernels::unrolled<2 * width>([&](auto k) {
            sums[k] = fused<double, width>(splat<width>(c[i + k]), load<width>(x + (i + k) * step), sums[k]);
          });
        for (int k = 0; i < rows; ++i, ++k)
          sums[k] = fused<double, width>(splat<width>(c[i]), load<width>(x + i * step), sums[k]);
        for (int n = width; n > 0; n /= 2)
          for (int k = 0; k < n; ++k) sums[k] += sums[k + n];
        store<width>(x + j * step, load<width>(x + j * step) - sums[0]);
      }
    }
  }
};

/// `By` says what is done to the rows of a panel, each of `by.step` numbers.
template <class By>
void substitute(const Data& a, const double* numbers, bool transpose, double* x, double* t, const By& by) {
  const std::int64_t step = by.step;
  const Supernodes& nodes = a.supernodes;
  const auto panel = [&](std::int32_t s, bool of_u) {
    const std::int64_t behind = !a.is_symmetric && of_u ? nodes.rows(s) * nodes.columns(s) : 0;
    return numbers + a.panels[at(s)] + behind;
  };
  for (std::int32_t s = 0; s < nodes.count(); ++s) {
    const std::int64_t rows = nodes.rows(s), columns = nodes.columns(s);
    double* const own = x + nodes.first[at(s)] * step;
    if (columns == 1) {
      const double* l = panel(s, transpose);
      for (const std::int32_t i : nodes.below[s]) {
        ++l;
        for (std::int64_t c = 0; c < step; ++c) x[i * step + c] -= *l * own[c];
      }
      continue;
    }
    std::copy_n(own, columns * step, t);
    std::fill_n(t + columns * step, (rows - columns) * step, 0.);
    by.subtract_columns(panel(s, transpose), rows, columns, t);
    std::copy_n(t, columns * step, own);
    const double* row = t + columns * step;
    for (const std::int32_t i : nodes.below[s])
      for (std::int64_t c = 0; c < step; ++c) x[i * step + c] += *row++;
  }
  for (std::int32_t s = nodes.count(); s-- > 0;) {
    const std::int64_t rows = nodes.rows(s), columns = nodes.columns(s);
    double *const own = x + nodes.first[at(s)] * step, *to = t;
    const double* const l = panel(s, false);
    if (columns == 1) {
      const double* u = panel(s, !transpose);
      for (std::int64_t c = 0; c < step; ++c) own[c] /= *l;
      for (const std::int32_t i : nodes.below[s]) {
        ++u;
        for (std::int64_t c = 0; c < step; ++c) own[c] -= *u * x[i * step + c];
      }
      continue;
    }
    for (std::int64_t k = 0; k < columns; ++k)
      for (std::int64_t c = 0; c < step; ++c) *to++ = own[k * step + c] / l[k * rows + k];
    for (const std::int32_t i : nodes.below[s])
      for (std::int64_t c = 0; c < step; ++c) *to++ = x[i * step + c];
    by.subtract_rows(panel(s, !transpose), rows, columns, t);
    std::copy_n(t, columns * step, own);
  }
}

}  // namespace

std::int64_t padded(std::int64_t columns) { return columns == 1 ? 1 : (columns + width - 1) / width * width; }
std::int64_t most_rows(const Data& a) {
  std::int64_t most = 0;
  for (std::int32_t s = 0; s < a.supernodes.count(); ++s) most = std::max(most, a.supernodes.rows(s));
  return most;
}

void substitute(const Data& a, const double* numbers, bool transpose, double* x, double* work, std::int64_t columns) {
  const std::int64_t step = padded(columns);
  if (step == 1) substitute(a, numbers, transpose, x, work, OneColumn{});
  else substitute(a, numbers, transpose, x, work, ManyColumns{step});
}

}  // namespace ricci::sparse
