// Random functions that draw: in branches, loops, maps, checkpoints, derivatives, programs and functions with rules.
// The same seed gives the same function. Knows nothing of what is held of them.
//
// Left out is what docs/04-randomness.md and docs/inside/draws.md say of: examples that part under Randomness::same, an
// outermost branch or loop that draws from a generator on one path only, and a program that is called in a branch, loop
// or map and holds a map, or branches or loops in a function with rules of its own. A checkpoint that captures is such
// a program.
#pragma once

#include <optional>

#include "world.h"

namespace fuzz {

using rc::Checkpoints, rc::Randomness;

/// The generators that a function draws from, on every path: bits.
inline constexpr int from_default = 1, from_own = 2;

inline rc::Generator& own_generator() {
  static rc::Generator generator(0);
  return generator;
}

/// A function of a vector of three numbers that gives such a vector.
struct Drawing {
  Function step_by_step;
  Function in_parts;  // the same, of which parts are programs or run in chunks
  std::string text;
  int generators = 0;
  bool parts = false;         // its examples may part
  bool has_branches = false;  // or loops
  bool has_hidden = false;    // of these in a function with rules; or a map
  bool has_rule = false;      // of reverse mode alone
  bool goes_anywhere = true;  // as it is in parts: none of them is a program with hidden ones
};

/// Whole numbers and powers of two: nothing is rounded.
inline Tensor drawn(const Tensor& x, rc::Generator& generator) {
  const Tensor factor = rc::randint(0, 2, {3}, {.generator = generator}).to(rc::float64) * 1.5 + 0.5;
  const Tensor more = rc::randint(-500, 500, {3}, {.generator = generator}).to(rc::float64);
  return x * factor + more;
}

inline Drawing draw(int generators) {
  const Function f = [generators](const Tensor& x) {
    const Tensor y = generators & from_default ? drawn(x, rc::default_generator()) : x;
    return generators & from_own ? drawn(y, own_generator()) : y;
  };
  return {f, f, generators == from_own ? "own" : generators == from_default ? "draw" : "draw own", generators};
}

inline Drawing in_turn(const Drawing& a, const Drawing& b) {
  const auto both = [](const Function& f, const Function& g) { return [=](const Tensor& x) { return g(f(x)); }; };
  return {both(a.step_by_step, b.step_by_step), both(a.in_parts, b.in_parts), a.text + ", " + b.text,
          a.generators | b.generators,          a.parts || b.parts,           a.has_branches || b.has_branches,
          a.has_hidden || b.has_hidden,         a.has_rule || b.has_rule,     a.goes_anywhere && b.goes_anywhere};
}

inline Function summed(const Function& f) {
  return [f](const Tensor& x) { return f(x).sum(); };
}

/// What a branch, loop or map may hold.
inline Drawing inside(Drawing f) {
  if (!f.goes_anywhere) f.in_parts = f.step_by_step;
  f.goes_anywhere = true;
  return f;
}

/// `around` makes of a function another one.
template <class Around>
Drawing nested(const std::string& name, const Drawing& f, const Around& around) {
  Drawing whole = f;
  whole.step_by_step = around(f.step_by_step);
  whole.in_parts = around(f.in_parts);
  whole.text = name + "(" + f.text + ")";
  return whole;
}

class RandomDrawing {
 public:
  explicit RandomDrawing(std::uint64_t seed) : dice_(seed) {}

  /// `shared`: a map around it shares its draws.
  Drawing any(int depth, bool shared) {
    Drawing whole = piece(depth, shared);
    for (int more = dice_.below(3); more > 0; --more) whole = in_turn(whole, piece(depth - 1, shared));
    return whole;
  }

 private:
  Drawing piece(int depth, bool shared) {
    if (depth > 0 && dice_.chance(75)) return around_another(depth, shared);
    const Function halve = [](const Tensor& x) { return x * 0.5 - 3; };
    if (dice_.chance(20)) return {halve, halve, "halve", 0};
    return draw(dice_.chance(75) ? from_default : from_own);
  }

  Drawing around_another(int depth, bool shared) {
    switch (dice_.below(14)) {
      case 0:
      case 1: return branches(depth, shared);
      case 2:
      case 3: return counted(depth, shared);
      case 4: return until(depth, shared);
      case 5: return scanned(depth, shared);
      case 6: return checkpointed(depth, shared);
      case 7: return with_rule(depth, shared);
      case 8: return program(depth, shared);
      case 9:
      case 10: return map(depth, shared);
      case 11: return derivative(depth, shared);
      case 12: return after_a_new_generator(depth, shared);
      default: return program(depth, shared);
    }
  }

  template <class Around>
  static Drawing loop(const std::string& name, const Drawing& f, const Around& around) {
    Drawing whole = nested(name, inside(f), around);
    whole.has_branches = true;
    return whole;
  }
  Checkpoints checkpoints(bool shared) {
    if (shared || dice_.chance(70)) return Checkpoints::every_step;
    return dice_.chance(50) ? Checkpoints::sqrt : Checkpoints::log;
  }
  static std::string name_of(Checkpoints kept) {
    return kept == Checkpoints::every_step ? "" : kept == Checkpoints::sqrt ? " sqrt" : " log";
  }

  /// A conditional or a switch. The branches draw from the same generators.
  Drawing branches(int depth, bool shared) {
    Drawing f = inside(any(depth - 1, shared)), g = inside(any(depth - 1, shared));
    const int generators = f.generators | g.generators;
    for (Drawing* branch : {&f, &g})
      if (const int missing = generators & ~branch->generators) *branch = in_turn(draw(missing), *branch);
    const bool parts = !shared && dice_.chance(60), is_switch = dice_.chance(30), flag = dice_.chance(50);
    const auto choice = [=](const Function& a, const Function& b) -> Function {
      if (is_switch)
        return [=](const Tensor& x) {
          const Tensor of_example = rc::remainder(rc::floor(x.select(0, 1)), 3).to(rc::int64);
          return rc::switch_case(parts ? of_example : rc::tensor(1), std::tuple{a, b, a}, x);
        };
      return [=](const Tensor& x) { return rc::cond(parts ? x.select(0, 0) > 0 : rc::tensor(flag), a, b, x); };
    };
    const std::string name = std::string(is_switch ? "switch" : "cond") + (parts ? " of example" : "");
    return {choice(f.step_by_step, g.step_by_step),
            choice(f.in_parts, g.in_parts),
            name + "(" + f.text + " | " + g.text + ")",
            generators,
            parts || f.parts || g.parts,
            true,
            f.has_hidden || g.has_hidden,
            f.has_rule || g.has_rule,
            true};
  }

  Drawing counted(int depth, bool shared) {
    const int steps = 1 + dice_.below(3);
    const Checkpoints kept = checkpoints(shared);
    const Drawing of = any(depth - 1, shared);
    const std::string name = "fori " + std::to_string(steps) + name_of(kept);
    Drawing whole = loop(name, of, [=](const Function& f) {
      return [=](const Tensor& x) {
        const auto step = [f](const Tensor&, const Tensor& y) { return f(y); };
        return rc::fori_loop(0, steps, step, x, {.checkpoint = kept});
      };
    });
    whole.parts |= kept != Checkpoints::every_step;
    return whole;
  }

  Drawing until(int depth, bool shared) {
    using State = std::pair<Tensor, Tensor>;
    const bool parts = !shared && dice_.chance(60);
    const Checkpoints kept = checkpoints(shared);
    const Drawing of = any(depth - 1, shared);
    const std::string name = std::string("while") + (parts ? " of example" : "") + name_of(kept);
    Drawing whole = loop(name, of, [=](const Function& f) {
      return [=](const Tensor& x) {
        const Tensor first = parts ? rc::remainder(rc::floor(x.select(0, 1)), 2) : rc::zeros({}, rc::float64);
        const auto goes_on = [](const State& s) { return s.first < 2; };
        const auto step = [f](const State& s) { return State(s.first + 1, f(s.second)); };
        return rc::while_loop(goes_on, step, State(first, x), {.checkpoint = kept}).second;
      };
    });
    whole.parts |= parts || kept != Checkpoints::every_step;
    return whole;
  }

  Drawing scanned(int depth, bool shared) {
    const bool reverse = dice_.chance(30);
    return loop("scan", any(depth - 1, shared), [=](const Function& f) {
      return [=](const Tensor& x) {
        const auto step = [&f](const Tensor& carry, const Tensor& row) {
          const Tensor next = f(carry);
          return std::pair{next, row + next.select(0, 0)};
        };
        const auto [last, rows] = rc::scan(step, x, x, {.reverse = reverse});
        return last + rows;
      };
    });
  }

  Drawing checkpointed(int depth, bool shared) {
    const Drawing of = any(depth - 1, shared);
    const bool captures = !of.has_hidden && dice_.chance(50);  // half of x
    Drawing whole = nested(captures ? "checkpoint that captures" : "checkpoint", of, [=](const Function& f) {
      return [=](const Tensor& x) {
        const Tensor half = x * 0.5;
        return rc::checkpoint([=](const Tensor& y) { return f(captures ? y + half : y); })(x);
      };
    });
    return whole;
  }

  Drawing with_rule(int depth, bool shared) {
    Drawing whole = nested("custom_vjp", any(depth - 1, shared), [](const Function& f) {
      return [=](const Tensor& x) {
        const auto forward = [f](const Tensor& y) { return std::pair{f(y), y}; };
        const auto backward = [](const Tensor&, const Tensor& ct) { return ct * 2; };
        return rc::custom_vjp(f, forward, backward)(x);
      };
    });
    whole.has_rule = true;
    whole.has_hidden |= whole.has_branches;
    return whole;
  }

  Drawing program(int depth, bool shared) {
    Drawing f = any(depth - 1, shared);
    const bool is_compiled = dice_.chance(50);
    f.goes_anywhere &= !f.has_hidden;
    f.text = (is_compiled ? "compile(" : "trace(") + f.text + ")";
    if (is_compiled) f.in_parts = rc::compile(f.in_parts);
    else f.in_parts = [g = f.in_parts](const Tensor& x) { return rc::trace(g)(x)({x})[0]; };
    return f;
  }

  Drawing map(int depth, bool shared) {
    const bool shares = dice_.chance(40);
    const Drawing f = inside(any(depth - 1, shared || shares));
    const Randomness mode = shares ? Randomness::same : Randomness::different;
    const auto over_rows = [mode](const Function& of, std::optional<std::int64_t> chunk) {
      return [=](const Tensor& x) {
        const Tensor rows = rc::stack({x, x * 0.5 + 1, x - 100});
        const Tensor found = rc::vmap(of, {.randomness = mode, .chunk_size = chunk})(rows);
        const Tensor two = found.select(0, 0) - found.select(0, 1);
        return two + found.select(0, 2);
      };
    };
    const std::int64_t chunk = 1 + dice_.below(3);
    return {over_rows(f.step_by_step, {}),
            over_rows(f.in_parts, chunk),
            (shares ? "vmap same " : "vmap ") + std::to_string(chunk) + "(" + f.text + ")",
            f.generators,
            f.parts,
            f.has_branches,
            true,
            f.has_rule,
            true};
  }

  Drawing derivative(int depth, bool shared) {
    const Drawing of = any(depth - 1, shared);
    const bool is_forward = !of.has_rule && dice_.chance(40);
    return nested(is_forward ? "jvp" : "grad", of, [=](const Function& f) -> Function {
      if (is_forward)
        return [=](const Tensor& x) {
          const auto [y, tangent] = rc::jvp(f, x, rc::ones_like(x));
          return y + tangent;
        };
      return [=](const Tensor& x) {
        const auto [gradient, value] = rc::grad_and_value(summed(f))(x);
        return x + gradient + value * 0.125;
      };
    });
  }

  Drawing after_a_new_generator(int depth, bool shared) {
    return nested("with a new generator", any(depth - 1, shared), [](const Function& f) {
      return [=](const Tensor& x) {
        rc::Generator made(4);
        const Tensor y = f(drawn(x, made));
        return y + drawn(y, made);
      };
    });
  }

  Dice dice_;
};

/// f(x), then what both generators draw next.
inline Tensor seeded(const Function& f, const Tensor& x) {
  rc::manual_seed(3);
  own_generator().manual_seed(5);
  const Tensor y = f(x);
  const Tensor next = rc::rand({1}, rc::float64);
  return rc::cat({y.flatten(), next, rc::rand({1}, {.dtype = rc::float64, .generator = own_generator()})});
}

inline Function mapped(const Function& f, Randomness mode, std::optional<std::int64_t> chunk = {}) {
  return rc::vmap(f, {.randomness = mode, .chunk_size = chunk});
}

}  // namespace fuzz
