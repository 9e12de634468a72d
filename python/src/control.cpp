// Branches and loops over Python functions: the templates of ricci/control.h, of trees of Python's containers.
#include "ricci/control.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "callback.h"
#include "ricci/ops.h"
#include "sizes.h"
#include "transforms.h"
#include "words.h"

namespace ricci::python {
namespace {

Tree cond_of(const Tensor& pred, const Callback& true_fn, const Callback& false_fn, const Tree& operands) {
  return ricci::cond(pred, true_fn, false_fn, operands);
}

nb::object cond(const Tensor& pred, nb::handle true_fn, nb::handle false_fn, nb::args operands) {
  return given_back(cond_of(pred, {true_fn, "cond", true}, {false_fn, "cond", true}, tree_of(operands)));
}

constexpr std::size_t most_branches = 8;  // of one switch_case of C++

/// As many branches as the array has.
template <std::size_t... K>
Tree switch_of(const Tensor& index, std::span<const Callback> branches, const Tree& operands,
               std::index_sequence<K...> those) {
  if (branches.size() == those.size()) return ricci::switch_case(index, std::tuple{branches[K]...}, operands);
  if constexpr (those.size() < most_branches)
    return switch_of(index, branches, operands, std::make_index_sequence<those.size() + 1>());
  // More are two halves.
  const std::size_t half = branches.size() / 2;
  const auto part = [&](std::span<const Callback> some, std::size_t from) {
    return [&index, some, from](const Tree& t) {
      return switch_of(index - static_cast<std::int64_t>(from), some, t, std::make_index_sequence<1>());
    };
  };
  return ricci::cond(ops::lt(index, static_cast<std::int64_t>(half)), part(branches.first(half), 0),
                     part(branches.subspan(half), half), operands);
}

nb::object switch_case(const Tensor& index, nb::handle given, nb::args operands) {
  std::vector<Callback> branches;
  for (nb::handle f : given) branches.emplace_back(f, "switch_case", true);
  if (branches.empty()) throw ValueError("switch_case: there is no branch; pass a list of functions");
  const Tensor checked = runs::checked_index(index, static_cast<std::int64_t>(branches.size()));
  return given_back(switch_of(checked, branches, tree_of(operands), std::make_index_sequence<1>()));
}

LoopOptions loop_options(std::int64_t max_steps, const std::string& checkpoint) {
  return {.max_steps = max_steps, .checkpoint = word_of(checkpoint, checkpoints, "while_loop", "checkpoint")};
}

nb::object while_loop(nb::handle cond_fn, nb::handle body_fn, nb::handle state, std::int64_t max_steps,
                      const std::string& checkpoint) {
  const TensorCallback condition(cond_fn, "while_loop", "the condition must return a Tensor or a bool");
  const Callback body(body_fn, "while_loop");
  return given_back(ricci::while_loop(condition, body, tree_of(state), loop_options(max_steps, checkpoint)));
}

nb::object fori_loop(nb::handle lower, nb::handle upper, nb::handle body_fn, nb::handle state, std::int64_t max_steps,
                     const std::string& checkpoint) {
  const Callback body(body_fn, "fori_loop");
  const LoopOptions options = loop_options(max_steps, checkpoint);
  Size low, high;
  if (size_from(lower.ptr(), low) && size_from(upper.ptr(), high))
    return given_back(ricci::fori_loop(low, high, body, tree_of(state), options));
  return given_back(ricci::fori_loop(nb::cast<Tensor>(lower), nb::cast<Tensor>(upper), body, tree_of(state), options));
}

nb::object scan(nb::handle step, nb::handle carry, nb::handle xs, std::int64_t dim, bool reverse) {
  const PairCallback f(step, "scan", "the step must return a tuple (carry, y)");
  const auto [last, ys] = ricci::scan(f, tree_of(carry), tree_of(xs), {.dim = dim, .reverse = reverse});
  return nb::make_tuple(given_back(last), rebuild(ys));
}

nb::object map(nb::handle f, nb::handle xs) { return given_back(ricci::map(Callback(f, "map"), tree_of(xs))); }

nb::object associative_scan(nb::handle combine, nb::handle xs, std::int64_t dim, bool reverse) {
  const Callback f(combine, "associative_scan");
  return given_back(ricci::associative_scan(f, tree_of(xs), ScanOptions{.dim = dim, .reverse = reverse}));
}

}  // namespace

void make_control(nb::module_& m) {
  m.def("cond", cond, nb::arg("pred"), nb::arg("true_fn"), nb::arg("false_fn"), nb::arg("operands"),
        "true_fn(*operands) if pred else false_fn(*operands), for a predicate of one element. Under vmap each branch "
        "runs once, on the examples that take it.");
  m.def("switch_case", switch_case, nb::arg("index"), nb::arg("branches"), nb::arg("operands"),
        "branches[index](*operands), for an index of one element.");
  m.def("while_loop", while_loop, nb::arg("cond_fn"), nb::arg("body_fn"), nb::arg("state").none(), nb::kw_only(),
        nb::arg("max_steps") = 1'000'000'000, nb::arg("checkpoint") = "every_step",
        "while cond_fn(state): state = body_fn(state); the state is one tree. Under vmap each example takes as many "
        "steps as it needs. checkpoint: what reverse mode keeps, \"every_step\", \"sqrt\" or \"log\".");
  m.def("fori_loop", fori_loop, nb::arg("lower"), nb::arg("upper"), nb::arg("body_fn"), nb::arg("state").none(),
        nb::kw_only(), nb::arg("max_steps") = 1'000'000'000, nb::arg("checkpoint") = "every_step",
        "for i in range(lower, upper): state = body_fn(i, state), with i an int64 Tensor.");
  m.def("scan", scan, nb::arg("step"), nb::arg("carry").none(), nb::arg("xs"), nb::kw_only(), nb::arg("dim") = 0,
        nb::arg("reverse") = false,
        "(carry, ys) of carry, y = step(carry, x) over the slices x of xs along axis dim; the ys are stacked along "
        "axis 0.");
  m.def("map", map, nb::arg("f"), nb::arg("xs"),
        "f on every slice of xs along axis 0, one after the other; the results are stacked.");
  m.def("associative_scan", associative_scan, nb::arg("combine"), nb::arg("xs"), nb::arg("dim") = 0, nb::kw_only(),
        nb::arg("reverse") = false,
        "All prefixes of xs along dim, combined by an associative combine(a, b), in about 2 log2(n) calls of it.");
}

}  // namespace ricci::python
