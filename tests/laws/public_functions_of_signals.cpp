// Running and scattered reductions, searching, sequences, windows, polynomials and short-time transforms, as the cases
// of tools/torch_values_of_signals.py call them.
#include <ricci/ops/arrangement.h>
#include <ricci/ops/fft.h>
#include <ricci/ops/polynomials.h>
#include <ricci/ops/sequences.h>
#include <ricci/ops/special.h>
#include <ricci/ops/statistics.h>

#include "public_functions.h"

namespace laws {
namespace {

namespace rc = ricci;
constexpr rc::WindowOptions periodic = {.dtype = rc::float64}, symmetric = {.periodic = false, .dtype = rc::float64};

List all(const std::pair<Tensor, std::vector<Tensor>>& results) {
  List y = {results.first};
  y.insert(y.end(), results.second.begin(), results.second.end());
  return y;
}

Function scattered(const char* reduction, bool include_self) {
  return [=](X x) { return List{scatter_reduce(x[0], 1, x[1], x[2], reduction, include_self)}; };
}
Function of_index(const char* reduction, bool include_self) {
  return [=](X x) { return List{index_reduce(x[0], 0, x[1], x[2], reduction, include_self)}; };
}
Function window(Tensor (*f)(rc::Size, rc::WindowOptions), std::int64_t n, rc::WindowOptions options) {
  return [=](X) { return List{f(n, options)}; };
}
Function polynomial(Tensor (*f)(const Tensor&, std::int64_t), std::int64_t n) {
  return [=](X x) { return List{f(x[0], n)}; };
}

}  // namespace

const Table& signals() {
  static const Table table = [] {
    Table cases = {
        {"cummax", [](X x) { return both(cummax(x[0], 1)); }},
        {"cummax ties kink", [](X x) { return both(cummax(x[0], 0)); }},
        {"cummax of NaN kink", [](X x) { return both(cummax(detach(x[0]), 0)); }},
        {"cummax whole", [](X x) { return both(cummax(x[0], 0)); }},
        {"cummin", [](X x) { return both(cummin(x[0], 1)); }},
        {"cummin ties kink", [](X x) { return both(cummin(x[0], 0)); }},
        {"cummin of NaN kink", [](X x) { return both(cummin(detach(x[0]), 0)); }},
        {"cummin whole", [](X x) { return both(cummin(x[0], 0)); }},
        {"mode kink", [](X x) { return both(mode(x[0])); }},
        {"mode dim kink", [](X x) { return both(mode(x[0], 0)); }},
        {"mode keepdim kink", [](X x) { return both(mode(x[0], 1, true)); }},
        {"mode whole", [](X x) { return both(mode(x[0])); }},
        {"scatter_reduce ties kink", [](X x) { return List{scatter_reduce(x[0], 0, x[1], x[2], "amax")}; }},
        {"scatter_reduce prod of zero", [](X x) { return List{scatter_reduce(x[0], 0, x[1], x[2], "prod")}; }},
        {"scatter_reduce whole", [](X x) { return List{scatter_reduce(x[0], 0, x[1], x[2], "mean")}; }},
        {"searchsorted right", [](X x) { return List{searchsorted(x[0], x[1], {.right = true})}; }},
        {"searchsorted sorter", [](X x) { return List{searchsorted(x[0], x[1], {.sorter = x[2]})}; }},
        {"searchsorted whole", [](X x) { return List{searchsorted(x[0], x[1])}; }},
        {"bucketize", [](X x) { return List{bucketize(x[0], x[1])}; }},
        {"bucketize right", [](X x) { return List{bucketize(x[0], x[1], true)}; }},
        {"unique_inverse reads", [](X x) { return both(unique_inverse(x[0])); }},
        {"unique_counts reads", [](X x) { return both(unique_counts(x[0])); }},
        {"histogramdd", [](X x) { return all(rc::histogramdd(x[0], rc::Sizes{2, 3})); }},
        {"histogramdd range weight density",
         [](X x) {
           return all(
               rc::histogramdd(x[0], rc::Sizes{2, 3}, {.low = -1, .high = 1.5, .weight = x[1], .density = true}));
         }},
        {"histogramdd edges", [](X x) { return all(rc::histogramdd(x[0], List{x[1], x[2]})); }},
        {"sinc", [](X x) { return List{sinc(x[0])}; }},
        {"sinc whole numbers", [](X x) { return List{sinc(x[0])}; }},
        {"gcd", [](X x) { return List{gcd(x[0], x[1])}; }},
        {"gcd narrow", [](X x) { return List{gcd(x[0], x[1])}; }},
        {"lcm", [](X x) { return List{lcm(x[0], x[1])}; }},
        {"nextafter kink", [](X x) { return List{nextafter(x[0], x[1])}; }},
        {"frexp", [](X x) { return both(frexp(x[0])); }},
        {"frexp extremes kink", [](X x) { return both(frexp(detach(x[0]))); }},
        {"logspace", [](X x) { return List{rc::logspace(x[0], x[1], 4, 10, rc::float64)}; }},
        {"logspace base", [](X x) { return List{rc::logspace(x[0], x[1], 3, x[2], rc::float64)}; }},
        {"logspace whole", [](X) { return List{rc::logspace(0, 3, 4, 10, rc::int64)}; }},
        {"geomspace", [](X x) { return List{rc::geomspace(x[0], x[1], 4, rc::float64)}; }},
        {"geomspace dtype", [](X) { return List{rc::geomspace(1, 1000, 4, rc::float64)}; }},
        {"tri", [](X) { return List{rc::tri(3, 3, 0, rc::float64)}; }},
        {"tri rectangular", [](X) { return List{rc::tri(3, 4, 0, rc::int64)}; }},
        {"tri diagonal", [](X) { return List{rc::tri(3, 4, 1, rc::int64)}; }},
        {"general_cosine_window", [](X x) { return List{rc::general_cosine_window(6, x[0], periodic)}; }},
        {"general_cosine_window symmetric",
         [](X) { return List{rc::general_cosine_window(5, rc::tensor({0.4, 0.5, 0.1}, rc::float64), symmetric)}; }},
        {"general_hamming_window", [](X x) { return List{rc::general_hamming_window(6, x[0], periodic)}; }},
        {"general_hamming_window symmetric", [](X) { return List{rc::general_hamming_window(5, 0.6, symmetric)}; }},
        {"exponential_window", [](X x) { return List{rc::exponential_window(6, x[0], periodic)}; }},
        {"exponential_window symmetric", [](X) { return List{rc::exponential_window(5, 1.5, symmetric)}; }},
        {"gaussian_window", [](X x) { return List{rc::gaussian_window(6, x[0], periodic)}; }},
        {"gaussian_window symmetric", [](X) { return List{rc::gaussian_window(5, 1.5, symmetric)}; }},
        {"legendre_polynomial_p -1", polynomial(rc::legendre_polynomial_p, -1)},
        {"stft", [](X x) { return List{stft(x[0], 8)}; }},
        {"stft options",
         [](X x) {
           return List{
               stft(x[0], 8, {.hop_length = 3, .win_length = 6, .window = x[1], .center = false, .normalized = true})};
         }},
        {"stft pad_mode", [](X x) { return List{stft(x[0], 8, {.pad_mode = "constant"})}; }},
        {"stft odd", [](X x) { return List{stft(x[0], 7, {.hop_length = 2})}; }},
        {"stft complex", [](X x) { return List{stft(x[0], 4)}; }},
        {"stft two sides", [](X x) { return List{stft(x[0], 4, {.onesided = false})}; }},
        {"istft", [](X x) { return List{istft(x[0], 8)}; }},
        {"istft options",
         [](X x) {
           return List{istft(x[0], 8, {.hop_length = 2, .win_length = 6, .window = x[1], .normalized = true})};
         }},
        {"istft length", [](X x) { return List{istft(x[0], 8, {}, 9)}; }},
        {"istft not centred", [](X x) { return List{istft(x[0], 4, {.center = false})}; }},
        {"istft two sides", [](X x) { return List{istft(x[0], 4, {.onesided = false})}; }},
    };
    for (const char* how : {"sum", "prod", "mean", "amax", "amin"})
      for (const bool include_self : {true, false}) {
        const std::string what = std::string(" ") + how + (include_self ? "" : " without self");
        cases["scatter_reduce" + what] = scattered(how, include_self);
        if (how != std::string("sum")) cases["index_reduce" + what] = of_index(how, include_self);
      }
    const std::map<std::string, Tensor (*)(rc::Size, rc::WindowOptions)> windows = {
        {"hann", rc::hann_window},       {"hamming", rc::hamming_window},   {"blackman", rc::blackman_window},
        {"nuttall", rc::nuttall_window}, {"bartlett", rc::bartlett_window}, {"cosine", rc::cosine_window}};
    for (const auto& [name, f] : windows) {
      for (const std::int64_t n : {7, 8, 1}) cases[name + "_window " + std::to_string(n)] = window(f, n, periodic);
      cases[name + "_window symmetric"] = window(f, 6, symmetric);
    }
    const std::map<std::string, Tensor (*)(const Tensor&, std::int64_t)> polynomials = {
        {"chebyshev_polynomial_t", rc::chebyshev_polynomial_t},
        {"chebyshev_polynomial_u", rc::chebyshev_polynomial_u},
        {"chebyshev_polynomial_v", rc::chebyshev_polynomial_v},
        {"chebyshev_polynomial_w", rc::chebyshev_polynomial_w},
        {"shifted_chebyshev_polynomial_t", rc::shifted_chebyshev_polynomial_t},
        {"shifted_chebyshev_polynomial_u", rc::shifted_chebyshev_polynomial_u},
        {"shifted_chebyshev_polynomial_v", rc::shifted_chebyshev_polynomial_v},
        {"shifted_chebyshev_polynomial_w", rc::shifted_chebyshev_polynomial_w},
        {"hermite_polynomial_h", rc::hermite_polynomial_h},
        {"hermite_polynomial_he", rc::hermite_polynomial_he},
        {"laguerre_polynomial_l", rc::laguerre_polynomial_l},
        {"legendre_polynomial_p", rc::legendre_polynomial_p}};
    for (const auto& [name, f] : polynomials)
      for (const std::int64_t n : {0, 1, 5}) cases[name + " " + std::to_string(n)] = polynomial(f, n);
    return cases;
  }();
  return table;
}

}  // namespace laws
