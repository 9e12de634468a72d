// Loads OpenBLAS and looks its routines up. The library is loaded, not linked, because OpenBLAS chooses its kernels
// once, when it is loaded, by the CPUs it knows; a CPU younger than the library may get AVX2 kernels (sgemm, n = 1024,
// one core: 128 GF/s where the AVX-512 kernels reach 225). The choice must be in the environment before that.
#include "kernels/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>

#include "kernels/machine.h"

#ifndef RICCI_OPENBLAS_LIBRARY
#define RICCI_OPENBLAS_LIBRARY "libopenblas.so.0"
#endif

namespace ricci::kernels {
namespace {

// The variable is removed again, so that child processes do not inherit it. A getenv on another thread during the first
// matrix product races with this, as with any setenv.
void* load_with_avx512_kernels() {
  setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 1);
  void* library = dlopen(RICCI_OPENBLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  unsetenv("OPENBLAS_CORETYPE");
  return library;
}

void* load() {
  void* library = dlopen(RICCI_OPENBLAS_LIBRARY, RTLD_NOW | RTLD_NOLOAD);  // the process may have it already
  if (library == nullptr && cpu_has_avx512() && getenv("OPENBLAS_CORETYPE") == nullptr) {
    library = load_with_avx512_kernels();
  }
  if (library == nullptr) library = dlopen(RICCI_OPENBLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library != nullptr) return library;
  throw std::runtime_error(std::string("ricci: cannot load OpenBLAS (") + dlerror() +
                           "); install libopenblas0, or build with RICCI_OPENBLAS_LIBRARY naming the library");
}

template <class Function>
void look_up(void* library, Function*& function, const std::string& name) {
  function = reinterpret_cast<Function*>(dlsym(library, name.c_str()));
  if (function == nullptr) throw std::runtime_error("ricci: " RICCI_OPENBLAS_LIBRARY " has no function " + name);
}

template <class T>
Blas<T> look_up_all(void* library, const std::string& letter) {
  Blas<T> table;
  look_up(library, table.gemm, letter + "gemm_");
  look_up(library, table.gemv, letter + "gemv_");
  look_up(library, table.trsm, letter + "trsm_");
  look_up(library, table.trsv, letter + "trsv_");
  look_up(library, table.potrf, letter + "potrf_");
  look_up(library, table.getrf, letter + "getrf_");
  look_up(library, table.getri, letter + "getri_");
  return table;
}

template <class T>
Decompositions<T> look_up_decompositions(void* library, const std::string& letter) {
  Decompositions<T> table;
  look_up(library, table.syevd, letter + "syevd_");
  look_up(library, table.gesdd, letter + "gesdd_");
  return table;
}

/// 0 if the user has not said. ThreadSanitizer cannot see how OpenBLAS and OpenMP hand work to their threads, though it
/// sees those threads call memset and free; so under it there are none.
int wanted_threads() {
#if defined(__SANITIZE_THREAD__)
  return 1;
#endif
  static const int wanted = [] {
    const char* text = getenv("RICCI_THREADS");
    return text == nullptr ? 0 : std::max(0, std::atoi(text));
  }();
  return wanted;
}

struct OpenBlas {
  void* library = load();
  Blas<float> s = look_up_all<float>(library, "s");
  Blas<double> d = look_up_all<double>(library, "d");
  Blas<std::complex<float>> c = look_up_all<std::complex<float>>(library, "c");
  Blas<std::complex<double>> z = look_up_all<std::complex<double>>(library, "z");
  Decompositions<float> s_decompositions = look_up_decompositions<float>(library, "s");
  Decompositions<double> d_decompositions = look_up_decompositions<double>(library, "d");
  int (*get_num_threads)();
  void (*set_num_threads)(int);
  char* (*get_corename)();
  int threads;
  bool has_own_threads;  // and not OpenMP's

  OpenBlas() {
    constexpr int own = 1;
    int (*get_parallel)();
    look_up(library, get_parallel, "openblas_get_parallel");
    has_own_threads = get_parallel() == own;
    look_up(library, get_num_threads, "openblas_get_num_threads");
    look_up(library, set_num_threads, "openblas_set_num_threads");
    look_up(library, get_corename, "openblas_get_corename");
    if (wanted_threads() != 0) set_num_threads(wanted_threads());
    threads = get_num_threads();
  }
};

const OpenBlas& open_blas() {
  static const OpenBlas instance;
  return instance;
}

/// Looked up because the OpenMP runtime comes with oneDNN; this library does not use it.
struct OpenMp {
  int (*get_max_threads)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  void (*set_num_threads)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
};

const OpenMp& open_mp() {
  static const OpenMp instance;
  return instance;
}

}  // namespace

template <>
const Blas<float>& blas<float>() {
  return open_blas().s;
}
template <>
const Blas<double>& blas<double>() {
  return open_blas().d;
}
template <>
const Blas<std::complex<float>>& blas<std::complex<float>>() {
  return open_blas().c;
}
template <>
const Blas<std::complex<double>>& blas<std::complex<double>>() {
  return open_blas().z;
}
template <>
const Decompositions<float>& decompositions<float>() {
  return open_blas().s_decompositions;
}
template <>
const Decompositions<double>& decompositions<double>() {
  return open_blas().d_decompositions;
}

int blas_threads() { return open_blas().threads; }

// A network of 64, 128 and 10 units with batches of 128, on two idle cores: 40,000 samples a second where products of more
// than 400,000 multiply-adds use both, 65,000 where those of more than 1,200,000 do, 90,000 where none of its products
// does. A meeting of threads that sleep takes some 50 us, and OpenBLAS's and OpenMP's also take the cores from each other.
bool is_worth_threads(std::int64_t multiply_adds) { return multiply_adds > 4'000'000 && blas_threads() > 1; }

OpenMpThreads::OpenMpThreads(bool several) {
  const OpenMp& omp = open_mp();
  const int wanted = several ? wanted_threads() : 1;
  if (wanted == 0 || omp.get_max_threads == nullptr || omp.set_num_threads == nullptr) return;
  before_ = omp.get_max_threads();
  omp.set_num_threads(wanted);
}
OpenMpThreads::~OpenMpThreads() {
  if (before_ != 0) open_mp().set_num_threads(before_);
}

namespace {

/// Of the process: how many ask for one thread now, and what the number was before the first of them asked.
struct BlasLimit {
  std::mutex mutex;
  int askers = 0, before = 0;
};
constinit BlasLimit limit;

}  // namespace

BlasThreads::BlasThreads(bool several)
    : limits_(!several && open_blas().has_own_threads && blas_threads() > 1), openmp_(several) {
  if (!limits_) return;
  const std::lock_guard lock(limit.mutex);
  if (limit.askers++ > 0) return;
  limit.before = open_blas().get_num_threads();
  open_blas().set_num_threads(1);
}
BlasThreads::~BlasThreads() {
  if (!limits_) return;
  const std::lock_guard lock(limit.mutex);
  const bool is_last = --limit.askers == 0;
  const bool is_ours = open_blas().get_num_threads() == 1;  // another one the program has set, and it stays
  if (is_last && is_ours) open_blas().set_num_threads(limit.before);
}

const char* blas_core() { return open_blas().get_corename(); }

}  // namespace ricci::kernels
