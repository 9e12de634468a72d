// What rc::Function and its kin say of rules that are missing or return what does not fit, and of tensors that reach
// them by capture.
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "support/functions.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

namespace noise {
struct Bare : rc::Function<Bare> {
  static Tensor forward(const Tensor& x) { return x * 2; }
};
}  // namespace noise
using noise::Bare;

Tensor bare(const Tensor& x) { return Bare::apply(x); }

TEST(FunctionErrors, NeitherAVmapRuleNorAGeneratedOne) {
  const Tensor x = ramp({2, 3});
  expect_error<rc::NotImplementedError>(
      [&] { rc::vmap(bare)(x); },
      "Bare: used under vmap, but it has no rule for it; add `static constexpr bool generate_vmap_rule = true`, or "
      "`static auto vmap(const rc::VmapInfo& info, in_dims, arguments…)`\n  inside vmap over axis 0 of 2{at}",
      {x});
}

TEST(FunctionErrors, NoBackwardUnderReverseMode) {
  expect_error<rc::NotImplementedError>([] { rc::grad([](Tensor x) { return bare(x).sum(); })(ramp({3})); },
                                        "Bare: a derivative by reverse mode was asked for, but it has no backward; add "
                                        "`static auto backward(rc::Context& "
                                        "ctx, cotangents…)`\n  inside grad{at}");
}

TEST(FunctionErrors, NoJvpUnderForwardMode) {
  const Tensor x = ramp({3});
  expect_error<rc::NotImplementedError>(
      [&] { rc::jvp(bare, x, x); },
      "Bare: a derivative by forward mode was asked for, but it has no jvp; add `static auto jvp(rc::Context& ctx, "
      "tangents…)`\n  inside jvp{at}",
      {x});
}

TEST(FunctionErrors, AnUndefinedArgumentIsTheFunctionsAffair) {
  struct Optional {
    static Tensor run() { return Bare::apply(Tensor()); }
  };
  expect_error<rc::ValueError>([] { Optional::run(); }, "mul: operand 0 is an undefined Tensor; give it a value first");
}

/// What a rule gives back is set from outside.
struct Wrong : rc::Function<Wrong> {
  static inline Tensor gradient;
  static Tensor forward(const Tensor& x) { return x * 2; }
  static Tensor backward(rc::Context&, const Tensor&) { return gradient; }
  static Tensor jvp(rc::Context&, const Tensor&) { return gradient; }
};

TEST(FunctionErrors, AGradientOfAnotherShape) {
  Wrong::gradient = ramp({2});
  const Tensor x = ramp({3});
  expect_error<rc::ValueError>([&] { rc::grad([](Tensor a) { return Wrong::apply(a).sum(); })(x); },
                               "Wrong: backward returned a gradient f64[2] for argument 0, which is f64[3]; return one "
                               "of that shape, or one that it broadcasts to\n  inside grad{at}",
                               {x});
}

TEST(FunctionErrors, ATangentOfAnotherShape) {
  Wrong::gradient = ramp({2});
  const Tensor x = ramp({3});
  expect_error<rc::ValueError>([&] { rc::jvp([](Tensor a) { return Wrong::apply(a); }, x, x); },
                               "Wrong: jvp returned a tangent f64[2] for output 0, which is f64[3]; return one of that "
                               "shape\n  inside jvp{at}",
                               {x});
}

TEST(FunctionErrors, AnUndefinedGradientIsNone) {
  Wrong::gradient = Tensor();
  expect_values(rc::grad([](Tensor a) { return Wrong::apply(a).sum(); })(ramp({3})), {0, 0, 0});
}

struct TooFew : rc::Function<TooFew> {
  static Tensor forward(const Tensor& x, const Tensor& y) { return x * y; }
  static std::vector<Tensor> backward(rc::Context&, const Tensor& ct) { return {ct}; }
};

TEST(FunctionErrors, ANumberOfGradientsThatIsNotTheArguments) {
  const Tensor x = ramp({3});
  expect_error<rc::ValueError>([&] { rc::grad([](Tensor a) { return TooFew::apply(a, a).sum(); })(x); },
                               "TooFew: backward returned 1 gradient for 2 arguments; return one for each, an "
                               "undefined Tensor for none\n  inside grad{at}",
                               {x});
}

struct ForNumber : rc::Function<ForNumber> {
  static Tensor forward(const Tensor& x, double factor) { return x * factor; }
  static std::pair<Tensor, Tensor> backward(rc::Context&, const Tensor& ct) { return {ct, ct}; }
};

TEST(FunctionErrors, AGradientForANumber) {
  expect_error<rc::TypeError>(
      [] { rc::grad([](Tensor a) { return ForNumber::apply(a, 2.0).sum(); })(ramp({3})); },
      "ForNumber: backward returned a gradient for argument 1, which holds no Tensor; return an "
      "undefined Tensor for it\n  inside grad{at}");
}

struct ListGradient : rc::Function<ListGradient> {
  static Tensor forward(const std::vector<Tensor>& x) { return x[0] + x[1]; }
  static std::vector<Tensor> backward(rc::Context&, const Tensor& ct) { return {ct, ct, ct}; }
};

TEST(FunctionErrors, AGradientOfAnotherTree) {
  const auto f = [](std::vector<Tensor> x) { return ListGradient::apply(x).sum(); };
  expect_error<rc::ValueError>([&] { rc::grad(f)(std::vector<Tensor>{ramp({3}), ramp({3})}); },
                               "ListGradient: backward returned [*, *, *], which does not fit argument 0 [*, *]; "
                               "return that structure\n  inside grad{at}");
}

// ── the context ──

/// Its setup_context or backward does what is set from outside.
struct Probe : rc::Function<Probe> {
  static inline void (*in_setup)(rc::Context&, const Tensor& input, const Tensor& output);
  static inline void (*in_backward)(rc::Context&);
  static Tensor forward(const Tensor& x) { return x * 2; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor& output) {
    ctx.save_for_backward(output);
    ctx.save_value(3);
    if (in_setup) in_setup(ctx, std::get<0>(inputs), output);
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) {
    if (in_backward) in_backward(ctx);
    return ct;
  }
};

template <class E>
void expect_probe_error(void (*in_setup)(rc::Context&, const Tensor&, const Tensor&), void (*in_backward)(rc::Context&),
                        const std::string& text, std::source_location where = std::source_location::current()) {
  Probe::in_setup = in_setup;
  Probe::in_backward = in_backward;
  const Tensor x = ramp({3});
  expect_error<E>([&] { rc::grad([](Tensor a) { return Probe::apply(a).sum(); })(x); }, text + "\n  inside grad{at}",
                  {x}, where);
}

TEST(ContextErrors, ASavedTensorThatIsNotThere) {
  expect_probe_error<rc::IndexError>(
      nullptr, [](rc::Context& ctx) { ctx.saved(1); },
      "Probe: ctx.saved(1) is out of range: setup_context saved 1 tensor");
}

TEST(ContextErrors, ASavedValueThatIsNotThere) {
  expect_probe_error<rc::IndexError>(
      nullptr, [](rc::Context& ctx) { ctx.value<int>(2); },
      "Probe: ctx.value<int>(2) is out of range: setup_context saved 1 value");
}

TEST(ContextErrors, ASavedValueReadAsAnotherType) {
  expect_probe_error<rc::TypeError>(
      nullptr, [](rc::Context& ctx) { ctx.value<double>(0); },
      "Probe: ctx.value<double>(0): value 0 was saved as int; read it as that");
}

TEST(ContextErrors, AnArgumentThatIsNotThere) {
  expect_probe_error<rc::IndexError>(
      nullptr, [](rc::Context& ctx) { ctx.needs_input_grad(1); },
      "Probe: ctx.needs_input_grad(1) is out of range: forward takes 1 argument");
}

TEST(ContextErrors, MarkDirtyOfSomethingElse) {
  expect_probe_error<rc::ValueError>(
      [](rc::Context& ctx, const Tensor& input, const Tensor&) { ctx.mark_dirty(input * 2); }, nullptr,
      "Probe: ctx.mark_dirty was given a tensor that is not an argument of forward; mark the arguments that forward "
      "writes to");
}

TEST(ContextErrors, MarkDirtyOfAnArgumentThatIsNotReturned) {
  expect_probe_error<rc::ValueError>(
      [](rc::Context& ctx, const Tensor& input, const Tensor&) { ctx.mark_dirty(input); }, nullptr,
      "Probe: ctx.mark_dirty was given an argument that forward does not return; return it");
}

TEST(ContextErrors, MarkNonDifferentiableOfSomethingElse) {
  expect_probe_error<rc::ValueError>(
      [](rc::Context& ctx, const Tensor& input, const Tensor&) { ctx.mark_non_differentiable(input); }, nullptr,
      "Probe: ctx.mark_non_differentiable was given a tensor that is not an output of forward; "
      "mark what it returns");
}

struct Unmarked : rc::Function<Unmarked> {
  static Tensor forward(const Tensor& x) { return x.exp_(); }
};
struct Unreturned : rc::Function<Unreturned> {
  static Tensor forward(const Tensor& x) {
    x.exp_();
    return x * 2;
  }
};

TEST(FunctionErrors, AWriteThatIsNotMarkedOrNotReturned) {
  const Tensor x = ramp({3});
  expect_error<rc::TransformError>([&] { Unmarked::apply(x); },
                                   "Unmarked: forward wrote to argument 0, which is not marked; mark it with "
                                   "ctx.mark_dirty in setup_context",
                                   {x});
  expect_error<rc::TransformError>([&] { Unreturned::apply(x); },
                                   "Unreturned: forward wrote to argument 0 without returning it; return it, and mark "
                                   "it with ctx.mark_dirty in setup_context",
                                   {x});
}

/// Writes to another argument each time it runs.
struct Changing : rc::Function<Changing> {
  inline static int runs = 0;
  static std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& y) {
    (runs++ % 2 == 0 ? x : y).exp_();
    return {x, y};
  }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor, Tensor>& inputs,
                            const std::pair<Tensor, Tensor>&) {
    ctx.mark_dirty(std::get<0>(inputs), std::get<1>(inputs));
  }
  static constexpr bool generate_vmap_rule = true;
};

TEST(FunctionErrors, AWriteToAnotherArgumentThanInTheFirstRun) {
  const Tensor x = ramp({3});
  const rc::Program program = rc::trace([](Tensor a) { return Changing::apply(a.clone(), a.clone()).first; })(x);
  const auto slope = rc::grad([&](Tensor a) { return program({a})[0].sum(); });
  expect_error<rc::TransformError>(
      [&] {
        slope(x);
        slope(x);
      },
      "Changing: forward writes to other arguments than in its first run, or returns them at other places; let it do "
      "the same each time, or write to copies\n  inside grad{at}",
      {x});
}

// ── derivatives of derivatives ──

struct Once : rc::Function<Once> {
  static Tensor forward(const Tensor& x) { return x * x; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<0>(inputs));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) { return 2 * ctx.saved(0) * ct; }
  static Tensor jvp(rc::Context& ctx, const Tensor& t) { return 2 * ctx.saved(0) * t; }
  static constexpr bool once_differentiable = true, generate_vmap_rule = true;
};

TEST(FunctionErrors, TheSecondDerivativeOfAFunctionMarkedOnceDifferentiable) {
  const Tensor x = ramp({3});
  const auto f = [](Tensor a) { return Once::apply(a).sum(); };
  const std::string text =
      "Once: a second derivative was asked for, but it is once_differentiable; remove that if its backward is made of "
      "differentiable operations";
  expect_error<rc::TransformError>([&] { rc::grad([&](Tensor a) { return rc::grad(f)(a).sum(); })(x); },
                                   text + "\n  inside grad{at}", {x});
  expect_error<rc::TransformError>([&] { rc::jvp(rc::grad(f), x, x); }, text + "\n  inside grad{at}, inside jvp{at}",
                                   {x});
  expect_error<rc::TransformError>(
      [&] { rc::vmap(rc::grad([](Tensor a) { return rc::grad([](Tensor b) { return Once::apply(b); })(a); }))(x); },
      text + "\n  inside grad{at}, inside vmap over axis 0 of 3{at}", {x});
}

// ── written vmap rules ──

/// out_dims are set from outside.
struct OutDims : rc::Function<OutDims> {
  static inline rc::Dims out_dims = 0;
  static std::pair<Tensor, Tensor> forward(const Tensor& x) { return {x, x}; }
  static auto vmap(const rc::VmapInfo&, const std::tuple<rc::Dim>&, const Tensor& x) {
    return std::pair{std::pair{x, x}, out_dims};
  }
};

TEST(FunctionErrors, OutDimsThatDoNotFitTheOutput) {
  const Tensor x = ramp({2, 3});
  const auto f = [](Tensor a) { return OutDims::apply(a).first; };
  OutDims::out_dims = rc::Dims{0, 0, 0};
  expect_error<rc::ValueError>([&] { rc::vmap(f)(x); },
                               "OutDims: out_dims does not fit the output: out_dims is (0, 0, 0), the output is "
                               "(f64[2,3], f64[2,3]); vmap returns std::pair{output, out_dims}\n"
                               "  inside vmap over axis 0 of 2{at}",
                               {x});
  OutDims::out_dims = rc::Dims{0, 1};
  expect_error<rc::IndexError>([&] { rc::vmap(f)(x); },
                               "OutDims: vmap returned out_dim 1 for an output f64[2,3], which has no axis of the "
                               "batch's size 2 there; return where the batch is, or none\n"
                               "  inside vmap over axis 0 of 2{at}",
                               {x});
}

// ── captures, and functions given as functions ──

TEST(CheckpointErrors, AWriteToACaptureIsRefusedBeforeItHappens) {
  const Tensor x = ramp({3}), captured = ramp({3});
  const auto writes = [&](Tensor a) {
    captured.add_(1);
    return a * 2;
  };
  const auto refused = [](const std::string& transform) {
    return "add_: the target f64[3] was captured from outside " + transform +
           "; a function under differentiation writes only to its arguments and to what it creates: pass it as an "
           "argument, or write to a clone()\n  inside " +
           transform;
  };
  const auto loop = [&](Tensor a) {
    return rc::fori_loop(0, 4, [&](Tensor, Tensor q) { return writes(q); }, a, {.checkpoint = rc::Checkpoints::sqrt});
  };
  expect_error<rc::TransformError>([&] { rc::vjp(rc::checkpoint(writes), x); }, refused("vjp{at}"), {x, captured});
  expect_error<rc::TransformError>([&] { rc::vjp(loop, x); }, refused("vjp{at}"), {x, captured});
  expect_error<rc::TransformError>([&] { rc::jvp(rc::checkpoint(writes), x, x); }, refused("jvp{at}"), {x, captured});
}

TEST(CustomVjpErrors, ForwardMode) {
  const Tensor x = ramp({3});
  const auto f = rc::custom_vjp([](Tensor a) { return a; }, [](Tensor a) { return std::pair{a, 0}; },
                                [](int, Tensor ct) { return ct; });
  expect_error<rc::NotImplementedError>([&] { rc::jvp(f, x, x); },
                                        "custom_vjp: a derivative by forward mode was asked for, but it has a reverse "
                                        "rule alone; use custom_jvp, or an rc::Function with jvp\n  inside jvp{at}",
                                        {x});
}

TEST(CustomVjpErrors, ACotangentOfAnotherShape) {
  const auto f = rc::custom_vjp([](Tensor a) { return a; }, [](Tensor a) { return std::pair{a, 0}; },
                                [](int, Tensor) { return ramp({2}); });
  expect_error<rc::ValueError>([&] { rc::grad([&](Tensor a) { return f(a).sum(); })(ramp({3})); },
                               "custom_vjp: bwd returned a gradient f64[2] for argument 0, which is f64[3]; return one "
                               "of that shape, or one that it broadcasts to\n  inside grad{at}");
}

TEST(CustomRootErrors, AFunctionThatGivesAnotherTree) {
  const auto f = [](std::vector<Tensor> x) { return std::vector<Tensor>{x[0]}; };
  const auto solve = [](const auto&, std::vector<Tensor> x) { return x; };
  const std::vector<Tensor> initial{ramp({3}), ramp({3})};
  expect_error<rc::ValueError>([&] { rc::custom_root(f, initial, solve, solve); },
                               "custom_root: the function returned [*], which does not fit its argument [*, *]; "
                               "return that structure");
}

TEST(CustomRootErrors, AFunctionOrASolverThatGivesAnotherShape) {
  const Tensor a = ramp({3}) + 1;
  const auto equation = [&](Tensor x) { return x * x - a; };
  const auto whole = [](const auto&, Tensor x) { return x; };
  const auto summed = [](const auto&, Tensor x) { return x.sum(); };
  const std::string found = " returned f64[], but its argument is f64[3]; return that shape and dtype";
  const auto root = [&](const auto& solve, const auto& tangent_solve) {
    return [&](Tensor q) {
      return rc::custom_root([q](Tensor x) { return x * x - q; }, ramp({3}), solve, tangent_solve).sum();
    };
  };
  expect_error<rc::ValueError>([&] { rc::custom_root(equation, ramp({3}), summed, whole); },
                               "custom_root: the solver" + found, {a});
  expect_error<rc::ValueError>([&] { rc::jvp(root(whole, summed), a, a); },
                               "custom_root: tangent_solve" + found + "\n  inside jvp{at}", {a});
  expect_error<rc::ValueError>(
      [&] { rc::custom_root([&](Tensor x) { return x.sum(); }, ramp({3}), whole, whole); },
      "custom_root: the function returned f64[], but its argument is f64[3]; return that shape "
      "and dtype",
      {a});
  expect_error<rc::ValueError>([&] { rc::custom_linear_solve([&](Tensor x) { return x * a; }, a, summed, whole); },
                               "custom_linear_solve: the solver" + found, {a});
}

}  // namespace
