// Linear operators and systems in Python, under ricci.linear: the C++ ones. A matrix is a dataclass there, which
// becomes an operator where it is used; python/ricci/linear.py knows how.
#include "ricci/linear.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <utility>

#include "callback.h"
#include "transforms.h"

namespace ricci::python {
namespace {

using namespace operators;

sparse::LinearFunction function_of(nb::handle f) {
  if (f.is_none()) return {};
  return TensorCallback(f, "LinearOperator", "the function must return a Tensor");
}

void make_operators(nb::module_& m) {
  const nb::arg symmetric("symmetric"), positive("positive"), values("values");
  nb::class_<LinearOperator>(m, "LinearOperator", "A linear map of a Tensor.")
      .def(
          "apply", [](const LinearOperator& a, const Tensor& x) { return a.apply(x); }, nb::arg("x"))
      .def("transposed", &transposed)
      .def("as_matrix", &as_matrix, "Its matrix, found by products where it is not written down.");
  m.def(
      "matrix",
      [](const Tensor& values, bool symmetric, bool positive) {
        return LinearOperator(Matrix{values, {symmetric, positive}});
      },
      values, symmetric, positive);
  m.def(
      "diagonal",
      [](const Tensor& values, bool positive) {
        return LinearOperator(Diagonal{values, {.symmetric = true, .positive = positive}});
      },
      values, positive);
  m.def(
      "triangular", [](const Tensor& values, bool upper) { return LinearOperator(Triangular{values, upper}); }, values,
      nb::arg("upper"));
  m.def(
      "tridiagonal",
      [](const Tensor& lower, const Tensor& diagonal, const Tensor& upper, bool symmetric, bool positive) {
        return LinearOperator(Tridiagonal{lower, diagonal, upper, {symmetric, positive}});
      },
      nb::arg("lower"), nb::arg("diagonal"), nb::arg("upper"), symmetric, positive);
  m.def(
      "sparse", [](const Sparsity& sparsity, const Tensor& values) { return LinearOperator(Sparse{sparsity, values}); },
      nb::arg("sparsity"), values);
  m.def(
      "function",
      [](nb::handle f, const Tensor& like, bool symmetric, bool positive, nb::handle preconditioner,
         nb::handle transpose) {
        LinearOperator a(function_of(f), function_of(preconditioner), function_of(transpose));
        if (like.defined()) a = with_argument(std::move(a), like);
        a.tags = {symmetric, positive};
        return a;
      },
      nb::arg("f"), nb::arg("like").none(), symmetric, positive, nb::arg("preconditioner").none(),
      nb::arg("transpose").none());
  m.def("add", [](const LinearOperator& a, const LinearOperator& b) { return a + b; }, nb::arg("a"), nb::arg("b"));
  m.def(
      "scale", [](const Tensor& number, const LinearOperator& a) { return number * a; }, nb::arg("number"),
      nb::arg("a"));
  m.def("compose", &compose, nb::arg("a"), nb::arg("b"));
  m.def("identity", &identity, nb::arg("like"));
}

void make_solvers_of_systems(nb::module_& m) {
  using namespace solvers;
  nb::class_<LinearSolver>(m, "LinearSolver", "A way to solve linear systems: automatic(), lu(), cg(), …");
  m.def("automatic", &automatic, "What fits the operator's entries and tags.");
  m.def("lu", &solvers::lu, "By LU with partial pivoting.");
  m.def("cholesky", &solvers::cholesky, "Of a positive operator.");
  m.def("qr", &solvers::qr, "The least residual, and of those the shortest solution, by QR.");
  m.def("svd", &solvers::svd, "The same by singular values.");
  m.def("diagonal_solver", &solvers::diagonal, "Of a Diagonal.");
  m.def("triangular_solver", &triangular, "Of a Triangular.");
  m.def("tridiagonal_solver", &tridiagonal, "Of a Tridiagonal, without exchanging rows.");
  m.def("sparse_solver", &solvers::sparse, "Of a Sparse, by the factors of its pattern.");
  const auto make = [&m](const char* name, auto by, const std::string& what) {
    const std::string doc = what +
                            "\n\nThe loop ends where the residual's norm is at most max(tol * norm(b), atol), or after "
                            "max_steps; 0: ten for each\nelement of b. `restart` is of gmres: how many directions it "
                            "keeps.";
    m.def(
        name,
        [by](double tol, double atol, std::int64_t max_steps, std::int64_t restart) {
          return by({.tol = tol, .atol = atol, .max_steps = max_steps, .restart = restart});
        },
        nb::kw_only(), nb::arg("tol") = 1e-5, nb::arg("atol") = 0.0, nb::arg("max_steps") = 0, nb::arg("restart") = 20,
        doc.c_str());
  };
  make("cg", &cg, "Of a positive operator, by conjugate gradients.");
  make("minres", &minres, "Of a symmetric operator, by minimal residuals.");
  make("bicgstab", &bicgstab, "By stabilised biconjugate gradients.");
  make("gmres", &gmres, "By generalised minimal residuals; a step is a restart, of `restart` products.");
  m.def(
      "linear_solve",
      [](const LinearOperator& a, const Tensor& b, const LinearSolver& solver, bool throw_on_failure) {
        const auto found = linear_solve(a, b, {solver, throw_on_failure});
        return nb::make_tuple(found.value, found.residual, found.steps, found.status);
      },
      nb::arg("a"), nb::arg("b"), nb::arg("solver"), nb::arg("throw_on_failure"));
}

nb::object given(const Estimate& e) { return nb::make_tuple(e.value, e.standard_error); }

void make_curvature(nb::module_& m) {
  const nb::arg a("a"), key("key"), samples("samples");
  m.def(
      "hutchinson",
      [](const LinearOperator& of, const Key& with, std::int64_t count) {
        return given(hutchinson(of, with, {count}));
      },
      a, key, samples);
  m.def(
      "hutchinson_diagonal",
      [](const LinearOperator& of, const Key& with, std::int64_t count) {
        return given(hutchinson_diagonal(of, with, {count}));
      },
      a, key, samples);
  m.def(
      "lanczos",
      [](const LinearOperator& of, const Tensor& start, std::int64_t k) {
        const auto [diagonal, beside, vectors] = lanczos(of, start, k);
        return nb::make_tuple(diagonal, beside, vectors);
      },
      a, nb::arg("start"), nb::arg("k"));
}

}  // namespace

void make_linear(nb::module_& module) {
  nb::module_ m = module.def_submodule("_linear");
  make_operators(m);
  make_solvers_of_systems(m);
  make_curvature(m);
}

}  // namespace ricci::python
