// Patterns of Jacobians and Hessians, place by place, and what a Sparsity refuses.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sparse.h>

#include <random>
#include <sstream>
#include <string>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// `"*.|.*"`: a line for each row.
std::string text(const rc::Sparsity& sparsity) {
  std::string all;
  for (std::int64_t i = 0; i < sparsity.rows(); ++i) {
    std::string line(static_cast<std::size_t>(sparsity.columns()), '.');
    for (const std::int64_t j : sparsity.row(i)) line[static_cast<std::size_t>(j)] = '*';
    all += (i ? "|" : "") + line;
  }
  return all;
}
template <class F, class... A>
std::string jacobian_text(const F& f, const A&... a) {
  return text(rc::jacobian_sparsity(f, a...));
}
template <class F, class... A>
std::string hessian_text(const F& f, const A&... a) {
  return text(rc::hessian_sparsity(f, a...));
}

TEST(Sparsity, OfElementsAndTheirNeighbours) {
  const Tensor x = rc::ones({4});
  EXPECT_EQ(jacobian_text([](Tensor x) { return sin(x) * 2 + x; }, x), "*...|.*..|..*.|...*");
  EXPECT_EQ(jacobian_text([](Tensor x) { return x * x.roll(1, 0); }, x), "*..*|**..|.**.|..**");
  EXPECT_EQ(jacobian_text([](Tensor x) { return x.slice(0, 1, 4) - x.slice(0, 0, 3); }, x), "**..|.**.|..**");
  EXPECT_EQ(jacobian_text([](Tensor x) { return x.sum() + x.slice(0, 0, 2); }, x), "****|****");
  EXPECT_EQ(jacobian_text([](Tensor x) { return cumsum(x, 0); }, x), "*...|**..|***.|****");
  EXPECT_EQ(jacobian_text([](Tensor x) { return matmul(rc::ones({3, 2}), x.view({2, 2})); }, x),
            "*.*.|.*.*|*.*.|.*.*|*.*.|.*.*");
}

TEST(Sparsity, OfWhatHasNoDerivativeIsEmpty) {
  const Tensor x = rc::ones({2});
  EXPECT_EQ(jacobian_text([](Tensor x) { return floor(x) + sign(x); }, x), "..|..");
  EXPECT_EQ(jacobian_text([](Tensor x) { return rc::where(x > 0, 1., 2.); }, x), "..|..");
  EXPECT_EQ(jacobian_text([](Tensor x) { return x.detach() + x.to(rc::int64); }, x), "..|..");
  EXPECT_EQ(rc::jacobian_sparsity([](Tensor) { return rc::ones({3}); }, x), rc::Sparsity(3, 2, {0, 0, 0, 0}, {}));
}

TEST(Sparsity, HoldsForEveryValueOfTheArgument) {
  const auto larger = [](Tensor x) { return rc::where(x > x.roll(1, 0), x, x.roll(1, 0)); };
  EXPECT_EQ(jacobian_text(larger, rc::tensor({1., 2., 3.})), "*.*|**.|.**");
  const auto branch = [](Tensor x) {
    return rc::cond(x[0] > 0, [](Tensor x) { return x * 2; }, [](Tensor x) { return x.flip(0); }, x);
  };
  EXPECT_EQ(jacobian_text(branch, rc::ones({3})), "*.*|.*.|*.*");
}

TEST(Sparsity, IsTheSameInRecordedAndCompiledFunctions) {
  const rc::Sparsity pattern(2, 4, {0, 2, 3}, {0, 2, 1});
  const auto chosen = [&](const Tensor& x) { return where(pattern.to_dense(), x, 0).sum({1}); };
  const Tensor x = rc::tensor({1, 2, 3, 4});
  EXPECT_EQ(chosen(x).to_vector<std::int64_t>(), (std::vector<std::int64_t>{4, 2}));
  EXPECT_TRUE(rc::equal(rc::trace(chosen)(x)({x})[0], chosen(x)));
  EXPECT_TRUE(rc::equal(rc::compile(chosen)(x), chosen(x)));
}

// A checked function runs its own plan, so its program is not read: each result may depend on every argument.
TEST(Sparsity, TakesWhatACheckedCompiledFunctionGivesForDependentOnAll) {
  const auto checked = rc::compile([](const Tensor& v) { return v * v; }, {.check = true});
  const auto plain = rc::compile([](const Tensor& v) { return v * v; });
  const auto calls = [](const auto& f) { return [&f](const Tensor& v) { return f(v) + 1; }; };
  EXPECT_EQ(jacobian_text(calls(plain), rc::ones({2})), "*.|.*");
  EXPECT_EQ(jacobian_text(calls(checked), rc::ones({2})), "**|**");
}

TEST(Sparsity, OfPlacesThatNumbersName) {
  const Tensor places = rc::tensor({2, 0, 2});
  const Tensor x = rc::ones({3});
  EXPECT_EQ(jacobian_text([&](Tensor x) { return x.index({places}); }, x), "..*|*..|..*");
  EXPECT_EQ(jacobian_text([](Tensor x, Tensor places) { return x.gather(0, places); }, x, places), "..*|*..|..*");
  EXPECT_EQ(jacobian_text([](Tensor x) { return x.index({(rc::arange(3) * 2) % 3}); }, x), "*..|..*|.*.");
  EXPECT_EQ(jacobian_text([&](Tensor x) { return rc::zeros({3}).index_add(0, places, x); }, x), ".*.|...|*.*");
  EXPECT_EQ(jacobian_text([&](Tensor x) { return rc::zeros({3}).scatter(0, places, x); }, x), ".*.|...|..*");
  // Places that depend on the argument may be any.
  EXPECT_EQ(jacobian_text([](Tensor x) { return x.index({argsort(x).slice(0, 0, 1)}); }, x), "***");
  EXPECT_EQ(jacobian_text([](Tensor x) { return rc::vmap([](Tensor r) { return r.index({argsort(r)}); })(x); },
                          rc::ones({2, 2})),
            "**..|**..|..**|..**");
}

TEST(Sparsity, OfLoops) {
  const Tensor x = rc::ones({5});
  const auto twice = [](Tensor x) { return rc::fori_loop(0, 2, [](Tensor, Tensor s) { return s.roll(1, 0); }, x); };
  EXPECT_EQ(jacobian_text(twice, x), "...*.|....*|*....|.*...|..*..");
  // The state is unknown after a turn whose question depends on it.
  const auto until = [](Tensor x) {
    return rc::while_loop([](Tensor s) { return s.sum() < 10; },
                          [](Tensor s) { return s + rc::cat({s[0].view({1}), s.slice(0, 0, 4)}, 0); }, x);
  };
  EXPECT_EQ(jacobian_text(until, x), "*....|**...|***..|****.|*****");
  // Each turn has its own row.
  const auto stages = [](Tensor x) {
    return rc::scan([](Tensor c, Tensor row) { return std::pair{row * 1, c * row}; }, x[0] * 1, x).second;
  };
  EXPECT_EQ(jacobian_text(stages, x), "*....|**...|.**..|..**.|...**");
  const auto at_counted_places = [](Tensor x) {
    return rc::fori_loop(1, 4, [&](Tensor i, Tensor s) { return s + x.index({i}); }, x[0] * 1).view({1});
  };
  EXPECT_EQ(jacobian_text(at_counted_places, x), "****.");
}

TEST(Sparsity, AtAPointHoldsForItsValues) {
  const auto branch = [](Tensor x) {
    return rc::cond(x[0] > 0, [](Tensor x) { return x * 2; }, [](Tensor x) { return x.flip(0); }, x);
  };
  EXPECT_EQ(jacobian_text(branch, rc::at_point, rc::tensor({1., 2., 3.})), "*..|.*.|..*");
  EXPECT_EQ(jacobian_text(branch, rc::at_point, rc::tensor({-1., 2., 3.})), "..*|.*.|*..");
  const auto sorted = [](Tensor x) { return x.index({argsort(x)}); };
  EXPECT_EQ(jacobian_text(sorted, rc::at_point, rc::tensor({3., 1., 2.})), ".*.|..*|*..");
  const auto until = [](Tensor x) {
    return rc::while_loop([](Tensor s) { return s.sum() < 10; }, [](Tensor s) { return s + s.roll(1, 0); }, x);
  };
  EXPECT_EQ(jacobian_text(until, rc::at_point, rc::ones({4})), "*.**|**.*|***.|.***");
  const auto loss = [&](Tensor x, Tensor y) { return (branch(x) * x * y).sum(); };
  const Tensor x = rc::tensor({-1., 2., 3.});
  EXPECT_EQ(hessian_text(loss, rc::at_point, x, rc::ones({3})), "..*|.*.|*..");
  EXPECT_EQ(hessian_text(loss, x, rc::ones({3})), "*.*|.*.|*.*");
  const auto in_grad = [&](Tensor x) {
    return (rc::jacobian_sparsity(branch, rc::at_point, x).to_dense().to(rc::float32).sum(0) * x).sum();
  };
  expect_values(rc::grad(in_grad)(x), {1, 1, 1});
  const auto one_of_two = [](Tensor x) {
    const auto same = [](Tensor x) { return x * 1; };
    return rc::switch_case(floor(x[0]).to(rc::int64), std::tuple{same, same}, x);
  };
  EXPECT_EQ(jacobian_text(one_of_two, rc::at_point, rc::tensor({1., 2.})), "*.|.*");
  for (const double outside : {2., -1., -3.})
    EXPECT_THROW(rc::jacobian_sparsity(one_of_two, rc::at_point, rc::tensor({outside, 2.})), rc::IndexError) << outside;
  const auto inside = [&](Tensor x) { return rc::jacobian_sparsity(branch, rc::at_point, x).to_dense(); };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(inside)(rc::ones({2, 3})); },
      "jacobian_sparsity: at_point reads the values of the argument, which f32[3] of a "
      "transform does not have; find the pattern outside\n  inside vmap over axis 0 of 2{at}");
}

TEST(Sparsity, OfBatchesOfMatrices) {
  const auto solved = [](Tensor b) { return rc::vmap([](Tensor b) { return rc::solve(rc::eye(2) + 1, b); })(b); };
  EXPECT_EQ(jacobian_text(solved, rc::ones({2, 2})), "**..|**..|..**|..**");
  const auto many = rc::jacobian_sparsity([](Tensor x) { return softmax(x, 1); }, rc::ones({1000, 3}));
  EXPECT_EQ(many.nnz(), 9000);
}

struct Model {
  Tensor scale;
  std::vector<Tensor> shifts;
  Tensor count;  // of integers: no part of the columns
};

TEST(Sparsity, OfTreesIsThatOfTheirElementsInOrder) {
  const Model model{rc::ones({}), {rc::ones({2}), rc::ones({2})}, rc::tensor({1, 2})};
  const auto f = [](const Model& m) { return std::pair{m.shifts[0] * m.scale, m.shifts[1] * m.count}; };
  EXPECT_EQ(jacobian_text(f, model), "**...|*.*..|...*.|....*");
}

struct StraightThrough : rc::Function<StraightThrough> {
  static Tensor forward(const Tensor& x) { return round(x); }
  static void setup_context(rc::Context&, const std::tuple<Tensor>&, const Tensor&) {}
  static Tensor backward(rc::Context&, const Tensor& cotangent) { return cotangent; }
  static Tensor jvp(rc::Context&, const Tensor& tangent) { return tangent; }
  static constexpr bool generate_vmap_rule = true;
};

TEST(Sparsity, OfACustomFunctionIsThatOfItsDerivative) {
  EXPECT_EQ(jacobian_text([](Tensor x) { return StraightThrough::apply(x); }, rc::ones({2})), "*.|.*");
}

TEST(Sparsity, OfHessiansHasWhatIsNotLinear) {
  const Tensor x = rc::ones({4});
  EXPECT_EQ(hessian_text([](Tensor x) { return x.sum(); }, x), "....|....|....|....");
  EXPECT_EQ(hessian_text([](Tensor x) { return (x * x).sum(); }, x), "*...|.*..|..*.|...*");
  EXPECT_EQ(hessian_text([](Tensor x) { return x[0] * x[1] + x[2] / x[3]; }, x), ".*..|*...|...*|..**");
  EXPECT_EQ(hessian_text([](Tensor x) { return x.sum() * x.sum(); }, x), "****|****|****|****");
  EXPECT_EQ(hessian_text([](Tensor x) { return rc::square(x.slice(0, 1, 4) - x.slice(0, 0, 3)).sum(); }, x),
            "**..|***.|.***|..**");
  EXPECT_EQ(hessian_text([](Tensor x, Tensor y) { return (x * y).sum(); }, x, x), "....|....|....|....");
}

TEST(Sparsity, InsideOtherTransformsIsTheSame) {
  const auto f = [](Tensor x) { return x * x.roll(1, 0); };
  const rc::Sparsity alone = rc::jacobian_sparsity(f, rc::ones({3}));
  rc::vmap([&](Tensor x) {
    EXPECT_EQ(rc::jacobian_sparsity(f, x), alone);
    return x;
  })(rc::ones({2, 3}));
  rc::grad([&](Tensor x) {
    EXPECT_EQ(rc::jacobian_sparsity(f, x), alone);
    return x.sum();
  })(rc::ones({3}));
  rc::trace([&](Tensor x) {
    EXPECT_EQ(rc::jacobian_sparsity(f, x), alone);
    return x;
  })(rc::ones({3}));
}

TEST(Sparsity, OfFunctionsThatThrowNamesTheCall) {
  expect_error<rc::ValueError>(
      [] { rc::jacobian_sparsity([](Tensor x) { return x + rc::ones({2}); }, rc::ones({3})); },
      "add: shapes do not broadcast: f32[3] and f32[2]; axis -1 is 3 against 2, and neither is 1\n"
      "  inside jacobian_sparsity{at}, inside trace{at}");
}

TEST(Sparsity, GrowsWithTheNonzerosAlone) {
  const rc::Sparsity pattern = rc::jacobian_sparsity([](Tensor x) { return x * x.roll(1, 0); }, rc::ones({100'000}));
  EXPECT_EQ(pattern.nnz(), 200'000);
}

TEST(Sparsity, IsMadeOfPairsAndMatrices) {
  const rc::Sparsity made = rc::Sparsity::of_pairs(2, 3, {{1, 2}, {0, 1}, {1, 2}, {1, 0}});
  EXPECT_EQ(text(made), ".*.|*.*");
  EXPECT_EQ(made, rc::Sparsity(2, 3, {0, 1, 3}, {1, 0, 2}));
  EXPECT_EQ(made, rc::Sparsity::of_dense(rc::tensor({{0., 2., 0.}, {1., 0., -1.}})));
  EXPECT_EQ(text(made.transposed()), ".*|*.|.*");
  EXPECT_EQ(rc::Sparsity::of_dense(made.to_dense()), made);
  expect_close(made.row_indices(), rc::tensor({0, 1, 1}));
  expect_close(made.col_indices(), rc::tensor({1, 0, 2}));
  expect_close(made.crow_indices(), rc::tensor({0, 1, 3}));
  std::ostringstream out;
  out << made;
  EXPECT_EQ(out.str(), "Sparsity 2 x 3, 3 nonzeros\n.*.\n*.*");
}

TEST(Sparsity, RefusesListsThatAreNoMatrix) {
  expect_error<rc::ValueError>(
      [] { rc::Sparsity(2, 2, {0, 1}, {0}); },
      "Sparsity: crow_indices has 2 numbers for 2 rows; it needs one more than there are rows");
  expect_error<rc::ValueError>(
      [] { rc::Sparsity(1, 2, {0, 2}, {0}); },
      "Sparsity: crow_indices goes from 0 to 2; it must go from 0 to the number of col_indices, 1");
  expect_error<rc::ValueError>([] { rc::Sparsity(2, 2, {0, 2, 1}, {0}); },
                               "Sparsity: crow_indices falls or passes its end at row 0, from 0 to 2; it must ascend");
  expect_error<rc::IndexError>([] { rc::Sparsity(1, 2, {0, 1}, {2}); },
                               "Sparsity: there is a nonzero at row 0, column 2 of a matrix of 1 rows and 2 columns; "
                               "rows and columns count from 0");
  expect_error<rc::ValueError>([] { rc::Sparsity(1, 2, {0, 2}, {1, 1}); },
                               "Sparsity: the columns of row 0 do not ascend: 1 stands before 1; sort them and leave "
                               "out repeated ones, or use Sparsity::of_pairs");
  expect_error<rc::ValueError>([] { rc::Sparsity(-1, 2, {}, {}); },
                               "Sparsity: -1 rows and 2 columns; a size cannot be negative");
  expect_error<rc::IndexError>([] { (void)rc::Sparsity(1, 1, {0, 0}, {}).row(1); },
                               "Sparsity::row: there is no row 1 of 1");
}

/// Numbers of a good pattern are changed, added and left out. What is taken is a matrix that works; all else is an
/// error.
TEST(Sparsity, DamagedPatternsAreErrorsOrMatrices) {
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::vector<std::int64_t> crow{0, 2, 3, 5}, col{0, 3, 1, 0, 2};
    std::int64_t rows = 3, columns = 4;
    const auto odd = [&]() -> std::int64_t {
      constexpr std::int64_t numbers[] = {-1, 0, 1, 2, 3, 4, 5, 6, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1 << 20};
      return numbers[random() % std::size(numbers)];
    };
    for (unsigned k = 1 + random() % 3; k > 0; --k) {
      std::vector<std::int64_t>& list = random() % 2 ? crow : col;
      switch (random() % 5) {
        case 0: list.push_back(odd()); break;
        case 1: list.pop_back(); break;
        case 2: rows = random() % 4 ? rows : odd(); break;
        case 3: columns = random() % 4 ? columns : odd(); break;
        default:
          if (!list.empty()) list[random() % list.size()] = odd();
      }
      if (list.empty()) break;
    }
    try {
      const rc::Sparsity made(rows, columns, crow, col);
      if (rows * columns > 1000) continue;
      const rc::Coloring colors = rc::color(made);
      const rc::Sparse matrix{made, rc::ones({made.nnz()})};
      EXPECT_EQ(matrix.to_dense().sum().item<std::int64_t>(), made.nnz());
      EXPECT_EQ(made.transposed().transposed(), made);
    } catch (const rc::Error&) { ++refused; }
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace
