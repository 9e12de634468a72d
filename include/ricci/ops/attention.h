// Attention: means of values, weighted by how well keys match queries. All are differentiable to any order, in both
// modes. Element types are real and floating; of several, the promoted one.
#pragma once

#include <optional>
#include <utility>

#include "ricci/tensor.h"

namespace ricci {

/// `{.is_causal = true}`, `{.attn_mask = seen, .dropout_p = 0.1}`
struct AttentionOptions {
  /// Broadcasts to [..., L, S]. Boolean: true where a query sees a key; floating: is added to the scores.
  Tensor attn_mask = {};
  double dropout_p = 0;              ///< weights are dropped with this probability, whether one trains or not
  bool is_causal = false;            ///< query i sees the keys 0 … i; not together with a mask
  std::optional<double> scale = {};  ///< multiplies the products; 1 / √E if not given
  bool enable_gqa = false;  ///< axis -3 of the queries is a multiple of the keys' and values': heads share these
};

/// The weights of multi_head_attention_forward and what it is told, with PyTorch's names.
struct MultiHeadAttentionOptions {
  Tensor in_proj_weight = {};  ///< [3 E, E], of queries, keys and values; undefined with the next three
  Tensor q_proj_weight = {}, k_proj_weight = {}, v_proj_weight = {};  ///< [E, E], [E, Ek], [E, Ev]
  Tensor in_proj_bias = {};                                           ///< [3 E]; undefined: 0
  Tensor bias_k = {}, bias_v = {};  ///< [1, 1, E] each: one more key and value for all, behind the others; or undefined
  bool add_zero_attn = false;       ///< one more key and value of zeros, behind these
  double dropout_p = 0;             ///< of the weights, where `training`
  Tensor out_proj_weight = {};      ///< [E, E]
  Tensor out_proj_bias = {};        ///< [E]; undefined: 0
  bool training = true;
  Tensor key_padding_mask = {};  ///< [N, S] ([S] of one example); boolean: true for keys to leave out; or is added
  bool need_weights = true;
  /// [L, S] or [N heads, L, S]; boolean: true where a query does not see a key, unlike AttentionOptions; or is added.
  Tensor attn_mask = {};
  bool average_attn_weights = true;  ///< the weights are means over the heads
  bool is_causal = false;            ///< query i sees the keys 0 … i; not read where attn_mask is given, as in PyTorch
};

namespace ops {

/// softmax(scale query keyᵀ + mask) value, the softmax over the keys. query [..., L, E], key [..., S, E], value
/// [..., S, Ev]; the leading axes broadcast; the result is [..., L, Ev], 0 for a query that sees no key. is_causal, and
/// false or -infinity in the mask, hide keys. A hidden key and its value do not affect the query's result, even if they
/// are NaN. Without dropout, value and reverse mode need memory in L + S, not in L S (Dao et al., "FlashAttention",
/// 2022); forward mode and second order make all scores. ValueError if shapes do not fit, or for a mask together with
/// is_causal; TypeError for integers and complex numbers; with dropout errors as `dropout`.
///   Tensor y = rc::scaled_dot_product_attention(q, k, v, {.is_causal = true});  // f32[4,8,256,64] each
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value);
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    AttentionOptions options);

/// Multi-head attention of Vaswani et al., "Attention is all you need", 2017: queries [L, N, E], keys [S, N, Ek] and
/// values [S, N, Ev] are projected to E numbers, whose `num_heads` parts attend one by one; their results, side by
/// side, are projected to [L, N, E]. One example has no axis N. The second result holds the weights, [N, L, S], or
/// [N, num_heads, L, S] if they are not averaged; it is undefined where they are not needed, which takes less memory.
/// ValueError if shapes do not fit.
///   auto [y, weights] = rc::multi_head_attention_forward(
///       x, x, x, 8, {.in_proj_weight = w, .in_proj_bias = b, .out_proj_weight = v, .out_proj_bias = c});
std::pair<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                       Size num_heads, MultiHeadAttentionOptions options);

}  // namespace ops
}  // namespace ricci
