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
constexpr const char* in_python = R"(
def axis_of(x, pick):
    axes = max(1, x.dim())
    axis = pick % axes
    return axis - axes if pick // 8 % 2 else axis

def vector(x):
    return x.unsqueeze(0) if x.dim() == 0 else x

def matrix(x):
    return vector(x).unsqueeze(0) if x.dim() < 2 else x

def definite(x):
    m = matrix(x)
    return rc.matmul(m, m.mT) + rc.eye(m.size(-2), dtype=m.dtype)

def floating(x):
    return x if x.is_floating_point() else x.to(rc.float32)

def captured(pick):
    return world.captured[pick % len(world.captured)]

def small(x, most):
    return x if x.dim() <= 3 and x.numel() <= most else x.flatten().slice(0, 0, most)
)";

const std::vector<Operation> elementwise = {
    {"sin", [](const Tensor& x, int) { return sin(x); }, "rc.sin(x)"},
    {"exp", [](const Tensor& x, int) { return exp(-abs(x)); }, "rc.exp(-rc.abs(x))"},
    {"tanh", [](const Tensor& x, int) { return tanh(x); }, "rc.tanh(x)"},
    {"square", [](const Tensor& x, int) { return x * x; }, "x * x"},
    {"quotient", [](const Tensor& x, int) { return x / (x * x + 1); }, "x / (x * x + 1)"},
    {"sqrt", [](const Tensor& x, int) { return sqrt(abs(x) + 0.1); }, "rc.sqrt(rc.abs(x) + 0.1)"},
    {"log", [](const Tensor& x, int) { return log(abs(x) + 1); }, "rc.log(rc.abs(x) + 1)"},
    {"relu", [](const Tensor& x, int) { return relu(x); }, "rc.relu(x)"},
    {"clamp", [](const Tensor& x, int) { return clamp(x, -1, 1); }, "rc.clamp(x, -1, 1)"},
    {"where", [](const Tensor& x, int) { return rc::where(x > 0.5, x * x, sin(x)); },
     "rc.where(x > 0.5, x * x, rc.sin(x))"},
    {"pow", [](const Tensor& x, int) { return pow(abs(x) + 0.5, 1.5); }, "rc.pow(rc.abs(x) + 0.5, 1.5)"},
    {"maximum", [](const Tensor& x, int) { return maximum(x, 0.3 * x); }, "rc.maximum(x, 0.3 * x)"},
    {"lgamma", [](const Tensor& x, int) { return lgamma(abs(x) + 1); }, "rc.lgamma(rc.abs(x) + 1)"},
    {"floor", [](const Tensor& x, int) { return floor(x) + x; }, "rc.floor(x) + x"},
    {"convert", [](const Tensor& x, int pick) { return x.to(pick % 2 ? rc::float64 : rc::bfloat16); },
     "x.to(rc.float64 if pick % 2 else rc.bfloat16)"},
    {"integers", [](const Tensor& x, int) { return (x * 3).to(rc::int64); }, "(x * 3).to(rc.int64)"},
    {"complex", [](const Tensor& x, int) { return real(x.to(rc::complex64) * x); }, "rc.real(x.to(rc.complex64) * x)"},
    {"detach", [](const Tensor& x, int) { return x.detach() * x; }, "x.detach() * x"},
    {"add captured", [](const Tensor& x, int pick) { return x + captured(pick).sum(); }, "x + captured(pick).sum()"},
    {"multiply by captured", [](const Tensor& x, int pick) { return x * captured(pick); }, "x * captured(pick)"},
};

const std::vector<Operation> reductions = {
    {"sum", [](const Tensor& x, int) { return x.sum(); }, "x.sum()"},
    {"sum of an axis", [](const Tensor& x, int pick) { return x.sum(axis_of(x, pick), pick % 3 == 0); },
     "x.sum(axis_of(x, pick), pick % 3 == 0)"},
    {"mean", [](const Tensor& x, int pick) { return x.mean(axis_of(x, pick)); }, "x.mean(axis_of(x, pick))"},
    {"max", [](const Tensor& x, int pick) { return x.max(axis_of(x, pick)).first; }, "x.max(axis_of(x, pick)).values"},
    {"amax", [](const Tensor& x, int pick) { return x.amax(axis_of(x, pick)); }, "x.amax(axis_of(x, pick))"},
    {"prod", [](const Tensor& x, int pick) { return x.prod(axis_of(x, pick)); }, "x.prod(axis_of(x, pick))"},
    {"argmax", [](const Tensor& x, int pick) { return x.argmax(axis_of(x, pick)); }, "x.argmax(axis_of(x, pick))"},
    {"logsumexp", [](const Tensor& x, int pick) { return x.logsumexp(axis_of(x, pick)); },
     "x.logsumexp(axis_of(x, pick))"},
    {"softmax", [](const Tensor& x, int pick) { return x.softmax(axis_of(x, pick)); }, "x.softmax(axis_of(x, pick))"},
    {"log_softmax", [](const Tensor& x, int pick) { return x.log_softmax(axis_of(x, pick)); },
     "x.log_softmax(axis_of(x, pick))"},
    {"cumsum", [](const Tensor& x, int pick) { return x.cumsum(axis_of(x, pick)); }, "x.cumsum(axis_of(x, pick))"},
    {"cumprod", [](const Tensor& x, int pick) { return x.cumprod(axis_of(x, pick)); }, "x.cumprod(axis_of(x, pick))"},
    {"norm", [](const Tensor& x, int) { return x.norm(); }, "x.norm()"},
    {"var", [](const Tensor& x, int) { return x.var(); }, "x.var()"},
    {"std", [](const Tensor& x, int pick) { return rc::std(x, axis_of(x, pick)); }, "rc.std(x, axis_of(x, pick))"},
    {"sort", [](const Tensor& x, int pick) { return sort(x, axis_of(x, pick)).first; },
     "rc.sort(x, axis_of(x, pick)).values"},
    {"topk", [](const Tensor& x, int pick) { return topk(x, 1, axis_of(x, pick)).first; },
     "rc.topk(x, 1, axis_of(x, pick)).values"},
    {"median", [](const Tensor& x, int pick) { return median(x, axis_of(x, pick)).first; },
     "rc.median(x, axis_of(x, pick)).values"},
};

const std::vector<Operation> views = {
    {"transpose", [](const Tensor& x, int pick) { return x.transpose(axis_of(x, pick), axis_of(x, pick / 2)); },
     "x.transpose(axis_of(x, pick), axis_of(x, pick // 2))"},
    {"flatten", [](const Tensor& x, int) { return x.flatten(); }, "x.flatten()"},
    {"reshape", [](const Tensor& x, int) { return x.reshape({-1, 1}); }, "x.reshape(-1, 1)"},
    {"unsqueeze", [](const Tensor& x, int pick) { return x.unsqueeze(axis_of(x, pick)); },
     "x.unsqueeze(axis_of(x, pick))"},
    {"squeeze", [](const Tensor& x, int) { return x.squeeze(); }, "x.squeeze()"},
    {"slice", [](const Tensor& x, int pick) { return vector(x).slice(axis_of(x, pick), 0, 2); },
     "vector(x).slice(axis_of(x, pick), 0, 2)"},
    {"slice by two", [](const Tensor& x, int pick) { return vector(x).slice(axis_of(x, pick), 1, 5, 2); },
     "vector(x).slice(axis_of(x, pick), 1, 5, 2)"},
    {"select", [](const Tensor& x, int pick) { return vector(x).select(axis_of(x, pick), 0); },
     "vector(x).select(axis_of(x, pick), 0)"},
    {"expand", [](const Tensor& x, int) { return rc::stack({x, x}).select(0, 1).unsqueeze(0).expand({2, -1}); },
     "rc.stack([x, x]).select(0, 1).unsqueeze(0).expand(2, -1)"},
    {"diagonal", [](const Tensor& x, int) { return matrix(x).diagonal(); }, "matrix(x).diagonal()"},
    {"movedim", [](const Tensor& x, int pick) { return x.movedim(axis_of(x, pick), -1); },
     "x.movedim(axis_of(x, pick), -1)"},
    {"flip", [](const Tensor& x, int pick) { return x.flip(axis_of(x, pick)); }, "x.flip(axis_of(x, pick))"},
    {"roll", [](const Tensor& x, int) { return x.roll(1); }, "x.roll(1)"},
    {"unfold", [](const Tensor& x, int pick) { return vector(x).unfold(axis_of(x, pick), 1 + pick % 2, 1); },
     "vector(x).unfold(axis_of(x, pick), 1 + pick % 2, 1)"},
    {"as_strided", [](const Tensor& x, int) { return x.as_strided({2, x.numel() / 2}, {1, 1}); },
     "x.as_strided((2, x.numel() // 2), (1, 1))"},
    {"unbind", [](const Tensor& x, int pick) { return rc::stack(vector(x).unbind(axis_of(x, pick))); },
     "rc.stack(vector(x).unbind(axis_of(x, pick)))"},
    {"split", [](const Tensor& x, int pick) { return vector(x).split(2, axis_of(x, pick)).front(); },
     "vector(x).split(2, axis_of(x, pick))[0]"},
};

const std::vector<Operation> joining = {
    {"cat", [](const Tensor& x, int pick) { return rc::cat({x, x * 2}, axis_of(x, pick)); },
     "rc.cat([x, x * 2], axis_of(x, pick))"},
    {"stack", [](const Tensor& x, int pick) { return rc::stack({x, sin(x)}, axis_of(x, pick)); },
     "rc.stack([x, rc.sin(x)], axis_of(x, pick))"},
    {"pad", [](const Tensor& x, int) { return pad(vector(x), {1, 1}); }, "rc.pad(vector(x), (1, 1))"},
    {"repeat", [](const Tensor& x, int) { return vector(x).repeat({2, 1, 1}); }, "vector(x).repeat(2, 1, 1)"},
    {"tril", [](const Tensor& x, int) { return tril(matrix(x)); }, "rc.tril(matrix(x))"},
    {"diag_embed", [](const Tensor& x, int) { return diag_embed(vector(x)); }, "rc.diag_embed(vector(x))"},
    {"index_select", [](const Tensor& x, int pick) { return x.index_select(axis_of(x, pick), rc::tensor({0, 0})); },
     "x.index_select(axis_of(x, pick), rc.tensor([0, 0]))"},
    {"gather", [](const Tensor& x, int pick) { return x.gather(axis_of(x, pick), argsort(x, axis_of(x, pick))); },
     "x.gather(axis_of(x, pick), rc.argsort(x, axis_of(x, pick)))"},
    {"scatter_add",
     [](const Tensor& x, int pick) { return x.scatter_add(axis_of(x, pick), argsort(x, axis_of(x, pick)), x); },
     "x.scatter_add(axis_of(x, pick), rc.argsort(x, axis_of(x, pick)), x)"},
    {"index_put", [](const Tensor& x, int) { return index_put(vector(x), {rc::tensor({0, 0})}, 1.5, true); },
     "rc.index_put(vector(x), [rc.tensor([0, 0])], 1.5, True)"},
    {"masked_fill", [](const Tensor& x, int) { return x.masked_fill(x > 0.6, 0.25); }, "x.masked_fill(x > 0.6, 0.25)"},
    {"mask", [](const Tensor& x, int) -> Tensor { return vector(x).index({vector(x) > 0.4}); },
     "vector(x)[vector(x) > 0.4]"},
    {"nonzero", [](const Tensor& x, int) { return nonzero(x > 0.4); }, "rc.nonzero(x > 0.4)"},
    {"nonzero of a size", [](const Tensor& x, int) { return nonzero(x > 0.4, {.size = 3}); },
     "rc.nonzero(x > 0.4, size=3)"},
    {"unique", [](const Tensor& x, int) { return unique(x); }, "rc.unique(x)"},
    {"one_hot", [](const Tensor& x, int) { return one_hot(rc::remainder(x.argmax(), 64), 64) * x.sum(); },
     "rc.one_hot(rc.remainder(x.argmax(), 64), 64) * x.sum()"},
};

const std::vector<Operation> algebra = {
    {"matmul", [](const Tensor& x, int) { return rc::matmul(matrix(x), matrix(x).mT()); }, "matrix(x) @ matrix(x).mT"},
    {"einsum", [](const Tensor& x, int) { return rc::einsum("...i,...i->...", vector(x), vector(x)); },
     "rc.einsum('...i,...i->...', vector(x), vector(x))"},
    {"outer", [](const Tensor& x, int) { return outer(x.flatten(), x.flatten()); },
     "rc.outer(x.flatten(), x.flatten())"},
    {"inverse", [](const Tensor& x, int) { return inverse(definite(x)); }, "rc.inverse(definite(x))"},
    {"cholesky", [](const Tensor& x, int) { return cholesky(definite(x)); }, "rc.cholesky(definite(x))"},
    {"solve", [](const Tensor& x, int) { return solve(definite(x), matrix(x)); }, "rc.solve(definite(x), matrix(x))"},
    {"det", [](const Tensor& x, int) { return det(definite(x)); }, "rc.det(definite(x))"},
    {"conv1d", [](const Tensor& x, int) { return conv1d(matrix(x), x.new_ones({2, matrix(x).size(-2), 1})); },
     "rc.conv1d(matrix(x), x.new_ones(2, matrix(x).size(-2), 1))"},
    {"avg_pool2d", [](const Tensor& x, int) { return avg_pool2d(matrix(x).unsqueeze(0), 2, 1, 1); },
     "rc.avg_pool2d(matrix(x).unsqueeze(0), 2, 1, 1)"},
    {"layer_norm", [](const Tensor& x, int) { return layer_norm(vector(x), {vector(x).size(-1)}); },
     "rc.layer_norm(vector(x), (vector(x).size(-1),))"},
    {"mse_loss", [](const Tensor& x, int pick) { return mse_loss(x, captured(pick)); },
     "rc.mse_loss(x, captured(pick))"},
};

const std::vector<Operation> writes_to_own = {
    {"copy into zeros", [](const Tensor& x, int) { return rc::zeros(x.shape(), x.dtype()).copy_(x); },
     "rc.zeros(x.shape, dtype=x.dtype).copy_(x)"},
    {"in place", [](const Tensor& x, int) { return x.clone().mul_(2).sin_(); }, "x.clone().mul_(2).sin_()"},
    {"write through a view",
     [](const Tensor& x, int pick) {
       const Tensor y = vector(x).clone();
       y.select(axis_of(x, pick), 0).add_(1);
       return y;
     },
     "y = vector(x).clone()\ny.select(axis_of(x, pick), 0).add_(1)\nreturn y"},
    {"write a diagonal",
     [](const Tensor& x, int) {
       const Tensor y = matrix(x).clone();
       y.diagonal().copy_(y.diagonal() * 3);
       return y;
     },
     "y = matrix(x).clone()\ny.diagonal().copy_(y.diagonal() * 3)\nreturn y"},
    {"write the base of a view",
     [](const Tensor& x, int pick) {
       const Tensor y = x.clone(), view = y.transpose(0, axis_of(x, pick));
       y.add_(x);
       return view * 1;
     },
     "y = x.clone()\nview = y.transpose(0, axis_of(x, pick))\ny.add_(x)\nreturn view * 1"},
    {"assign by index",
     [](const Tensor& x, int) {
       const Tensor y = vector(x).clone();
       y.index({rc::tensor({0})}) = x.sum();
       return y;
     },
     "y = vector(x).clone()\ny[rc.tensor([0])] = x.sum()\nreturn y"},
    {"out",
     [](const Tensor& x, int) {
       const Tensor y = rc::empty_like(x);
       rc::add_out(y, x, x);
       return y;
     },
     "y = rc.empty_like(x)\nrc.add(x, x, out=y)\nreturn y"},
};

const std::vector<Operation> readings = {
    {"item", [](const Tensor& x, int) { return x * x.sum().item(); }, "x * float(x.sum().item())"},
    {"if", [](const Tensor& x, int) { return x.sum() > 0.5 ? x * 2 : -x; }, "x * 2 if x.sum() > 0.5 else -x"},
    {"while",
     [](const Tensor& x, int) {
       Tensor y = x;
       for (int i = 0; i < 4 && y.norm() < 3; ++i) y = y * 1.5 + 0.1;
       return y;
     },
     "y, i = x, 0\nwhile i < 4 and y.norm() < 3:\n    y, i = y * 1.5 + 0.1, i + 1\nreturn y"},
    {"print",
     [](const Tensor& x, int) {
       std::ostringstream text;
       text << x;
       return x;
     },
     "str(x)\nreturn x"},
    {"let escape",
     [](const Tensor& x, int) {
       world().escaped.push_back(x * 1);
       return x;
     },
     "world.escaped.append(x * 1)\nreturn x"},
    {"use what escaped",
     [](const Tensor& x, int) { return world().escaped.empty() ? x : x + world().escaped.back().sum(); },
     "x + world.escaped[-1].sum() if world.escaped else x"},
};

const std::vector<Operation> draws = {
    {"randn_like", [](const Tensor& x, int) { return x + rc::randn_like(x); }, "x + rc.randn_like(x)"},
    {"dropout", [](const Tensor& x, int) { return rc::dropout(x, 0.5, true); }, "rc.dropout(x, 0.5, True)"},
    {"normal_", [](const Tensor& x, int) { return x.clone().normal_() * x; }, "x.clone().normal_() * x"},
    {"bernoulli", [](const Tensor& x, int) { return rc::bernoulli(sigmoid(x)) * x; },
     "rc.bernoulli(rc.sigmoid(x)) * x"},
    {"poisson", [](const Tensor& x, int) { return rc::poisson(abs(floating(x))); }, "rc.poisson(rc.abs(floating(x)))"},
    {"randperm", [](const Tensor& x, int) { return x * rc::randperm(3).sum(); }, "x * rc.randperm(3).sum()"},
};

std::vector<Operation> joined(std::initializer_list<const std::vector<Operation>*> tables) {
  std::vector<Operation> all;
  for (const std::vector<Operation>* table : tables) all.insert(all.end(), table->begin(), table->end());
  return all;
}

}  // namespace

const char* helpers_in_python() { return in_python; }

Tensor vector(const Tensor& x) { return x.dim() == 0 ? x.unsqueeze(0) : x; }

const std::vector<Operation>& ordinary_operations() {
  static const std::vector<Operation> all = joined({&elementwise, &elementwise, &reductions, &views, &joining, &algebra,
                                                    &writes_to_own, &writes_to_own, &readings, &draws});
  return all;
}

const std::vector<Operation>& writing_operations() {
  static const std::vector<Operation> all = {
      {"mul_", [](const Tensor& x, int) { return x.mul_(2); }, "x.mul_(2)"},
      {"add_ of itself", [](const Tensor& x, int) { return x.add_(sin(x)); }, "x.add_(rc.sin(x))"},
      {"zero_", [](const Tensor& x, int) { return x.zero_(); }, "x.zero_()"},
      {"fill_ a row", [](const Tensor& x, int pick) { return x.select(axis_of(x, pick), 0).fill_(3); },
       "x.select(axis_of(x, pick), 0).fill_(3)"},
      {"copy_ of its transpose", [](const Tensor& x, int) { return x.copy_(matrix(x).mT()); }, "x.copy_(matrix(x).mT)"},
      {"add_ to a captured tensor", [](const Tensor& x, int pick) { return captured(pick).add_(x.sum()); },
       "captured(pick).add_(x.sum())"},
      {"add_out to a captured tensor",
       [](const Tensor& x, int pick) {
         rc::add_out(captured(pick), captured(pick), x);
         return x;
       },
       "rc.add(captured(pick), x, out=captured(pick))\nreturn x"},
      {"uniform_", [](const Tensor& x, int) { return x.uniform_(); }, "x.uniform_()"},
      {"copy_ of the rows before",
       [](const Tensor& x, int) {
         const Tensor all = x.dim() > 0 ? x : x.unsqueeze(0);
         return all.slice(0, 1, all.size(0)).copy_(all.slice(0, 0, all.size(0) - 1));
       },
       "rows = x if x.dim() > 0 else x.unsqueeze(0)\nreturn rows.slice(0, 1, rows.size(0)).copy_(rows.slice(0, 0, "
       "rows.size(0) - 1))"},
      {"index_add_",
       [](const Tensor& x, int) {
         const Tensor row = x.dim() > 0 ? x.slice(0, 0, 1) : x.unsqueeze(0);
         return (x.dim() > 0 ? x : row).index_add_(0, rc::tensor({0, 0}), rc::cat({row, row}));
       },
       "row = x.slice(0, 0, 1) if x.dim() > 0 else x.unsqueeze(0)\nreturn (x if x.dim() > 0 else row).index_add_(0, "
       "rc.tensor([0, 0]), rc.cat([row, row]))"},
      {"scatter_",
       [](const Tensor& x, int) {
         const Tensor flat = x.reshape({-1});
         return flat.scatter_(0, rc::tensor({0, 0}), rc::stack({flat[0] + 1, flat[0] + 2}));
       },
       "flat = x.reshape(-1)\nreturn flat.scatter_(0, rc.tensor([0, 0]), rc.stack([flat[0] + 1, flat[0] + 2]))"},
  };
  return all;
}

const std::vector<Operation>& wrong_operations() {
  static const std::vector<Operation> all = {
      {"matmul of sizes that differ", [](const Tensor& x, int) { return rc::matmul(x, rc::ones({17, 3})); },
       "rc.matmul(x, rc.ones(17, 3))"},
      {"shapes that do not broadcast", [](const Tensor& x, int) { return x + rc::ones({13}); }, "x + rc.ones(13)"},
      {"an index out of range", [](const Tensor& x, int pick) { return x.select(axis_of(x, pick), 99); },
       "x.select(axis_of(x, pick), 99)"},
      {"an axis out of range", [](const Tensor& x, int) { return x.sum(7); }, "x.sum(7)"},
      {"a shape of another size", [](const Tensor& x, int) { return x.reshape({7, 11}); }, "x.reshape(7, 11)"},
      {"an undefined tensor", [](const Tensor& x, int) { return x + Tensor(); }, "# Python has no undefined Tensor"},
      {"an undefined result", [](const Tensor&, int) { return Tensor(); }, "# Python has no undefined Tensor"},
      {"cat of shapes that differ", [](const Tensor& x, int) { return rc::cat({x, rc::ones({9, 9, 9})}); },
       "rc.cat([x, rc.ones(9, 9, 9)])"},
      {"item of many", [](const Tensor& x, int) { return x * rc::ones({3}).item(); }, "x * rc.ones(3).item()"},
      {"inverse of no square", [](const Tensor&, int) { return inverse(rc::ones({2, 3})); },
       "rc.inverse(rc.ones(2, 3))"},
      {"cholesky of no definite matrix", [](const Tensor& x, int) { return cholesky(-definite(x)); },
       "rc.cholesky(-definite(x))"},
      {"mean of integers", [](const Tensor& x, int) { return x.to(rc::int64).mean(); }, "x.to(rc.int64).mean()"},
      {"an index tensor out of range", [](const Tensor& x, int) { return x.index_select(0, rc::tensor({0, 42})); },
       "x.index_select(0, rc.tensor([0, 42]))"},
      {"a size that no memory holds",
       [](const Tensor& x, int) { return x.sum() + rc::zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}); },
       "x.sum() + rc.zeros(1 << 40, 1 << 40)"},
      {"a negative size", [](const Tensor& x, int) { return x.sum() * rc::zeros({-2}); }, "x.sum() * rc.zeros(-2)"},
      {"copy_ of another shape", [](const Tensor& x, int) { return x.clone().copy_(rc::ones({5, 6})); },
       "x.clone().copy_(rc.ones(5, 6))"},
      {"a dtype that is no float", [](const Tensor& x, int) { return x.to(rc::boolean) - x.to(rc::boolean); },
       "x.to(rc.bool) - x.to(rc.bool)"},
  };
  return all;
}

Tensor small(const Tensor& x, std::int64_t most) {
  const bool fits = x.dim() <= 3 && x.numel() <= most;
  return fits ? x : x.flatten().slice(0, 0, most);
}

}  // namespace fuzz
