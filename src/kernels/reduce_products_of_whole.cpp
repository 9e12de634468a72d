// Sums of products of whole numbers.
#include "kernels/reduce_products_of_two.h"

namespace ricci::kernels {
namespace {

struct Whole : reduction::Summed {
  template <class F>
  static void visit(DType in, const F& f) {
    switch (in) {
      case DType::int8: return f(std::type_identity<std::int8_t>{});
      case DType::int16: return f(std::type_identity<std::int16_t>{});
      case DType::int32: return f(std::type_identity<std::int32_t>{});
      case DType::int64: return f(std::type_identity<std::int64_t>{});
      default: return f(std::type_identity<std::uint8_t>{});  // and booleans
    }
  }
};

}  // namespace

void sum_of_products_of_whole(Strided out, Strided x, Strided y, const bool* reduced) {
  reduce(SumOfProducts<Whole>(), out, x, &y, reduced);
}

}  // namespace ricci::kernels
