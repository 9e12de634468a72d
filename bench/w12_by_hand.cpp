// W12 by hand: the derivatives of the residual written out, a block of observations at a time, one a vector lane.
#include <algorithm>

#include "by_hand.h"
#include "kernels/machine.h"
#include "w12_bundle_adjustment.h"

namespace rc = ricci;

namespace bench {
namespace {

using V = by_hand::Pack<double>;
/// Results beyond the caches go past them: so many numbers.
constexpr std::int64_t streamed = 1 << 19;
constexpr int lanes = V::lanes, row = 15, block = 2 * row;

struct V3 {
  V x, y, z;
  friend V3 operator-(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend V3 operator*(V3 a, V b) { return {a.x * b, a.y * b, a.z * b}; }
};
V3 fma(V3 a, V b, V3 c) { return {fma(a.x, b, c.x), fma(a.y, b, c.y), fma(a.z, b, c.z)}; }
V dot(V3 a, V3 b) { return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z)); }
V3 cross(V3 a, V3 b) { return {fma(a.y, b.z, -a.z * b.y), fma(a.z, b.x, -a.x * b.z), fma(a.x, b.y, -a.y * b.x)}; }

/// Where the arrays lie.
struct Memory {
  const double *cameras, *points, *weights, *features;
  const std::int64_t *camera_of, *point_of;
  double* values;
};

/// Element k of the rows that start there.
V gathered(const double* const (&rows)[lanes], int k) {
  V v;
  for (int l = 0; l < lanes; ++l) v.v[l] = rows[l][k];
  return v;
}
V3 three(const double* const (&rows)[lanes], int k) {
  return {gathered(rows, k), gathered(rows, k + 1), gathered(rows, k + 2)};
}

/// The blocks of `lanes` observations. A lane beyond the last observation repeats it.
void blocks_from(const Memory& m, std::int64_t first, std::int64_t observations, bool streams) {
  std::int64_t observation[lanes];
  const double *camera[lanes], *point[lanes], *weight[lanes], *feature[lanes];
  for (int l = 0; l < lanes; ++l) {
    const std::int64_t i = observation[l] = std::min(first + l, observations - 1);
    camera[l] = m.cameras + 11 * m.camera_of[i], point[l] = m.points + 3 * m.point_of[i];
    weight[l] = m.weights + i, feature[l] = m.features + 2 * i;
  }
  const V one(1), w = gathered(weight, 0), focal = gathered(camera, 6), k1 = gathered(camera, 9),
                  k2 = gathered(camera, 10);
  const V3 turn = three(camera, 0), d = three(point, 0) - three(camera, 3);
  const V angle = sqrt(dot(turn, turn)), c = by_hand::inlined::cos(angle), s = by_hand::inlined::sin(angle),
          versine = one - c, per_angle = one / angle;
  const V3 axis = turn * per_angle, across = cross(axis, d);
  const V along = dot(axis, d);
  const V3 turned = fma(axis, along * versine, fma(across, s, d * c));
  const V3 by_angle = fma(axis, along * s, fma(across, c, d * -s));  // the derivative of `turned`
  const V depth = one / turned.z, qx = turned.x * depth, qy = turned.y * depth, square = qx * qx + qy * qy;
  const V distortion = fma(square, fma(square, k2, k1), one);
  const V slope = V(2) * (k1 + V(2) * square * k2), scale = w * focal;

  V out[block];
  const V flat[2] = {qx, qy};
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    V* const to = out + row * i;
    const V q = flat[i], stretched = q * distortion, by_k1 = scale * q * square;
    const V own = scale * distortion, shared = scale * q * slope;  // d residual / d flat
    const V gx = (i == 0 ? own + shared * qx : shared * qx) * depth,
            gy = (i == 1 ? own + shared * qy : shared * qy) * depth;
    const V3 v{gx, gy, -(gx * qx + gy * qy)};  // d residual / d turned
    const V on_axis = dot(v, axis);
    const V3 by_axis = fma(cross(d, v), s, fma(v, along, d * on_axis) * versine);
    const V3 by_turn = fma(axis, fma(dot(axis, by_axis), -per_angle, dot(v, by_angle)), by_axis * per_angle);
    const V3 by_point = fma(axis, on_axis * versine, fma(cross(v, axis), s, v * c));
    const V parts[row] = {
        by_turn.x,     by_turn.y,         by_turn.z,
        -by_point.x,   -by_point.y,       -by_point.z,
        w * stretched, i == 0 ? w : V(0), i == 1 ? w : V(0),
        by_k1,         by_k1 * square,    by_point.x,
        by_point.y,    by_point.z,        stretched * focal + gathered(camera, 7 + i) - gathered(feature, i)};
    std::copy(parts, parts + row, to);
  }
  alignas(V) double rows_of_block[lanes * block];  // the blocks of consecutive observations lie side by side
  for (int at = 0; at < block; at += lanes) {
    const int k = std::min(at, block - lanes);
    V tile[lanes];
    std::copy(out + k, out + k + lanes, tile);
    by_hand::transpose(tile);
    for (int l = 0; l < lanes; ++l) store(rows_of_block + block * l + k, tile[l]);
  }
  double* const to = m.values + block * first;
  const std::int64_t count = std::min<std::int64_t>(lanes, observations - first) * block;
  if (streams && count == lanes * block) {
    for (int i = 0; i < lanes * block; i += lanes)
      rc::kernels::stream<lanes, double>(to + i, load(rows_of_block + i, std::type_identity<V>{}).v);
  } else {
    std::copy(rows_of_block, rows_of_block + count, to);
  }
  for (int l = 0; l < lanes; ++l) m.values[block * observations + observation[l]] = -2 * w.v[l];
}

}  // namespace

rc::Tensor bundle_adjustment_by_hand(const Observations& o) {
  const std::int64_t observations = o.weights.numel();
  rc::Tensor values = rc::empty({(block + 1) * observations}, rc::float64);
  const Memory memory{o.cameras.data<double>(),         o.points.data<double>(),
                      o.weights.data<double>(),         o.features.data<double>(),
                      o.camera_of.data<std::int64_t>(), o.point_of.data<std::int64_t>(),
                      by_hand::elements<double>(values)};
  const bool streams =
      observations * block >= streamed && reinterpret_cast<std::uintptr_t>(memory.values) % sizeof(V) == 0;
  rc::kernels::parallel_for({.size = observations, .nanoseconds = 12, .step = lanes},
                            [&](std::int64_t begin, std::int64_t end) {
                              for (std::int64_t i = begin; i < end; i += lanes)
                                blocks_from(memory, i, observations, streams);
                              if (streams) rc::kernels::finish_streaming();
                            });
  return values;
}

}  // namespace bench
