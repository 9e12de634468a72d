// Laws of public functions that PyTorch lacks: values and derivatives are those of a closed form. Knows no function by
// name but those in the table; `tools/check_samples.py` reads their names there.
#include <cmath>
#include <map>
#include <string>

#include "law.h"

namespace {

namespace rc = ricci;
using laws::List;
using rc::Tensor;

/// A function of one number, its value and its derivative, written in long double; where to try it.
struct ClosedForm {
  Tensor (*f)(const Tensor&);
  long double (*value)(long double);
  long double (*slope)(long double);
  std::vector<double> at;
};

/// (x cosh x - sinh x) / x^2, whose terms cancel near 0: there the first terms of its series.
long double slope_of_sinhc(long double x) {
  if (std::fabs(x) < 1e-3L) return x / 3 + x * x * x / 30;
  return (x * std::cosh(x) - std::sinh(x)) / (x * x);
}

/// x, or both parts of a vector one behind the other.
Tensor in_parts(const Tensor& x) {
  if (x.dim() == 0) return rc::dynamic_slice(x, {}, {});
  return rc::cat({rc::dynamic_slice(x, {0}, {2}), rc::dynamic_slice(x, {2}, {x.shape()[0] - 2})}, 0);
}
/// The same, written into zeros.
Tensor written_in_parts(const Tensor& x) {
  const Tensor nothing = rc::zeros_like(x);
  if (x.dim() == 0) return rc::dynamic_update_slice(nothing, x, {});
  const Tensor first = rc::dynamic_update_slice(nothing, x.slice(0, 0, 2), {0});
  return rc::dynamic_update_slice(first, x.slice(0, 2, x.shape()[0]), {2});
}

const std::map<std::string, ClosedForm>& closed_forms() {
  static const std::map<std::string, ClosedForm> all = {
      {"dynamic_slice",
       {.f = in_parts,
        .value = [](long double x) { return x; },
        .slope = [](long double) { return 1.0L; },
        .at = {0, 3, -1e9, 0.25}}},
      {"dynamic_update_slice",
       {.f = written_in_parts,
        .value = [](long double x) { return x; },
        .slope = [](long double) { return 1.0L; },
        .at = {0, 3, -1e9, 0.25}}},
      {"sinhc",
       {.f = rc::sinhc,
        .value = [](long double x) { return x == 0 ? 1 : std::sinh(x) / x; },
        .slope = slope_of_sinhc,
        .at = {0, -0.0, 1e-9, -0.25, 1, 3.99, 4.01, -4.6, 30, -700, 716}}},
  };
  return all;
}

class ClosedForms : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    form = &closed_forms().at(GetParam());
    x = rc::tensor(form->at);
  }
  Tensor of(long double (*g)(long double)) const {
    std::vector<double> values;
    for (const double at : form->at) values.push_back(static_cast<double>(g(at)));
    return rc::tensor(values);
  }
  /// Element by element, relative to it.
  static void expect_relatively_close(const Tensor& found, const Tensor& expected) {
    const Tensor scale = where(expected == 0, 1, expected);
    laws::expect_close(found / scale, expected / scale, 16 * laws::tolerance_of(rc::float64), "closed form");
  }

  const ClosedForm* form = nullptr;
  Tensor x;
};

TEST_P(ClosedForms, GiveTheValues) { expect_relatively_close(form->f(x), of(form->value)); }

TEST_P(ClosedForms, GiveTheDerivatives) {
  const auto f = [this](const List& inputs) { return List{form->f(inputs[0])}; };
  expect_relatively_close(laws::cotangents(f, {x}, {ones_like(x)})[0], of(form->slope));
  expect_relatively_close(laws::tangents(f, {x}, {ones_like(x)})[0], of(form->slope));
}

TEST_P(ClosedForms, AreMapped) {
  const auto f = [this](Tensor a) { return form->f(a); };
  EXPECT_EQ(rc::vmap(f)(x).to_vector<double>(), form->f(x).to_vector<double>());
}

INSTANTIATE_TEST_SUITE_P(All, ClosedForms, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& [name, form] : closed_forms()) names.push_back(name);
                           return names;
                         }()),
                         [](const auto& info) { return info.param; });

}  // namespace
