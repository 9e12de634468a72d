// Functions of linalg.h and nn.h, as the cases of tools/torch_values_of_core.py call them.
#include "public_functions.h"

namespace laws {
namespace {

namespace rc = ricci;

Tensor definite(const Tensor& a) { return matmul(a, mT(a)) + 0.5 * rc::eye(a.size(-1), a.dtype()); }

}  // namespace

const Table& products() {
  static const Table table = {
      {"matmul", [](X x) { return List{matmul(x[0], x[1])}; }},
      {"matmul vectors", [](X x) { return List{matmul(x[0], x[1])}; }},
      {"matmul batches", [](X x) { return List{matmul(x[0], x[1])}; }},
      {"matmul by vector", [](X x) { return List{matmul(x[0], x[1])}; }},
      {"matmul complex", [](X x) { return List{matmul(x[0], x[1])}; }},
      {"mm", [](X x) { return List{mm(x[0], x[1])}; }},
      {"bmm", [](X x) { return List{bmm(x[0], x[1])}; }},
      {"mv", [](X x) { return List{mv(x[0], x[1])}; }},
      {"dot", [](X x) { return List{dot(x[0], x[1])}; }},
      {"vdot", [](X x) { return List{vdot(x[0], x[1])}; }},
      {"outer", [](X x) { return List{outer(x[0], x[1])}; }},
      {"inner", [](X x) { return List{inner(x[0], x[1])}; }},
      {"tensordot", [](X x) { return List{tensordot(x[0], x[1], 2)}; }},
      {"tensordot axes", [](X x) { return List{tensordot(x[0], x[1], {0, -1}, {1, 0})}; }},
      {"tensordot none", [](X x) { return List{tensordot(x[0], x[1], {}, {})}; }},
      {"addmm factors", [](X x) { return List{addmm(x[0], x[1], x[2], 0.5, 2)}; }},
      {"addmm whole", [](X x) { return List{addmm(x[0], x[1], x[2], 2, 3)}; }},
      {"addmm without bias", [](X x) { return List{addmm(x[0], x[1], x[2], 0, 1)}; }},
      {"einsum", [](X x) { return List{rc::einsum("bij,bjk->ik", x[0], x[1])}; }},
      {"einsum of three", [](X x) { return List{rc::einsum("i,ij,j", {x[0], x[1], x[2]})}; }},
      {"einsum dots", [](X x) { return List{rc::einsum("...ij,...j->...i", x[0], x[1])}; }},
      {"addmm", [](X x) { return List{addmm(x[0], x[1], x[2])}; }},
      {"linear", [](X x) { return List{linear(x[0], x[1])}; }},
      {"linear bias", [](X x) { return List{linear(x[0], x[1], x[2])}; }},
      {"multi_dot", [](X x) { return List{rc::multi_dot(x)}; }},
      {"kron", [](X x) { return List{kron(x[0], x[1])}; }},
      {"cross", [](X x) { return List{cross(x[0], x[1])}; }},
      {"cross dim", [](X x) { return List{cross(x[0], x[1], 0)}; }},
      {"cholesky", [](X x) { return List{cholesky(definite(x[0]))}; }},
      {"cholesky_solve", [](X x) { return List{cholesky_solve(x[0], cholesky(definite(x[1])))}; }},
      {"solve", [](X x) { return List{solve(x[0], x[1])}; }},
      {"solve vector", [](X x) { return List{solve(x[0], x[1])}; }},
      {"solve complex", [](X x) { return List{solve(x[0], x[1])}; }},
      {"solve_triangular", [](X x) { return List{solve_triangular(x[0], x[1], false)}; }},
      {"triangular_solve", [](X x) { return List{triangular_solve(x[0], x[1])}; }},
      {"triangular_solve lower transpose unit",
       [](X x) {
         return List{triangular_solve(x[0], x[1], {.upper = false, .transpose = true, .unitriangular = true})};
       }},
      {"inverse", [](X x) { return List{inverse(x[0])}; }},
      {"inv", [](X x) { return List{inv(x[0])}; }},
      {"det", [](X x) { return List{det(x[0])}; }},
      {"det complex", [](X x) { return List{det(x[0])}; }},
      {"slogdet",
       [](X x) {
         const auto [sign, logarithm] = slogdet(x[0]);
         return List{sign, logarithm};
       }},
      {"logdet", [](X x) { return List{logdet(definite(x[0]))}; }},
      {"matrix_power 0", [](X x) { return List{matrix_power(x[0], 0)}; }},
      {"matrix_power 1", [](X x) { return List{matrix_power(x[0], 1)}; }},
      {"matrix_power 3", [](X x) { return List{matrix_power(x[0], 3)}; }},
      {"matrix_power -2", [](X x) { return List{matrix_power(x[0], -2)}; }},
      {"eigh",
       [](X x) {
         const auto [values, vectors] = eigh(x[0] + mT(x[0]));
         return List{values, abs(vectors)};
       }},
      {"eigvalsh", [](X x) { return List{eigvalsh(x[0] + mT(x[0]))}; }},
      {"svd",
       [](X x) {
         const auto [u, s, vh] = svd(x[0]);
         return List{abs(u), s, abs(vh)};
       }},
      {"svdvals", [](X x) { return List{svdvals(x[0])}; }},
  };
  return table;
}

const Table& layers() {
  static const Table table = {
      {"conv1d", [](X x) { return List{conv1d(x[0], x[1])}; }},
      {"conv1d bias", [](X x) { return List{conv1d(x[0], x[1], x[2])}; }},
      {"conv1d options",
       [](X x) {
         return List{conv1d(x[0], x[1], x[2], {.stride = 2, .padding = 1, .dilation = 2, .groups = 2})};
       }},
      {"conv2d", [](X x) { return List{conv2d(x[0], x[1])}; }},
      {"conv2d bias", [](X x) { return List{conv2d(x[0], x[1], x[2])}; }},
      {"conv2d options",
       [](X x) {
         return List{conv2d(x[0], x[1], x[2], {.stride = {2, 1}, .padding = {0, 1}, .dilation = {1, 2}, .groups = 2})};
       }},
      {"max_pool2d", [](X x) { return List{max_pool2d(x[0], 2)}; }},
      {"max_pool2d stride", [](X x) { return List{max_pool2d(x[0], {2, 3}, 1)}; }},
      {"max_pool2d padding", [](X x) { return List{max_pool2d(x[0], 3, 2, 1)}; }},
      {"max_pool2d dilation", [](X x) { return List{max_pool2d(x[0], 2, 1, 0, 2)}; }},
      {"avg_pool2d", [](X x) { return List{avg_pool2d(x[0], 2)}; }},
      {"avg_pool2d stride", [](X x) { return List{avg_pool2d(x[0], {2, 3}, 1)}; }},
      {"avg_pool2d padding", [](X x) { return List{avg_pool2d(x[0], 3, 2, 1)}; }},
      {"adaptive_avg_pool2d", [](X x) { return List{adaptive_avg_pool2d(x[0], {2, 3})}; }},
      {"layer_norm", [](X x) { return List{layer_norm(x[0], {4})}; }},
      {"layer_norm weight", [](X x) { return List{layer_norm(x[0], {2, 3}, x[1], x[2])}; }},
      {"layer_norm eps", [](X x) { return List{layer_norm(x[0], {4}, x[1], x[2], 0.1)}; }},
      {"batch_norm", [](X x) { return List{batch_norm(x[0], x[1], x[2])}; }},
      {"batch_norm weight", [](X x) { return List{batch_norm(x[0], x[1], x[2], x[3], x[4], false)}; }},
      {"batch_norm training", [](X x) { return List{batch_norm(x[0], {}, {}, x[1], x[2], true, 0.2, 0.1)}; }},
      {"group_norm", [](X x) { return List{group_norm(x[0], 2)}; }},
      {"group_norm weight", [](X x) { return List{group_norm(x[0], 2, x[1], x[2])}; }},
      {"group_norm eps", [](X x) { return List{group_norm(x[0], 2, x[1], x[2], 0.1)}; }},
      {"instance_norm", [](X x) { return List{instance_norm(x[0])}; }},
      {"instance_norm weight", [](X x) { return List{instance_norm(x[0], {}, {}, x[1], x[2])}; }},
      {"instance_norm statistics", [](X x) { return List{instance_norm(x[0], x[1], x[2], x[3], x[4], false)}; }},
      {"instance_norm eps", [](X x) { return List{instance_norm(x[0], {}, {}, x[1], x[2], true, 0.1, 0.2)}; }},
  };
  return table;
}

}  // namespace laws
