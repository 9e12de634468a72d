// The parameters of convolutions and pooling that are whole numbers, made of the number of rows of x: for
// size_parameters_test.cpp. What holds for one, two and three spatial axes is written once.
#pragma once

#include <ricci/ricci.h>

#include <optional>
#include <string>

#include "support/table.h"

namespace size_parameters {

namespace rc = ricci;
using rc::Size;
using rc::Sizes;
using rc::Tensor;
using Table = testing_support::Table<Tensor(Tensor x, Size n)>;

/// x [n, 3] as an image [1, channels, size, …].
inline Tensor image(const Tensor& x, Size channels, Size size, std::size_t axes) {
  rc::Shape shape = {1, channels};
  shape.resize(axes + 2, size);
  return x.sum() * rc::ones(shape, rc::float64);
}
/// [outputs, channels, 2, …]
inline Tensor kernel(Size outputs, Size channels, std::size_t axes) {
  rc::Shape shape = {outputs, channels};
  shape.resize(axes + 2, 2);
  return rc::ones(shape, rc::float64);
}

// Functions stand here by the types of their longest overloads.
using Both = std::pair<Tensor, Tensor>;
template <class Result>
using MaxPool = Result (*)(const Tensor&, const Sizes&, const Sizes&, const Sizes&, const Sizes&, bool);
using AvgPool = Tensor (*)(const Tensor&, const Sizes&, const Sizes&, const Sizes&, bool, bool);
using DividedPool = Tensor (*)(const Tensor&, const Sizes&, const Sizes&, const Sizes&, bool, bool,
                               std::optional<Size>);
using LpPool = Tensor (*)(const Tensor&, double, const Sizes&, const Sizes&, bool);
template <class Result>
using AdaptivePool = Result (*)(const Tensor&, const Sizes&);
template <class Result>
using FractionalPool = Result (*)(const Tensor&, const Sizes&, const Sizes&, const Tensor&);
using Unpool = Tensor (*)(const Tensor&, const Tensor&, const Sizes&, const Sizes&, const Sizes&, const Sizes&);
using Conv = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Sizes&, const rc::ConvPadding&, const Sizes&,
                        Size);
using ConvByOptions = Tensor (*)(const Tensor&, const Tensor&, rc::ConvOptions);
using ConvTranspose = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Sizes&, const Sizes&, const Sizes&,
                                 Size, const Sizes&);
using ConvTransposeByOptions = Tensor (*)(const Tensor&, const Tensor&, rc::ConvTransposeOptions);

inline Tensor first(const Tensor& x) { return x; }
inline Tensor first(const Both& both) { return both.first; }

template <class Pool>
void add_pool(Table& table, const std::string& name, std::size_t axes, const Pool& pool) {
  table[name + " kernel"] = [=](Tensor x, Size n) { return pool(image(x, 1, 2 * n, axes), n, n, 0, 1); };
  table[name + " stride"] = [=](Tensor x, Size n) { return pool(image(x, 1, 2 * n, axes), 2, n, 0, 1); };
  table[name + " padding"] = [=](Tensor x, Size n) { return pool(image(x, 1, 2 * n, axes), 2 * n, 1, n, 1); };
  table[name + " dilation"] = [=](Tensor x, Size n) { return pool(image(x, 1, 2 * n, axes), 2, 1, 0, n); };
}
template <class Result>
void add_max(Table& table, const std::string& name, std::size_t axes, MaxPool<Result> f) {
  add_pool(table, name, axes, [f](const Tensor& x, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation) {
    return first(f(x, kernel, stride, padding, dilation, false));
  });
}
inline void add_avg(Table& table, const std::string& name, std::size_t axes, AvgPool f) {
  add_pool(table, name, axes, [f](const Tensor& x, Sizes kernel, Sizes stride, Sizes padding, Sizes) {
    return f(x, kernel, stride, padding, false, false);
  });
  table.erase(name + " dilation");
}
inline void add_divisor(Table& table, const std::string& name, std::size_t axes, DividedPool f) {
  table[name + " divisor_override"] = [=](Tensor x, Size n) {
    return f(image(x, 1, 2 * n, axes), 2, 2, 0, false, true, n);
  };
}
inline void add_lp(Table& table, const std::string& name, std::size_t axes, LpPool f) {
  table[name + " kernel"] = [=](Tensor x, Size n) { return f(image(x, 1, 2 * n, axes), 2, n, n, false); };
  table[name + " stride"] = [=](Tensor x, Size n) { return f(image(x, 1, 2 * n, axes), 2, 2, n, false); };
}
template <class Result>
void add_adaptive(Table& table, const std::string& name, std::size_t axes, AdaptivePool<Result> f) {
  table[name + " output_size"] = [=](Tensor x, Size n) { return first(f(image(x, 1, 2 * n + 1, axes), n)); };
}
template <class Result>
void add_fractional(Table& table, const std::string& name, std::size_t axes, FractionalPool<Result> f) {
  const Tensor samples = rc::ones({1, 1, static_cast<std::int64_t>(axes)}, rc::float64) * 0.3;
  table[name + " kernel"] = [=](Tensor x, Size n) { return first(f(image(x, 1, 2 * n, axes), n, 2, samples)); };
  table[name + " output_size"] = [=](Tensor x, Size n) { return first(f(image(x, 1, 2 * n, axes), 2, n, samples)); };
}
inline void add_unpool(Table& table, const std::string& name, std::size_t axes, Unpool f) {
  const auto of = [=](Tensor x, Size size, Sizes kernel, Sizes stride, Sizes padding, Sizes output_size) {
    const Tensor y = image(x, 1, size, axes);
    return f(y, rc::zeros_like(y, rc::int64), kernel, stride, padding, output_size);
  };
  table[name + " kernel"] = [=](Tensor x, Size n) { return of(x, 2, n, 2, 0, {}); };
  table[name + " stride"] = [=](Tensor x, Size n) { return of(x, 2, 2, n, 0, {}); };
  table[name + " padding"] = [=](Tensor x, Size n) { return of(x, 2 * n, 2, 2, n, {}); };
  table[name + " output_size"] = [=](Tensor x, Size n) { return of(x, n, 2, 2, 0, 2 * n + 1); };
}

/// f(x, w, stride, padding, dilation, groups)
template <class F>
void add_convolution(Table& table, const std::string& name, std::size_t axes, const F& f) {
  const auto of = [=](Tensor x, Size n, Sizes stride, Sizes padding, Sizes dilation) {
    return f(image(x, 1, 2 * n, axes), kernel(1, 1, axes), stride, padding, dilation, 1);
  };
  table[name + " stride"] = [=](Tensor x, Size n) { return of(x, n, n, 0, 1); };
  table[name + " padding"] = [=](Tensor x, Size n) { return of(x, n, 1, n, 1); };
  table[name + " dilation"] = [=](Tensor x, Size n) { return of(x, n, 1, 0, n); };
  table[name + " groups"] = [=](Tensor x, Size n) { return f(image(x, n, 3, axes), kernel(n, 1, axes), 1, 0, 1, n); };
}
inline void add_conv(Table& table, const std::string& name, std::size_t axes, Conv f, ConvByOptions by_options) {
  add_convolution(table, name, axes, [f](Tensor x, Tensor w, Sizes stride, Sizes padding, Sizes dilation, Size groups) {
    return f(x, w, rc::none, stride, padding, dilation, groups);
  });
  table[name + " options"] = [=](Tensor x, Size n) {
    return by_options(image(x, 1, 2 * n, axes), kernel(1, 1, axes), {.stride = n, .padding = n, .dilation = n});
  };
}
inline void add_transpose(Table& table, const std::string& name, std::size_t axes, ConvTranspose f,
                          ConvTransposeByOptions by_options) {
  add_convolution(table, name, axes, [f](Tensor x, Tensor w, Sizes stride, Sizes padding, Sizes dilation, Size groups) {
    return f(x, w, rc::none, stride, padding, 0, groups, dilation);
  });
  table[name + " output_padding"] = [=](Tensor x, Size n) {
    return f(image(x, 1, 2, axes), kernel(1, 1, axes), rc::none, n + 1, 0, n, 1, 1);
  };
  table[name + " options"] = [=](Tensor x, Size n) {
    return by_options(image(x, 1, 2, axes), kernel(1, 1, axes), {.output_padding = n, .dilation = n + 1});
  };
}
/// Windows as columns: of x [1, 1, 2n, 2n], and back.
inline void add_columns(Table& table) {
  const auto unfolded = [](Tensor x, Size n, Sizes kernel, Sizes dilation, Sizes padding, Sizes stride) {
    return rc::unfold(image(x, 1, 2 * n, 2), kernel, dilation, padding, stride);
  };
  table["unfold kernel"] = [=](Tensor x, Size n) { return unfolded(x, n, n, 1, 0, 1); };
  table["unfold dilation"] = [=](Tensor x, Size n) { return unfolded(x, n, 2, n, 0, 1); };
  table["unfold padding"] = [=](Tensor x, Size n) { return unfolded(x, n, 2, 1, n, 1); };
  table["unfold stride"] = [=](Tensor x, Size n) { return unfolded(x, n, 2, 1, 0, n); };
  table["unfold options"] = [=](Tensor x, Size n) {
    return rc::unfold(image(x, 1, 2 * n, 2), 2, {.dilation = n, .padding = n});
  };
  const auto folded = [=](Tensor x, Size n, Sizes kernel, Sizes dilation, Sizes padding, Sizes stride) {
    return rc::fold(unfolded(x, n, kernel, dilation, padding, stride), 2 * n, kernel, dilation, padding, stride);
  };
  table["fold output_size"] = [=](Tensor x, Size n) { return folded(x, n, 2, 1, 0, 1); };
  table["fold kernel"] = [=](Tensor x, Size n) { return folded(x, n, n, 1, 0, 1); };
  table["fold dilation"] = [=](Tensor x, Size n) { return folded(x, n, 2, n, 0, 1); };
  table["fold padding"] = [=](Tensor x, Size n) { return folded(x, n, 2, 1, n, 1); };
  table["fold stride"] = [=](Tensor x, Size n) { return folded(x, n, 2, 1, 0, n); };
  table["fold options"] = [=](Tensor x, Size n) {
    return rc::fold(unfolded(x, n, 2, n, 0, 1), 2 * n, 2, {.dilation = n});
  };
}

inline Table of_windows() {
  Table table;
  add_max<Tensor>(table, "max_pool1d", 1, rc::max_pool1d);
  add_max<Tensor>(table, "max_pool2d", 2, rc::max_pool2d);
  add_max<Tensor>(table, "max_pool3d", 3, rc::max_pool3d);
  add_max<Both>(table, "max_pool1d_with_indices", 1, rc::max_pool1d_with_indices);
  add_max<Both>(table, "max_pool2d_with_indices", 2, rc::max_pool2d_with_indices);
  add_max<Both>(table, "max_pool3d_with_indices", 3, rc::max_pool3d_with_indices);
  add_unpool(table, "max_unpool1d", 1, rc::max_unpool1d);
  add_unpool(table, "max_unpool2d", 2, rc::max_unpool2d);
  add_unpool(table, "max_unpool3d", 3, rc::max_unpool3d);
  add_avg(table, "avg_pool1d", 1, rc::avg_pool1d);
  add_avg(table, "avg_pool2d", 2, rc::avg_pool2d);
  add_avg(table, "avg_pool3d", 3, rc::avg_pool3d);
  add_divisor(table, "avg_pool2d", 2, rc::avg_pool2d);
  add_divisor(table, "avg_pool3d", 3, rc::avg_pool3d);
  add_lp(table, "lp_pool1d", 1, rc::lp_pool1d);
  add_lp(table, "lp_pool2d", 2, rc::lp_pool2d);
  add_lp(table, "lp_pool3d", 3, rc::lp_pool3d);
  add_adaptive<Tensor>(table, "adaptive_avg_pool1d", 1, rc::adaptive_avg_pool1d);
  add_adaptive<Tensor>(table, "adaptive_avg_pool2d", 2, rc::adaptive_avg_pool2d);
  add_adaptive<Tensor>(table, "adaptive_avg_pool3d", 3, rc::adaptive_avg_pool3d);
  add_adaptive<Tensor>(table, "adaptive_max_pool1d", 1, rc::adaptive_max_pool1d);
  add_adaptive<Tensor>(table, "adaptive_max_pool2d", 2, rc::adaptive_max_pool2d);
  add_adaptive<Tensor>(table, "adaptive_max_pool3d", 3, rc::adaptive_max_pool3d);
  add_adaptive<Both>(table, "adaptive_max_pool1d_with_indices", 1, rc::adaptive_max_pool1d_with_indices);
  add_adaptive<Both>(table, "adaptive_max_pool2d_with_indices", 2, rc::adaptive_max_pool2d_with_indices);
  add_adaptive<Both>(table, "adaptive_max_pool3d_with_indices", 3, rc::adaptive_max_pool3d_with_indices);
  add_fractional<Tensor>(table, "fractional_max_pool2d", 2, rc::fractional_max_pool2d);
  add_fractional<Tensor>(table, "fractional_max_pool3d", 3, rc::fractional_max_pool3d);
  add_fractional<Both>(table, "fractional_max_pool2d_with_indices", 2, rc::fractional_max_pool2d_with_indices);
  add_fractional<Both>(table, "fractional_max_pool3d_with_indices", 3, rc::fractional_max_pool3d_with_indices);
  add_conv(table, "conv1d", 1, rc::conv1d, rc::conv1d);
  add_conv(table, "conv2d", 2, rc::conv2d, rc::conv2d);
  add_conv(table, "conv3d", 3, rc::conv3d, rc::conv3d);
  add_transpose(table, "conv_transpose1d", 1, rc::conv_transpose1d, rc::conv_transpose1d);
  add_transpose(table, "conv_transpose2d", 2, rc::conv_transpose2d, rc::conv_transpose2d);
  add_transpose(table, "conv_transpose3d", 3, rc::conv_transpose3d, rc::conv_transpose3d);
  add_columns(table);
  return table;
}

}  // namespace size_parameters
