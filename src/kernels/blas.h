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

/// Decompositions of real matrices: T is float or double.
template <class T>
struct Decompositions {
  void (*syevd)(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* values, T* work,
                const int* work_size, int* integers, const int* integers_size, int* info, std::size_t, std::size_t);
  void (*gesdd)(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt,
                const int* ldvt, T* work, const int* work_size, int* integers, int* info, std::size_t);
};

/// The table of T: float, double or a complex of them. Safe to call from any thread, and so are the routines.
/// Throws std::runtime_error if OpenBLAS cannot be loaded.
template <class T>
const Blas<T>& blas();
template <class T>
const Decompositions<T>& decompositions();

/// How many threads the libraries may use: RICCI_THREADS if that is set, else OpenBLAS's own choice when it was loaded,
/// the cores it may run on.
int blas_threads();

/// Whether this many multiply-adds are worth several threads, if there are such. Fewer take one core less than about
/// 100 us; where another program uses a core too, the threads may wait for each other for milliseconds.
bool is_worth_threads(std::int64_t multiply_adds);

/// While it lives, OpenMP, and with it oneDNN, does what the calling thread asks for on one thread, or on several:
/// RICCI_THREADS of them if that is set, else as many as OpenMP chooses.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(bool several);
  OpenMpThreads(const OpenMpThreads&) = delete;
  ~OpenMpThreads();

 private:
  int before_ = 0;  // 0: unchanged
};

/// While it lives, OpenBLAS computes on one thread, unless `several`. The number of its threads is the process's: what
/// other threads ask of it meanwhile has one as well, also what those ask that want several.
class BlasThreads {
 public:
  explicit BlasThreads(bool several);
  BlasThreads(const BlasThreads&) = delete;
  ~BlasThreads();

 private:
  const bool limits_;
  const OpenMpThreads openmp_;  // where OpenBLAS was built to use OpenMP
};

/// The CPU family whose kernels OpenBLAS runs, e.g. "SkylakeX".
const char* blas_core();

/// Whether a size or leading dimension can be handed to BLAS.
constexpr bool fits_blas(std::int64_t size) { return size <= std::numeric_limits<int>::max(); }

}  // namespace ricci::kernels
