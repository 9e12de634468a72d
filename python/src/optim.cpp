// Optimisers and schedules in Python, under ricci.optim: the C++ ones over Python's trees.
#include "ricci/optim.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "callback.h"
#include "transforms.h"
#include "tree.h"

namespace ricci::python {
namespace {

using namespace optim;

/// A schedule as Python calls it.
struct PythonSchedule {
  Schedule schedule;
};

Schedule schedule_from(nb::handle given, const char* user) {
  if (nb::isinstance<PythonSchedule>(given)) return nb::cast<const PythonSchedule&>(given).schedule;
  return TensorCallback(given, user, "a schedule must return a Tensor or a number");
}

Rate rate_from(nb::handle given, const char* user) {
  Tensor number;
  if (is_tensor(given.ptr())) return tensor_of(given.ptr());
  if (PyFloat_Check(given.ptr())) return PyFloat_AS_DOUBLE(given.ptr());
  if (number_from(given.ptr(), number)) return number;
  if (!PyCallable_Check(given.ptr()))
    throw TypeError(std::string(user) + ": a rate is a number, a Tensor or a function of the count, not " +
                    name_of_type(given.ptr()));
  return schedule_from(given, user);
}

Mask mask_from(nb::handle given, const char* user) {
  if (given.is_none()) return {};
  require_function(given, user);
  return [f = Held(nb::borrow(given))](const std::string& name) {
    const nb::gil_scoped_acquire lock;
    return truth_of(call(nb::handle(f.get()), nb::make_tuple(name)).ptr());
  };
}

using PythonState = State<Tree>;

nb::object class_of_states() { return nb::module_::import_("ricci.optim").attr("State"); }  // a dataclass

nb::object state_to(const PythonState& state) {
  nb::dict moments;
  for (const auto& [name, moment] : state.moments) moments[name.c_str()] = rebuild(moment);
  return class_of_states()(state.count, moments);
}
PythonState state_from(nb::handle state) {
  if (!nb::isinstance(state, class_of_states()))
    throw TypeError("update: a state is what init or update gave, not " + name_of_type(state.ptr()));
  PythonState result{nb::cast<Tensor>(state.attr("count")), {}};
  for (const auto& [name, moment] : nb::cast<nb::dict>(state.attr("moments")))
    result.moments.emplace(nb::cast<std::string>(name), tree_of(moment));
  return result;
}

void make_schedules(nb::module_& m) {
  nb::class_<PythonSchedule>(m, "Schedule", "A function from the number of steps before this one to a number.")
      .def(
          "__call__", [](const PythonSchedule& self, const Tensor& count) { return self.schedule(count); },
          nb::arg("count"));
  m.def(
      "cosine_decay",
      [](const Tensor& init_value, std::int64_t decay_steps, const Tensor& alpha, const Tensor& exponent) {
        return PythonSchedule{cosine_decay(init_value, decay_steps, {alpha, exponent})};
      },
      nb::arg("init_value"), nb::arg("decay_steps"), nb::arg("alpha") = 0.0, nb::arg("exponent") = 1.0,
      "init_value times a half of a cosine's wave, down to alpha times init_value.");
  m.def(
      "warmup_cosine",
      [](const Tensor& init_value, const Tensor& peak_value, std::int64_t warmup_steps, std::int64_t decay_steps,
         const Tensor& end_value, const Tensor& exponent) {
        return PythonSchedule{warmup_cosine(init_value, peak_value, warmup_steps, decay_steps, {end_value, exponent})};
      },
      nb::arg("init_value"), nb::arg("peak_value"), nb::arg("warmup_steps"), nb::arg("decay_steps"),
      nb::arg("end_value") = 0.0, nb::arg("exponent") = 1.0,
      "A line to peak_value, then a cosine to end_value; decay_steps count from the start.");
  m.def(
      "exponential_decay",
      [](const Tensor& init_value, std::int64_t transition_steps, double decay_rate, std::int64_t transition_begin,
         bool staircase, std::optional<double> end_value) {
        return PythonSchedule{
            exponential_decay(init_value, transition_steps, decay_rate, {transition_begin, staircase, end_value})};
      },
      nb::arg("init_value"), nb::arg("transition_steps"), nb::arg("decay_rate"), nb::arg("transition_begin") = 0,
      nb::arg("staircase") = false, nb::arg("end_value").none() = nb::none(),
      "init_value decay_rate ** ((count - transition_begin) / transition_steps).");
  m.def(
      "piecewise",
      [](const Tensor& init_value, const nb::dict& boundaries_and_scales) {
        std::map<std::int64_t, double> scales;
        for (const auto& [boundary, scale] : boundaries_and_scales)
          scales[nb::cast<std::int64_t>(boundary)] = nb::cast<double>(scale);
        return PythonSchedule{piecewise(init_value, scales)};
      },
      nb::arg("init_value"), nb::arg("boundaries_and_scales"),
      "init_value, multiplied by each scale from its boundary on.");
  m.def(
      "linear_schedule",
      [](const Tensor& init_value, const Tensor& end_value, std::int64_t transition_steps,
         std::int64_t transition_begin) {
        return PythonSchedule{linear_schedule(init_value, end_value, transition_steps, transition_begin)};
      },
      nb::arg("init_value"), nb::arg("end_value"), nb::arg("transition_steps"), nb::arg("transition_begin") = 0,
      "A line from init_value to end_value.");
  m.def(
      "join_schedules",
      [](const nb::list& schedules, const nb::list& boundaries) {
        std::vector<Schedule> all;
        for (nb::handle schedule : schedules) all.push_back(schedule_from(schedule, "join_schedules"));
        std::vector<std::int64_t> counts;
        for (nb::handle boundary : boundaries) counts.push_back(nb::cast<std::int64_t>(boundary));
        return PythonSchedule{join_schedules(all, counts)};
      },
      nb::arg("schedules"), nb::arg("boundaries"), "One schedule after the other.");
}

void make_optimisers(nb::module_& m) {
  const nb::arg rate("learning_rate");
  m.def(
      "sgd",
      [](nb::handle learning_rate, const Tensor& momentum, bool nesterov) {
        return sgd(rate_from(learning_rate, "sgd"), {momentum, nesterov});
      },
      rate, nb::arg("momentum").none() = nb::none(), nb::arg("nesterov") = false,
      "-rate g. With momentum: m = g + momentum m, and -rate m, or -rate (g + momentum m) with nesterov.");
  m.def(
      "momentum",
      [](nb::handle learning_rate, const Tensor& decay) {
        return momentum(rate_from(learning_rate, "momentum"), decay);
      },
      rate, nb::arg("momentum") = 0.9, "sgd with momentum.");
  m.def(
      "nesterov",
      [](nb::handle learning_rate, const Tensor& decay) {
        return nesterov(rate_from(learning_rate, "nesterov"), decay);
      },
      rate, nb::arg("momentum") = 0.9, "sgd with Nesterov's momentum.");
  m.def(
      "adam",
      [](nb::handle learning_rate, const Tensor& b1, const Tensor& b2, const Tensor& eps, const Tensor& eps_root,
         bool nesterov) { return adam(rate_from(learning_rate, "adam"), {b1, b2, eps, eps_root, nesterov}); },
      rate, nb::arg("b1") = 0.9, nb::arg("b2") = 0.999, nb::arg("eps") = 1e-8, nb::arg("eps_root") = 0.0, nb::kw_only(),
      nb::arg("nesterov") = false,
      "m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) |g|^2; -rate m' / (sqrt(v' + eps_root) + eps), where m' and v' are m "
      "and v without what they began with.");
  m.def(
      "adamw",
      [](nb::handle learning_rate, const Tensor& b1, const Tensor& b2, const Tensor& eps, const Tensor& eps_root,
         nb::handle weight_decay, nb::handle mask, bool nesterov) {
        return adamw(rate_from(learning_rate, "adamw"),
                     {b1, b2, eps, eps_root, rate_from(weight_decay, "adamw"), mask_from(mask, "adamw"), nesterov});
      },
      rate, nb::arg("b1") = 0.9, nb::arg("b2") = 0.999, nb::arg("eps") = 1e-8, nb::arg("eps_root") = 0.0,
      nb::arg("weight_decay") = 1e-4, nb::arg("mask").none() = nb::none(), nb::kw_only(), nb::arg("nesterov") = false,
      "adam, with weight_decay p added before the rate. The mask picks by name which parameters decay.");
  m.def(
      "lamb",
      [](nb::handle learning_rate, const Tensor& b1, const Tensor& b2, const Tensor& eps, const Tensor& eps_root,
         nb::handle weight_decay, nb::handle mask) {
        return lamb(rate_from(learning_rate, "lamb"),
                    {b1, b2, eps, eps_root, rate_from(weight_decay, "lamb"), mask_from(mask, "lamb")});
      },
      rate, nb::arg("b1") = 0.9, nb::arg("b2") = 0.999, nb::arg("eps") = 1e-6, nb::arg("eps_root") = 0.0,
      nb::arg("weight_decay") = 0.0, nb::arg("mask").none() = nb::none(),
      "adamw, where the update of each parameter is scaled by |p| / |update| before the rate.");
  m.def(
      "lion",
      [](nb::handle learning_rate, const Tensor& b1, const Tensor& b2, nb::handle weight_decay, nb::handle mask) {
        return lion(rate_from(learning_rate, "lion"),
                    {b1, b2, rate_from(weight_decay, "lion"), mask_from(mask, "lion")});
      },
      rate, nb::arg("b1") = 0.9, nb::arg("b2") = 0.99, nb::arg("weight_decay") = 1e-3,
      nb::arg("mask").none() = nb::none(),
      "-rate (sign(b1 m + (1 - b1) g) + weight_decay p), then m = b2 m + (1 - b2) g.");
  m.def(
      "rmsprop",
      [](nb::handle learning_rate, const Tensor& decay, const Tensor& eps, const Tensor& initial_scale,
         bool eps_in_sqrt, bool centered, const Tensor& momentum, bool nesterov, bool bias_correction) {
        return rmsprop(rate_from(learning_rate, "rmsprop"),
                       {decay, eps, initial_scale, eps_in_sqrt, centered, momentum, nesterov, bias_correction});
      },
      rate, nb::arg("decay") = 0.9, nb::arg("eps") = 1e-8, nb::arg("initial_scale") = 0.0,
      nb::arg("eps_in_sqrt") = true, nb::arg("centered") = false, nb::arg("momentum").none() = nb::none(),
      nb::arg("nesterov") = false, nb::arg("bias_correction") = false,
      "v = decay v + (1 - decay) g^2, and -rate g / sqrt(v + eps); centered takes the squared mean of g off v.");
  m.def(
      "adagrad",
      [](nb::handle learning_rate, const Tensor& initial_accumulator_value, const Tensor& eps) {
        return adagrad(rate_from(learning_rate, "adagrad"), {initial_accumulator_value, eps});
      },
      rate, nb::arg("initial_accumulator_value") = 0.1, nb::arg("eps") = 1e-7,
      "v = v + g^2, and -rate g / sqrt(v + eps), 0 where v is 0.");
}

void make_steps(nb::module_& m) {
  m.def("clip", &clip, nb::arg("max_delta"), "Updates clamped to [-max_delta, max_delta].");
  m.def("clip_by_global_norm", &clip_by_global_norm, nb::arg("max_norm"),
        "All updates scaled so that their common norm is at most max_norm.");
  m.def(
      "add_decayed_weights",
      [](nb::handle weight_decay, nb::handle mask) {
        return add_decayed_weights(rate_from(weight_decay, "add_decayed_weights"),
                                   mask_from(mask, "add_decayed_weights"));
      },
      nb::arg("weight_decay"), nb::arg("mask").none() = nb::none(), "Updates plus weight_decay times the parameters.");
  m.def(
      "scale_by_schedule",
      [](nb::handle step_size) { return scale_by_schedule(schedule_from(step_size, "scale_by_schedule")); },
      nb::arg("step_size_fn"), "Updates times a schedule's number.");
  m.def(
      "scale_by_learning_rate",
      [](nb::handle learning_rate) {
        return scale_by_learning_rate(rate_from(learning_rate, "scale_by_learning_rate"));
      },
      nb::arg("learning_rate"), "Updates times -learning_rate.");
  m.def(
      "chain",
      [](const nb::args& optimisers) {
        std::vector<Optimiser> all;
        for (nb::handle optimiser : optimisers) all.push_back(nb::cast<const Optimiser&>(optimiser));
        return chain(all);
      },
      nb::arg("optimisers"), "One after the other: each gets the updates of the one before.");
  m.def(
      "masked", [](const Optimiser& inner, nb::handle mask) { return masked(inner, mask_from(mask, "masked")); },
      nb::arg("inner"), nb::arg("mask"), "The optimiser on the parameters whose names the mask picks.");
  m.def(
      "apply_updates",
      [](nb::handle params, nb::handle updates) { return rebuild(apply_updates(tree_of(params), tree_of(updates))); },
      nb::arg("params"), nb::arg("updates"), "params + updates, in the parameters' dtypes.");
}

}  // namespace

void make_optim(nb::module_& module) {
  nb::module_ m = module.def_submodule("_optim");
  nb::class_<Optimiser>(m, "Optimiser", "A pair of pure functions over trees: init and update.")
      .def(
          "init", [](const Optimiser& self, nb::handle params) { return state_to(self.init(tree_of(params))); },
          nb::arg("params"), "The first state.")
      .def(
          "update",
          [](const Optimiser& self, nb::handle grads, nb::handle state, nb::handle params) {
            const auto [updates, next] = self.update(tree_of(grads), state_from(state), tree_of(params));
            return nb::make_tuple(rebuild(updates), state_to(next));
          },
          nb::arg("grads"), nb::arg("state"), nb::arg("params"), "What to add to the parameters, and the next state.");
  make_schedules(m);
  make_optimisers(m);
  make_steps(m);
}

}  // namespace ricci::python
