// Operands as the kernels behind factorisations, convolution and pooling want them: float or double or a complex of
// these, and row-major where the kernel asks for it. Knows nothing of any operation.
#pragma once

#include "kernels/elementwise.h"
#include "ricci/primitive.h"
#include "ricci/primitive/raise.h"
#include "tensor/value.h"

namespace ricci {

/// x itself if it is floating or complex, else x in the default type.
inline Tensor floating(const Tensor& x) { return is_differentiable(type_of(x).dtype) ? x : to(x, default_dtype()); }

/// Throws TypeError if x is complex.
inline void require_real(const char* op, const Type& x) {
  if (is_complex(x.dtype))
    raise<TypeError>(std::string(op) + ": not defined for the complex " + to_string(x) +
                     "; pass its real and imaginary part");
}

/// Throws TypeError unless x is floating or complex.
inline void require_floating(const char* op, const Type& x) {
  if (!is_differentiable(x.dtype))
    raise<TypeError>(std::string(op) + ": not defined for the integers " + to_string(x) +
                     "; convert them first, for example with x.to(rc::float32)");
}

inline Shape shape_of(Strided x) { return Shape(x.shape, x.shape + x.rank); }
inline bool is_row_major(Strided x) { return is_contiguous(shape_of(x), Strides(x.strides, x.strides + x.rank)); }

/// Row-major, uninitialised, of x's shape.
inline ArrayRef array_like(Strided x, DType dtype) { return make_array({dtype, shape_of(x)}); }

enum class ElementOrder : bool { any, row_major };

/// kernel(out, in) on operands of computed types and the wanted order: themselves, or converted copies.
template <class Kernel>
void run_computed(ElementOrder order, Outputs out, Inputs in, Kernel&& kernel) {
  SmallVector<ArrayRef, 6> copies;
  SmallVector<Strided, 4> from, to;
  for (const Strided& x : in) {
    const DType dtype = computed_dtype(x.dtype);
    if (dtype == x.dtype && (order == ElementOrder::any || is_row_major(x))) {
      from.push_back(x);
      continue;
    }
    copies.push_back(array_like(x, dtype));
    from.push_back(copies.back()->strided());
    kernels::copy(from.back(), x);
  }
  for (const Strided& y : out) {
    const DType dtype = computed_dtype(y.dtype);
    if (dtype != y.dtype) copies.push_back(array_like(y, dtype));
    to.push_back(dtype == y.dtype ? y : copies.back()->strided());
  }
  kernel(Outputs(to.data(), to.size()), Inputs(from.data(), from.size()));
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i].dtype != out[i].dtype) kernels::copy(out[i], to[i]);
}

/// kernel(elements of the result, operands) with all of these row-major and of computed types; the result is not.
template <class Kernel>
void run_row_major(Outputs out, Inputs in, Kernel&& kernel) {
  run_computed(ElementOrder::row_major, out.first(0), in, [&](Outputs, Inputs given) {
    if (is_row_major(out[0])) return kernel(out[0].data, given);
    const ArrayRef found = array_like(out[0], out[0].dtype);
    kernel(found->data, given);
    kernels::copy(out[0], found->strided());
  });
}

}  // namespace ricci
