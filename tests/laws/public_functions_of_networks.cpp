// Functions of attention.h, embedding.h, recurrent.h and resampling.h, as the cases of
// tools/torch_values_of_networks.py call them.
#include "public_functions.h"
#include "ricci/ops/attention.h"
#include "ricci/ops/embedding.h"
#include "ricci/ops/recurrent.h"
#include "ricci/ops/resampling.h"

namespace laws {
namespace {

namespace rc = ricci;
using rc::Reduction;

/// The inputs from i on.
List from(X x, std::size_t i) { return List(x.begin() + static_cast<std::ptrdiff_t>(i), x.end()); }

List heads(X x, rc::MultiHeadAttentionOptions options) {
  options.in_proj_weight = x[3];
  options.in_proj_bias = x[4];
  options.out_proj_weight = x[5];
  options.out_proj_bias = x[6];
  return both(multi_head_attention_forward(x[0], x[1], x[2], 2, options));
}

}  // namespace

const Table& attention() {
  static const Table table = {
      {"scaled_dot_product_attention", [](X x) { return List{scaled_dot_product_attention(x[0], x[1], x[2])}; }},
      {"scaled_dot_product_attention causal",
       [](X x) { return List{scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = true})}; }},
      {"scaled_dot_product_attention scale",
       [](X x) { return List{scaled_dot_product_attention(x[0], x[1], x[2], {.scale = 0.3})}; }},
      {"scaled_dot_product_attention seen",
       [](X x) { return List{scaled_dot_product_attention(x[0], x[1], x[2], {.attn_mask = x[3]})}; }},
      {"scaled_dot_product_attention sees none kink",
       [](X x) { return List{scaled_dot_product_attention(x[0], x[1], x[2], {.attn_mask = x[3]})}; }},
      {"scaled_dot_product_attention mask",
       [](X x) { return List{scaled_dot_product_attention(x[0], x[1], x[2], {.attn_mask = x[3]})}; }},
      {"scaled_dot_product_attention mask of each",
       [](X x) { return List{scaled_dot_product_attention(x[0], x[1], x[2], {.attn_mask = x[3]})}; }},
      {"scaled_dot_product_attention broadcast",
       [](X x) { return List{scaled_dot_product_attention(x[0], x[1], x[2])}; }},
      {"scaled_dot_product_attention gqa",
       [](X x) {
         return List{scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = true, .enable_gqa = true})};
       }},
      {"scaled_dot_product_attention gqa mask",
       [](X x) {
         return List{scaled_dot_product_attention(x[0], x[1], x[2], {.attn_mask = x[3], .enable_gqa = true})};
       }},
      {"multi_head_attention_forward", [](X x) { return heads(x, {}); }},
      {"multi_head_attention_forward unaveraged", [](X x) { return heads(x, {.average_attn_weights = false}); }},
      {"multi_head_attention_forward without weights",
       [](X x) { return heads(x, {.key_padding_mask = x[8], .need_weights = false, .attn_mask = x[7]}); }},
      {"multi_head_attention_forward mask of heads", [](X x) { return heads(x, {.attn_mask = x[7]}); }},
      {"multi_head_attention_forward more keys",
       [](X x) {
         const Tensor padding = rc::tensor({{false, false, false, true, true}, {false, true, false, false, false}});
         return heads(x, {.bias_k = x[7], .bias_v = x[8], .add_zero_attn = true, .key_padding_mask = padding});
       }},
      {"multi_head_attention_forward separate",
       [](X x) {
         return both(multi_head_attention_forward(
             x[0], x[1], x[2], 2,
             {.q_proj_weight = x[3], .k_proj_weight = x[4], .v_proj_weight = x[5], .out_proj_weight = x[6]}));
       }},
      {"multi_head_attention_forward causal of one",
       [](X x) {
         return heads({x[0], x[0], x[0], x[1], x[2], x[3], x[4]}, {.need_weights = false, .is_causal = true});
       }},
  };
  return table;
}

const Table& embeddings() {
  static const Table table = [] {
    Table all = {
        {"embedding padding kink", [](X x) { return List{embedding(x[0], x[1], 1)}; }},
        {"embedding padding from the back kink", [](X x) { return List{embedding(x[0], x[1], -1)}; }},
        {"embedding_bag mean", [](X x) { return List{embedding_bag(x[0], x[1])}; }},
        {"embedding_bag weights",
         [](X x) {
           return List{
               embedding_bag(x[0], x[1], {.offsets = rc::sort(x[2]).first, .mode = "sum", .per_sample_weights = x[3]})};
         }},
        {"embedding_bag last offset",
         [](X x) {
           return List{embedding_bag(x[0], x[1], {.offsets = rc::tensor({0, 2, 6}), .include_last_offset = true})};
         }},
    };
    for (const std::string mode : {"sum", "mean", "max"}) {
      const auto bag = [mode](X x, rc::EmbeddingBagOptions options) {
        options.mode = mode;
        return List{embedding_bag(x[0], x[1], options)};
      };
      all.emplace("embedding_bag " + mode, [bag](X x) { return bag(x, {}); });
      // Offsets ascend: the laws turn whole numbers around.
      all.emplace("embedding_bag " + mode + " offsets",
                  [bag](X x) { return bag(x, {.offsets = rc::sort(x[2]).first}); });
      all.emplace("embedding_bag " + mode + " padding",
                  [bag](X x) { return bag(x, {.offsets = rc::sort(x[2]).first, .padding_idx = 3}); });
    }
    return all;
  }();
  return table;
}

const Table& recurrent() {
  static const Table table = [] {
    const rc::RecurrentOptions bare{.has_biases = false},
        both_ways{.num_layers = 2, .bidirectional = true, .batch_first = true};
    Table all = {
        {"rnn_tanh_cell", [](X x) { return List{rnn_tanh_cell(x[0], x[1], x[2], x[3], x[4], x[5])}; }},
        {"rnn_tanh_cell bare", [](X x) { return List{rnn_tanh_cell(x[0], x[1], x[2], x[3])}; }},
        {"rnn_relu_cell", [](X x) { return List{rnn_relu_cell(x[0], x[1], x[2], x[3], x[4], x[5])}; }},
        {"rnn_relu_cell bare", [](X x) { return List{rnn_relu_cell(x[0], x[1], x[2], x[3])}; }},
        {"gru_cell", [](X x) { return List{gru_cell(x[0], x[1], x[2], x[3], x[4], x[5])}; }},
        {"gru_cell bare", [](X x) { return List{gru_cell(x[0], x[1], x[2], x[3])}; }},
        {"lstm_cell", [](X x) { return both(lstm_cell(x[0], {x[1], x[2]}, x[3], x[4], x[5], x[6])); }},
        {"lstm_cell bare", [](X x) { return both(lstm_cell(x[0], {x[1], x[2]}, x[3], x[4])); }},
        {"rnn_tanh", [](X x) { return both(rnn_tanh(x[0], x[1], from(x, 2))); }},
        {"rnn_tanh bare", [=](X x) { return both(rnn_tanh(x[0], x[1], from(x, 2), bare)); }},
        {"rnn_tanh layers both ways", [=](X x) { return both(rnn_tanh(x[0], x[1], from(x, 2), both_ways)); }},
        {"rnn_relu", [](X x) { return both(rnn_relu(x[0], x[1], from(x, 2))); }},
        {"rnn_relu bare", [=](X x) { return both(rnn_relu(x[0], x[1], from(x, 2), bare)); }},
        {"rnn_relu layers both ways", [=](X x) { return both(rnn_relu(x[0], x[1], from(x, 2), both_ways)); }},
        {"gru", [](X x) { return both(gru(x[0], x[1], from(x, 2))); }},
        {"gru bare", [=](X x) { return both(gru(x[0], x[1], from(x, 2), bare)); }},
        {"gru layers both ways", [=](X x) { return both(gru(x[0], x[1], from(x, 2), both_ways)); }},
    };
    for (const char* name : {"lstm", "lstm projected"})
      all.emplace(name, [](X x) { return laws::all(lstm(x[0], {x[1], x[2]}, from(x, 3))); });
    all.emplace("lstm bare", [=](X x) { return laws::all(lstm(x[0], {x[1], x[2]}, from(x, 3), bare)); });
    all.emplace("lstm layers both ways",
                [=](X x) { return laws::all(lstm(x[0], {x[1], x[2]}, from(x, 3), both_ways)); });
    return all;
  }();
  return table;
}

const Table& ctc() {
  static const auto loss = [](X x, rc::CtcLossOptions options) {
    return List{ctc_loss(log_softmax(x[0], -1), x[1], x[2], x[3], options)};
  };
  static const Table table = {
      {"ctc_loss", [](X x) { return List{ctc_loss(log_softmax(x[0], -1), x[1], x[2], x[3])}; }},
      {"ctc_loss none", [](X x) { return loss(x, {.reduction = Reduction::none}); }},
      {"ctc_loss sum blank", [](X x) { return loss(x, {.blank = 2, .reduction = Reduction::sum}); }},
      {"ctc_loss reads lengths", [](X x) { return loss(x, {.reduction = Reduction::none}); }},
      {"ctc_loss of one", [](X x) { return loss(x, {}); }},
      {"ctc_loss of none", [](X x) { return loss(x, {.reduction = Reduction::none}); }},
      {"ctc_loss zero_infinity kink",
       [](X x) { return loss(x, {.reduction = Reduction::none, .zero_infinity = true}); }},
  };
  return table;
}

const Table& resampling() {
  static const Table table = [] {
    Table all = {
        {"upsample_nearest", [](X x) { return List{upsample_nearest(x[0], {.scale_factor = 2})}; }},
        {"upsample_bilinear", [](X x) { return List{upsample_bilinear(x[0], {.size = {5, 6}})}; }},
        {"affine_grid", [](X x) { return List{affine_grid(x[0], {2, 1, 3, 4})}; }},
        {"affine_grid corners", [](X x) { return List{affine_grid(x[0], {2, 1, 3, 1}, true)}; }},
        {"affine_grid space", [](X x) { return List{affine_grid(x[0], {1, 1, 2, 3, 4})}; }},
        {"pixel_shuffle", [](X x) { return List{pixel_shuffle(x[0], 2)}; }},
        {"pixel_unshuffle", [](X x) { return List{pixel_unshuffle(x[0], 2)}; }},
        {"channel_shuffle", [](X x) { return List{channel_shuffle(x[0], 2)}; }},
    };
    const auto add = [&](const std::string& name, const rc::InterpolateOptions& options) {
      all.emplace("interpolate " + name, [options](X x) { return List{interpolate(x[0], options)}; });
    };
    const auto named = [](const std::string& mode) { return mode == "nearest-exact" ? "nearest exact" : mode; };
    for (const std::string mode : {"nearest", "nearest-exact", "area", "linear"})
      add(named(mode) + " line", {.size = 7, .mode = mode});
    for (const std::string mode : {"nearest", "nearest-exact", "area", "bilinear", "bicubic"}) {
      add(named(mode) + " plane", {.size = {5, 3}, .mode = mode});
      add(named(mode) + " factor", {.scale_factor = {1.7, 0.6}, .mode = mode});
    }
    for (const std::string mode : {"nearest", "nearest-exact", "area", "trilinear"})
      add(named(mode) + " space", {.size = {3, 2, 4}, .mode = mode});
    for (const std::string mode : {"linear", "bilinear", "bicubic", "trilinear"})
      add(mode + " corners", {.scale_factor = 2, .mode = mode, .align_corners = true});
    for (const std::string mode : {"bilinear", "bicubic"}) {
      add(mode + " recomputed", {.scale_factor = 1.7, .mode = mode, .recompute_scale_factor = true});
      add(mode + " antialias", {.size = {3, 9}, .mode = mode, .antialias = true});
      add(mode + " antialias corners", {.size = {3, 4}, .mode = mode, .align_corners = true, .antialias = true});
    }
    for (const std::string mode : {"bilinear", "nearest", "bicubic"})
      for (const std::string padding : {"zeros", "border", "reflection"})
        for (const bool corners : {false, true})
          for (const char* where : {"", " space"}) {
            const bool both = mode == "bilinear" && !*where;
            if ((mode == "bicubic" && *where) || (!both && corners != (padding == "border"))) continue;
            all.emplace("grid_sample " + mode + " " + padding + (corners ? " corners" : "") + where,
                        [options = rc::GridSampleOptions{mode, padding, corners}](X x) {
                          return List{grid_sample(x[0], x[1], options)};
                        });
          }
    return all;
  }();
  return table;
}

}  // namespace laws
