// Activations, elementwise functions, statistics and arrangements, as the cases of tools/torch_values.py call them.
#include <ricci/ops/activations.h>
#include <ricci/ops/arrangement.h>
#include <ricci/ops/special.h>
#include <ricci/ops/statistics.h>

#include "public_functions.h"

namespace laws {

namespace rc = ricci;

const Table& activations() {
  static const Table table = {
      {"hardtanh", of(rc::hardtanh)},
      {"hardtanh kink", of(rc::hardtanh)},
      {"hardtanh range", [](X x) { return List{hardtanh(x[0], -0.5, 1.5)}; }},
      {"relu6", [](X x) { return List{relu6(x[0] * 4)}; }},
      {"relu6 kink", of(rc::relu6)},
      {"hardsigmoid", [](X x) { return List{hardsigmoid(x[0] * 2)}; }},
      {"hardsigmoid kink", of(rc::hardsigmoid)},
      {"hardswish", [](X x) { return List{hardswish(x[0] * 2)}; }},
      {"hardswish kink", of(rc::hardswish)},
      {"hardshrink", of(rc::hardshrink)},
      {"hardshrink kink", [](X x) { return List{hardshrink(x[0], 0.25)}; }},
      {"softshrink", of(rc::softshrink)},
      {"softshrink kink", [](X x) { return List{softshrink(x[0], 0.25)}; }},
      {"prelu", of(rc::prelu)},
      {"prelu of one weight", of(rc::prelu)},
      {"prelu kink", of(rc::prelu)},
      {"rrelu", [](X x) { return List{rrelu(x[0], {.lower = 0.1, .upper = 0.4})}; }},
      {"tanhshrink", of(rc::tanhshrink)},
      {"softsign", of(rc::softsign)},
      {"selu", of(rc::selu)},
      {"celu", of(rc::celu)},
      {"celu alpha", [](X x) { return List{celu(x[0], 0.5)}; }},
      {"celu kink", [](X x) { return List{celu(x[0], 0.5)}; }},
      {"mish", of(rc::mish)},
      {"mish of large", of(rc::mish)},
      {"glu", of(rc::glu)},
      {"glu dim", [](X x) { return List{glu(x[0], 0)}; }},
      {"softmin", [](X x) { return List{softmin(x[0], 1)}; }},
  };
  return table;
}

const Table& elementwise() {
  static const Table table = {
      {"heaviside kink", of(rc::heaviside)},
      {"signbit", of(rc::signbit)},
      {"signbit whole", of(rc::signbit)},
      {"isposinf", of(rc::isposinf)},
      {"isneginf", of(rc::isneginf)},
      {"isreal", of(rc::isreal)},
      {"float_power", of(rc::float_power)},
      {"float_power whole", [](X x) { return List{float_power(x[0], 3)}; }},
      {"ldexp", of(rc::ldexp)},
      {"logaddexp2", of(rc::logaddexp2)},
      {"logaddexp2 kink", of(rc::logaddexp2)},
      {"xlog1py", of(rc::xlog1py)},
      {"xlog1py of 0", of(rc::xlog1py)},
      {"entr", of(rc::entr)},
      {"entr edge kink", [](X x) { return List{detach(entr(x[0]))}; }},
      {"logit", of(rc::logit)},
      {"logit eps", [](X x) { return List{logit(x[0], 0.2)}; }},
      {"polar", of(rc::polar)},
      {"ndtr", of(rc::ndtr)},
      {"ndtri", of(rc::ndtri)},
      {"erfinv", of(rc::erfinv)},
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
      {"nansum", of(rc::nansum)},
      {"nansum dim", [](X x) { return List{nansum(x[0], 0, true)}; }},
      {"nanmean kink", of(rc::nanmean)},
      {"nanmean dim kink", [](X x) { return List{nanmean(x[0], 1)}; }},
      {"nanmedian kink", of(rc::nanmedian)},
      {"nanmedian dim kink", [](X x) { return both(nanmedian(x[0], 1)); }},
      {"kthvalue", [](X x) { return both(kthvalue(x[0], 2)); }},
      {"kthvalue dim", [](X x) { return both(kthvalue(x[0], 3, 0, true)); }},
      {"msort", of(rc::msort)},
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
      {"cov", of(rc::cov)},
      {"cov of one", of(rc::cov)},
      {"cov weights", [](X x) { return List{cov(x[0], {.correction = 0, .fweights = x[1], .aweights = x[2]})}; }},
      {"cov aweights", [](X x) { return List{cov(x[0], {.aweights = x[1]})}; }},
      {"cov complex", of(rc::cov)},
      {"corrcoef", of(rc::corrcoef)},
      {"bincount reads", [](X x) { return List{bincount(x[0])}; }},
      {"bincount reads weights", [](X x) { return List{bincount(x[0], x[1], 6)}; }},
      {"histc", [](X x) { return List{histc(x[0], 5)}; }},
      {"histc range", [](X x) { return List{histc(x[0], 4, -1, 1.5)}; }},
      {"histogram", [](X x) { return both(histogram(x[0], 5)); }},
      {"histogram weight density",
       [](X x) { return both(histogram(x[0], 4, {.low = -1, .high = 1.5, .weight = x[1], .density = true})); }},
      {"histogram edges", [](X x) { return both(histogram(x[0], x[1])); }},
      {"unique_consecutive reads", of(rc::unique_consecutive)},
      {"diff", of(rc::diff)},
      {"diff n", [](X x) { return List{diff(x[0], 2, 0)}; }},
      {"diff of no order", [](X x) { return List{diff(x[0], 0, -1, x[1], x[2])}; }},
      {"diff prepend append", [](X x) { return List{diff(x[0], 1, -1, x[1], x[2])}; }},
      {"gradient", [](X x) { return gradient(x[0]); }},
      {"gradient spacing", [](X x) { return gradient(x[0], {.spacing = 0.3, .dims = {1}, .edge_order = 2}); }},
      {"gradient places",
       [](X x) { return gradient(x[0], {.spacing = rc::tensor({0, 0.5, 0.7, 2, 2.5}, rc::float64), .dims = {0}}); }},
      {"trapezoid", [](X x) { return List{trapezoid(x[0])}; }},
      {"trapezoid dx", [](X x) { return List{trapezoid(x[0], 0.3, 0)}; }},
      {"trapezoid x", [](X x) { return List{trapezoid(x[0], x[1])}; }},
      {"trapezoid x dim", [](X x) { return List{trapezoid(x[0], x[1], 0)}; }},
      {"cumulative_trapezoid", [](X x) { return List{cumulative_trapezoid(x[0])}; }},
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
      {"fliplr", of(rc::fliplr)},
      {"flipud", of(rc::flipud)},
      {"rot90 -1", [](X x) { return List{rot90(x[0], -1)}; }},
      {"rot90 0", [](X x) { return List{rot90(x[0], 0)}; }},
      {"rot90 1", of(rc::rot90)},
      {"rot90 2", [](X x) { return List{rot90(x[0], 2)}; }},
      {"rot90 3", [](X x) { return List{rot90(x[0], 3)}; }},
      {"rot90 dims", [](X x) { return List{rot90(x[0], 1, {2, 0})}; }},
      {"diagflat", of(rc::diagflat)},
      {"diagflat offset", [](X x) { return List{diagflat(x[0], -1)}; }},
      {"mH", of(rc::mH)},
      {"sum_to_size", [](X x) { return List{sum_to_size(x[0], {1, 4})}; }},
      {"hstack", of(rc::hstack)},
      {"hstack of vectors", of(rc::hstack)},
      {"vstack", of(rc::vstack)},
      {"vstack of vectors", of(rc::vstack)},
      {"dstack", of(rc::dstack)},
      {"dstack of vectors", of(rc::dstack)},
      {"column_stack", of(rc::column_stack)},
      {"column_stack of vectors", of(rc::column_stack)},
      {"hsplit", [](X x) { return hsplit(x[0], 2); }},
      {"hsplit indices", [](X x) { return hsplit(x[0], rc::Shape{1, 2}); }},
      {"vsplit", [](X x) { return vsplit(x[0], 3); }},
      {"vsplit indices", [](X x) { return vsplit(x[0], rc::Shape{1}); }},
      {"dsplit", [](X x) { return dsplit(x[0], 2); }},
      {"dsplit indices", [](X x) { return dsplit(x[0], rc::Shape{1}); }},
      {"addmv", of(rc::addmv)},
      {"addr", of(rc::addr)},
      {"addbmm", of(rc::addbmm)},
      {"baddbmm", of(rc::baddbmm)},
      {"block_diag", of(rc::block_diag)},
      {"cartesian_prod", of(rc::cartesian_prod)},
      {"combinations", of(rc::combinations)},
      {"combinations 3", [](X x) { return List{combinations(x[0], 3, true)}; }},
      {"index_copy", [](X x) { return List{index_copy(x[0], 1, x[1], x[2])}; }},
      {"masked_scatter", of(rc::masked_scatter)},
      {"put", of(rc::put)},
      {"put accumulate", [](X x) { return List{put(x[0], x[1], x[2], true)}; }},
      {"isin", of(rc::isin)},
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
      {"logaddexp complex", of(rc::logaddexp)},
      {"lerp complex", of(rc::lerp)},
      {"silu complex", of(rc::silu)},
      {"nan_to_num complex", of(rc::nan_to_num)},
      {"l1_loss complex", [](X x) { return List{l1_loss(x[0], x[1])}; }},
      {"square boolean", of(rc::square)},
  };
  return table;
}

}  // namespace laws
