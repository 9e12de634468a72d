// Loads OpenBLAS and looks its routines up. The library is loaded, not linked, because OpenBLAS chooses its kernels
// once, when it is loaded, by the CPUs it knows; a CPU younger than the library may get AVX2 kernels (sgemm, n = 1024,
// one core: 128 GF/s where the AVX-512 kernels reach 225). The choice must be in the environment before that.
#include "kernels/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/machine.h"

#ifndef RICCI_OPENBLAS_LIBRARY
#define RICCI_OPENBLAS_LIBRARY "libopenblas.so.0"
#endif

namespace ricci::kernels {
namespace {

/// A variable of the environment while it lives, if the user has not set it. It is removed again, so that child
/// processes do not inherit it. A getenv on another thread during the first matrix product races with this, as with any
/// setenv.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(getenv(name) == nullptr ? name : nullptr) {
    if (name_ != nullptr) setenv(name_, value, 1);
  }
  ~Setting() {
    if (name_ != nullptr) unsetenv(name_);
  }
  Setting(const Setting&) = delete;

 private:
  const char* name_;
};

/// Where it was when the library was built, or, in a package that brings it along, where the loader looks for it.
void* open_library(int flags) {
  void* const library = dlopen(RICCI_OPENBLAS_LIBRARY, flags);
  return library != nullptr ? library : dlopen("libopenblas.so.0", flags);
}

void* load_with_our_settings() {
  std::optional<Setting> kernels;
  if (cpu_has_avx512()) kernels.emplace("OPENBLAS_CORETYPE", "SKYLAKEX");
  const Setting threads("OPENBLAS_NUM_THREADS", "1");  // which starts none
  return open_library(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/// The library, and whether the program had it before.
struct Loaded {
  void* library;
  bool is_shared;
};

Loaded load() {
  if (void* library = open_library(RTLD_NOW | RTLD_NOLOAD); library != nullptr) return {library, true};
  if (void* library = load_with_our_settings(); library != nullptr) return {library, false};
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
struct Factors {
  Orthogonal<T> orthogonal;
  Indefinite<T> indefinite;
  Spectra<T> spectra;

  Factors(void* library, const std::string& letter) {
    look_up(library, orthogonal.geqrf, letter + "geqrf_");
    look_up(library, orthogonal.orgqr, letter + (std::is_floating_point_v<T> ? "orgqr_" : "ungqr_"));
    look_up(library, indefinite.sytrf, letter + "sytrf_");
    look_up(library, indefinite.hetrf, letter + (std::is_floating_point_v<T> ? "sytrf_" : "hetrf_"));
    look_up(library, orthogonal.geqr2, letter + "geqr2_");
    look_up(library, orthogonal.larft, letter + "larft_");
    look_up(library, orthogonal.larfb, letter + "larfb_");
    look_up(library, spectra.geev, letter + "geev_");
    look_up(library, spectra.gees, letter + "gees_");
    look_up(library, spectra.syevd, letter + (std::is_floating_point_v<T> ? "syevd_" : "heevd_"));
    look_up(library, spectra.gesdd, letter + "gesdd_");
  }
};

struct OpenBlas {
  Loaded loaded = load();
  void* library = loaded.library;
  Blas<float> s = look_up_all<float>(library, "s");
  Blas<double> d = look_up_all<double>(library, "d");
  Blas<std::complex<float>> c = look_up_all<std::complex<float>>(library, "c");
  Blas<std::complex<double>> z = look_up_all<std::complex<double>>(library, "z");
  Factors<float> s_factors{library, "s"};
  Factors<double> d_factors{library, "d"};
  Factors<std::complex<float>> c_factors{library, "c"};
  Factors<std::complex<double>> z_factors{library, "z"};

  template <class T>
  const Factors<T>& factors() const {
    if constexpr (std::is_same_v<T, float>) return s_factors;
    else if constexpr (std::is_same_v<T, double>) return d_factors;
    else if constexpr (std::is_same_v<T, std::complex<float>>) return c_factors;
    else return z_factors;
  }
  int (*get_num_threads)();
  void (*set_num_threads)(int);
  char* (*get_corename)();

  OpenBlas() {
    look_up(library, get_num_threads, "openblas_get_num_threads");
    look_up(library, set_num_threads, "openblas_set_num_threads");
    look_up(library, get_corename, "openblas_get_corename");
    if (!loaded.is_shared) set_num_threads(1);
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
OnOneThread<Blas<float>> blas<float>() {
  return OnOneThread(open_blas().s);
}
template <>
OnOneThread<Blas<double>> blas<double>() {
  return OnOneThread(open_blas().d);
}
template <>
OnOneThread<Blas<std::complex<float>>> blas<std::complex<float>>() {
  return OnOneThread(open_blas().c);
}
template <>
OnOneThread<Blas<std::complex<double>>> blas<std::complex<double>>() {
  return OnOneThread(open_blas().z);
}

template <class T>
OnOneThread<Orthogonal<T>> orthogonal() {
  return OnOneThread(open_blas().factors<T>().orthogonal);
}
template <class T>
OnOneThread<Indefinite<T>> indefinite() {
  return OnOneThread(open_blas().factors<T>().indefinite);
}
template <class T>
OnOneThread<Spectra<T>> spectra() {
  return OnOneThread(open_blas().factors<T>().spectra);
}
#define RICCI_FACTORS(T)                               \
  template OnOneThread<Orthogonal<T>> orthogonal<T>(); \
  template OnOneThread<Indefinite<T>> indefinite<T>(); \
  template OnOneThread<Spectra<T>> spectra<T>();
RICCI_FACTORS(float)
RICCI_FACTORS(double)
RICCI_FACTORS(std::complex<float>)
RICCI_FACTORS(std::complex<double>)

OneOpenMpThread::OneOpenMpThread() {
  const OpenMp& omp = open_mp();
  if (omp.get_max_threads == nullptr || omp.set_num_threads == nullptr) return;
  const int before = omp.get_max_threads();
  if (before == 1) return;
  before_ = before;
  omp.set_num_threads(1);
}
OneOpenMpThread::~OneOpenMpThread() {
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

OneBlasThread::OneBlasThread() {
  if (!open_blas().loaded.is_shared) return;
  const std::lock_guard lock(limit.mutex);
  if (limit.askers++ > 0) return;
  limit.before = open_blas().get_num_threads();
  open_blas().set_num_threads(1);
}
OneBlasThread::~OneBlasThread() {
  if (!open_blas().loaded.is_shared) return;
  const std::lock_guard lock(limit.mutex);
  const bool is_last = --limit.askers == 0;
  const bool is_ours = open_blas().get_num_threads() == 1;  // another one the program has set, and it stays
  if (is_last && is_ours) open_blas().set_num_threads(limit.before);
}

const char* blas_core() { return open_blas().get_corename(); }

}  // namespace ricci::kernels
