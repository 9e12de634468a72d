// A pose graph: a robot drives three times around a rising helix and measures, with noise, how it moves from each place
// to the next, and how places of one round stand to those of the next. The chain of its motions drifts away from the
// truth; least squares over all measurements takes most of the drift back, and a robust loss does so where some places
// were mistaken for others. The program prints the mean distance of the poses from the truth and fails unless that is
// seen.
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include <cstdio>
#include <exception>
#include <numbers>
#include <utility>
#include <vector>

namespace rc = ricci;
namespace solvers = rc::solvers;
using rc::Tensor;
using solvers::SE3, solvers::SO3;

namespace {

constexpr std::int64_t poses = 30, in_round = 10;

struct Graph {
  Tensor from, to;  // [edges]: numbers of poses
  SE3 motions;      // [edges]: measured, of the second as the first one sees it
};

SE3 at(const SE3& all, const Tensor& places) {
  return {{index_select(all.rotation.quaternion, 0, places)}, index_select(all.translation, 0, places)};
}

/// [poses], with a radius of 5 m and a rise of 1.3 m a round.
SE3 helix() {
  const Tensor angle = rc::arange(poses).to(rc::float64) * (2 * std::numbers::pi / in_round),
               none = rc::zeros_like(angle);
  return {SO3::exp(rc::stack({none, none, angle}, 1)), rc::stack({5 * cos(angle), 5 * sin(angle), 0.2 * angle}, 1)};
}

/// Every second place of a round is seen again from the next; so many of those are taken for others.
Graph measured(const SE3& truth, std::int64_t mistakes) {
  std::vector<std::int64_t> from, to, seen;
  for (std::int64_t i = 0; i + 1 < poses; ++i) from.push_back(i), to.push_back(i + 1);
  seen = to;
  for (std::int64_t i = 0; i + in_round < poses; i += 2) {
    from.push_back(i), to.push_back(i + in_round);
    seen.push_back(i % 6 == 0 && mistakes-- > 0 ? (i + in_round / 2) % poses : i + in_round);
  }
  const Tensor places = rc::tensor(from);
  const SE3 motions = at(truth, places).inverse() * at(truth, rc::tensor(seen));
  const Tensor noise = 0.03 * rc::normal(rc::Key(1), {places.size(0), 6}, rc::float64);
  return {places, rc::tensor(to), motions.retract(noise)};
}

/// From the first pose on, one motion after the other.
SE3 chained(const Graph& graph, const SE3& first) {
  const auto step = [](const SE3& pose, const SE3& motion) {
    const SE3 next = pose * motion;
    return std::pair{next, next};
  };
  const SE3 rest = rc::scan(step, first, at(graph.motions, rc::arange(poses - 1))).second;
  return {{rc::cat({first.rotation.quaternion.unsqueeze(0), rest.rotation.quaternion}, 0)},
          rc::cat({first.translation.unsqueeze(0), rest.translation}, 0)};
}

/// A function of a graph: the poses that fit all of its measurements best. The first pose is given. The function is
/// compiled once, for all graphs of as many poses and measurements.
auto fitting(const SE3& start, const solvers::Loss& loss) {
  const auto moved = [start](const Tensor& change) {  // [poses - 1, 6]
    return start.retract(rc::cat({rc::zeros({1, 6}, rc::float64), change}, 0));
  };
  const auto solved = rc::compile([=](const Graph& graph) {
    const auto errors = [&](const Tensor& change) {
      const SE3 all = moved(change);
      return (graph.motions.inverse() * (at(all, graph.from).inverse() * at(all, graph.to))).log();
    };
    return solvers::least_squares(errors, rc::zeros({poses - 1, 6}, rc::float64),
                                  {.loss = loss, .throw_on_failure = true});
  });
  return [=](const Graph& graph) {
    const auto found = solved(graph);
    std::printf("  %lld steps, greatest slope %.1e\n", static_cast<long long>(found.steps.item<std::int64_t>()),
                found.residual.item<double>());
    return moved(found.value);
  };
}

/// In metres.
double distance(const char* name, const SE3& found, const SE3& truth) {
  const Tensor apart = square(found.translation - truth.translation).sum(1).sqrt();
  const double mean = apart.mean().item<double>();
  std::printf("%-36s %.3f m\n", name, mean);
  return mean;
}

}  // namespace

int main() try {  // quick as it is: `--quick` changes nothing
  const SE3 truth = helix(), first{{truth.rotation.quaternion[0]}, truth.translation[0]};
  const Graph graph = measured(truth, 0), mistaken = measured(truth, 3);
  const SE3 start = chained(graph, first);
  const double chain = distance("the chain of motions", start, truth);
  const auto by_squares = fitting(start, {}), by_cauchy = fitting(start, solvers::cauchy(0.05));
  const double squares = distance("least squares", by_squares(graph), truth);
  const double misled = distance("least squares, with mistakes", by_squares(mistaken), truth);
  const double robust = distance("Cauchy's loss, with mistakes", by_cauchy(mistaken), truth);
  return squares < chain / 2 && robust < chain / 2 && misled > 2 * robust ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "pose_graph: %s\n", error.what());
  return 1;
}
