// What factorisations with orthonormal vectors in columns share: columns that complete a basis, and factors of size 1
// that a complex vector may have. Knows nothing of any one factorisation.
#pragma once

#include "ops/factorizations.h"
#include "primitive/derive.h"
#include "tensor/symbols.h"

namespace ricci {

inline Tensor times_i(const Tensor& x) {
  return mul(to(x, complex_dtype(type_of(x).dtype)), std::complex<double>(0, 1));
}

inline Size columns_of(const Tensor& x) { return type_of(x).shape.back(); }
inline Size rows_of(const Tensor& x) { return type_of(x).shape[type_of(x).shape.size() - 2]; }

/// The first k columns, and those behind.
inline Tensor front(const Tensor& x, Size k) {
  const bool is_all = !any_symbol(columns_of(x), k) && columns_of(x) == k;  // symbols that are equal may part
  return is_all ? x : narrow(x, -1, 0, k);
}
inline Tensor behind(const Tensor& x, Size k) { return narrow(x, -1, k, columns_of(x) - k); }

/// Orthonormal columns q and others `rest` that complete them: any will do, so they are moved by no more than it takes
/// to stay orthogonal to q. Of what depends on their span alone, derivatives of any order are right.
inline Tensor tangent_of_rest(const Tensor& q, const Tensor& rest, const Tensor& dq) {
  return neg(matmul(q, matmul(adjoint(dq), rest)));
}
/// What the cotangent of `rest` adds to that of q.
inline Tensor cotangent_by_rest(const Tensor& q, const Tensor& rest, const Tensor& ct_rest) {
  return neg(matmul(rest, matmul(adjoint(ct_rest), q)));
}

/// Complex vectors [..., n, k] in columns, of which derivatives keep the phase of the greatest element, the first of
/// equal ones. A kernel makes the greatest element real before its last rounding. Where several elements tie, the
/// kernel and this class may pick different ones, so the element picked here is not taken for real.
class Phases {
 public:
  explicit Phases(const Tensor& v) {
    const Tensor size = square(real(v)) + square(imag(v));
    const Tensor place = unsqueeze(arange(rows_of(v), DType::int64), -1);
    const Tensor greatest = rows_of(v) == 0 ? to(size, DType::boolean) : eq(place, argmax(size, -2, true));
    weight_ = where(greatest, 1 / where(greatest, v, 1), 0);
  }
  /// The angle [..., 1, k] by which a change of the vectors turns their greatest elements.
  Tensor turn(const Tensor& dv) const { return sum(imag(dv * weight_), {-2}, true); }
  /// The cotangent of the change from that of the angle.
  Tensor cotangent(const Tensor& ct_turn) const { return times_i(conj(weight_) * ct_turn); }

 private:
  Tensor weight_;  // one over the greatest elements, in their places; 0 in others
};

}  // namespace ricci
