// W14: ADBench's hand tracker: a chain of 22 bones, turned by 26 angles, carries a skin; how far it is from the points
// seen, and the Jacobian. bench/gradbench answers with the same functions. Knows nothing of files.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "adbench.h"

namespace bench::hand {

namespace rc = ricci;
using adbench::Hand;
using rc::Tensor;

/// Which angle of theta turns each bone about x, z and y [bones, 3]; 26: none. Three bones of each finger have one
/// angle, the first of them two.
inline Tensor angle_index(std::size_t bones) {
  std::vector<std::int64_t> index(3 * bones, 26);
  std::int64_t angle = 6;
  for (std::size_t finger = 0; finger < 5; ++finger)
    for (std::size_t joint = 0; joint < 3; ++joint) {
      const std::size_t bone = 2 + 4 * finger + joint;
      index.at(3 * bone) = angle++;
      if (joint == 0) index.at(3 * bone + 1) = angle++;
    }
  return rc::tensor(index).reshape({-1, 3});
}

/// Rows of entries of one shape [...] become matrices [..., rows, columns].
inline Tensor matrices(const std::vector<std::vector<Tensor>>& rows) {
  std::vector<Tensor> stacked;
  for (const auto& row : rows) stacked.push_back(rc::stack(row, -1));
  return rc::stack(stacked, -2);
}

inline Tensor bone_rotations(const Tensor& theta, const Tensor& index) {
  const Tensor angles = rc::cat({theta, rc::zeros({1}, rc::float64)}).index_select(0, index.flatten()).reshape({-1, 3});
  const Tensor s = sin(angles), c = cos(angles);
  const Tensor sx = s.select(1, 0), sz = s.select(1, 1), sy = s.select(1, 2);
  const Tensor cx = c.select(1, 0), cz = c.select(1, 1), cy = c.select(1, 2);
  return matrices({{cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx},
                   {sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx},
                   {-sy, cy * sx, cy * cx}});
}

/// By an axis times an angle, which is not 0.
inline Tensor global_rotation(const Tensor& turn) {
  const Tensor angle = sqrt((turn * turn).sum()), s = sin(angle), c = cos(angle), d = 1 - c;
  const Tensor x = turn[0] / angle, y = turn[1] / angle, z = turn[2] / angle;
  return matrices({{x * x * d + c, x * y * d - z * s, x * z * d + y * s},
                   {x * y * d + z * s, y * y * d + c, y * z * d - x * s},
                   {x * z * d - y * s, z * y * d + x * s, z * z * d + c}});
}

/// Where the vertices are [vertices, 3]. theta: a rotation, a translation, then the bones' angles.
inline Tensor posed(const adbench::HandModel& model, const Tensor& index, const Tensor& theta) {
  const auto bones = static_cast<std::int64_t>(model.parents.size());
  const Tensor right = rc::zeros({bones, 3, 1}, rc::float64);
  const Tensor bottom = rc::tensor(std::vector<double>{0, 0, 0, 1}).reshape({1, 1, 4}).expand({bones, 1, 4});
  const Tensor turns = rc::cat({rc::cat({bone_rotations(theta, index), right}, 2), bottom}, 1);
  const Tensor local = matmul(model.relative, turns);  // [bones, 4, 4]
  std::vector<Tensor> absolute;
  for (std::size_t bone = 0; bone < model.parents.size(); ++bone) {
    const int parent = model.parents[bone];
    const Tensor own = local[static_cast<std::int64_t>(bone)];
    absolute.push_back(parent < 0 ? own : matmul(absolute[static_cast<std::size_t>(parent)], own));
  }
  const Tensor transforms = matmul(rc::stack(absolute), model.inverse);
  const Tensor blended = matmul(model.weights, transforms.slice(1, 0, 3).reshape({bones, 12})).reshape({-1, 3, 4});
  const Tensor skin = (blended * model.vertices.unsqueeze(1)).sum(-1);
  return matmul(skin, global_rotation(theta.slice(0, 0, 3)).t()) + theta.slice(0, 3, 6);
}

/// The points seen, less the vertices that they correspond to. [3 N]
inline auto simple_residual(const Hand& hand) {
  return [hand, index = angle_index(hand.model.parents.size())](const Tensor& theta) {
    return (hand.points - posed(hand.model, index, theta).index_select(0, hand.correspondences)).flatten();
  };
}

/// The points seen, less the places [N, 2] in the triangles that they correspond to. [3 N]
inline auto complicated_residual(const Hand& hand) {
  const Tensor corners = hand.model.triangles.index_select(0, hand.correspondences);  // [N, 3]
  return [hand, index = angle_index(hand.model.parents.size()), corners](const Tensor& theta, const Tensor& places) {
    const Tensor skin = posed(hand.model, index, theta);
    const auto corner = [&](std::int64_t i) { return skin.index_select(0, corners.select(1, i)); };
    const Tensor a = places.slice(1, 0, 1), b = places.slice(1, 1, 2);
    return (hand.points - (a * corner(0) + b * corner(1) + (1 - a - b) * corner(2))).flatten();
  };
}

/// [3 N, 28]: by each of the two coordinates of a place, of all places at once; then by theta.
inline auto complicated_jacobian(const Hand& hand) {
  return [residual = complicated_residual(hand)](const Tensor& theta, const Tensor& places, const Tensor& first,
                                                 const Tensor& second) {
    const auto of_places = [&](const Tensor& p) { return residual(theta, p); };
    const Tensor columns =
        rc::stack({std::get<1>(rc::jvp(of_places, places, first)), std::get<1>(rc::jvp(of_places, places, second))}, 1);
    return rc::cat({columns, rc::jacfwd(residual)(theta, places)}, 1);
  };
}

/// (a, b) at every place: a direction of theirs.
inline Tensor direction(const Hand& hand, double a, double b) {
  return rc::tensor(std::vector<double>{a, b}).expand(hand.places.shape()).clone();
}

}  // namespace bench::hand
