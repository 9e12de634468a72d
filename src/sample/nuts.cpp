// The no-U-turn sampler as one loop, each turn of which is a leapfrog step.
//
// The trajectory is doubled: a subtree of as many steps as the trajectory has is added at its left or right end, until
// one turns back. Whether a part of a subtree turns back is asked as soon as its last step is taken. Parts are those of
// a binary tree: of the steps 0, 1, 2, 3 these are 0-1, 2-3 and 0-3. A part is checked at its last step, which is odd.
// A step whose number ends in k binary ones ends k parts: step 3 = 11 ends 2-3 and 0-3. The check needs the part's
// first step, which is even. So each even step leaves a row; the row's number is how many ones the step's number has:
// step 0 row 0, step 2 = 10 row 1, step 6 = 110 row 2.
//
// A part from momentum f to momentum l turns back where v(f)·i <= 0 or v(l)·i <= 0: v are velocities, i is the sum of
// the part's momenta less (f + l) / 2. With the sum m of the subtree up to l, and t, the sum before f plus f / 2, i is
// (m - l / 2) - t. So a row keeps f, t and v(f)·t, and each row costs two inner products.
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "ops/constants.h"
#include "ricci/control.h"
#include "ricci/ops.h"
#include "sample/sampler.h"

namespace ricci::samplers {
namespace {

/// Of the parts that are not complete, as above.
struct Rows {
  Tensor firsts, before;    // [depth, n]: f, t
  Tensor firsts_by_before;  // [depth]: v(f)·t
};
/// The part of a trajectory that is being added.
struct Subtree {
  State<Tensor> proposal;
  Tensor weight;   // log of the sum of exp(start's energy - energy)
  Tensor momenta;  // their sum [n]
  Tensor steps;    // so far, as a floating number: these divide without a check for 0
  Tensor goes_right;
  Rows rows;
};
struct Tree {
  Phase left, right;
  State<Tensor> proposal;
  Tensor weight, momenta;
  Tensor size;  // its steps, a power of two
  Subtree added;
  Tensor acceptance, steps, is_divergent, has_ended;
};

/// The tables after a step, and whether a part that ends with it turns back.
std::pair<Rows, Tensor> after_step(const Metric& metric, const Tensor& powers, const Subtree& s, const Tensor& momentum,
                                   const Tensor& momenta) {
  const Tensor rows = arange(powers.shape()[0]), shifted = floor(s.steps / powers);
  const Tensor bits = shifted - 2 * floor(0.5 * shifted);
  const Tensor row = bits.sum() - bits[0];       // the ones, without the last bit
  const Tensor ending = cumprod(bits, 0).sum();  // ones at the end: parts that this step completes
  const Tensor velocity = metric.velocity(momentum), inner = momenta - 0.5 * momentum;

  const Tensor by_last = dot(velocity, inner) - matmul(s.rows.before, velocity);
  const Tensor by_first = matmul(s.rows.firsts, metric.velocity(inner)) - s.rows.firsts_by_before;
  const Tensor completes = logical_and(rows > row - ending, rows <= row);
  const Tensor turning = logical_and(completes, logical_or(by_last <= 0, by_first <= 0)).any();

  const Tensor begins = logical_and(bits[0] == 0, rows == row), begins_row = begins.unsqueeze(1);
  return {{where(begins_row, momentum, s.rows.firsts), where(begins_row, inner, s.rows.before),
           where(begins, dot(velocity, inner), s.rows.firsts_by_before)},
          turning};
}

/// Whether a trajectory turns back: the momenta at its ends, and their sum.
Tensor turns(const Metric& metric, const Tensor& left, const Tensor& right, const Tensor& sum) {
  const Tensor along = metric.velocity(sum - 0.5 * (left + right));
  return logical_or(dot(left, along) <= 0, dot(right, along) <= 0);
}

}  // namespace

std::pair<State<Tensor>, Info> nuts_step(const Trajectory& t, const State<Tensor>& state) {
  const DType dtype = state.position.dtype();
  const auto [of_momentum, of_steps] = split(t.key);
  const Phase start{state, t.metric.momentum(normal(of_momentum, state.position.shape(), dtype))};
  const Tensor start_energy = energy_of(t.metric, start);
  const Tensor powers = exp2(arange(t.sampler.steps, float64));
  const Tensor zero = zeros({}, dtype), none = zeros({}, float64), no = zeros({}, boolean);
  const Tensor nothing = zeros_like(state.position), table = zeros({t.sampler.steps, nothing.shape()[0]}, dtype);
  const auto choice = [&, key = of_steps](const Tensor& steps) { return uniform(fold_in(key, steps), {2}, dtype); };

  const auto step = [&](const Tree& tree) {
    const Subtree& s = tree.added;
    const Tensor random = choice(tree.steps), is_low = random[1] < 0.5;
    const Phase end = leapfrog(t.f, t.metric, chosen(s.goes_right, tree.right, tree.left),
                               where(s.goes_right, t.step_size, -t.step_size));
    const Tensor error = energy_of(t.metric, end) - start_energy, weight = -error;

    Tree next = tree;
    next.left = chosen(s.goes_right, tree.left, end), next.right = chosen(s.goes_right, end, tree.right);
    next.acceptance = tree.acceptance + exp(-clamp_min(error, 0));
    next.steps = tree.steps + 1;
    next.is_divergent = error > largest_energy_error;

    // The subtree with this step.
    Subtree& added = next.added;
    added.weight = logaddexp(s.weight, weight);
    added.proposal = chosen(random[0] < exp(weight - added.weight), end.at, s.proposal);
    added.momenta = s.momenta + end.momentum;
    const auto [tables, turning] = after_step(t.metric, powers, s, end.momentum, added.momenta);
    added.rows = tables;
    added.steps = s.steps + 1;

    // The trajectory with the subtree, if that is complete and did not turn back. The first bit of a random number
    // chooses the next direction; the others are a random number, too.
    const Tensor fails = logical_or(turning, next.is_divergent);
    const Tensor joins = logical_and(added.steps == tree.size, logical_not(fails));
    next.proposal = chosen(logical_and(joins, 2 * random[1] - where(is_low, 0, 1) < exp(added.weight - tree.weight)),
                           added.proposal, tree.proposal);
    next.weight = where(joins, logaddexp(tree.weight, added.weight), tree.weight);
    next.momenta = where(joins, tree.momenta + added.momenta, tree.momenta);
    next.size = where(joins, 2 * tree.size, tree.size);
    const Tensor turns_now = turns(t.metric, next.left.momentum, next.right.momentum, next.momenta);
    next.has_ended = logical_or(fails, logical_and(joins, logical_or(turns_now, next.size > powers[-1])));

    // The next subtree.
    added.weight = where(joins, -infinity, added.weight);
    added.momenta = where(joins, 0, added.momenta);
    added.steps = where(joins, 0, added.steps);
    added.goes_right = where(joins, is_low, s.goes_right);
    return next;
  };

  const Tensor goes_right = choice(zeros({}, int64) - 1)[1] < 0.5;
  const Subtree added{state, zero - infinity, nothing,
                      none,  goes_right,      {table, table, zeros({t.sampler.steps}, dtype)}};
  const Tree first{start, start, state, zero, start.momentum, none + 1, added, zero, zeros({}, int64), no, no};
  const Tree last = while_loop([](const Tree& tree) { return logical_not(tree.has_ended); }, step, first);
  return {last.proposal, {last.acceptance / last.steps, last.is_divergent, last.steps}};
}

}  // namespace ricci::samplers
