// What every transform promises of a function: it runs once, its results leave by the return value, and a value that
// left another way is stale.
#include <functional>
#include <sstream>
#include <vector>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

std::string printed(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

TEST(PureFunctions, VmapRunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](Tensor x) {
    ++runs;
    return x.sum(0);
  };
  rc::vmap(f)(ramp({64, 3}));
  EXPECT_EQ(runs, 1);
}

TEST(PureFunctions, VmapPopsOneElementFromACapturedList) {
  std::vector<int> list = {0, 1, 2, 3};
  std::ostringstream out;
  const auto f = [&](Tensor x) {
    list.pop_back();
    out << "hello!";
    return x.sum(0);
  };
  const Tensor x = ramp({3, 1});
  expect_close(rc::vmap(f)(x), x.squeeze(1));
  EXPECT_EQ(list, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(out.str(), "hello!");
}

TEST(PureFunctions, GradRunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](Tensor x) {
    ++runs;
    return (x * x).sum();
  };
  rc::grad(f)(ramp({5}));
  EXPECT_EQ(runs, 1);
}

TEST(PureFunctions, VmapOfGradRunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](Tensor x) {
    ++runs;
    return (x * x).sum();
  };
  rc::vmap(rc::grad(f))(ramp({7, 5}));
  EXPECT_EQ(runs, 1);
}

TEST(PureFunctions, AValueThatLeftVmapIsAnErrorWhereItIsUsed) {
  Tensor escaped;
  const auto f = [&](Tensor x) {
    escaped = x.sin();
    return escaped.sin();
  };
  rc::vmap(f)(ramp({3}));
  EXPECT_THROW(escaped + 1, rc::TransformError);
  EXPECT_THROW(escaped.sum(), rc::TransformError);
  EXPECT_FALSE(rc::inside_transform());
}

TEST(PureFunctions, PrintingAStaleValueSaysStale) {
  Tensor escaped;
  const auto f = [&](Tensor x) {
    escaped = x.sin();
    return escaped;
  };
  rc::vmap(f)(ramp({3}));
  EXPECT_NE(printed(escaped).find("stale"), std::string::npos) << printed(escaped);
}

TEST(PureFunctions, PrintingABatchedValueNamesItsVmap) {
  std::string text;
  const auto f = [&](Tensor x) {
    text = printed(x);
    return x;
  };
  rc::vmap(f)(ramp({3, 2}));
  EXPECT_NE(text.find("vmap"), std::string::npos) << text;
}

TEST(PureFunctions, PrintingACapturedTensorInsideATransformShowsItsValues) {
  const Tensor captured = rc::tensor({12.5, 3.5});
  std::string text;
  const auto f = [&](Tensor x) {
    text = printed(captured);
    return x.sum();
  };
  rc::grad(f)(ramp({2}));
  EXPECT_NE(text.find("12.5"), std::string::npos) << text;
}

TEST(PureFunctions, AValueThatLeftAnInnerVmapIsStaleInTheOuterOne) {
  const auto outer = [](Tensor row) {
    Tensor escaped;
    const auto inner = [&](Tensor x) {
      escaped = x * 2;
      return x;
    };
    rc::vmap(inner)(row);
    return escaped + 1;
  };
  EXPECT_THROW(rc::vmap(outer)(ramp({3, 2})), rc::TransformError);
  EXPECT_FALSE(rc::inside_transform());
}

TEST(PureFunctions, AValueThatLeftGradCanBeReadButHasNoDerivative) {
  Tensor escaped;
  const auto f = [&](Tensor x) {
    escaped = x * x;
    return escaped.sum();
  };
  rc::grad(f)(doubles({2, 3}));
  expect_values(escaped, {4, 9});
  const auto g = [&](Tensor x) { return (escaped * x).sum(); };
  expect_values(rc::grad(g)(doubles({1, 1})), {4, 9});
}

TEST(PureFunctions, AuxIsTheWayOutForAnIntermediate) {
  const auto f = [](Tensor x) {
    Tensor intermediate = x.sin();
    return std::pair{intermediate.sin(), intermediate};
  };
  const auto [gradient, intermediate] = rc::grad(f, rc::has_aux)(number(0.7));
  expect_values(intermediate, {std::sin(0.7)});
  expect_values(gradient, {std::cos(std::sin(0.7)) * std::cos(0.7)});
  expect_values(intermediate + 1, {std::sin(0.7) + 1});
}

TEST(PureFunctions, VmapReturnsAnIntermediateAsASecondResult) {
  const auto f = [](Tensor x) {
    Tensor intermediate = x.sin();
    return std::tuple{intermediate.sin(), intermediate};
  };
  const Tensor x = ramp({4});
  const auto [y, intermediate] = rc::vmap(f)(x);
  expect_close(intermediate, sin(x));
  expect_close(y, sin(sin(x)));
}

TEST(PureFunctions, AnExceptionOfTheUserLeavesNoTransformBehind) {
  const auto f = [](Tensor x) -> Tensor {
    if (x.dim() == 1) throw std::logic_error("mine");
    return x.sum();
  };
  EXPECT_THROW(rc::vmap(rc::grad(f))(ramp({3, 2})), std::logic_error);
  EXPECT_FALSE(rc::inside_transform());
  expect_values(rc::grad([](Tensor x) { return (x * x).sum(); })(doubles({3})), {6});
}

TEST(PureFunctions, AnExceptionCaughtInsideLeavesTheOuterTransformWorking) {
  const auto f = [](Tensor x) {
    try {
      rc::vmap([](Tensor y) { return rc::matmul(y, y); })(x);
    } catch (const rc::Error&) {}
    return (x * x).sum();
  };
  expect_values(rc::grad(f)(doubles({3, 4})), {6, 8});
}

TEST(PureFunctions, InsideTransformSaysWhetherOneIsActive) {
  EXPECT_FALSE(rc::inside_transform());
  bool in_vmap = false, in_grad = false;
  rc::vmap([&](Tensor x) {
    in_vmap = rc::inside_transform();
    return x;
  })(ramp({2}));
  rc::grad([&](Tensor x) {
    in_grad = rc::inside_transform();
    return x.sum();
  })(ramp({2}));
  EXPECT_TRUE(in_vmap);
  EXPECT_TRUE(in_grad);
  EXPECT_FALSE(rc::inside_transform());
}

/// A number does not raise the type of what it meets. A write keeps its target's type, so a number stays one.
TEST(PureFunctions, ThatWriteToANumberLeaveItOne) {
  const auto is_number = [](const Tensor& x) { return (x * rc::ones({}, rc::float16)).dtype() == rc::float16; };
  const Tensor tensor = rc::tensor(3., {.dtype = rc::float64});
  const std::vector<std::function<void(const Tensor&)>> writes = {
      [](const Tensor& x) { x.mul_(2); },
      [=](const Tensor& x) { x.add_(tensor); },
      [](const Tensor& x) { x.fill_(3); },
      [=](const Tensor& x) { x.copy_(tensor); },
      [](const Tensor& x) { x.square_(); },
      [](const Tensor& x) { x.reshape({1}).mul_(2); },
      [=](const Tensor& x) { x.expand({1, 1}).select(0, 0).copy_(tensor); }};
  for (const auto& write : writes) {
    const auto f = [=](Tensor x) {
      write(x);
      EXPECT_TRUE(is_number(x));
      return x;
    };
    const auto made_here = [=](const Tensor& x) { return (f(1.5) * x).sum(); };
    double expected = 0;
    const auto check = [&](const Tensor& x, const Tensor& result) {
      EXPECT_TRUE(is_number(x));
      EXPECT_TRUE(is_number(result));
      EXPECT_EQ(x.item(), expected);
      EXPECT_EQ(result.item(), expected);
    };
    const Tensor plain(1.5), read_by_another(1.5), pulled(1.5), compiled(1.5);
    expected = f(plain).item();
    check(plain, plain);
    const Tensor before = read_by_another.detach();  // so that the write may not go into the elements
    check(read_by_another, f(read_by_another));
    EXPECT_EQ(before.item(), 1.5);
    check(pulled, rc::vjp(f, pulled).first);
    const auto fast = rc::compile(f);
    check(compiled, fast(compiled));
    EXPECT_TRUE(is_number(rc::trace(f)(Tensor(1.5))({Tensor(1.5)})[0]));
    const Tensor row = rc::ones({3});
    EXPECT_EQ(rc::grad(made_here)(row).dtype(), rc::float32);
    EXPECT_EQ(rc::vmap(made_here)(rc::ones({2, 3})).dtype(), rc::float32);
    EXPECT_EQ(rc::compile(made_here)(row).dtype(), rc::float32);
  }
  const Tensor whole(3), seen = whole.detach();
  whole.mul_(2);
  EXPECT_EQ((whole * rc::ones({}, rc::int32)).dtype(), rc::int32);
  EXPECT_EQ(seen.item<int>(), 3);
}

/// Under vmap, the number is one for each example.
TEST(PureFunctions, ThatWriteAnExampleIntoANumberLeaveItOne) {
  using Writing = std::function<void(const Tensor& number, const Tensor& x)>;
  const std::vector<Writing> writes = {[](const Tensor& n, const Tensor& x) { n.mul_(x.sum()); },
                                       [](const Tensor& n, const Tensor& x) { n.fill_(x.sum()); },
                                       [](const Tensor& n, const Tensor& x) { n.copy_(x.sum().to(rc::float64)); },
                                       [](const Tensor& n, const Tensor& x) { n.reshape({1}).mul_(x.sum()); },
                                       [](const Tensor& n, const Tensor& x) { n.mul_(x.sum()).square_(); }};
  const auto in_a_branch = [](const Tensor& n, const Tensor& x) {
    return rc::cond(x.sum() > 3, [&](const Tensor& y) { return y * n; }, [&](const Tensor& y) { return n * -y; }, x);
  };
  const auto from_a_branch = [](const Tensor& n, const Tensor& x) {
    return x * rc::cond(x.sum() > 3, [&] { return n; }, [&] { return n + 1; });
  };
  const auto in_a_loop = [](const Tensor& n, const Tensor& x) {
    const auto goes_on = [](const Tensor& y) { return y.abs().sum() < 20; };
    return rc::while_loop(goes_on, [&](const Tensor& y) { return y * 2 + n * 0; }, x);
  };
  const auto with_one_of_a_map_around = [](const Tensor& n, const Tensor& x) {
    const auto inside = [&](const Tensor& y) {
      const Tensor own = 3.;
      own.mul_(y);
      return own * n * rc::ones({2}, rc::float16) * x.sum();
    };
    return rc::vmap(inside)(x);
  };
  const std::vector<std::function<Tensor(const Tensor&, const Tensor&)>> uses = {
      [](const Tensor& n, const Tensor& x) { return x * n; },
      [](const Tensor& n, const Tensor& x) { return n * n * x; },
      [](const Tensor& n, const Tensor& x) { return rc::where(x > 1, n, x); },
      [](const Tensor& n, const Tensor& x) { return rc::where(x > 1, n, n * 2) * x.to(rc::float16); },
      in_a_branch,
      from_a_branch,
      in_a_loop,
      with_one_of_a_map_around,
      [](const Tensor& n, const Tensor& x) { return x.sum() * n; },
      [](const Tensor& n, const Tensor& x) { return rc::pow(x, n); }};
  const Tensor rows = rc::tensor({{1., 2., 3.}, {0.5, 1., 0.25}});
  for (std::size_t i = 0; i < writes.size(); ++i)
    for (std::size_t k = 0; k < uses.size(); ++k) {
      SCOPED_TRACE("write " + std::to_string(i) + ", use " + std::to_string(k));
      const auto f = [write = writes[i], use = uses[k]](const Tensor& x) {
        const Tensor n = 2.;
        write(n, x);
        return use(n, x);
      };
      const Tensor alone = f(rows[1]);
      for (const std::int64_t chunk : {1, 2}) {
        const Tensor mapped = rc::vmap(f, {.chunk_size = chunk})(rows);
        EXPECT_EQ(mapped.dtype(), alone.dtype());
        EXPECT_TRUE(rc::allclose(mapped[1], alone, 1e-5, 1e-8, true));
      }
      for (const Tensor& mapped : {rc::compile(rc::vmap(f))(rows), rc::vmap(rc::compile(f))(rows)}) {
        EXPECT_EQ(mapped.dtype(), alone.dtype());
        EXPECT_TRUE(rc::allclose(mapped[1], alone, 1e-5, 1e-8, true));
      }
      const auto summed = [f](const Tensor& x) { return f(x).to(rc::float32).sum(); };
      const auto all = [f](const Tensor& x) { return rc::vmap(f)(x).to(rc::float32).sum(); };
      const Tensor slopes = rc::grad(all)(rows);
      EXPECT_TRUE(rc::allclose(slopes[1], rc::grad(summed)(rows[1]), 1e-5, 1e-8, true));
      EXPECT_TRUE(rc::allclose(rc::vmap(rc::grad(summed))(rows), slopes, 1e-5, 1e-8, true));
      EXPECT_TRUE(rc::allclose(rc::jvp(all, rows, rc::ones_like(rows)).second, slopes.sum(), 1e-5, 1e-8, true));
    }
  const auto given_back = [](const Tensor& x) {
    const Tensor n = 2.;
    n.mul_(x.sum());
    return n;
  };
  EXPECT_EQ((rc::vmap(given_back)(rows) * rc::ones({2})).dtype(), rc::float64);  // the result is no number
}

TEST(PureFunctions, ThatWriteAnExampleIntoAnExponentHaveTheDerivativeOfEachExample) {
  const auto power = [](const Tensor& x, const Tensor& k) {
    const Tensor n = 1.;
    n.mul_(k);
    return rc::pow(x, n);
  };
  const auto all = [&](const Tensor& x, const Tensor& k) { return rc::vmap(power)(x, k).sum(); };
  const Tensor x = rc::tensor({2., 3., 1.5}), k = rc::tensor({2., 3., 4.}), slopes = rc::tensor({4., 27., 13.5});
  EXPECT_TRUE(rc::allclose(rc::grad(all)(x, k), slopes));
  EXPECT_TRUE(rc::allclose(rc::compile(rc::grad(all))(x, k), slopes));
  EXPECT_TRUE(rc::allclose(rc::vmap(rc::grad(power))(x, k), slopes));
  const auto of_x = [&](const Tensor& v) { return rc::vmap(power)(v, k); };
  EXPECT_TRUE(rc::allclose(rc::jvp(of_x, x, rc::ones({3})).second, slopes));
}

}  // namespace
