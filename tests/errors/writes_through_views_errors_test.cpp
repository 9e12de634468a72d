// A derivative refuses a write to a captured tensor through any view of it, and leaves the tensor as it was.
#include <functional>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using View = std::function<Tensor(Tensor)>;

/// Writes x through the view to a captured tensor under jvp, vjp and grad: each is refused.
void expect_refused(const char* name, const View& view, const Tensor& captured) {
  SCOPED_TRACE(name);
  const Tensor before = captured.clone(), x = number(2);
  const auto f = [&](Tensor a) { return view(captured).mul_(a).sum(); };
  EXPECT_THROW(rc::jvp(f, x, x), rc::TransformError);
  EXPECT_THROW(rc::vjp(f, x), rc::TransformError);
  EXPECT_THROW(rc::grad(f)(x), rc::TransformError);
  EXPECT_THROW(rc::vmap(rc::grad(f))(doubles({1, 2})), rc::TransformError);
  expect_equal(captured, before);
  EXPECT_FALSE(rc::inside_transform());
}

TEST(CapturedWriteErrors, ThroughEveryViewOperation) {
  const std::vector<std::pair<const char*, View>> views{
      {"select", [](Tensor a) { return a.select(0, 1); }},
      {"brackets", [](Tensor a) { return Tensor(a[1]); }},
      {"slice", [](Tensor a) { return a.slice(0, 0, 2); }},
      {"narrow", [](Tensor a) { return rc::narrow(a, 1, 1, 2); }},
      {"index", [](Tensor a) { return Tensor(a.index({1, rc::Slice(0, 2)})); }},
      {"diagonal", [](Tensor a) { return a.diagonal(); }},
      {"transpose", [](Tensor a) { return a.transpose(0, 1); }},
      {"permute", [](Tensor a) { return a.permute({1, 0}); }},
      {"movedim", [](Tensor a) { return rc::movedim(a, 0, 1); }},
      {"t", [](Tensor a) { return a.t(); }},
      {"T", [](Tensor a) { return a.T(); }},
      {"mT", [](Tensor a) { return a.mT(); }},
      {"view", [](Tensor a) { return a.view({9}); }},
      {"view_as", [](Tensor a) { return a.view_as(rc::ones({9})); }},
      {"reshape", [](Tensor a) { return a.reshape({9}); }},
      {"flatten", [](Tensor a) { return a.flatten(); }},
      {"unsqueeze", [](Tensor a) { return a.unsqueeze(0); }},
      {"squeeze", [](Tensor a) { return a.unsqueeze(0).squeeze(0); }},
      {"unfold", [](Tensor a) { return a.unfold(0, 3, 3); }},
      {"as_strided", [](Tensor a) { return rc::as_strided(a, {2, 2}, {3, 1}); }},
      {"contiguous", [](Tensor a) { return a.contiguous(); }},
      {"expand to its own shape", [](Tensor a) { return a.expand({3, 3}); }},
      {"a view of a view", [](Tensor a) { return a.t()[0].slice(0, 1, 3); }},
  };
  for (const auto& [name, view] : views) expect_refused(name, view, ramp({3, 3}));
  expect_refused("view_as_real", [](Tensor a) { return rc::view_as_real(a); }, rc::complex(ramp({3}), ramp({3})));
  expect_refused("view_as_complex", [](Tensor a) { return rc::view_as_complex(a); }, ramp({3, 2}));
}

TEST(CapturedWriteErrors, ThroughOneOfAListOfViews) {
  expect_refused("split", [](Tensor a) { return rc::split(a, 2)[1]; }, ramp({3, 3}));
  expect_refused("split by sizes", [](Tensor a) { return rc::split(a, {1, 2}, 0)[0]; }, ramp({3, 3}));
  expect_refused("chunk", [](Tensor a) { return rc::chunk(a, 2, 1)[0]; }, ramp({3, 3}));
  expect_refused("tensor_split", [](Tensor a) { return rc::tensor_split(a, 2)[1]; }, ramp({3, 3}));
  expect_refused("unbind", [](Tensor a) { return rc::unbind(a)[2]; }, ramp({3, 3}));
}

TEST(CapturedWriteErrors, ThroughAViewTakenBeforeTheTransform) {
  const Tensor base = ramp({3, 3});
  for (const Tensor& view : {base.diagonal(), base[1].slice(0, 1, 3), base.t()}) {
    expect_refused("a captured view", [](Tensor a) { return a; }, view);
    expect_refused("a view of a captured view", [](Tensor a) { return a.unsqueeze(0); }, view);
  }
  expect_equal(base, ramp({3, 3}));
}

// ── what vmap is called with ──

TEST(VmapErrors, OutDimsThatAreTooFewOrDeeperThanTheResult) {
  const Tensor x = rc::ones({5, 3});
  const auto pair = [](Tensor a) { return std::pair{a, a.sum()}; };
  const std::string remedy = "; write one integer or none for all, or braces that follow the result{at}";
  expect_error<rc::ValueError>(
      [&] { rc::vmap(pair, rc::VmapOptions{.out_dims = {0}})(x); },
      "vmap: out_dims does not fit the result: out_dims is (0), the result is (f32[3], f32[])" + remedy, {x});
  expect_error<rc::ValueError>(
      [&] { rc::vmap([](Tensor a) { return a; }, {.out_dims = {0, 0}})(x); },
      "vmap: out_dims does not fit the result: out_dims is (0, 0), the result is f32[3]" + remedy, {x});
  for (const std::int64_t chunk : {1, 2, 5, 9})
    expect_error<rc::ValueError>(
        [&] { rc::vmap(pair, {.out_dims = {0, 0, 0}, .chunk_size = chunk})(x); },
        "vmap: out_dims does not fit the result: out_dims is (0, 0, 0), the result is (f32[3], f32[])" + remedy, {x});
}

TEST(VmapErrors, ANumberBesideATensorNeedsNoInDim) {
  const auto f = [](Tensor a, double b) { return a * b; };
  const Tensor x = doubles({1, 2});
  expect_values(rc::vmap(f)(x, 3.0), {3, 6});
  expect_values(rc::vmap(f, {.in_dims = {0, rc::none}})(x, 3.0), {3, 6});
  EXPECT_THROW(rc::vmap(f, {.in_dims = {rc::none, 0}})(x, 3.0), rc::ValueError);
  EXPECT_THROW(rc::vmap(f, {.in_dims = {rc::none, rc::none}})(x, 3.0), rc::ValueError);
}

}  // namespace
