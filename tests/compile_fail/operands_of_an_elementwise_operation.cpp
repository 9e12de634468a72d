// expect: ricci: an elementwise operation takes as many tensors as its formula has arguments
#include <ricci/primitive/elementwise.h>

namespace {
struct Difference {
  using kind = ricci::Elementwise;
  static constexpr const char* name = "difference";
  static constexpr bool locally_constant = true;
  template <class T>
  auto formula(T a, T b) const {
    return a - b;
  }
};
}  // namespace

ricci::Tensor misuse(const ricci::Tensor& x) { return ricci::apply(Difference{}, x); }
