// What rc::Function means: what its context keeps, which of its steps run how often, trees and non-tensors among
// arguments and results, writing in place. The names in parity.md under TestAutogradFunction and its vmap API.
#include <string>
#include <vector>

#include "support/expect_tensor.h"
#include "support/functions.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

// ── arguments and results ──

/// A layer on x, scaled by a number: trees and a number as arguments, a pair as a result.
struct Affine : rc::Function<Affine> {
  using Output = std::pair<Tensor, double>;
  static Output forward(const Linear& layer, const Tensor& x, double scale) {
    return {scale * (matmul(x, layer.weight) + layer.bias), scale};
  }
  static void setup_context(rc::Context& ctx, const std::tuple<Linear, Tensor, double>& inputs, const Output&) {
    const auto& [layer, x, scale] = inputs;
    ctx.save_for_backward(layer.weight, x);
    ctx.save_value(scale);
  }
  static std::tuple<Linear, Tensor, Tensor> backward(rc::Context& ctx, const Tensor& ct, double) {
    const Tensor weight = ctx.saved(0), x = ctx.saved(1), scaled = ctx.value<double>(0) * ct;
    return {Linear{outer(x, scaled), scaled}, matmul(scaled, weight.t()), Tensor()};
  }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, TakesTreesAndNumbersAndGivesBackANumberUntouched) {
  const Linear layer = make_linear(3, 2);
  const Tensor x = ramp({3});
  const auto [y, scale] = Affine::apply(layer, x, 2.5);
  expect_close(y, 2.5 * (matmul(x, layer.weight) + layer.bias));
  EXPECT_EQ(scale, 2.5);
}

TEST(Function, GivesGradientsOfTrees) {
  const Linear layer = make_linear(3, 2);
  const Tensor x = ramp({3});
  const auto custom = [](const Linear& l, const Tensor& a) { return Affine::apply(l, a, 2.5).first.square().sum(); };
  const auto plain = [](const Linear& l, const Tensor& a) {
    return (2.5 * (matmul(a, l.weight) + l.bias)).square().sum();
  };
  const auto [found, found_x] = rc::grad<0, 1>(custom)(layer, x);
  const auto [expected, expected_x] = rc::grad<0, 1>(plain)(layer, x);
  expect_close(found.weight, expected.weight);
  expect_close(found.bias, expected.bias);
  expect_close(found_x, expected_x);
  const auto in_dims = rc::VmapOptions{.in_dims = {rc::none, 0}};
  const Linear per_sample = rc::vmap(rc::grad(custom), in_dims)(layer, ramp({4, 3}));
  const Linear plain_per_sample = rc::vmap(rc::grad(plain), in_dims)(layer, ramp({4, 3}));
  expect_close(per_sample.weight, plain_per_sample.weight);
}

/// The sum of a list: a list of tensors as the argument and as the gradient.
struct SumOfList : rc::Function<SumOfList> {
  static Tensor forward(const std::vector<Tensor>& x) {
    Tensor total = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) total = total + x[i];
    return total;
  }
  static void setup_context(rc::Context& ctx, const std::tuple<std::vector<Tensor>>& inputs, const Tensor&) {
    ctx.save_value(std::get<0>(inputs).size());
  }
  static std::vector<Tensor> backward(rc::Context& ctx, const Tensor& ct) {
    return std::vector<Tensor>(ctx.value<std::size_t>(0), ct);
  }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, TakesAListOfTensors) {
  const auto f = [](std::vector<Tensor> x) { return (SumOfList::apply(x) * ramp({3})).sum(); };
  for (const Tensor& g : rc::grad(f)(std::vector<Tensor>(40, ramp({3})))) expect_close(g, ramp({3}));
}

/// The index of an element beside it: an integer output, which has no derivative.
struct Largest : rc::Function<Largest> {
  using Output = std::pair<Tensor, Tensor>;
  static Output forward(const Tensor& x) { return x.max(0); }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Output& output) {
    ctx.mark_non_differentiable(output.second);
    ctx.save_for_backward(output.second);
    ctx.save_value(std::get<0>(inputs).size(0));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct, const Tensor&) {
    return ct * (rc::arange(ctx.value<std::int64_t>(0)) == ctx.saved(0));
  }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, GivesIntegersWithoutADerivative) {
  const Tensor x = doubles({1, 5, 2});
  expect_values(rc::grad([](Tensor a) { return Largest::apply(a).first * 3; })(x), {0, 3, 0});
  const auto [indices, values] = rc::vmap([](Tensor a) {
    auto [value, index] = Largest::apply(a);
    return std::pair{index, value};
  })(doubles({1, 5, 2, 7, 0, 1}, {2, 3}));
  expect_values(indices, {1, 0});
}

// ── the context ──

struct Identity : rc::Function<Identity> {
  static Tensor forward(const Tensor& x) { return x; }
  static Tensor backward(rc::Context&, const Tensor& ct) { return 2 * ct; }
  static Tensor jvp(rc::Context&, const Tensor& t) { return 2 * t; }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, MayReturnItsInput) {
  const Tensor x = ramp({3});
  expect_close(Identity::apply(x), x);
  expect_values(rc::grad([](Tensor a) { return Identity::apply(a).sum(); })(x), {2, 2, 2});
  expect_values(std::get<1>(rc::jvp([](Tensor a) { return Identity::apply(a); }, x, rc::ones_like(x))), {2, 2, 2});
  expect_values(rc::vmap(rc::grad([](Tensor a) { return Identity::apply(a); }))(x), {2, 2, 2});
}

/// 6x, whose rules write to what they are given.
struct Sixfold : rc::Function<Sixfold> {
  static Tensor forward(const Tensor& x) { return 6 * x; }
  static Tensor backward(rc::Context&, const Tensor& ct) { return ct.mul_(6.); }
  static Tensor jvp(rc::Context&, const Tensor& t) { return t.mul_(6.); }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, RulesMayWriteToTangentsAndCotangents) {
  const auto f = [](Tensor a) { return Sixfold::apply(a); };
  const auto cube = [&](Tensor a) { return f(a * a * a).sum(); };
  const Tensor x = ramp({2}) + 1, directions = ramp({3, 2}), t = rc::ones_like(x);
  expect_values(rc::jvp(f, x, t).second + t, {7, 7});
  expect_values(rc::jacfwd(f)(x), {6, 0, 0, 6});
  expect_values(rc::jacrev(f)(x), {6, 0, 0, 6});
  expect_close(rc::vmap([&](Tensor d) { return rc::jvp(f, x, d).second; })(directions), 6 * directions);
  expect_close(rc::vmap([&](Tensor d) { return rc::jvp(rc::vmap(f), d, d).second; })(directions), 6 * directions);
  expect_close(rc::hessian(cube)(x), rc::diag(36 * x));
  expect_close(rc::jacfwd(rc::jacfwd(cube))(x), rc::diag(36 * x));
  expect_close(rc::jacrev(rc::jacfwd(cube))(x), rc::diag(36 * x));
  expect_values(rc::linearize(f, x).second(t) + t, {7, 7});
}

/// Two outputs; notes which of their cotangents are defined.
template <bool materialize>
struct Pair : rc::Function<Pair<materialize>> {
  static inline bool first_defined, second_defined;
  static std::pair<Tensor, Tensor> forward(const Tensor& x) { return {x * 2, x * 3}; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>&, const std::pair<Tensor, Tensor>&) {
    ctx.set_materialize_grads(materialize);
  }
  static Tensor backward(rc::Context&, const Tensor& first, const Tensor& second) {
    first_defined = first.defined();
    second_defined = second.defined();
    return first * 2;
  }
};

TEST(Function, GetsZerosForCotangentsThatAreZeroUnlessItAsksNotTo) {
  const Tensor x = ramp({3});
  expect_values(rc::grad([](Tensor a) { return Pair<true>::apply(a).first.sum(); })(x), {2, 2, 2});
  EXPECT_TRUE(Pair<true>::first_defined && Pair<true>::second_defined);
  expect_values(rc::grad([](Tensor a) { return Pair<false>::apply(a).first.sum(); })(x), {2, 2, 2});
  EXPECT_TRUE(Pair<false>::first_defined);
  EXPECT_FALSE(Pair<false>::second_defined);
}

struct Product : rc::Function<Product> {
  static inline std::vector<bool> needs;
  static Tensor forward(const Tensor& x, double factor, const Tensor& y) { return factor * x * y; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor, double, Tensor>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<0>(inputs), std::get<2>(inputs));
    ctx.save_value(std::get<1>(inputs));
  }
  static std::tuple<Tensor, Tensor, Tensor> backward(rc::Context& ctx, const Tensor& ct) {
    needs = {ctx.needs_input_grad(0), ctx.needs_input_grad(1), ctx.needs_input_grad(2)};
    const double factor = ctx.value<double>(0);
    return {factor * ct * ctx.saved(1), Tensor(), needs[2] ? factor * ct * ctx.saved(0) : Tensor()};
  }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, IsToldWhichArgumentsNeedAGradient) {
  const Tensor x = ramp({3}), y = ramp({3}) + 1;
  const auto f = [](Tensor a, Tensor b) { return Product::apply(a, 2.0, b).sum(); };
  expect_close(rc::grad(f)(x, y), 2 * y);
  EXPECT_EQ(Product::needs, (std::vector<bool>{true, false, false}));
  expect_close(rc::grad<1>(f)(x, y), 2 * x);
  EXPECT_EQ(Product::needs, (std::vector<bool>{false, false, true}));
  rc::vmap(rc::grad<1>(f), {.in_dims = {rc::none, 0}})(x, ramp({2, 3}));
  EXPECT_EQ(Product::needs, (std::vector<bool>{false, false, true}));
}

/// A gradient in the shape of a broadcast.
struct Spread : rc::Function<Spread> {
  static Tensor forward(const Tensor& x) { return x * rc::ones({2, 3}, rc::float64); }
  static Tensor backward(rc::Context&, const Tensor& ct) { return ct; }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, GradientsAreSummedDownToTheirArgument) {
  expect_values(rc::grad([](Tensor a) { return Spread::apply(a).sum(); })(ramp({3})), {2, 2, 2});
  expect_values(rc::grad([](Tensor a) { return Spread::apply(a).sum(); })(ramp({3}).to(rc::float32)), {2, 2, 2});
  expect_values(rc::grad([](Tensor a) { return Spread::apply(a).sum(); })(number(1)), {6});
}

TEST(Function, SavedTensorsAreTheSameAtEveryCallOfAPullback) {
  struct Local {
    static Tensor plain(Tensor x) { return GeneratedCube::apply(x).first; }
  };
  const Tensor x = ramp({3});
  const auto [y, pullback] = rc::vjp(Local::plain, x);
  x.zero_();
  expect_close(pullback(rc::ones_like(y)), 3 * ramp({3}).square());
  expect_close(pullback(rc::ones_like(y)), 3 * ramp({3}).square());
}

struct OnceSquare : rc::Function<OnceSquare> {
  static Tensor forward(const Tensor& x) { return x * x; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<0>(inputs));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) { return 2 * ctx.saved(0) * ct; }
  static constexpr bool once_differentiable = true, generate_vmap_rule = true;
};

TEST(Function, OnceDifferentiableHasAFirstDerivativeUnderEveryTransform) {
  const Tensor x = ramp({3});
  const auto f = [](Tensor a) { return OnceSquare::apply(a).sum(); };
  expect_close(rc::grad(f)(x), 2 * x);
  expect_close(rc::vmap(rc::grad(f))(x), 2 * x);
  expect_close(rc::jacrev([](Tensor a) { return OnceSquare::apply(a); })(x), rc::diag(2 * x));
  const auto [value, unused] = rc::vjp([&](Tensor a) { return rc::grad(f)(a); }, x);
  expect_close(value, 2 * x);
}

TEST(Function, NoGradIsObeyedByItsRules) {
  const auto f = [](Tensor x) {
    const rc::no_grad guard;
    return generated_cube(x).sum();
  };
  expect_values(rc::grad(f)(ramp({3})), {0, 0, 0});
  const rc::no_grad outside;
  expect_close(rc::grad([](Tensor x) { return generated_cube(x).sum(); })(ramp({3})), 3 * ramp({3}).square());
}

// ── writing in place ──

struct ExpInPlace : rc::Function<ExpInPlace> {
  static Tensor forward(const Tensor& x) { return x.exp_(); }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor& output) {
    ctx.mark_dirty(std::get<0>(inputs));
    ctx.save_for_backward(output);
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) { return ct * ctx.saved(0); }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, ThatWritesToItsArgumentChangesTheCallersTensorAndReturnsIt) {
  const Tensor x = ramp({3});
  const Tensor y = ExpInPlace::apply(x);
  EXPECT_TRUE(y.is_same(x));
  expect_close(x, exp(ramp({3})));
}

TEST(Function, ThatWritesToItsArgumentIsDifferentiableThroughTheWrite) {
  const auto f = [](Tensor x) {
    const Tensor y = x * 2;
    ExpInPlace::apply(y);
    return (y * x).sum();
  };
  const Tensor x = ramp({3}), expected = exp(2 * x) * (1 + 2 * x);
  expect_close(rc::grad(f)(x), expected);
  expect_close(rc::vmap(rc::grad(f))(x), expected);
  expect_close(rc::grad([&](Tensor a) { return rc::vmap(f)(a).sum(); })(x), expected);
}

TEST(Function, ThatWritesToItsArgumentIsRecorded) {
  const auto f = [](Tensor x) {
    const Tensor y = x * 2;
    ExpInPlace::apply(y);
    return y + x;
  };
  expect_close(rc::trace(f)(ramp({3}))({ramp({4})})[0], exp(2 * ramp({4})) + ramp({4}));
}

/// Returns its argument, marked but not written to.
struct Touched : rc::Function<Touched> {
  static Tensor forward(const Tensor& x) { return x; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    ctx.mark_dirty(std::get<0>(inputs));
  }
  static Tensor backward(rc::Context&, const Tensor& ct) { return ct * 3; }
};

TEST(Function, MayMarkAnArgumentThatItReturnsUnchanged) {
  expect_values(rc::grad([](Tensor x) { return Touched::apply(x).sum(); })(ramp({2})), {3, 3});
}

/// Uses transforms inside its steps.
struct Transformed : rc::Function<Transformed> {
  static Tensor sine(const Tensor& x) { return sin(x); }
  static Tensor forward(const Tensor& x) { return std::get<1>(rc::jvp(sine, x, rc::ones_like(x))); }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<0>(inputs));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) {
    return rc::grad([](Tensor x) { return forward(x).sum(); })(ctx.saved(0)) * ct;
  }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Function, MayUseTransformsInItsSteps) {
  const Tensor x = ramp({3});
  expect_close(Transformed::apply(x), cos(x));
  expect_close(rc::grad([](Tensor a) { return Transformed::apply(a).sum(); })(x), -sin(x));
  expect_close(
      rc::vmap(rc::grad([](Tensor a) { return rc::grad([](Tensor b) { return Transformed::apply(b); })(a); }))(x),
      -cos(x));
}

// ── vmap ──

/// Notes what its rule is told.
struct Inspected : rc::Function<Inspected> {
  static inline int calls;
  static inline std::int64_t batch_size;
  static inline rc::Randomness randomness;
  static inline std::tuple<rc::Dim, rc::Dim, rc::Dims> dims{rc::none, rc::none, rc::none};
  static Tensor forward(const Tensor& x, double factor, const std::pair<Tensor, Tensor>& pair) {
    return x * factor + pair.first * pair.second;
  }
  static auto vmap(const rc::VmapInfo& info, const std::tuple<rc::Dim, rc::Dim, rc::Dims>& in_dims, const Tensor& x,
                   double factor, const std::pair<Tensor, Tensor>& pair) {
    ++calls;
    batch_size = info.batch_size;
    randomness = info.randomness;
    dims = in_dims;
    const bool mapped = std::get<0>(in_dims) || std::get<2>(in_dims).children[0].dim;
    return std::pair{Inspected::apply(x, factor, pair), mapped ? rc::Dim(0) : rc::Dim()};
  }
};

TEST(FunctionVmap, IsToldTheBatchSizeTheRandomnessAndWhatIsMapped) {
  Inspected::calls = 0;
  const auto f = [](Tensor x, Tensor a, Tensor b) { return Inspected::apply(x, 2.0, std::pair{a, b}); };
  const auto mapped = rc::vmap(f, {.in_dims = {1, 0, rc::none}, .randomness = rc::Randomness::different});
  expect_close(mapped(ramp({3, 4}), ramp({4, 3}), ramp({3})), 2 * ramp({3, 4}).t() + ramp({4, 3}) * ramp({3}));
  EXPECT_EQ(Inspected::calls, 1);
  EXPECT_EQ(Inspected::batch_size, 4);
  EXPECT_EQ(Inspected::randomness, rc::Randomness::different);
  EXPECT_EQ(std::get<0>(Inspected::dims), rc::Dim(0));  // a mapped axis comes first, wherever it was
  EXPECT_EQ(std::get<1>(Inspected::dims), rc::Dim());
  EXPECT_EQ(std::get<2>(Inspected::dims), (rc::Dims{0, rc::none}));
}

TEST(FunctionVmap, IsNotCalledWhereNothingIsMapped) {
  Inspected::calls = 0;
  const auto f = [](Tensor x) {
    return rc::vmap([x](Tensor) { return Inspected::apply(x, 2.0, std::pair{x, x}); })(ramp({5}));
  };
  expect_close(f(ramp({3})), (2 * ramp({3}) + ramp({3}).square()).expand({5, 3}));
  EXPECT_EQ(Inspected::calls, 0);
  rc::vmap(f)(ramp({4, 3}));
  EXPECT_EQ(Inspected::calls, 1);
  EXPECT_EQ(Inspected::batch_size, 4);
}

TEST(FunctionVmap, NestedIsCalledAgainForTheNextLevel) {
  WrittenCube::times_mapped = 0;
  expect_close(rc::vmap(rc::vmap(written_cube))(ramp({2, 3, 4})), ramp({2, 3, 4}).pow(3));
  EXPECT_EQ(WrittenCube::times_mapped, 2);
}

struct Constant : rc::Function<Constant> {
  static Tensor forward(const Tensor&) { return rc::ones({2}, rc::float64); }
  static auto vmap(const rc::VmapInfo&, const std::tuple<rc::Dim>&, const Tensor&) {
    return std::pair{rc::ones({2}, rc::float64), rc::none};
  }
};

TEST(FunctionVmap, NoneAsOutDimMeansNoBatchDimension) {
  const auto f = [](Tensor x) { return Constant::apply(x); };
  EXPECT_EQ(sizes(rc::vmap(f, {.out_dims = rc::none})(ramp({3}))), (Sizes{2}));
  EXPECT_EQ(sizes(rc::vmap(f)(ramp({3}))), (Sizes{3, 2}));
}

/// A batch dimension behind, and a negative out_dim.
struct Behind : rc::Function<Behind> {
  static Tensor forward(const Tensor& x) { return x * 2; }
  static auto vmap(const rc::VmapInfo&, const std::tuple<rc::Dim>& in_dims, const Tensor& x) {
    return std::pair{movedim(x * 2, *std::get<0>(in_dims), -1), -1};
  }
};

TEST(FunctionVmap, MayPutTheBatchAnywhere) {
  expect_close(rc::vmap([](Tensor x) { return Behind::apply(x); })(ramp({3, 4})), 2 * ramp({3, 4}));
}

// ── a generated rule ──

/// A gradient that does not depend on the batch, of an argument that does, and the reverse.
struct Mixed : rc::Function<Mixed> {
  static Tensor forward(const Tensor& x, const Tensor& y) { return x + y; }
  static std::pair<Tensor, Tensor> backward(rc::Context&, const Tensor& ct) {
    return {rc::ones({3}, rc::float64), ct * 2};
  }
  static constexpr bool generate_vmap_rule = true;
};

TEST(GeneratedVmap, ExpandsAGradientThatIsNotBatchedAndSumsOneOfAnArgumentThatIsNot) {
  const auto f = [](Tensor x, Tensor y) {
    return rc::vmap([](Tensor a, Tensor b) { return Mixed::apply(a, b); }, {.in_dims = {0, rc::none}})(x, y).sum();
  };
  const auto [gx, gy] = rc::grad<0, 1>(f)(ramp({4, 3}), ramp({3}));
  expect_values(gx, Values(12, 1));
  expect_values(gy, {8, 8, 8});
  const auto swapped = [](Tensor x, Tensor y) {
    return rc::vmap([](Tensor a, Tensor b) { return Mixed::apply(a, b); }, {.in_dims = {rc::none, 0}})(x, y).sum();
  };
  expect_values(rc::grad(swapped)(ramp({3}), ramp({4, 3})), {4, 4, 4});  // one for each of the four examples
}

TEST(GeneratedVmap, WorksForABatchOfNone) {
  EXPECT_EQ(sizes(rc::vmap(generated_cube)(ramp({0, 3}))), (Sizes{0, 3}));
  EXPECT_EQ(sizes(rc::vmap(rc::grad([](Tensor x) { return generated_cube(x).sum(); }))(ramp({0, 3}))), (Sizes{0, 3}));
}

TEST(GeneratedVmap, RunsInChunks) {
  expect_close(rc::vmap(rc::grad(generated_cube), {.chunk_size = 2})(ramp({5})), 3 * ramp({5}).square());
}

}  // namespace
