// Counting, naming and visiting the fields of structs, with every kind of member a struct may have.
#include "ricci/tree/reflect.h"

#include <gtest/gtest.h>

#include <any>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "ricci/tensor.h"

namespace tree = ricci::tree;
using ricci::Tensor;

namespace {

struct Empty {};
struct Linear {
  Tensor weight, bias;
};
struct Node {
  Tensor value;
  std::vector<Node> children;
  std::map<std::string, Node> named;
};
struct NoDefault {
  NoDefault(int) {}
};
struct Parameters {
  using kind = int;
  static constexpr const char* name = "parameters";
  std::vector<std::int64_t> axes;
  bool keepdim = false;
  ricci::Shape shape;
  std::optional<double> fill;
  template <class T>
  auto formula(T x) const {
    return x;
  }
};

/// A struct with one member of type T between two others.
template <class T>
struct Around {
  int before;
  T between;
  Tensor after;
};

template <class... T>
constexpr bool all_are_one_field = ((tree::field_count<Around<T>> == 3) && ...);
template <class... T>
constexpr bool all_are_named =
    ((tree::field_names<Around<T>>[1] == "between" && tree::field_names<Around<T>>[2] == "after") && ...);

#define MEMBER_TYPES                                                                                                   \
  Tensor, bool, double, std::nullptr_t, const char *, int Linear::*, Tensor (*)(const Tensor&), std::string,           \
      std::string_view, std::optional<Tensor>, std::optional<double>, std::optional<bool>, std::optional<std::string>, \
      std::optional<std::optional<int>>, std::optional<Linear>, std::optional<std::vector<Node>>, std::any,            \
      std::optional<std::any>, std::function<Tensor(Tensor)>, std::variant<int, double>, std::variant<Tensor, double>, \
      std::array<Tensor, 3>, std::array<Linear, 2>, std::array<std::array<Linear, 2>, 2>, std::array<double, 0>,       \
      std::array<std::optional<double>, 2>, Linear, Node, Empty, NoDefault, std::vector<bool>, std::vector<Node>,      \
      std::map<std::string, std::optional<Linear>>, std::tuple<>, std::tuple<double>, std::tuple<Tensor, std::any>,    \
      std::pair<Linear, int>, std::unique_ptr<int>, std::shared_ptr<Tensor>, ricci::DType, ricci::Size, ricci::Shape,  \
      ricci::Axes, std::optional<ricci::Shape>, ricci::Index, std::vector<ricci::Index>

TEST(Reflect, AMemberOfAnyTypeIsOneField) { EXPECT_TRUE((all_are_one_field<MEMBER_TYPES>)); }

TEST(Reflect, AMemberOfAnyTypeHasItsName) { EXPECT_TRUE((all_are_named<MEMBER_TYPES>)); }

TEST(Reflect, AStructWithoutMembersHasNoFields) { EXPECT_EQ(tree::field_count<Empty>, 0); }

TEST(Reflect, LastMembersWithoutDefaultAreCounted) {
  struct Late {
    Tensor first;
    NoDefault second, third;
  };
  EXPECT_EQ(tree::field_count<Late>, 3);
}

TEST(Reflect, SixtyFourFieldsAreTheMost) {
  struct Eight {
    int a, b, c, d, e, f, g, h;
  };
  struct Most {
    Eight a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, I, J, K,
        L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, last;
  };
  EXPECT_EQ(tree::field_count<Most>, 64);
  EXPECT_EQ(tree::field_names<Most>[63], "last");
}

TEST(Reflect, StaticMembersTypesAndFunctionsAreNoFields) {
  EXPECT_STREQ(Parameters::name, "parameters");
  EXPECT_EQ(tree::field_count<Parameters>, 4);
  EXPECT_EQ(tree::field_names<Parameters>[0], "axes");
}

TEST(Reflect, FieldsAreVisitedInOrderWithTheirNames) {
  std::string seen;
  const Parameters parameters{{1, 2}, true, {}, {}};
  tree::for_each_named_field(parameters, [&](std::string_view name, const auto&) { seen.append(name) += ' '; });
  EXPECT_EQ(seen, "axes keepdim shape fill ");
}

TEST(Reflect, FieldsAreReachedByReference) {
  struct Point {
    int x, y;
  } point{1, 2};
  tree::for_each_field(point, [](int& field) { field *= 10; });
  EXPECT_EQ(point.x, 10);
  EXPECT_EQ(point.y, 20);
}

TEST(Reflect, FieldsOfTwoStructsAreVisitedInPairs) {
  struct Point {
    int x, y;
  };
  int product = 0;
  tree::for_each_field_pair(Point{1, 2}, Point{3, 4}, [&](int a, int b) { product += a * b; });
  EXPECT_EQ(product, 11);
}

TEST(Reflect, LocalAndNestedStructsHaveNames) {
  const auto names_inside_a_lambda = [](auto) {
    struct Local {
      Tensor deep;
    };
    return tree::field_names<Local>;
  };
  EXPECT_EQ(names_inside_a_lambda(0)[0], "deep");
}

}  // namespace
