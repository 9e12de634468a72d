// Rotations and rigid motions of space as trees: groups whose elements are reached from each other by exp of a vector.
// Tensors may have leading axes, which broadcast. Solvers change vectors; poses are `start.retract(change)`.
//
//   const solvers::SE3 poses = start.retract(change);                    // change: [n, 6]
//   Tensor error = (measured.inverse() * (a.inverse() * b)).log();       // [6]
#pragma once

#include "ricci/tensor.h"

namespace ricci::solvers {

/// A rotation of space, as a quaternion.
struct SO3 {
  Tensor quaternion;  ///< [..., 4]: w x y z, of length 1; q and -q are one rotation

  /// No rotation, in this dtype.
  static SO3 identity(DType dtype = float64);
  /// The rotation about the vector [..., 3] by its length. All derivatives exist, at 0 too.
  static SO3 exp(const Tensor& vector);
  /// Of a matrix [..., 3, 3] with orthonormal columns and determinant 1.
  static SO3 of_matrix(const Tensor& matrix);

  /// The vector of length up to π whose exp this is. All derivatives exist but at π, where it jumps to its negative;
  /// the vector itself is right to rounding there too.
  Tensor log() const;
  Tensor matrix() const;  ///< [..., 3, 3]
  /// [..., 3, 3]: x * exp(v) = exp(x.adjoint() v) * x. It is the matrix.
  Tensor adjoint() const;
  SO3 inverse() const;
  /// The points [..., 3], rotated.
  Tensor apply(const Tensor& points) const;
  /// This, then changed: *this * exp(change), with a quaternion of length 1.
  SO3 retract(const Tensor& change) const;

  /// First the right one, then the left one.
  friend SO3 operator*(const SO3& left, const SO3& right);
};

/// A rigid motion: a rotation, then a translation.
struct SE3 {
  SO3 rotation;
  Tensor translation;  ///< [..., 3]

  /// No motion, in this dtype.
  static SE3 identity(DType dtype = float64);
  /// The motion of a screw [..., 6]: the velocity, then the vector of the rotation, for a time of 1. All derivatives
  /// exist, at 0 too.
  static SE3 exp(const Tensor& screw);
  /// Of a matrix [..., 4, 4] of a rotation and a translation; its last row is not read.
  static SE3 of_matrix(const Tensor& matrix);

  Tensor log() const;     ///< the screw whose exp this is, with a rotation up to π, as for SO3
  Tensor matrix() const;  ///< [..., 4, 4]
  /// [..., 6, 6]: x * exp(s) = exp(x.adjoint() s) * x.
  Tensor adjoint() const;
  SE3 inverse() const;
  Tensor apply(const Tensor& points) const;  ///< [..., 3]
  SE3 retract(const Tensor& change) const;   ///< *this * exp(change)

  friend SE3 operator*(const SE3& left, const SE3& right);
};

}  // namespace ricci::solvers
