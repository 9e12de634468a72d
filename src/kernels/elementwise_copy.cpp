// Copies with conversion, transposing copies and fills.
#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/elementwise_axes.h"
#include "kernels/elementwise_run.h"
#include "kernels/strided.h"
#include "kernels/strided_run.h"
#include "kernels/transpose.h"
#include "ricci/primitive/accumulators.h"

namespace ricci::kernels {
namespace {

template <class To, class From>
To converted(From x) {
  using R = real_of<To>;
  if constexpr (std::is_same_v<To, bool>) return x != From(0);
  else if constexpr (std::is_class_v<From> && std::is_class_v<To>)
    return To(static_cast<R>(x.real()), static_cast<R>(x.imag()));
  else if constexpr (std::is_class_v<From>) return converted<To>(x.real());
  else if constexpr (std::is_class_v<To>) return To(static_cast<R>(x));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4)
    return static_cast<To>(static_cast<std::int32_t>(x));
  else return static_cast<To>(x);
}

template <class To, class From>
void convert_run(const void*, int, char* const* data, const std::int64_t* strides, std::int64_t n) {
  auto* to = reinterpret_cast<To*>(data[0]);
  const auto* from = reinterpret_cast<const From*>(data[1]);
  if (n > 1 && strides[1] == 0) {
    std::fill_n(to, n, converted<To>(*from));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) to[i] = converted<To>(from[i]);
}

using Row = std::array<Loop, dtype_count>;

template <std::size_t To, std::size_t... From>
constexpr Row conversions_to(std::index_sequence<From...>) {
  return {&convert_run<ElementOf<static_cast<DType>(To)>, ElementOf<static_cast<DType>(From)>>...};
}
template <std::size_t... To>
constexpr std::array<Row, dtype_count> all_conversions(std::index_sequence<To...>) {
  return {conversions_to<To>(std::make_index_sequence<dtype_count>())...};
}
constexpr auto conversions = all_conversions(std::make_index_sequence<dtype_count>());

/// The types of one conversion, as the loop's parameter.
struct Conversion {
  DType to, from;
};

void convert_staged(const void* op, int, char* const* data, const std::int64_t* strides, std::int64_t n) {
  const auto [to, from] = *static_cast<const Conversion*>(op);
  const LoopTypes stored{1, {to, from}}, computed{1, {computed_dtype(to), computed_dtype(from)}};
  const Loop loop = conversions[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)];
  if (n == 1 && computed.types[0] == to && computed.types[1] == from) return loop(nullptr, 1, data, strides, 1);
  run_staged(loop, computed, stored, nullptr, data, strides, n);
}

void move_run(const void* op, int, char* const* data, const std::int64_t* strides, std::int64_t n) {
  const std::int64_t size = *static_cast<const std::int64_t*>(op);
  if (n == 1) return copy_run(data[0], size, data[1], size, size, 1);
  copy_run(data[0], strides[0], data[1], strides[1], size, n);
}

}  // namespace

void copy(Strided out, Strided in) {
  if (out.dtype != in.dtype) {
    const Conversion conversion{out.dtype, in.dtype};
    return elementwise(&convert_staged, &conversion, out, &in, 1);
  }
  const auto size = static_cast<std::int64_t>(element_size(out.dtype));
  if (out.rank >= 2 && copy_transposed(out, in)) return;
  elementwise(&move_run, &size, out, &in, 1);
}

namespace {

void fill_with(const Strided& out, void* value, DType type) {
  alignas(16) char element[16];
  copy({element, out.dtype, 0, nullptr, nullptr}, {value, type, 0, nullptr, nullptr});
  constexpr std::int64_t zeros[loop_axes::max_rank] = {};
  copy(out, {element, out.dtype, out.rank, out.shape, zeros});
}

}  // namespace

void fill(Strided out, double re, double im) {
  std::complex<double> value(re, im);
  fill_with(out, &value, DType::complex128);
}

void fill(Strided out, std::int64_t value) { fill_with(out, &value, DType::int64); }

void clear(Strided out) {
  auto bytes = static_cast<std::int64_t>(element_size(out.dtype));
  for (int i = 0; i < out.rank; ++i) bytes *= out.shape[i];
  parallel_for({bytes, nanoseconds_per_byte(bytes), 64 * line_step()}, [&](std::int64_t begin, std::int64_t end) {
    std::memset(static_cast<char*>(out.data) + begin, 0, static_cast<std::size_t>(end - begin));
  });
}

RowMajorCopy::RowMajorCopy(const Strided& x)
    : room_(element_count(x) * static_cast<std::int64_t>(element_size(x.dtype))),
      strides_(static_cast<std::size_t>(x.rank)),
      view_{room_.data(), x.dtype, x.rank, x.shape, strides_.data()} {
  std::int64_t step = 1;
  for (std::size_t i = strides_.size(); i-- > 0; step *= x.shape[i]) strides_[i] = step;
  copy(view_, x);
}

}  // namespace ricci::kernels
