// What a key or value holds that a query does not see changes nothing: not the query's result, nor any derivative, in
// any way to hide it and in any mode, however bad the number.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double bad_numbers[] = {std::nan(""), inf, -inf, std::numeric_limits<double>::max()};

/// Attention of queries [L, E] by keys [S, E] of which the second and the last are hidden from all.
struct WayToHide {
  std::string name;
  std::function<Tensor(Tensor q, Tensor k, Tensor v)> f;
};

/// True where a key is seen, [S].
Tensor seen(const Tensor& k) {
  const Tensor place = rc::arange(k.size(0));
  return logical_and(place != 1, place != k.size(0) - 1);
}

std::vector<WayToHide> ways() {
  using Options = rc::AttentionOptions;
  const auto attention = [](const std::function<Options(const Tensor&)>& options) {
    return [options](Tensor q, Tensor k, Tensor v) { return scaled_dot_product_attention(q, k, v, options(k)); };
  };
  const auto layer = [](bool need_weights) {
    return [need_weights](Tensor q, Tensor k, Tensor v) {
      const rc::Size width = q.size(-1);
      const Tensor eye = rc::eye(width, width, q.dtype());
      const auto column = [](const Tensor& x) { return unsqueeze(x, 1); };
      const auto [y, weights] = multi_head_attention_forward(column(q), column(k), column(v), 1,
                                                             {.q_proj_weight = eye,
                                                              .k_proj_weight = eye,
                                                              .v_proj_weight = eye,
                                                              .out_proj_weight = eye,
                                                              .key_padding_mask = unsqueeze(logical_not(seen(k)), 0),
                                                              .need_weights = need_weights});
      return need_weights ? squeeze(y, 1) + sum(weights) : squeeze(y, 1);
    };
  };
  return {
      {"a boolean mask", attention([](const Tensor& k) { return Options{.attn_mask = seen(k)}; })},
      {"a mask of numbers",
       attention([](const Tensor& k) { return Options{.attn_mask = where(seen(k), 0.5, -inf).to(k.dtype())}; })},
      {"a mask and dropout",
       [](Tensor q, Tensor k, Tensor v) {
         return scaled_dot_product_attention(q, k, v, {.attn_mask = seen(k), .dropout_p = 0.25});
       }},
      {"padding, without weights", layer(false)},
      {"padding, with weights", layer(true)},
  };
}

Tensor with_bad(const Tensor& x, double bad) { return where(unsqueeze(seen(x), 1), x, bad).to(x.dtype()); }

void expect_nothing_changes(const WayToHide& way, const std::function<Tensor(Tensor, Tensor, Tensor)>& of,
                            const Tensor& q, const Tensor& k, const Tensor& v, const std::string& what) {
  const auto result = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    rc::manual_seed(5);  // weights that are dropped are dropped alike
    return of(a, b, c);
  };
  const Tensor wanted = result(q, k, v);
  for (const double bad : bad_numbers) {
    SCOPED_TRACE(way.name + ", " + what + ", " + std::to_string(bad) + " in " + rc::to_string(q.dtype()));
    const double most = q.dtype() == rc::float32 ? double{std::numeric_limits<float>::max()} : inf;
    const double number = std::isinf(bad) ? bad : std::fmin(bad, most);
    const double it = std::isnan(bad) ? bad : number;
    expect_close(result(q, with_bad(k, it), v), wanted, tolerance_of(q.dtype()));
    expect_close(result(q, k, with_bad(v, it)), wanted, tolerance_of(q.dtype()));
  }
}

void expect_hidden(std::int64_t queries, std::int64_t keys, rc::DType dtype, bool derivatives) {
  const std::int64_t width = 3;
  const Tensor q = rc::randn({queries, width}, {.dtype = dtype}), k = rc::randn({keys, width}, {.dtype = dtype}),
               v = rc::randn({keys, width}, {.dtype = dtype});
  const auto all = [](const auto& gradients) {
    return rc::cat({std::get<0>(gradients), std::get<1>(gradients), std::get<2>(gradients)}, 0);
  };
  for (const WayToHide& way : ways()) {
    const auto& f = way.f;
    const auto loss = [&](Tensor a, Tensor b, Tensor c) { return sum(square(f(a, b, c))); };
    const auto gradients = [&](Tensor a, Tensor b, Tensor c) { return all(rc::grad<0, 1, 2>(loss)(a, b, c)); };
    const auto ones = [](const Tensor& a, const Tensor& b, const Tensor& c) {
      return std::tuple{ones_like(a), ones_like(b), ones_like(c)};
    };
    expect_nothing_changes(way, f, q, k, v, "value");
    expect_nothing_changes(way, gradients, q, k, v, "gradients");
    if (!derivatives) continue;
    expect_nothing_changes(
        way, [&](Tensor a, Tensor b, Tensor c) { return rc::jvp(f, std::tuple{a, b, c}, ones(a, b, c)).second; }, q, k,
        v, "tangent");
    expect_nothing_changes(
        way,
        [&](Tensor a, Tensor b, Tensor c) { return rc::jvp(gradients, std::tuple{a, b, c}, ones(a, b, c)).second; }, q,
        k, v, "tangent of gradients");
    const auto slope = [&](Tensor a, Tensor b, Tensor c) { return sum(square(gradients(a, b, c))); };
    expect_nothing_changes(
        way, [&](Tensor a, Tensor b, Tensor c) { return all(rc::grad<0, 1, 2>(slope)(a, b, c)); }, q, k, v,
        "gradients of gradients");
    const auto length = [&](Tensor a, Tensor b, Tensor c) {
      return sum(square(rc::jvp(f, std::tuple{a, b, c}, ones(a, b, c)).second));
    };
    expect_nothing_changes(
        way, [&](Tensor a, Tensor b, Tensor c) { return all(rc::grad<0, 1, 2>(length)(a, b, c)); }, q, k, v,
        "gradients of a tangent");
    if (way.name == "a mask and dropout") continue;  // examples and recordings draw numbers of their own
    expect_nothing_changes(
        way,
        [&](Tensor a, Tensor b, Tensor c) {
          const auto two = [](const Tensor& x) { return rc::stack({x, x}); };
          return rc::vmap(gradients)(two(a), two(b), two(c));
        },
        q, k, v, "gradients under vmap");
    expect_nothing_changes(
        way, [&](Tensor a, Tensor b, Tensor c) { return rc::compile(gradients)(a, b, c); }, q, k, v,
        "compiled gradients");
  }
}

TEST(HiddenKeys, ChangeNothing) {
  for (const rc::DType dtype : {rc::float64, rc::float32}) expect_hidden(2, 4, dtype, dtype == rc::float64);
}
TEST(HiddenKeys, ChangeNothingInBlocks) { expect_hidden(70, 600, rc::float64, false); }

/// Each query sees keys of its own: those that see nothing bad have their results, and what they hand back.
TEST(HiddenKeys, OfSomeQueriesChangeNothingForThese) {
  for (const bool causal : {true, false})
    for (const double bad : bad_numbers)
      for (const std::int64_t count : {3, 130}) {
        SCOPED_TRACE(std::to_string(bad) + (causal ? ", causal, of " : ", of ") + std::to_string(count));
        const Tensor q = rc::randn({count, 2}), k = rc::randn({count, 2}), v = rc::randn({count, 2});
        const std::int64_t first_bad = count / 2;
        const Tensor place = unsqueeze(rc::arange(count), 1);
        const auto spoilt = [&](const Tensor& x) {
          return where(place < first_bad, x, std::isfinite(bad) ? double{std::numeric_limits<float>::max()} : bad)
              .to(x.dtype());
        };
        const rc::AttentionOptions options =
            causal ? rc::AttentionOptions{.is_causal = true} : rc::AttentionOptions{.attn_mask = place >= place.mT()};
        const auto first = [&](const Tensor& x) { return narrow(x, 0, 0, first_bad); };
        const auto f = [&](Tensor a, Tensor b, Tensor c) {
          return first(scaled_dot_product_attention(a, b, c, options));
        };
        const Tensor alone = scaled_dot_product_attention(first(q), first(k), first(v), {.is_causal = true});
        expect_close(f(q, spoilt(k), spoilt(v)), alone, 1e-5);
        const auto dropped = [&](Tensor a, Tensor b, Tensor c) {
          rc::AttentionOptions dropping = options;
          dropping.dropout_p = 1e-9;
          return first(scaled_dot_product_attention(a, b, c, dropping));
        };
        expect_close(dropped(q, spoilt(k), spoilt(v)), alone, 1e-5);
        const auto tangent = [&](Tensor b, Tensor c) {
          return rc::jvp([&](Tensor a) { return f(a, b, c); }, q, ones_like(q)).second;
        };
        expect_close(tangent(spoilt(k), spoilt(v)), tangent(k, v), 1e-4);
      }
}

TEST(SeenKeys, ThatAreNotANumberMakeTheirQueriesNotANumber) {
  const Tensor q = rc::ones({3, 2}, rc::float64), v = rc::ones({3, 4}, rc::float64);
  const Tensor k = rc::cat({rc::ones({1, 2}, rc::float64), rc::full({2, 2}, std::nan(""), {.dtype = rc::float64})});
  const Tensor y = scaled_dot_product_attention(q, k, v, {.is_causal = true});
  expect_close(y[0], v[0], 1e-15);
  EXPECT_TRUE(bool(rc::all(rc::isnan(y.narrow(0, 1, 2)))));
}

}  // namespace
