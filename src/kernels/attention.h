// Attention over raw strided views, by blocks of queries and keys: no matrix of all scores is ever in memory. After
// Dao, Fu, Ermon, Rudra and Ré, "FlashAttention", 2022. Knows nothing of heads, scales or dropout.
#pragma once

#include <cstdint>

#include "ricci/strided.h"

namespace ricci::kernels {

/// What the scores s[..., i, j] = Σ q[..., i, :] k[..., j, :] + mask[..., i, j] are made of.
/// q: [..., L, E], k: [..., S, E], v: [..., S, Ev], mask: [..., L, S], with the same batch axes. A query does not
/// see keys whose mask is -∞, nor, if `causal`, keys j > i: such a key and its value, NaN or infinite as they may be,
/// take no part in results of the query, and the query takes none in their gradients.
struct AttentionInputs {
  Strided q, k, v;
  const Strided* mask;  // null: zeros
  bool causal;
};

/// y[..., i, :] = Σ_j p[..., i, j] v[..., j, :] with p = exp(s - l), where l[..., i] = log Σ_j exp(s[..., i, j]). Where
/// all scores are -∞, or there are none, y is 0 and l is +∞, so that p is 0 there too.
/// Requires: one dtype, float32 or float64; y: [..., L, Ev] and l: [..., L] lie apart from the inputs. Any strides.
void attention(Strided y, Strided l, const AttentionInputs& inputs);

/// From ct [..., L, Ev], l and offset [..., L]: ds = p (ct vᵀ - offset), then dq = ds k, dk = dsᵀ q, dv = pᵀ ct, and
/// dmask = ds if it is not null.
/// Requires: as `attention`; the results have the shapes of what they belong to, and rows without gaps.
void attention_gradients(Strided dq, Strided dk, Strided dv, const Strided* dmask, Strided ct, Strided l,
                         Strided offset, const AttentionInputs& inputs);

/// c [..., L, E] = a b of a [..., L, S] and b [..., S, E], where an element 0 of a leaves its row of b out, whatever
/// that holds. Requires: one dtype, float32 or float64, and one batch; c lies apart. Any strides.
void product_of_seen(Strided c, Strided a, Strided b);

}  // namespace ricci::kernels
