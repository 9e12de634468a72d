// Loads OpenBLAS and looks its routines up. The library is loaded, not linked, because OpenBLAS chooses its kernels
// once, when it is loaded, by the CPUs it knows; a CPU younger than the library may get AVX2 kernels (sgemm, n = 1024,
// one core: 128 GF/s where the AVX-512 kernels reach 225). The choice must be in the environment before that.
#include "kernels/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#ifndef RICCI_OPENBLAS_LIBRARY
#define RICCI_OPENBLAS_LIBRARY "libopenblas.so.0"
#endif

namespace ricci::kernels {
namespace {

bool cpu_has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

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
  const char* text = getenv("RICCI_THREADS");
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
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
  char* (*get_corename)();

  OpenBlas() {
    look_up(library, get_num_threads, "openblas_get_num_threads");
    look_up(library, get_corename, "openblas_get_corename");
    if (wanted_threads() == 0) return;
    void (*set_num_threads)(int);
    look_up(library, set_num_threads, "openblas_set_num_threads");
    set_num_threads(wanted_threads());
  }
};

const OpenBlas& open_blas() {
  static const OpenBlas instance;
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

// The number is an internal variable of each thread, so each thread sets it once. The function is looked up because the
// OpenMP runtime comes with oneDNN; this library does not use it.
void limit_openmp_threads() {
  thread_local bool done = false;
  if (done) return;
  done = true;
  const auto set_num_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set_num_threads != nullptr && wanted_threads() > 0) set_num_threads(wanted_threads());
}

int blas_threads() { return open_blas().get_num_threads(); }
const char* blas_core() { return open_blas().get_corename(); }

}  // namespace ricci::kernels
