// Activations, elementwise functions, statistics and arrangements, as the cases of tools/torch_values.py call them.
#include <ricci/ops/activations.h>
#include <ricci/ops/arrangement.h>
#include <ricci/ops/special.h>
#include <ricci/ops/statistics.h>

#include "public_functions.h"

namespace laws {
namespace {

namespace rc = ricci;

List both(const std::pair<Tensor, Tensor>& results) { return {results.first, results.second}; }
/// One function of one tensor.
Function of_one(Tensor (*f)(const Tensor&)) {
  return [f](X x) { return List{f(x[0])}; };
}
Function of_two(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](X x) { return List{f(x[0], x[1])}; };
}
Function of_three(Tensor (*f)(const Tensor&, const Tensor&, const Tensor&)) {
  return [f](X x) { return List{f(x[0], x[1], x[2])}; };
}
Function of_list(Tensor (*f)(const std::vector<Tensor>&)) {
  return [f](X x) { return List{f(x)}; };
}

}  // namespace

const Table& activations() {
  static const Table table = {
      {"hardtanh", of_one(rc::hardtanh)},
      {"hardtanh kink", of_one(rc::hardtanh)},
      {"hardtanh range", [](X x) { return List{hardtanh(x[0], -0.5, 1.5)}; }},
      {"relu6", [](X x) { return List{relu6(x[0] * 4)}; }},
      {"relu6 kink", of_one(rc::relu6)},
      {"hardsigmoid", [](X x) { return List{hardsigmoid(x[0] * 2)}; }},
      {"hardsigmoid kink", of_one(rc::hardsigmoid)},
      {"hardswish", [](X x) { return List{hardswish(x[0] * 2)}; }},
      {"hardswish kink", of_one(rc::hardswish)},
      {"hardshrink", of_one(rc::hardshrink)},
      {"hardshrink kink", [](X x) { return List{hardshrink(x[0], 0.25)}; }},
      {"softshrink", of_one(rc::softshrink)},
      {"softshrink kink", [](X x) { return List{softshrink(x[0], 0.25)}; }},
      {"prelu", of_two(rc::prelu)},
      {"prelu of one weight", of_two(rc::prelu)},
      {"prelu kink", of_two(rc::prelu)},
      {"rrelu", [](X x) { return List{rrelu(x[0], {.lower = 0.1, .upper = 0.4})}; }},
      {"tanhshrink", of_one(rc::tanhshrink)},
      {"softsign", of_one(rc::softsign)},
      {"selu", of_one(rc::selu)},
      {"celu", of_one(rc::celu)},
      {"celu alpha", [](X x) { return List{celu(x[0], 0.5)}; }},
      {"celu kink", [](X x) { return List{celu(x[0], 0.5)}; }},
      {"mish", of_one(rc::mish)},
      {"mish of large", of_one(rc::mish)},
      {"glu", of_one(rc::glu)},
      {"glu dim", [](X x) { return List{glu(x[0], 0)}; }},
      {"softmin", [](X x) { return List{softmin(x[0], 1)}; }},
  };
  return table;
}

const Table& elementwise() {
  static const Table table = {
      {"heaviside kink", of_two(rc::heaviside)},
      {"signbit", of_one(rc::signbit)},
      {"signbit whole", of_one(rc::signbit)},
      {"isposinf", of_one(rc::isposinf)},
      {"isneginf", of_one(rc::isneginf)},
      {"isreal", of_one(rc::isreal)},
      {"float_power", of_two(rc::float_power)},
      {"float_power whole", [](X x) { return List{float_power(x[0], 3)}; }},
      {"ldexp", of_two(rc::ldexp)},
      {"logaddexp2", of_two(rc::logaddexp2)},
      {"logaddexp2 kink", of_two(rc::logaddexp2)},
      {"xlog1py", of_two(rc::xlog1py)},
      {"xlog1py of 0", of_two(rc::xlog1py)},
      {"entr", of_one(rc::entr)},
      {"entr edge kink", [](X x) { return List{detach(entr(x[0]))}; }},
      {"logit", of_one(rc::logit)},
      {"logit eps", [](X x) { return List{logit(x[0], 0.2)}; }},
      {"polar", of_two(rc::polar)},
      {"ndtr", of_one(rc::ndtr)},
      {"ndtri", of_one(rc::ndtri)},
      {"erfinv", of_one(rc::erfinv)},
      {"erfinv edge kink", [](X x) { return List{detach(erfinv(x[0]))}; }},
      {"mvlgamma", [](X x) { return List{mvlgamma(x[0], 3)}; }},
  };
  return table;
}

const Table& statistics() {
  static const Table table = {
      {"aminmax", [](X x) { return both(aminmax(x[0])); }},
      {"aminmax dim", [](X x) { return both(aminmax(x[0], 1, true)); }},
      {"var_mean", [](X x) { return both(var_mean(x[0])); }},
      {"var_mean dim", [](X x) { return both(var_mean(x[0], 0, 0, true)); }},
      {"std_mean", [](X x) { return both(std_mean(x[0])); }},
      {"std_mean dim", [](X x) { return both(std_mean(x[0], -1)); }},
      {"nansum", of_one(rc::nansum)},
      {"nansum dim", [](X x) { return List{nansum(x[0], 0, true)}; }},
      {"nanmean kink", of_one(rc::nanmean)},
      {"nanmean dim kink", [](X x) { return List{nanmean(x[0], 1)}; }},
      {"nanmedian kink", of_one(rc::nanmedian)},
      {"nanmedian dim kink", [](X x) { return both(nanmedian(x[0], 1)); }},
      {"kthvalue", [](X x) { return both(kthvalue(x[0], 2)); }},
      {"kthvalue dim", [](X x) { return both(kthvalue(x[0], 3, 0, true)); }},
      {"msort", of_one(rc::msort)},
      {"quantile", [](X x) { return List{quantile(x[0], 0.3)}; }},
      {"quantile dim", [](X x) { return List{quantile(x[0], x[1], 1)}; }},
      {"quantile keepdim", [](X x) { return List{quantile(x[0], x[1], 0, true)}; }},
      {"quantile lower", [](X x) { return List{quantile(x[0], rc::tensor({0.1, 0.5, 0.77}), -1, false, "lower")}; }},
      {"quantile higher", [](X x) { return List{quantile(x[0], rc::tensor({0.1, 0.5, 0.77}), -1, false, "higher")}; }},
      {"quantile nearest",
       [](X x) { return List{quantile(x[0], rc::tensor({0.1, 0.5, 0.77}), -1, false, "nearest")}; }},
      {"quantile midpoint",
       [](X x) { return List{quantile(x[0], rc::tensor({0.1, 0.5, 0.77}), -1, false, "midpoint")}; }},
      {"quantile of NaN kink", [](X x) { return List{quantile(x[0], rc::tensor({0.3, 0.5}, rc::float64), 0)}; }},
      {"nanquantile kink", [](X x) { return List{nanquantile(x[0], rc::tensor({0.3, 0.5}, rc::float64), 1)}; }},
      {"cov", of_one(rc::cov)},
      {"cov of one", of_one(rc::cov)},
      {"cov weights", [](X x) { return List{cov(x[0], {.correction = 0, .fweights = x[1], .aweights = x[2]})}; }},
      {"cov aweights", [](X x) { return List{cov(x[0], {.aweights = x[1]})}; }},
      {"cov complex", of_one(rc::cov)},
      {"corrcoef", of_one(rc::corrcoef)},
      {"bincount reads", of_one(rc::bincount)},
      {"bincount reads weights", [](X x) { return List{bincount(x[0], x[1], 6)}; }},
      {"histc", [](X x) { return List{histc(x[0], 5)}; }},
      {"histc range", [](X x) { return List{histc(x[0], 4, -1, 1.5)}; }},
      {"histogram", [](X x) { return both(histogram(x[0], 5)); }},
      {"histogram weight density",
       [](X x) { return both(histogram(x[0], 4, {.low = -1, .high = 1.5, .weight = x[1], .density = true})); }},
      {"histogram edges", [](X x) { return both(histogram(x[0], x[1])); }},
      {"unique_consecutive reads", of_one(rc::unique_consecutive)},
      {"diff", of_one(rc::diff)},
      {"diff n", [](X x) { return List{diff(x[0], 2, 0)}; }},
      {"diff prepend append", [](X x) { return List{diff(x[0], 1, -1, x[1], x[2])}; }},
      {"gradient", [](X x) { return gradient(x[0]); }},
      {"gradient spacing", [](X x) { return gradient(x[0], {.spacing = 0.3, .dims = {1}, .edge_order = 2}); }},
      {"gradient places",
       [](X x) { return gradient(x[0], {.spacing = rc::tensor({0, 0.5, 0.7, 2, 2.5}, rc::float64), .dims = {0}}); }},
      {"trapezoid", of_one(rc::trapezoid)},
      {"trapezoid dx", [](X x) { return List{trapezoid(x[0], 0.3, 0)}; }},
      {"trapezoid x", of_two(rc::trapezoid)},
      {"trapezoid x dim", [](X x) { return List{trapezoid(x[0], x[1], 0)}; }},
      {"cumulative_trapezoid", of_one(rc::cumulative_trapezoid)},
      {"cumulative_trapezoid x", [](X x) { return List{cumulative_trapezoid(x[0], x[1], 0)}; }},
  };
  return table;
}

const Table& arrangement() {
  static const Table table = {
      {"atleast_1d", [](X x) { return List{atleast_1d(x[0]), atleast_1d(x[1]), atleast_1d(x[2])}; }},
      {"atleast_2d", [](X x) { return List{atleast_2d(x[0]), atleast_2d(x[1]), atleast_2d(x[2])}; }},
      {"atleast_3d", [](X x) { return List{atleast_3d(x[0]), atleast_3d(x[1]), atleast_3d(x[2])}; }},
      {"broadcast_tensors", [](X x) { return broadcast_tensors(x); }},
      {"fliplr", of_one(rc::fliplr)},
      {"flipud", of_one(rc::flipud)},
      {"rot90 -1", [](X x) { return List{rot90(x[0], -1)}; }},
      {"rot90 0", [](X x) { return List{rot90(x[0], 0)}; }},
      {"rot90 1", of_one(rc::rot90)},
      {"rot90 2", [](X x) { return List{rot90(x[0], 2)}; }},
      {"rot90 3", [](X x) { return List{rot90(x[0], 3)}; }},
      {"rot90 dims", [](X x) { return List{rot90(x[0], 1, {2, 0})}; }},
      {"diagflat", of_one(rc::diagflat)},
      {"diagflat offset", [](X x) { return List{diagflat(x[0], -1)}; }},
      {"mH", of_one(rc::mH)},
      {"sum_to_size", [](X x) { return List{sum_to_size(x[0], {1, 4})}; }},
      {"hstack", of_list(rc::hstack)},
      {"hstack of vectors", of_list(rc::hstack)},
      {"vstack", of_list(rc::vstack)},
      {"vstack of vectors", of_list(rc::vstack)},
      {"dstack", of_list(rc::dstack)},
      {"dstack of vectors", of_list(rc::dstack)},
      {"column_stack", of_list(rc::column_stack)},
      {"column_stack of vectors", of_list(rc::column_stack)},
      {"hsplit", [](X x) { return hsplit(x[0], 2); }},
      {"hsplit indices", [](X x) { return hsplit(x[0], rc::Shape{1, 2}); }},
      {"vsplit", [](X x) { return vsplit(x[0], 3); }},
      {"vsplit indices", [](X x) { return vsplit(x[0], rc::Shape{1}); }},
      {"dsplit", [](X x) { return dsplit(x[0], 2); }},
      {"dsplit indices", [](X x) { return dsplit(x[0], rc::Shape{1}); }},
      {"addmv", of_three(rc::addmv)},
      {"addr", of_three(rc::addr)},
      {"addbmm", of_three(rc::addbmm)},
      {"baddbmm", of_three(rc::baddbmm)},
      {"block_diag", of_list(rc::block_diag)},
      {"cartesian_prod", of_list(rc::cartesian_prod)},
      {"combinations", of_one(rc::combinations)},
      {"combinations 3", [](X x) { return List{combinations(x[0], 3, true)}; }},
      {"index_copy", [](X x) { return List{index_copy(x[0], 1, x[1], x[2])}; }},
      {"masked_scatter", of_three(rc::masked_scatter)},
      {"put", of_three(rc::put)},
      {"put accumulate", [](X x) { return List{put(x[0], x[1], x[2], true)}; }},
      {"isin", of_two(rc::isin)},
      {"as_strided_scatter", [](X x) { return List{as_strided_scatter(x[0], x[1], {2, 2}, {3, 2}, 1)}; }},
      {"unravel_index", [](X x) { return unravel_index(x[0], {2, 3, 4}); }},
      {"tril_indices", [](X) { return List{rc::tril_indices(3, 4, 1)}; }},
      {"tril_indices of nothing", [](X) { return List{rc::tril_indices(2, 2, -3)}; }},
      {"triu_indices", [](X) { return List{rc::triu_indices(4, 3, -1)}; }},
  };
  return table;
}

const Table& complex_numbers() {
  static const Table table = {
      {"logsumexp complex", [](X x) { return List{logsumexp(x[0], 1)}; }},
      {"logsumexp complex keepdim", [](X x) { return List{logsumexp(x[0], {0, 1}, true)}; }},
      {"logsumexp whole", [](X x) { return List{logsumexp(x[0], 0).to(rc::float64)}; }},
      {"softmax complex", [](X x) { return List{softmax(x[0], 1)}; }},
      {"log_softmax complex", [](X x) { return List{log_softmax(x[0], 0)}; }},
      {"logcumsumexp complex", [](X x) { return List{logcumsumexp(x[0], 1)}; }},
      {"logaddexp complex", of_two(rc::logaddexp)},
      {"lerp complex", of_three(rc::lerp)},
      {"silu complex", of_one(rc::silu)},
      {"nan_to_num complex", of_one(rc::nan_to_num)},
      {"l1_loss complex", [](X x) { return List{l1_loss(x[0], x[1])}; }},
      {"square boolean", of_one(rc::square)},
  };
  return table;
}

}  // namespace laws
