// Derivatives through complex vectors of which several elements are the greatest: whichever of them is taken for real,
// functions that know no phase have the derivatives of the matrix functions they are.
#include <cmath>
#include <functional>
#include <numbers>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(Tensor)>;

Tensor adjoint(const Tensor& x) { return conj(mT(x)); }
Tensor by_columns(const Tensor& values) { return values.unsqueeze(-2); }
Tensor unit(const Tensor& angles) { return rc::polar(rc::ones_like(angles), angles); }

/// F diag(w) Fᴴ, F the discrete Fourier transform, its rows times powers of i for an odd `variant`: elements of a
/// vector have one size, and many are i times each other. w has the sizes 1, 2, ..., in an order of the variant's.
Tensor with_equal_elements(std::int64_t n, std::int64_t variant) {
  const Tensor place = rc::arange(n, rc::float64), row = place.unsqueeze(-1);
  const Tensor vectors = unit((row * place * (4 / double(n)) + row * (variant % 2)) * (std::numbers::pi / 2));
  const Tensor size = rc::remainder(place * (2 * variant + 1) + variant, double(n)) + 1;
  return matmul(vectors * by_columns(size * unit(number(0.02 * double(variant)))), adjoint(vectors)) / double(n);
}

/// A weighted sum of the matrix that f makes of another one.
Function weighted(const Function& f) {
  return [f](Tensor x) {
    const Tensor y = f(x),
                 weight = rc::complex(sin(ramp({y.size(0), y.size(1)}) * 7.3), cos(ramp({y.size(0), y.size(1)})));
    return real(y * weight).sum();
  };
}
/// f of the matrix whose parts are x[0] and x[1].
Function of_parts(const Function& f) {
  return [f](Tensor x) { return f(rc::complex(x[0], x[1])); };
}
Tensor parts(const Tensor& x) { return rc::stack({real(x), imag(x)}); }

Tensor square_by_schur(const Tensor& x) {
  const auto [t, z] = rc::schur(x, "complex");
  return matmul(z, matmul(matmul(t, t), adjoint(z)));
}
Tensor square_by_eig(const Tensor& x) {
  const auto [values, vectors] = rc::eig(x);
  return matmul(vectors * by_columns(values.square()), rc::inverse(vectors));
}
Tensor square_by_eigh(const Tensor& x) {
  const auto [values, vectors] = rc::eigh(x);
  return matmul(vectors * by_columns(values.square()), adjoint(vectors));
}
Tensor triple_product_by_svd(const Tensor& x) {
  const auto [u, s, vh] = rc::svd(x);
  return matmul(u * by_columns(s * s * s), vh);
}
Tensor product_with_itself(const Tensor& x) { return matmul(x, x); }
Tensor square_of_hermitian_part(const Tensor& x) { return product_with_itself((x + adjoint(x)) / 2); }
Tensor triple_product(const Tensor& x) { return matmul(x, matmul(adjoint(x), x)); }

struct Case {
  const char* name;
  Function by_vectors, closed;
};
const std::vector<Case> cases = {{"schur", square_by_schur, product_with_itself},
                                 {"eig", square_by_eig, product_with_itself},
                                 {"eigh", square_by_eigh, square_of_hermitian_part},
                                 {"svd", triple_product_by_svd, triple_product}};

TEST(PhasesOfVectors, GradientsAreRightWhereElementsTie) {
  for (const auto& [name, by_vectors, closed] : cases)
    for (const std::int64_t n : {2, 4, 8})
      for (std::int64_t i = 0; i < 50; ++i) {
        SCOPED_TRACE(std::string(name) + " of " + std::to_string(n) + " rows, variant " + std::to_string(i));
        const Tensor x = parts(with_equal_elements(n, i)), direction = sin(ramp({2, n, n}) * 3.1);
        const Function f = weighted(of_parts(by_vectors)), expected = weighted(of_parts(closed));
        const Tensor gradient = rc::grad(expected)(x);
        expect_close(rc::grad(f)(x), gradient, 1e-10);
        expect_close(rc::jvp(f, std::tuple(x), std::tuple(direction)).second, (gradient * direction).sum(), 1e-9);
      }
}

TEST(PhasesOfVectors, SecondDerivativesAreRightWhereElementsTie) {
  for (const auto& [name, by_vectors, closed] : cases)
    for (std::int64_t i = 0; i < 5; ++i) {
      SCOPED_TRACE(std::string(name) + " variant " + std::to_string(i));
      const Tensor x = parts(with_equal_elements(4, i));
      const Function f = weighted(of_parts(by_vectors));
      expect_close(rc::hessian(f)(x), rc::hessian(weighted(of_parts(closed)))(x), 1e-9);
    }
}

TEST(PhasesOfVectors, GradientsAreRightAtRotations) {
  for (const auto& by_vectors : {square_by_schur, square_by_eig})
    for (int i = 1; i < 150; ++i) {
      const double angle = 0.02 * i;
      const Tensor x = doubles({std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle)}, {2, 2});
      expect_close(rc::grad(weighted(by_vectors))(x), rc::grad(weighted(product_with_itself))(x), 1e-10);
    }
}

}  // namespace
