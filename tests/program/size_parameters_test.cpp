// Every parameter of an operation that is a whole number takes a size of a recorded program. Those that stand for
// numbers of elements leave it open: the program serves other sizes. The others, axes and numbers of results, say so
// when the program is called with another size. The list of parameters is made of the headers by
// tools/size_parameters.py.
#include <fstream>
#include <functional>
#include <set>

#include "size_parameters_of_windows.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace {

namespace rc = ricci;
using rc::Size;
using rc::Tensor;
using testing_support::doubles;
using testing_support::expect_close;
using testing_support::expect_equal;

/// What an operation gives where the parameter is made of n, the number of rows of x [n, 3].
using WithSize = std::function<Tensor(Tensor x, Size n)>;
using size_parameters::Table;

/// x [n, 3] as [1, 1, 2n, 2n].
Tensor plane(const Tensor& x, Size n) { return size_parameters::image(x, 1, 2 * n, 2); }
Tensor square_of(const Tensor& x) { return x.matmul(x.t()); }  // [n, n]
Tensor first(const std::pair<Tensor, Tensor>& both) { return both.first; }

/// By `operation parameter`.
const Table other_open_parameters = {
    {"as_strided offset", [](Tensor x, Size n) { return x.as_strided({2, 2}, {1, 1}, n); }},
    {"as_strided size", [](Tensor x, Size n) { return x.as_strided({n, 2}, {3, 1}); }},
    {"as_strided stride", [](Tensor x, Size n) { return x.as_strided({2, 2}, {n, 1}); }},
    {"dynamic_slice slice_sizes", [](Tensor x, Size n) { return rc::dynamic_slice(x, {0, 1}, {n - 1, 2}); }},
    {"local_response_norm size",
     [](Tensor x, Size n) { return rc::local_response_norm(x.unsqueeze(0).unsqueeze(-1), n); }},
    {"diag_embed offset", [](Tensor x, Size n) { return rc::diag_embed(x, n, -2, -1); }},
    {"diagonal offset", [](Tensor x, Size n) { return square_of(x).diagonal(n - 2, 0, 1); }},
    {"diagonal_scatter offset",
     [](Tensor x, Size n) { return rc::diagonal_scatter(square_of(x), rc::ones({2}, rc::float64), n - 2, 0, 1); }},
    {"eye n", [](Tensor, Size n) { return rc::eye(n); }},
    {"eye m", [](Tensor, Size n) { return rc::eye(2, n); }},
    {"eye_rows first", [](Tensor, Size n) { return rc::eye_rows(n - 1, 2, 3, rc::float64); }},
    {"eye_rows rows", [](Tensor, Size n) { return rc::eye_rows(1, n, 3, rc::float64); }},
    {"eye_rows columns", [](Tensor, Size n) { return rc::eye_rows(1, 2, n, rc::float64); }},
    {"fft n", [](Tensor x, Size n) { return rc::fft(x, n + 1, 0); }},
    {"ifft n", [](Tensor x, Size n) { return rc::ifft(x, n + 1, 0); }},
    {"rfft n", [](Tensor x, Size n) { return rc::rfft(x, n + 1, 0); }},
    {"irfft n", [](Tensor x, Size n) { return rc::irfft(x, n + 1, 0); }},
    {"hfft n", [](Tensor x, Size n) { return rc::hfft(x, n + 1, 0); }},
    {"ihfft n", [](Tensor x, Size n) { return rc::ihfft(x, n + 1, 0); }},
    {"fft2 s", [](Tensor x, Size n) { return rc::fft2(x, {n, 4}, {0, 1}); }},
    {"ifft2 s", [](Tensor x, Size n) { return rc::ifft2(x, {n, 4}, {0, 1}); }},
    {"rfft2 s", [](Tensor x, Size n) { return rc::rfft2(x, {n, 4}, {0, 1}); }},
    {"irfft2 s", [](Tensor x, Size n) { return rc::irfft2(x, {n, 4}, {0, 1}); }},
    {"hfft2 s", [](Tensor x, Size n) { return rc::hfft2(x, {n, 4}, {0, 1}); }},
    {"ihfft2 s", [](Tensor x, Size n) { return rc::ihfft2(x, {n, 4}, {0, 1}); }},
    {"fftn s", [](Tensor x, Size n) { return rc::fftn(x, {n, 4}, {0, 1}); }},
    {"ifftn s", [](Tensor x, Size n) { return rc::ifftn(x, {n, 4}, {0, 1}); }},
    {"rfftn s", [](Tensor x, Size n) { return rc::rfftn(x, {n, 4}, {0, 1}); }},
    {"irfftn s", [](Tensor x, Size n) { return rc::irfftn(x, {n, 4}, {0, 1}); }},
    {"hfftn s", [](Tensor x, Size n) { return rc::hfftn(x, {n, 4}, {0, 1}); }},
    {"ihfftn s", [](Tensor x, Size n) { return rc::ihfftn(x, {n, 4}, {0, 1}); }},
    {"fftfreq n", [](Tensor, Size n) { return rc::fftfreq(n); }},
    {"rfftfreq n", [](Tensor, Size n) { return rc::rfftfreq(n); }},
    {"group_norm groups", [](Tensor x, Size n) { return rc::group_norm(x.reshape({1, 3 * n}), n); }},
    {"rms_norm normalized_shape", [](Tensor x, Size n) { return rc::rms_norm(x.t(), {n}); }},
    {"layer_norm normalized_shape", [](Tensor x, Size n) { return rc::layer_norm(x.t(), {n}); }},
    {"linspace steps", [](Tensor, Size n) { return rc::linspace(0, 1, n); }},
    {"masked_select options", [](Tensor x, Size n) { return rc::masked_select(x, x > 1, {.size = n}); }},
    {"nonzero options", [](Tensor x, Size n) { return rc::nonzero(x > 1, {.size = n}); }},
    {"unique options", [](Tensor x, Size n) { return rc::unique(x, {.size = n}); }},
    {"multinomial samples", [](Tensor x, Size n) { return rc::multinomial(x[0], n, true); }},
    {"narrow start", [](Tensor x, Size n) { return x.narrow(0, n - 2, 1); }},
    {"narrow length", [](Tensor x, Size n) { return x.narrow(0, 1, n - 1); }},
    {"one_hot classes", [](Tensor, Size n) { return rc::one_hot(rc::tensor({0, 1}), n); }},
    {"pad widths", [](Tensor x, Size n) { return rc::pad(x, {1, n, n, 0}); }},
    {"randint high", [](Tensor, Size n) { return rc::randint(n, {3}); }},
    {"randint low", [](Tensor, Size n) { return rc::randint(n, 100, {3}); }},
    {"randint_like high", [](Tensor x, Size n) { return rc::randint_like(x, n); }},
    {"randint_like low", [](Tensor x, Size n) { return rc::randint_like(x, n, 2 * n); }},
    {"randperm n", [](Tensor, Size n) { return rc::randperm(n); }},
    {"repeat repeats", [](Tensor x, Size n) { return x.repeat({2, n}); }},
    {"tile repeats", [](Tensor x, Size n) { return x.tile({n}); }},
    {"repeat_interleave repeats", [](Tensor x, Size n) { return x.repeat_interleave(n, 1); }},
    {"roll shift", [](Tensor x, Size n) { return x.roll(n); }},
    {"roll shifts", [](Tensor x, Size n) { return x.roll({n / 2, 1}, {0, 1}); }},
    {"select index", [](Tensor x, Size n) { return x.select(0, n - 1); }},
    {"select_scatter index", [](Tensor x, Size n) { return rc::select_scatter(x, 0, 0, n / 2); }},
    {"slice start", [](Tensor x, Size n) { return x.slice(0, n / 2, rc::none); }},
    {"slice stop", [](Tensor x, Size n) { return x.slice(0, 0, n - 1); }},
    {"slice step", [](Tensor x, Size n) { return x.slice(0, 0, rc::none, n - 1); }},
    {"slice_scatter start", [](Tensor x, Size n) { return rc::slice_scatter(x, 0, 0, n - 1, n, 1); }},
    {"slice_scatter stop", [](Tensor x, Size n) { return rc::slice_scatter(x, 0, 0, 1, n - 1, 1); }},
    {"slice_scatter step", [](Tensor x, Size n) { return rc::slice_scatter(x, 0, 0, 0, n, n - 1); }},
    {"split n", [](Tensor, Size n) { return rc::split(rc::Key(1), n).data; }},
    {"split size", [](Tensor x, Size n) { return x.split(n - 1)[0]; }},
    {"split sizes", [](Tensor x, Size n) { return x.split({1, n - 1}, 0)[1]; }},
    {"tensor_split indices", [](Tensor x, Size n) { return x.tensor_split({1, n - 1})[1]; }},
    {"as_strided_scatter size",
     [](Tensor x, Size n) { return rc::as_strided_scatter(x, rc::ones({n, 2}, rc::float64), {n, 2}, {3, 1}); }},
    {"as_strided_scatter stride",
     [](Tensor x, Size n) { return rc::as_strided_scatter(x, rc::ones({2, 2}, rc::float64), {2, 2}, {n, 1}); }},
    {"as_strided_scatter offset",
     [](Tensor x, Size n) { return rc::as_strided_scatter(x, rc::ones({2, 2}, rc::float64), {2, 2}, {3, 1}, n); }},
    {"cov options", [](Tensor x, Size n) { return rc::cov(x.t(), {.correction = n - 2}); }},
    {"diagflat offset", [](Tensor x, Size n) { return rc::diagflat(x[0], n - 2); }},
    {"dsplit indices", [](Tensor x, Size n) { return rc::dsplit(x.t().unsqueeze(0), rc::Shape{1, n - 1})[1]; }},
    {"hsplit indices", [](Tensor x, Size n) { return rc::hsplit(x.t(), rc::Shape{1, n - 1})[1]; }},
    {"vsplit indices", [](Tensor x, Size n) { return rc::vsplit(x, rc::Shape{1, n - 1})[1]; }},
    {"histc bins", [](Tensor x, Size n) { return rc::histc(x, n); }},
    {"std_mean correction", [](Tensor x, Size n) { return first(rc::std_mean(x, {0, 1}, n, false)); }},
    {"sum_to_size shape", [](Tensor x, Size n) { return rc::sum_to_size(x, {n, 1}); }},
    {"unravel_index shape", [](Tensor, Size n) { return rc::unravel_index(rc::tensor({7, 3}), {n, 3})[0]; }},
    {"var_mean correction", [](Tensor x, Size n) { return first(rc::var_mean(x, {0, 1}, n, false)); }},
    {"std correction", [](Tensor x, Size n) { return rc::std(x, {0, 1}, n, false); }},
    {"var correction", [](Tensor x, Size n) { return rc::var(x, {0, 1}, n, false); }},
    {"topk k", [](Tensor x, Size n) { return first(rc::topk(x.reshape({-1}), n)); }},
    {"svd_lowrank q", [](Tensor x, Size n) { return std::get<1>(rc::svd_lowrank(x, n / 3)); }},
    {"pca_lowrank q", [](Tensor x, Size n) { return std::get<1>(rc::pca_lowrank(x, n / 3)); }},
    {"vander n", [](Tensor x, Size n) { return rc::vander(x[0], n); }},
    {"tril diagonal", [](Tensor x, Size n) { return square_of(x).tril(1 - n / 2); }},
    {"triu diagonal", [](Tensor x, Size n) { return square_of(x).triu(n / 2); }},
    {"tril_pack diagonal", [](Tensor x, Size n) { return rc::tril_pack(square_of(x), n - 3); }},
    {"tril_unpack diagonal",
     [](Tensor x, Size n) { return rc::tril_unpack(rc::tril_pack(square_of(x), n - 3), n, n - 3); }},
    {"tril_unpack rows", [](Tensor x, Size n) { return rc::tril_unpack(rc::tril_pack(square_of(x)), n); }},
    {"unfold size", [](Tensor x, Size n) { return x.unfold(0, n - 1, 1); }},
    {"unfold step", [](Tensor x, Size n) { return x.unfold(0, 2, n - 2); }},
    {"broadcast_to shape", [](Tensor x, Size n) { return x[0].broadcast_to({n, 3}); }},
    {"expand shape", [](Tensor x, Size n) { return x.unsqueeze(0).expand({n, -1, 3}); }},
    {"reshape shape", [](Tensor x, Size n) { return x.reshape({3, n}); }},
    {"unflatten sizes", [](Tensor x, Size n) { return x.reshape({-1}).unflatten(0, {n, 3}); }},
    {"view shape", [](Tensor x, Size n) { return x.view({3 * n}); }},
    {"empty shape", [](Tensor, Size n) { return rc::empty({n, 2}).zero_(); }},
    {"full shape", [](Tensor, Size n) { return rc::full({n, 2}, 3); }},
    {"ones shape", [](Tensor, Size n) { return rc::ones(n, 2); }},
    {"zeros shape", [](Tensor, Size n) { return rc::zeros(2, n); }},
    {"rand shape", [](Tensor, Size n) { return rc::rand(n, 2); }},
    {"randn shape", [](Tensor, Size n) { return rc::randn({n}); }},
    {"randint shape", [](Tensor, Size n) { return rc::randint(9, {n}); }},
    {"normal shape", [](Tensor, Size n) { return rc::normal(0., 1., {n}); }},
    {"uniform shape", [](Tensor, Size n) { return rc::uniform(0., 1., {n}); }},
    {"log_normal shape", [](Tensor, Size n) { return rc::log_normal(0., 1., {n}); }},
    {"exponential shape", [](Tensor, Size n) { return rc::exponential(1., {n}); }},
    {"cauchy shape", [](Tensor, Size n) { return rc::cauchy(0., 1., {n}); }},
    {"laplace shape", [](Tensor, Size n) { return rc::laplace(0., 1., {n}); }},
    {"gumbel shape", [](Tensor, Size n) { return rc::gumbel(0., 1., {n}); }},
    {"truncated_normal shape", [](Tensor, Size n) { return rc::truncated_normal(0., 1., -1., 1., {n}); }},
    {"bernoulli shape", [](Tensor, Size n) { return rc::bernoulli(0.5, {n}); }},
    {"geometric shape", [](Tensor, Size n) { return rc::geometric(0.5, {n}); }},
    {"poisson shape", [](Tensor, Size n) { return rc::poisson(3., {n}); }},
    {"binomial shape", [](Tensor, Size n) { return rc::binomial(9., 0.5, {n}); }},
    {"gamma shape", [](Tensor, Size n) { return rc::gamma(2., 1., {n}); }},
    {"beta shape", [](Tensor, Size n) { return rc::beta(2., 1., {n}); }},
    {"diag k", [](Tensor x, Size n) { return rc::diag(x.flatten(), n); }},
    {"repeat_interleave options",
     [](Tensor x, Size n) {
       const Tensor repeats = rc::stack({Tensor(1), Tensor(0), Tensor(n - 1)});
       return rc::repeat_interleave(x, {.repeats = repeats, .dim = 1, .output_size = n});
     }},
    {"logspace steps", [](Tensor, Size n) { return rc::logspace(0, 1, n); }},
    {"geomspace steps", [](Tensor, Size n) { return rc::geomspace(1, 8, n); }},
    {"tri n", [](Tensor, Size n) { return rc::tri(n, 4); }},
    {"tri m", [](Tensor, Size n) { return rc::tri(3, n); }},
    {"tri diagonal", [](Tensor, Size n) { return rc::tri(3, 9, n); }},
    {"stft n_fft", [](Tensor x, Size n) { return rc::view_as_real(rc::stft(x.flatten(), n, {.hop_length = 2})); }},
    {"stft options", [](Tensor x, Size n) { return rc::view_as_real(rc::stft(x.flatten(), 4, {.hop_length = n})); }},
    {"istft n_fft",
     [](Tensor x, Size n) {
       return rc::istft(rc::stft(x.flatten(), n, {.hop_length = 1}), n, {.hop_length = 1});
     }},
    {"istft options",
     [](Tensor x, Size n) {
       return rc::istft(rc::stft(x.flatten(), 2 * n, {.hop_length = n}), 2 * n, {.hop_length = n});
     }},
    {"istft length",
     [](Tensor x, Size n) {
       return rc::istft(rc::stft(x.flatten(), 4, {.hop_length = 2}), 4, {.hop_length = 2}, n);
     }},
    {"histogramdd bins", [](Tensor x, Size n) { return rc::histogramdd(x, rc::Sizes{n, 2, 2}).first; }},
    {"hann_window n", [](Tensor, Size n) { return rc::hann_window(n); }},
    {"hamming_window n", [](Tensor, Size n) { return rc::hamming_window(n); }},
    {"blackman_window n", [](Tensor, Size n) { return rc::blackman_window(n); }},
    {"nuttall_window n", [](Tensor, Size n) { return rc::nuttall_window(n); }},
    {"bartlett_window n", [](Tensor, Size n) { return rc::bartlett_window(n); }},
    {"cosine_window n", [](Tensor, Size n) { return rc::cosine_window(n); }},
    {"general_hamming_window n", [](Tensor, Size n) { return rc::general_hamming_window(n, 0.6); }},
    {"exponential_window n", [](Tensor, Size n) { return rc::exponential_window(n, 0.6); }},
    {"gaussian_window n", [](Tensor, Size n) { return rc::gaussian_window(n, 0.6); }},
    {"kaiser_window n", [](Tensor, Size n) { return rc::kaiser_window(n, 0.6); }},
    {"general_cosine_window n", [](Tensor, Size n) { return rc::general_cosine_window(n, rc::tensor({0.5, 0.4})); }},
    {"affine_grid size", [](Tensor x, Size n) { return rc::affine_grid(x.slice(0, 0, 2).unsqueeze(0), {1, 1, n, 2}); }},
    {"channel_shuffle groups", [](Tensor x, Size n) { return rc::channel_shuffle(x.reshape({1, 3 * n, 1}), n); }},
    {"embedding padding_idx", [](Tensor x, Size n) { return rc::embedding(rc::tensor({0, 2}), x, n - 3); }},
    {"embedding_bag options",
     [](Tensor x, Size n) { return rc::embedding_bag(rc::tensor({{0, 2}, {1, 1}}), x, {.padding_idx = n - 3}); }},
    {"interpolate options",
     [](Tensor x, Size n) {
       const Tensor image = x.reshape({1, 1, n, 3});
       return rc::interpolate(rc::interpolate(image, {.size = {2 * n, n}, .mode = "bilinear"}), {.size = n + 1});
     }},
    {"multi_head_attention_forward num_heads",
     [](Tensor x, Size n) {
       const Tensor rows = x.t().unsqueeze(1) / 9, w = square_of(x / 9);
       return first(rc::multi_head_attention_forward(
           rows, rows, rows, n, {.q_proj_weight = w, .k_proj_weight = w, .v_proj_weight = w, .out_proj_weight = w}));
     }},
    {"pixel_shuffle upscale_factor",
     [](Tensor x, Size n) { return rc::pixel_shuffle(x.sum() * rc::ones({n * n, 2, 1}, rc::float64), n); }},
    {"pixel_unshuffle downscale_factor", [](Tensor x, Size n) { return rc::pixel_unshuffle(plane(x, n), n); }},
    {"upsample_bilinear options",
     [](Tensor x, Size n) { return rc::upsample_bilinear(x.reshape({1, 1, n, 3}), {.size = {n, 2 * n}}); }},
    {"upsample_nearest options",
     [](Tensor x, Size n) { return rc::upsample_nearest(x.reshape({1, 1, n, 3}), {.size = {n, 2 * n}}); }},
};
const Table open_parameters = [] {
  Table all = size_parameters::of_windows();
  all.insert(other_open_parameters.begin(), other_open_parameters.end());
  return all;
}();

/// Numbers of results, of factors, of axes, and what a formula is chosen by: the program serves one size.
const Table fixed_parameters = {
    {"chunk chunks", [](Tensor x, Size n) { return x.chunk(n)[0]; }},
    {"tensor_split sections", [](Tensor x, Size n) { return x.tensor_split(n)[0]; }},
    {"matrix_power n", [](Tensor x, Size n) { return rc::matrix_power(x.slice(0, 0, 3), n); }},
    {"chebyshev_polynomial_t n", [](Tensor x, Size n) { return rc::chebyshev_polynomial_t(x, n); }},
    {"shifted_chebyshev_polynomial_t n", [](Tensor x, Size n) { return rc::shifted_chebyshev_polynomial_t(x, n); }},
    {"chebyshev_polynomial_u n", [](Tensor x, Size n) { return rc::chebyshev_polynomial_u(x, n); }},
    {"shifted_chebyshev_polynomial_u n", [](Tensor x, Size n) { return rc::shifted_chebyshev_polynomial_u(x, n); }},
    {"chebyshev_polynomial_v n", [](Tensor x, Size n) { return rc::chebyshev_polynomial_v(x, n); }},
    {"shifted_chebyshev_polynomial_v n", [](Tensor x, Size n) { return rc::shifted_chebyshev_polynomial_v(x, n); }},
    {"chebyshev_polynomial_w n", [](Tensor x, Size n) { return rc::chebyshev_polynomial_w(x, n); }},
    {"shifted_chebyshev_polynomial_w n", [](Tensor x, Size n) { return rc::shifted_chebyshev_polynomial_w(x, n); }},
    {"hermite_polynomial_h n", [](Tensor x, Size n) { return rc::hermite_polynomial_h(x, n); }},
    {"hermite_polynomial_he n", [](Tensor x, Size n) { return rc::hermite_polynomial_he(x, n); }},
    {"laguerre_polynomial_l n", [](Tensor x, Size n) { return rc::laguerre_polynomial_l(x, n); }},
    {"legendre_polynomial_p n", [](Tensor x, Size n) { return rc::legendre_polynomial_p(x, n); }},
    {"polygamma n", [](Tensor x, Size n) { return rc::polygamma(n, x); }},
    {"combinations r", [](Tensor x, Size n) { return rc::combinations(x.t()[0].slice(0, 0, 3), n - 1); }},
    {"diff n", [](Tensor x, Size n) { return rc::diff(x, n - 2); }},
    {"dsplit sections", [](Tensor x, Size n) { return rc::dsplit(x.unsqueeze(0), n)[0]; }},
    {"hsplit sections", [](Tensor x, Size n) { return rc::hsplit(x, n)[0]; }},
    {"vsplit sections", [](Tensor x, Size n) { return rc::vsplit(x, n)[0]; }},
    {"kthvalue k", [](Tensor x, Size n) { return first(rc::kthvalue(x, n)); }},
    {"mvlgamma p", [](Tensor x, Size n) { return rc::mvlgamma(x + 9, n); }},
    {"rot90 k", [](Tensor x, Size n) { return rc::rot90(x, n); }},
    {"tril_indices rows", [](Tensor, Size n) { return rc::tril_indices(n, 3); }},
    {"tril_indices columns", [](Tensor, Size n) { return rc::tril_indices(3, n); }},
    {"tril_indices offset", [](Tensor, Size n) { return rc::tril_indices(3, 4, n - 3); }},
    {"triu_indices rows", [](Tensor, Size n) { return rc::triu_indices(n, 3); }},
    {"triu_indices columns", [](Tensor, Size n) { return rc::triu_indices(3, n); }},
    {"triu_indices offset", [](Tensor, Size n) { return rc::triu_indices(3, 4, n - 3); }},
    {"svd_lowrank niter", [](Tensor x, Size n) { return std::get<1>(rc::svd_lowrank(x, 2, n - 3)) > -1; }},
    {"pca_lowrank niter", [](Tensor x, Size n) { return std::get<1>(rc::pca_lowrank(x, 2, false, n - 3)) > -1; }},
    {"tensorinv ind", [](Tensor x, Size n) { return rc::tensorinv(x.slice(0, 0, 3) + rc::eye(3), n - 2); }},
    {"tensordot dims", [](Tensor x, Size n) { return rc::tensordot(x, x, n - 2); }},
};

/// Lent memory has the size that it has, and how often numbers stand somewhere is read.
const std::set<std::string> of_no_program = {"bincount minlength", "from_blob shape"};

/// `dim`, `dims` and their kin are axes.
bool is_axis(const std::string& parameter, const std::string& type) {
  static const std::set<std::string> names = {"dim", "dim1", "dim2", "a", "b", "start", "end"};
  return type == "Axes" || (type == "std::int64_t" && names.contains(parameter));
}

Tensor filled(std::int64_t rows) { return (rc::arange(0, 3 * rows, 1, rc::float64) * 0.37 + 0.5).reshape({rows, 3}); }
/// Each call draws from the start of the generator.
Tensor by_shape(const WithSize& f, const Tensor& x) {
  rc::manual_seed(3);
  return f(x, x.shape()[0]);
}
rc::Program recorded(const WithSize& f, const Tensor& x) {
  return rc::trace([&f](Tensor a) { return f(a, a.shape()[0]); })(x);
}

TEST(SizeParameters, OfTheHeadersAreAllHere) {
  std::ifstream list(RICCI_SIZE_PARAMETERS);
  std::string operation, parameter, type;
  std::set<std::string> found;
  while (list >> operation >> parameter >> type) {
    const std::string name = operation + " " + parameter;
    found.insert(name);
    if (is_axis(parameter, type) || of_no_program.contains(name)) continue;
    const bool is_open = open_parameters.contains(name), is_fixed = fixed_parameters.contains(name);
    EXPECT_TRUE(is_open != is_fixed) << name << " takes a whole number, and this test does not say what of a size";
    EXPECT_EQ(type == "std::int64_t", is_fixed) << name << " takes a size of type " << type;
  }
  EXPECT_GE(found.size(), 100U);
  for (const auto* parameters : {&open_parameters, &fixed_parameters})
    for (const auto& [name, f] : *parameters) EXPECT_TRUE(found.contains(name)) << name << " is in no header";
}

TEST(SizeParameters, LeaveSizesOpen) {
  for (const auto& [name, f] : open_parameters) {
    SCOPED_TRACE(name);
    try {
      const rc::Program program = recorded(f, filled(5));
      SCOPED_TRACE(to_string(program));
      const rc::Program again = rc::parse_program(to_string(program), program.captured());
      for (const std::int64_t rows : {5, 4, 7}) {
        const Tensor x = filled(rows), wanted = by_shape(f, x);
        rc::manual_seed(3);
        expect_equal(program({x})[0], wanted);
        rc::manual_seed(3);
        expect_equal(again({x})[0], wanted);
      }
    } catch (const std::exception& error) { ADD_FAILURE() << error.what(); }
  }
}

TEST(SizeParameters, ThatFixASizeSaySo) {
  for (const auto& [name, f] : fixed_parameters) {
    SCOPED_TRACE(name);
    const rc::Program program = recorded(f, filled(3));
    expect_equal(program({filled(3)})[0], by_shape(f, filled(3)));
    try {
      program({filled(4)});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const rc::ValueError& error) {
      EXPECT_NE(std::string(error.what()).find("record it again for these sizes"), std::string::npos) << error.what();
    }
  }
}

/// Where an operation takes a Tensor, a size is its number. Numbers may take another way than tensors, so that the last
/// bits differ.
TEST(SizeParameters, StandForNumbersInTensors) {
  const Table numbers = {
      {"arange end", [](Tensor, Size n) { return rc::arange(n); }},
      {"arange dtype", [](Tensor, Size n) { return rc::arange(n, {.dtype = rc::float32}); }},
      {"arange start", [](Tensor, Size n) { return rc::arange(1, n); }},
      {"arange down", [](Tensor, Size n) { return rc::arange(n - 1, -1, -1); }},
      {"arange step", [](Tensor, Size n) { return rc::arange(0, 3 * n, n, rc::float64); }},
      {"arange every other", [](Tensor, Size n) { return rc::arange(n / 2, 2 * n, 2); }},
      {"full", [](Tensor, Size n) { return rc::full({2}, n); }},
      {"fill_", [](Tensor x, Size n) { return x.clone().fill_(n); }},
      {"linspace", [](Tensor, Size n) { return rc::linspace(0, n, n, rc::float64); }},
      {"pow", [](Tensor x, Size n) { return rc::pow(x, n); }},
      {"pow of", [](Tensor x, Size n) { return rc::pow(n, x); }},
      {"clamp", [](Tensor x, Size n) { return x.clamp(1, n); }},
      {"where", [](Tensor x, Size n) { return rc::where(x > 1, n, x); }},
      {"maximum", [](Tensor x, Size n) { return x.max(n); }},
      {"compare", [](Tensor x, Size n) { return (x < n) == (n > x); }},
      {"+ - * /", [](Tensor x, Size n) { return (x + n) * n - n / (n - x + 0.125); }},
      {"%", [](Tensor x, Size n) { return x % n; }},
      {"+= *=",
       [](Tensor x, Size n) {
         const Tensor y = x.clone();
         y += n;
         y *= n;
         y[0] -= n;
         return y;
       }},
      {"x[i] = n",
       [](Tensor x, Size n) {
         const Tensor y = x.clone();
         y[0] = n;
         y.index({rc::Slice(1, n, n - 1)}) = 7;
         return y;
       }},
      {"masked_fill", [](Tensor x, Size n) { return x.masked_fill(x > 1, n); }},
      {"lerp", [](Tensor x, Size n) { return x.lerp(n, 0.5); }},
  };
  for (const auto& [name, f] : numbers) {
    SCOPED_TRACE(name);
    try {
      const rc::Program program = recorded(f, filled(5));
      SCOPED_TRACE(to_string(program));
      for (const std::int64_t rows : {5, 4, 7}) expect_close(program({filled(rows)})[0], by_shape(f, filled(rows)));
    } catch (const std::exception& error) { ADD_FAILURE() << error.what(); }
  }
}

TEST(SizeParameters, OfLoopsAndKeysToo) {
  const WithSize doubled = [](Tensor x, Size n) {
    return rc::fori_loop(0, n, [](Tensor, Tensor y) { return 2 * y; }, x.sum());
  };
  const rc::Program program = recorded(doubled, filled(5));
  expect_equal(program({filled(4)})[0], by_shape(doubled, filled(4)));
}

/// As where the bound is a number.
TEST(SizeParameters, OfDrawsFitTheDtype) {
  const WithSize drawn = [](Tensor, Size n) { return rc::randint(-100, 25 * n, {50}, {.dtype = rc::int8}); };
  const rc::Program program = recorded(drawn, filled(5));
  const Tensor wanted = by_shape(drawn, filled(4));
  rc::manual_seed(3);
  expect_equal(program({filled(4)})[0], wanted);
  EXPECT_THROW(program({filled(6)}), rc::ValueError);
  EXPECT_THROW(recorded(drawn, filled(6)), rc::ValueError);
  EXPECT_THROW(recorded([](Tensor, Size n) { return rc::randint(INT64_MIN, n, {3}); }, filled(5)), rc::ValueError);
}

}  // namespace
