// Samplers in Python, under ricci.sample: the C++ ones over vectors. python/ricci/sample.py makes trees of them.
#include "ricci/sample.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <utility>

#include "callback.h"
#include "transforms.h"

namespace ricci::python {
namespace {

using namespace samplers;

LogDensity log_density_of(nb::handle f, const char* user) {
  return TensorCallback(f, user, "the log density must return a Tensor");
}
nb::object given_back(const State<Tensor>& state) {
  return nb::make_tuple(state.position, state.log_density, state.gradient);
}
nb::object given_back(const Info& info) { return nb::make_tuple(info.acceptance, info.is_divergent, info.steps); }

/// `what`, and what all samplers take.
std::string documented(const std::string& what) {
  return what +
         "\n\n`step_size`: a number, or a Tensor of no axes; `inverse_mass`: [n] or [n, n], about the variances or the "
         "covariance of the\ndistribution in the order of ravel_pytree. None: 1 and ones, from which a warm-up chooses "
         "them.";
}

void make_kinds(nb::module_& m) {
  const auto step_size = nb::arg("step_size").none() = nb::none();
  const auto inverse_mass = nb::arg("inverse_mass").none() = nb::none();
  const nb::arg target("target_acceptance");
  nb::class_<Sampler>(m, "Sampler", "A way to move a chain: nuts(), hmc(), mala() or random_walk().");
  m.def(
      "nuts",
      [](const Tensor& step, const Tensor& mass, std::int64_t max_depth, double to) {
        return nuts({step, mass, max_depth, to});
      },
      step_size, inverse_mass, nb::arg("max_depth") = 10, target = 0.8,
      documented("The no-U-turn sampler, of at most 2 ** max_depth - 1 leapfrog steps.").c_str());
  m.def(
      "hmc",
      [](const Tensor& step, const Tensor& mass, std::int64_t steps, double to) {
        return hmc({step, mass, steps, to});
      },
      step_size, inverse_mass, nb::arg("steps") = 10, target = 0.8,
      documented("Hamiltonian Monte Carlo, by `steps` leapfrog steps.").c_str());
  m.def(
      "mala", [](const Tensor& step, const Tensor& mass, double to) { return mala({step, mass, to}); }, step_size,
      inverse_mass, target = 0.574,
      documented("Metropolis-adjusted Langevin steps: hmc of one leapfrog step.").c_str());
  m.def(
      "random_walk", [](const Tensor& step, const Tensor& mass, double to) { return random_walk({step, mass, to}); },
      step_size, inverse_mass, target = 0.234, documented("Random-walk Metropolis.").c_str());
}

}  // namespace

void make_sample(nb::module_& module) {
  nb::module_ m = module.def_submodule("_sample");
  make_kinds(m);
  const nb::arg sampler("sampler"), f("log_density"), key("key");
  m.def(
      "init",
      [](const Sampler& by, nb::handle density, const Tensor& position) {
        return given_back(first_state("init", by, log_density_of(density, "init"), position));
      },
      sampler, f, nb::arg("position"));
  m.def(
      "step",
      [](const Sampler& by, nb::handle density, const Key& with, const Tensor& position, const Tensor& log_density,
         const Tensor& gradient) {
        const auto [next, info] =
            one_step(by, log_density_of(density, "step"), with, {position, log_density, gradient});
        return nb::make_tuple(given_back(next), given_back(info));
      },
      sampler, f, key, nb::arg("position"), nb::arg("value"), nb::arg("gradient"));
  m.def(
      "sample",
      [](nb::handle density, const Tensor& start, const Key& with, const Sampler& by, std::int64_t warmup,
         std::int64_t draws) {
        const auto found = sample_vector(log_density_of(density, "sample"), start, with, {by, warmup, draws});
        return nb::make_tuple(found.draws, found.log_density, given_back(found.info), found.step_size,
                              found.inverse_mass);
      },
      f, nb::arg("start"), key, sampler, nb::arg("warmup"), nb::arg("draws"));
  m.def(
      "meanfield_vi",
      [](nb::handle density, const Tensor& start, const Key& with, const optim::Optimiser& optimiser,
         std::int64_t steps, std::int64_t samples) {
        const auto found =
            fit_vector(log_density_of(density, "meanfield_vi"), start, with, {optimiser, steps, samples});
        return nb::make_tuple(found.mean, found.log_std, found.elbo);
      },
      f, nb::arg("start"), key, nb::arg("optimiser"), nb::arg("steps"), nb::arg("samples"));
  m.def("draws_of_vectors", &draws_of_vectors, nb::arg("mean"), nb::arg("log_std"), key, nb::arg("n"));
  m.def("rhat", [](const Tensor& draws) { return rhat(draws); }, nb::arg("draws"));
  m.def("ess", [](const Tensor& draws) { return ess(draws); }, nb::arg("draws"));
}

}  // namespace ricci::python
