// Transforms around functions, with options at random; most fit, some do not.
#include <memory>

#include "nestings.h"
#include "operations.h"
#include "python_text.h"

namespace fuzz {

Function summed(const Function& f) {
  return [f](const Tensor& x) { return f(x).sum(); };
}

namespace {

using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;
using WithAux = std::function<std::pair<Tensor, Tensor>(const Tensor&)>;

std::optional<std::int64_t> random_chunk(Dice& dice) {
  if (dice.chance(60)) return {};
  return dice.chance(2) ? 0 : 1 + dice.below(3);
}

rc::Randomness random_mode(Dice& dice) {
  return dice.one_of(std::vector{rc::Randomness::error, rc::Randomness::different, rc::Randomness::same});
}

/// An option, and the same in Python.
template <class T>
struct Option {
  T value;
  const char* python;
};
using Axis = Option<rc::Dims>;
const Axis first{0, "0"}, last{-1, "-1"}, second{1, "1"};

Option<rc::Lanes> random_lanes(Dice& dice) {
  return dice.chance(30) ? Option<rc::Lanes>{rc::Lanes::split, "'split'"}
                         : Option<rc::Lanes>{rc::Lanes::together, "'together'"};
}

/// `randomness='same', chunk_size=None`
std::string draws_in_python(rc::Randomness mode, const std::optional<std::int64_t>& chunk) {
  return "randomness=" + in_python(mode) + ", chunk_size=" + in_python(chunk);
}

/// But for in_dims.
std::pair<rc::VmapOptions, std::string> random_options(Dice& dice) {
  rc::VmapOptions options;
  const Axis out =
      dice.one_of(std::vector<Axis>{first, first, first, first, first, last, last, second, {rc::none, "None"}});
  options.out_dims = out.value;
  options.randomness = random_mode(dice);
  options.chunk_size = random_chunk(dice);
  const auto lanes = random_lanes(dice);
  options.lanes = lanes.value;
  return {options, std::string("out_dims=") + out.python + ", " +
                       draws_in_python(options.randomness, options.chunk_size) + ", lanes=" + lanes.python};
}

Written mapped(Dice& dice, const Function& f, const Function&) {
  const Axis in = dice.one_of(std::vector<Axis>{first, first, first, first, last, last, last, second});
  auto [options, python] = random_options(dice);
  options.in_dims = in.value;
  return {[=, options = options](const Tensor& x) { return rc::vmap(f, options)(vector(x)); },
          std::string("rc.vmap(f, in_dims=") + in.python + ", " + python + ")(vector(x))"};
}

Written mapped_over_one_of_two(Dice& dice, const Function& f, const Function& g) {
  dice.below(8);  // as `mapped`, so that the seeds give the same programs
  auto [options, python] = random_options(dice);
  const Axis in = dice.one_of(std::vector<Axis>{{{0, rc::none}, "(0, None)"},
                                                {{rc::none, -1}, "(None, -1)"},
                                                {{0, 0}, "(0, 0)"},
                                                {{-1, -1}, "(-1, -1)"},
                                                {{-1, 0}, "(-1, 0)"}});
  options.in_dims = in.value;
  const Binary both = [=](const Tensor& a, const Tensor& b) {
    const Tensor one = f(a);
    return one + g(b).sum();
  };
  return {[=, options = options](const Tensor& x) { return rc::vmap(both, options)(vector(x), vector(x)); },
          std::string("rc.vmap(lambda a, b: f(a) + g(b).sum(), in_dims=") + in.python + ", " + python +
              ")(vector(x), vector(x))"};
}

Written mapped_to_rows(Dice& dice, const Function& f, const Function&) {
  const rc::Randomness mode = random_mode(dice);
  const auto chunk = random_chunk(dice);
  const auto lanes = random_lanes(dice);
  const auto run = [=](const Tensor& x) {
    const rc::RaggedOptions options{
        .in_dims = 0, .out_dims = rc::ragged, .randomness = mode, .chunk_size = chunk, .lanes = lanes.value};
    return rc::vmap(f, options)(vector(x)).sum();
  };
  return {run, "rc.vmap(f, in_dims=0, out_dims=rc.ragged, " + draws_in_python(mode, chunk) + ", lanes=" + lanes.python +
                   ")(vector(x)).sum()"};
}

Written gradient(Dice& dice, const Function& f, const Function&) {
  const bool is_loss = dice.chance(5);
  const Function loss = is_loss ? f : summed(f);
  return {[loss](const Tensor& x) { return rc::grad(loss)(x); },
          is_loss ? "rc.grad(f)(x)" : "rc.grad(lambda x: f(x).sum())(x)"};
}

Written value_and_gradient(Dice&, const Function& f, const Function& g) {
  const WithAux loss = [=](const Tensor& x) { return std::pair{f(x).sum(), g(x)}; };
  const auto run = [loss](const Tensor& x) {
    const auto [with_aux, gradient] = rc::value_and_grad(loss, rc::has_aux)(x);
    return gradient + with_aux.first + with_aux.second.sum();
  };
  return {run, R"((value, aux), gradient = rc.value_and_grad(lambda x: (f(x).sum(), g(x)), has_aux=True)(x)
return gradient + value + aux.sum())"};
}

Written gradients_of_two(Dice&, const Function& f, const Function& g) {
  const Binary loss = [=](const Tensor& a, const Tensor& b) {
    const Tensor one = f(a).sum();
    return one * g(b).sum();
  };
  const auto run = [loss](const Tensor& x) {
    const auto [first, second] = rc::grad<0, 1>(loss)(x, x * 2);
    return first + second;
  };
  return {run, R"(first, second = rc.grad(lambda a, b: f(a).sum() * g(b).sum(), argnums=(0, 1))(x, x * 2)
return first + second)"};
}

Written pulled_back(Dice& dice, const Function& f, const Function& g) {
  const int way = dice.below(4);
  const auto run = [=](const Tensor& x) {
    auto [y, pullback] = rc::vjp(f, x);
    if (way == 0 && y.dim() == 1) return pullback(rc::ones({3, 1}));
    if (way == 1) return rc::vmap(pullback)(rc::stack({y, y * 2}));
    const Tensor once = pullback(rc::ones_like(y));
    if (way != 2) return once;
    const Tensor with_other = once + g(once).sum();
    return with_other + pullback(y);
  };
  return {run, "way = " + std::to_string(way) + R"(
y, pullback = rc.vjp(f, x)
if way == 0 and y.dim() == 1:
    return pullback(rc.ones(3, 1))[0]
if way == 1:
    return rc.vmap(pullback)(rc.stack([y, y * 2]))[0]
once = pullback(rc.ones_like(y))[0]
return once + g(once).sum() + pullback(y)[0] if way == 2 else once)"};
}

Written pushed_forward(Dice& dice, const Function& f, const Function&) {
  const bool strict = dice.chance(10);
  const auto run = [=](const Tensor& x) {
    const Tensor t = rc::ones_like(x);
    const auto [y, tangent] = strict ? rc::jvp(f, rc::strict, x, t) : rc::jvp(f, x, t);
    return tangent + y;
  };
  return {run, std::string("y, tangent = rc.jvp(f, (x,), (rc.ones_like(x),), strict=") + (strict ? "True" : "False") +
                   ")\nreturn tangent + y"};
}

Written linearized(Dice& dice, const Function& f, const Function&) {
  const bool mapped = dice.chance(30);
  const auto run = [=](const Tensor& x) {
    auto [y, f_jvp] = rc::linearize(f, x);
    if (mapped) return rc::vmap(f_jvp)(rc::stack({x, x * 2}));
    const Tensor along = f_jvp(x);
    return along + f_jvp(rc::ones_like(x));
  };
  return {run, std::string("y, f_jvp = rc.linearize(f, x)\nreturn ") +
                   (mapped ? "rc.vmap(f_jvp)(rc.stack([x, x * 2]))" : "f_jvp(x) + f_jvp(rc.ones_like(x))")};
}

Written taped(Dice& dice, const Function& f, const Function& g) {
  const bool nested = dice.chance(30);
  const auto run = [=](const Tensor& x) {
    auto outer = std::make_unique<rc::Tape>();
    outer->watch(x);
    const Tensor y = f(x).sum();
    if (!nested) return outer->gradient(y, x);
    rc::Tape inner;  // ends after the outer one
    inner.watch(x);
    const Tensor other = g(x).sum();
    const Tensor z = other + outer->gradient(y, x).sum();
    outer.reset();
    return inner.gradient(z, x);
  };
  return {run, nested
                   ? R"(outer = rc.Tape()
try:
    outer.watch(x)
    y = f(x).sum()
    with rc.Tape() as inner:
        inner.watch(x)
        z = g(x).sum() + outer.gradient(y, x).sum()
        outer.__exit__(None, None, None)
        return inner.gradient(z, x)
finally:
    outer.__exit__(None, None, None))"
                   : "with rc.Tape() as tape:\n    tape.watch(x)\n    y = f(x).sum()\n    return tape.gradient(y, x)"};
}

Written without_gradient(Dice&, const Function& f, const Function& g) {
  const auto run = [=](const Tensor& x) {
    Tensor scale;
    {
      const rc::no_grad guard;
      scale = f(x).sum();
    }
    return g(x) * scale;
  };
  return {run, "with rc.no_grad():\n    scale = f(x).sum()\nreturn g(x) * scale"};
}

Written traced(Dice& dice, const Function& f, const Function&) {
  const bool read_back = dice.chance(30);
  const auto run = [=](const Tensor& x) {
    const rc::Program program = rc::trace(f)(x);
    check(program);
    if (read_back) return rc::parse_program(to_string(program), program.captured())({x}).at(0);
    return program({x}).at(0);
  };
  return {run,
          std::string("program = rc.trace(f)(x)\n") +
              (read_back ? "return rc.parse_program(str(program), program.captured)(x)[0]" : "return program(x)[0]")};
}

rc::JacobianOptions random_jacobian_options(Dice& dice) {
  rc::JacobianOptions options{.randomness = random_mode(dice)};
  options.chunk_size = random_chunk(dice);
  return options;
}
std::string jacobian_in_python(const char* name, const char* of, const rc::JacobianOptions& options, int most) {
  return std::string("small(rc.") + name + "(" + of + ", " + draws_in_python(options.randomness, options.chunk_size) +
         ")(small(x, " + std::to_string(most) + ")), 16)";
}

Written reverse_jacobian(Dice& dice, const Function& f, const Function&) {
  const rc::JacobianOptions options = random_jacobian_options(dice);
  return {[=](const Tensor& x) { return small(rc::jacrev(f, options)(small(x, 4)), 16); },
          jacobian_in_python("jacrev", "f", options, 4)};
}

Written forward_jacobian(Dice& dice, const Function& f, const Function&) {
  const rc::JacobianOptions options = random_jacobian_options(dice);
  return {[=](const Tensor& x) { return small(rc::jacfwd(f, options)(small(x, 4)), 16); },
          jacobian_in_python("jacfwd", "f", options, 4)};
}

Written second_derivatives(Dice& dice, const Function& f, const Function&) {
  const rc::JacobianOptions options = random_jacobian_options(dice);
  const Function loss = summed(f);
  return {[=](const Tensor& x) { return small(rc::hessian(loss, options)(small(x, 3)), 16); },
          jacobian_in_python("hessian", "lambda x: f(x).sum()", options, 3)};
}

}  // namespace

const std::vector<Nesting>& transforms() {
  static const std::vector<Nesting> all = {
      {"vmap", mapped},
      {"vmap", mapped},
      {"vmap of two", mapped_over_one_of_two},
      {"vmap to rows", mapped_to_rows},
      {"grad", gradient},
      {"value_and_grad", value_and_gradient},
      {"grad of two", gradients_of_two},
      {"vjp", pulled_back},
      {"jvp", pushed_forward},
      {"linearize", linearized},
      {"Tape", taped},
      {"no_grad", without_gradient},
      {"trace", traced},
  };
  return all;
}

const std::vector<Nesting>& jacobians() {
  static const std::vector<Nesting> all = {
      {"jacrev", reverse_jacobian}, {"jacfwd", forward_jacobian}, {"hessian", second_derivatives}};
  return all;
}

}  // namespace fuzz
