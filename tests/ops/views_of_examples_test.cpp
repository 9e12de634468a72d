// Under vmap: which operations give views of the caller's tensor; clamps and indexed writes whose operands are mapped,
// shared or numbers, mapped once and twice; index_add of many examples; cross_entropy at extreme logits.
#include <functional>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Part = std::function<Tensor(Tensor)>;

TEST(ViewsOfExamples, ShareTheCallersMemoryMappedOnceAndTwice) {
  const std::vector<std::pair<const char*, Part>> views{
      {"split", [](Tensor a) { return rc::split(a, 2)[1]; }},
      {"split by sizes", [](Tensor a) { return rc::split(a, {1, 3}, -1)[1]; }},
      {"chunk", [](Tensor a) { return rc::chunk(a, 2, 1)[0]; }},
      {"tensor_split", [](Tensor a) { return rc::tensor_split(a, 3)[2]; }},
      {"unbind", [](Tensor a) { return rc::unbind(a, -1)[2]; }},
      {"unsqueeze", [](Tensor a) { return a.unsqueeze(1); }},
      {"squeeze", [](Tensor a) { return a.narrow(0, 1, 1).squeeze(0); }},
      {"movedim", [](Tensor a) { return rc::movedim(a, 0, -1); }},
      {"transpose", [](Tensor a) { return rc::transpose(a, 0, 1); }},
      {"permute", [](Tensor a) { return a.permute({1, 0}); }},
      {"t", [](Tensor a) { return a.t(); }},
      {"T", [](Tensor a) { return a.T(); }},
      {"mT", [](Tensor a) { return a.mT(); }},
      {"view", [](Tensor a) { return a.view({2, -1}); }},
      {"view_as", [](Tensor a) { return a.view_as(rc::ones({2, 8})); }},
      {"reshape", [](Tensor a) { return a.reshape({16}); }},
      {"flatten", [](Tensor a) { return a.flatten(); }},
      {"unfold", [](Tensor a) { return a.unfold(1, 2, 1); }},
      {"diagonal", [](Tensor a) { return a.diagonal(); }},
      {"expand", [](Tensor a) { return a[0].expand({3, 4}); }},
      {"expand_as", [](Tensor a) { return a.select(1, 0).expand_as(rc::ones({2, 4})); }},
      {"contiguous", [](Tensor a) { return a.contiguous(); }},
      {"conj of real", [](Tensor a) { return rc::conj(a); }},
      {"real of real", [](Tensor a) { return rc::real(a); }},
      {"to its own dtype", [](Tensor a) { return a.to(rc::float64); }},
  };
  for (const auto& [name, view] : views) {
    SCOPED_TRACE(name);
    const Tensor x = ramp({3, 4, 4}), xs = ramp({2, 3, 4, 4});
    expect_equal(rc::vmap(view)(x)[2], view(x[2]));
    expect_equal(rc::vmap(rc::vmap(view))(xs)[1][2], view(xs[1][2]));
    const auto writes = [&](Tensor a) { return view(a).mul_(-1), a; };
    const auto of_one = [&](Tensor a) {
      const Tensor copy = a.clone();
      view(copy).mul_(-1);
      return copy;
    };
    std::vector<Tensor> wanted;
    if (std::string(name) != "expand" && std::string(name) != "expand_as" && std::string(name) != "unfold") {
      for (std::int64_t i = 0; i < 3; ++i) wanted.push_back(of_one(x[i]));
      EXPECT_NE(values(wanted[0]), values(x[0]));
      rc::vmap(writes)(x);
      expect_equal(x, rc::stack(wanted));
    } else {
      const Tensor seen = rc::vmap(view)(x), before = seen.clone();
      x.mul_(2);
      expect_equal(seen, before * 2);
    }
  }
}

TEST(ViewsOfExamples, CopiesShareNothing) {
  for (const Part& copy :
       {Part([](Tensor a) { return a.clone(); }), Part([](Tensor a) { return a.t().contiguous(); }),
        Part([](Tensor a) { return rc::repeat(a, {1, 1}); }), Part([](Tensor a) { return rc::roll(a, 1); })}) {
    const Tensor x = ramp({3, 2, 2});
    EXPECT_FALSE(shares_memory(rc::vmap(copy)(x), x));
  }
}

TEST(ViewsOfExamples, ExpandToASharedOrMappedTensor) {
  const Tensor rows = ramp({3, 4}), like = ramp({3, 2, 4});
  const auto f = [](Tensor a, Tensor b) { return a.expand_as(b); };
  for (const Tensor& y : {rc::vmap(f)(rows, like), rc::vmap(f, {.in_dims = {0, rc::none}})(rows, like[0])})
    expect_equal(y, rows.unsqueeze(1).expand({3, 2, 4}));
  expect_equal(rc::vmap(f, {.in_dims = {rc::none, 0}})(rows[0], like), rows[0].expand({3, 2, 4}));
}

// ── in place with numbers and shared operands ──

TEST(OperandsOfExamples, OfClampsInPlaceMayBeNumbersMappedOnceAndTwice) {
  const std::vector<std::pair<Part, Part>> clamps{
      {[](Tensor a) { return a.clamp_(-0.5, 0.5); }, [](Tensor a) { return rc::clamp(a, -0.5, 0.5); }},
      {[](Tensor a) { return a.clamp_min_(0.1); }, [](Tensor a) { return rc::clamp_min(a, 0.1); }},
      {[](Tensor a) { return a.clamp_max_(0.1); }, [](Tensor a) { return rc::clamp_max(a, 0.1); }}};
  for (const auto& [in_place, pure] : clamps) {
    const Tensor x = sin(ramp({2, 3, 4}) * 5), once = x.clone(), twice = x.clone();
    rc::vmap(in_place, {.in_dims = 1})(once);
    rc::vmap(rc::vmap(in_place))(twice);
    expect_equal(once, pure(x));
    expect_equal(twice, pure(x));
    const Tensor shared = x[0][0].clone();
    const auto both = [&](Tensor a) { return a.clamp_min_(shared.clamp_max(0.2)); };
    expect_equal(rc::vmap(rc::vmap(both))(x.clone()), rc::maximum(x, shared.clamp_max(0.2)));
  }
}

// ── indexed writes ──

TEST(IndexedWritesOfExamples, PutIntoEachExampleAsALoopWouldDo) {
  const Tensor x = ramp({3, 4, 5}), z = cos(ramp({3, 2, 5})), zs = z[0];
  const Tensor i = rc::tensor({{3, 0}, {1, 2}, {2, 0}}), shared = rc::tensor({0, 2});
  using Write = std::function<void(Tensor, Tensor, Tensor)>;
  const std::vector<Write> writes{
      [](Tensor a, Tensor k, Tensor v) { a.index({k}) = v; },
      [](Tensor a, Tensor k, Tensor v) { a.index_put_({k}, v); },
      [](Tensor a, Tensor k, Tensor v) { a.index_put_({k}, v, true); },
      [](Tensor a, Tensor k, Tensor v) { a.slice(1, 1, 3).index_put_({k}, v.slice(1, 1, 3)); },
      [](Tensor a, Tensor k, Tensor) { a.index({k}) = Tensor(7.0); }};
  for (const Write& write : writes) {
    const auto f = [&](Tensor a, Tensor k, Tensor v) {
      const Tensor copy = a * 1;
      write(copy, k, v);
      return copy;
    };
    for (const bool map_k : {true, false})
      for (const bool map_v : {true, false})
        for (const bool map_a : {true, false}) {
          if (!map_k && !map_v && !map_a) continue;
          const rc::Dims dims{map_a ? rc::Dims(0) : rc::none, map_k ? rc::Dims(0) : rc::none,
                              map_v ? rc::Dims(0) : rc::none};
          // A shared target becomes a constant of all examples, which takes no example's values: copy it per example.
          const auto g = [&](Tensor a, Tensor k, Tensor v) { return f(map_a ? a : a + (k.sum() + v.sum()) * 0, k, v); };
          const Tensor all = rc::vmap(g, {.in_dims = dims})(map_a ? x : x[0], map_k ? i : shared, map_v ? z : zs);
          for (std::int64_t n = 0; n < 3; ++n)
            expect_close(all[n], f(map_a ? x[n] : x[0], map_k ? i[n] : shared, map_v ? z[n] : zs));
        }
  }
}

TEST(IndexedWritesOfExamples, TakeABooleanMaskOfEachExample) {
  const Tensor x = sin(ramp({3, 4}) * 5);
  const auto f = [](Tensor a) {
    const Tensor copy = a * 1;
    copy.index({copy > 0}) = Tensor(9.0);
    return copy;
  };
  expect_equal(rc::vmap(f)(x), rc::where(x > 0, 9.0, x));
  expect_equal(rc::vmap(rc::grad([&](Tensor a) { return f(a).sum(); }))(x), (x <= 0).to(rc::float64));
}

TEST(IndexedWritesOfExamples, IndexAddSumsIntoEachOfManyExamples) {
  for (const std::int64_t batch : {5, 1237}) {
    const Tensor x = rc::zeros({batch, 10}, rc::float64), source = sin(ramp({batch, 5}));
    const Tensor index = rc::tensor({0, 4, 2, 4, 9});
    const auto f = [](Tensor a, Tensor k, Tensor s) { return rc::index_add(a, 0, k, s); };
    const Tensor shared = rc::vmap(f, {.in_dims = {0, rc::none, 0}})(x, index, source);
    const Tensor own = rc::vmap(f)(x, index.expand({batch, 5}).contiguous(), source);
    for (const std::int64_t n : {std::int64_t{0}, batch / 2, batch - 1}) {
      Values wanted(10);
      const Values s = values(source[n]), k = values(index);
      for (std::size_t e = 0; e < 5; ++e) wanted[static_cast<std::size_t>(k[e])] += s[e];
      expect_values(shared[n], wanted);
      expect_values(own[n], wanted);
    }
  }
}

// ── cross_entropy at extreme logits ──

TEST(ExtremeCrossEntropy, HasTheJacobiansOfItsFormulaForEveryOption) {
  const Tensor row = doubles({-1000, 0, 1000}), rows = rc::stack({row, -row, row * 0});
  const Tensor classes = rc::tensor({1, 2, 0}), weight = doubles({1, 2, 4});
  const Tensor chosen = rc::one_hot(classes, 3).to(rc::float64);
  // Softmax of such rows is exactly 0 or 1, but of the equal ones: the gradient of one loss is w (softmax - one_hot).
  const Tensor soft = doubles({0, 0, 1, 1, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3}, {3, 3});
  const auto check = [&](rc::CrossEntropyOptions options, const Tensor& of_each) {
    const auto f = [&](Tensor x) { return rc::cross_entropy(x, classes, options); };
    expect_close(rc::jacrev(f)(rows), of_each, 1e-10);
    expect_close(rc::jacfwd(f)(rows), of_each, 1e-10);
    const auto [y, pullback] = rc::vjp(f, rows);
    EXPECT_TRUE(bool(isfinite(y).all()));
    const auto pulled = [&](Tensor ct) { return std::get<1>(rc::vjp(f, rows))(ct); };
    const Tensor again = rc::jacrev(pulled)(rc::ones_like(y));
    EXPECT_TRUE(bool(isfinite(again).all()));
    EXPECT_TRUE(bool(isfinite(rc::hessian([&](Tensor x) { return f(x).sum(); })(rows)).all()));
  };
  const Tensor slope = soft - chosen, weights = weight.index_select(0, classes).unsqueeze(1);
  check({.reduction = rc::Reduction::sum}, slope);
  check({.reduction = rc::Reduction::mean}, slope / 3);
  check({.weight = weight, .reduction = rc::Reduction::sum}, weights * slope);
  check({.weight = weight, .reduction = rc::Reduction::mean}, weights * slope / weights.sum());
  const Tensor kept = (classes != 2).to(rc::float64).unsqueeze(1);
  check({.ignore_index = 2, .reduction = rc::Reduction::sum}, kept * slope);
  check({.ignore_index = 2}, kept * slope / 2);
  check({.reduction = rc::Reduction::sum, .label_smoothing = 0.3}, soft - (0.7 * chosen + 0.1));
}

TEST(ExtremeCrossEntropy, OfProbabilitiesAndOfMoreAxesStaysFinite) {
  const Tensor rows = doubles({-1000, 0, 1000, 1000, 0, -1000}, {2, 3});
  const Tensor likely = doubles({0.2, 0.3, 0.5, 1, 0, 0}, {2, 3});
  const auto f = [&](Tensor x) { return rc::cross_entropy(x, likely, rc::Reduction::sum); };
  const Tensor soft = doubles({0, 0, 1, 1, 0, 0}, {2, 3});
  expect_close(rc::grad(f)(rows), soft - likely, 1e-10);
  EXPECT_TRUE(bool(isfinite(rc::hessian(f)(rows)).all()));
  const Tensor image = rows.reshape({1, 3, 2}), places = rc::tensor({{2, 0}});
  const auto g = [&](Tensor x) { return rc::cross_entropy(x, places); };
  EXPECT_TRUE(bool(isfinite(rc::jacrev(g)(image)).all()));
  expect_close(rc::jacfwd(g)(image), rc::jacrev(g)(image));
}

}  // namespace
