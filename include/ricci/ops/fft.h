// Discrete Fourier transforms, as torch.fft. Floating inputs are computed as float32 or float64, integers as the
// default dtype. Derivatives are linear maps of the same kind, to any order, in both modes. A
// spectrum is what the forward transform gives: y_k = Σ_j x_j exp(-2πi j k / n). Plans by ducc0 (M. Reinecke), whose
// error is about ε log n, relative to the norm of the input.
//
// `n` is the length of the transform along `dim`: x is cut, or continued with zeros; its own size if not given.
// `norm` says where the factor 1 / n stands: "backward" (if not given) in the inverse, "forward" in the forward
// transform, "ortho" as 1 / √n in both. Those of several axes take a list of lengths (-1: the axis' own) and of axes,
// the last as many as there are lengths; all axes if neither is given. IndexError for an axis that is not there;
// ValueError for a repeated axis, a length below 1 or another norm; TypeError for a complex x where it must be real.
//
// Several lines are computed side by side: the last bits may be others than those of one line alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ricci/tensor.h"

namespace ricci {

/// Of short-time Fourier transforms. Frames of n_fft samples stand hop_length apart.
struct StftOptions {
  std::optional<Size> hop_length = {};  ///< n_fft / 4 if not given
  std::optional<Size> win_length = {};  ///< of the window, in the middle of a frame; n_fft if not given
  Tensor window = {};                   ///< [win_length]; ones if not given
  bool center = true;                   ///< frame k is centred at sample k hop_length: the signal is padded at its ends
  std::string pad_mode = "reflect";     ///< how, as `pad` has it; `istft` reads none of what is padded
  bool normalized = false;              ///< times 1 / √n_fft
  bool onesided = true;                 ///< of a real signal: n_fft / 2 + 1 frequencies, not n_fft
};

namespace ops {

// ── along one axis, the last if not given ──

Tensor fft(const Tensor& x);  ///< the spectrum, complex, of a real or complex x. `rc::fft(x)`: f32[8] → c64[8]
Tensor fft(const Tensor& x, std::optional<Size> n);
Tensor fft(const Tensor& x, std::optional<Size> n, std::int64_t dim);
Tensor fft(const Tensor& x, std::optional<Size> n, std::int64_t dim, std::string_view norm);
Tensor ifft(const Tensor& x);  ///< the inverse: x_j = Σ_k y_k exp(2πi j k / n) / n
Tensor ifft(const Tensor& x, std::optional<Size> n);
Tensor ifft(const Tensor& x, std::optional<Size> n, std::int64_t dim);
Tensor ifft(const Tensor& x, std::optional<Size> n, std::int64_t dim, std::string_view norm);
/// Of a real x, the first n / 2 + 1 elements of the spectrum; the others are conjugates of these. TypeError for a
/// complex x.
///   Tensor spectrum = rc::rfft(signal);  // f32[1000] → c64[501]
Tensor rfft(const Tensor& x);
Tensor rfft(const Tensor& x, std::optional<Size> n);
Tensor rfft(const Tensor& x, std::optional<Size> n, std::int64_t dim);
Tensor rfft(const Tensor& x, std::optional<Size> n, std::int64_t dim, std::string_view norm);
/// The inverse of `rfft`, real; n is the length of the result, 2 (m - 1) for m elements of x if not given: pass it
/// where it is odd. The imaginary parts of element 0, and for even n of element n / 2, are not read.
///   Tensor signal = rc::irfft(spectrum, 1000);
Tensor irfft(const Tensor& x);
Tensor irfft(const Tensor& x, std::optional<Size> n);
Tensor irfft(const Tensor& x, std::optional<Size> n, std::int64_t dim);
Tensor irfft(const Tensor& x, std::optional<Size> n, std::int64_t dim, std::string_view norm);
/// The spectrum, real, of a signal of which x is the first half: the others are conjugates of these. n as in `irfft`.
Tensor hfft(const Tensor& x);
Tensor hfft(const Tensor& x, std::optional<Size> n);
Tensor hfft(const Tensor& x, std::optional<Size> n, std::int64_t dim);
Tensor hfft(const Tensor& x, std::optional<Size> n, std::int64_t dim, std::string_view norm);
Tensor ihfft(const Tensor& x);  ///< the inverse of `hfft`: the first half of the signal of a real spectrum
Tensor ihfft(const Tensor& x, std::optional<Size> n);
Tensor ihfft(const Tensor& x, std::optional<Size> n, std::int64_t dim);
Tensor ihfft(const Tensor& x, std::optional<Size> n, std::int64_t dim, std::string_view norm);

// ── along two axes, the last two if not given ──

Tensor fft2(const Tensor& x);  ///< the spectrum of images. `rc::fft2(x)`: f32[4,8,8] → c64[4,8,8]
Tensor fft2(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor fft2(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor ifft2(const Tensor& x);  ///< the inverse of `fft2`
Tensor ifft2(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor ifft2(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor rfft2(const Tensor& x);  ///< of real images, half of the spectrum along the last of the axes
Tensor rfft2(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor rfft2(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor irfft2(const Tensor& x);  ///< the inverse of `rfft2`
Tensor irfft2(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor irfft2(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor hfft2(const Tensor& x);  ///< the real spectrum of which x is half of the signal along the last of the axes
Tensor hfft2(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor hfft2(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor ihfft2(const Tensor& x);  ///< the inverse of `hfft2`
Tensor ihfft2(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor ihfft2(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);

// ── along several axes, all if not given ──

Tensor fftn(const Tensor& x);  ///< the spectrum along all axes
Tensor fftn(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor fftn(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor ifftn(const Tensor& x);  ///< the inverse of `fftn`
Tensor ifftn(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor ifftn(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor rfftn(const Tensor& x);  ///< of a real x, half of the spectrum along the last of the axes
Tensor rfftn(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor rfftn(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor irfftn(const Tensor& x);  ///< the inverse of `rfftn`
Tensor irfftn(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor irfftn(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor hfftn(const Tensor& x);  ///< the real spectrum of which x is half of the signal along the last of the axes
Tensor hfftn(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor hfftn(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);
Tensor ihfftn(const Tensor& x);  ///< the inverse of `hfftn`
Tensor ihfftn(const Tensor& x, const Sizes& s, const Axes& dims);
Tensor ihfftn(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm);

// ── frequencies ──

/// x with the frequency 0 in the middle of each axis (all if not given), where `fft` has it in front.
Tensor fftshift(const Tensor& x);
Tensor fftshift(const Tensor& x, const Axes& dims);
Tensor ifftshift(const Tensor& x);  ///< the inverse of `fftshift`
Tensor ifftshift(const Tensor& x, const Axes& dims);
/// The frequencies of the elements of `fft`, in cycles per unit of a signal with n samples `d` apart (1 if not given):
/// 0, 1, …, -2, -1 over n d, in the default dtype if none is given. ValueError unless n >= 1 and d is not 0; TypeError
/// for a dtype that is not floating.
///   rc::fftfreq(4)  // 0 0.25 -0.5 -0.25
Tensor fftfreq(Size n);
Tensor fftfreq(Size n, double d);
Tensor fftfreq(Size n, double d, DType dtype);
Tensor rfftfreq(Size n);  ///< of the elements of `rfft`: 0, 1, …, n / 2 over n d
Tensor rfftfreq(Size n, double d);
Tensor rfftfreq(Size n, double d, DType dtype);

// ── short-time transforms ──

/// The spectra of frames of a signal [..., n], each times the window: complex [..., frequencies, frames], with
/// 1 + (n - n_fft) / hop_length frames, n_fft more samples if centred. ValueError if the signal is shorter than a
/// frame, or the window longer.
///   Tensor spectrogram = rc::abs(rc::stft(signal, 400, {.window = rc::hann_window(400)}));
Tensor stft(const Tensor& x, Size n_fft);
Tensor stft(const Tensor& x, Size n_fft, StftOptions options);
/// The inverse: frames are added where they overlap, and the sum is divided by that of the windows' squares. It has
/// `length` samples, if given: what is missing is 0. Real unless `onesided` is false. ValueError where that sum of
/// squares is 0.
Tensor istft(const Tensor& spectra, Size n_fft);
Tensor istft(const Tensor& spectra, Size n_fft, StftOptions options);
Tensor istft(const Tensor& spectra, Size n_fft, StftOptions options, Size length);

}  // namespace ops
}  // namespace ricci
