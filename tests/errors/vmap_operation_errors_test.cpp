// What an operation says when vmap forbids it: a write to a shared target, a value or a size that differs per example,
// a random draw without a mode, a value that has left its transform.
#include <string>
#include <thread>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(VmapWriteErrors, AnUnmappedArgumentCannotTakeAMappedValue) {
  const Tensor x = rc::ones({3}), y = rc::ones({4, 3});
  const auto f = [](Tensor a, Tensor b) {
    a.add_(b);
    return a;
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(f, {.in_dims = {rc::none, 0}})(x, y); },
      "add_: the target f32[3] holds one value for all examples of vmap over axis 0 of 4{at}, "
      "but the new value f32[3] has one per example; "
      "use the out-of-place operation, map the target, or create it inside the mapped function\n"
      "  inside vmap over axis 0 of 4{at}",
      {x, y});
}

TEST(VmapWriteErrors, ACapturedTensorCannotTakeAMappedValue) {
  const Tensor captured = rc::zeros({2, 3}), x = rc::ones({3, 4});
  const auto f = [&](Tensor a) {
    captured.select(0, 1).copy_(a);
    return a;
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(f, {.in_dims = 1})(x); },
      "copy_: the target f32[3] holds one value for all examples of vmap over axis 1 of 4{at}, "
      "but the new value f32[3] has one per example; "
      "use the out-of-place operation, map the target, or create it inside the mapped function\n"
      "  inside vmap over axis 1 of 4{at}",
      {captured, x});
}

TEST(VmapWriteErrors, IndexedAssignmentIsACopy) {
  const Tensor captured = rc::zeros({2}), x = rc::ones({4});
  const auto f = [&](Tensor a) {
    captured[0] = a;
    return a;
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(f)(x); },
      "copy_: the target f32[] holds one value for all examples of vmap over axis 0 of 4{at}, "
      "but the new value f32[] has one per example; "
      "use the out-of-place operation, map the target, or create it inside the mapped function\n"
      "  inside vmap over axis 0 of 4{at}",
      {captured, x});
}

TEST(VmapWriteErrors, AnOutTensorFollowsTheSameRule) {
  const Tensor out = rc::zeros({3}), x = rc::ones({4, 3});
  const auto f = [&](Tensor a) {
    rc::add_out(out, a, a);
    return a;
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(f)(x); },
      "add_out: the target f32[3] holds one value for all examples of vmap over axis 0 of 4{at}, "
      "but the new value f32[3] has one per example; "
      "use the out-of-place operation, map the target, or create it inside the mapped function\n"
      "  inside vmap over axis 0 of 4{at}",
      {out, x});
}

TEST(VmapWriteErrors, TheInnerVmapIsNamedWhereTheTargetIsMappedByTheOuterOnly) {
  const Tensor x = rc::ones({5, 2}), y = rc::ones({5, 3, 2});
  const auto outer = [](Tensor a, Tensor bs) { return rc::vmap([&](Tensor b) { return a.mul_(b); })(bs); };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(outer)(x, y); },
      "mul_: the target f32[2] holds one value for all examples of vmap over axis 0 of 3{at}, "
      "but the new value f32[2] has one per example; "
      "use the out-of-place operation, map the target, or create it inside the mapped function\n"
      "  inside vmap over axis 0 of 3{at}, inside vmap over axis 0 of 5{at}",
      {x, y});
}

// One text for operations that need a value, with the name of the operation and the type it looked at.
std::string value_text(const std::string& operation, const std::string& type, const std::string& batch) {
  return operation + ": needs the value of " + type + ", which differs per example of " + batch +
         "{at}; use where, cond or while_loop, or pass .lanes = rc::Lanes::split to vmap\n  inside " + batch + "{at}";
}

std::string size_text(const std::string& operation, const std::string& type, const std::string& batch) {
  return operation + ": the size of the result depends on the values of " + type + ", which differ per example of " +
         batch +
         "{at}; use where, nonzero with .size, .out_dims = rc::ragged, or .lanes = rc::Lanes::split\n  inside " +
         batch + "{at}";
}

std::string mask_text(const std::string& operation, const std::string& batch) {
  return operation + ": the size of the result depends on the values of bool[4], which differ per example of " + batch +
         "{at}; use masked_select(x, mask, {.size = n}), where, .out_dims = rc::ragged, or .lanes = "
         "rc::Lanes::split\n  inside " +
         batch + "{at}";
}

TEST(DataDependenceErrors, Item) {
  const Tensor x = rc::ones({3});
  expect_error<rc::TransformError>([&] { rc::vmap([](Tensor a) { return a * a.item<double>(); })(x); },
                                   value_text("item", "f32[]", "vmap over axis 0 of 3"), {x});
}

TEST(DataDependenceErrors, Bool) {
  const Tensor x = rc::ones({3});
  const auto relu = [](Tensor a) {
    if (a > 0) return a;
    return a * 0;
  };
  expect_error<rc::TransformError>([&] { rc::vmap(relu)(x); }, value_text("bool", "bool[]", "vmap over axis 0 of 3"),
                                   {x});
}

TEST(DataDependenceErrors, ToVector) {
  expect_error<rc::TransformError>(
      [] { rc::vmap([](Tensor a) { return a * a.to_vector<float>()[0]; })(rc::ones({3, 2})); },
      value_text("to_vector", "f32[2]", "vmap over axis 0 of 3"));
}

TEST(DataDependenceErrors, Equal) {
  expect_error<rc::TransformError>(
      [] { rc::vmap([](Tensor a) { return rc::equal(a, a) ? a : a * 2; })(rc::ones({3, 2})); },
      value_text("equal", "f32[2]", "vmap over axis 0 of 3"));
}

TEST(DataDependenceErrors, Allclose) {
  const Tensor fixed = rc::ones({2}, rc::float64);
  const auto f = [&](Tensor a) { return rc::allclose(fixed, a) ? a : a * 2; };
  expect_error<rc::TransformError>([&] { rc::vmap(f)(rc::ones({3, 2}, rc::float64)); },
                                   value_text("allclose", "f64[2]", "vmap over axis 0 of 3"), {fixed});
}

TEST(DataDependenceErrors, SavingIsForResults) {
  expect_error<rc::TransformError>(
      [] {
        rc::vmap([](Tensor a) {
          rc::save_npy("/dev/null", a);
          return a;
        })(rc::ones({2, 4}));
      },
      "save_npy: needs the value of f32[4], which differs per example of vmap over axis 0 of 2{at}; return it from the "
      "function and save the result of vmap, which has all examples\n  inside vmap over axis 0 of 2{at}");
}

TEST(DataDependenceErrors, Nonzero) {
  const Tensor x = rc::ones({2, 4});
  expect_error<rc::TransformError>([&] { rc::vmap([](Tensor a) { return rc::nonzero(a); })(x); },
                                   size_text("nonzero", "f32[4]", "vmap over axis 0 of 2"), {x});
}

TEST(DataDependenceErrors, MaskedSelect) {
  expect_error<rc::TransformError>(
      [] { rc::vmap([](Tensor a) { return rc::masked_select(a, a > 0); })(rc::ones({2, 4})); },
      mask_text("masked_select", "vmap over axis 0 of 2"));
}

TEST(DataDependenceErrors, Unique) {
  expect_error<rc::TransformError>(
      [] {
        rc::vmap([](Tensor a) {
          rc::unique(a);
          return a;
        })(rc::ones({2, 4}));
      },
      size_text("unique", "f32[4]", "vmap over axis 0 of 2"));
}

TEST(DataDependenceErrors, ABooleanMaskAsIndex) {
  expect_error<rc::TransformError>(
      [] { rc::vmap([](Tensor a) { return Tensor(a.index({a > 0})); })(rc::ones({2, 4})); },
      mask_text("index", "vmap over axis 0 of 2"));
}

TEST(DataDependenceErrors, TheInnermostVmapThatMapsTheValueIsNamed) {
  const Tensor x = rc::ones({2, 4});
  const auto outer = [](Tensor row) {
    const Tensor total = row.sum();
    return rc::vmap([&](Tensor a) { return a * total.item<double>(); })(row);
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(outer)(x); },
      "item: needs the value of f32[], which differs per example of vmap over axis 0 of 2{at}; "
      "use where, cond or while_loop, or pass .lanes = rc::Lanes::split to vmap\n"
      "  inside vmap over axis 0 of 4{at}, inside vmap over axis 0 of 2{at}",
      {x});
}

std::string stale_text(const std::string& operation, const std::string& type, const std::string& batch) {
  return operation + ": an operand " + type + " is stale: it left " + batch +
         "{at}, which has ended; return it from the function instead";
}

Tensor escaped_from_vmap() {
  Tensor escaped;
  rc::vmap([&](Tensor x) {
    escaped = x * 2;
    return x;
  })(rc::ones({4, 3}));
  return escaped;
}

TEST(StaleErrors, UsedInAnOperation) {
  const Tensor stale = escaped_from_vmap();
  expect_error<rc::TransformError>([&] { stale * 2; }, stale_text("mul", "f32[3]", "vmap over axis 0 of 4"));
  expect_error<rc::TransformError>([&] { rc::ones({3}) + stale; },
                                   stale_text("add", "f32[3]", "vmap over axis 0 of 4"));
  expect_error<rc::TransformError>([&] { stale.sum(); }, stale_text("sum", "f32[3]", "vmap over axis 0 of 4"));
}

TEST(StaleErrors, MappedByAFunctionThatReturnsItsArgument) {
  const Tensor stale = escaped_from_vmap();
  expect_error<rc::TransformError>([&] { rc::vmap([](Tensor x) { return x; })(stale); },
                                   stale_text("vmap", "f32[3]", "vmap over axis 0 of 4"));
}

TEST(StaleErrors, PulledBackByTheIdentity) {
  const Tensor stale = escaped_from_vmap();
  const auto [y, pullback] = rc::vjp([](Tensor x) { return x; }, rc::ones({3}));
  expect_error<rc::TransformError>([&pull_back = pullback, &stale] { pull_back(stale); },
                                   stale_text("vjp", "f32[3]", "vmap over axis 0 of 4"));
}

TEST(StaleErrors, GivenToALoopOrACheckpoint) {
  const Tensor stale = escaped_from_vmap();
  const auto expect_named = [&](const char* name, const auto& call) {
    expect_error<rc::TransformError>(call, stale_text(name, "f32[3]", "vmap over axis 0 of 4"));
  };
  expect_named("fori_loop", [&] { rc::fori_loop(0, 0, [](Tensor, Tensor s) { return s; }, stale); });
  expect_named("scan", [&] { rc::scan([](Tensor c, Tensor x) { return std::pair{c, x}; }, rc::tensor(0.), stale); });
  expect_named("checkpoint", [&] { rc::checkpoint([](Tensor x) { return x; })(stale); });
}

TEST(StaleErrors, GivenToATransformWhichIsNamedAsItWasCalled) {
  const Tensor stale = escaped_from_vmap();
  const auto f = [](Tensor x) { return x * 2; };
  const auto text = [](const std::string& name) {
    return stale_text(name, "f32[3]", "vmap over axis 0 of 4") + "\n  inside " + name + "{at}";
  };
  expect_error<rc::TransformError>([&] { rc::jvp(f, stale, rc::ones({3})); }, text("jvp"));
  expect_error<rc::TransformError>([&] { rc::linearize(f, stale); }, text("linearize"));
  expect_error<rc::TransformError>([&] { rc::jacfwd(f)(stale); }, text("jacfwd"));
}

TEST(StaleErrors, Read) {
  const Tensor stale = escaped_from_vmap();
  expect_error<rc::TransformError>([&] { stale.to_vector<float>(); },
                                   stale_text("to_vector", "f32[3]", "vmap over axis 0 of 4"));
}

TEST(StaleErrors, UsedInsideALaterTransform) {
  const Tensor stale = escaped_from_vmap();
  expect_error<rc::TransformError>([&] { rc::grad([&](Tensor x) { return (x * stale).sum(); })(rc::ones({3})); },
                                   stale_text("mul", "f32[3]", "vmap over axis 0 of 4") + "\n  inside grad{at}");
}

TEST(StaleErrors, OfAnotherThread) {
  const Tensor x = rc::ones({3});
  std::string text;
  rc::vmap([&](Tensor a) {
    std::thread([&] {
      try {
        a * 2;
      } catch (const rc::TransformError& error) { text = error.what(); }
    }).join();
    return a;
  })(x);
  EXPECT_TRUE(text.starts_with("mul: an operand f32[] belongs to vmap (vmap_operation_errors_test.cpp:") &&
              text.find("), which runs on another thread; take rc::current_nest() there and enter it here with "
                        "rc::Inside") != std::string::npos)
      << text;
}

TEST(StaleErrors, ARecordedValueNamesItsTransform) {
  Tensor escaped;
  rc::trace([&](Tensor a) {
    escaped = a * 2;
    return a;
  })(rc::ones({3}));
  expect_error<rc::TransformError>([&] { escaped * 2; }, stale_text("mul", "f32[?]", "trace"));
}

}  // namespace
