// Fourier transforms, as the cases of tools/torch_values.py call them.
#include <ricci/ops/fft.h>

#include "public_functions.h"

namespace laws {

namespace rc = ricci;

const Table& fourier() {
  static const Table table = {
      {"fft", [](X x) { return List{fft(x[0])}; }},
      {"fft complex", [](X x) { return List{fft(x[0], {}, 0, "ortho")}; }},
      {"fft longer", [](X x) { return List{fft(x[0], 7, 1, "forward")}; }},
      {"fft shorter", [](X x) { return List{fft(x[0], 3)}; }},
      {"ifft", [](X x) { return List{ifft(x[0])}; }},
      {"ifft norm", [](X x) { return List{ifft(x[0], 4, 0, "forward")}; }},
      {"rfft", [](X x) { return List{rfft(x[0])}; }},
      {"rfft even", [](X x) { return List{rfft(x[0], 6, 0, "ortho")}; }},
      {"irfft", [](X x) { return List{irfft(x[0])}; }},
      {"irfft odd", [](X x) { return List{irfft(x[0], 7, -1, "ortho")}; }},
      {"irfft longer", [](X x) { return List{irfft(x[0], 8, 0, "forward")}; }},
      {"hfft", [](X x) { return List{hfft(x[0])}; }},
      {"hfft odd", [](X x) { return List{hfft(x[0], 5, -1, "ortho")}; }},
      {"ihfft", [](X x) { return List{ihfft(x[0])}; }},
      {"ihfft norm", [](X x) { return List{ihfft(x[0], 4, 0, "forward")}; }},
      {"fft2", [](X x) { return List{fft2(x[0])}; }},
      {"fft2 sizes", [](X x) { return List{fft2(x[0], {2, 5}, {0, 1}, "ortho")}; }},
      {"ifft2", [](X x) { return List{ifft2(x[0])}; }},
      {"rfft2", [](X x) { return List{rfft2(x[0])}; }},
      {"irfft2", [](X x) { return List{irfft2(x[0])}; }},
      {"hfft2", [](X x) { return List{hfft2(x[0])}; }},
      {"ihfft2", [](X x) { return List{ihfft2(x[0], {}, {}, "ortho")}; }},
      {"fftn", [](X x) { return List{fftn(x[0])}; }},
      {"fftn sizes", [](X x) { return List{fftn(x[0], {2, -1}, {}, "forward")}; }},
      {"ifftn", [](X x) { return List{ifftn(x[0], {}, {0, 2})}; }},
      {"rfftn", [](X x) { return List{rfftn(x[0])}; }},
      {"rfftn axes", [](X x) { return List{rfftn(x[0], {}, {2, 0})}; }},
      {"irfftn", [](X x) { return List{irfftn(x[0], {3, 5}, {})}; }},
      {"hfftn", [](X x) { return List{hfftn(x[0], {}, {}, "ortho")}; }},
      {"ihfftn", [](X x) { return List{ihfftn(x[0])}; }},
      {"fftshift", [](X x) { return List{fftshift(x[0])}; }},
      {"fftshift axis", [](X x) { return List{fftshift(x[0], {1})}; }},
      {"ifftshift", [](X x) { return List{ifftshift(x[0])}; }},
      {"fftfreq", [](X x) { return List{x[0] * rc::fftfreq(5, 0.5, rc::float64)}; }},
      {"fftfreq even", [](X x) { return List{x[0] * rc::fftfreq(6, 1, rc::float64)}; }},
      {"rfftfreq", [](X x) { return List{x[0] * rc::rfftfreq(7, 0.25, rc::float64)}; }},
  };
  return table;
}

}  // namespace laws
