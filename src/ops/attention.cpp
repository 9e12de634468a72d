// Attention as a primitive that never has all scores in memory, and its gradients as another. The scores are
// s = q kᵀ + mask, the weights p = exp(s - l) with l = log Σ exp(s) over the keys, and the value is y = p v. Rules but
// the first gradients make s whole, of ordinary operations. Start with `Attention`.
#include "kernels/attention.h"

#include <cmath>

#include "kernels/matmul.h"
#include "ops/axes.h"
#include "ops/constants.h"
#include "ops/dense.h"
#include "ops/patterns.h"
#include "ops/samples.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "ricci/ops/attention.h"
#include "ricci/ops/random.h"

namespace ricci {
namespace {

Tensor sum_over_keys(const Tensor& x) { return sum_along(x, {type_of(x).rank() - 1}); }  // [..., L, S] → [..., L]
Tensor for_each_key(const Tensor& x) { return unsqueeze(x, -1); }                        // [..., L] → [..., L, 1]

/// Throws unless x is [batch…, rows, width].
void require_plane(const Type& like, const Type& x, Size rows, Size width) {
  Shape wanted(like.shape.begin(), like.shape.end() - 2);
  wanted.push_back(rows);
  wanted.push_back(width);
  require_dtype(like.dtype, x);
  require_shape(x.shape, wanted);
}

/// a b of matrices [batch…, l, s] and [batch…, s, e].
///
/// `left_are_weights`: a holds weights, and a weight of 0 drops its row of b, even if that row is NaN or infinite.
/// Otherwise a b is a plain product, such as q kᵀ. The caller overwrites its entries of hidden keys, so their
/// cotangents are 0, and the derivative is a product with weights. The cotangent of weights is a plain product in turn.
struct ProductOfSeen {
  using kind = Explicit;
  static constexpr const char* name = "product_of_seen";
  static constexpr unsigned keeps[] = {input(1), input(0)};
  bool left_are_weights;

  Type type(const Type& a, const Type& b) const {
    require_rank_of_at_least(2, a);
    require_rank_of_at_least(2, b);
    require_real(name, a);
    require_floating(name, a);
    require_plane(a, b, a.shape.back(), b.shape.back());
    Type c = a;
    c.shape.back() = b.shape.back();
    return c;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs to, Inputs x) {
      if (left_are_weights) kernels::product_of_seen(to[0], x[0], x[1]);
      else kernels::matmul(to[0], x[0], x[1], kernels::Accumulate::no);
    });
  }
  Tensor of(const Tensor& a, const Tensor& b) const { return ricci::apply(*this, a, b); }
  Tensors jvp(const Forward& f) const {
    const Tensor &da = f.tangents[0], &db = f.tangents[1];
    if (!db.defined()) return {of(da, f.inputs[1])};
    return {da.defined() ? of(da, f.inputs[1]) + of(f.inputs[0], db) : of(f.inputs[0], db)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor &a = r.inputs[0], &ct = r.cotangents[0];
    Tensors out(2);
    if (r.wants(0)) out[0] = ProductOfSeen{!left_are_weights}.of(ct, mT(r.inputs[1]));
    if (r.wants(1)) out[1] = left_are_weights ? of(mT(a), ct) : mT(ProductOfSeen{true}.of(mT(ct), a));
    return out;
  }
  ProductOfSeen lifted() const { return *this; }
  static std::vector<Sample<ProductOfSeen>> samples() {
    const auto x = [](const Shape& shape) { return uniform_around_zero(shape); };
    return {{{true}, {x({2, 3}), x({3, 4})}},
            {{false}, {x({2, 3}), x({3, 4})}},
            {{true}, {x({2, 1, 2}), x({2, 2, 3})}},
            {{true}, {x({2, 0}), x({0, 3})}}};
  }
};
Tensor sum_of_seen(const Tensor& weights, const Tensor& x) { return ProductOfSeen{true}.of(weights, x); }
Tensor of_each_pair(const Tensor& q, const Tensor& k) { return ProductOfSeen{false}.of(q, mT(k)); }
/// weights x, and 0 where the weight is, whatever x is there.
Tensor of_seen(const Tensor& weights, const Tensor& x) { return where(eq(weights, 0), 0, weights * x); }
/// The values by weights that belong to these scores.
Tensor sum_of_values(const Tensor& scores, const Tensor& weights, const Tensor& v) {
  return sum_of_seen(where(eq(scores, -infinity), 0, weights), v);
}

/// q keys + mask; -∞ where the mask is, and where `causal` hides a key. [..., L, S].
Tensor scores_of(const Tensor& q, const Tensor& k, const Tensor& mask, bool causal) {
  Tensor scores = of_each_pair(q, k);
  if (mask.defined()) scores = where(eq(mask, -infinity), -infinity, scores + mask);
  if (!causal) return scores;
  const Shape& shape = type_of(scores).shape;
  const Tensor query = places_along(shape[shape.size() - 2]), key = places_along(shape.back());
  return where(le(key, unsqueeze(query, 1)), scores, -infinity);
}
/// exp(s - l) [..., L, S], and 0 of a score that is -∞, whatever l is.
Tensor weights_of(const Tensor& scores, const Tensor& l) {
  return where(eq(scores, -infinity), 0, exp(scores - for_each_key(l)));
}

void require_column(const Type& q, const Type& x) {
  require_dtype(q.dtype, x);
  require_shape(x.shape, Shape(q.shape.begin(), q.shape.end() - 1));
}

Size positions_of(const Type& x) { return x.shape[x.shape.size() - 2]; }

/// Throws unless in[0], in[1], in[2] and perhaps in[mask] are q, k, v and the mask.
void require_attention(const char* op, const Types& in, std::size_t mask) {
  require_rank_of_at_least(2, in[0]);
  require_rank_of_at_least(2, in[1]);
  require_rank_of_at_least(2, in[2]);
  require_real(op, in[0]);
  require_floating(op, in[0]);
  require_plane(in[0], in[1], positions_of(in[1]), in[0].shape.back());
  require_plane(in[0], in[2], positions_of(in[1]), in[2].shape.back());
  if (in.size() > mask) require_plane(in[0], in[mask], positions_of(in[0]), positions_of(in[1]));
}

/// The same in memory. Not inlined, as g++ 12 would warn of elements that are there.
[[gnu::noinline]] kernels::AttentionInputs inputs_of(Inputs in, std::size_t mask, bool causal) {
  return {in[0], in[1], in[2], in.size() > mask ? &in[mask] : nullptr, causal};
}

/// Inputs: q, k, v, l, ct, offset, perhaps mask. With ds = p (ct vᵀ - offset): ds k, dsᵀ q, pᵀ ct and, with a mask, ds.
struct AttentionGradients {
  using kind = Explicit;
  static constexpr const char* name = "attention_gradients";
  static constexpr unsigned keeps = input(0) | input(1) | input(2) | input(3) | input(4) | input(5) | input(6);
  bool causal;
  bool of_mask;  // else there is no fourth result

  Types type(const Types& in) const {
    require_between(of_mask ? 7 : 6, std::ssize(in), 7);
    require_attention(name, in, 6);
    require_column(in[0], in[3]);
    require_plane(in[0], in[4], positions_of(in[0]), in[2].shape.back());
    require_column(in[0], in[5]);
    Types out = {in[0], in[1], in[2]};
    if (of_mask) out.push_back(in[6]);
    return out;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs to, Inputs x) {
      kernels::attention_gradients(to[0], to[1], to[2], of_mask ? &to[3] : nullptr, x[4], x[3], x[5],
                                   inputs_of(x, 6, causal));
    });
  }

  /// What the rules read, whole.
  struct Whole {
    Tensor q, k, v, ct, weights, slopes;  // slopes: ct vᵀ - offset
    Whole(const AttentionGradients& op, std::span<const Tensor> in)
        : q(in[0]),
          k(in[1]),
          v(in[2]),
          ct(in[4]),
          weights(weights_of(scores_of(q, k, in.size() > 6 ? in[6] : Tensor(), op.causal), in[3])),
          slopes(of_each_pair(ct, v) - for_each_key(in[5])) {}
  };
  Tensors jvp(const Forward& f) const {
    const Whole x(*this, f.inputs);
    const Tensor dq = f.tangent(0), dk = f.tangent(1), dv = f.tangent(2), dct = f.tangent(4);
    Tensor scores = of_each_pair(dq, x.k) + of_each_pair(x.q, dk) - for_each_key(f.tangent(3));
    if (f.inputs.size() > 6) scores = scores + f.tangent(6);
    const Tensor weights = of_seen(x.weights, scores);
    const Tensor slopes = of_each_pair(dct, x.v) + of_each_pair(x.ct, dv) - for_each_key(f.tangent(5));
    const Tensor ds = of_seen(x.weights, x.slopes), dds = of_seen(weights, x.slopes) + of_seen(x.weights, slopes);
    Tensors out = {sum_of_seen(dds, x.k) + sum_of_seen(ds, dk), sum_of_seen(mT(dds), x.q) + sum_of_seen(mT(ds), dq),
                   sum_of_seen(mT(weights), x.ct) + sum_of_seen(mT(x.weights), dct)};
    if (of_mask) out.push_back(dds);
    return out;
  }
  Tensors vjp(const Reverse& r) const {
    const Whole x(*this, r.inputs);
    const Tensor of_dq = r.cotangent(0), of_dk = r.cotangent(1), of_dv = r.cotangent(2);
    const Tensor ds = of_seen(x.weights, x.slopes);
    Tensor of_ds = of_each_pair(of_dq, x.k) + of_each_pair(x.q, of_dk);
    if (of_mask && r.cotangents[3].defined()) of_ds = of_ds + r.cotangents[3];
    const Tensor of_slopes = of_seen(x.weights, of_ds);
    const Tensor of_scores = of_seen(x.weights, of_ds * x.slopes + of_each_pair(x.ct, of_dv));
    Tensors out = {sum_of_seen(of_scores, x.k) + sum_of_seen(ds, of_dk),
                   sum_of_seen(mT(of_scores), x.q) + sum_of_seen(mT(ds), of_dq),
                   sum_of_seen(mT(of_slopes), x.ct),
                   neg(sum_over_keys(of_scores)),
                   sum_of_seen(x.weights, of_dv) + sum_of_seen(of_slopes, x.v),
                   neg(sum_over_keys(of_slopes))};
    if (r.inputs.size() > 6) out.push_back(of_scores);
    return out;
  }
  AttentionGradients lifted() const { return *this; }
  static std::vector<Sample<AttentionGradients>> samples() {
    const auto x = [](const Shape& shape) { return uniform_around_zero(shape); };
    return {{{false, false}, {x({2, 3}), x({4, 3}), x({4, 2}), x({2}), x({2, 2}), x({2})}},
            {{true, false}, {x({2, 3, 2}), x({2, 2, 2}), x({2, 2, 1}), x({2, 3}), x({2, 3, 1}), x({2, 3})}},
            {{false, true}, {x({2, 1}), x({3, 1}), x({3, 2}), x({2}), x({2, 2}), x({2}), x({2, 3})}},
            {{true, false}, {x({2, 1}), x({3, 1}), x({3, 2}), x({2}), x({2, 2}), x({2}), x({2, 3})}},
            {{false, false}, {x({2, 3}), x({0, 3}), x({0, 2}), x({2}), x({2, 2}), x({2})}}};
  }
};

/// Inputs: q, k, v, perhaps mask. The values y and l.
struct Attention {
  using kind = Explicit;
  static constexpr const char* name = "attention";
  static constexpr unsigned keeps = input(0) | input(1) | input(2) | input(3) | output(0) | output(1);
  bool causal;

  Types type(const Types& in) const {
    require_between(3, std::ssize(in), 4);
    require_attention(name, in, 3);
    Type y = in[0], l = in[0];
    y.shape.back() = in[2].shape.back();
    l.shape.pop_back();
    return {y, l};
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in,
                 [&](Outputs to, Inputs x) { kernels::attention(to[0], to[1], inputs_of(x, 3, causal)); });
  }
  Tensors jvp(const Forward& f) const {
    const Tensor q = f.inputs[0], k = f.inputs[1], v = f.inputs[2];
    const Tensor weights =
        weights_of(scores_of(q, k, f.inputs.size() > 3 ? f.inputs[3] : Tensor(), causal), f.outputs[1]);
    Tensor y, l, scores;
    const auto add = [](Tensor& sum, const Tensor& term) { sum = sum.defined() ? sum + term : term; };
    if (f.tangents[0].defined()) add(scores, of_each_pair(f.tangents[0], k));
    if (f.tangents[1].defined()) add(scores, of_each_pair(q, f.tangents[1]));
    if (f.inputs.size() > 3 && f.tangents[3].defined()) add(scores, f.tangents[3]);
    if (scores.defined()) {
      scores = of_seen(weights, scores);
      l = sum_over_keys(scores);
      add(y, sum_of_seen(scores, v) - for_each_key(l) * f.outputs[0]);
    }
    if (f.tangents[2].defined()) add(y, sum_of_seen(weights, f.tangents[2]));
    return {y, l};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor ct = r.cotangent(0), &y = r.outputs[0];
    Tensor offset = inner_along(ct, y, {type_of(y).rank() - 1});
    if (r.cotangents[1].defined()) offset = offset - r.cotangents[1];
    std::vector<Tensor> inputs = {r.inputs[0], r.inputs[1], r.inputs[2], r.outputs[1], ct, offset};
    if (r.inputs.size() > 3) inputs.push_back(r.inputs[3]);
    const bool of_mask = r.inputs.size() > 3 && r.wants(3);
    Tensors gradients = ricci::apply(AttentionGradients{causal, of_mask}, std::span<const Tensor>(inputs));
    if (r.inputs.size() > 3 && !of_mask) gradients.push_back(Tensor());
    return gradients;
  }
  Attention lifted() const { return *this; }
  static std::vector<Sample<Attention>> samples() {
    const auto x = [](const Shape& shape) { return uniform_around_zero(shape); };
    return {{{false}, {x({2, 3}), x({4, 3}), x({4, 2})}},
            {{true}, {x({2, 3, 2}), x({2, 2, 2}), x({2, 2, 1})}},
            {{false}, {x({2, 1}), x({3, 1}), x({3, 2}), x({2, 3})}},
            {{true}, {x({1, 2, 1}), x({1, 3, 1}), x({1, 3, 2}), x({1, 2, 3})}},
            {{false}, {x({0, 2}), x({3, 2}), x({3, 2})}}};
  }
};

// ── what users call ──

/// The weights of the scores over the keys, whole: 0 of a score that is -∞, and for a query that sees no key.
/// Differentiable there too.
Tensor softmax_of_seen(const Tensor& scores) {
  if (type_of(scores).shape.back() == 0) return scores;
  const Tensor greatest = detach(amax(scores, -1, true));
  const Tensor e = weights_of(scores, squeeze(where(eq(greatest, -infinity), 0, greatest), -1));
  const Tensor total = sum(e, -1, true);
  return e / where(eq(total, 0), 1, total);
}

/// The mask as a floating one, which is added: -∞ where a boolean one equals `hidden`.
Tensor added_mask(const char* op, const char* what, const Tensor& mask, bool hidden, DType dtype) {
  const Type& type = type_of(mask);
  if (type.dtype == DType::boolean) {
    const Tensor nothing = zeros({}, {.dtype = dtype}), all = full({}, -infinity, {.dtype = dtype});
    return hidden ? where(mask, all, nothing) : where(mask, nothing, all);
  }
  if (!is_floating(type.dtype))
    raise<TypeError>(std::string(op) + ": the " + what + " " + type_text(mask) + " must be boolean or floating");
  return to(mask, dtype);
}

/// Operands in one element type, of which the last axes fit and the leading ones broadcast.
void require_operands(const char* op, const Tensor& q, const Tensor& k, const Tensor& v) {
  for (const auto& [what, x] : {std::pair("query", &q), {"key", &k}, {"value", &v}}) {
    require_real_floating(op, *x);
    if (type_of(*x).rank() < 2)
      raise<ValueError>(std::string(op) + ": the " + what + " " + type_text(*x) + " must be [..., rows, width]");
  }
  if (!(type_of(q).shape.back() == type_of(k).shape.back()))
    raise<ValueError>(std::string(op) + ": the query " + type_text(q) + " and the key " + type_text(k) +
                      " must have one size along their last axis");
  if (!(positions_of(type_of(k)) == positions_of(type_of(v))))
    raise<ValueError>(std::string(op) + ": the key " + type_text(k) + " and the value " + type_text(v) +
                      " must have one size along axis -2: a value for each key");
}

/// x expanded to these leading axes.
Tensor with_leading(const Tensor& x, const Shape& leading) {
  Shape wanted = leading;
  const Shape& shape = type_of(x).shape;
  wanted.push_back(shape[shape.size() - 2]);
  wanted.push_back(shape.back());
  return shape == wanted ? x : expand(x, wanted);
}

/// Requires: operands that fit, scaled, in one element type; the mask is added, or undefined.
Tensor attended(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal,
                double dropout_p) {
  const auto leading = [](const Tensor& x) {
    Type type = type_of(x);
    type.shape = Shape(type.shape.begin(), type.shape.end() - 2);
    return type;
  };
  std::vector<Tensor> operands = {q, k, v};
  if (mask.defined()) {
    const Shape plane = {positions_of(type_of(q)), positions_of(type_of(k))};
    operands.push_back(type_of(mask).rank() < 2 ? expand(mask, plane) : mask);
    const Type& type = type_of(mask);
    const std::size_t own = static_cast<std::size_t>(std::min(2, type.rank()));
    const Shape last(type.shape.end() - static_cast<std::ptrdiff_t>(own), type.shape.end());
    if (!broadcasts_to(last, plane))
      raise<ValueError>(std::string(op) + ": the mask " + type_text(mask) + " does not broadcast to [..., " +
                        std::to_string(plane[0].hint()) + "," + std::to_string(plane[1].hint()) +
                        "], its queries and keys");
    if (type.rank() >= 2) {
      Shape whole = type.shape;
      whole[whole.size() - 2] = plane[0];
      whole.back() = plane[1];
      operands[3] = expand(mask, whole);
    }
  }
  std::vector<Type> types;
  for (const Tensor& x : operands) types.push_back(leading(x));
  std::vector<const Type*> all;
  for (const Type& type : types) all.push_back(&type);
  const Shape shape = broadcast_shape(op, all);
  for (Tensor& x : operands) x = with_leading(x, shape);
  if (dropout_p > 0) {
    const Tensor scores = scores_of(operands[0], operands[1], mask.defined() ? operands[3] : mask, causal);
    return sum_of_values(scores, dropout(softmax_of_seen(scores), dropout_p, true), operands[2]);
  }
  return ricci::apply(Attention{causal}, std::span<const Tensor>(operands))[0];
}

Tensor scaled(const Tensor& q, std::optional<double> scale) {
  if (scale) return q * *scale;
  return q / sqrt(to(Tensor(type_of(q).shape.back()), type_of(q).dtype));
}

void require_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1))
    raise<ValueError>(std::string(op) + ": dropout_p is " + std::to_string(p) + "; it must be from 0 to 1");
}

}  // namespace

namespace ops {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value) {
  return scaled_dot_product_attention(query, key, value, AttentionOptions{});
}
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    AttentionOptions options) {
  const char* op = "scaled_dot_product_attention";
  const Called as(op, query, key, value);
  require_operands(op, query, key, value);
  require_probability(op, options.dropout_p);
  if (options.attn_mask.defined() && options.is_causal)
    raise<ValueError>(std::string(op) + ": there is a mask, and is_causal; put what is causal into the mask");
  const DType dtype = promote(promote(type_of(query).dtype, type_of(key).dtype), type_of(value).dtype);
  const DType wide = computed_dtype(dtype);
  const Tensor mask = options.attn_mask.defined() ? added_mask(op, "mask", options.attn_mask, false, wide) : Tensor();
  const Tensor q = scaled(to(query, wide), options.scale), k = to(key, wide), v = to(value, wide);
  if (!options.enable_gqa) return to(attended(op, q, k, v, mask, options.is_causal, options.dropout_p), dtype);

  // Heads [..., H, L, E] that share keys become [..., keys' heads, H / keys' heads, L, E].
  const auto heads = [&](const char* what, const Tensor& x) {
    if (type_of(x).rank() < 3)
      raise<ValueError>(std::string(op) + ": the " + what + " " + type_text(x) +
                        " has no axis of heads, which enable_gqa asks for; it must be [..., heads, rows, width]");
    return type_of(x).shape[type_of(x).shape.size() - 3];
  };
  const Size all = heads("query", q), shared = heads("key", k);
  if (!(heads("value", v) == shared) || shared == 0 || !(all / shared * shared == all))
    raise<ValueError>(std::string(op) + ": the heads of the query " + type_text(query) +
                      " must be a multiple of those of the key " + type_text(key) + ", and of as many of the value " +
                      type_text(value));
  const auto grouped = [&](const Tensor& x) {  // axis -3, the heads, as two
    Shape shape = type_of(x).shape;
    shape[shape.size() - 3] = shared;
    shape.insert(shape.size() - 2, all / shared);
    return reshape(x, shape);
  };
  Tensor m = mask;
  if (m.defined() && type_of(m).rank() >= 3)
    m = type_of(m).shape[type_of(m).shape.size() - 3] == 1 ? unsqueeze(m, -3) : grouped(m);
  const Tensor y =
      attended(op, grouped(q), unsqueeze(k, -3), unsqueeze(v, -3), m, options.is_causal, options.dropout_p);
  return to(flatten(y, -4, -3), dtype);
}

std::pair<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                       Size num_heads, MultiHeadAttentionOptions options) {
  const char* op = "multi_head_attention_forward";
  const Called as(op, query, key, value);
  const int rank = type_of(query).rank();
  for (const auto& [what, x] : {std::pair("query", &query), {"key", &key}, {"value", &value}}) {
    require_real_floating(op, *x);
    if (type_of(*x).rank() != rank || (rank != 2 && rank != 3))
      raise<ValueError>(std::string(op) + ": the " + what + " " + type_text(*x) +
                        " must be [rows, examples, width], or [rows, width] as query, key and value of one example");
  }
  require_probability(op, options.dropout_p);
  if (rank == 2) {
    if (options.key_padding_mask.defined()) options.key_padding_mask = unsqueeze(options.key_padding_mask, 0);
    const auto [y, weights] =
        multi_head_attention_forward(unsqueeze(query, 1), unsqueeze(key, 1), unsqueeze(value, 1), num_heads, options);
    return {squeeze(y, 1), weights.defined() ? squeeze(weights, 0) : weights};
  }
  const Size queries = type_of(query).shape[0], examples = type_of(query).shape[1], width = type_of(query).shape[2];
  if (num_heads < 1 || !(width / num_heads * num_heads == width))
    raise<ValueError>(std::string(op) + ": the width of the query " + type_text(query) + " does not divide into " +
                      std::to_string(num_heads.hint()) + " heads");
  const auto require = [&](const char* what, const Tensor& x, const Shape& shape) {
    if (!x.defined() || !(type_of(x).shape == shape))
      raise<ValueError>(std::string(op) + ": " + what + " must be " + to_string(shape) + ", it is " + type_text(x));
  };
  if (!(type_of(key).shape[1] == examples) || !(type_of(value).shape[1] == examples) ||
      !(type_of(key).shape[0] == type_of(value).shape[0]))
    raise<ValueError>(std::string(op) + ": the query " + type_text(query) + ", the key " + type_text(key) +
                      " and the value " + type_text(value) + " must have as many examples, and a value for each key");

  // Projections.
  Tensor weights[] = {options.q_proj_weight, options.k_proj_weight, options.v_proj_weight}, biases[3];
  const Tensor* of[] = {&query, &key, &value};
  if (options.in_proj_weight.defined()) {
    require("in_proj_weight", options.in_proj_weight, {3 * width, width});
    for (int i = 0; i < 3; ++i) weights[i] = narrow(options.in_proj_weight, 0, i * width, width);
  }
  const char* names[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  for (int i = 0; i < 3; ++i)
    require(options.in_proj_weight.defined() ? "a third of in_proj_weight" : names[i], weights[i],
            {width, type_of(*of[i]).shape[2]});
  if (options.in_proj_bias.defined()) {
    require("in_proj_bias", options.in_proj_bias, {3 * width});
    for (int i = 0; i < 3; ++i) biases[i] = narrow(options.in_proj_bias, 0, i * width, width);
  }
  require("out_proj_weight", options.out_proj_weight, {width, width});
  const Tensor q = linear(query, weights[0], biases[0]);
  Tensor k = linear(key, weights[1], biases[1]), v = linear(value, weights[2], biases[2]);

  // Masks, then further keys, which every query sees.
  const DType dtype = type_of(q).dtype;
  Tensor mask;  // [L, S], [N, 1, 1, S] or [N, heads, L, S]
  if (options.attn_mask.defined()) {
    mask = added_mask(op, "attn_mask", options.attn_mask, true, dtype);
    const Size keys = type_of(k).shape[0];
    if (type_of(mask).rank() == 3) {
      require("attn_mask", mask, {examples * num_heads, queries, keys});
      mask = reshape(mask, {examples, num_heads, queries, keys});
    } else {
      require("attn_mask", mask, {queries, keys});
    }
  }
  const bool more_keys = options.bias_k.defined() || options.add_zero_attn;
  const bool hides_later_keys = options.is_causal && !options.attn_mask.defined();
  const bool in_blocks =  // they need no mask
      hides_later_keys && !options.need_weights && !more_keys && !options.key_padding_mask.defined();
  if (hides_later_keys && !in_blocks) {
    const Tensor query_places = places_along(queries), key_places = places_along(type_of(k).shape[0]);
    mask = added_mask(op, "attn_mask", gt(key_places, unsqueeze(query_places, 1)), true, dtype);
  }
  if (options.key_padding_mask.defined()) {
    require("key_padding_mask", options.key_padding_mask, {examples, type_of(k).shape[0]});
    const Tensor padding = added_mask(op, "key_padding_mask", options.key_padding_mask, true, dtype);
    const Tensor beside = unsqueeze(unsqueeze(padding, 1), 1);
    mask = mask.defined() ? mask + beside : beside;
  }
  const auto append = [&](const Tensor& row_k, const Tensor& row_v) {
    const Shape row = {1, examples, width};
    k = cat({k, expand(row_k, row)}, 0);
    v = cat({v, expand(row_v, row)}, 0);
    if (mask.defined()) mask = pad(mask, {0, 1});
  };
  if (options.bias_k.defined() != options.bias_v.defined())
    raise<ValueError>(std::string(op) + ": only one of bias_k and bias_v is given; pass both or neither");
  if (options.bias_k.defined()) {
    require("bias_k", options.bias_k, {1, 1, width});
    require("bias_v", options.bias_v, {1, 1, width});
    append(options.bias_k, options.bias_v);
  }
  if (options.add_zero_attn) append(zeros({1, 1, width}, {.dtype = dtype}), zeros({1, 1, width}, {.dtype = dtype}));

  const auto by_head = [&](const Tensor& x) {  // [rows, N, E] → [N, heads, rows, E / heads]
    return permute(reshape(x, {type_of(x).shape[0], examples, num_heads, width / num_heads}), {1, 2, 0, 3});
  };
  const Tensor of_heads = scaled(by_head(q), {});
  const double dropout_p = options.training ? options.dropout_p : 0;
  Tensor y, seen;
  if (options.need_weights) {
    const Tensor scores = scores_of(of_heads, by_head(k), mask, false);
    seen = softmax_of_seen(scores);
    if (dropout_p > 0) seen = dropout(seen, dropout_p, true);
    y = sum_of_values(scores, seen, by_head(v));
    if (options.average_attn_weights) seen = mean(seen, 1);
  } else {
    y = attended(op, of_heads, by_head(k), by_head(v), mask, in_blocks, dropout_p);
  }
  y = reshape(permute(y, {2, 0, 1, 3}), {queries, examples, width});
  return {linear(y, options.out_proj_weight, options.out_proj_bias), seen};
}

}  // namespace ops
}  // namespace ricci
