// Transforms as maps from function to function, so that nestings can be generated and checked against closed formulas.
// An elementwise function stays elementwise under each of them: a derivative transform makes of f its derivative, a
// mapping leaves it. So a chain applied to f gives the derivative of f whose order is the sum of the chain's orders.
#pragma once

#include <ricci/ricci.h>

#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/expect_tensor.h"

namespace testing_support {

/// Tensor to tensor of the same sizes, element by element.
using Elementwise = std::function<Tensor(Tensor)>;

struct Transform {
  std::string name;
  int order;  // of differentiation
  std::function<Elementwise(Elementwise)> apply;
};

struct Formula {
  std::string name;
  Elementwise f;
  std::function<double(double x, int order)> derivative;
};

/// f at x, with the last axis of x mapped over, or an axis of one where x has none.
inline Tensor mapped(const Elementwise& f, const Tensor& x) {
  if (x.dim() == 0) return ricci::vmap(f)(x.unsqueeze(0)).squeeze(0);
  return ricci::vmap(f, {.in_dims = -1, .out_dims = -1})(x);
}

inline Tensor mapped_in_chunks(const Elementwise& f, const Tensor& x) {
  if (x.dim() == 0) return ricci::vmap(f, {.chunk_size = 1})(x.unsqueeze(0)).squeeze(0);
  return ricci::vmap(f, {.chunk_size = 1})(x);
}

/// Sums the leading axes of a Jacobian of an elementwise function until the input's are left: its diagonal.
inline Tensor diagonal_of(Tensor jacobian, std::int64_t input_axes) {
  while (jacobian.dim() > input_axes) jacobian = jacobian.sum(0);
  return jacobian;
}

inline Elementwise summed(Elementwise f) {
  return [f = std::move(f)](Tensor x) { return f(x).sum(); };
}

inline Transform vmap_transform() {
  return {"vmap", 0, [](Elementwise f) { return [f](Tensor x) { return mapped(f, x); }; }};
}

inline Transform grad_transform() {
  return {"grad", 1, [](Elementwise f) { return [f](Tensor x) { return ricci::grad(summed(f))(x); }; }};
}

inline Transform vjp_transform() {
  return {"vjp", 1, [](Elementwise f) {
            return [f](Tensor x) {
              auto [y, pullback] = ricci::vjp(f, x);
              return pullback(ricci::ones_like(y));
            };
          }};
}

inline Transform jvp_transform() {
  return {"jvp", 1,
          [](Elementwise f) { return [f](Tensor x) { return std::get<1>(ricci::jvp(f, x, ricci::ones_like(x))); }; }};
}

inline Transform jacrev_transform() {
  return {"jacrev", 1,
          [](Elementwise f) { return [f](Tensor x) { return diagonal_of(ricci::jacrev(f)(x), x.dim()); }; }};
}

inline Transform jacfwd_transform() {
  return {"jacfwd", 1,
          [](Elementwise f) { return [f](Tensor x) { return diagonal_of(ricci::jacfwd(f)(x), x.dim()); }; }};
}

/// The six that nest to any depth.
inline std::vector<Transform> six_transforms() {
  return {vmap_transform(), grad_transform(), jvp_transform(), vjp_transform(), jacfwd_transform(), jacrev_transform()};
}

/// Every public transform, options and variants included.
inline std::vector<Transform> all_transforms() {
  std::vector<Transform> all = six_transforms();
  all.push_back({"vmap in chunks", 0, [](Elementwise f) { return [f](Tensor x) { return mapped_in_chunks(f, x); }; }});
  all.push_back({"grad_and_value", 1,
                 [](Elementwise f) { return [f](Tensor x) { return ricci::grad_and_value(summed(f))(x).first; }; }});
  all.push_back({"value_and_grad", 1,
                 [](Elementwise f) { return [f](Tensor x) { return ricci::value_and_grad(summed(f))(x).second; }; }});
  all.push_back({"grad has_aux", 1, [](Elementwise f) {
                   const auto with_aux = [f](Tensor x) { return std::pair{f(x).sum(), x}; };
                   return [with_aux](Tensor x) { return ricci::grad(with_aux, ricci::has_aux)(x).first; };
                 }});
  all.push_back({"linearize", 1, [](Elementwise f) {
                   return [f](Tensor x) {
                     auto [y, f_jvp] = ricci::linearize(f, x);
                     return f_jvp(ricci::ones_like(x));
                   };
                 }});
  all.push_back({"jacrev in chunks", 1, [](Elementwise f) {
                   return [f](Tensor x) { return diagonal_of(ricci::jacrev(f, {.chunk_size = 1})(x), x.dim()); };
                 }});
  all.push_back({"hessian", 2,
                 [](Elementwise f) { return [f](Tensor x) { return diagonal_of(ricci::hessian(f)(x), x.dim()); }; }});
  all.push_back({"Tape", 1, [](Elementwise f) {
                   return [f](Tensor x) {
                     ricci::Tape tape;
                     tape.watch(x);
                     const Tensor y = f(x).sum();
                     return tape.gradient(y, x);
                   };
                 }});
  return all;
}

/// sin(x) x^2, by Leibniz's rule.
inline Formula sine_times_square() {
  return {"sin(x) x^2", [](Tensor x) { return sin(x) * x * x; },
          [](double x, int k) {
            const auto sine = [x](int j) { return std::sin(x + j * std::acos(0.0)); };
            return x * x * sine(k) + 2 * k * x * sine(k - 1) + k * (k - 1) * sine(k - 2);
          }};
}

/// x / (1 + x^2), the real part of 1 / (x - i).
inline Formula quotient() {
  return {"x / (1 + x^2)", [](Tensor x) { return x / (x * x + 1); },
          [](double x, int k) {
            double factor = 1;
            for (int i = 1; i <= k; ++i) factor *= -i;
            return factor * std::pow(std::complex<double>(x, -1), -(k + 1)).real();
          }};
}

/// x^3 above one half, sin(x) elsewhere.
inline Formula choice() {
  return {"where(x > 0.5, x^3, sin(x))", [](Tensor x) { return ricci::where(x > 0.5, x * x * x, sin(x)); },
          [](double x, int k) {
            if (x <= 0.5) return std::sin(x + k * std::acos(0.0));
            double factor = 1;
            for (int i = 0; i < k; ++i) factor *= 3 - i;
            return k > 3 ? 0.0 : factor * std::pow(x, 3 - k);
          }};
}

/// sin(x) x^2, written into a buffer.
inline Formula in_place() {
  Formula formula = sine_times_square();
  formula.name += " in place";
  formula.f = [](Tensor x) {
    Tensor y = ricci::empty_like(x);
    y.copy_(x);
    y.sin_();
    y.mul_(x * x);
    return y;
  };
  return formula;
}

inline std::vector<Formula> all_formulas() { return {sine_times_square(), quotient(), choice(), in_place()}; }

/// A chain from the outermost to the innermost, applied to a formula at x, is the formula's derivative.
inline void expect_chain(const std::vector<const Transform*>& chain, const Formula& formula, const Tensor& x) {
  Elementwise f = formula.f;
  std::string name = formula.name;
  int order = 0;
  for (std::size_t i = chain.size(); i-- > 0;) {
    f = chain[i]->apply(f);
    name = chain[i]->name + "(" + name + ")";
    order += chain[i]->order;
  }
  SCOPED_TRACE(name);
  Values expected;
  for (double at : values(x)) expected.push_back(formula.derivative(at, order));
  const Tensor y = f(x);
  EXPECT_EQ(sizes(y), sizes(x));
  expect_values(y, expected, 1e-9);
}

}  // namespace testing_support
