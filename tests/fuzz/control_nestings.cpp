// Control flow, functions with rules of their own, and what a user's program does besides, around functions.
#include <thread>

#include "interpreters/batch.h"
#include "nestings.h"
#include "operations.h"
#include "primitive/interpreter.h"
#include "python_text.h"

namespace fuzz {
namespace {

Written conditional(Dice& dice, const Function& f, const Function& g) {
  const double threshold = dice.below(4) - 1;
  return {[=](const Tensor& x) { return rc::cond(x.sum() > threshold, f, g, x); },
          "rc.cond(x.sum() > " + std::to_string(threshold) + ", f, g, x)"};
}

Written switched(Dice& dice, const Function& f, const Function& g) {
  const int indices = dice.chance(10) ? 4 : 3;  // of which the fourth is out of range
  const auto run = [=](const Tensor& x) {
    return rc::switch_case(rc::remainder(rc::argmax(rc::sin(x)), indices), std::tuple{f, g, f}, x);
  };
  return {run, "rc.switch_case(rc.remainder(rc.argmax(rc.sin(x)), " + std::to_string(indices) + "), (f, g, f), x)"};
}

/// Keeps the type of x: what f gives is added as one number.
Function kept_type(const Function& f) {
  return [f](const Tensor& x) {
    const Tensor more = x * 1.5;
    return more + (f(x).sum() * 0.01).to(x.dtype());
  };
}

constexpr const char* kept_type_in_python = R"(
def kept_type(f):
    return lambda x: x * 1.5 + (f(x).sum() * 0.01).to(x.dtype)
)";

rc::LoopOptions random_loop(Dice& dice) {
  return {
      .max_steps = 1 + dice.below(12),
      .checkpoint = dice.one_of(std::vector{rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log})};
}

const char* in_python(rc::Checkpoints checkpoint) {
  switch (checkpoint) {
    case rc::Checkpoints::every_step: return "'every_step'";
    case rc::Checkpoints::sqrt: return "'sqrt'";
    case rc::Checkpoints::log: return "'log'";
  }
  return "";
}

Written looped(Dice& dice, const Function& f, const Function&) {
  const rc::LoopOptions options = random_loop(dice);
  const bool is_any = dice.chance(10);
  const Function body = is_any ? f : kept_type(f);
  const Function goes_on = [](const Tensor& x) { return x.norm() < 4; };
  return {[=](const Tensor& x) { return rc::while_loop(goes_on, body, x, options); },
          std::string("rc.while_loop(lambda x: x.norm() < 4, ") + (is_any ? "f" : "kept_type(f)") + ", x, max_steps=" +
              std::to_string(options.max_steps) + ", checkpoint=" + in_python(options.checkpoint) + ")"};
}

Written counted(Dice& dice, const Function& f, const Function&) {
  const int steps = dice.below(4);
  const Function body = kept_type(f);
  const auto run = [=](const Tensor& x) {
    const auto step = [&](const Tensor& i, const Tensor& state) { return body(state) + (i * 0).to(state.dtype()); };
    return rc::fori_loop(0, steps, step, x);
  };
  return {run, "rc.fori_loop(0, " + std::to_string(steps) +
                   ", lambda i, state: kept_type(f)(state) + (i * 0).to(state.dtype), x)"};
}

Written scanned(Dice& dice, const Function& f, const Function& g) {
  const bool reverse = dice.chance(30);
  const auto run = [=](const Tensor& x) {
    const auto step = [&](const Tensor& carry, const Tensor& row) {
      return std::pair{(carry + f(row).sum()).to(carry.dtype()), g(row)};
    };
    const auto [carry, ys] = rc::scan(step, rc::zeros({}, x.dtype()), vector(x), {.reverse = reverse});
    return ys + carry;
  };
  return {run, std::string("step = lambda carry, row: ((carry + f(row).sum()).to(carry.dtype), g(row))\n"
                           "carry, ys = rc.scan(step, rc.zeros((), dtype=x.dtype), vector(x), reverse=") +
                   (reverse ? "True" : "False") + ")\nreturn ys + carry"};
}

Written mapped_in_turn(Dice&, const Function& f, const Function&) {
  return {[=](const Tensor& x) { return rc::map(f, vector(x)); }, "rc.map(f, vector(x))"};
}

Written scanned_associatively(Dice&, const Function& f, const Function&) {
  const auto run = [=](const Tensor& x) {
    const auto combine = [&](const Tensor& a, const Tensor& b) {
      const Tensor sum = a + b;
      return sum + f(b).sum() * 0;
    };
    return rc::associative_scan(combine, vector(x), 0);
  };
  return {run, "rc.associative_scan(lambda a, b: a + b + f(b).sum() * 0, vector(x), 0)"};
}

// ── functions with rules of their own ──

/// x^3 by a class; every rule counts as a step, so that each of them throws in some program.
template <class D>
struct Cube : rc::Function<D> {
  static Tensor forward(const Tensor& x) {
    world().step();
    return x * x * x;
  }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    world().step();
    ctx.save_for_backward(std::get<0>(inputs));
    ctx.save_for_forward(std::get<0>(inputs));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) {
    world().step();
    return 3 * ctx.saved(0) * ctx.saved(0) * ct;
  }
  static Tensor jvp(rc::Context& ctx, const Tensor& t) {
    world().step();
    return 3 * ctx.saved(0) * ctx.saved(0) * t;
  }
};
struct GeneratedCube : Cube<GeneratedCube> {
  static constexpr bool generate_vmap_rule = true;
};
struct WrittenCube : Cube<WrittenCube> {
  static std::pair<Tensor, rc::Dim> vmap(const rc::VmapInfo&, const std::tuple<rc::Dim>& in_dims, const Tensor& x) {
    world().step();
    return {WrittenCube::apply(x), std::get<0>(in_dims)};
  }
};
struct InPlaceSine : rc::Function<InPlaceSine> {
  static Tensor forward(const Tensor& x) { return x.sin_(); }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    ctx.mark_dirty(std::get<0>(inputs));
  }
  static constexpr bool generate_vmap_rule = true;
};

constexpr const char* classes_in_python = R"(
class Cube(rc.Function):
    @staticmethod
    def forward(x):
        world.step()
        return x * x * x
    @staticmethod
    def setup_context(ctx, inputs, output):
        world.step()
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])
    @staticmethod
    def backward(ctx, ct):
        world.step()
        return 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0] * ct
    @staticmethod
    def jvp(ctx, t):
        world.step()
        return 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0] * t

class GeneratedCube(Cube):
    generate_vmap_rule = True

class WrittenCube(Cube):
    @staticmethod
    def vmap(info, in_dims, x):
        world.step()
        return WrittenCube.apply(x), in_dims[0]

class InPlaceSine(rc.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        return x.sin_()
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])
)";

Written by_class(Dice& dice, const Function& f, const Function&) {
  const int which = dice.below(3);
  if (which == 0) return {[=](const Tensor& x) { return f(GeneratedCube::apply(x)); }, "f(GeneratedCube.apply(x))"};
  if (which == 1) return {[=](const Tensor& x) { return f(WrittenCube::apply(x)); }, "f(WrittenCube.apply(x))"};
  return {[=](const Tensor& x) { return f(InPlaceSine::apply(x.clone())); }, "f(InPlaceSine.apply(x.clone()))"};
}

Written with_vjp(Dice&, const Function& f, const Function& g) {
  const auto forward = [=](const Tensor& x) { return std::pair{f(x), x}; };
  const auto backward = [=](const Tensor& x, const Tensor& ct) {
    const Tensor scaled = x * ct.sum();
    return scaled + g(x).sum() * 0;
  };
  return {[=](const Tensor& x) { return rc::custom_vjp(f, forward, backward)(x); },
          "rc.custom_vjp(f, lambda x: (f(x), x), lambda x, ct: x * ct.sum() + g(x).sum() * 0)(x)"};
}

Written with_jvp(Dice&, const Function& f, const Function&) {
  const auto rule = [=](const std::tuple<Tensor>& x, const std::tuple<Tensor>& t) {
    return rc::jvp(f, std::get<0>(x), std::get<0>(t));
  };
  return {[=](const Tensor& x) { return rc::custom_jvp(f, rule)(x); },
          "rc.custom_jvp(f, lambda x, t: rc.jvp(f, x, t))(x)"};
}

Written checkpointed(Dice&, const Function& f, const Function& g) {
  return {[=](const Tensor& x) { return g(rc::checkpoint(f)(x)); }, "g(rc.checkpoint(f)(x))"};
}

/// y with y + y^3 = x, whose derivative is that of the equation.
Written root(Dice&, const Function& f, const Function&) {
  const auto run = [=](const Tensor& x) {
    const Tensor right = f(x);
    const auto equation = [&](const Tensor& y) { return y + y * y * y - right; };
    const auto solve = [](const auto& residual, Tensor y) {
      for (int i = 0; i < 4; ++i) y = y - residual(y) / (1 + 3 * y * y);
      return y;
    };
    const auto solve_linear = [](const auto& map, const Tensor& b) { return b / map(rc::ones_like(b)); };
    return rc::custom_root(equation, right * 0, solve, solve_linear);
  };
  return {run, R"(right = f(x)
def solve(residual, y):
    for _ in range(4):
        y = y - residual(y) / (1 + 3 * y * y)
    return y
solve_linear = lambda linear, b: b / linear(rc.ones_like(b))
return rc.custom_root(lambda y: y + y * y * y - right, right * 0, solve, solve_linear))"};
}

// ── surroundings ──

/// The examples that run in each vmap but those whose examples part for good.
std::vector<rc::LaneSetRef> running_lanes() {
  std::vector<rc::LaneSetRef> lanes;
  for (const rc::Interpreter* i = rc::this_thread.innermost; i; i = i->parent) {
    if (i->kind != rc::ValueKind::batched) continue;
    const auto& batch = static_cast<const rc::BatchInterpreter&>(*i);
    if (batch.parts == rc::Parts::nowhere) lanes.push_back(batch.lanes);
  }
  return lanes;
}

/// A catch goes on in the transform where it stands, whatever was thrown further in.
Written caught(Dice&, const Function& f, const Function& g) {
  const auto run = [=](const Tensor& x) {
    const rc::Interpreter* const here = rc::this_thread.innermost;
    const rc::Level quiet = rc::this_thread.no_grad_below;
    const auto running = running_lanes();
    try {
      return f(x);
    } catch (...) {
      if (rc::this_thread.innermost != here) world().broken = "a transform is still active in a catch";
      if (rc::this_thread.no_grad_below != quiet) world().broken = "no_grad is still active in a catch";
      if (running_lanes() != running) world().broken = "examples are still set aside in a catch";
    }
    return g(x);
  };
  return {run, "try:\n    return f(x)\nexcept ANYTHING:\n    return g(x)"};
}

Written on_another_thread(Dice&, const Function& f, const Function& g) {
  const auto run = [=](const Tensor& x) {
    Tensor y;
    std::thread([&] {
      try {
        y = f(x);
      } catch (...) {}
      if (rc::inside_transform()) world().broken = "a transform is still active on another thread";
    }).join();
    return y.defined() ? y : g(x);
  };
  return {run, R"(found = []
def run():
    try:
        found.append(f(x))
    except ANYTHING:
        pass
thread = threading.Thread(target=run)
thread.start()
thread.join()
return found[0] if found else g(x))"};
}

}  // namespace

const char* nestings_in_python() {
  static const std::string text = std::string(kept_type_in_python) + classes_in_python;
  return text.c_str();
}

const std::vector<Nesting>& control_flow() {
  static const std::vector<Nesting> all = {
      {"cond", conditional},
      {"switch_case", switched},
      {"while_loop", looped},
      {"fori_loop", counted},
      {"scan", scanned},
      {"map", mapped_in_turn},
      {"associative_scan", scanned_associatively},
  };
  return all;
}

const std::vector<Nesting>& custom_functions() {
  static const std::vector<Nesting> all = {
      {"rc::Function", by_class},   {"custom_vjp", with_vjp}, {"custom_jvp", with_jvp},
      {"checkpoint", checkpointed}, {"custom_root", root},
  };
  return all;
}

const std::vector<Nesting>& surroundings() {
  static const std::vector<Nesting> all = {{"catch", caught}, {"catch", caught}, {"thread", on_another_thread}};
  return all;
}

}  // namespace fuzz
