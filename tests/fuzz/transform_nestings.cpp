// Transforms around functions, with options at random; most fit, some do not.
#include <memory>

#include "nestings.h"
#include "operations.h"

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

rc::VmapOptions random_options(Dice& dice) {
  rc::VmapOptions options{.in_dims = dice.one_of(std::vector<rc::Dims>{0, 0, 0, 0, -1, -1, -1, 1})};
  options.out_dims = dice.one_of(std::vector<rc::Dims>{0, 0, 0, 0, 0, -1, -1, 1, rc::none});
  options.randomness = random_mode(dice);
  options.chunk_size = random_chunk(dice);
  options.lanes = dice.chance(30) ? rc::Lanes::split : rc::Lanes::together;
  return options;
}

Function mapped(Dice& dice, const Function& f, const Function&) {
  const rc::VmapOptions options = random_options(dice);
  return [=](const Tensor& x) { return rc::vmap(f, options)(vector(x)); };
}

Function mapped_over_one_of_two(Dice& dice, const Function& f, const Function& g) {
  rc::VmapOptions options = random_options(dice);
  options.in_dims = dice.one_of(std::vector<rc::Dims>{{0, rc::none}, {rc::none, -1}, {0, 0}, {-1, -1}, {-1, 0}});
  const Binary both = [=](const Tensor& a, const Tensor& b) { return f(a) + g(b).sum(); };
  return [=](const Tensor& x) { return rc::vmap(both, options)(vector(x), vector(x)); };
}

Function mapped_to_rows(Dice& dice, const Function& f, const Function&) {
  const rc::Randomness mode = random_mode(dice);
  const auto chunk = random_chunk(dice);
  const rc::Lanes lanes = dice.chance(30) ? rc::Lanes::split : rc::Lanes::together;
  return [=](const Tensor& x) {
    const rc::RaggedOptions options{
        .in_dims = 0, .out_dims = rc::ragged, .randomness = mode, .chunk_size = chunk, .lanes = lanes};
    return rc::vmap(f, options)(vector(x)).sum();
  };
}

Function gradient(Dice& dice, const Function& f, const Function&) {
  const Function loss = dice.chance(5) ? f : summed(f);
  return [loss](const Tensor& x) { return rc::grad(loss)(x); };
}

Function value_and_gradient(Dice&, const Function& f, const Function& g) {
  const WithAux loss = [=](const Tensor& x) { return std::pair{f(x).sum(), g(x)}; };
  return [loss](const Tensor& x) {
    const auto [with_aux, gradient] = rc::value_and_grad(loss, rc::has_aux)(x);
    return gradient + with_aux.first + with_aux.second.sum();
  };
}

Function gradients_of_two(Dice&, const Function& f, const Function& g) {
  const Binary loss = [=](const Tensor& a, const Tensor& b) { return f(a).sum() * g(b).sum(); };
  return [loss](const Tensor& x) {
    const auto [first, second] = rc::grad<0, 1>(loss)(x, x * 2);
    return first + second;
  };
}

Function pulled_back(Dice& dice, const Function& f, const Function& g) {
  const int way = dice.below(4);
  return [=](const Tensor& x) {
    auto [y, pullback] = rc::vjp(f, x);
    if (way == 0 && y.dim() == 1) return pullback(rc::ones({3, 1}));
    if (way == 1) return rc::vmap(pullback)(rc::stack({y, y * 2}));
    const Tensor once = pullback(rc::ones_like(y));
    return way == 2 ? once + g(once).sum() + pullback(y) : once;
  };
}

Function pushed_forward(Dice& dice, const Function& f, const Function&) {
  const bool strict = dice.chance(10);
  return [=](const Tensor& x) {
    const Tensor t = rc::ones_like(x);
    const auto [y, tangent] = strict ? rc::jvp(f, rc::strict, x, t) : rc::jvp(f, x, t);
    return tangent + y;
  };
}

Function linearized(Dice& dice, const Function& f, const Function&) {
  const bool mapped = dice.chance(30);
  return [=](const Tensor& x) {
    auto [y, f_jvp] = rc::linearize(f, x);
    if (mapped) return rc::vmap(f_jvp)(rc::stack({x, x * 2}));
    return f_jvp(x) + f_jvp(rc::ones_like(x));
  };
}

Function taped(Dice& dice, const Function& f, const Function& g) {
  const bool nested = dice.chance(30);
  return [=](const Tensor& x) {
    auto outer = std::make_unique<rc::Tape>();
    outer->watch(x);
    const Tensor y = f(x).sum();
    if (!nested) return outer->gradient(y, x);
    rc::Tape inner;  // ends after the outer one
    inner.watch(x);
    const Tensor z = g(x).sum() + outer->gradient(y, x).sum();
    outer.reset();
    return inner.gradient(z, x);
  };
}

Function without_gradient(Dice&, const Function& f, const Function& g) {
  return [=](const Tensor& x) {
    Tensor scale;
    {
      const rc::no_grad guard;
      scale = f(x).sum();
    }
    return g(x) * scale;
  };
}

Function traced(Dice& dice, const Function& f, const Function&) {
  const bool read_back = dice.chance(30);
  return [=](const Tensor& x) {
    const rc::Program program = rc::trace(f)(x);
    check(program);
    if (read_back) return rc::parse_program(to_string(program), program.captured())({x}).at(0);
    return program({x}).at(0);
  };
}

rc::JacobianOptions random_jacobian_options(Dice& dice) {
  rc::JacobianOptions options{.randomness = random_mode(dice)};
  options.chunk_size = random_chunk(dice);
  return options;
}

Function reverse_jacobian(Dice& dice, const Function& f, const Function&) {
  const rc::JacobianOptions options = random_jacobian_options(dice);
  return [=](const Tensor& x) { return small(rc::jacrev(f, options)(small(x, 4)), 16); };
}

Function forward_jacobian(Dice& dice, const Function& f, const Function&) {
  const rc::JacobianOptions options = random_jacobian_options(dice);
  return [=](const Tensor& x) { return small(rc::jacfwd(f, options)(small(x, 4)), 16); };
}

Function second_derivatives(Dice& dice, const Function& f, const Function&) {
  const rc::JacobianOptions options = random_jacobian_options(dice);
  const Function loss = summed(f);
  return [=](const Tensor& x) { return small(rc::hessian(loss, options)(small(x, 3)), 16); };
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
