// Writing under vmap: legal exactly when the written tensor can hold one value per example, and then seen by the
// caller, by the base and by every other view.
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor add_into(Tensor x, Tensor y) {
  x.add_(y);
  return x;
}

TEST(VmapWrites, AnUnmappedTargetCannotTakeAMappedValue) {
  const Tensor x = ramp({1}), y = ramp({3, 1});
  EXPECT_THROW(rc::vmap(add_into, {.in_dims = {rc::none, 0}})(x, y), rc::TransformError);
  expect_equal(x, ramp({1}));
  EXPECT_FALSE(rc::inside_transform());
}

TEST(VmapWrites, AMappedTargetTakesItAndTheCallerSeesIt) {
  const Tensor x = ramp({3, 1}), y = ramp({3, 1}) * 2;
  const Tensor expected = x + y;
  const Tensor z = rc::vmap(add_into, {.in_dims = {0, 0}})(x, y);
  expect_close(x, expected);
  expect_close(z, expected);
}

TEST(VmapWrites, AMappedTargetTakesAnUnmappedValue) {
  const Tensor x = ramp({3, 2}), y = ramp({2});
  const Tensor expected = x + y;
  rc::vmap(add_into, {.in_dims = {0, rc::none}})(x, y);
  expect_close(x, expected);
}

TEST(VmapWrites, AMappedTargetIsChangedThroughAnyInDim) {
  const Tensor x = ramp({2, 3}), y = ramp({3, 2});
  const Tensor expected = x + y.t();
  rc::vmap(add_into, {.in_dims = {1, 0}})(x, y);
  expect_close(x, expected);
}

TEST(VmapWrites, AnUnmappedTargetTakesAnUnmappedValue) {
  const Tensor counter = rc::zeros({2}, rc::float64);
  const auto f = [&](Tensor x) {
    counter.add_(1);
    return x;
  };
  rc::vmap(f)(ramp({5}));
  expect_values(counter, {1, 1});
}

TEST(VmapWrites, AMappedInPlaceOperationReturnsItsArgument) {
  const Tensor x = ramp({4, 2}), before = x.clone();
  const Tensor y = rc::vmap([](Tensor a) { return a.sin_(); })(x);
  expect_close(x, sin(before));
  expect_equal(y, x);
  EXPECT_TRUE(shares_memory(y, x));
}

TEST(VmapWrites, DiagEmbedWithNewZeros) {
  const auto diag_embed = [](Tensor v) {
    Tensor result = v.new_zeros({v.size(0), v.size(0)});
    result.diagonal().copy_(v);
    return result;
  };
  const Tensor y = rc::vmap(diag_embed)(rc::tensor({{0., 1., 2.}, {3., 4., 5.}}));
  EXPECT_EQ(sizes(y), (Sizes{2, 3, 3}));
  expect_values(y, {0, 0, 0, 0, 1, 0, 0, 0, 2, 3, 0, 0, 0, 4, 0, 0, 0, 5});
}

TEST(VmapWrites, DiagEmbedUnderTwoVmaps) {
  const auto diag_embed = [](Tensor v) {
    Tensor result = rc::zeros({2, 2}, rc::float64);
    result.diagonal().copy_(v);
    return result;
  };
  const Tensor x = ramp({3, 4, 2});
  const Tensor y = rc::vmap(rc::vmap(diag_embed, {.in_dims = 1}), {.in_dims = 1})(ramp({2, 4, 3}));
  EXPECT_EQ(sizes(y), (Sizes{4, 3, 2, 2}));
  expect_close(rc::vmap(rc::vmap(diag_embed))(x).diagonal(0, 2, 3), x);
}

TEST(VmapWrites, FactoriesTakeACopyOfAnExample) {
  const Tensor x = ramp({4, 3});
  expect_close(rc::vmap([](Tensor a) { return rc::zeros({3}, rc::float64).copy_(a); })(x), x);
  expect_close(rc::vmap([](Tensor a) { return rc::empty({3}, rc::float64).copy_(a); })(x), x);
  expect_close(rc::vmap([](Tensor a) { return a.new_empty({3}).copy_(a * 2); })(x), x * 2);
}

TEST(VmapWrites, ATensorCreatedInTheOuterVmapCannotTakeAValueOfTheInnerOne) {
  const auto outer = [](Tensor row) {
    Tensor total = number(0);
    rc::vmap([&](Tensor x) {
      total.add_(x);
      return x;
    })(row);
    return total;
  };
  EXPECT_THROW(rc::vmap(outer)(ramp({2, 3})), rc::TransformError);
}

TEST(VmapWrites, ATensorCreatedInTheOuterVmapTakesAValueOfTheOuterOneInsideTheInner) {
  const auto outer = [](Tensor row) {
    Tensor total = number(0);
    rc::vmap([&](Tensor x) {
      total.add_(row.sum());
      return x;
    })(row);
    return total;
  };
  expect_close(rc::vmap(outer)(ramp({2, 3})), ramp({2, 3}).sum(1));
}

TEST(VmapWrites, AWriteThroughAViewReachesTheBaseAndItsOtherViews) {
  const auto f = [](Tensor x) {
    Tensor base = rc::zeros({2, 2}, rc::float64);
    Tensor row = base[0], column = base.select(1, 0);
    row.copy_(x);
    return std::tuple{base, row, column};
  };
  const Tensor x = ramp({3, 2});
  const auto [base, row, column] = rc::vmap(f)(x);
  expect_close(base.select(1, 0), x);
  expect_close(base.select(1, 1), x * 0);
  expect_close(row, x);
  expect_close(column.select(1, 0), x.select(1, 0));
}

TEST(VmapWrites, AWriteToTheBaseIsSeenInAViewTakenBefore) {
  const auto f = [](Tensor x) {
    Tensor base = rc::zeros({2}, rc::float64);
    Tensor first = base[0];
    base.copy_(x);
    return first;
  };
  expect_close(rc::vmap(f)(ramp({3, 2})), ramp({3, 2}).select(1, 0));
}

TEST(VmapWrites, IndexedAssignmentWritesThrough) {
  const auto f = [](Tensor x) {
    x[0] = x[1] * 10;
    x.slice(0, 1, 3, 1) = x.slice(0, 0, 2, 1) * 0;
    return x;
  };
  const Tensor x = doubles({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = rc::vmap(f)(x.clone());
  expect_values(y, {20, 0, 0, 50, 0, 0});
}

TEST(VmapWrites, IndexWithBracesWritesThrough) {
  const auto f = [](Tensor x, Tensor v) {
    Tensor copy = x.clone();
    copy.index({1}) = v;
    return copy;
  };
  const Tensor x = doubles({1, 2, 3, 4}, {2, 2}), v = doubles({7, 8});
  expect_values(rc::vmap(f)(x, v), {1, 7, 3, 8});
}

TEST(VmapWrites, OutVariantsWriteIntoAMappedTensor) {
  const Tensor out = rc::zeros({3, 2}, rc::float64), x = ramp({3, 2});
  const auto f = [](Tensor o, Tensor a) {
    rc::add_out(o, a, a);
    return o;
  };
  expect_close(rc::vmap(f)(out, x), x * 2);
  expect_close(out, x * 2);
}

TEST(VmapWrites, OutVariantsWriteIntoATensorCreatedInside) {
  const auto f = [](Tensor a) {
    Tensor out = rc::empty({2}, rc::float64);
    rc::mul_out(out, a, a);
    return out;
  };
  const Tensor x = ramp({3, 2});
  expect_close(rc::vmap(f)(x), x * x);
}

TEST(VmapWrites, OutVariantsRefuseAnUnmappedTarget) {
  const Tensor out = rc::zeros({2}, rc::float64);
  const auto f = [&](Tensor a) {
    rc::add_out(out, a, a);
    return a;
  };
  EXPECT_THROW(rc::vmap(f)(ramp({3, 2})), rc::TransformError);
  expect_values(out, {0, 0});
}

TEST(VmapWrites, AViewOfACapturedTensorCannotTakeAMappedValue) {
  const Tensor captured = rc::zeros({2, 2}, rc::float64);
  const auto f = [&](Tensor x) {
    captured[0].copy_(x);
    return x;
  };
  EXPECT_THROW(rc::vmap(f)(ramp({3, 2})), rc::TransformError);
  expect_values(captured, {0, 0, 0, 0});
}

TEST(VmapWrites, FillTakesOneNumberPerExample) {
  const auto f = [](Tensor x, Tensor v) {
    x.fill_(v);
    return x;
  };
  expect_values(rc::vmap(f)(rc::zeros({2, 3}, rc::float64), doubles({4, 5})), {4, 4, 4, 5, 5, 5});
}

TEST(VmapWrites, OutsideTransformsViewsShareAndInPlaceWorks) {
  const Tensor x = rc::zeros({2, 3}, rc::float64);
  x.t()[1].add_(5);
  x[0] = doubles({1, 2, 3});
  expect_values(x, {1, 2, 3, 0, 5, 0});
  const Tensor handle = x;
  handle.mul_(2);
  expect_values(x, {2, 4, 6, 0, 10, 0});
}

TEST(VmapWrites, AnExpandedArgumentIsRefusedAsOutside) {
  const Tensor x = rc::zeros({3}, rc::float64).expand({4, 3});
  EXPECT_THROW(x.add_(1), rc::ValueError);
  EXPECT_THROW(rc::vmap([](Tensor row) { return Tensor(row.add_(1)); })(x), rc::ValueError);
  EXPECT_THROW(rc::grad([](Tensor a) { return a.mul_(2).sum(); })(x), rc::ValueError);
}

TEST(VmapWrites, ThroughAnExpandThatRepeatsNothing) {
  const Tensor x = ramp({2, 3}) + 1;
  const auto expect_square = [&](const auto& write) {
    const auto f = [&](Tensor row) {
      const Tensor y = row * 1;
      write(y, row);
      return y;
    };
    expect_close(rc::vmap(f)(x), x * x);
    expect_close(rc::vmap(rc::jacrev(f))(x), rc::diag_embed(2 * x));
    expect_close(rc::jacfwd(f)(x[0]), rc::diag(2 * x[0]));
  };
  expect_square([](Tensor y, Tensor row) { y.expand({3}).mul_(row); });
  expect_square([](Tensor y, Tensor row) { y.expand({1, 3})[0].mul_(row); });
  expect_square([](Tensor y, Tensor row) { y.expand({-1}).copy_(row * row); });
  expect_square([](Tensor y, Tensor row) {
    y.unsqueeze(0).expand({0, 3}).add_(row);
    y.mul_(row);
  });
  const auto fresh = [](Tensor row) {
    const Tensor y = rc::zeros({3}, rc::float64);
    y.expand({3}).add_(row);
    return y;
  };
  expect_close(rc::vmap(fresh)(x), x);
}

TEST(VmapWrites, AnExpandedResultIsAViewOfTheArgument) {
  const Tensor x = ramp({2, 1}), before = x.clone();
  const Tensor r = rc::vmap([](Tensor row) { return row.expand({3}); })(x);
  x.add_(1);
  expect_close(r, (before + 1).expand({2, 3}));
  EXPECT_TRUE(shares_memory(x, r));
  EXPECT_THROW(r.add_(1), rc::ValueError);
}

TEST(VmapWrites, AResultThatIsNotMappedIsAViewOfTheCallersTensor) {
  const Tensor x = ramp({4, 2}), shared = ramp({3}), before = shared.clone();
  const auto second = [](Tensor, Tensor y) { return y; };
  const auto check = [&](const Tensor& r, const Tensor& expected) {
    expect_close(r, expected);
    EXPECT_TRUE(shares_memory(shared, r));
  };
  const Tensor rows = rc::vmap(second, {.in_dims = {0, rc::none}})(x, shared);
  const Tensor columns = rc::vmap(second, {.in_dims = {0, rc::none}, .out_dims = 1})(x, shared);
  const Tensor chunks = rc::vmap(second, {.in_dims = {0, rc::none}, .chunk_size = 3})(x, shared);
  const Tensor itself = rc::vmap(second, {.in_dims = {0, rc::none}, .out_dims = rc::none})(x, shared);
  const Tensor captured = rc::vmap([&](Tensor) { return shared.slice(0, 1, 3); })(x);
  EXPECT_TRUE(itself.is_same(shared));
  shared.mul_(2);
  check(rows, (before * 2).expand({4, 3}));
  check(columns, (before * 2).expand({4, 3}).t());
  check(chunks, (before * 2).expand({4, 3}));
  check(captured, (before * 2).slice(0, 1, 3).expand({4, 2}));
  EXPECT_THROW(rows.add_(1), rc::ValueError);
  const Tensor own = rc::vmap([](Tensor) { return rc::ones({3}, rc::float64); })(x);
  own[0].add_(1);  // made inside: all rows are the result's own
  expect_values(own.sum(0), {5, 5, 5});
}

TEST(VmapWrites, ChunksGiveTheSameViewAsOneRun) {
  const Tensor x = ramp({5, 2, 3}), before = x.clone();
  const Tensor r = rc::vmap([](Tensor m) { return m.t().slice(0, 0, 2); }, {.out_dims = -1, .chunk_size = 2})(x);
  r.mul_(10);
  expect_close(x.slice(2, 0, 2), before.slice(2, 0, 2) * 10);
  expect_close(x.slice(2, 2, 3), before.slice(2, 2, 3));
}

TEST(VmapWrites, AViewThatADerivativeReturnsIsOneOfTheCallersTensor) {
  const Tensor x = ramp({2, 3}), before = x.clone();
  auto [y, pullback] = rc::vjp([](Tensor a) { return a.t(); }, x);
  const auto [z, tangent] = rc::jvp([](Tensor a) { return a[0]; }, x, before);
  x.add_(1);
  expect_close(y, (before + 1).t());
  expect_close(z, before[0] + 1);
  expect_close(tangent, before[0]);
  expect_close(pullback(ramp({3, 2})), ramp({3, 2}).t());
}

}  // namespace
