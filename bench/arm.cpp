// arm: a damped least-squares step of inverse kinematics for arms of seven turning joints, in float64: the pose's
// Jacobian by jacfwd, and a 7 x 7 system by Cholesky. 4,096 arms under vmap, and one.
#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

constexpr std::int64_t joints = 7;

/// The rotation and the place of a frame in another.
struct Frame {
  Tensor axes[3], place;  // each [3]
};

/// Denavit and Hartenberg's constants of a joint of a lightweight arm: along and about the joint's axis and its normal.
struct Joint {
  double offset, twist_sine, twist_cosine;
};
constexpr Joint chain_of_joints[joints] = {{0.34, -1, 0}, {0, 1, 0}, {0.4, 1, 0},  {0, -1, 0},
                                           {0.4, -1, 0},  {0, 1, 0}, {0.126, 0, 1}};

/// The frame turned about its third axis by the angle, moved along it by the joint's offset, then twisted about its
/// first axis by a constant.
Frame next(const Frame& f, const Joint& joint, const Tensor& angle) {
  const Tensor s = sin(angle), c = cos(angle);
  const Tensor first = f.axes[0] * c + f.axes[1] * s, second = f.axes[1] * c - f.axes[0] * s;
  return {{first, second * joint.twist_cosine + f.axes[2] * joint.twist_sine,
           f.axes[2] * joint.twist_cosine - second * joint.twist_sine},
          f.place + f.axes[2] * joint.offset};
}

/// The hand's three axes and its place [12], of the joints' angles [7].
Tensor pose(const Tensor& angles) {
  const Tensor base = rc::eye(3, rc::float64);
  Frame hand{{base[0], base[1], base[2]}, rc::zeros({3}, rc::float64)};
  for (std::int64_t i = 0; i < joints; ++i) hand = next(hand, chain_of_joints[i], angles[i]);
  return rc::cat({hand.axes[0], hand.axes[1], hand.axes[2], hand.place});
}

/// The angles a step nearer to where the pose is `target`: q + (JᵀJ + 0.01 I)⁻¹ Jᵀ (target - pose(q)).
Tensor damped_step(const Tensor& angles, const Tensor& target) {
  const Tensor jacobian = rc::jacfwd(pose)(angles);  // [12, 7]
  const Tensor damped = matmul(jacobian.t(), jacobian) + 0.01 * rc::eye(joints, rc::float64);
  const Tensor pull = matmul(jacobian.t(), target - pose(angles));
  return angles + cholesky_solve(pull, cholesky(damped));
}

Tensor angles(std::int64_t arms) { return bench::uniform({arms, joints}, 200, -2, 2).to(rc::float64); }
/// Poses of other angles.
Tensor targets(std::int64_t arms) { return rc::vmap(pose)(bench::uniform({arms, joints}, 201, -2, 2).to(rc::float64)); }

}  // namespace

std::vector<bench::Case> bench::arms() {
  return within(
      1e-8, {make_case("arm/step_4096", [] { return call(rc::vmap(damped_step), angles(4096), targets(4096)); }),
             make_case("arm/step_one", [] { return call(damped_step, angles(1)[0].clone(), targets(1)[0].clone()); })});
}
