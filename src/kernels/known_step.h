// Loops over steps that are known when they are compiled, which is what vectorises them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ricci::kernels {

/// f(step), with a constant where the step is one of `usual` and those after it.
template <std::int64_t usual, std::int64_t... others, class F>
auto with_step(std::int64_t step, F&& f) {
  if (step == usual) return f(std::integral_constant<std::int64_t, usual>{});
  if constexpr (sizeof...(others) > 0) return with_step<others...>(step, f);
  else return f(step);
}

}  // namespace ricci::kernels
