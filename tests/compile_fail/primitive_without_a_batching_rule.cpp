// expect: ricci: a primitive needs `lifted()`, `lifted(Size)` or `batch(const Batch&)` to work under vmap
#include <ricci/primitive.h>
#include <ricci/ricci.h>

/// The identity, without a word about vmap.
struct Same {
  using kind = ricci::Linear;
  static constexpr const char* name = "same";
  ricci::Type type(const ricci::Type& x) const { return x; }
  void eval(ricci::Outputs, ricci::Inputs) const {}
  ricci::Tensor transpose(const ricci::Tensor& ct, const ricci::Type&) const { return ct; }
};

void misuse() { ricci::apply(Same{}, ricci::ones({3})); }
