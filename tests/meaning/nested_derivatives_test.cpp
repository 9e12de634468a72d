// Derivatives of second order and inside other transforms: no_grad in part of a function, tapes, Jacobians in chunks,
// Hessians under vmap, functions and reductions with rules of their own, meta-gradients of a convolution net, tied
// parameters, and values that are read or made inside a derivative.
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "ricci/ricci.h"
#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor along_ones(const std::function<Tensor(Tensor)>& f, Tensor x) {
  return std::get<1>(rc::jvp(f, x, rc::ones_like(x)));
}

// ── no_grad in a part ──

/// x³ less x³ as a constant, times x for a slope that depends on it.
Tensor partly_constant(Tensor x) {
  Tensor constant;
  {
    const rc::no_grad off;
    constant = x * x * x;
  }
  return x * x * x - constant * x;  // slopes: 3x² - x³, then 6x
}

TEST(NoGradInAPart, IsAConstantOfEveryOrderAndDirection) {
  const auto f = [](Tensor x) { return partly_constant(x); };
  const Tensor x = number(2);
  expect_values(rc::grad(f)(x), {12 - 8});
  // The slope's own run differentiates 3x² - constant: the constant stays one.
  expect_values(rc::grad(rc::grad(f))(x), {12});
  expect_values(along_ones(f, x), {4});
  expect_values(along_ones([&](Tensor a) { return along_ones(f, a); }, x), {12});
  expect_values(rc::grad([&](Tensor a) { return along_ones(f, a); })(x), {12});
  expect_values(along_ones([&](Tensor a) { return rc::grad(f)(a); }, x), {12});
  expect_values(rc::vmap(rc::grad(rc::grad(f)))(doubles({2, 3})), {12, 18});
}

TEST(NoGradInAPart, IsAConstantForATape) {
  const Tensor x = number(2);
  rc::Tape outer;
  outer.watch(x);
  Tensor slope;
  {
    rc::Tape inner;
    inner.watch(x);
    slope = inner.gradient(partly_constant(x), x);
  }
  expect_values(slope, {4});
  expect_values(outer.gradient(slope, x), {12});
}

struct Cube : rc::Function<Cube> {
  static Tensor forward(const Tensor& x) { return x * x * x; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<0>(inputs));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) { return 3 * ctx.saved(0) * ctx.saved(0) * ct; }
  static constexpr bool generate_vmap_rule = true;
};

TEST(NoGradInAPart, OfAFunctionWithRulesIsSubtractedAsAConstant) {
  const auto f = [](Tensor x) {
    Tensor constant;
    {
      const rc::no_grad off;
      constant = Cube::apply(x);
    }
    return Cube::apply(x) - constant * x;
  };
  const Tensor x = number(2);
  expect_values(rc::grad(f)(x), {12 - 8});
  expect_values(rc::grad(rc::grad(f))(x), {12});
  const rc::no_grad outside;
  expect_values(rc::grad(f)(x), {12 - 8});
}

// ── tapes in nests ──

TEST(TapeInNests, OfVmapAndGradIsTheDerivative) {
  const auto by_tape = [](Tensor x) {
    const Tensor y = x * 1;
    rc::Tape tape;
    tape.watch(y);
    return tape.gradient((y * y * y).sum(), y);
  };
  const Tensor x = doubles({2, 3});
  const auto total = [&](Tensor a) { return by_tape(a).sum(); };
  expect_values(rc::vmap(rc::grad(by_tape))(x), {12, 18});
  expect_values(rc::grad([&](Tensor a) { return rc::vmap(by_tape)(a).sum(); })(x), {12, 18});
  expect_values(rc::grad([&](Tensor a) { return rc::grad(total)(a).sum(); })(x), {6, 6});
  expect_values(rc::vmap(rc::vmap(by_tape))(x.reshape({1, 2})), {12, 27});
  expect_values(along_ones(by_tape, x), {12, 18});
}

// ── Jacobians and Hessians ──

TEST(HessiansOfExamples, WithASharedArgumentAreEveryOrderOfJacobians) {
  const auto f = [](Tensor x, Tensor w) { return sin(matmul(w, x)).sum() * x.prod(); };
  const Tensor xs = ramp({4, 2}), w = cos(ramp({3, 2}));
  const rc::VmapOptions over_x{.in_dims = {0, rc::none}};
  const Tensor found = rc::vmap(rc::hessian(f), over_x)(xs, w);
  expect_close(rc::vmap(rc::jacrev(rc::jacrev(f)), over_x)(xs, w), found, 1e-10);
  expect_close(rc::vmap(rc::jacfwd(rc::jacfwd(f)), over_x)(xs, w), found, 1e-10);
  expect_close(rc::vmap(rc::jacrev(rc::jacfwd(f)), over_x)(xs, w), found, 1e-10);
  for (std::int64_t i = 0; i < 4; ++i) expect_close(found[i], rc::hessian(f)(xs[i], w), 1e-10);
  const auto slope = [&](Tensor x) { return rc::grad(f)(x, w); };
  expect_close(found[1], difference_quotient(slope, xs[1].clone()), 1e-6);
}

TEST(JacobiansInChunks, OfJacobiansOfTuplesUnderVmap) {
  const auto f = [](Tensor x) { return std::tuple{sin(x) * x.sum(), x.prod()}; };
  const Tensor xs = ramp({3, 4});
  const auto whole = rc::vmap(rc::jacrev(rc::jacrev(f)))(xs);
  for (const std::int64_t inner : {1, 3, 10})
    for (const std::int64_t outer : {1, 2, 10}) {
      const auto chunked = rc::jacrev(rc::jacrev(f, {.chunk_size = inner}), {.chunk_size = outer});
      const auto parts = rc::vmap(chunked, {.chunk_size = 2})(xs);
      expect_close(std::get<0>(parts), std::get<0>(whole), 1e-12);
      expect_close(std::get<1>(parts), std::get<1>(whole), 1e-12);
    }
}

TEST(JvpOf, TwoArgumentsGivesTwoResultsWithTangents) {
  const Tensor x = ramp({2}), y = ramp({2}) + 1, tx = doubles({1, 2}), ty = doubles({3, 4});
  const auto f = [](Tensor a, Tensor b) { return std::tuple{a * b, sin(a) + b}; };
  const auto [value, tangent] = rc::jvp(f, std::tuple{x, y}, std::tuple{tx, ty});
  expect_close(std::get<0>(value), x * y);
  expect_close(std::get<0>(tangent), tx * y + x * ty);
  expect_close(std::get<1>(tangent), cos(x) * tx + ty);
}

TEST(JvpOf, TensorsMadeOfConstantsAndOfPrimals) {
  const auto f = [](Tensor x) { return rc::stack({x[0], x[1] * 2}) * doubles({3, 4}) + rc::tensor({1., 1.}); };
  const Tensor x = doubles({5, 6}), t = doubles({1, 10});
  const auto [y, tangent] = rc::jvp(f, x, t);
  expect_values(y, {16, 49});
  expect_values(tangent, {3, 80});
  auto [z, pullback] = rc::vjp(f, x);
  expect_values(pullback(doubles({1, 1})), {3, 8});
  expect_values(rc::vmap([&](Tensor a) { return along_ones(f, a); })(rc::stack({x, t})), {3, 8, 3, 8});
}

TEST(JvpOf, TreesWithNumbersAndTextsHandsThemOn) {
  struct Step {
    Tensor x;
    double rate;
    std::string name;
  };
  const auto f = [](const Step& s) { return s.x * s.rate; };
  const auto [y, tangent] = rc::jvp(f, Step{doubles({1, 2}), 3, "a"}, Step{doubles({1, 1}), 3, "a"});
  expect_values(tangent, {3, 3});
  const auto of_list = [](std::vector<Tensor> none_or_more, Tensor x) {
    return x * (1.0 + double(none_or_more.size()));
  };
  const auto [z, slope] =
      rc::jvp(of_list, std::tuple{std::vector<Tensor>{}, number(2)}, std::tuple{std::vector<Tensor>{}, number(1)});
  expect_values(slope, {1});
}

TEST(JvpOf, AFunctionWithRulesUnderNoGradIsZero) {
  const auto f = [](Tensor x) {
    const rc::no_grad off;
    return Cube::apply(x);
  };
  expect_values(along_ones(f, doubles({1, 2})), {0, 0});
  expect_values(along_ones([&](Tensor x) { return f(x) * x; }, number(2)), {8});
}

TEST(LinearizeIn, VmapAndGradAreThoseOfJvp) {
  const auto f = [](Tensor x) { return sin(x) * x; };
  const auto along = [&](Tensor x, Tensor t) {
    auto [y, linear] = rc::linearize(f, x);
    return linear(t);
  };
  const Tensor xs = ramp({3, 2}), ts = cos(ramp({3, 2}));
  expect_close(rc::vmap(along)(xs, ts), (cos(xs) * xs + sin(xs)) * ts);
  const auto total = [&](Tensor x, Tensor t) { return along(x, t).sum(); };
  const auto [by_x, by_t] = rc::grad<0, 1>(total)(xs, ts);
  expect_close(by_x, (2 * cos(xs) - sin(xs) * xs) * ts);
  expect_close(by_t, cos(xs) * xs + sin(xs));
  auto [y, linear] = rc::linearize(rc::vmap(f), xs);
  expect_close(linear(ts), (cos(xs) * xs + sin(xs)) * ts);
  const auto slope = [&](Tensor x) { return rc::grad([&](Tensor a) { return f(a).sum(); })(x); };
  auto [g, linear_slope] = rc::linearize(slope, xs);
  expect_close(linear_slope(ts), (2 * cos(xs) - sin(xs) * xs) * ts);
}

// ── a reduction with a parameter, whose rule moves it ──

/// The sum along an axis. Its vmap rule is told where the batch is, and counts the axis from there.
struct SumAlong : rc::Function<SumAlong> {
  static inline int times_mapped = 0;
  static Tensor forward(const Tensor& x, std::int64_t dim) { return x.sum(dim); }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor, std::int64_t>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<0>(inputs));
    ctx.save_value(std::get<1>(inputs));
  }
  static std::tuple<Tensor, Tensor> backward(rc::Context& ctx, const Tensor& ct) {
    return {ct.unsqueeze(ctx.value<std::int64_t>(0)).expand_as(ctx.saved(0)), Tensor()};
  }
  static auto vmap(const rc::VmapInfo&, const std::tuple<rc::Dim, rc::Dim>&, const Tensor& x, std::int64_t dim) {
    ++times_mapped;
    return std::pair{SumAlong::apply(x, dim + 1), rc::Dim(0)};  // the batch is in front
  }
};

TEST(AReductionWithRules, IsMappedByItsRuleWhichMovesItsAxis) {
  const Tensor x = ramp({2, 3, 4, 5});
  const auto along = [](std::int64_t dim) { return [dim](Tensor a) { return SumAlong::apply(a, dim); }; };
  SumAlong::times_mapped = 0;
  for (const std::int64_t dim : {0, 1}) {
    expect_close(rc::vmap(along(dim))(x[0]), x[0].sum(dim + 1));
    expect_close(rc::vmap(along(dim), {.in_dims = -1})(x[0]), x[0].movedim(-1, 0).sum(dim + 1));
    expect_close(rc::vmap(rc::vmap(along(dim)))(x), x.sum(dim + 2));
    const auto loss = [&](Tensor a) { return sin(SumAlong::apply(a, dim)).sum(); };
    const auto plain = [&](Tensor a) { return sin(a.sum(dim)).sum(); };
    expect_close(rc::vmap(rc::grad(loss))(x[0]), rc::vmap(rc::grad(plain))(x[0]));
    const auto total = [](const auto& f) { return [f](Tensor a) { return rc::grad(f)(a).square().sum(); }; };
    expect_close(rc::vmap(rc::grad(total(loss)))(x[0]), rc::vmap(rc::grad(total(plain)))(x[0]));
  }
  EXPECT_GE(SumAlong::times_mapped, 8);
}

// ── models ──

struct ConvNet {
  Tensor filters, scale, shift, head;
};

/// Logits of an image [1, 6, 6]: convolution, group norm, pooling, a linear layer, and dropout by a mask.
Tensor logits(const ConvNet& net, const Tensor& image, const Tensor& mask) {
  const Tensor y = rc::conv2d(image.unsqueeze(0), net.filters, {.padding = 1});
  const Tensor z = rc::max_pool2d(sin(rc::group_norm(y, 2, net.scale, net.shift)), 2);
  return matmul((z.flatten() * mask), net.head);
}

ConvNet make_net() { return {sin(ramp({2, 1, 3, 3})), ramp({2}), ramp({2}) - 0.4, cos(ramp({18, 3})) * 0.5}; }

TEST(ModelsOf, ConvolutionPoolingAndDropoutHaveTheGradientsOfTheirQuotients) {
  const ConvNet net = make_net();
  const Tensor image = sin(ramp({1, 6, 6}) * 2), mask = (sin(ramp({18}) * 9) > -0.5).to(rc::float64) * 2;
  const auto loss = [&](const ConvNet& n) { return rc::cross_entropy(logits(n, image, mask), rc::tensor(1)); };
  const ConvNet slope = rc::grad(loss)(net);
  const auto by_filters = [&](Tensor f) { return loss({f, net.scale, net.shift, net.head}); };
  const auto by_head = [&](Tensor h) { return loss({net.filters, net.scale, net.shift, h}); };
  expect_close(slope.filters, difference_quotient(by_filters, net.filters), 1e-6);
  expect_close(slope.head, difference_quotient(by_head, net.head), 1e-6);
  rc::manual_seed(1);
  const Tensor dropped = rc::dropout(rc::ones({18}, rc::float64), 0.5, true);
  const auto drawn = [&](const ConvNet& n) {
    rc::manual_seed(1);
    return logits(n, image, rc::dropout(rc::ones({18}, rc::float64), 0.5, true)).sum();
  };
  const auto with_mask = [&](const ConvNet& n) { return logits(n, image, dropped).sum(); };
  expect_close(rc::grad(drawn)(net).filters, rc::grad(with_mask)(net).filters);
}

TEST(ModelsOf, ConvolutionHaveMetaGradientsThroughSteps) {
  const ConvNet net = make_net();
  const Tensor images = sin(ramp({2, 1, 6, 6}) * 2), others = cos(ramp({2, 1, 6, 6})),
               mask = rc::ones({18}, rc::float64);
  const Tensor classes = rc::tensor({0, 2});
  const auto loss = [&](const ConvNet& n, Tensor image, Tensor c) {
    return rc::cross_entropy(logits(n, image, mask), c);
  };
  const auto after_steps = [&](const ConvNet& n, Tensor image, Tensor other, Tensor c) {
    ConvNet fast = n;
    for (int step = 0; step < 2; ++step) {
      const ConvNet slope = rc::grad(loss)(fast, image, c);
      fast = rc::map_leaves([](Tensor p, Tensor g) { return p - 0.3 * g; }, fast, slope);
    }
    return loss(fast, other, c);
  };
  const ConvNet each = rc::vmap(rc::grad(after_steps), {.in_dims = {rc::none, 0, 0, 0}})(net, images, others, classes);
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto by_filters = [&](Tensor f) {
      return after_steps({f, net.scale, net.shift, net.head}, images[k], others[k], classes[k]);
    };
    expect_close(each.filters[k], difference_quotient(by_filters, net.filters), 1e-5);
  }
}

struct Tied {
  Tensor encoder, decoder;
};

Tensor tied_loss(const Tied& t, const Tensor& x) { return sin(matmul(t.decoder.t(), matmul(t.encoder, x))).sum(); }

TEST(TiedParameters, AreTwoArgumentsInsideATransformWhoseGradientsAdd) {
  const Tensor w = ramp({2, 3}), x = cos(ramp({3}));
  const Tied slope = rc::grad(tied_loss)(Tied{w, w}, x);
  const auto as_one = [&](Tensor v) { return tied_loss({v, v}, x); };
  expect_close(slope.encoder + slope.decoder, rc::grad(as_one)(w));
  EXPECT_NE(values(slope.encoder), values(slope.decoder));
}

TEST(TiedParameters, OneFieldReadTwiceIsTied) {
  const Tensor w = ramp({2, 3}), x = cos(ramp({3}));
  const auto as_one = [&](Tensor v) { return tied_loss({v, v}, x); };
  expect_close(rc::grad(as_one)(w), difference_quotient(as_one, w), 1e-6);
  const Tensor stepped = w - 1e-3 * rc::grad(as_one)(w);
  EXPECT_LT(as_one(stepped).item(), as_one(w).item());
}

TEST(TiedParameters, OfBuffersAreWrittenOneByOne) {
  const Tensor buffer = doubles({1, 2});
  const auto writes = [](const Tied& t) {
    t.encoder.mul_(10);
    return (t.encoder + t.decoder).sum();
  };
  expect_values(writes({buffer.clone(), buffer.clone()}), {33});
  const Tensor both = buffer.clone();
  expect_values(writes({both, both}), {60});                                           // outside they are one tensor
  expect_values(std::get<1>(rc::grad_and_value(writes)(Tied{buffer, buffer})), {33});  // inside they are two
  expect_values(buffer, {10, 20});                                                     // the caller sees the write
}

TEST(TiedParameters, OfAnEnsembleAreStackedApart) {
  const Tensor v = ramp({2, 3}), w = cos(ramp({2, 3})), x = ramp({3});
  const Tied stacked = rc::stack_trees(std::vector<Tied>{{v, v}, {w, w}});
  const Tied slopes = rc::vmap(rc::grad(tied_loss), {.in_dims = {0, rc::none}})(stacked, x);
  expect_close(slopes.encoder[1], rc::grad(tied_loss)(Tied{w, w}, x).encoder);
  expect_close(slopes.decoder[0], rc::grad(tied_loss)(Tied{v, v}, x).decoder);
}

TEST(ModelsOf, DetachedParametersAreConstants) {
  const Mlp model = make_mlp();
  const Tensor x = ramp({3});
  const auto frozen = [](const Mlp& m) { return rc::map_leaves([](Tensor p) { return p.detach(); }, m); };
  const auto loss = [&](const Mlp& m, Tensor a) { return predict(frozen(m), a).sum(); };
  const auto [by_model, by_x] = rc::grad<0, 1>(loss)(model, x);
  for (const Tensor& g : rc::leaves(by_model)) expect_equal(g, g * 0);
  expect_close(by_x, rc::grad([&](Tensor a) { return predict(model, a).sum(); })(x));
}

// ── what is read and made inside a derivative ──

TEST(ReadInsideADerivative, ValuesAreThoseOfThePoint) {
  const Tensor x = doubles({1, 2, 3, 4}, {2, 2});
  const auto f = [](Tensor a) {
    EXPECT_EQ(a.to_vector<double>(), (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ((a * a)[1][0].item<double>(), 9);
    EXPECT_EQ((-a).t().to_vector<double>(), (std::vector<double>{-1, -3, -2, -4}));
    return (a * a.max().item<double>()).sum();
  };
  expect_values(rc::grad(f)(x), {4, 4, 4, 4});
  expect_values(along_ones(f, x), {16});
  const auto twice = [&](Tensor a) {
    return rc::grad([&](Tensor b) {
             EXPECT_EQ((b * a).sum().item<double>(), 30);
             EXPECT_EQ(b[1].to_vector<double>(), (std::vector<double>{3, 4}));
             return (b * b * a).sum();
           })(a)
        .sum();
  };
  expect_values(rc::grad(twice)(x), {4, 8, 12, 16});  // 2 b a at b = a
}

TEST(ReadInsideADerivative, ComplexAndNegatedValuesToo) {
  const Tensor z = rc::complex(doubles({1, 2}), doubles({3, -4}));
  const auto f = [](Tensor a) {
    using Complex = std::complex<double>;
    EXPECT_EQ(conj(a).to_vector<Complex>(), (std::vector<Complex>{{1, -3}, {2, 4}}));
    EXPECT_EQ((-conj(a)).to_vector<Complex>(), (std::vector<Complex>{{-1, 3}, {-2, -4}}));
    return real(a * conj(a)).sum();
  };
  expect_close(rc::grad(f)(z), 2 * z);
}

TEST(MadeInsideADerivative, ConstantsAreFactors) {
  expect_values(rc::grad([](Tensor x) { return x * rc::tensor(2.0); })(number(3)), {2});
  expect_values(rc::grad([](Tensor x) { return x * rc::tensor({1., 2.}).sum() * rc::ones({}); })(number(3)), {3});
  expect_values(rc::grad([](Tensor x) { return x.flatten().sum(); })(ramp({2, 2})), {1, 1, 1, 1});
  expect_values(rc::grad([](Tensor x) { return x.sum(); })(ramp({2, 2})), {1, 1, 1, 1});
}

TEST(OrderedNumbers, AreRealOnes) {
  const Tensor z = rc::complex(doubles({1, 2}), doubles({3, -4}));
  const std::vector<std::function<Tensor(Tensor)>> orders{[](Tensor a) { return a < a; },
                                                          [](Tensor a) { return a >= a; },
                                                          [](Tensor a) { return a.max(); },
                                                          [](Tensor a) { return rc::minimum(a, a); },
                                                          [](Tensor a) { return rc::argmax(a); },
                                                          [](Tensor a) { return rc::sort(a).first; },
                                                          [](Tensor a) { return rc::clamp(a, 0, 1); }};
  for (const auto& f : orders) {
    EXPECT_THROW(f(z), rc::TypeError);
    EXPECT_THROW(rc::vmap(f)(rc::stack({z, z})), rc::TypeError);
    EXPECT_THROW(rc::jvp(f, z, z), rc::TypeError);
  }
  EXPECT_FALSE(rc::inside_transform());
}

TEST(OrderedNumbers, BooleansHaveNoDerivative) {
  const Tensor flags = rc::tensor({true, false});
  EXPECT_THROW(rc::grad([](Tensor b) { return b.to(rc::float32).max(); })(flags), rc::TypeError);
  EXPECT_THROW(rc::vjp([](Tensor b) { return b.to(rc::float32); }, flags), rc::TypeError);
  EXPECT_THROW(rc::jvp([](Tensor b) { return b.to(rc::float32); }, flags, flags), rc::TypeError);
}

// ── a buffer that is mapped ──

TEST(MappedBuffers, TakeTheTangentsOfWhatIsWritten) {
  const Tensor buffers = doubles({1, 2, 3, 4}, {2, 2}), y = doubles({5, 6}), t = doubles({10, 20});
  const auto f = [](Tensor buffer, Tensor a, Tensor ta) {
    const auto writes = [&](Tensor b) {
      const Tensor base = buffer.clone(), view = base[0];
      view.copy_(b * b);
      return std::tuple{base, view};
    };
    return rc::jvp(writes, a, ta);
  };
  const auto [value, tangent] = rc::vmap(f)(buffers, y, t);
  expect_values(std::get<0>(value), {25, 2, 36, 4});
  expect_values(std::get<1>(value), {25, 36});
  expect_values(std::get<0>(tangent), {100, 0, 240, 0});
  expect_values(std::get<1>(tangent), {100, 240});
}

}  // namespace
