// Simplified programs, as a reader sees them. That they compute the same, bit for bit, is a law in laws/programs_test.
#include <algorithm>
#include <cmath>
#include <limits>

#include "program/program.h"
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Primitives that share a name.
template <int difference>
struct Moved {
  using kind = rc::Explicit;
  static constexpr const char* name = "moved";
  static constexpr bool locally_constant = true;

  rc::Type type(const rc::Type& x) const { return x; }
  void eval(rc::Outputs out, rc::Inputs in) const {
    const auto* from = static_cast<const float*>(in[0].data);
    for (std::int64_t i = 0; i < in[0].shape[0]; ++i) static_cast<float*>(out[0].data)[i] = from[i] + difference;
  }
  Moved lifted() const { return {}; }
  Tensor operator()(const Tensor& x) const { return rc::apply(*this, x); }
};
using OneMore = Moved<1>;
using OneLess = Moved<-1>;

std::string simplified(const char* text) { return rc::to_string(rc::parse_program(text, {}).simplified()); }

TEST(Simplified, ComputesEqualThingsOnce) {
  EXPECT_EQ(simplified("program(a: f32[s0]) {\n"
                       "  b: f32[] = select[axis=0, index=1] a\n"
                       "  c: f32[] = sin b\n"
                       "  d: f32[] = select[axis=0, index=1] a\n"
                       "  e: f32[] = sin d\n"
                       "  f: f32[] = mul c e\n"
                       "  return f e\n"
                       "}\n"),
            "program(a: f32[s0]) {\n"
            "  b: f32[] = select[axis=0, index=1] a\n"
            "  c: f32[] = sin b\n"
            "  d: f32[] = mul c c\n"
            "  return d c\n"
            "}\n");
}

// A matrix from outside may lie in another order than the copy.
TEST(Simplified, LeavesOutCatOfOneVector) {
  EXPECT_EQ(simplified("program(a: f32[s0], b: f32[s0,3]) {\n"
                       "  c: f32[s0] = cat[axis=0] a\n"
                       "  d: f32[s0] = sin c\n"
                       "  e: f32[s0,3] = cat[axis=0] b\n"
                       "  return d e\n"
                       "}\n"),
            "program(a: f32[s0], b: f32[s0,3]) {\n"
            "  c: f32[s0] = sin a\n"
            "  d: f32[s0,3] = cat[axis=0] b\n"
            "  return c d\n"
            "}\n");
}

TEST(Simplified, LeavesOutViewsThatChangeNothingAndViewsOfViews) {
  EXPECT_EQ(simplified("program(a: f32[s0,3]) {\n"
                       "  b: f32[s0,3] = reshape[shape=(s0,3)] a\n"
                       "  c: f32[3,s0] = permute[axes=(1,0)] b\n"
                       "  d: f32[s0,3,1] = reshape[shape=(s0,3,1)] b\n"
                       "  e: f32[s0,3] = reshape[shape=(s0,3)] d\n"
                       "  f: f32[3*s0] = reshape[shape=(3*s0)] d\n"
                       "  return c e f\n"
                       "}\n"),
            "program(a: f32[s0,3]) {\n"
            "  b: f32[3,s0] = permute[axes=(1,0)] a\n"
            "  c: f32[3*s0] = reshape[shape=(3*s0)] a\n"
            "  return b a c\n"
            "}\n");
}

TEST(Simplified, LeavesOutTwoViewsThatChangeNothingTogether) {
  EXPECT_EQ(simplified("program(a: f32[s0,3]) {\n"
                       "  b: f32[3,s0] = permute[axes=(1,0)] a\n"
                       "  c: f32[s0,3] = permute[axes=(1,0)] b\n"
                       "  d: f32[s0,3] = sin c\n"
                       "  e: f32[3,s0] = sin b\n"
                       "  return d e\n"
                       "}\n"),
            "program(a: f32[s0,3]) {\n"
            "  b: f32[3,s0] = permute[axes=(1,0)] a\n"
            "  c: f32[s0,3] = sin a\n"
            "  d: f32[3,s0] = sin b\n"
            "  return c d\n"
            "}\n");
}

/// A square that was transposed has the type that it had, and other elements in its places.
TEST(Simplified, KeepsViewsThatChangeTheOrder) {
  const char* const transposed =
      "program(a: f32[s0,s0]) {\n"
      "  b: f32[s0,s0] = permute[axes=(1,0)] a\n"
      "  c: f32[s0*s0] = reshape[shape=(s0*s0)] b\n"
      "  return b c\n"
      "}\n";
  EXPECT_EQ(simplified(transposed), transposed);
}

TEST(Simplified, MakesOneOfEqualElements) {
  EXPECT_EQ(simplified("program(a: f32[s0]) {\n"
                       "  b: f32[s0] = zeros[shape=(s0), dtype=f32]\n"
                       "  c: f32[3,s0] = expand[shape=(3,s0)] b\n"
                       "  d: f32[4] = zeros[shape=(4), dtype=f32]\n"
                       "  e: f32[3,4] = expand[shape=(3,4)] d\n"
                       "  return c e d\n"
                       "}\n"),
            "program(a: f32[s0]) {\n"
            "  b: f32[] = zeros[shape=(), dtype=f32]\n"
            "  c: f32[3,s0] = expand[shape=(3,s0)] b\n"
            "  d: f32[4] = zeros[shape=(4), dtype=f32]\n"
            "  e: f32[3,4] = expand[shape=(3,4)] b\n"
            "  return c e d\n"
            "}\n");
}

/// Sizes that are equal, or in a relation, where the program was recorded need not be when it runs.
TEST(Simplified, TrustsNoSizesThatHappenToFit) {
  const auto expect_kept = [](const auto& f, const Tensor& recorded_at, const Tensor& run_at) {
    const rc::Program p = rc::trace(f)(recorded_at), s = p.simplified();
    expect_equal(s({run_at})[0], p({run_at})[0]);
  };
  const Tensor x = rc::arange(40.0);
  expect_kept([](Tensor y) { return y.t().reshape({-1}); }, x.slice(0, 0, 4).reshape({4, 1}), x.reshape({8, 5}));
  expect_kept([](Tensor y) -> Tensor { return y.slice(0, -2, rc::none)[0]; }, rc::ones({2, 4}), x.reshape({10, 4}));
  expect_kept([](Tensor y) { return y.slice(0, 0, 3).reshape({3, 1}); }, rc::ones({3}), x);
  expect_kept([](Tensor y) { return y.unfold(0, 2, 1).reshape({-1}).sum(0); }, rc::ones({2}), x);
  const auto last_of_halves = [](Tensor y) {
    const rc::Size n = y.shape()[1], even = n / 2 * 2;
    return y.narrow(1, n - even, even).narrow(1, 0, 2);
  };
  for (const std::int64_t columns : {5, 7, 8, 10, 13})
    expect_kept(last_of_halves, rc::ones({2, 8}), rc::arange(2. * columns).reshape({2, columns}));
  const auto last_of_thirds = [](Tensor y) {
    const rc::Size n = y.shape()[1], whole = n / 3 * 3;
    return y.narrow(1, n - whole, whole).narrow(1, 0, 2);
  };
  for (const std::int64_t columns : {5, 7, 8, 9, 13})
    expect_kept(last_of_thirds, rc::ones({2, 9}), rc::arange(2. * columns).reshape({2, columns}));
}

/// Two operations of one name are two operations.
// A function that cuts its vector into weights is differentiated along each of them.
TEST(Simplified, MakesThePartOfSeedsThatIsShown) {
  EXPECT_EQ(simplified("program(a: f32[s0]) {\n"
                       "  b: f32[s0,s0] = seeds[row=0, column=0, rows=s0, columns=s0, dtype=f32]\n"
                       "  c: f32[s0,8] = slice[axis=1, start=32, size=8, step=1] b\n"
                       "  d: f32[4,8] = slice[axis=0, start=2, size=4, step=1] c\n"
                       "  e: f32[s0,3] = slice[axis=1, start=0, size=3, step=2] b\n"
                       "  return c d e\n"
                       "}\n"),
            "program(a: f32[s0]) {\n"
            "  b: f32[s0,s0] = seeds[row=0, column=0, rows=s0, columns=s0, dtype=f32]\n"
            "  c: f32[s0,8] = seeds[row=0, column=32, rows=s0, columns=8, dtype=f32]\n"
            "  d: f32[4,8] = seeds[row=2, column=32, rows=4, columns=8, dtype=f32]\n"
            "  e: f32[s0,3] = slice[axis=1, start=0, size=3, step=2] b\n"
            "  return c d e\n"
            "}\n");
}

// A step's cotangent of an array is a part of the seeds, in which the way back writes elements.
TEST(Simplified, WritesInThePartOfSeedsThatIsShown) {
  EXPECT_EQ(simplified("program(a: f32[4], b: i64[]) {\n"
                       "  c: f32[4,9] = seeds[row=0, column=0, rows=4, columns=9, dtype=f32]\n"
                       "  d: f32[4,3] = slice[axis=1, start=2, size=3, step=1] c\n"
                       "  e: f32[3,4] = permute[axes=(1,0)] d\n"
                       "  f: f32[3,4] = index_put[accumulate=false, place={index,(0),(3),true,0}] e a b\n"
                       "  return f\n"
                       "}\n"),
            "program(a: f32[4], b: i64[]) {\n"
            "  c: f32[4,3] = seeds[row=0, column=2, rows=4, columns=3, dtype=f32]\n"
            "  d: f32[3,4] = permute[axes=(1,0)] c\n"
            "  e: f32[3,4] = index_put[accumulate=false, place={index,(0),(3),true,0}] d a b\n"
            "  return e\n"
            "}\n");
}

TEST(Simplified, MergesOperationsNotNames) {
  const auto f = [](const Tensor& y) { return OneMore{}(y)*OneLess{}(y); };
  const rc::Program s = rc::trace(f)(rc::ones({2})).simplified();
  expect_values(s({rc::full({2}, 3.0)})[0], {8, 8});
}

TEST(Simplified, LeavesOutWhatUndoesItself) {
  EXPECT_EQ(simplified("program(a: f32[s0]) {\n"
                       "  b: f32[s0] = neg a\n"
                       "  c: f32[s0] = neg b\n"
                       "  d: f32[s0] = flip[axes=(0)] c\n"
                       "  e: f32[s0] = flip[axes=(0)] d\n"
                       "  f: f32[s0] = neg e\n"
                       "  return f\n"
                       "}\n"),
            "program(a: f32[s0]) {\n"
            "  b: f32[s0] = neg a\n"
            "  return b\n"
            "}\n");
}

TEST(Simplified, ComputesNumbersAtOnce) {
  EXPECT_EQ(simplified("program(a: f32[s0]) {\n"
                       "  b: weak f64[] = mul 2.0 3.0\n"
                       "  c: weak i64[] = size_number[size=4]\n"
                       "  d: weak i64[] = size_number[size=s0]\n"
                       "  e: f32[s0] = mul a b\n"
                       "  f: f32[s0] = mul e c\n"
                       "  g: f32[s0] = mul f d\n"
                       "  return g\n"
                       "}\n"),
            "program(a: f32[s0]) {\n"
            "  b: weak i64[] = size_number[size=s0]\n"
            "  c: f32[s0] = mul a 6.0\n"
            "  d: f32[s0] = mul c 4\n"
            "  e: f32[s0] = mul d b\n"
            "  return e\n"
            "}\n");
}

TEST(Simplified, DrawsAsOftenAsItDid) {
  const auto f = [](const Tensor& x) { return x + rc::rand({3}) - rc::rand({3}); };
  const rc::Program p = rc::trace(f)(rc::ones({3})), s = p.simplified();
  rc::manual_seed(7);
  const Tensor first = p({rc::ones({3})})[0], second = p({rc::ones({3})})[0];
  rc::manual_seed(7);
  expect_equal(s({rc::ones({3})})[0], first);
  expect_equal(s({rc::ones({3})})[0], second);
}

TEST(Simplified, ThrowsWhereAnIndexIsNone) {
  const auto f = [](const Tensor& i, const Tensor& x) {
    return rc::switch_case(i, std::tuple{[](const Tensor& y) { return y * 1; }, [](const Tensor& y) { return -y; }}, x);
  };
  const rc::Program s = rc::trace(f)(rc::tensor(0), rc::ones({3})).simplified();
  expect_values(s({rc::tensor(1), rc::ones({3})})[0], {-1, -1, -1});
  EXPECT_THROW(s({rc::tensor(2), rc::ones({3})}), rc::IndexError);
}

TEST(Simplified, LooksIntoTheProgramsOfLoops) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(0, 3, [](const Tensor&, const Tensor& y) { return sin(-(-y)) * sin(y); }, x);
  };
  const rc::Program p = rc::trace(f)(rc::ones({3})), s = p.simplified();
  const std::string text = rc::to_string(s);
  EXPECT_EQ(text.find("neg"), std::string::npos) << text;
  EXPECT_EQ(text.find("sin"), text.rfind("sin")) << text;
  expect_equal(s({rc::ones({3})})[0], p({rc::ones({3})})[0]);
}

TEST(Simplified, LeavesOutStateOfLoopsThatNobodyReads) {
  struct Carry {
    Tensor sum, product, unread;
  };
  const auto f = [](const Tensor& x, const Tensor& rows) {
    const auto step = [](const Carry& c, const Tensor& row) {
      return std::pair{Carry{c.sum + row * c.product, c.product * 0.5, c.unread + c.sum}, row * 2};
    };
    return rc::scan(step, Carry{x, x, x}, rows).first.sum;
  };
  const rc::Program p = rc::trace(f)(rc::ones({3}), rc::ones({4, 3})), s = p.simplified();
  const std::string text = rc::to_string(s);
  EXPECT_NE(text.find("carried=2, scanned=1"), std::string::npos) << text;
  EXPECT_EQ(rc::to_string(s.simplified()), text);
  const Tensor x = rc::arange(3.0), rows = rc::arange(15.0).reshape({5, 3});
  expect_equal(s({x, rows})[0], p({x, rows})[0]);
  const auto nested = [](const Tensor& y, const Tensor& ys) {
    const auto step = [](const Carry& c, const Tensor& row) {
      const auto inner = [](const Tensor& z, const Tensor& element) { return std::pair{z + element, z * 2}; };
      const auto [last, doubled] = rc::scan(inner, c.product.sum(), row);
      return std::pair{Carry{c.sum + last, c.product, c.unread + doubled}, doubled};
    };
    return rc::scan(step, Carry{y, y, y}, ys).first.sum;
  };
  const rc::Program q = rc::trace(nested)(rc::ones({3}), rc::ones({4, 3})), r = q.simplified();
  EXPECT_EQ(rc::to_string(r).find("mul"), std::string::npos) << r;
  EXPECT_EQ(rc::to_string(r.simplified()), rc::to_string(r));
  expect_equal(r({x, rows})[0], q({x, rows})[0]);
  const auto searched = [](const Tensor& y) {
    const auto goes_on = [](const Carry& c) { return c.sum.sum() < 100; };
    const auto next = [&](const Carry& c) { return Carry{c.sum * 2 + y, sin(c.product), c.unread + c.product}; };
    const Carry last = rc::while_loop(goes_on, next, Carry{y, y, y});
    return std::pair{last.sum, last.product};
  };
  const auto first = [&](const Tensor& y) { return searched(y).first; };
  const rc::Program v = rc::trace(first)(x).simplified(), w = rc::trace(searched)(x).simplified();
  EXPECT_NE(rc::to_string(v).find("state(a)"), std::string::npos) << v;
  EXPECT_NE(rc::to_string(w).find("state(a a)"), std::string::npos) << w;
  expect_equal(v({x})[0], first(x));
  expect_equal(w({x})[0], searched(x).first);
  expect_equal(w({x})[1], searched(x).second);
  const auto counted = [](const Tensor& y) {
    return rc::fori_loop(0, 3, [](const Tensor&, const Tensor& z) { return sin(z); }, y);
  };
  EXPECT_EQ(rc::to_string(rc::trace(counted)(x).simplified()),
            "program(a: f32[s0]) {\n"
            "  b: f32[s0] = scan[step=program(a: f32[s0]) {\n"
            "      b: f32[s0] = sin a\n"
            "      return b\n"
            "    }, carried=1, scanned=0, streams=0, reverse=false, length=3] carry(a)\n"
            "  return b\n"
            "}\n");
}

/// What the steps of a loop compute alike is computed before it. What throws at some values stays, as a loop of no
/// steps throws nothing.
TEST(Simplified, MovesWhatIsTheSameAtEachStepOutOfLoops) {
  EXPECT_EQ(simplified("program(a: f32[], b: f32[s0], c: f32[2,2], d: f32[], e: i64[]) {\n"
                       "  f: f32[] = scan[step=program(a: f32[], b: f32[2,2], c: f32[], d: i64[], e: f32[]) {\n"
                       "      f: f32[2] = select[axis=0, index=0] b\n"
                       "      g: f32[2] = mul f c\n"
                       "      h: f32[2] = sin g\n"
                       "      i: f32[2] = mul h a\n"
                       "      j: f32[] = sum[axes=(0)] i\n"
                       "      k: f32[2,2] = cholesky b\n"
                       "      l: f32[2,2] = mul k e\n"
                       "      m: f32[] = sum[axes=(0,1)] l\n"
                       "      n: f32[] = add j m\n"
                       "      return n\n"
                       "    }, carried=1, scanned=0, streams=0, reverse=false, length=s0] carry(a) step(c d e d)\n"
                       "  return f\n"
                       "}\n"),
            "program(a: f32[], b: f32[s0], c: f32[2,2], d: f32[], e: i64[]) {\n"
            "  f: f32[2] = select[axis=0, index=0] c\n"
            "  g: f32[2] = mul f d\n"
            "  h: f32[2] = sin g\n"
            "  k: f32[] = scan[step=program(a: f32[], b: f32[2,2], c: f32[], d: f32[2]) {\n"
            "      e: f32[2] = mul d a\n"
            "      f: f32[] = sum[axes=(0)] e\n"
            "      g: f32[2,2] = cholesky b\n"
            "      h: f32[2,2] = mul g c\n"
            "      k: f32[] = sum[axes=(0,1)] h\n"
            "      l: f32[] = add f k\n"
            "      return l\n"
            "    }, carried=1, scanned=0, streams=0, reverse=false, length=s0] carry(a) step(c d h)\n"
            "  return k\n"
            "}\n");
}

/// What derivatives begin with is made at each step, with what follows from that and numbers, so that rules see its
/// zeros.
TEST(Simplified, LeavesSeedsInLoops) {
  EXPECT_EQ(simplified("program(a: f32[2,2], b: f32[2,2]) {\n"
                       "  c: f32[2,2] = scan[step=program(a: f32[2,2], b: f32[2,2]) {\n"
                       "      c: f32[2,2] = seeds[row=0, column=0, rows=2, columns=2, dtype=f32]\n"
                       "      d: f32[2,2] = mul c 3.0\n"
                       "      e: f32[2,2] = sin b\n"
                       "      f: f32[2,2] = matmul[form=0] a d\n"
                       "      g: f32[2,2] = add f e\n"
                       "      return g\n"
                       "    }, carried=1, scanned=0, streams=0, reverse=false, length=9] carry(a) step(b)\n"
                       "  return c\n"
                       "}\n"),
            "program(a: f32[2,2], b: f32[2,2]) {\n"
            "  c: f32[2,2] = sin b\n"
            "  d: f32[2,2] = scan[step=program(a: f32[2,2], b: f32[2,2]) {\n"
            "      c: f32[2,2] = seeds[row=0, column=0, rows=2, columns=2, dtype=f32]\n"
            "      d: f32[2,2] = mul c 3.0\n"
            "      e: f32[2,2] = matmul[form=0] a d\n"
            "      f: f32[2,2] = add e b\n"
            "      return f\n"
            "    }, carried=1, scanned=0, streams=0, reverse=false, length=9] carry(a) step(c)\n"
            "  return d\n"
            "}\n");
}

TEST(Simplified, MovesOutOfConditionsPassesAndNestedLoops) {
  const Tensor x = rc::linspace(0.5, 1.5, 3);
  const auto expect_moved = [&](const auto& f) {
    const rc::Program p = rc::trace(f)(x, x), s = p.simplified();
    check(s);
    const std::string text = rc::to_string(s);
    EXPECT_LT(text.find("= exp "), text.find("program(", 1)) << text;  // of y, before all loops
    EXPECT_EQ(text.find("= exp "), text.rfind("= exp ")) << text;
    EXPECT_EQ(rc::to_string(s.simplified()), text);
    const std::vector<Tensor> found = s({x, x * 0.5}), whole = p({x, x * 0.5});
    for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], whole[i]);
  };
  const auto searched = [](const Tensor& z, const Tensor& y) {
    return rc::while_loop([&](const Tensor& w) { return (w * exp(y)).sum() < 100; },
                          [&](const Tensor& w) { return w * 1.5 + sin(exp(y)); }, z);
  };
  expect_moved(searched);
  expect_moved([&](const Tensor& z, const Tensor& y) {
    return rc::fori_loop(0, 3, [&](const Tensor&, const Tensor& w) { return searched(w * 0.01, y); }, z);
  });
  expect_moved([&](const Tensor& z, const Tensor& y) {
    return rc::grad([&](const Tensor& w) { return searched(w, y).sum(); })(z);
  });
  expect_moved([&](const Tensor& z, const Tensor& y) {
    return rc::vmap([&](const Tensor& w) { return searched(rc::stack({w, w * 2, w}), y); })(z);
  });
}

/// The way back of a loop keeps no state and no rows for results that nobody reads.
TEST(Simplified, LeavesOutWhatPassesOverALoopDoNotNeed) {
  struct State {
    Tensor y, steps, product;
  };
  const auto f = [](const Tensor& x) {
    const auto step = [](const State& s) { return State{s.y * 1.5 + sin(s.y), s.steps + 1, s.product * s.y}; };
    const State last = rc::while_loop([](const State& s) { return s.y.sum() < 100; }, step, State{x, x * 0, x});
    return std::pair{last.y.sum(), last.product.sum()};
  };
  const auto g = [&](const Tensor& x) {
    const auto both = [&](const Tensor& y) {
      const auto [sum, product] = f(y);
      return rc::stack({sum, product});
    };
    const auto [values, back] = rc::vjp(both, x);
    return back(rc::tensor({1., 0.}, rc::float32));
  };
  const Tensor x = rc::linspace(0.5, 1.5, 3);
  const rc::Program p = rc::trace(g)(x), s = p.simplified();
  check(s);
  const auto count = [](const rc::Program& program) {
    const std::string text = rc::to_string(program);
    return std::ranges::count(text, '=');
  };
  EXPECT_LT(count(s), count(p)) << s;
  EXPECT_NE(rc::to_string(s).find("state(a a)"), std::string::npos) << s;
  expect_equal(s({x})[0], p({x})[0]);
  expect_close(s({x})[0], rc::grad([&](const Tensor& y) { return f(y).first; })(x), 1e-6);
}

/// The sizes in a loop's body are those of the program around it, numbers of each run.
TEST(Simplified, LeavesSizesOpenInLoops) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(
        0, 2,
        [](const Tensor&, const Tensor& y) {
          return y / y.shape()[0] + rc::zeros({y.shape()[0]}).expand({2, y.shape()[0]}).sum(0);
        },
        x);
  };
  const rc::Program s = rc::trace(f)(rc::ones({3})).simplified();
  expect_values(s({rc::ones({4})})[0], Values(4, 1. / 16));
  const rc::Program zeros = rc::parse_program(
      "program(a: f32[s0]) {\n"
      "  b: f32[s0] = scan[step=program(a: f32[s0]) {\n"
      "      b: f32[s0] = structural_zeros[shape=(s0), dtype=f32]\n"
      "      c: f32[s0] = mul a b\n"
      "      return c\n"
      "    }, carried=1, scanned=0, streams=0, reverse=false, length=2] carry(a)\n"
      "  return b\n"
      "}\n",
      {});
  expect_values(zeros.simplified()({rc::ones({4})})[0], {0, 0, 0, 0});
}

/// A zero that the user wrote is a number: what is multiplied by it may be infinite, and -0 + 0 is 0.
TEST(Simplified, KeepsSpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto f = [](const Tensor& x) { return x * rc::zeros({3}) + rc::zeros({3}); };
  const rc::Program s = rc::trace(f)(rc::ones({3})).simplified();
  const Tensor y = s({rc::tensor({inf, -1.0, 1.0})})[0];
  EXPECT_TRUE(std::isnan(y[0].item<double>()));
  EXPECT_FALSE(std::signbit(y[1].item<double>()));
}

/// Those that rules wrote are structure: what is multiplied by one is zero, and what one is added to stays, -0 too.
TEST(Simplified, TakesStructuralZerosForNothing) {
  EXPECT_EQ(simplified("program(a: f32[s0,3], b: f32[3,2], p: bool[]) {\n"
                       "  z: f32[s0,3] = structural_zeros[shape=(s0,3), dtype=f32]\n"
                       "  y: f32[s0,3] = sin a\n"
                       "  c: f32[s0,3] = add y z\n"
                       "  d: f32[s0,3] = sub c z\n"
                       "  e: f32[s0,3] = mul z a\n"
                       "  f: f32[s0,2] = matmul[form=0] e b\n"
                       "  g: f32[2,s0] = permute[axes=(1,0)] f\n"
                       "  h: f32[2] = sum[axes=(1)] g\n"
                       "  i: f32[2,1] = reshape[shape=(2,1)] h\n"
                       "  j: f32[s0,3] = where p e z\n"
                       "  k: f32[s0,3] = div j a\n"
                       "  l: f32[s0,3] = add d k\n"
                       "  m: f32[s0,3] = sub z a\n"
                       "  return l i m\n"
                       "}\n"),
            "program(a: f32[s0,3], b: f32[3,2], c: bool[]) {\n"
            "  d: f32[s0,3] = structural_zeros[shape=(s0,3), dtype=f32]\n"
            "  e: f32[s0,3] = sin a\n"
            "  f: f32[2,1] = structural_zeros[shape=(2,1), dtype=f32]\n"
            "  g: f32[s0,3] = sub d a\n"
            "  return e f g\n"
            "}\n");
  const auto means = [](const Tensor& x) {  // of no zeros, the mean is NaN
    return rc::mean(rc::grad([](const Tensor& y) { return y.detach().sum(); })(x), {1});
  };
  const rc::Program of_none = rc::trace(means)(rc::zeros({1, 0}));
  EXPECT_TRUE(rc::isnan(of_none.simplified()({rc::zeros({1, 0})})[0]).all().item<bool>());
  const double inf = std::numeric_limits<double>::infinity();
  const auto f = [](const Tensor& x) { return x[0] * sin(x[1]) + x[2]; };
  const rc::Program s = rc::trace(rc::grad(f))(rc::ones({3})).simplified();
  const Tensor g = s({rc::tensor({inf, 0.0, -1.0})})[0];
  EXPECT_EQ(g[0].item<double>(), 0);
  EXPECT_EQ(g[1].item<double>(), inf);
  EXPECT_EQ(g[2].item<double>(), 1);
}

/// What the views of one array give back on the way back is put together part by part.
TEST(Simplified, PutsPartsTogether) {
  EXPECT_EQ(simplified("program(a: f32[], b: f32[2], c: f32[], x: f32[4]) {\n"
                       "  z: f32[4] = structural_zeros[shape=(4), dtype=f32]\n"
                       "  d: f32[4] = put[view=select[axis=0, index=0]] z a\n"
                       "  e: f32[4] = put[view=slice[axis=0, start=2, size=2, step=1]] z b\n"
                       "  f: f32[4] = put[view=select[axis=0, index=0]] z c\n"
                       "  g: f32[4] = add d e\n"
                       "  h: f32[4] = add g f\n"
                       "  i: f32[4] = add x d\n"
                       "  j: f32[4] = add i e\n"
                       "  return h j\n"
                       "}\n"),
            "program(a: f32[], b: f32[2], c: f32[], d: f32[4]) {\n"
            "  e: f32[4] = structural_zeros[shape=(4), dtype=f32]\n"
            "  f: f32[4] = put[view=select[axis=0, index=0]] e a\n"
            "  g: f32[4] = put[view=slice[axis=0, start=2, size=2, step=1]] e b\n"
            "  h: f32[4] = put[view=slice[axis=0, start=2, size=2, step=1]] f b\n"
            "  k: f32[] = add a c\n"
            "  l: f32[4] = put[view=select[axis=0, index=0]] g k\n"
            "  m: f32[4] = add d h\n"
            "  return l m\n"
            "}\n");
  const char* const overlapping =
      "program(a: f32[2], b: f32[2]) {\n"
      "  c: f32[4] = structural_zeros[shape=(4), dtype=f32]\n"
      "  d: f32[4] = put[view=slice[axis=0, start=0, size=2, step=1]] c a\n"
      "  e: f32[4] = put[view=slice[axis=0, start=1, size=2, step=1]] c b\n"
      "  f: f32[4] = add d e\n"
      "  return f\n"
      "}\n";
  EXPECT_EQ(simplified(overlapping), overlapping);
}

/// Of an input, whose elements may lie in any order, a sum of several axes is a copy in row-major order.
TEST(Simplified, KeepsCopiesInRowMajorOrder) {
  for (const char* const copied : {"  b: f32[s0,3] = mul a 1\n", "  b: f32[s0,3] = div a 1\n"}) {
    const std::string text = "program(a: f32[s0,3]) {\n" + std::string(copied) +
                             "  c: f32[3,s0] = permute[axes=(1,0)] b\n"
                             "  d: f32[3,3] = matmul[form=0] c b\n"
                             "  return d\n"
                             "}\n";
    EXPECT_EQ(simplified(text.c_str()), text);
  }
}

TEST(Simplified, ReadsBehindWrites) {
  EXPECT_EQ(simplified("program(x: f32[4,3], b: f32[3], c: f32[s0], d: f32[s0]) {\n"
                       "  a: f32[4,3] = sin x\n"
                       "  e: f32[4,3] = put[view=select[axis=0, index=1]] a b\n"
                       "  f: f32[3] = select[axis=0, index=1] e\n"
                       "  g: f32[3] = select[axis=0, index=2] e\n"
                       "  h: f32[2,3] = slice[axis=0, start=0, size=2, step=1] e\n"
                       "  i: f32[2,3] = slice[axis=0, start=0, size=2, step=2] e\n"
                       "  j: f32[s0] = put[view=slice[axis=0, start=0, size=s0, step=1]] c d\n"
                       "  return f g h i j\n"
                       "}\n"),
            "program(a: f32[4,3], b: f32[3], c: f32[s0], d: f32[s0]) {\n"
            "  e: f32[4,3] = sin a\n"
            "  f: f32[4,3] = put[view=select[axis=0, index=1]] e b\n"
            "  g: f32[3] = select[axis=0, index=2] e\n"
            "  h: f32[2,3] = slice[axis=0, start=0, size=2, step=1] f\n"
            "  k: f32[2,3] = slice[axis=0, start=0, size=2, step=2] e\n"
            "  return b g h k d\n"
            "}\n");
  const auto f = [](const Tensor& x) {  // apart at four rows, not at more
    const Tensor y = x.clone();
    y.slice(0, 0, 2).fill_(7);
    return y.slice(0, -2, rc::none);
  };
  const rc::Program s = rc::trace(f)(rc::ones({4})).simplified();
  for (const std::int64_t n : {3, 4, 6}) expect_equal(s({rc::arange(1. * n)})[0], f(rc::arange(1. * n)));
  const auto g = [](const Tensor& x) {  // in the first row, not where that is shorter
    const Tensor y = x.clone();
    y.as_strided({3}, {1}, 0).fill_(7);
    return y[1] * 1;
  };
  const rc::Program t = rc::trace(g)(rc::ones({2, 4})).simplified();
  for (const std::int64_t n : {2, 4}) expect_equal(t({rc::ones({2, n})})[0], g(rc::ones({2, n})));
  const auto h = [](const Tensor& x) {  // written in two halves, whose border may be anywhere, and read
    const Tensor y = x.clone();
    const rc::Size half = y.shape()[0] / 2;
    y.slice(0, half, rc::none).fill_(7);
    return y.slice(0, 0, half) * 2;
  };
  const rc::Program u = rc::trace(h)(rc::ones({4})).simplified();
  EXPECT_EQ(u.equations(), 2U) << u;  // nothing is put, nor copied
  for (const std::int64_t n : {3, 4, 7}) expect_equal(u({rc::arange(1. * n)})[0], h(rc::arange(1. * n)));
}

TEST(Simplified, WritesPastAllCopiesAtOnce) {
  const std::string once = simplified(
      "program(x: f32[], b: f32[1]) {\n"
      "  a: f32[] = clone x\n"
      "  c: f32[1,1] = reshape[shape=(1,1)] a\n"
      "  d: f32[1,1] = clone c\n"
      "  e: f32[1,1] = put[view=diagonal[offset=0, axis1=0, axis2=1]] d b\n"
      "  return e\n"
      "}\n");
  EXPECT_EQ(simplified(once.c_str()), once);
  EXPECT_EQ(once,
            "program(a: f32[], b: f32[1]) {\n"
            "  c: f32[1,1] = reshape[shape=(1,1)] a\n"
            "  d: f32[1,1] = put[view=diagonal[offset=0, axis1=0, axis2=1]] c b\n"
            "  return d\n"
            "}\n");
}

TEST(Simplified, OfAJacobianIsAThirdShorter) {
  const auto g = [](const Tensor& c) {
    const Tensor p = rc::stack({c[0] * c[1], sin(c[1]) + c[2], c[0]});
    return p / p[2];
  };
  const rc::Program p = rc::trace(rc::jacrev(g))(rc::ones({3})), s = p.simplified();
  EXPECT_LE(3 * s.equations(), 2 * p.equations() + 3) << s;
  const Tensor x = rc::tensor({0.5, 2.0, 3.0});
  expect_equal(s({x})[0], p({x})[0]);
}

/// A program is differentiated and mapped by running it: a simplified one too.
TEST(Simplified, IsTransformed) {  // float32: cotangents are added in another order
  const auto f = [](const Tensor& x) { return (sin(x) * sin(x) / x).sum(); };
  const rc::Program s = rc::trace(f)(rc::ones({3})).simplified();
  const auto g = [&](const Tensor& x) { return s({x})[0]; };
  const Tensor x = rc::tensor({0.5, 2.0, 3.0});
  expect_close(rc::grad(g)(x), rc::grad(f)(x), 1e-6);
  expect_close(rc::hessian(g)(x), rc::hessian(f)(x), 1e-5);
  expect_close(rc::vmap(rc::grad(g))(rc::stack({x, x * 2})), rc::vmap(rc::grad(f))(rc::stack({x, x * 2})), 1e-6);
}

}  // namespace
