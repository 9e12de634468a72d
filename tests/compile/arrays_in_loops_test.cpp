// Arrays that loops carry, read and write: a turn costs what it reads and writes, not what the array holds. Counted in
// bytes of a plan: time is no test. And the elements are those of the function, whoever else reads the array.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compile/function_steps.h"
#include "compile/lane_steps.h"
#include "support/expect_tensor.h"
#include "support/lane_kernels.h"
#include "support/thrown_by.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(const Tensor&)>;
using Pair = std::pair<Tensor, Tensor>;

class ArraysInLoops : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
};

/// `turns` turns that write one element each.
Tensor map_of(const Tensor& x, std::int64_t turns) {
  const auto step = [](const Tensor& t, const Tensor& s) {
    const Tensor now = s.index({t});
    return rc::index_put(s, {t + 1}, 3.2 * now * (1 - now));
  };
  return rc::fori_loop(0, turns, step, x);
}

// ── what a turn costs ──

/// Bytes that a step writes. A kernel's results have their sizes, a call of the library those that it does not replace
/// a part of.
struct BytesOfStep {
  const rc::compiled::PlannedFunction& of;

  std::int64_t operator()(const rc::compiled::CopyStep& s) const {
    std::int64_t bytes = static_cast<std::int64_t>(rc::element_size(s.dtype));
    for (const std::int64_t size : s.shape) bytes *= size;
    return bytes;
  }
  std::int64_t operator()(const rc::compiled::MoveStep& s) const {
    return static_cast<std::int64_t>(rc::element_size(s.dtype)) * s.count;
  }
  std::int64_t operator()(const rc::compiled::PlacesStep& s) const {
    std::int64_t bytes = static_cast<std::int64_t>(rc::element_size(s.dtype));
    for (const std::int64_t size : s.shape) bytes *= size;
    return bytes + (s.totals ? 8 * s.elements : 0);
  }
  std::int64_t operator()(const rc::compiled::CallStep& s) const {
    const rc::compiled::LibraryCall& call = of.calls[static_cast<std::size_t>(s.number)];
    return of_types(call.replaces ? rc::Types{call.in[1]} : call.out);
  }
  std::int64_t operator()(const rc::compiled::KernelStep& s) const {
    const auto outputs = static_cast<std::int64_t>(s.plan->program.outputs.size());
    std::int64_t lanes = 1;
    for (const rc::compiled::Stage& stage : s.plan->stages)
      if (stage.has_lane()) lanes = s.lanes;
    return 8 * outputs * lanes * s.positions;
  }
  std::int64_t operator()(const rc::compiled::LoopStep& s) const {
    std::int64_t bytes = of_all(s.body) + of_all(s.condition);
    for (const auto* rows : {&s.reads, &s.writes})
      for (const rc::compiled::RowCopy& row : *rows) bytes += row.bytes;
    for (const rc::compiled::CopyStep& next : s.next) bytes += (*this)(next);
    return bytes;
  }
  std::int64_t operator()(const rc::compiled::BranchStep& s) const {
    std::int64_t most = 0;
    for (const auto& branch : s.branches) most = std::max(most, of_all(branch));
    return most;
  }
  template <class Other>
  std::int64_t operator()(const Other&) const {
    return 0;
  }
  std::int64_t of_all(const std::vector<rc::compiled::Step>& steps) const {
    std::int64_t bytes = 0;
    for (const rc::compiled::Step& step : steps) bytes += std::visit(*this, step.what);
    return bytes;
  }
  static std::int64_t of_types(const rc::Types& types) {
    std::int64_t bytes = 0;
    for (const rc::Type& type : types) bytes += rc::bytes_of(type);
    return bytes;
  }
};

/// Bytes that the turns of a function's loops write, one turn of each loop.
std::int64_t bytes_of_a_turn(const Function& f, const Tensor& x) {
  rc::ProgramBody open = rc::trace(f)(x).simplified().body();
  const std::shared_ptr<rc::SymbolTable> symbols = std::exchange(open.symbols, nullptr);
  rc::Program program(rc::Shared<const rc::ProgramBody>(new rc::ProgramBody(std::move(open))));
  const rc::Shape& shape = x.shape();
  if (symbols)
    program = program.in_call(
        std::make_shared<const rc::CallSizes>(symbols, std::vector<rc::Size>(shape.begin(), shape.end())));
  program = rc::compiled::with_kernels_throughout(rc::resolved(program));
  const rc::compiled::PlannedFunction planned = rc::compiled::planned_in_library(program);
  std::int64_t bytes = 0, loops = 0;
  for (const rc::compiled::Step& step : planned.plan.steps)
    if (const auto* const loop = std::get_if<rc::compiled::LoopStep>(&step.what)) {
      bytes += BytesOfStep{planned}(*loop);
      ++loops;
    }
  EXPECT_GT(loops, 0);
  return bytes;
}

struct Case {
  const char* name;
  Function f;  // of an array of any size from 20 elements on
};
std::vector<Case> cases() {
  const auto total = [](const Function& f) {
    return [=](const Tensor& x) { return rc::grad([=](const Tensor& a) { return rc::square(f(a)).sum(); })(x); };
  };
  const auto all = [](const Tensor& x) { return map_of(x, 12); };
  const auto read = [](const Tensor& x) {
    const auto step = [&](const Tensor& s, const Tensor& t) { return Pair(s + rc::sin(x.index({t})), s); };
    return rc::scan(step, rc::zeros({}, x.dtype()), rc::arange(12)).second;
  };
  const auto sums = [](const Tensor& x) {
    const auto step = [](const Tensor& t, const Tensor& s) { return rc::index_put(s, {t + 1}, s.index({t}), true); };
    return rc::fori_loop(0, 12, step, x);
  };
  const auto chosen = [](const Tensor& x) {
    const auto put = [](const Tensor& s, const Tensor& t) { return rc::index_put(s, {t + 1}, s.index({t}) * 0.7); };
    const auto leave = [](const Tensor& s, const Tensor&) { return s; };
    const auto step = [=](const Tensor& t, const Tensor& s) { return rc::cond(s.index({t}) > 0.5, put, leave, s, t); };
    return rc::fori_loop(0, 12, step, x);
  };
  const auto nested = [](const Tensor& x) {
    const auto inner = [](const Tensor& t, const Tensor& s) { return rc::index_put(s, {t + 1}, s.index({t}) * 0.7); };
    const auto step = [=](const Tensor& t, const Tensor& s) {
      return rc::fori_loop(0, 3, inner, rc::index_put(s, {t}, s.index({t + 1})));
    };
    return rc::fori_loop(0, 12, step, x);
  };
  const auto slots = [](const Tensor& x) {
    const auto step = [](const Tensor& s, const Tensor& t) {
      return std::pair(rc::index_put(s, {t}, s.index({t - 1})), std::tuple<>());
    };
    return rc::scan(step, rc::outer(x, rc::ones({3})), rc::arange(1, 12)).first;
  };
  const auto part = [](const Tensor& x) {
    const auto step = [](const Tensor& t, const Tensor& s) {
      const Tensor y = rc::index_put(s, {t + 1}, s.index({t}) * 0.7);
      return rc::select_scatter(y, y.select(0, -1) * 0.9, 0, 4);
    };
    return rc::fori_loop(0, 12, step, x);
  };
  const auto until = [](const Tensor& x) {
    const auto goes_on = [](const Pair& s) { return s.second < 12; };
    const auto step = [](const Pair& s) {
      return Pair(rc::index_put(s.first, {s.second + 1}, rc::sin(s.first.index({s.second}))), s.second + 1);
    };
    return rc::while_loop(goes_on, step, Pair(x, rc::zeros({}, rc::int64))).first;
  };
  return {{"write", all},  {"write, gradient", total(all)},  {"read", read},           {"read, gradient", total(read)},
          {"add", sums},   {"add, gradient", total(sums)},   {"branch", chosen},       {"loop in a loop", nested},
          {"rows", slots}, {"rows, gradient", total(slots)}, {"unknown length", until},
          {"part", part}};
}

TEST_F(ArraysInLoops, ATurnWritesAsManyBytesHoweverLargeTheArrayIs) {
  for (const Case& c : cases())
    EXPECT_EQ(bytes_of_a_turn(c.f, rc::rand({2000})), bytes_of_a_turn(c.f, rc::rand({4000}))) << c.name;
}

/// A vector by a matrix from each side, and the reverse modes, in which the matrix stands transposed.
std::vector<Case> products(std::int64_t n, rc::DType dtype) {
  const Tensor w = rc::rand({n, n}, dtype) / n;
  const auto loop = [](const Function& product) {
    return [=](const Tensor& x) {
      return rc::fori_loop(0, 5, [=](const Tensor&, const Tensor& s) { return rc::tanh(product(s)); }, x);
    };
  };
  const auto recurrent = [](const Function& product) {
    return [=](const Tensor& x) {
      const auto step = [=](const Tensor& s, const Tensor& t) {
        const Tensor next = rc::tanh(product(s) + t);
        return Pair(next, next);
      };
      return rc::scan(step, x, rc::ones({5, 1}, x.dtype())).second;
    };
  };
  const auto of_rows = [](const Function& f) {
    return [=](const Tensor& x) { return f(rc::outer(rc::ones({4}, x.dtype()), x)); };
  };
  const auto reverse = [](const Function& f) {
    return [=](const Tensor& x) { return rc::grad([=](const Tensor& a) { return rc::square(f(a)).sum(); })(x); };
  };
  const Function from_left = [=](const Tensor& s) { return matmul(s, w); };
  const Function transposed = [=](const Tensor& s) { return matmul(w.t(), s); };
  const Function from_right = [=](const Tensor& s) { return matmul(w, s); };
  const Function rows_by_transposed = [=](const Tensor& s) { return matmul(s, w.t()); };
  return {{"x W", loop(from_left)},
          {"Wᵀ x", loop(transposed)},
          {"W x", loop(from_right)},
          {"rows W", of_rows(loop(from_left))},
          {"rows Wᵀ", of_rows(loop(rows_by_transposed))},
          {"x W in a scan", recurrent(from_left)},
          {"x W, gradient", reverse(loop(from_left))},
          {"W x, gradient", reverse(loop(from_right))},
          {"rows W, gradient", reverse(of_rows(loop(from_left)))},
          {"W x in a scan, gradient", reverse(recurrent(from_right))}};
}

TEST_F(ArraysInLoops, AProductReadsAMatrixWhereItLies) {
  constexpr std::int64_t n = 300, bytes_of_matrix = n * n * 4;
  for (const Case& c : products(n, rc::float32))
    EXPECT_LT(bytes_of_a_turn(c.f, rc::rand({n})), bytes_of_matrix / 4) << c.name;
}

// ── what they give ──

template <class F>
void expect_what_it_gives(const char* name, const F& f, const Tensor& x) {
  const Tensor before = x.clone();
  const auto fast = rc::compile(f);
  for (int i = 0; i < 3; ++i) expect_close(fast(x), f(x));
  EXPECT_TRUE(rc::equal(x, before)) << name << " changed its argument";
}

TEST_F(ArraysInLoops, GiveWhatTheFunctionGivesUnderTransforms) {
  for (const std::int64_t n : {20, 40, 300, 1200})
    for (const Case& c : cases()) {
      const Tensor x = rc::rand({n}, rc::float64);
      const auto along = [&](const Tensor& a) { return rc::jvp(c.f, std::tuple(a), std::tuple(a * 0.5)).second; };
      expect_what_it_gives(c.name, c.f, x);
      expect_what_it_gives(c.name, along, x);
      expect_what_it_gives(c.name, rc::vmap(c.f), rc::rand({3, n}, rc::float64));
    }
}

TEST_F(ArraysInLoops, GiveProductsOfMatricesThatLieInAnyWay) {
  for (const rc::DType dtype : {rc::float32, rc::float64})
    for (const std::int64_t n : {8, 130, 300})
      for (const Case& c : products(n, dtype)) expect_what_it_gives(c.name, c.f, rc::rand({n}, dtype));
}

/// Operands that lie column by column, every other element, or again and again, where the library computes.
TEST_F(ArraysInLoops, AreReadByTheLibraryWhereverTheyLie) {
  const auto in_a_loop = [](const Function& step) {
    return [=](const Tensor& x) {
      const Tensor columns = rc::outer(x, rc::sin(x)).t(), some = columns.slice(0, 1, x.size(0), 2);
      const Tensor spread = x.unsqueeze(1).expand({x.size(0), 3});
      const auto next = [&](const Tensor&, const Tensor& s) {
        return 0.5 * s + step(columns * s) + step(some) * 0.25 + step(spread);
      };
      return rc::fori_loop(0, 3, next, rc::zeros({}, x.dtype()));
    };
  };
  const auto twice =
      rc::custom_vjp([](const Tensor& x) { return x * 2; }, [](const Tensor& x) { return std::pair{x * 2, 0}; },
                     [](int, const Tensor& g) { return g * 2; });
  const std::pair<const char*, Function> steps[] = {
      {"elementwise", [](const Tensor& x) { return rc::lgamma(x.t() + 2).sum(); }},
      {"sum", [](const Tensor& x) { return (x.sum(0) * rc::arange(x.size(1))).sum(); }},
      {"sorted", [](const Tensor& x) { return (rc::sort(x.t(), 0).first * rc::arange(x.size(0))).sum(); }},
      {"put",
       [](const Tensor& x) {
         const Tensor row = x.select(1, 1) * 2;
         return (rc::index_put(x.t(), {rc::zeros({}, rc::int64)}, row) * rc::arange(x.size(0))).sum();
       }},
      {"decomposed", [](const Tensor& x) { return rc::svdvals(x.t()).sum(); }},
      {"a function of the user's", [=](const Tensor& x) { return (twice(x.t()) * x.t()).sum(); }}};
  for (const auto& [name, step] : steps)
    for (const std::int64_t n : {6, 120})
      expect_what_it_gives(name, in_a_loop(step), rc::rand({n}, rc::float64));
}

TEST_F(ArraysInLoops, AreReadBeforeTheyAreOverwritten) {
  const auto put = [](const Tensor& to, const Tensor& t, const Tensor& from) {
    return rc::index_put(to, {t}, from.index({t + 1}) * 0.5);
  };
  const auto both = [=](const auto& next, std::size_t which) {
    return [=](const Tensor& x) {
      const Pair last = rc::fori_loop(0, 12, next, Pair(x, x * 2));
      return which == 0 ? last.first : last.second;
    };
  };
  const auto old = [=](const Tensor& t, const Pair& s) { return Pair(put(s.first, t, s.second), s.first); };
  const auto swapped = [=](const Tensor& t, const Pair& s) {
    return Pair(put(s.second, t, s.first), put(s.first, t + 1, s.second));
  };
  const auto twice = [=](const Tensor& t, const Pair& s) {
    const Tensor y = put(s.first, t, s.second);
    return Pair(y, y);
  };
  const auto after = [=](const Tensor& t, const Pair& s) {
    const Tensor y = put(s.first, t, s.first);
    return Pair(y + 0.1 * s.first, rc::index_put(s.second, {t}, s.first.index({t})));
  };
  const auto turned = [=](const Tensor& t, const Pair& s) {
    return Pair(put(s.first, t, s.second).flip({0}), s.second);
  };
  const auto captured = [](const Tensor& x) {
    const auto step = [&](const Tensor& t, const Tensor& s) {
      return rc::index_put(s, {t}, x.index({t + 1}) * s.index({t}));
    };
    return rc::fori_loop(0, 12, step, x) + x;
  };
  const auto transposed = [](const Tensor& x) {
    const auto step = [](const Tensor& t, const Tensor& s) {
      return rc::index_put(s.t(), {t, t + 1}, s.index({t, t + 1})).t();
    };
    return rc::fori_loop(0, 12, step, rc::outer(x, x));
  };
  const auto overlapping = [](const Tensor& x) {
    const auto step = [](const Tensor& t, const Tensor& s) {
      const Tensor y = s.clone();
      y.slice(0, 1, 4) = s.slice(0, 0, 3) * 0.5 + t;
      y[0] = y[4] * 2;
      return y;
    };
    return rc::fori_loop(0, 12, step, x);
  };
  for (const std::int64_t n : {20, 300}) {
    const Tensor x = rc::rand({n}, rc::float64);
    for (const std::size_t which : {0U, 1U}) {
      expect_what_it_gives("old", both(old, which), x);
      expect_what_it_gives("swapped", both(swapped, which), x);
      expect_what_it_gives("twice", both(twice, which), x);
      expect_what_it_gives("after", both(after, which), x);
      expect_what_it_gives("turned", both(turned, which), x);
    }
    expect_what_it_gives("captured", captured, x);
    expect_what_it_gives("transposed", transposed, x);
    expect_what_it_gives("overlapping", overlapping, x);
  }
}

TEST_F(ArraysInLoops, ThatPassUnchangedHaveCompiledJacobians) {
  const auto state = [](const Tensor& x) {
    const auto next = [](const Tensor&, const Pair& s) { return Pair(s.first * 0.5, s.second); };
    const Pair last = rc::fori_loop(0, 3, next, Pair(x.slice(0, 0, 4), x.slice(0, 4, 28)));
    return rc::cat({last.first, last.second}, 0);
  };
  const auto carry = [](const Tensor& x) {
    const auto next = [](const Tensor& c, const Tensor& row) { return Pair(c, row * 2); };
    const Pair last = rc::scan(next, x.slice(0, 4, 28), x.slice(0, 0, 4));
    return rc::cat({last.first, last.second}, 0);
  };
  const auto all = [](const Tensor& x) {
    return rc::fori_loop(0, 3, [](const Tensor&, const Tensor& s) { return s; }, x * 1.0);
  };
  for (const Function& f : {Function(state), Function(carry), Function(all)})
    expect_what_it_gives("jacobian", rc::jacrev(f), rc::rand({28}, rc::float64));
}

// Each row of a Jacobian begins with an element that is 1, and the way back writes in what the rows have at an array.
TEST_F(ArraysInLoops, HaveTheJacobianOfTheFunction) {
  const auto f = [](const Tensor& x) {
    const auto step = [](const Tensor& t, const Pair& s) {
      const auto& [a, m] = s;
      const Tensor row = m.index({(t + 1) % 4});
      return Pair(rc::index_put(a, {t % 4}, row.sum() * a.index({(t + 2) % 4})), rc::index_put(m, {t % 4}, row * 0.5));
    };
    const auto [a, m] = rc::fori_loop(0, 3, step, Pair(x.slice(0, 0, 4), x.slice(0, 4, 12).view({4, 2})));
    const Tensor first = rc::zeros({}, rc::int64), last = first + 3;
    const Tensor swapped = rc::index_put(rc::index_put(a, {first}, a.index({last})), {last}, a.index({first}));
    return rc::cat({m.flatten(), swapped}, 0);
  };
  const Tensor x = rc::rand({12}, rc::float64);
  expect_what_it_gives("jacrev", rc::jacrev(f), x);
  expect_what_it_gives("jacfwd", rc::jacfwd(f), x);
}

TEST_F(ArraysInLoops, AnIndexOutOfRangeThrowsWhatTheFunctionThrowsAndLeavesTheArgument) {
  const Tensor x = rc::rand({20}), before = x.clone();
  const auto f = [](const Tensor& a) {
    return rc::fori_loop(0, 30, [&](const Tensor& t, const Tensor& s) { return s + a.index({t}); }, rc::zeros({}));
  };
  const auto g = [](const Tensor& a) { return map_of(a, 30); };
  const auto fast_f = rc::compile(f);
  const auto fast_g = rc::compile(g);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(thrown_by([&] { fast_f(x); }), thrown_by([&] { f(x); }));
    EXPECT_NE(thrown_by([&] { fast_g(x); }).find("index 20 is out of range"), std::string::npos);
  }
  EXPECT_TRUE(rc::equal(x, before));
}

// ── what all examples share ──

/// More elements than there are registers, in the step, as a result and as the first state.
TEST_F(ArraysInLoops, ReadMatricesThatAllExamplesShare) {
  for (const rc::DType dtype : {rc::float32, rc::float64})
    for (const std::int64_t n : {2, 4, 10, 14}) {
      const auto f = rc::vmap(
          [](const Tensor& matrix, const Tensor& shared, const Tensor& x) {
            using State = std::tuple<Tensor, Tensor, Tensor>;
            const auto step = [&](const Tensor&, const State& s) {
              const auto& [y, first, trace] = s;
              return State{0.3 * matmul(matrix, y) + shared * first, first * 0.9, trace + matrix.diagonal().sum()};
            };
            return rc::fori_loop(0, 7, step, State{x, shared, matrix[0][1]});
          },
          {.in_dims = {rc::none, rc::none, 0}});
      const Tensor matrix = rc::rand({n, n}, dtype), shared = rc::rand({n}, dtype);
      const auto fast = rc::compile(f);
      for (const std::int64_t examples : {40, 3, 64}) {
        const Tensor x = rc::rand({examples, n}, dtype);
        const auto [y, first, trace] = f(matrix, shared, x);
        const auto [fast_y, fast_first, fast_trace] = fast(matrix, shared, x);
        expect_close(fast_y, y, 2e-6);
        expect_close(fast_first, first, 2e-6);
        expect_close(fast_trace, trace, 2e-6);
      }
    }
}

}  // namespace
