// How programs are put together: a chain of pieces, each an operation or a nesting around another program.
#include "programs.h"

#include <utility>

#include "nestings.h"
#include "operations.h"

namespace fuzz {
namespace {

constexpr std::int64_t most_elements = 48;

/// Every piece is a step of the world, and takes and gives small tensors.
Function piece(Function f) {
  return [f = std::move(f)](const Tensor& x) {
    world().step();
    const Tensor y = f(x);
    return y.defined() ? small(y, most_elements) : y;
  };
}

Program operation(Dice& dice) {
  const bool writes = dice.chance(4), wrong = dice.chance(2);
  const auto& right = dice.chance(30) ? registered_operations() : ordinary_operations();
  const auto& table = writes ? writing_operations() : wrong ? wrong_operations() : right;
  const Operation& chosen = dice.one_of(table);
  const int pick = dice.below(1 << 20);
  const auto run = chosen.f;
  const auto write = [python = chosen.python, pick](PythonText& to) { return to.operation(python, pick); };
  return {piece([run, pick](const Tensor& x) { return run(x, pick); }), chosen.name, write, writes};
}

const Nesting& random_nesting(Dice& dice, int depth) {
  const int kind = dice.below(100);
  if (kind < 50) return dice.one_of(transforms());
  if (kind < 60) return dice.one_of(depth <= 2 ? jacobians() : transforms());
  if (kind < 80) return dice.one_of(control_flow());
  if (kind < 93) return dice.one_of(custom_functions());
  return dice.one_of(surroundings());
}

Program nested(Dice& dice, int depth) {
  const Nesting& nesting = random_nesting(dice, depth);
  Program f = random_program(dice, depth - 1);
  Program g = random_program(dice, std::min(1, depth - 1));
  Written whole = nesting.around(dice, f.run, g.run);
  auto write = [python = whole.python, f = std::move(f.write), g = std::move(g.write)](PythonText& to) {
    const std::string inner = f(to), other = g(to);
    return to.nesting(python, inner, other);
  };
  return {piece(std::move(whole.run)), nesting.name + ("(" + f.text) + " | " + g.text + ")", std::move(write),
          f.writes || g.writes};
}

}  // namespace

Program random_program(Dice& dice, int depth) {
  Program whole = depth > 0 && dice.chance(75) ? nested(dice, depth) : operation(dice);
  for (int more = dice.below(4); more > 0; --more) {
    Program next = depth > 1 && dice.chance(15) ? nested(dice, depth - 1) : operation(dice);
    auto run = [first = std::move(whole.run), second = std::move(next.run)](const Tensor& x) {
      return second(first(x));
    };
    auto write = [first = std::move(whole.write), second = std::move(next.write)](PythonText& to) {
      const std::string before = first(to);
      return to.chain(before, second(to));
    };
    whole = {std::move(run), whole.text + ", " + next.text, std::move(write), whole.writes || next.writes};
  }
  return whole;
}

Tensor random_tensor(Dice& dice) {
  static const std::vector<std::int64_t> sizes = {0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4};
  std::vector<std::int64_t> shape;
  for (int axes = dice.chance(10) ? 0 : 1 + dice.below(3); axes > 0; --axes) shape.push_back(dice.one_of(sizes));
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(dice.below(4001) / 1000.0 - 2);
  const auto dtype =
      dice.one_of(std::vector{rc::float32, rc::float32, rc::float64, rc::float64, rc::float16, rc::int64});
  return rc::tensor(values).reshape(rc::Shape(shape)).to(dtype).clone();
}

std::vector<Tensor> random_captured(Dice& dice) {
  return {random_tensor(dice), ricci::tensor(0.5), ricci::tensor({0.25, -1.0, 2.0})};
}

std::string start_in_python() {
  return world_in_python() + ("\nmost_elements, most_steps = " + std::to_string(most_elements)) + ", " +
         std::to_string(World::most_steps) + "\n" + helpers_in_python() + nestings_in_python();
}

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace fuzz
