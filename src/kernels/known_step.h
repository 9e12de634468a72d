// Loops over steps that are known when they are compiled, which is what vectorises them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ricci::kernels {

/// f(step), with a constant where the step is one of `usual`.
template <std::int64_t... usual, class F>
void with_step(std::int64_t step, F&& f) {
  const bool known = ((step == usual && (f(std::integral_constant<std::int64_t, usual>{}), true)) || ...);
  if (!known) f(step);
}

}  // namespace ricci::kernels
