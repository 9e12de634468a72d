// The types that pooling has kernels for, and copies in them of what has another type. Knows nothing of windows.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/pooling_volumes.h"
#include "kernels/strided.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {

/// A view's elements in another type, row by row; the view itself if they have that type.
class InType {
 public:
  /// Leaves the elements unset.
  InType(const Strided& x, DType dtype) : view_(x) {
    if (x.dtype == dtype) return;
    room_.allocate(element_count(x) * static_cast<std::int64_t>(element_size(dtype)));
    strides_.resize(static_cast<std::size_t>(x.rank));
    std::int64_t step = 1;
    for (std::size_t i = strides_.size(); i-- > 0; step *= x.shape[i]) strides_[i] = step;
    view_ = {room_.data(), dtype, x.rank, x.shape, strides_.data()};
  }
  InType(const InType&) = delete;
  const Strided& view() const { return view_; }

 private:
  Scratch<std::byte> room_;
  std::vector<std::int64_t> strides_;
  Strided view_;
};

/// f(out, in), in copies of type `dtype` if that is not theirs: narrow types need no kernels of their own.
template <class F>
void run_in_type(DType dtype, const Strided& out, const Strided& in, const F& f) {
  const InType from(in, dtype), to(out, dtype);
  if (in.dtype != dtype) copy(from.view(), in);
  f(to.view(), from.view());
  if (out.dtype != dtype) copy(out, to.view());
}

/// f(std::type_identity<T>{}, out, in) in the type that their elements are added in, which is T.
template <class F>
void run_as_sums(const Strided& out, const Strided& in, const F& f) {
  run_in_type(accumulator_dtype(in.dtype), out, in, [&](const Strided& to, const Strided& from) {
    if (to.dtype == DType::int64) return f(std::type_identity<std::int64_t>(), to, from);
    visit_inexact(to.dtype, [&]<class T>(std::type_identity<T> type) {
      if constexpr (std::is_same_v<Sum<T>, T>) f(type, to, from);
    });
  });
}

/// The same in the type that elements are compared in.
template <class F>
void run_compared(const Strided& out, const Strided& in, const F& f) {
  run_in_type(computed_dtype(in.dtype), out, in, [&](const Strided& to, const Strided& from) {
    visit_real(to.dtype, [&]<class T>(std::type_identity<T> type) {
      if constexpr (std::is_arithmetic_v<T>) f(type, to, from);
    });
  });
}
/// The same in the type that elements are compared in beside their places: one of four bytes or more.
template <class F>
void run_with_places(const Strided& out, const Strided& in, const F& f) {
  const bool is_narrow = element_size(in.dtype) < 4;
  const DType compared = is_narrow && !is_floating(in.dtype) ? DType::int32 : computed_dtype(in.dtype);
  run_in_type(compared, out, in, [&](const Strided& to, const Strided& from) {
    visit_real(to.dtype, [&]<class T>(std::type_identity<T> type) {
      if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) f(type, to, from);
    });
  });
}

/// The lowest number of `dtype`, which is no wider than T.
template <class T>
T lowest_of(DType dtype) {
  T number{};
  visit_real(dtype, [&]<class E>(std::type_identity<E>) { number = static_cast<T>(lowest<E>()); });
  return number;
}

}  // namespace ricci::kernels
