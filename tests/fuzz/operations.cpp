// The tables of operations. Each entry is one line of a user's program.
#include "operations.h"

#include <sstream>

namespace fuzz {
namespace {

/// Some axis of x, counted from either end; 0 where there is none.
std::int64_t axis_of(const Tensor& x, int pick) {
  const std::int64_t axes = std::max<std::int64_t>(1, x.dim());
  const std::int64_t axis = pick % axes;
  return pick / 8 % 2 ? axis - axes : axis;
}

/// x with at least two axes.
Tensor matrix(const Tensor& x) { return x.dim() < 2 ? vector(x).unsqueeze(0) : x; }
/// A positive definite matrix made of x.
Tensor definite(const Tensor& x) {
  const Tensor m = matrix(x);
  return rc::matmul(m, m.mT()) + rc::eye(m.size(-2), m.dtype());
}
Tensor floating(const Tensor& x) { return x.is_floating_point() ? x : x.to(rc::float32); }
const Tensor& captured(int pick) {
  const std::vector<Tensor>& all = world().captured;
  return all[static_cast<std::size_t>(pick) % all.size()];
}

const std::vector<Operation> elementwise = {
    {"sin", [](const Tensor& x, int) { return sin(x); }},
    {"exp", [](const Tensor& x, int) { return exp(-abs(x)); }},
    {"tanh", [](const Tensor& x, int) { return tanh(x); }},
    {"square", [](const Tensor& x, int) { return x * x; }},
    {"quotient", [](const Tensor& x, int) { return x / (x * x + 1); }},
    {"sqrt", [](const Tensor& x, int) { return sqrt(abs(x) + 0.1); }},
    {"log", [](const Tensor& x, int) { return log(abs(x) + 1); }},
    {"relu", [](const Tensor& x, int) { return relu(x); }},
    {"clamp", [](const Tensor& x, int) { return clamp(x, -1, 1); }},
    {"where", [](const Tensor& x, int) { return rc::where(x > 0.5, x * x, sin(x)); }},
    {"pow", [](const Tensor& x, int) { return pow(abs(x) + 0.5, 1.5); }},
    {"maximum", [](const Tensor& x, int) { return maximum(x, 0.3 * x); }},
    {"lgamma", [](const Tensor& x, int) { return lgamma(abs(x) + 1); }},
    {"floor", [](const Tensor& x, int) { return floor(x) + x; }},
    {"convert", [](const Tensor& x, int pick) { return x.to(pick % 2 ? rc::float64 : rc::bfloat16); }},
    {"integers", [](const Tensor& x, int) { return (x * 3).to(rc::int64); }},
    {"complex", [](const Tensor& x, int) { return real(x.to(rc::complex64) * x); }},
    {"detach", [](const Tensor& x, int) { return x.detach() * x; }},
    {"add captured", [](const Tensor& x, int pick) { return x + captured(pick).sum(); }},
    {"multiply by captured", [](const Tensor& x, int pick) { return x * captured(pick); }},
};

const std::vector<Operation> reductions = {
    {"sum", [](const Tensor& x, int) { return x.sum(); }},
    {"sum of an axis", [](const Tensor& x, int pick) { return x.sum(axis_of(x, pick), pick % 3 == 0); }},
    {"mean", [](const Tensor& x, int pick) { return x.mean(axis_of(x, pick)); }},
    {"max", [](const Tensor& x, int pick) { return x.max(axis_of(x, pick)).first; }},
    {"amax", [](const Tensor& x, int pick) { return x.amax(axis_of(x, pick)); }},
    {"prod", [](const Tensor& x, int pick) { return x.prod(axis_of(x, pick)); }},
    {"argmax", [](const Tensor& x, int pick) { return x.argmax(axis_of(x, pick)); }},
    {"logsumexp", [](const Tensor& x, int pick) { return x.logsumexp(axis_of(x, pick)); }},
    {"softmax", [](const Tensor& x, int pick) { return x.softmax(axis_of(x, pick)); }},
    {"log_softmax", [](const Tensor& x, int pick) { return x.log_softmax(axis_of(x, pick)); }},
    {"cumsum", [](const Tensor& x, int pick) { return x.cumsum(axis_of(x, pick)); }},
    {"cumprod", [](const Tensor& x, int pick) { return x.cumprod(axis_of(x, pick)); }},
    {"norm", [](const Tensor& x, int) { return x.norm(); }},
    {"var", [](const Tensor& x, int) { return x.var(); }},
    {"std", [](const Tensor& x, int pick) { return rc::std(x, axis_of(x, pick)); }},
    {"sort", [](const Tensor& x, int pick) { return sort(x, axis_of(x, pick)).first; }},
    {"topk", [](const Tensor& x, int pick) { return topk(x, 1, axis_of(x, pick)).first; }},
    {"median", [](const Tensor& x, int pick) { return median(x, axis_of(x, pick)).first; }},
};

const std::vector<Operation> views = {
    {"transpose", [](const Tensor& x, int pick) { return x.transpose(axis_of(x, pick), axis_of(x, pick / 2)); }},
    {"flatten", [](const Tensor& x, int) { return x.flatten(); }},
    {"reshape", [](const Tensor& x, int) { return x.reshape({-1, 1}); }},
    {"unsqueeze", [](const Tensor& x, int pick) { return x.unsqueeze(axis_of(x, pick)); }},
    {"squeeze", [](const Tensor& x, int) { return x.squeeze(); }},
    {"slice", [](const Tensor& x, int pick) { return vector(x).slice(axis_of(x, pick), 0, 2); }},
    {"slice by two", [](const Tensor& x, int pick) { return vector(x).slice(axis_of(x, pick), 1, 5, 2); }},
    {"select", [](const Tensor& x, int pick) { return vector(x).select(axis_of(x, pick), 0); }},
    {"expand", [](const Tensor& x, int) { return rc::stack({x, x}).select(0, 1).unsqueeze(0).expand({2, -1}); }},
    {"diagonal", [](const Tensor& x, int) { return matrix(x).diagonal(); }},
    {"movedim", [](const Tensor& x, int pick) { return x.movedim(axis_of(x, pick), -1); }},
    {"flip", [](const Tensor& x, int pick) { return x.flip(axis_of(x, pick)); }},
    {"roll", [](const Tensor& x, int) { return x.roll(1); }},
    {"unfold", [](const Tensor& x, int pick) { return vector(x).unfold(axis_of(x, pick), 1 + pick % 2, 1); }},
    {"as_strided", [](const Tensor& x, int) { return x.as_strided({2, x.numel() / 2}, {1, 1}); }},
    {"unbind", [](const Tensor& x, int pick) { return rc::stack(vector(x).unbind(axis_of(x, pick))); }},
    {"split", [](const Tensor& x, int pick) { return vector(x).split(2, axis_of(x, pick)).front(); }},
};

const std::vector<Operation> joining = {
    {"cat", [](const Tensor& x, int pick) { return rc::cat({x, x * 2}, axis_of(x, pick)); }},
    {"stack", [](const Tensor& x, int pick) { return rc::stack({x, sin(x)}, axis_of(x, pick)); }},
    {"pad", [](const Tensor& x, int) { return pad(vector(x), {1, 1}); }},
    {"repeat", [](const Tensor& x, int) { return vector(x).repeat({2, 1, 1}); }},
    {"tril", [](const Tensor& x, int) { return tril(matrix(x)); }},
    {"diag_embed", [](const Tensor& x, int) { return diag_embed(vector(x)); }},
    {"index_select", [](const Tensor& x, int pick) { return x.index_select(axis_of(x, pick), rc::tensor({0, 0})); }},
    {"gather", [](const Tensor& x, int pick) { return x.gather(axis_of(x, pick), argsort(x, axis_of(x, pick))); }},
    {"scatter_add",
     [](const Tensor& x, int pick) { return x.scatter_add(axis_of(x, pick), argsort(x, axis_of(x, pick)), x); }},
    {"index_put", [](const Tensor& x, int) { return index_put(vector(x), {rc::tensor({0, 0})}, 1.5, true); }},
    {"masked_fill", [](const Tensor& x, int) { return x.masked_fill(x > 0.6, 0.25); }},
    {"mask", [](const Tensor& x, int) -> Tensor { return vector(x).index({vector(x) > 0.4}); }},
    {"nonzero", [](const Tensor& x, int) { return nonzero(x > 0.4); }},
    {"nonzero of a size", [](const Tensor& x, int) { return nonzero(x > 0.4, {.size = 3}); }},
    {"unique", [](const Tensor& x, int) { return unique(x); }},
    {"one_hot", [](const Tensor& x, int) { return one_hot(rc::remainder(x.argmax(), 64), 64) * x.sum(); }},
};

const std::vector<Operation> algebra = {
    {"matmul", [](const Tensor& x, int) { return rc::matmul(matrix(x), matrix(x).mT()); }},
    {"einsum", [](const Tensor& x, int) { return rc::einsum("...i,...i->...", vector(x), vector(x)); }},
    {"outer", [](const Tensor& x, int) { return outer(x.flatten(), x.flatten()); }},
    {"inverse", [](const Tensor& x, int) { return inverse(definite(x)); }},
    {"cholesky", [](const Tensor& x, int) { return cholesky(definite(x)); }},
    {"solve", [](const Tensor& x, int) { return solve(definite(x), matrix(x)); }},
    {"det", [](const Tensor& x, int) { return det(definite(x)); }},
    {"conv1d", [](const Tensor& x, int) { return conv1d(matrix(x), x.new_ones({2, matrix(x).size(-2), 1})); }},
    {"avg_pool2d", [](const Tensor& x, int) { return avg_pool2d(matrix(x).unsqueeze(0), 2, 1, 1); }},
    {"layer_norm", [](const Tensor& x, int) { return layer_norm(vector(x), {vector(x).size(-1)}); }},
    {"mse_loss", [](const Tensor& x, int pick) { return mse_loss(x, captured(pick)); }},
};

const std::vector<Operation> writes_to_own = {
    {"copy into zeros", [](const Tensor& x, int) { return rc::zeros(x.shape(), x.dtype()).copy_(x); }},
    {"in place", [](const Tensor& x, int) { return x.clone().mul_(2).sin_(); }},
    {"write through a view",
     [](const Tensor& x, int pick) {
       const Tensor y = vector(x).clone();
       y.select(axis_of(x, pick), 0).add_(1);
       return y;
     }},
    {"write a diagonal",
     [](const Tensor& x, int) {
       const Tensor y = matrix(x).clone();
       y.diagonal().copy_(y.diagonal() * 3);
       return y;
     }},
    {"write the base of a view",
     [](const Tensor& x, int pick) {
       const Tensor y = x.clone(), view = y.transpose(0, axis_of(x, pick));
       y.add_(x);
       return view * 1;
     }},
    {"assign by index",
     [](const Tensor& x, int) {
       const Tensor y = vector(x).clone();
       y.index({rc::tensor({0})}) = x.sum();
       return y;
     }},
    {"out",
     [](const Tensor& x, int) {
       const Tensor y = rc::empty_like(x);
       rc::add_out(y, x, x);
       return y;
     }},
};

const std::vector<Operation> readings = {
    {"item", [](const Tensor& x, int) { return x * x.sum().item(); }},
    {"if", [](const Tensor& x, int) { return x.sum() > 0.5 ? x * 2 : -x; }},
    {"while",
     [](const Tensor& x, int) {
       Tensor y = x;
       for (int i = 0; i < 4 && y.norm() < 3; ++i) y = y * 1.5 + 0.1;
       return y;
     }},
    {"print",
     [](const Tensor& x, int) {
       std::ostringstream text;
       text << x;
       return x;
     }},
    {"let escape",
     [](const Tensor& x, int) {
       world().escaped.push_back(x * 1);
       return x;
     }},
    {"use what escaped",
     [](const Tensor& x, int) { return world().escaped.empty() ? x : x + world().escaped.back().sum(); }},
};

const std::vector<Operation> draws = {
    {"randn_like", [](const Tensor& x, int) { return x + rc::randn_like(x); }},
    {"dropout", [](const Tensor& x, int) { return rc::dropout(x, 0.5, true); }},
    {"normal_", [](const Tensor& x, int) { return x.clone().normal_() * x; }},
    {"bernoulli", [](const Tensor& x, int) { return rc::bernoulli(sigmoid(x)) * x; }},
    {"poisson", [](const Tensor& x, int) { return rc::poisson(abs(floating(x))); }},
    {"randperm", [](const Tensor& x, int) { return x * rc::randperm(3).sum(); }},
};

std::vector<Operation> joined(std::initializer_list<const std::vector<Operation>*> tables) {
  std::vector<Operation> all;
  for (const std::vector<Operation>* table : tables) all.insert(all.end(), table->begin(), table->end());
  return all;
}

}  // namespace

Tensor vector(const Tensor& x) { return x.dim() == 0 ? x.unsqueeze(0) : x; }

const std::vector<Operation>& ordinary_operations() {
  static const std::vector<Operation> all = joined({&elementwise, &elementwise, &reductions, &views, &joining, &algebra,
                                                    &writes_to_own, &writes_to_own, &readings, &draws});
  return all;
}

const std::vector<Operation>& writing_operations() {
  static const std::vector<Operation> all = {
      {"mul_", [](const Tensor& x, int) { return x.mul_(2); }},
      {"add_ of itself", [](const Tensor& x, int) { return x.add_(sin(x)); }},
      {"zero_", [](const Tensor& x, int) { return x.zero_(); }},
      {"fill_ a row", [](const Tensor& x, int pick) { return x.select(axis_of(x, pick), 0).fill_(3); }},
      {"copy_ of its transpose", [](const Tensor& x, int) { return x.copy_(matrix(x).mT()); }},
      {"add_ to a captured tensor", [](const Tensor& x, int pick) { return captured(pick).add_(x.sum()); }},
      {"add_out to a captured tensor",
       [](const Tensor& x, int pick) {
         rc::add_out(captured(pick), captured(pick), x);
         return x;
       }},
      {"uniform_", [](const Tensor& x, int) { return x.uniform_(); }},
      {"copy_ of the rows before", [](const Tensor& x, int) {
         const Tensor all = x.dim() > 0 ? x : x.unsqueeze(0);
         return all.slice(0, 1, all.size(0)).copy_(all.slice(0, 0, all.size(0) - 1));
       }},
      {"index_add_", [](const Tensor& x, int) {
         const Tensor row = x.dim() > 0 ? x.slice(0, 0, 1) : x.unsqueeze(0);
         return (x.dim() > 0 ? x : row).index_add_(0, rc::tensor({0, 0}), rc::cat({row, row}));
       }},
      {"scatter_", [](const Tensor& x, int) {
         const Tensor flat = x.reshape({-1});
         return flat.scatter_(0, rc::tensor({0, 0}), rc::stack({flat[0] + 1, flat[0] + 2}));
       }},
  };
  return all;
}

const std::vector<Operation>& wrong_operations() {
  static const std::vector<Operation> all = {
      {"matmul of sizes that differ", [](const Tensor& x, int) { return rc::matmul(x, rc::ones({17, 3})); }},
      {"shapes that do not broadcast", [](const Tensor& x, int) { return x + rc::ones({13}); }},
      {"an index out of range", [](const Tensor& x, int pick) { return x.select(axis_of(x, pick), 99); }},
      {"an axis out of range", [](const Tensor& x, int) { return x.sum(7); }},
      {"a shape of another size", [](const Tensor& x, int) { return x.reshape({7, 11}); }},
      {"an undefined tensor", [](const Tensor& x, int) { return x + Tensor(); }},
      {"an undefined result", [](const Tensor&, int) { return Tensor(); }},
      {"cat of shapes that differ", [](const Tensor& x, int) { return rc::cat({x, rc::ones({9, 9, 9})}); }},
      {"item of many", [](const Tensor& x, int) { return x * rc::ones({3}).item(); }},
      {"inverse of no square", [](const Tensor&, int) { return inverse(rc::ones({2, 3})); }},
      {"cholesky of no definite matrix", [](const Tensor& x, int) { return cholesky(-definite(x)); }},
      {"mean of integers", [](const Tensor& x, int) { return x.to(rc::int64).mean(); }},
      {"an index tensor out of range", [](const Tensor& x, int) { return x.index_select(0, rc::tensor({0, 42})); }},
      {"a size that no memory holds",
       [](const Tensor& x, int) { return x.sum() + rc::zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}); }},
      {"a negative size", [](const Tensor& x, int) { return x.sum() * rc::zeros({-2}); }},
      {"copy_ of another shape", [](const Tensor& x, int) { return x.clone().copy_(rc::ones({5, 6})); }},
      {"a dtype that is no float", [](const Tensor& x, int) { return x.to(rc::boolean) - x.to(rc::boolean); }},
  };
  return all;
}

Tensor small(const Tensor& x, std::int64_t most) {
  const bool fits = x.dim() <= 3 && x.numel() <= most;
  return fits ? x : x.flatten().slice(0, 0, most);
}

}  // namespace fuzz
