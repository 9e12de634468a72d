// Single layers as networks are made of them, against those of the rivals: Fourier transforms, attention, QR,
// resampling, transposed convolutions, pooling, bags of rows, scattered and running reductions; forward, and with
// gradients by all inputs. Images are [N, C, H, W] one behind the other or, in the cases named `…_channels_last`, views
// of [N, H, W, C].
#include <optional>

#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

using Tensors = std::vector<Tensor>;
using Shapes = std::vector<rc::Shape>;

/// A case of `f(inputs)`, whose inputs of these shapes come from seeds 95, 96, …
template <class F>
bench::Case layer(const std::string& name, const Shapes& shapes, F f) {
  return bench::make_single("layers/" + name, [=] {
    Tensors x;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      x.push_back(bench::uniform(shapes[i], 95 + static_cast<std::uint32_t>(i)));
    return [f, x] { return f(x); };
  });
}

/// The gradients of f: the last input is the cotangent of f's output, and all inputs before it get one.
template <class F>
auto gradient_of(F f) {
  return [f](const Tensors& x) {
    const auto [value, pullback] = rc::vjp(f, Tensors(x.begin(), x.end() - 1));
    return pullback(x.back());
  };
}

Tensor made_complex(const Tensors& x) { return rc::complex(x[0], x[1]); }

/// f of the complex numbers that the first two inputs are the parts of, made before.
template <class F>
bench::Case spectrum(const std::string& name, const rc::Shape& shape, F f) {
  return bench::make_single("layers/" + name, [=] {
    const Tensor x = made_complex({bench::uniform(shape, 95), bench::uniform(shape, 96)});
    return [f, x] { return rc::view_as_real(f(x)); };
  });
}

/// As users have images whose channels lie last.
template <class F>
auto channels_last(F f) {
  return [f](const Tensors& x) {
    Tensors turned = x;
    turned[0] = x[0].permute({0, 3, 1, 2});
    return f(turned);
  };
}

auto resized(const char* mode, rc::Sizes size) {
  return [=](const Tensors& x) { return rc::interpolate(x[0], {.size = size, .mode = mode}); };
}

Tensor attended(const Tensors& x) { return rc::scaled_dot_product_attention(x[0], x[1], x[2]); }
Tensor attended_causally(const Tensors& x) {
  return rc::scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = true});
}
Tensor attended_in_groups(const Tensors& x) {
  return rc::scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = true, .enable_gqa = true});
}
/// Of [N, time, heads, features], as projections give them.
Tensor attended_by_time(const Tensors& x) {
  return attended_causally({x[0].transpose(1, 2), x[1].transpose(1, 2), x[2].transpose(1, 2)});
}

Tensor upsampled(const Tensors& x) { return conv_transpose2d(x[0], x[1], {.stride = 2, .padding = 1}); }
Tensor upsampled_by_two(const Tensors& x) { return conv_transpose2d(x[0], x[1], {.stride = 2}); }
Tensor convolved_back(const Tensors& x) { return conv_transpose2d(x[0], x[1], {.padding = 1}); }

Tensor pooled(const Tensors& x) { return max_pool2d(x[0], 3, 2, 1); }
Tensor averaged(const Tensors& x) { return avg_pool2d(x[0], 2); }

std::vector<bench::Case> fourier() {
  const auto fft = [](const Tensor& x) { return rc::fft(x); };
  const auto rfft = [](const Tensors& x) { return rc::view_as_real(rc::rfft(x[0])); };
  return {
      spectrum("fft_256x1024", {256, 1024}, fft),
      spectrum("fft_1024x64", {1024, 64}, fft),
      spectrum("fft_256x256", {256, 256}, fft),
      spectrum("fft_256x1000", {256, 1000}, fft),
      spectrum("fft_64x4096", {64, 4096}, fft),
      spectrum("fft_4096", {4096}, fft),
      spectrum("fft_1048576", {1048576}, fft),
      spectrum("fft_of_columns", {1024, 256}, [](const Tensor& x) { return rc::fft(x, std::nullopt, 0); }),
      spectrum("fft2_16x256x256", {16, 256, 256}, [](const Tensor& x) { return rc::fft2(x); }),
      spectrum("ifft_256x1024", {256, 1024}, [](const Tensor& x) { return rc::ifft(x); }),
      layer("rfft_256x1024", {{256, 1024}}, rfft),
      layer("rfft_1024x64", {{1024, 64}}, rfft),
      layer("rfft_65536", {{65536}}, rfft),
      layer("rfft2_16x256x256", {{16, 256, 256}}, [](const Tensors& x) { return rc::view_as_real(rc::rfft2(x[0])); }),
      bench::make_single("layers/irfft_256x1024",
                         [] {
                           const rc::Shape half{256, 513};
                           const Tensor x = made_complex({bench::uniform(half, 95), bench::uniform(half, 96)});
                           return [x] { return rc::irfft(x); };
                         }),
      layer("grad_of_rfft_256x1024", {{256, 1024}, {256, 513, 2}}, gradient_of(rfft)),
  };
}

std::vector<bench::Case> attention() {
  const rc::Shape heads{4, 8, 256, 64}, shared{4, 2, 256, 64}, by_time{4, 256, 8, 64}, many{32, 8, 64, 64},
      one{1, 1, 2048, 64};
  return {
      layer("attention", {heads, heads, heads}, attended),
      layer("attention_causal", {heads, heads, heads}, attended_causally),
      layer("attention_grouped", {heads, shared, shared}, attended_in_groups),
      layer("attention_by_time", {by_time, by_time, by_time}, attended_by_time),
      layer("attention_short", {many, many, many}, attended),
      layer("attention_long", {one, one, one}, attended_causally),
      layer("grad_of_attention", {heads, heads, heads, heads}, gradient_of(attended)),
      layer("grad_of_attention_causal", {heads, heads, heads, heads}, gradient_of(attended_causally)),
      layer("grad_of_attention_grouped", {heads, shared, shared, heads}, gradient_of(attended_in_groups)),
      layer("grad_of_attention_long", {one, one, one, one}, gradient_of(attended_causally)),
  };
}

std::vector<bench::Case> factors() {
  const auto qr = [](const Tensors& x) { return rc::qr(x[0]); };
  return {
      layer("qr_4096x64", {{4096, 64}}, qr),      layer("qr_64x64", {{64, 64}}, qr),
      layer("qr_1024x1024", {{1024, 1024}}, qr),  layer("qr_64x4096", {{64, 4096}}, qr),
      layer("qr_256x64x64", {{256, 64, 64}}, qr), layer("qr_1024x16x16", {{1024, 16, 16}}, qr),
  };
}

std::vector<bench::Case> resampling() {
  const rc::Shape images{4, 16, 64, 64}, last{4, 64, 64, 16}, large{4, 16, 128, 128};
  const auto read_at = [](const Tensors& x) { return rc::grid_sample(x[0], x[1]); };
  const auto read_cubically = [](const Tensors& x) { return rc::grid_sample(x[0], x[1], {.mode = "bicubic"}); };
  return {
      layer("interpolate_nearest", {images}, resized("nearest", {128, 128})),
      layer("interpolate_nearest_down", {large}, resized("nearest", {64, 64})),
      layer("interpolate_bilinear", {images}, resized("bilinear", {128, 128})),
      layer("interpolate_bilinear_down", {large}, resized("bilinear", {56, 56})),
      layer("interpolate_bicubic", {images}, resized("bicubic", {128, 128})),
      layer("interpolate_bilinear_channels_last", {last}, channels_last(resized("bilinear", {128, 128}))),
      layer("interpolate_linear", {{16, 64, 512}}, resized("linear", {1024})),
      layer("interpolate_trilinear", {{2, 8, 16, 32, 32}}, resized("trilinear", {32, 64, 64})),
      layer("grid_sample", {{8, 16, 64, 64}, {8, 64, 64, 2}}, read_at),
      layer("grid_sample_colours", {{8, 3, 64, 64}, {8, 64, 64, 2}}, read_at),
      layer("grid_sample_bicubic", {{4, 1, 256, 256}, {4, 256, 256, 2}}, read_cubically),
      layer("grad_of_grid_sample", {{8, 16, 64, 64}, {8, 64, 64, 2}, {8, 16, 64, 64}}, gradient_of(read_at)),
      layer("grad_of_grid_sample_colours", {{8, 3, 64, 64}, {8, 64, 64, 2}, {8, 3, 64, 64}}, gradient_of(read_at)),
      layer("grad_of_grid_sample_bicubic", {{4, 1, 256, 256}, {4, 256, 256, 2}, {4, 1, 256, 256}},
            gradient_of(read_cubically)),
      layer("grad_of_interpolate_bilinear", {images, large}, gradient_of(resized("bilinear", {128, 128}))),
      layer("grad_of_interpolate_bicubic", {images, large}, gradient_of(resized("bicubic", {128, 128}))),
  };
}

std::vector<bench::Case> convolutions() {
  const rc::Shape images{32, 64, 28, 28}, last{32, 28, 28, 64};
  return {
      layer("conv_transpose2d_4x4_stride_2", {images, {64, 32, 4, 4}}, upsampled),
      layer("conv_transpose2d_2x2_stride_2", {images, {64, 64, 2, 2}}, upsampled_by_two),
      layer("conv_transpose2d_3x3", {images, {64, 64, 3, 3}}, convolved_back),
      layer("conv_transpose2d_channels_last", {last, {64, 32, 4, 4}}, channels_last(upsampled)),
      layer("grad_of_conv_transpose2d", {images, {64, 32, 4, 4}, {32, 32, 56, 56}}, gradient_of(upsampled)),
      layer("conv3d", {{4, 32, 16, 28, 28}, {32, 32, 3, 3, 3}},
            [](const Tensors& x) { return conv3d(x[0], x[1], {.padding = 1}); }),
      layer("unfold_3", {images}, [](const Tensors& x) { return unfold(x[0], 3, {.padding = 1}); }),
  };
}

std::vector<bench::Case> pooling() {
  const rc::Shape lines{32, 64, 1024}, images{32, 64, 56, 56}, large{16, 64, 112, 112}, halves{16, 64, 56, 56},
      small{32, 512, 7, 7}, last{32, 56, 56, 64}, volumes{4, 32, 16, 28, 28}, quarter{32, 64, 28, 28};
  return {
      layer("max_pool1d_2", {lines}, [](const Tensors& x) { return max_pool1d(x[0], 2); }),
      layer("max_pool1d_3_stride_2", {lines}, [](const Tensors& x) { return max_pool1d(x[0], 3, 2); }),
      layer("max_pool2d_2", {images}, [](const Tensors& x) { return max_pool2d(x[0], 2); }),
      layer("max_pool2d_3_stride_2", {large}, pooled),
      layer("max_pool2d_3_stride_2_channels_last", {last}, channels_last(pooled)),
      layer("max_pool3d_2", {volumes}, [](const Tensors& x) { return max_pool3d(x[0], 2); }),
      layer("avg_pool1d_2", {lines}, [](const Tensors& x) { return avg_pool1d(x[0], 2); }),
      layer("avg_pool1d_3_stride_2", {lines}, [](const Tensors& x) { return avg_pool1d(x[0], 3, 2); }),
      layer("avg_pool2d_2", {images}, averaged),
      layer("avg_pool2d_3_padded", {images}, [](const Tensors& x) { return avg_pool2d(x[0], 3, 1, 1); }),
      layer("avg_pool2d_7", {small}, [](const Tensors& x) { return avg_pool2d(x[0], 7); }),
      layer("avg_pool2d_2_channels_last", {last}, channels_last(averaged)),
      layer("avg_pool3d_2", {volumes}, [](const Tensors& x) { return avg_pool3d(x[0], 2); }),
      layer("adaptive_avg_pool1d_8", {lines}, [](const Tensors& x) { return adaptive_avg_pool1d(x[0], 8); }),
      layer("adaptive_avg_pool2d_1", {images}, [](const Tensors& x) { return adaptive_avg_pool2d(x[0], 1); }),
      layer("adaptive_avg_pool2d_7", {{32, 256, 15, 15}},
            [](const Tensors& x) { return adaptive_avg_pool2d(x[0], 7); }),
      layer("adaptive_avg_pool2d_1_channels_last", {last},
            channels_last([](const Tensors& x) { return adaptive_avg_pool2d(x[0], 1); })),
      layer("adaptive_avg_pool3d_2", {volumes}, [](const Tensors& x) { return adaptive_avg_pool3d(x[0], 2); }),
      layer("adaptive_max_pool1d_8", {lines}, [](const Tensors& x) { return adaptive_max_pool1d(x[0], 8); }),
      layer("adaptive_max_pool2d_7", {images}, [](const Tensors& x) { return adaptive_max_pool2d(x[0], 7); }),
      layer("adaptive_max_pool3d_2", {volumes}, [](const Tensors& x) { return adaptive_max_pool3d(x[0], 2); }),
      layer("grad_of_max_pool2d", {large, halves}, gradient_of(pooled)),
      layer("grad_of_avg_pool2d", {images, quarter}, gradient_of(averaged)),
      layer("grad_of_adaptive_avg_pool2d", {images, {32, 64, 7, 7}},
            gradient_of([](const Tensors& x) { return adaptive_avg_pool2d(x[0], 7); })),
  };
}

/// Bags of rows of a table: `f(index)` is the function of the inputs, which come from seeds 96, 97, …; the index comes
/// from seed 95.
template <class F>
bench::Case bags(const std::string& name, const Shapes& shapes, F f) {
  constexpr std::int64_t rows = 100000;
  return bench::make_single("layers/" + name, [=] {
    const Tensor index = to(bench::uniform({4096, 20}, 95, 0, rows), rc::int64);
    Tensors x = {bench::uniform({rows, 64}, 96)};
    for (std::size_t i = 0; i < shapes.size(); ++i)
      x.push_back(bench::uniform(shapes[i], 97 + static_cast<std::uint32_t>(i)));
    return [step = f(index), x] { return step(x); };
  });
}

std::vector<bench::Case> embedding() {
  const auto bagged = [](const char* mode) {
    return [=](const Tensor& index) {
      return [=](const Tensors& x) { return rc::embedding_bag(index, x[0], {.mode = mode}); };
    };
  };
  const auto weighted = [](const Tensor& index) {
    return
        [=](const Tensors& x) { return rc::embedding_bag(index, x[0], {.mode = "sum", .per_sample_weights = x[1]}); };
  };
  const auto begun = [](const Tensor& index) {
    const Tensor flat = rc::flatten(index), begins = rc::arange(0, 81920, 20);
    return [=](const Tensors& x) { return rc::embedding_bag(flat, x[0], {.offsets = begins, .mode = "sum"}); };
  };
  const auto gradient = [](auto f) { return [=](const Tensor& index) { return gradient_of(f(index)); }; };
  return {
      bags("embedding_bag", {}, bagged("sum")),
      bags("embedding_bag_mean", {}, bagged("mean")),
      bags("embedding_bag_weighted", {{4096, 20}}, weighted),
      bags("embedding_bag_with_offsets", {}, begun),
      bags("grad_of_embedding_bag", {{4096, 64}}, gradient(bagged("sum"))),
      bags("grad_of_embedding_bag_mean", {{4096, 64}}, gradient(bagged("mean"))),
      bags("grad_of_embedding_bag_weighted", {{4096, 20}, {4096, 64}}, gradient(weighted)),
  };
}

/// The reductions of `shape` along `dim` at places that come from seed 95.
bench::Case scattered(const std::string& name, const rc::Shape& x, const rc::Shape& shape, std::int64_t dim,
                      const char* reduction) {
  return bench::make_single("layers/" + name, [=] {
    const Tensor index =
        to(bench::uniform(shape, 95, 0, static_cast<double>(x[static_cast<std::size_t>(dim)].host())), rc::int64);
    const Tensor to_these = bench::uniform(x, 96), values = bench::uniform(shape, 97);
    return [=] { return rc::scatter_reduce(to_these, dim, index, values, reduction); };
  });
}

std::vector<bench::Case> reductions() {
  const rc::Shape square{1024, 1024}, list{1 << 20}, table{100000};
  return {
      scattered("scatter_reduce_sum_in_rows", square, square, 1, "sum"),
      scattered("scatter_reduce_sum_in_columns", square, square, 0, "sum"),
      scattered("scatter_reduce_sum_of_list", table, list, 0, "sum"),
      scattered("scatter_reduce_amax_in_rows", square, square, 1, "amax"),
      scattered("scatter_reduce_amax_in_columns", square, square, 0, "amax"),
      scattered("scatter_reduce_amax_of_list", table, list, 0, "amax"),
      layer("cummax_of_rows", {square}, [](const Tensors& x) { return rc::cummax(x[0], 1).first; }),
      layer("cummax_of_columns", {square}, [](const Tensors& x) { return rc::cummax(x[0], 0).first; }),
      layer("cummax_of_rising_rows", {square},
            [](const Tensors& x) { return rc::cummax(x[0] + rc::arange(1024, rc::float32), 1).first; }),
  };
}

}  // namespace

std::vector<bench::Case> bench::layers() {
  std::vector<Case> all;
  for (const auto group : {fourier, attention, factors, resampling, convolutions, pooling, embedding, reductions})
    std::ranges::move(group(), std::back_inserter(all));
  return all;
}
