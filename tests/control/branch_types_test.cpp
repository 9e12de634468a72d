// Branches of a conditional whose results differ in type: an error whichever of them the examples take.
#include <functional>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const std::string differ =
    "; every branch must return one shape and dtype: convert with to(dtype), or expand to one shape";

/// `f` under vmap over predicates that agree on either answer, and that disagree.
template <class F>
void expect_refused(const F& f, const std::string& one, const std::string& other) {
  for (const auto& predicates : {doubles({1, 2}), doubles({-1, -2}), doubles({1, -2}), doubles({1}), doubles({-1})}) {
    try {
      rc::vmap(f)(predicates);
      ADD_FAILURE() << "nothing was thrown for " << predicates;
    } catch (const rc::ValueError& error) {
      const std::string text = error.what();
      const auto says = [&](const std::string& a, const std::string& b) {
        return text.starts_with("cond: the branches' results differ in type: " + a + " and " + b + differ);
      };
      EXPECT_TRUE(says(one, other) || says(other, one)) << text;
    }
    EXPECT_FALSE(rc::inside_transform());
  }
}

TEST(BranchTypes, DifferInShape) {
  expect_refused(
      [](Tensor x) {
        return rc::cond(x > 0, [](Tensor a) { return a.expand({2}); }, [](Tensor a) { return a.expand({3}); }, x);
      },
      "f64[2]", "f64[3]");
}

TEST(BranchTypes, DifferInDtype) {
  expect_refused(
      [](Tensor x) {
        return rc::cond(x > 0, [](Tensor a) { return a; }, [](Tensor a) { return a.to(rc::float32); }, x);
      },
      "f64[]", "f32[]");
}

TEST(BranchTypes, DifferUnderDerivativesAndInsideLoops) {
  const auto f = [](Tensor x) {
    return rc::fori_loop(
        0, 2,
        [&](Tensor, Tensor y) {
          return rc::cond(x > 0, [](Tensor a) { return a * 2; }, [](Tensor a) { return a.expand({1}) * 2; }, y);
        },
        x);
  };
  EXPECT_THROW(rc::vmap(rc::grad(f))(doubles({1, 2})), rc::ValueError);
  EXPECT_THROW(rc::grad([&](Tensor x) { return rc::vmap(f)(x).sum(); })(doubles({1, 2})), rc::ValueError);
  EXPECT_THROW(rc::vmap(rc::vmap(f))(rc::ones({2, 2}, rc::float64)), rc::ValueError);
}

TEST(BranchTypes, OfTreesAndUndefinedResults) {
  const auto trees = [](Tensor x) {
    using List = std::vector<Tensor>;
    return rc::cond(x > 0, [](Tensor a) { return List{a}; }, [](Tensor a) { return List{a, a}; }, x)[0];
  };
  const auto undefined = [](Tensor x) {
    using Pair = std::pair<Tensor, Tensor>;
    return rc::cond(x > 0, [](Tensor a) { return Pair{a, a}; }, [](Tensor a) { return Pair{a, Tensor()}; }, x).first;
  };
  for (const auto& x : {doubles({1, 2}), doubles({-1, -2}), doubles({1, -2})}) {
    EXPECT_THROW(rc::vmap(trees)(x), rc::ValueError);
    EXPECT_THROW(rc::vmap(undefined)(x), rc::ValueError);
  }
}

/// Keys are no part of the C++ type: branches that agree for some may differ for others.
TEST(BranchTypes, OfTreesWhoseKeysTheOperandsDecide) {
  using Named = std::map<std::string, Tensor>;
  const auto by_map = [](const std::string& key) {
    return rc::vmap([&](Tensor x) {
      const auto renamed = [](const Named& m) { return Named{{"a", m.begin()->second}}; };
      return rc::cond(x > 0, [](const Named& m) { return m; }, renamed, Named{{key, x}}).begin()->second;
    })(doubles({1, 2}));
  };
  expect_values(by_map("a"), {1, 2});
  EXPECT_THROW(by_map("b"), rc::ValueError);
  expect_values(by_map("a"), {1, 2});
  const auto by_number = [](int number) {
    return rc::vmap([&](Tensor x) {
      const auto zeroth = [](Tensor a, int) { return Named{{"0", a}}; };
      const auto numbered = [](Tensor a, int i) { return Named{{std::to_string(i), a}}; };
      return rc::cond(x > 0, zeroth, numbered, x, number).begin()->second;
    })(doubles({1, 2}));
  };
  expect_values(by_number(0), {1, 2});
  EXPECT_THROW(by_number(1), rc::ValueError);
  expect_values(by_number(0), {1, 2});
}

TEST(BranchTypes, OfSwitchCase) {
  const auto f = [](Tensor i) {
    return rc::switch_case(
        i.to(rc::int64),
        std::tuple{[](Tensor a) { return a; }, [](Tensor a) { return a * 2; }, [](Tensor a) { return a.expand({1}); }},
        i);
  };
  for (const auto& x : {doubles({0, 0}), doubles({0, 1}), doubles({2, 2}), doubles({1, 2})})
    EXPECT_THROW(rc::vmap(f)(x), rc::ValueError);
}

TEST(BranchTypes, OfFunctionsTheyAreGivenByAddressOrAsStdFunctions) {
  using Function = Tensor (*)(const Tensor&);
  const auto by_address = [](Function one, Function other) {
    return rc::vmap([=](Tensor x) { return rc::cond(x > 0, one, other, x); })(doubles({1, 2}));
  };
  const Function same = [](const Tensor& a) { return a * 2; }, twice = [](const Tensor& a) { return a + a; },
                 longer = [](const Tensor& a) { return a.expand({1}); };
  expect_values(by_address(same, twice), {2, 4});
  EXPECT_THROW(by_address(same, longer), rc::ValueError);
  const auto as_object = [](std::function<Tensor(Tensor)> one, std::function<Tensor(Tensor)> other) {
    return rc::vmap([=](Tensor x) { return rc::cond(x > 0, one, other, x); })(doubles({1, 2}));
  };
  expect_values(as_object(same, twice), {2, 4});
  EXPECT_THROW(as_object(same, longer), rc::ValueError);
}

TEST(BranchTypes, OfObjectsOfOneTypeWithOtherCaptures) {
  const auto widened = [](bool longer) { return [longer](Tensor a) { return longer ? a.expand({1}) : a; }; };
  const auto mapped = [&](bool one, bool other) {
    return rc::vmap([&](Tensor x) { return rc::cond(x > 0, widened(one), widened(other), x); })(doubles({1, 2}));
  };
  expect_values(mapped(false, false), {1, 2});
  EXPECT_THROW(mapped(false, true), rc::ValueError);
}

TEST(BranchTypes, ANumberFitsATensorOfItsKind) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor a) { return a; }, [](Tensor) { return Tensor(0.5); }, x);
  };
  expect_values(rc::vmap(f)(doubles({1, 2})), {1, 2});
  expect_values(rc::vmap(f)(doubles({-1, -2})), {0.5, 0.5});
  expect_values(rc::vmap(f)(doubles({-1, 2})), {0.5, 2});
}

TEST(BranchTypes, OfOneNumbersPredicateAreThoseOfTheBranchTaken) {
  const auto f = [](Tensor x, bool up) {
    return rc::cond(
        Tensor(up), [](Tensor a) { return a; },
        [](Tensor a) {
          throw std::runtime_error("not taken");
          return a.expand({3});
        },
        x);
  };
  expect_values(f(number(1), true), {1});
  expect_values(rc::vmap([&](Tensor x) { return f(x, true); })(doubles({1, 2})), {1, 2});
}

TEST(BranchTypes, ABranchThatCannotBeWrittenDownIsNotHeldAgainstTheOther) {
  const auto f = [](Tensor x) {
    return rc::cond(
        x > 0, [](Tensor a) { return a; },
        [](Tensor a) -> Tensor {
          if (a.item<double>() > 0) throw std::runtime_error("by the user");
          return a;
        },
        x);
  };
  expect_values(rc::vmap(f)(doubles({1, 2})), {1, 2});
}

/// Written down to a bounded depth: the branch not taken calls the function again.
Tensor factorial(Tensor n) {
  return rc::cond(n <= 1, [](Tensor a) { return rc::ones_like(a); }, [](Tensor a) { return a * factorial(a - 1); }, n);
}

TEST(BranchTypes, AFunctionMayCallItselfInABranch) {
  expect_values(rc::vmap(factorial)(doubles({1, 1})), {1, 1});
  expect_values(rc::vmap(factorial)(doubles({5, 5})), {120, 120});
  expect_values(rc::vmap(factorial)(doubles({1, 5, 3})), {1, 120, 6});
}

TEST(BranchTypes, AreLookedAtWithoutTakingDraws) {
  const auto draws = [](bool with_cond) {
    rc::Generator generator(3);
    return rc::vmap(
        [&](Tensor x) {
          if (with_cond)
            x = rc::cond(
                x > 0, [](Tensor a) { return a; }, [&](Tensor a) { return a + rc::rand({}, {.generator = generator}); },
                x);
          return x.to(rc::float32) + rc::rand({}, {.generator = generator});
        },
        {.randomness = rc::Randomness::different})(doubles({1, 2}));
  };
  const Tensor first = draws(true);
  expect_close(draws(true), first);  // a branch that is written down draws nothing
  expect_close(draws(false), first);
}

TEST(BranchTypes, AreLookedAtOnceForEachPlaceAndTypes) {
  static int runs = 0;  // a branch with captures is looked at each time
  const auto f = [](Tensor x) {
    return rc::cond(
        x.sum() > 0, [](Tensor a) { return a; },
        [](Tensor a) {
          ++runs;
          return -a;
        },
        x);
  };
  for (int i = 0; i < 3; ++i) rc::vmap(f)(rc::ones({2, 3}));
  EXPECT_EQ(runs, 1);
  rc::vmap(f)(rc::ones({2, 4}));
  EXPECT_EQ(runs, 2);
}

}  // namespace
