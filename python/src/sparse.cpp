// Patterns, colorings and sparse matrices in Python, under ricci.sparse: the C++ ones. A matrix is a pattern and values
// here; python/ricci/sparse.py makes one object of them.
#include "ricci/sparse.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <sstream>
#include <string>
#include <utility>

#include "arguments.h"
#include "callback.h"
#include "ricci/ops.h"
#include "transforms.h"
#include "words.h"

namespace ricci::python {
namespace {

template <class T>
std::string printed(const T& object) {
  std::ostringstream out;
  out << object;
  return out.str();
}

/// Python's ==: another object of another type is no error, and not equal.
template <class T>
bool is_equal(const T& a, nb::handle b) {
  return nb::isinstance<T>(b) && a == nb::cast<const T&>(b);
}

std::vector<std::int64_t> numbers_of(const Tensor& tensor) { return tensor.to_vector<std::int64_t>(); }

constexpr std::pair<const char*, ColorMode> modes[] = {
    {"both", ColorMode::both},
    {"columns", ColorMode::columns},
    {"rows", ColorMode::rows},
    {"star", ColorMode::star},
    {"acyclic", ColorMode::acyclic}};
constexpr std::pair<const char*, ColorOrder> orders[] = {{"natural", ColorOrder::natural},
                                                         {"largest_first", ColorOrder::largest_first},
                                                         {"smallest_last", ColorOrder::smallest_last}};

sparse::VectorFunction function_of(nb::handle f, const char* user) {
  return TensorCallback(f, user, "the function must return Tensors");
}

using Parts = std::pair<Sparsity, Tensor>;
Parts parts_of(const Sparse& a) { return {a.sparsity, a.values}; }

void make_patterns(nb::module_& m) {
  nb::class_<Sparsity>(m, "Sparsity", "The places of a matrix's nonzeros, row by row.")
      .def(
          "__init__",
          [](Sparsity* self, std::int64_t rows, std::int64_t columns, const Tensor& crow, const Tensor& col) {
            new (self) Sparsity(rows, columns, numbers_of(crow), numbers_of(col));
          },
          nb::arg("rows"), nb::arg("columns"), nb::arg("crow_indices"), nb::arg("col_indices"))
      .def_static("of_dense", &Sparsity::of_dense, nb::arg("matrix"), "The nonzeros of a matrix.")
      .def_prop_ro("rows", &Sparsity::rows)
      .def_prop_ro("columns", &Sparsity::columns)
      .def_prop_ro("nnz", &Sparsity::nnz, "How many nonzeros there are.")
      .def("crow_indices", &Sparsity::crow_indices, "int64 [rows + 1]; not to be written to.")
      .def("col_indices", &Sparsity::col_indices, "int64 [nnz]; not to be written to.")
      .def("row_indices", &Sparsity::row_indices, "int64 [nnz]: the row of each nonzero.")
      .def("transposed", &Sparsity::transposed)
      .def("to_dense", &Sparsity::to_dense, "bool [rows, columns].")
      .def("__eq__", is_equal<Sparsity>, nb::arg("other"))
      .def("__repr__", printed<Sparsity>);
  nb::class_<Coloring>(m, "Coloring", "A pattern with its colors.")
      .def_prop_ro("sparsity", &Coloring::sparsity)
      .def_prop_ro("colors", &Coloring::colors)
      .def_prop_ro("column_colors", &Coloring::column_colors)
      .def_prop_ro("row_colors", &Coloring::row_colors)
      .def("__repr__", printed<Coloring>);
  m.def(
      "color",
      [](const Sparsity& sparsity, const std::string& mode, const std::string& order) {
        return color(sparsity, {.mode = word_of(mode, modes, "color", "mode"),
                                .order = word_of(order, orders, "color", "order")});
      },
      nb::arg("sparsity"), nb::arg("mode") = "both", nb::arg("order") = "largest_first",
      "Which columns (forward mode), rows (reverse mode) or both one derivative finds together; \"star\" and "
      "\"acyclic\" for Hessians.");
}

void make_derivatives_of_vectors(nb::module_& m) {
  m.def(
      "sparsity_of",
      [](nb::handle f, const Tensor& x, bool at_point) {
        return sparse::sparsity_of("sparsity", function_of(f, "sparsity"), x, where_t::current(),
                                   at_point ? sparse::Holds::at_point : sparse::Holds::everywhere);
      },
      nb::arg("f"), nb::arg("x"), nb::arg("at_point"));
  m.def(
      "hessian_sparsity_of",
      [](nb::handle loss, const Tensor& x, bool at_point) {
        return sparse::hessian_sparsity_of(function_of(loss, "hessian_sparsity"), x, where_t::current(),
                                           at_point ? sparse::Holds::at_point : sparse::Holds::everywhere);
      },
      nb::arg("loss"), nb::arg("x"), nb::arg("at_point"));
  m.def(
      "jacobian_of",
      [](nb::handle f, const Tensor& x, const Coloring& coloring) {
        return sparse::jacobian_of(function_of(f, "jacobian"), x, coloring, where_t::current()).values;
      },
      nb::arg("f"), nb::arg("x"), nb::arg("coloring"));
  m.def(
      "hessian_of",
      [](nb::handle f, const Tensor& x, const Coloring& coloring) {
        return sparse::hessian_of(function_of(f, "hessian"), x, coloring, where_t::current()).values;
      },
      nb::arg("f"), nb::arg("x"), nb::arg("coloring"));
}

void make_matrices(nb::module_& m) {
  const auto a = nb::arg("sparsity"), values = nb::arg("values"), x = nb::arg("x");
  m.def(
      "of_coordinates",
      [](const Tensor& rows, const Tensor& columns, const Tensor& values, std::int64_t row_count,
         std::int64_t column_count) {
        return parts_of(Sparse::of_coordinates(rows, columns, values, row_count, column_count));
      },
      nb::arg("rows"), nb::arg("columns"), values, nb::arg("row_count"), nb::arg("column_count"));
  m.def("of_dense", [](const Tensor& x, const Sparsity& s) { return Sparse::of_dense(x, s).values; }, x, a);
  m.def("to_dense", [](const Sparsity& s, const Tensor& v) { return Sparse{s, v}.to_dense(); }, a, values);
  m.def("transpose", [](const Sparsity& s, const Tensor& v) { return parts_of(Sparse{s, v}.transpose()); }, a, values);
  m.def("diagonal", [](const Sparsity& s, const Tensor& v) { return Sparse{s, v}.diagonal(); }, a, values);
  m.def(
      "sum", [](const Sparsity& s, const Tensor& v, std::int64_t axis) { return Sparse{s, v}.sum(axis); }, a, values,
      nb::arg("axis"));
  m.def(
      "matmul", [](const Sparsity& s, const Tensor& v, const Tensor& x) { return matmul(Sparse{s, v}, x); }, a, values,
      x);
  m.def(
      "matmul_from_left", [](const Tensor& x, const Sparsity& s, const Tensor& v) { return matmul(x, Sparse{s, v}); },
      x, a, values);
  m.def(
      "add",
      [](const Sparsity& s, const Tensor& v, const Sparsity& t, const Tensor& w) {
        return parts_of(Sparse{s, v} + Sparse{t, w});
      },
      a, values, nb::arg("other_sparsity"), nb::arg("other_values"));
}

using Method = Tensor (*)(const LinearOperator&, const Tensor&, const sparse::SolverOptions&);

void make_solver(nb::module_& m, const char* name, Method method, const char* doc) {
  m.def(
      name,
      [name, method](nb::handle a, const Tensor& b, double tol, double atol, std::int64_t max_steps,
                     nb::handle preconditioner, nb::handle transpose, std::int64_t restart) {
        LinearOperator of(function_of(a, name));
        if (!preconditioner.is_none()) of.preconditioner = function_of(preconditioner, name);
        if (!transpose.is_none()) of.transpose = function_of(transpose, name);
        return method(of, b, {.tol = tol, .atol = atol, .max_steps = max_steps, .restart = restart});
      },
      nb::arg("a"), nb::arg("b"), nb::kw_only(), nb::arg("tol") = 1e-5, nb::arg("atol") = 0.0, nb::arg("max_steps") = 0,
      nb::arg("preconditioner") = nb::none(), nb::arg("transpose") = nb::none(), nb::arg("restart") = 20, doc);
}

/// Of a Sparsity, or of a matrix, which has one and values.
sparse::Analysis analysis_of(nb::handle a, bool symmetric) {
  const sparse::AnalysisOptions options{.symmetric = symmetric};
  if (nb::isinstance<Sparsity>(a)) return sparse::Analysis(nb::cast<const Sparsity&>(a), options);
  if (!nb::hasattr(a, "sparsity")) throw TypeError("Analysis: pass a Sparsity or a Sparse");
  return sparse::Analysis(Sparse{nb::cast<const Sparsity&>(a.attr("sparsity")), nb::cast<Tensor>(a.attr("values"))},
                          options);
}

void make_direct(nb::module_& m) {
  using sparse::Analysis;
  const auto values = nb::arg("values");
  nb::class_<Analysis>(m, "Analysis",
                       "What a pattern says about the factors of its matrices: their order of elimination and their "
                       "nonzeros. Of a Sparse, rows are exchanged by its values too.")
      .def(
          "__init__",
          [](Analysis* self, nb::handle a, bool symmetric) { new (self) Analysis(analysis_of(a, symmetric)); },
          nb::arg("a"), nb::kw_only(), nb::arg("symmetric") = false)
      .def_prop_ro("sparsity", &Analysis::sparsity)
      .def_prop_ro("symmetric", &Analysis::is_symmetric)
      .def_prop_ro("factor_nnz", &Analysis::factor_nnz, "Nonzeros of the factors.")
      .def(
          "order", [](const Analysis& a) { return tensor(a.order()); },
          "int64 [n]: the columns as they are eliminated.")
      .def("__eq__", is_equal<Analysis>, nb::arg("other"))
      .def("__repr__", printed<Analysis>);
  m.def(
      "factor",
      [](const Sparsity& s, const Tensor& v, const Analysis& analysis) {
        return sparse::factor(Sparse{s, v}, analysis).numbers;
      },
      nb::arg("sparsity"), values, nb::arg("analysis"));
  m.def(
      "solve",
      [](const Analysis& analysis, const Tensor& v, const Tensor& numbers, const Tensor& b) {
        return sparse::solve(sparse::Factor{analysis, v, numbers}, b);
      },
      nb::arg("analysis"), values, nb::arg("numbers"), nb::arg("b"));
}

}  // namespace

void make_sparse(nb::module_& module) {
  nb::module_ m = module.def_submodule("_sparse", "Patterns, colorings, and what sparse matrices do.");
  make_patterns(m);
  make_derivatives_of_vectors(m);
  make_matrices(m);
  make_direct(m);
  make_solver(m, "cg", sparse::cg, "a(x) = b for a symmetric, positive definite a, by conjugate gradients.");
  make_solver(m, "minres", sparse::minres, "a(x) = b for a symmetric a, by minimal residuals.");
  make_solver(m, "bicgstab", sparse::bicgstab, "a(x) = b by stabilised biconjugate gradients.");
  make_solver(m, "gmres", sparse::gmres, "a(x) = b by generalised minimal residuals.");
}

}  // namespace ricci::python
