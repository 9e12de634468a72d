// Laws of patterns: the pattern of an operation's Jacobian holds every nonzero that the derivative has, at every
// sample, alone and mapped. Where the operation says of what each element is made, the pattern holds no other place.

#include <ricci/sparse.h>

#include <algorithm>
#include <string_view>

#include "law.h"
#include "program/structure.h"
#include "sparse/propagation.h"

namespace {

using laws::Case;
using laws::List;
using laws::Smooth;
using laws::Tensor;
namespace rc = ricci;

bool is_real(const List& list) {
  return std::ranges::none_of(list, [](const Tensor& x) { return x.is_complex(); });
}

/// The Jacobian as a matrix, column by column. [elements of y, elements of x]
Tensor dense_jacobian(const Smooth& s) {
  const auto [vector, unravel] = rc::ravel(s.x);
  const auto along = [&s, &unravel = unravel](const Tensor& direction) {
    return rc::ravel(laws::tangents(s.f, s.x, unravel(direction))).vector;
  };
  std::vector<Tensor> columns;
  for (std::int64_t i = 0; i < vector.numel(); ++i) {
    const Tensor unit = rc::zeros({vector.numel()}, vector.dtype());
    unit[i] = 1;
    columns.push_back(along(unit));
  }
  return rc::stack(columns, 1);
}

/// Nonzeros of the derivative outside the pattern, and places of the pattern where the derivative is 0.
struct Difference {
  std::int64_t missing = 0, extra = 0;
};
Difference difference(const rc::Sparsity& pattern, const Tensor& jacobian) {
  const Tensor found = pattern.to_dense(), is_nonzero = ne(jacobian, 0);
  return {logical_and(is_nonzero, logical_not(found)).sum().item<std::int64_t>(),
          logical_and(found, logical_not(is_nonzero)).sum().item<std::int64_t>()};
}

class Sparsities : public laws::Law {
 protected:
  template <class F>
  static void for_each_case(const F& f) {
    for (const Case& c : laws::cases_of(rules())) {
      const Smooth s = laws::smooth_part(c);
      if (s.empty() || !is_real(s.x) || !is_real(s.y) || rc::ravel(s.x).vector.numel() == 0) continue;
      SCOPED_TRACE(c.text());
      count_case();
      f(s);
    }
  }
};

TEST_P(Sparsities, HoldEveryNonzero) {
  for_each_case(
      [](const Smooth& s) { EXPECT_EQ(difference(rc::jacobian_sparsity(s.f, s.x), dense_jacobian(s)).missing, 0); });
}

/// Two examples, the same twice.
TEST_P(Sparsities, OfMappedFunctionsHoldEveryNonzero) {
  for_each_case([](const Smooth& s) {
    Smooth two;
    for (const Tensor& x : s.x) two.x.push_back(rc::stack({x, x}, 0));
    two.f = [&s](const List& x) { return laws::mapped(s.f, x, laws::Mapped(x.size(), 0)); };
    EXPECT_EQ(difference(rc::jacobian_sparsity(two.f, two.x), dense_jacobian(two)).missing, 0);
  });
}

/// What an element of an elementwise result may be made of: the Jacobian of the sum of what broadcasts to it.
Tensor broadcast_places(const Smooth& s) {
  const rc::Shape shape = s.y[0].shape();
  return dense_jacobian({[shape](const List& x) {
                           Tensor sum = rc::zeros(shape, rc::float64);
                           for (const Tensor& of : x) sum = sum + of;
                           return List{sum};
                         },
                         s.x, s.y});
}

TEST_P(Sparsities, OfElementwiseOperationsViewsAndMovesHaveNoOtherPlace) {
  const bool is_elementwise = rules().kind == rc::Kind::elementwise;
  if (rules().is_locally_constant() || (!is_elementwise && !rules().is_view() && !rules().moves_elements)) return;
  for_each_case([&](const Smooth& s) {
    const Tensor places = is_elementwise ? broadcast_places(s) : dense_jacobian(s);
    EXPECT_EQ(difference(rc::jacobian_sparsity(s.f, s.x), places).extra, 0);
  });
}

/// Whether the sparse Jacobian has no directions.
bool carries_nonzeros(const Smooth& s, const Tensor& vector, const rc::Coloring& coloring) {
  bool carries = false;
  const auto [zeros, unravel] = rc::ravel(s.x);
  const auto f = [&, &unravel = unravel](const Tensor& v) { return rc::ravel(s.f(unravel(v))).vector; };
  rc::trace([&](const Tensor& v) {
    carries = rc::sparse::propagated(f, v, coloring, rc::where_t::current()).has_value();
    return v;
  })(vector);
  return carries;
}

/// A program's sparse Jacobian carries nonzeros from value to value, where every operation has a rule for that: as
/// `jacobian` says, elementwise operations, views, moves, sums and products do. Places are tensors from outside here.
TEST_P(Sparsities, OfFunctionsThatAreWrittenDownGiveTheDenseDerivative) {
  const std::vector<Case> cases = laws::cases_of(rules());
  if (cases.empty()) return;
  const bool has_rule = !rc::structure_as<rc::AtPlaces>(cases[0].op()) &&
                        (rules().kind == rc::Kind::elementwise || rules().is_view() || rules().moves_elements ||
                         std::string_view(rules().name) == "sum" || rc::structure_as<rc::ProductAxes>(cases[0].op()));
  for_each_case([&](const Smooth& s) {
    const auto [vector, unravel] = rc::ravel(s.x);
    const rc::Coloring coloring = rc::color(rc::jacobian_sparsity(s.f, s.x));
    const auto dense = [&, &unravel = unravel](const Tensor& v) {
      return rc::jacobian(s.f, coloring)(unravel(v)).to_dense();
    };
    if (has_rule && s.y.size() == 1) {
      EXPECT_TRUE(carries_nonzeros(s, vector, coloring));
    }
    const double tolerance = laws::tolerance_of(vector.dtype()) * rules().tolerance_factor;
    laws::expect_close(rc::trace(dense)(vector)({vector})[0], dense_jacobian(s), tolerance, "the Jacobian");
  });
}

FOR_ALL_OPERATIONS(Sparsities);

}  // namespace
