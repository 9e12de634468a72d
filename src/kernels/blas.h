// The BLAS and LAPACK entry points the kernels call, from an OpenBLAS that is loaded on first use.
// Knows nothing of shapes or strides. Everything is column-major and Fortran-called, so that one table serves the four
// element types; matrix sizes are 32-bit. Start with `blas<T>()`.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ricci::kernels {

/// Fortran routines for one element type. The trailing sizes are the lengths of the character arguments: pass 1 each.
template <class T>
struct Blas {
  void (*gemm)(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha, const T* a,
               const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc, std::size_t,
               std::size_t);
  void (*gemv)(const char* op, const int* m, const int* n, const T* alpha, const T* a, const int* lda, const T* x,
               const int* incx, const T* beta, T* y, const int* incy, std::size_t);
  void (*trsm)(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,
               const T* alpha, const T* a, const int* lda, T* b, const int* ldb, std::size_t, std::size_t, std::size_t,
               std::size_t);
  void (*trsv)(const char* uplo, const char* op, const char* diag, const int* n, const T* a, const int* lda, T* x,
               const int* incx, std::size_t, std::size_t, std::size_t);
  void (*potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info, std::size_t);
  void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);
  void (*getri)(const int* n, T* a, const int* lda, const int* pivots, T* work, const int* work_size, int* info);
};

/// Orthogonal factors: T is float, double or a complex of them.
template <class T>
struct Orthogonal {
  void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* scales, T* work, const int* work_size, int* info);
  /// orgqr, ungqr for complex numbers.
  void (*orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* scales, T* work,
                const int* work_size, int* info);
  /// geqrf, one reflection after another.
  void (*geqr2)(const int* m, const int* n, T* a, const int* lda, T* scales, T* work, int* info);
  /// The triangle t with which k reflections v are 1 - v t vᴴ.
  void (*larft)(const char* direction, const char* storage, const int* m, const int* k, const T* v, const int* ldv,
                const T* scales, T* t, const int* ldt, std::size_t, std::size_t);
  /// Applies these to c.
  void (*larfb)(const char* side, const char* op, const char* direction, const char* storage, const int* m,
                const int* n, const int* k, const T* v, const int* ldv, const T* t, const int* ldt, T* c,
                const int* ldc, T* work, const int* ldwork, std::size_t, std::size_t, std::size_t, std::size_t);
};

/// L D Lᵀ and L D Lᴴ of indefinite matrices; those of real numbers are one.
template <class T>
struct Indefinite {
  using Factor = void (*)(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work,
                          const int* work_size, int* info, std::size_t);
  Factor sytrf, hetrf;
};

/// Eigenvalues and singular values. Of general matrices, real ones give the two parts of a value apart.
template <class T>
struct Spectra {
  void (*geev)(const char* left, const char* right, const int* n, T* a, const int* lda, T* re, T* im, T* vl,
               const int* ldvl, T* vr, const int* ldvr, T* work, const int* work_size, int* info, std::size_t,
               std::size_t);
  void (*gees)(const char* job, const char* sort, void (*select)(), const int* n, T* a, const int* lda, int* sorted,
               T* re, T* im, T* z, const int* ldz, T* work, const int* work_size, int* flags, int* info, std::size_t,
               std::size_t);
  void (*syevd)(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* values, T* work,
                const int* work_size, int* integers, const int* integers_size, int* info, std::size_t, std::size_t);
  void (*gesdd)(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt,
                const int* ldvt, T* work, const int* work_size, int* integers, int* info, std::size_t);
};
template <class T>
struct Spectra<std::complex<T>> {
  using C = std::complex<T>;
  void (*geev)(const char* left, const char* right, const int* n, C* a, const int* lda, C* values, C* vl,
               const int* ldvl, C* vr, const int* ldvr, C* work, const int* work_size, T* reals, int* info, std::size_t,
               std::size_t);
  void (*gees)(const char* job, const char* sort, void (*select)(), const int* n, C* a, const int* lda, int* sorted,
               C* values, C* z, const int* ldz, C* work, const int* work_size, T* reals, int* flags, int* info,
               std::size_t, std::size_t);
  /// heevd.
  void (*syevd)(const char* job, const char* uplo, const int* n, C* a, const int* lda, T* values, C* work,
                const int* work_size, T* reals, const int* reals_size, int* integers, const int* integers_size,
                int* info, std::size_t, std::size_t);
  void (*gesdd)(const char* job, const int* m, const int* n, C* a, const int* lda, T* s, C* u, const int* ldu, C* vt,
                const int* ldvt, C* work, const int* work_size, T* reals, int* integers, int* info, std::size_t);
};

// The libraries compute on the thread that calls them: how they would cut a product among threads of their own, and so
// its bits, depends on the number of threads. Kernels cut large calls into tiles that depend on the sizes alone and
// give these to the pool (`ricci/primitive/parallel.h`).

/// While it lives, OpenMP, and with it oneDNN, does what this thread asks for on this thread alone.
class OneOpenMpThread {
 public:
  OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  ~OneOpenMpThread();

 private:
  int before_ = 0;  // 0: unchanged
};

/// While it lives, OpenBLAS computes on the calling thread. If the program itself has loaded OpenBLAS, the number of
/// its threads is the program's: what other threads ask of it meanwhile has one as well.
class OneBlasThread {
 public:
  OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  ~OneBlasThread();

 private:
  const OneOpenMpThread openmp_;  // where OpenBLAS was built to use OpenMP
};

/// A table whose routines compute on the calling thread while this lives: in `blas<T>()->trsm(…)`, during the call.
template <class Table>
class OnOneThread {
 public:
  explicit OnOneThread(const Table& table) : table_(table) {}
  const Table* operator->() const { return &table_; }

 private:
  const OneBlasThread one_thread_;
  const Table& table_;
};

/// The table of T: float, double or a complex of them. Safe to call from any thread, and so are the routines.
/// Throws std::runtime_error if OpenBLAS cannot be loaded.
template <class T>
OnOneThread<Blas<T>> blas();
template <class T>
OnOneThread<Orthogonal<T>> orthogonal();
template <class T>
OnOneThread<Indefinite<T>> indefinite();
template <class T>
OnOneThread<Spectra<T>> spectra();

/// The CPU family whose kernels OpenBLAS runs, e.g. "SkylakeX".
const char* blas_core();

/// Whether a size or leading dimension can be handed to BLAS.
constexpr bool fits_blas(std::int64_t size) { return size <= std::numeric_limits<int>::max(); }

}  // namespace ricci::kernels
