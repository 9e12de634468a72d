// Whole programs of the field in small: meta-learning, ensembles, learning rates tried at once, per-sample gradients,
// forces between particles. Each is compared with the same arithmetic in a plain loop or a closed formula.
#include <cmath>
#include <tuple>
#include <vector>

#include "support/difference_quotient.h"
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Mlp stepped(const Mlp& model, const Mlp& gradient, const Tensor& rate) {
  return rc::map_leaves([&](Tensor p, Tensor g) { return p - rate * g; }, model, gradient);
}

Mlp make_model(double shift) {
  return rc::map_leaves([&](Tensor p) { return sin(p * 5 + shift); }, make_mlp());
}

void expect_close_trees(const Mlp& found, const Mlp& expected) {
  const std::vector<Tensor> a = rc::leaves(found), b = rc::leaves(expected);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) expect_close(a[i], b[i], 1e-10);
}

// ── meta-learning ──

Tensor regression_loss(const Mlp& model, const Tensor& x, const Tensor& y) {
  return (predict(model, x) - y).square().mean();
}

/// The loss on a task's query after one step on its support.
Tensor adapted_loss(const Mlp& model, const Tensor& x, const Tensor& y) {
  const Mlp gradient = rc::grad(regression_loss)(model, x, y);
  return regression_loss(stepped(model, gradient, 0.1), x * 0.5, y - x.select(-1, 0).unsqueeze(-1));
}

TEST(Examples, MetaGradientsOfManyTasksAreThoseOfALoop) {
  const Mlp model = make_model(0.3);
  const Tensor xs = sin(ramp({4, 5, 3})), ys = cos(ramp({4, 5, 2}));
  const auto mapped = [&](const Mlp& m) {
    return rc::vmap(adapted_loss, {.in_dims = {rc::none, 0, 0}})(m, xs, ys).sum();
  };
  const auto looped = [&](const Mlp& m) {
    Tensor total = number(0);
    for (std::int64_t k = 0; k < 4; ++k) total = total + adapted_loss(m, xs[k], ys[k]);
    return total;
  };
  const Mlp found = rc::grad(mapped)(model);
  expect_close_trees(found, rc::grad(looped)(model));
  const auto of_bias = [&](Tensor bias) {
    Mlp moved = model;
    moved.layers[0].bias = bias;
    return looped(moved);
  };
  expect_close(found.layers[0].bias, difference_quotient(of_bias, model.layers[0].bias), difference_tolerance);
}

TEST(Examples, MetaGradientsThroughSeveralStepsOfAClassifier) {
  const Tensor xs = sin(ramp({3, 6, 4})), weight = cos(ramp({4, 3}));
  const Tensor classes = rc::tensor({{0, 1, 2, 0, 1, 2}, {2, 2, 1, 1, 0, 0}, {1, 0, 1, 2, 2, 0}});
  const auto loss = [](Tensor w, Tensor x, Tensor c) { return rc::cross_entropy(matmul(x, w), c); };
  const auto after_steps = [&](Tensor w, Tensor x, Tensor c) {
    Tensor fast = w;
    for (int step = 0; step < 3; ++step) fast = fast - 0.4 * rc::grad(loss)(fast, x, c);
    return std::pair{loss(fast, x * 0.7, c), matmul(x, fast).argmax(-1)};
  };
  const auto [each, guessed] =
      rc::vmap(rc::grad(after_steps, rc::has_aux), {.in_dims = {rc::none, 0, 0}})(weight, xs, classes);
  EXPECT_EQ(sizes(guessed), (Sizes{3, 6}));
  for (std::int64_t k = 0; k < 3; ++k) {
    const auto alone = [&](Tensor w) { return after_steps(w, xs[k], classes[k]).first; };
    expect_close(each[k], difference_quotient(alone, weight), difference_tolerance);
  }
}

// ── ensembles ──

Mlp trained(Mlp model, const Tensor& x, const Tensor& y, const Tensor& rate) {
  for (int step = 0; step < 4; ++step) model = stepped(model, rc::grad(regression_loss)(model, x, y), rate);
  return model;
}

TEST(Examples, AnEnsembleIsTrainedAsItsMembersAre) {
  const Tensor x = sin(ramp({6, 3})), y = cos(ramp({6, 2}));
  const std::vector<Mlp> members{make_model(0.1), make_model(0.9), make_model(2.3)};
  const auto train = [&](const Mlp& m) { return trained(m, x, y, 0.3); };
  const std::vector<Mlp> found = rc::unstack_trees(rc::vmap(train)(rc::stack_trees(members)));
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    expect_close_trees(found[i], train(members[i]));
    EXPECT_LT(regression_loss(found[i], x, y).item(), regression_loss(members[i], x, y).item());
  }
}

TEST(Examples, LearningRatesAreTriedAllAtOnce) {
  const Tensor x = sin(ramp({6, 3})), y = cos(ramp({6, 2})), rates = doubles({1e-3, 0.03, 0.3, 1});
  const Mlp model = make_model(0.5);
  const auto loss_after = [&](Tensor rate) { return regression_loss(trained(model, x, y, rate), x, y); };
  const Tensor losses = rc::vmap(loss_after)(rates);
  for (std::int64_t i = 0; i < 4; ++i) expect_close(losses[i], loss_after(rates[i]));
  expect_close(rc::vmap(rc::grad(loss_after))(rates)[2], difference_quotient(loss_after, number(0.3)), 1e-6);
}

// ── per-sample gradients ──

TEST(Examples, PerSampleGradientsOfAnEmbeddingNet) {
  const Tensor table = sin(ramp({7, 4})), head = cos(ramp({4, 3}));
  const Tensor words = rc::tensor({{0, 3, 3}, {6, 1, 0}}), classes = rc::tensor({2, 0});
  const auto loss = [](Tensor rows, Tensor w, Tensor x, Tensor c) {
    return rc::cross_entropy(matmul(rc::embedding(x, rows).mean(0), w), c);
  };
  const auto [rows, heads] =
      rc::vmap(rc::grad<0, 1>(loss), {.in_dims = {rc::none, rc::none, 0, 0}})(table, head, words, classes);
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto by_table = [&](Tensor t) { return loss(t, head, words[k], classes[k]); };
    const auto by_head = [&](Tensor w) { return loss(table, w, words[k], classes[k]); };
    expect_close(rows[k], difference_quotient(by_table, table), difference_tolerance);
    expect_close(heads[k], difference_quotient(by_head, head), difference_tolerance);
  }
}

TEST(Examples, PerSampleGradientsOfAResidualConvolutionNet) {
  struct Block {
    Tensor first, second, scale, shift;
  };
  const Block net{sin(ramp({2, 2, 3, 3})), cos(ramp({2, 2, 3, 3})), ramp({2}), ramp({2}) - 0.4};
  const auto loss = [](const Block& b, Tensor x, Tensor c) {  // x: [2, 4, 4]
    const Tensor image = x.unsqueeze(0);
    const Tensor inner = rc::group_norm(rc::conv2d(image, b.first, {.padding = 1}), 2, b.scale, b.shift);
    const Tensor y = rc::conv2d(tanh(inner), b.second, {.padding = 1}) + image;
    return rc::cross_entropy(rc::avg_pool2d(y, 4).flatten(), c);
  };
  const Tensor xs = sin(ramp({3, 2, 4, 4})), classes = rc::tensor({0, 1, 1});
  const Block each = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0, 0}})(net, xs, classes);
  for (std::int64_t k = 0; k < 3; ++k) {
    const Block alone = rc::grad(loss)(net, xs[k], classes[k]);
    expect_close(each.first[k], alone.first, 1e-10);
    expect_close(each.second[k], alone.second, 1e-10);
    expect_close(each.shift[k], alone.shift, 1e-10);
    const auto by_scale = [&](Tensor s) { return loss({net.first, net.second, s, net.shift}, xs[k], classes[k]); };
    expect_close(each.scale[k], difference_quotient(by_scale, net.scale), difference_tolerance);
  }
}

TEST(Examples, PerSampleGradientsOfBuffersMadeInside) {
  const Tensor xs = ramp({3, 2});
  const auto with = [](auto make) {
    return [make](Tensor x) {
      const Tensor buffer = make(x);
      buffer.copy_(x * x);
      buffer[0].mul_(x[1]);
      return buffer.sum();
    };
  };
  const auto expect_gradients = [&](const auto& f) {
    const Tensor found = rc::vmap(rc::grad(f))(xs);
    for (std::int64_t k = 0; k < 3; ++k) {
      const double a = xs[k][0].item(), b = xs[k][1].item();
      expect_values(found[k], {2 * a * b, a * a + 2 * b});
    }
  };
  expect_gradients(with([](Tensor x) { return x.new_zeros({2}); }));
  expect_gradients(with([](Tensor x) { return x.new_empty({2}); }));
  expect_gradients(with([](Tensor) { return rc::empty({2}, rc::float64); }));
}

// ── molecular dynamics ──

/// 4 (r⁻¹² - r⁻⁶) of the distance vector.
Tensor lennard_jones(Tensor r) {
  const Tensor sixth = (r * r).sum().pow(-3);
  return 4 * (sixth * sixth - sixth);
}

TEST(Examples, LennardJonesForcesAreTheJacobiansRows) {
  const Tensor r = sin(ramp({5, 3}) * 3) + 1.2;
  const Tensor squares = (r * r).sum(1, true), sixths = squares.pow(-3);
  const Tensor expected = -24 * (2 * sixths * sixths - sixths) / squares * r;
  expect_close(rc::vmap(rc::jacrev(lennard_jones))(r), expected, 1e-10);
  expect_close(rc::vmap(rc::jacfwd(lennard_jones))(r), expected, 1e-10);
  const auto mismatch = [&](Tensor scale) {
    return rc::vmap(rc::jacrev([&](Tensor x) { return lennard_jones(x * scale); }))(r).square().sum();
  };
  expect_close(rc::grad(mismatch)(number(1)) / mismatch(number(1)),
               difference_quotient(mismatch, number(1)) / mismatch(number(1)), 1e-6);
}

}  // namespace
