// Views taken apart into lines.
#include "kernels/fft.h"

#include <array>
#include <cassert>
#include <complex>
#include <utility>

#include "kernels/fft_engine.h"
#include "kernels/fft_lines.h"

namespace ricci::kernels {
namespace {

/// The view with `axis` last.
struct AxisLast {
  std::array<std::int64_t, max_batch_rank> shape, strides;
  Strided view;

  AxisLast(const Strided& x, int axis) : view{x.data, x.dtype, x.rank, shape.data(), strides.data()} {
    assert(x.rank <= max_batch_rank);
    std::size_t to = 0;
    for (int i = 0; i < x.rank; ++i) {
      if (i == axis) continue;
      shape[to] = x.shape[i];
      strides[to++] = x.strides[i];
    }
    shape[to] = x.shape[axis];
    strides[to] = x.strides[axis];
  }
  AxisLast(const AxisLast&) = delete;
  std::int64_t step() const { return view.strides[view.rank - 1]; }
};

/// A view's memory, as real or complex elements.
template <class T>
struct Elements {
  void* data;
  T* real() const { return static_cast<T*>(data); }
  std::complex<T>* complex() const { return static_cast<std::complex<T>*>(data); }
};

/// f(lines, y, x): y and x are Elements<float> or Elements<double>.
template <class F>
void run(const Strided& y, const Strided& x, int axis, std::int64_t n, double factor, const F& f) {
  const AxisLast to(y, axis), from(x, axis);
  const FftLines lines{n, BatchOffsets(from.view, 1), BatchOffsets(to.view, 1), from.step(), to.step(), factor};
  if (n == 0 || lines.y.size() == 0) return;
  if (real_dtype(y.dtype) == DType::float32) return f(lines, Elements<float>{y.data}, Elements<float>{x.data});
  assert(real_dtype(y.dtype) == DType::float64);
  f(lines, Elements<double>{y.data}, Elements<double>{x.data});
}

}  // namespace

void fft(Strided y, Strided x, int axis, bool backward, double factor) {
  run(y, x, axis, x.shape[axis], factor, [&](const FftLines& lines, auto to, auto from) {
    complex_fft_lines(backward, to.complex(), from.complex(), lines);
  });
}
void rfft(Strided y, Strided x, int axis, double factor) {
  run(y, x, axis, x.shape[axis], factor,
      [](const FftLines& lines, auto to, auto from) { real_to_complex_lines(to.complex(), from.real(), lines); });
}
void irfft(Strided y, Strided x, int axis, double factor) {
  run(y, x, axis, y.shape[axis], factor,
      [](const FftLines& lines, auto to, auto from) { complex_to_real_lines(to.real(), from.complex(), lines); });
}

}  // namespace ricci::kernels

// What a plan calls to cut a long transform among threads. Here it runs as a whole: lines are cut elsewhere.
void ricci::ducc0::detail_threading::execStatic(std::size_t work, std::size_t, std::size_t,
                                                std::function<void(Scheduler&)> run) {
  class Whole final : public Scheduler {
   public:
    explicit Whole(std::size_t size) : left_(0, size) {}
    std::size_t num_threads() const override { return 1; }
    std::size_t thread_num() const override { return 0; }
    Range getNext() override { return std::exchange(left_, Range()); }

   private:
    Range left_;
  };
  Whole whole(work);
  run(whole);
}
