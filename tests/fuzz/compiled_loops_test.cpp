// A law of compiled loops: a random step in a scan, a loop of known or unknown length, which may read and write single
// elements, under none, one or two transforms, for one example and for many, compiled, gives what it gives eagerly,
// with the same draws.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "programs.h"
#include "support/close.h"
#include "world.h"

namespace {

using fuzz::Dice;
using fuzz::Tensor;
namespace rc = ricci;

using List = std::vector<Tensor>;
using Lists = std::function<List(const List&)>;
using State = std::pair<Tensor, Tensor>;

constexpr std::uint64_t loops_by_default = 240;
constexpr int parts = 4;  // that ctest runs at once

// --- Steps: of the state a and b, what they capture c, and a row r. Each brings numbers nearer to each other, so that
// roundings stay small.

struct Expression {
  const char* text;
  Tensor (*of)(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& r);
};
using T = const Tensor&;
/// 0.4 sin(x) y.
Tensor by_custom_jvp(T x, T y) {
  return rc::custom_jvp([](T s, T t) { return 0.4 * sin(s) * t; },
                        [](std::tuple<Tensor, Tensor> at, std::tuple<Tensor, Tensor> d) {
                          const auto& [s, t] = at;
                          const auto& [ds, dt] = d;
                          return std::pair(0.4 * sin(s) * t, 0.4 * (cos(s) * t * ds + sin(s) * dt));
                        })(x, y);
}
/// x with 2 x + 0.5 sin(x) = a.
Tensor by_custom_root(T a) {
  const auto newton = [](const auto& f, T x) {
    const auto step = [&](T, T s) {
      const auto [y, slope] = rc::jvp(f, std::tuple{s}, std::tuple{ones_like(s)});
      return s - y / slope;
    };
    return rc::fori_loop(0, 7, step, x);
  };
  return rc::custom_root([&](T x) { return 2 * x + 0.5 * sin(x) - a; }, 0 * a, newton,
                         [](const auto& g, T y) { return y / g(ones_like(y)); });
}
/// One of the elements of a vector a, by the first one of another vector. The argument's three decimals times 3.7 are
/// never near a whole number, where a rounding would choose another one.
Tensor place_by(T r, T a) { return rc::floor(3.7 * rc::abs(r[0])).to(rc::int64) % a.shape()[0]; }
Tensor exchanged(T a, T c, T r) {
  if (a.dim() == 0) return 0.5 * a + 0.1 * c;
  const Tensor i = place_by(r, a), j = place_by(c, a);
  return rc::index_put(rc::index_put(a, {i}, 0.5 * a.index({j})), {j}, 0.4 * a.index({i}));
}
constexpr Expression expressions[] = {
    {"0.5 a + 0.3 b + 0.1 r", [](T a, T b, T, T r) { return 0.5 * a + 0.3 * b + 0.1 * r; }},
    {"sin(a) c", [](T a, T, T c, T) { return 0.5 * sin(a) * c; }},
    {"tanh(b + r)", [](T, T b, T, T r) { return tanh(b + r) * 0.7; }},
    {"where(a > b)", [](T a, T b, T c, T) { return rc::where(a > b, 0.4 * a, 0.4 * b + 0.1 * c); }},
    {"exp(-a a)", [](T a, T, T, T r) { return exp(-a * a) + 0.1 * r; }},
    {"a b / (1 + c c)", [](T a, T b, T c, T) { return 0.3 * a * b / (1 + c * c + b * b); }},
    {"mean of a", [](T a, T b, T, T) { return 0.5 * b + 0.2 * a.mean(); }},
    {"b", [](T, T b, T, T) { return b; }},
    {"0.2 r", [](T, T, T, T r) { return 0.2 * r; }},
    {"sqrt(1 + a a)", [](T a, T, T c, T) { return 0.3 * sqrt(1 + a * a) - 0.1 * c; }},
    {"flip(a)", [](T a, T b, T, T) { return a.dim() == 0 ? 0.5 * a : 0.5 * rc::flip(a, {0}) + 0.1 * b; }},
    {"a with an element replaced",
     [](T a, T b, T c, T r) {
       if (a.dim() == 0) return 0.5 * b;
       return rc::index_put(a, {place_by(r, a)}, 0.3 * b.index({place_by(c, a)}));
     }},
    {"a with two elements exchanged", [](T a, T, T c, T r) { return exchanged(a, c, r); }},
    {"cond",
     [](T a, T b, T c, T) {
       return rc::cond(
           a.sum() > 0, [](T x, T y) { return 0.5 * x + 0.1 * y; }, [](T x, T y) { return 0.3 * x * y; }, b, c);
     }},
    {"custom_jvp", [](T a, T b, T c, T) { return by_custom_jvp(a, b) + 0.1 * c; }},
    {"custom_root", [](T a, T b, T, T r) { return by_custom_root(a + r) + 0.1 * b; }},
    {"checkpoint",
     [](T a, T b, T, T r) {
       return rc::checkpoint([](T x, T y) { return 0.5 * sin(x) + 0.2 * x * y; })(a, b) + 0.1 * r;
     }},
    {"0.5 a + 0.1 rand", [](T a, T, T, T) { return 0.5 * a + 0.1 * rc::rand_like(a); }},
    {"sin(b) randn", [](T, T b, T, T r) { return 0.2 * sin(b) * rc::randn_like(b) + 0.1 * r; }},
    {"0.1 b times the sum of 3 draws",
     [](T, T b, T c, T) { return 0.1 * b * rc::rand({3}, b.dtype()).sum() + 0.1 * c; }},
    {"checkpoint that draws",
     [](T a, T b, T, T) {
       return rc::checkpoint([](T x, T y) { return 0.5 * sin(x) * rc::rand_like(x) + 0.2 * x * y; })(a, b);
     }},
};

enum class Kind : std::uint8_t { scan, reverse_scan, fori, until_small, until_counted };
constexpr const char* kinds[] = {"scan", "reverse scan", "fori_loop", "while it is large", "while it is counted"};
enum class Around : std::uint8_t { nothing, grad, jvp, grad_grad, jacrev };
constexpr const char* arounds[] = {"f", "grad(f)", "jvp(f)", "grad(grad(f))", "jacrev(f)"};

struct Loop {
  Kind kind;
  Around around;
  std::size_t first, second;  // expressions
  std::int64_t turns, n;      // n: elements of a part of the state; 0: it is a number
  std::int64_t examples;      // 0: no vmap
  bool is_double, maps_captured, sums_rows, draws_after, exchanges_after;

  std::string text() const {
    return std::string(kinds[static_cast<int>(kind)]) + " of " + std::to_string(turns) +
           " turns: a = " + expressions[first].text + ", b = " + expressions[second].text + ", under " +
           arounds[static_cast<int>(around)] + ", n " + std::to_string(n) + ", examples " + std::to_string(examples) +
           (is_double ? ", f64" : ", f32") + (maps_captured ? ", maps c" : "") + (sums_rows ? ", sums rows" : "") +
           (draws_after ? ", draws after" : "") + (exchanges_after ? ", exchanges after" : "");
  }
};

Loop random_loop(Dice& dice) {
  constexpr std::int64_t many[] = {0, 0, 1, 3, 17, 40, 70, 130};
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(dice.below(static_cast<int>(count))); };
  Loop loop{};
  loop.kind = static_cast<Kind>(pick(std::size(kinds)));
  loop.around = static_cast<Around>(pick(std::size(arounds)));
  loop.first = pick(std::size(expressions)), loop.second = pick(std::size(expressions));
  loop.turns = 1 + dice.below(9), loop.n = dice.below(4);
  loop.examples = many[pick(std::size(many))];
  loop.is_double = dice.below(2) == 0, loop.maps_captured = dice.below(2) == 0, loop.sums_rows = dice.below(2) == 0;
  // A program draws another number after a loop that takes no turn (docs/inside/draws.md).
  loop.draws_after = dice.below(4) == 0 && loop.kind != Kind::until_counted;
  loop.exchanges_after = dice.below(3) == 0;
  return loop;
}

// --- What a loop computes: arguments a, b, c and the rows

/// A vector.
Tensor values(const Loop& loop, const List& x) {
  const Tensor &c = x[2], &rows = x[3];
  const auto next = [&](const State& s, const Tensor& r) {
    const auto like = [](const Tensor& y, const Tensor& of) { return rc::expand(y, of.shape()) + 0 * of; };
    return State(like(expressions[loop.first].of(s.first, s.second, c, r), s.first),
                 like(expressions[loop.second].of(s.first, s.second, c, r), s.second));
  };
  const auto elements_after = [&](State last) {
    if (loop.exchanges_after) last.second = exchanged(last.second, c, rows[0]);
    return rc::cat({last.first.flatten(), last.second.flatten()}, 0);
  };
  const State start(x[0], x[1]);
  switch (loop.kind) {
    case Kind::scan:
    case Kind::reverse_scan: {
      const auto step = [&](const State& s, const Tensor& r) {
        const State after = next(s, r);
        return std::pair(after, after.first * s.second);
      };
      const auto [last, stack] = rc::scan(step, start, rows, {.reverse = loop.kind == Kind::reverse_scan});
      return loop.sums_rows ? stack.flatten() : elements_after(last);
    }
    case Kind::fori:
      return elements_after(rc::fori_loop(
          0, loop.turns, [&](const Tensor& i, const State& s) { return next(s, rows[0] + 0.1 * i); }, start));
    case Kind::until_small: {
      using Fading = std::pair<State, Tensor>;
      const Fading last =
          rc::while_loop([](const Fading& s) { return s.second * (1 + s.first.first.square().sum()) > 0.05; },
                         [&](const Fading& s) { return Fading(next(s.first, rows[0]), s.second * 0.6); },
                         Fading(start, rc::ones({}, c.dtype())));
      return elements_after(last.first);
    }
    case Kind::until_counted: {
      using Counted = std::pair<State, Tensor>;
      const Tensor most = 3 + 4 * rc::detach(c.mean());
      const Counted last =
          rc::while_loop([&](const Counted& s) { return s.second < most; },
                         [&](const Counted& s) { return Counted(next(s.first, rows[0]), s.second + 1); },
                         Counted(start, rc::zeros_like(most)));
      return elements_after(last.first);
    }
  }
  return {};
}

Lists transformed(const Loop& loop) {
  const auto all_of = [loop](const List& x) {
    const Tensor y = values(loop, x);
    return loop.draws_after ? y * (1 + 0.1 * rc::rand({}, y.dtype())) : y;
  };
  const auto sum_of = [all_of](const List& x) { return all_of(x).square().sum(); };
  const Lists f = [sum_of](const List& x) { return List{sum_of(x)}; };
  const auto gradient = [sum_of](const List& x) {
    return rc::grad([&](const List& w) { return sum_of({w[0], w[1], w[2], x[3]}); })(List{x[0], x[1], x[2]});
  };
  Lists of_one = f;
  switch (loop.around) {
    case Around::nothing: break;
    case Around::grad: of_one = gradient; break;
    case Around::jvp:
      of_one = [f](const List& x) {
        const auto [y, tangent] = rc::jvp(f, std::tuple<List>(x), std::tuple<List>(List{x[1], x[0], x[2], x[3]}));
        return List{y[0], tangent[0]};
      };
      break;
    case Around::grad_grad:
      of_one = [gradient](const List& x) {
        return rc::grad([&](const List& w) {
          Tensor total = rc::zeros({}, x[0].dtype());
          for (const Tensor& g : gradient({w[0], w[1], x[2], x[3]})) total = total + g.square().sum();
          return total;
        })(List{x[0], x[1]});
      };
      break;
    case Around::jacrev:
      of_one = [all_of](const List& x) {
        return rc::jacrev([&](const List& w) { return all_of({w[0], w[1], w[2], x[3]}); },
                          {.randomness = rc::Randomness::same})(List{x[0], x[1], x[2]});
      };
      break;
  }
  if (loop.examples == 0) return of_one;
  const rc::Dim captured = loop.maps_captured ? rc::Dim(0) : rc::Dim(rc::none);
  const std::vector<rc::Dims> parts{rc::Dim(0), rc::Dim(0), captured, rc::Dim(rc::none)};
  const rc::Dims of_one_argument(std::vector<rc::Dims>{rc::Dims(parts)});
  return rc::vmap(of_one, {.in_dims = of_one_argument, .randomness = rc::Randomness::different});
}

List inputs(const Loop& loop, Dice& dice) {
  List all;
  for (int i = 0; i < 4; ++i) {
    std::vector<std::int64_t> axes;
    if (loop.examples > 0 && (i < 2 || (i == 2 && loop.maps_captured))) axes.push_back(loop.examples);
    if (i == 3) axes.push_back(loop.turns);
    if (loop.n > 0) axes.push_back(loop.n);
    const rc::Shape shape(axes);
    std::vector<double> values;
    for (std::int64_t k = shape.numel().raw(); k > 0; --k) values.push_back(dice.below(2001) / 1000.0 - 1);
    all.push_back(rc::tensor(values).reshape(shape).to(loop.is_double ? rc::float64 : rc::float32).clone());
  }
  return all;
}

void expect_same(const Loop& loop, std::uint64_t seed) {
  Dice dice(seed);
  const Lists f = transformed(loop);
  const auto fast = rc::compile(f);
  const double tolerance = loop.is_double ? 1e-9 : 2e-3;
  for (int call = 0; call < 2; ++call) {  // the second one at the same sizes, with other numbers
    const List x = inputs(loop, dice);
    const auto seeded = [&](const auto& g) {
      rc::manual_seed(seed);
      return g(x);
    };
    const List expected = seeded(f), found = seeded(fast);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Tensor scale = 1 + rc::abs(expected[i]).max();
      const Tensor worst = (rc::abs(found[i] - expected[i]) / scale).max();
      EXPECT_LE(worst.item<double>(), tolerance) << "result " << i << " of loop " << seed << ": " << loop.text();
      EXPECT_TRUE(found[i].shape() == expected[i].shape() && found[i].dtype() == expected[i].dtype()) << loop.text();
    }
  }
}

class CompiledLoops : public testing::TestWithParam<int> {};

TEST_P(CompiledLoops, GiveWhatTheFunctionGives) {
  const auto expect_seed = [](std::uint64_t seed) {
    Dice dice(seed);
    const Loop loop = random_loop(dice);
    if (fuzz::setting("RICCI_FUZZ_SHOW", 0)) std::fprintf(stderr, "%s\n", loop.text().c_str());
    expect_same(loop, seed);
  };
  if (const std::uint64_t seed = fuzz::setting("RICCI_FUZZ_SEED", 0)) {
    if (GetParam() == 0) expect_seed(seed);
    return;
  }
  const std::uint64_t count = fuzz::setting("RICCI_FUZZ_PROGRAMS", loops_by_default);
  for (auto seed = static_cast<std::uint64_t>(GetParam()) + 1; seed <= count; seed += parts) expect_seed(seed);
}
INSTANTIATE_TEST_SUITE_P(, CompiledLoops, testing::Range(0, parts),
                         [](const auto& part) { return "Part" + std::to_string(part.param); });

}  // namespace
