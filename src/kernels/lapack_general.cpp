// LAPACK is column-major: a matrix is copied into the transpose of a row-major one.
#include "kernels/lapack_general.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/blas.h"
#include "kernels/matmul_copy.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// m × n, column-major.
template <class T>
struct Columns {
  Scratch<T> memory;
  Matrix<T> matrix;

  Columns(std::int64_t m, std::int64_t n) : memory(m * n), matrix(row_major(memory.data(), n, m).transposed()) {}
  T* data() const { return memory.data(); }
};

/// m × n, column-major, with some memory between columns: those that are a power of two apart share few cache lines (qr
/// of [4096, 64] takes 1.4 times as long).
template <class T>
struct SpacedColumns {
  int leading;
  Scratch<T> memory;
  Matrix<T> matrix;

  SpacedColumns(std::int64_t m, std::int64_t n)
      : leading(static_cast<int>(m) + spacing(m)), memory(leading * n), matrix{memory.data(), m, n, 1, leading} {}
  T* at(std::int64_t i, std::int64_t j) const { return &matrix(i, j); }

 private:
  static int spacing(std::int64_t m) { return m >= 256 ? 64 / static_cast<int>(sizeof(T)) : 0; }
};

template <class T>
constexpr const char* adjoint = std::is_floating_point_v<T> ? "T" : "C";

/// Reflections in blocks of 16, those of a block applied together. LAPACK has blocks of 32, and takes matrices with 128
/// reflections or fewer one by one.
template <class T>
class Reflections {
 public:
  /// Of a, in whose place r and the reflections are then.
  explicit Reflections(const SpacedColumns<T>& a)
      : a_(a),
        m_(static_cast<int>(a.matrix.rows)),
        count_(static_cast<int>(std::min(a.matrix.rows, a.matrix.cols))),
        triangles_(block * std::int64_t{count_}),
        work_(block * std::max<std::int64_t>(a.matrix.cols, block)) {
    const int n = static_cast<int>(a.matrix.cols);
    const Scratch<T> scales(block);
    for (int i = 0; i < count_; i += block) {
      const int rows = m_ - i, size = std::min(block, count_ - i);
      int info = 0;
      orthogonal<T>()->geqr2(&rows, &size, a.at(i, i), &a.leading, scales.data(), work_.data(), &info);
      orthogonal<T>()->larft("F", "C", &rows, &size, a.at(i, i), &a.leading, scales.data(), triangle(i), &block, 1, 1);
      if (i + size < n) apply(i, adjoint<T>, a, i + size, n - i - size, work_.data());
    }
  }
  /// q's first columns.
  void write_product(const SpacedColumns<T>& q) const {
    const int columns = static_cast<int>(q.matrix.cols);
    std::fill_n(q.memory.data(), std::int64_t{q.leading} * columns, T(0));
    for (int i = 0; i < columns; ++i) *q.at(i, i) = T(1);
    const Scratch<T> work(std::int64_t{block} * columns);
    for (int i = (count_ - 1) / block * block; i >= 0; i -= block) apply(i, "N", q, i, columns - i, work.data());
  }

 private:
  static constexpr int block = 16;

  T* triangle(int i) const { return triangles_.data() + std::int64_t{block} * i; }
  /// The block of reflection i, or its adjoint, times rows i and those below of columns [first, first + columns) of c.
  void apply(int i, const char* op, const SpacedColumns<T>& c, int first, int columns, T* work) const {
    const int rows = m_ - i, size = std::min(block, count_ - i);
    orthogonal<T>()->larfb("L", op, "F", "C", &rows, &columns, &size, a_.at(i, i), &a_.leading, triangle(i), &block,
                           c.at(i, first), &c.leading, work, &columns, 1, 1, 1, 1);
  }

  const SpacedColumns<T>& a_;
  int m_, count_;
  Scratch<T> triangles_, work_;
};

/// run(work, size) with as much working memory as LAPACK wants: asked with size -1, it says so in work[0].
template <class T, class Run>
void with_work(const Run& run) {
  T best = 0;
  const int ask = -1;
  run(&best, &ask);
  const int size = std::max(
      1, static_cast<int>(std::nextafter(static_cast<float>(std::real(best)), std::numeric_limits<float>::infinity())));
  const Scratch<T> work(size);
  run(work.data(), &size);
}

/// Working memory for `columns` columns and so many reflections: LAPACK takes 32 at a time. To ask it how much it wants
/// takes as long as a small matrix does.
int work_size(int columns, int reflections) {
  const std::int64_t wanted = std::int64_t{columns} * std::clamp(reflections, 1, 32);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::numeric_limits<int>::max()));
}

/// R and, below it, the reflections, in the place of a.
template <class T>
void factor(int m, int n, T* a, int leading, T* scales) {
  int info = 0;
  const int size = work_size(n, std::min(m, n));
  const Scratch<T> work(size);
  orthogonal<T>()->geqrf(&m, &n, a, &leading, scales, work.data(), &size, &info);
}

/// Values, and the vectors unless `vectors` is null; a is used up.
template <class T>
int run_geev(int n, const Columns<T>& a, complex_of<T>* values, const Columns<complex_of<T>>* vectors) {
  int info = 0;
  const int one = 1;
  const char* const job = vectors ? "V" : "N";
  if constexpr (std::is_floating_point_v<T>) {
    const Columns<T> right(vectors ? n : 1, vectors ? n : 1);
    const Scratch<T> re(n), im(n);
    with_work<T>([&](T* work, const int* size) {
      spectra<T>()->geev("N", job, &n, a.data(), &n, re.data(), im.data(), nullptr, &one, right.data(), &n, work, size,
                         &info, 1, 1);
    });
    if (info != 0) return info;
    for (std::int64_t j = 0; j < n; ++j) values[j] = {re.data()[j], im.data()[j]};
    if (!vectors) return 0;
    for (std::int64_t j = 0; j < n; ++j) {  // of a conjugate pair the real part is in one column, the other in the next
      const bool is_pair = im.data()[j] != T(0);
      for (std::int64_t i = 0; i < n; ++i) {
        const T x = right.matrix(i, j), y = is_pair ? right.matrix(i, j + 1) : T(0);
        vectors->matrix(i, j) = {x, y};
        if (is_pair) vectors->matrix(i, j + 1) = {x, -y};
      }
      j += is_pair ? 1 : 0;
    }
  } else {
    const Scratch<typename T::value_type> reals(2 * n);
    with_work<T>([&](T* work, const int* size) {
      spectra<T>()->geev("N", job, &n, a.data(), &n, values, nullptr, &one, vectors ? vectors->data() : nullptr, &n,
                         work, size, reals.data(), &info, 1, 1);
    });
  }
  return info;
}

/// Overwrites a with t.
template <class T>
int run_gees(int n, const Columns<T>& a, const Columns<T>& z) {
  int info = 0, sorted = 0;
  const Scratch<complex_of<T>> values(n);
  if constexpr (std::is_floating_point_v<T>) {
    T* const parts = reinterpret_cast<T*>(values.data());
    with_work<T>([&](T* work, const int* size) {
      spectra<T>()->gees("V", "N", nullptr, &n, a.data(), &n, &sorted, parts, parts + n, z.data(), &n, work, size,
                         nullptr, &info, 1, 1);
    });
  } else {
    const Scratch<real_of<T>> reals(n);
    with_work<T>([&](T* work, const int* size) {
      spectra<T>()->gees("V", "N", nullptr, &n, a.data(), &n, &sorted, values.data(), z.data(), &n, work, size,
                         reals.data(), nullptr, &info, 1, 1);
    });
  }
  return info;
}

/// Puts the greater element beside the diagonal of a block above it. Where LAPACK has it changes with the number of its
/// iterations.
template <class T>
void order_in_blocks(const Matrix<T>& t, const Matrix<T>& z) {
  for (std::int64_t j = 0; j + 1 < t.rows; ++j) {
    if (std::abs(t(j + 1, j)) <= std::abs(t(j, j + 1)) || t(j + 1, j) == T(0)) continue;
    for (std::int64_t i = 0; i < t.rows; ++i) std::swap(t(j, i), t(j + 1, i));
    for (std::int64_t i = 0; i < t.rows; ++i) std::swap(t(i, j), t(i, j + 1));
    for (std::int64_t i = 0; i < t.rows; ++i) std::swap(z(i, j), z(i, j + 1));
  }
}

}  // namespace

template <class T>
void geqrf_of_one(Matrix<T> packed, Matrix<T> scales, Matrix<const T> a) {
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.cols);
  const Columns<T> x(m, n);
  const Scratch<T> tau(std::min(m, n));
  copy_matrix(x.matrix, a);
  factor(m, n, x.data(), m, tau.data());
  copy_matrix(packed, x.matrix);
  copy_matrix(scales, row_major(tau.data(), scales.rows, 1));
}

template <class T>
void qr_of_one(Matrix<T> q, Matrix<T> r, Matrix<const T> a) {
  constexpr int fewest_in_blocks = 17, most_in_blocks = 256;
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.cols), columns = static_cast<int>(q.cols),
            reflections = std::min(m, n);
  const bool in_blocks = reflections >= fewest_in_blocks && reflections <= most_in_blocks;
  const SpacedColumns<T> x(m, in_blocks ? n : std::max(n, columns));
  copy_matrix(x.matrix.part(0, m, 0, n), a);
  const auto write_r = [&] {
    copy_matrix(r, x.matrix.part(0, r.rows, 0, n));
    for (std::int64_t i = 1; i < r.rows; ++i)
      for (std::int64_t j = 0; j < std::min<std::int64_t>(i, n); ++j) r(i, j) = T(0);
  };
  if (in_blocks) {
    const Reflections<T> all(x);
    write_r();
    const SpacedColumns<T> product(m, columns);
    all.write_product(product);
    return copy_matrix(q, product.matrix);
  }
  const Scratch<T> scales(reflections);
  factor(m, n, x.at(0, 0), x.leading, scales.data());
  write_r();
  int info = 0;
  const int size = work_size(columns, reflections);
  const Scratch<T> work(size);
  orthogonal<T>()->orgqr(&m, &columns, &reflections, x.at(0, 0), &x.leading, scales.data(), work.data(), &size, &info);
  copy_matrix(q, x.matrix.part(0, m, 0, columns));
}

template <class T>
int eig_of_one(Matrix<complex_of<T>> values, Matrix<complex_of<T>> vectors, Matrix<const T> a) {
  const int n = static_cast<int>(a.rows);
  if (!is_finite(a)) return not_finite;
  const Columns<T> x(n, n);
  copy_matrix(x.matrix, a);
  const Scratch<complex_of<T>> w(n);
  const Columns<complex_of<T>> v(n, n);
  const int info = run_geev<T>(n, x, w.data(), &v);
  if (info != 0) return info;
  copy_matrix(values, row_major(w.data(), n, 1));
  for (std::int64_t j = 0; j < n; ++j) {
    const complex_of<T> phase = phase_of_greatest(v.matrix, j);
    for (std::int64_t i = 0; i < n; ++i) vectors(i, j) = v.matrix(i, j) * phase;
  }
  return 0;
}

template <class T>
int eigvals_of_one(Matrix<complex_of<T>> values, Matrix<const T> a) {
  const int n = static_cast<int>(a.rows);
  if (!is_finite(a)) return not_finite;
  const Columns<T> x(n, n);
  copy_matrix(x.matrix, a);
  const Scratch<complex_of<T>> w(n);
  const int info = run_geev<T>(n, x, w.data(), nullptr);
  copy_matrix(values, row_major(w.data(), n, 1));
  return info;
}

template <class T>
int schur_of_one(Matrix<T> t, Matrix<T> z, Matrix<const T> a) {
  constexpr bool is_real = std::is_floating_point_v<T>;
  const int n = static_cast<int>(a.rows);
  if (!is_finite(a)) return not_finite;
  const Columns<T> form(n, n), vectors(n, n);
  copy_matrix(form.matrix, a);
  if (const int info = run_gees(n, form, vectors); info != 0) return info;
  if constexpr (is_real) order_in_blocks(form.matrix, vectors.matrix);
  for (std::int64_t j = 0; j < n; ++j) {  // column j of z times a factor of size 1, row j of t divided by it
    const T factor = phase_of_greatest(vectors.matrix, j);
    T inverse = factor;
    if constexpr (!is_real) inverse = std::conj(factor);
    for (std::int64_t i = 0; i < n; ++i) {
      vectors.matrix(i, j) *= factor;
      if (i == j) continue;
      form.matrix(i, j) *= factor;
      form.matrix(j, i) *= inverse;
    }
  }
  const std::int64_t beside = is_real ? 1 : 0;  // the diagonal, in blocks of two
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j + 1; i < n; ++i)
      if (i > j + beside || form.matrix(i, j) == T(0)) form.matrix(i, j) = T(0);  // and not -0
  copy_matrix(t, form.matrix);
  copy_matrix(z, vectors.matrix);
  return 0;
}

#define RICCI_LAPACK_GENERAL(T)                                                              \
  template void qr_of_one(Matrix<T>, Matrix<T>, Matrix<const T>);                            \
  template void geqrf_of_one(Matrix<T>, Matrix<T>, Matrix<const T>);                         \
  template int eig_of_one<T>(Matrix<complex_of<T>>, Matrix<complex_of<T>>, Matrix<const T>); \
  template int eigvals_of_one<T>(Matrix<complex_of<T>>, Matrix<const T>);                    \
  template int schur_of_one(Matrix<T>, Matrix<T>, Matrix<const T>);
RICCI_LAPACK_GENERAL(float)
RICCI_LAPACK_GENERAL(double)
RICCI_LAPACK_GENERAL(std::complex<float>)
RICCI_LAPACK_GENERAL(std::complex<double>)

}  // namespace ricci::kernels
