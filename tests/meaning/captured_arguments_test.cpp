// Custom functions that capture an argument of a recorded or compiled function: their rules see the operand that stands
// for it. Example: grad of the compiled function works if grad of the function itself works, and is refused if not.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/functions.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Step = std::function<Tensor(Tensor)>;
using OfTwo = std::function<Tensor(Tensor, Tensor)>;

// ── sin(y) w with the slope 2 cos(y) w, so that the rules are told from the derivative of the value; w is captured ──

Tensor value_of(const Tensor& y, const Tensor& w) { return sin(y) * w; }
Tensor slope_of(const Tensor& y, const Tensor& w) { return 2 * cos(y) * w; }

Step by_vjp(const Tensor& w) {
  return rc::custom_vjp([=](Tensor y) { return value_of(y, w); },
                        [=](Tensor y) { return std::pair{value_of(y, w), y}; },
                        [=](Tensor y, Tensor ct) { return ct * slope_of(y, w); });
}

Step by_jvp(const Tensor& w) {
  return rc::custom_jvp([=](Tensor y) { return value_of(y, w); },
                        [=](std::tuple<Tensor> y, std::tuple<Tensor> t) {
                          return std::pair{value_of(std::get<0>(y), w), std::get<0>(t) * slope_of(std::get<0>(y), w)};
                        });
}

/// Its functions are static: they find the tensor in a place of their own.
struct SineBy : rc::Function<SineBy> {
  static inline Tensor factor;
  static Tensor forward(const Tensor& y) { return value_of(y, factor); }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<0>(inputs));
    ctx.save_for_forward(std::get<0>(inputs));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) { return ct * slope_of(ctx.saved(0), factor); }
  static Tensor jvp(rc::Context& ctx, const Tensor& t) { return t * slope_of(ctx.saved(0), factor); }
  static constexpr bool generate_vmap_rule = true;
};
Step by_function(const Tensor& w) {
  SineBy::factor = w;
  return [](Tensor y) { return SineBy::apply(y); };
}

struct Kind {
  std::string name;
  std::function<Step(Tensor)> step;
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{"custom_vjp", by_vjp}, {"custom_jvp", by_jvp}, {"Function", by_function}};
  return all;
}

// ── where the function is called ──

struct Place {
  std::string name;
  std::function<Tensor(const Step& step, Tensor x)> run;
  std::string without_checkpoints = {};  // the place that computes the same without
};
const std::vector<Place>& places() {
  static const std::vector<Place> all = {
      {"no loop", [](const Step& step, Tensor x) { return step(x); }},
      {"fori_loop",
       [](const Step& step, Tensor x) { return rc::fori_loop(0, 3, [=](Tensor, Tensor y) { return step(y); }, x); }},
      {"while_loop",
       [](const Step& step, Tensor x) {
         const auto goes_on = [](std::pair<Tensor, Tensor> s) { return s.second < 2.5; };
         const auto next = [=](std::pair<Tensor, Tensor> s) { return std::pair{step(s.first), s.second + 1}; };
         return rc::while_loop(goes_on, next, std::pair{x, rc::tensor(0., rc::float64)}).first;
       }},
      {"scan",
       [](const Step& step, Tensor x) {
         const auto next = [=](Tensor y, Tensor by) { return std::pair{step(y) * by, y}; };
         return rc::scan(next, x, doubles({1, 0.5})).first;
       }},
      {"cond",
       [](const Step& step, Tensor x) { return rc::cond(x.sum() > 0, step, [](Tensor y) { return y * 2; }, x); }},
      {"cond in a loop",
       [](const Step& step, Tensor x) {
         const auto next = [=](Tensor i, Tensor y) { return rc::cond(i > 0, step, [](Tensor z) { return z * 2; }, y); };
         return rc::fori_loop(0, 3, next, x);
       }},
      {"fori_loop with checkpoints",
       [](const Step& step, Tensor x) {
         return rc::fori_loop(0, 3, [=](Tensor, Tensor y) { return step(y); }, x,
                              {.checkpoint = rc::Checkpoints::sqrt});
       },
       "fori_loop"},
      {"checkpoint", [](const Step& step, Tensor x) { return rc::checkpoint(step)(x); }, "no loop"},
  };
  return all;
}

// ── transforms around the function ──

struct Around {
  std::string name;
  std::function<Tensor(const OfTwo& f)> run;
};

Tensor at(double number) { return rc::tensor(number, rc::float64); }

const std::vector<Around>& transforms() {
  static const Tensor x = at(0.6), w = at(1.3), xs = doubles({0.6, 1.1}), ws = doubles({1.3, 0.8});
  static const std::vector<Around> all = {
      {"nothing", [](const OfTwo& f) { return f(x, w); }},
      {"vmap", [](const OfTwo& f) { return rc::vmap(f, {.in_dims = {0, rc::none}})(xs, w); }},
      {"grad", [](const OfTwo& f) { return rc::grad<0>(f)(x, w); }},
      {"jvp", [](const OfTwo& f) { return std::get<1>(rc::jvp([=](Tensor y) { return f(y, w); }, x, at(1))); }},
      {"second grad",
       [](const OfTwo& f) {
         const auto first = [=](Tensor y) { return rc::grad<0>(f)(y, w); };
         return rc::grad(first)(x);
       }},
      {"vmap of grad", [](const OfTwo& f) { return rc::vmap(rc::grad<0>(f), {.in_dims = {0, rc::none}})(xs, w); }},
      {"grad of vmap",
       [](const OfTwo& f) {
         return rc::grad([=](Tensor y) { return rc::vmap(f, {.in_dims = {0, rc::none}})(y, w).sum(); })(xs);
       }},
      {"vmap of grad, w per example", [](const OfTwo& f) { return rc::vmap(rc::grad<0>(f))(xs, ws); }},
      {"vmap, w per example", [](const OfTwo& f) { return rc::vmap(f)(xs, ws); }},
      {"grad by w", [](const OfTwo& f) { return rc::grad<1>(f)(x, w); }},
      {"jvp along w", [](const OfTwo& f) { return std::get<1>(rc::jvp([=](Tensor v) { return f(x, v); }, w, at(1))); }},
      {"linearize", [](const OfTwo& f) { return rc::linearize([=](Tensor y) { return f(y, w); }, x).second(at(1)); }},
      {"a pullback that is called later",
       [](const OfTwo& f) {
         const auto pullback = rc::vjp([=](Tensor y) { return f(y, w); }, x).second;
         return pullback(at(1)) + pullback(at(0.5));
       }},
  };
  return all;
}

// ── outcomes ──

/// The value, or what refused it.
struct Outcome {
  Tensor value;
  std::string error;
};
Outcome outcome_of(const Around& around, const OfTwo& f) {
  try {
    return {around.run(f), ""};
  } catch (const rc::Error& error) { return {Tensor(), error.what()}; }
}
/// What the errors have in common.
std::string remedy_in(const std::string& error) {
  for (const char* remedy : {"pass it as an argument", "it has a reverse rule alone"})
    if (error.find(remedy) != std::string::npos) return remedy;
  return error;
}

/// Eagerly, a checkpoint refuses more than its function does: it computes the value of all examples at once. The
/// derivative of a compiled function is a program without custom functions, which may work there.
void expect_alike(const Outcome& found, const Outcome& expected, const Outcome& without_checkpoints) {
  const Tensor value = expected.value.defined() ? expected.value : without_checkpoints.value;
  if (!found.error.empty() || !value.defined()) {
    EXPECT_EQ(remedy_in(found.error), remedy_in(expected.error));
    return;
  }
  expect_close(found.value, value);
}

OfTwo function_of(const Kind& kind, const std::string& name) {
  const auto named = [&](const Place& place) { return place.name == name; };
  const Place& place = *std::find_if(places().begin(), places().end(), named);
  return [=](Tensor x, Tensor w) { return place.run(kind.step(w), x); };
}

TEST(CapturedArguments, OfACustomFunctionGiveWhatTheyGiveEagerlyOrTheSameError) {
  for (const Kind& kind : kinds())
    for (const Place& place : places())
      for (const Around& around : transforms()) {
        SCOPED_TRACE(kind.name + " in " + place.name + " under " + around.name);
        const OfTwo f = function_of(kind, place.name);
        const Outcome expected = outcome_of(around, f);
        const Outcome without_checkpoints = place.without_checkpoints.empty()
                                                ? expected
                                                : outcome_of(around, function_of(kind, place.without_checkpoints));
        const rc::Program p = rc::trace(f)(at(0.2), at(0.4));
        const OfTwo recorded = [=](Tensor x, Tensor w) { return p({x, w})[0]; };
        expect_alike(outcome_of(around, recorded), expected, without_checkpoints);
        expect_alike(outcome_of(around, rc::compile(f)), expected, without_checkpoints);
        EXPECT_FALSE(rc::inside_transform());
      }
}

/// The rules also see the sizes of the operand, not those of the recording.
TEST(CapturedArguments, HaveTheSizesOfTheCall) {
  const auto f = [](Tensor x, Tensor w) {
    const Tensor twice = 2 * w, row = w[0];
    const auto value = [=](Tensor y) { return sin(y) * twice + row; };
    const auto step = rc::custom_vjp(
        value, [=](Tensor y) { return std::pair{value(y), y}; },
        [=](Tensor y, Tensor ct) {
          const Tensor rows = rc::ones(twice.shape(), rc::float64) * twice.shape()[0] + row * twice[1];
          return (ct * cos(y) * twice * rows).sum(0);
        });
    return rc::fori_loop(0, 2, [=](Tensor, Tensor y) { return step(y).sum(0); }, x).sum();
  };
  const auto gradient = rc::grad<0>(f);
  const auto of_compiled = rc::grad<0>(rc::compile(f));
  for (const std::int64_t rows : {20, 30, 40}) {
    const Tensor w = ramp({rows, rows + 3}) * 0.01, x = ramp({rows + 3});
    expect_close(of_compiled(x, w), gradient(x, w));
  }
}

/// The value, a program, has no operand for it. The error says what can be done.
TEST(CapturedArguments, OfARuleAloneAreRefused) {
  const auto f = [](Tensor x, Tensor w) {
    const auto step = rc::custom_vjp([](Tensor y) { return sin(y); }, [](Tensor y) { return std::pair{sin(y), y}; },
                                     [=](Tensor y, Tensor ct) { return ct * cos(y) * w; });
    return rc::fori_loop(0, 2, [=](Tensor, Tensor y) { return step(y); }, x);
  };
  const Tensor x = at(0.6), w = at(1.3);
  expect_error<rc::TransformError>(
      [&] { rc::grad<0>(rc::compile(f))(x, w); },
      "mul: an operand f64[] was captured by a rule of custom_vjp alone, not by its value: it left compile{at}, which "
      "has ended; pass it as an argument\n  inside grad{at}",
      {x, w});
  // Where the recording has not ended, the rule reads the argument.
  expect_close(rc::compile(rc::grad<0>(f))(x, w), rc::grad<0>(f)(x, w));
}

}  // namespace
