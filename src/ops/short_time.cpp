// Spectra of the frames of a signal, and back.
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/patterns.h"
#include "ops/reading.h"
#include "primitive/called.h"
#include "primitive/wording.h"
#include "ricci/ops.h"
#include "ricci/ops/fft.h"
#include "ricci/ops/padding.h"

namespace ricci {
namespace {

struct Frames {
  Size length, hop;
  Tensor window;  // [length]; undefined for ones
};
Frames frames_of(const char* op, Size n_fft, const StftOptions& options, DType dtype) {
  const auto require_positive = [op](const char* what, Size n) {
    if (n < 1)
      raise<ValueError>(std::string(op) + ": " + what + " is " + std::to_string(n.hint()) + "; it must be at least 1");
  };
  require_positive("n_fft", n_fft);
  const Size hop = options.hop_length.value_or(n_fft < 4 ? Size(1) : n_fft / 4);
  require_positive("hop_length", hop);
  const Size length = options.win_length.value_or(n_fft);
  require_positive("win_length", length);
  if (length > n_fft)
    raise<ValueError>(std::string(op) + ": win_length is " + std::to_string(length.hint()) + ", n_fft is " +
                      std::to_string(n_fft.hint()) + "; a window must not be longer than a frame");
  if (!options.window.defined() && length == n_fft) return {n_fft, hop, {}};
  if (options.window.defined() && !(type_of(options.window).shape == Shape{length}))
    raise<ValueError>(std::string(op) + ": the window " + type_text(options.window) + " must have the shape " +
                      to_string(Shape{length}));
  const Tensor window = options.window.defined() ? options.window : ones({length}, dtype);
  const Size left = (n_fft - length) / 2;
  return {n_fft, hop, pad(window, {left, n_fft - length - left})};
}

/// Frames [..., count, length] added up, `hop` samples apart.
Tensor overlapped(const Tensor& frames, Size hop) {
  const Shape shape = type_of(frames).shape;
  const Size length = shape.back(), count = shape[shape.size() - 2];
  const Tensor places = unsqueeze(places_along(count) * Tensor(hop), -1) + places_along(length);
  Shape signal(shape.begin(), shape.end() - 2);
  signal.push_back(length + hop * (count - 1));
  return index_add(zeros(signal, frames.dtype()), -1, flatten(places), flatten(frames, -2, -1));
}

}  // namespace

namespace ops {

Tensor stft(const Tensor& x, Size n_fft) { return stft(x, n_fft, StftOptions{}); }
Tensor stft(const Tensor& x, Size n_fft, StftOptions options) {
  const Called as("stft", x);
  if (type_of(x).rank() == 0) raise<ValueError>("stft: " + type_text(x) + " has no axis of samples");
  const bool onesided = options.onesided && !x.is_complex();
  const Tensor signal = floating(x);
  const Frames frames = frames_of("stft", n_fft, options, real_dtype(signal.dtype()));
  const Size n = type_of(signal).shape.back();
  const bool is_reflected = options.center && options.pad_mode == "reflect";
  if (is_reflected ? !(n_fft / 2 < n) : !options.center && n < n_fft)
    raise<ValueError>("stft: a signal of " + count_of(n.hint(), "sample", "samples") +
                      " is too short for n_fft = " + std::to_string(n_fft.hint()) + "; " +
                      (is_reflected ? "reflected ends need more than half of that" : "pass a shorter n_fft"));
  Tensor y =
      unfold(options.center ? pad(signal, {n_fft / 2, n_fft / 2}, options.pad_mode) : signal, -1, n_fft, frames.hop);
  if (frames.window.defined()) y = y * frames.window;
  const std::string_view norm = options.normalized ? "ortho" : "backward";
  return mT(onesided ? rfft(y, {}, -1, norm) : fft(y, {}, -1, norm));
}

static Tensor signal_of(const Tensor& spectra, Size n_fft, const StftOptions& options, std::optional<Size> length) {
  const Called as("istft", spectra);
  if (type_of(spectra).rank() < 2)
    raise<ValueError>("istft: " + type_text(spectra) + " must be [..., frequencies, frames]");
  if (!spectra.is_complex()) raise<TypeError>("istft: the spectra " + type_text(spectra) + " are not complex");
  const bool onesided = options.onesided;
  const DType real_type = real_dtype(spectra.dtype());
  const Frames frames = frames_of("istft", n_fft, options, real_type);
  const Size wanted = onesided ? n_fft / 2 + 1 : n_fft, found = type_of(spectra).shape[at(type_of(spectra).rank() - 2)];
  if (!(found == wanted))
    raise<ValueError>("istft: " + type_text(spectra) + " has " + count_of(found.hint(), "frequency", "frequencies") +
                      "; of n_fft = " + std::to_string(n_fft.hint()) + " there are " + std::to_string(wanted.hint()));
  const std::string_view norm = options.normalized ? "ortho" : "backward";
  Tensor y = onesided ? irfft(mT(spectra), n_fft, -1, norm) : ifft(mT(spectra), {}, -1, norm);
  const Tensor window = frames.window.defined() ? frames.window : ones({n_fft}, real_type);
  const Size count = type_of(spectra).shape.back();
  Tensor signal = overlapped(y * window, frames.hop);
  Tensor squares = overlapped(expand(square(window), {count, n_fft}), frames.hop);
  const Size whole = type_of(signal).shape.back(), first = options.center ? n_fft / 2 : Size(0);
  Size last = options.center ? whole - n_fft / 2 : whole;
  if (length && first + *length < whole) last = first + *length;
  else if (length) last = whole;
  signal = slice(signal, -1, first, last);
  squares = slice(squares, -1, first, last);
  const AllExamples seen = elements_of_all_examples("istft", squares);
  constexpr double least = 1e-11;  // as PyTorch
  if (seen.elements && !all(gt(wrap(seen.elements), least)).item<bool>())
    raise<ValueError>(
        "istft: the windows leave samples without weight; pass a window, hop_length and center under which "
        "frames overlap where the window is not 0");
  signal = signal / squares;
  if (length && last - first < *length) signal = pad(signal, {0, *length - (last - first)});
  return signal;
}
Tensor istft(const Tensor& spectra, Size n_fft) { return istft(spectra, n_fft, StftOptions{}); }
Tensor istft(const Tensor& spectra, Size n_fft, StftOptions options) {
  return signal_of(spectra, n_fft, options, std::nullopt);
}
Tensor istft(const Tensor& spectra, Size n_fft, StftOptions options, Size length) {
  if (length < 0) raise<ValueError>("istft: length is " + std::to_string(length.hint()) + "; it must be at least 0");
  return signal_of(spectra, n_fft, options, length);
}

}  // namespace ops
}  // namespace ricci
