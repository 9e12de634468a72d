// Sizes that a recorded function leaves open: it is recorded once and serves other sizes, and its text shows what it
// relies on.
#include <ricci/ricci.h>

#include <cmath>
#include <functional>

#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/golden.h"

namespace {

namespace rc = ricci;
using rc::Tensor;
using testing_support::expect_equal;
using Function = std::function<Tensor(Tensor)>;

Tensor filled(const rc::Shape& shape) {
  return reshape(rc::arange(0, shape.numel().host(), 1, rc::float64) * 0.37 + 0.5, shape);
}

/// Recorded at the first shape, `f` gives what it gives by itself at all of them; the program is read back, too.
void expect_open(const Function& f, const std::vector<rc::Shape>& shapes) {
  const rc::Program program = rc::trace(f)(filled(shapes[0]));
  SCOPED_TRACE(to_string(program));
  const rc::Program again = rc::parse_program(to_string(program), program.captured());
  EXPECT_EQ(to_string(again), to_string(program));
  for (const rc::Shape& shape : shapes) {
    SCOPED_TRACE(to_string(shape));
    const Tensor x = filled(shape);
    expect_equal(program({x})[0], f(x));
    expect_equal(again({x})[0], f(x));
  }
}

const std::vector<rc::Shape> vectors{{5}, {4}, {7}}, matrices{{5, 3}, {4, 3}, {7, 3}}, squares{{3, 3}, {2, 2}, {5, 5}};

/// Where the correction leaves nothing to divide by, the slope of a variance is another.
TEST(OpenSizes, OfAVarianceKeepToTheCorrection) {
  const auto f = rc::grad([](Tensor x) { return rc::var(x, {0}, 3, false).sum(); });
  const rc::Program p = rc::trace(f)(filled({8}));
  expect_equal(p({filled({5})})[0], f(filled({5})));
  EXPECT_THROW(p({filled({2})}), rc::ValueError);
}

TEST(OpenSizes, StayUnderIndices) {
  expect_open([](Tensor x) { return x[0]; }, matrices);
  expect_open([](Tensor x) { return x[-1]; }, matrices);
  expect_open([](Tensor x) { return x[-2] * x[2]; }, matrices);
  expect_open([](Tensor x) { return x.select(0, x.shape()[0] - 1); }, matrices);
  expect_open([](Tensor x) { return x[x.shape()[0] / 2]; }, matrices);
  expect_open([](Tensor x) { return x.index({-1, rc::Slice(1, -1)}); }, matrices);
}

TEST(OpenSizes, StayUnderSlices) {
  expect_open([](Tensor x) { return x.slice(0, 1, std::nullopt); }, vectors);
  expect_open([](Tensor x) { return x.slice(0, 1, -1); }, vectors);
  expect_open([](Tensor x) { return x.slice(0, -3, std::nullopt); }, vectors);
  expect_open([](Tensor x) { return x.slice(0, 0, 2); }, vectors);
  expect_open([](Tensor x) { return x.slice(0, std::nullopt, std::nullopt, 2); }, vectors);
  expect_open([](Tensor x) { return x.slice(0, 1, -1, 3); }, {{9}, {5}, {4}, {3}});
  expect_open([](Tensor x) { return x.narrow(0, 1, 2); }, vectors);
  expect_open([](Tensor x) { return x.narrow(0, 1, x.shape()[0] - 2); }, vectors);
  expect_open([](Tensor x) { return x.slice(0, 1, std::nullopt) - x.slice(0, 0, -1); }, vectors);
}

TEST(OpenSizes, StayUnderDiagonalsAndWindows) {
  expect_open([](Tensor x) { return x.diagonal(); }, squares);
  expect_open([](Tensor x) { return x.diagonal(1, 0, 1); }, squares);
  expect_open([](Tensor x) { return x.diagonal(); }, {{3, 5}, {2, 5}, {4, 9}});
  expect_open([](Tensor x) { return x.unfold(0, 3, 1); }, vectors);
  expect_open([](Tensor x) { return x.unfold(0, 3, 2); }, vectors);
  expect_open([](Tensor x) { return x.matmul(x).diag_embed(1, 0, 1)[0]; }, squares);
}

TEST(OpenSizes, StayUnderPackedTriangles) {
  expect_open([](Tensor x) { return rc::tril_pack(x); }, squares);
  expect_open([](Tensor x) { return rc::tril_pack(x, -1) * 2; }, squares);
  expect_open([](Tensor x) { return rc::tril_unpack(rc::tril_pack(x, 1), x.shape()[0], 1); }, squares);
  expect_open(rc::grad([](Tensor x) { return rc::square(rc::tril_pack(x)).sum(); }), squares);
}

TEST(OpenSizes, StayUnderGradients) {
  const auto gradient = [](const Function& f) { return Function(rc::grad([f](Tensor x) { return f(x).sum(); })); };
  expect_open(gradient([](Tensor x) { return rc::square(rc::cat({x, 2 * x, x.slice(0, 1, std::nullopt)})); }), vectors);
  expect_open(gradient([](Tensor x) { return x.cumprod(0); }), vectors);
  expect_open(gradient([](Tensor x) { return x.cumsum(0) * x; }), vectors);
  expect_open(gradient([](Tensor x) { return x.logcumsumexp(0); }), vectors);
  expect_open(gradient([](Tensor x) { return x.prod(0); }), vectors);
  expect_open(gradient([](Tensor x) { return rc::square(x.diagonal()) + x[0] * x[-1]; }), squares);
  expect_open(gradient([](Tensor x) { return rc::square(x.unfold(0, 3, 2)); }), {{5}, {7}, {8}});
  expect_open(gradient([](Tensor x) { return x * x.roll(1, 0); }), vectors);
}

TEST(OpenSizes, StayInWhatIsMadeOfAShape) {
  expect_open([](Tensor x) { return rc::zeros(x.shape(), rc::float64) + x; }, matrices);
  expect_open([](Tensor x) { return rc::ones({x.shape()[0] + 1, 2}); }, matrices);
  expect_open([](Tensor x) { return rc::eye(x.shape()[0], rc::float64).matmul(x); }, matrices);
  expect_open([](Tensor x) { return x.reshape({x.shape()[0] * 3}); }, matrices);
}

TEST(OpenSizes, StayUnderJacobians) {
  const auto f = [](Tensor x) { return rc::sin(x) * x.sum(); };
  expect_open(rc::jacrev(f), vectors);
  expect_open(rc::jacfwd(f), vectors);
  expect_open(rc::hessian([f](Tensor x) { return rc::square(f(x)).sum(); }), vectors);
  expect_open(rc::vmap(rc::jacrev(f)), matrices);
  expect_open(rc::vmap(rc::jacfwd(f)), matrices);
}

std::string guards(const Function& f, const Tensor& x) {
  const std::string text = to_string(rc::trace(f)(x));
  const std::size_t from = text.find("program(") + 8;
  return text.substr(from, text.find(" {") - from);
}

TEST(OpenSizes, RelyOnNoMoreThanTheyMust) {
  const Tensor x = rc::ones({5, 3});
  EXPECT_EQ(guards([](Tensor x) { return x[0]; }, x), "a: f32[s0,s1]) where s0>=1");
  EXPECT_EQ(guards([](Tensor x) { return x[-1]; }, x), "a: f32[s0,s1]) where s0>=1");
  EXPECT_EQ(guards([](Tensor x) { return x[0] * x[2] * x[-2]; }, x), "a: f32[s0,s1]) where s0>=3");
  EXPECT_EQ(guards([](Tensor x) { return x.slice(0, 1, -1); }, x), "a: f32[s0,s1]) where s0>=2");
  EXPECT_EQ(guards([](Tensor x) { return x.diagonal(); }, x), "a: f32[s0,s1]) where s0>=s1");
  EXPECT_EQ(guards([](Tensor x) { return rc::zeros(x.shape()); }, x), "a: f32[s0,s1])");
  EXPECT_EQ(guards([](Tensor x) { return x.size(0) > 4 ? x : -x; }, x), "a: f32[5,s0])");
  EXPECT_EQ(guards([](Tensor x) { return x.shape()[0] > 4 ? x : -x; }, x), "a: f32[s0,s1]) where s0>=5");
}

TEST(OpenSizes, RefuseInTermsOfTheCallThatReliedOnThem) {
  const auto refused = [](const Function& f, const std::string& call, const std::string& remedy = "") {
    const rc::Program program = rc::trace(f)(rc::ones({3, 5}));
    testing_support::expect_error<rc::ValueError>([&] { program({rc::ones({2, 4})}); },
                                                  "program: " + call +
                                                      "{at} was recorded for input 0 f32[3,5]; it is now f32[2,4]; " +
                                                      remedy + "record it again for these sizes");
  };
  refused([](Tensor x) { return x[2]; }, "index");
  refused([](Tensor x) { return x.reshape({5, 3}); }, "reshape");
  refused([](Tensor x) { return rc::reshape(x, {15}) * 2; }, "reshape");
  refused([](Tensor x) { return x * static_cast<double>(x.size(0)); }, "a use of a size",
          "use x.shape()[0] to leave it open, or ");
  refused([](Tensor x) { return x.shape()[1] > 4 ? x : -x; }, "a use of a size");
  refused([](Tensor x) { return x + rc::ones({3, 5}); }, "add");
  refused(rc::grad([](Tensor x) { return x.narrow(0, 1, 2).sum(); }), "narrow");
}

}  // namespace
