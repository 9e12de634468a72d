// Memory that the user lends: only the handle that from_blob gave, and its views, are that memory. What is written from
// the handle is copied, and what is written to it reaches the memory, under every transform.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <vector>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Memory = std::array<double, 4>;

Tensor lend(Memory& memory) { return rc::from_blob(memory.data(), {2, 2}, rc::float64); }
Values values_in(const Memory& memory) { return {memory.begin(), memory.end()}; }

using Unary = std::function<Tensor(const Tensor&)>;
/// A function under a transform, for its value.
const std::map<std::string, std::function<Tensor(const Unary&, const Tensor&)>> transforms = {
    {"outside", [](const Unary& f, const Tensor& x) { return f(x); }},
    {"vmap", [](const Unary& f, const Tensor& x) { return rc::vmap(f)(x); }},
    {"vmap over the last axis", [](const Unary& f, const Tensor& x) { return rc::vmap(f, {.in_dims = -1})(x); }},
    {"chunks of vmap", [](const Unary& f, const Tensor& x) { return rc::vmap(f, {.chunk_size = 1})(x); }},
    {"vmap of vmap", [](const Unary& f, const Tensor& x) { return rc::vmap(rc::vmap(f))(x); }},
    {"grad",
     [](const Unary& f, const Tensor& x) {
       const auto loss = [&](Tensor a) {
         const Tensor y = f(a);
         return std::pair(y.sum(), y);
       };
       return rc::grad(loss, rc::has_aux)(x).second;
     }},
    {"vjp", [](const Unary& f, const Tensor& x) { return rc::vjp(f, x).first; }},
    {"jvp", [](const Unary& f, const Tensor& x) { return rc::jvp(f, x, rc::ones_like(x)).first; }},
    {"linearize", [](const Unary& f, const Tensor& x) { return rc::linearize(f, x).first; }},
    {"vmap of vjp",
     [](const Unary& f, const Tensor& x) { return rc::vmap([&](Tensor a) { return rc::vjp(f, a).first; })(x); }},
    {"vjp of vmap", [](const Unary& f, const Tensor& x) { return rc::vjp(rc::vmap(f), x).first; }},
    {"Tape",
     [](const Unary& f, const Tensor& x) {
       rc::Tape tape;
       tape.watch(x);
       return f(x);
     }},
};

/// The same writes to a tensor of its own and to lent memory.
void expect_the_writes_of_a_copy(const Unary& write) {
  for (const auto& [name, run] : transforms) {
    SCOPED_TRACE("under " + name);
    Memory memory = {1, 2, 3, 4};
    const Tensor x = lend(memory), plain = x.clone(), view = x[1];
    run(write, plain);
    run(write, x);
    expect_values(x, values(plain));
    EXPECT_EQ(values_in(memory), values(plain));
    x.add_(1);
    expect_values(x, values(plain + 1));
    EXPECT_EQ(values_in(memory), values(plain + 1)) << "a later write outside";
    memory[2] = 50;
    EXPECT_EQ(x[1][0].item<double>(), 50);
    EXPECT_EQ(view[0].item<double>(), 50);
    view.mul_(2);
    EXPECT_EQ(memory[2], 100);
  }
}

TEST(LentMemory, AWriteReachesItUnderEveryTransform) {
  expect_the_writes_of_a_copy([](const Tensor& x) { return x.add_(1); });
  expect_the_writes_of_a_copy([](const Tensor& x) { return x.copy_(x * x); });
  expect_the_writes_of_a_copy([](const Tensor& x) { return x.fill_(7); });
  expect_the_writes_of_a_copy([](const Tensor& x) {
    rc::mul_out(x, x, x);
    return x;
  });
  expect_the_writes_of_a_copy([](const Tensor& x) {
    x.unsqueeze(0)[0].mul_(3);
    return x * 1;
  });
}

TEST(LentMemory, AWriteReachesItWhereAnotherViewIsRead) {
  Memory memory = {1, 2, 3, 4};
  const Tensor x = lend(memory), row = x[0], column = x.select(1, 0);
  EXPECT_EQ(row.sum().item<double>() + column.sum().item<double>(), 7);
  x.add_(1);
  EXPECT_EQ(values_in(memory), (Values{2, 3, 4, 5}));
  x[1] = x[0];
  EXPECT_EQ(values_in(memory), (Values{2, 3, 2, 3}));
  rc::vmap([](Tensor r) { return r.mul_(2); })(x);
  EXPECT_EQ(values_in(memory), (Values{4, 6, 4, 6}));
  expect_values(column, {4, 4});
}

/// What is copied out of lent memory, under every transform, and must not change with it.
void expect_a_copy(const Unary& f) {
  for (const auto& [name, run] : transforms) {
    SCOPED_TRACE("under " + name);
    Memory memory = {1, 2, 3, 4};
    Tensor result;
    Values expected;
    {
      const Tensor x = lend(memory);
      result = run(f, x);
      expected = values(result.clone());
    }
    memory = {-1, -1, -1, -1};
    expect_values(result, expected);
    result.add_(1);
    EXPECT_EQ(values_in(memory), (Values{-1, -1, -1, -1}));
  }
}

TEST(LentMemory, WhatIsWrittenFromItIsACopy) {
  expect_a_copy([](const Tensor& x) { return rc::zeros_like(x).copy_(x); });
  expect_a_copy([](const Tensor& x) {
    const Tensor y = x * 1, view = y.unsqueeze(0);
    y.copy_(x);
    return y + view.sum() * 0;
  });
  expect_a_copy([](const Tensor& x) {
    const Tensor y = rc::zeros_like(x);
    y.index({rc::ellipsis}) = x;
    return y;
  });
  expect_a_copy([](const Tensor& x) { return x.detach(); });
  expect_a_copy([](const Tensor& x) {
    return rc::cond(rc::ones({}, rc::boolean), [](Tensor a) { return a; }, [](Tensor a) { return a + 1; }, x);
  });
  expect_a_copy([](const Tensor& x) {
    const auto step = [](Tensor carry, Tensor one) { return std::pair(carry, one); };
    return rc::scan(step, x, rc::zeros({2})).first;
  });
  expect_a_copy([](const Tensor& x) {
    const auto goes_on = [](std::pair<Tensor, Tensor> state) { return state.first < 2; };
    const auto step = [](std::pair<Tensor, Tensor> state) { return std::pair(state.first + 1, state.second); };
    return rc::while_loop(goes_on, step, std::pair(rc::zeros({}), x)).second;
  });
}

/// A captured handle that is copied into an argument, or into what the function makes.
TEST(LentMemory, OfACapturedHandleToo) {
  for (const auto& [name, run] : transforms) {
    SCOPED_TRACE("under " + name);
    Memory memory = {1, 2, 3, 4};
    const Tensor x = ramp({2, 2});
    Tensor result;
    {
      const Tensor blob = lend(memory);
      result = run(
          [&](const Tensor& a) {
            const Tensor part = a.dim() == 0 ? blob[0][0] : a.dim() == 1 ? blob[0] : blob;
            return a.copy_(part);
          },
          x);
    }
    const Values written = values(x), returned = values(result);
    memory = {-1, -1, -1, -1};
    expect_values(x, written);
    expect_values(result, returned);
    x.add_(1);
    EXPECT_EQ(values_in(memory), (Values{-1, -1, -1, -1}));
  }
}

TEST(LentMemory, ADerivativeKeepsWhatItReads) {
  Memory memory = {1, 2, 3, 4};
  Tensor expected;
  {
    const Tensor data = lend(memory);
    expected = data.clone();
    const auto product = [&](Tensor w) { return w * data; };
    auto [y, pullback] = rc::vjp(product, ramp({2, 2}));
    auto [z, push] = rc::linearize(product, ramp({2, 2}));
    data.zero_();
    expect_close(pullback(rc::ones_like(y)), expected);
    expect_close(push(rc::ones_like(z)), expected);
  }
  memory = {1, 2, 3, 4};
  const Tensor x = lend(memory);
  rc::Tape tape;
  tape.watch(x);
  const Tensor y = (x * x).sum();
  x.zero_();
  EXPECT_EQ(values_in(memory), Values(4, 0));
  expect_close(tape.gradient(y, x), expected * 2);  // where it was watched
}

TEST(LentMemory, TheResultThatIsTheHandleIsTheHandle) {
  Memory memory = {1, 2, 3, 4};
  const Tensor x = lend(memory);
  const Tensor y = rc::vmap([](Tensor row) { return row; })(x);
  memory[0] = 9;
  EXPECT_EQ(y[0][0].item<double>(), 9);
  y.add_(1);
  EXPECT_EQ(memory[0], 10);
}

TEST(LentMemory, ConstMemoryIsNeverWritten) {
  const Memory memory = {1, 2, 3, 4};
  for (const auto& [name, run] : transforms) {
    SCOPED_TRACE("under " + name);
    const Tensor x = rc::from_blob(memory.data(), {2, 2}, rc::float64);
    run([](const Tensor& a) { return a.add_(1); }, x);
    expect_values(x, {2, 3, 4, 5});
    EXPECT_EQ(values_in(memory), (Values{1, 2, 3, 4}));
  }
}

TEST(LentMemory, HoldsNoValuePerExample) {
  Memory memory = {1, 2, 3, 4};
  const auto f = [&](Tensor row) {
    const Tensor inside = rc::from_blob(memory.data(), {2}, rc::float64);
    return inside.copy_(row);
  };
  EXPECT_THROW(rc::vmap(f)(ramp({3, 2})), rc::TransformError);
  EXPECT_EQ(values_in(memory), (Values{1, 2, 3, 4}));
}

TEST(LentMemory, TakesWhatIsWrittenToAPartOfItAlone) {
  constexpr std::int64_t rows = 8, width = 512;
  const auto expect_rest_untouched = [](const auto& around) {
    std::vector<float> memory(rows * 2 * width, 1);
    around(
        [&](const Tensor& D) {
          D[0] = D[1] * 2;  // from now on, D has elements of its own
          memory.back() = 42;
          D[2] = D[0] * 3;
          return D[2].sum();
        },
        memory.data());
    EXPECT_EQ(memory.back(), 42);
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 2.F), width * 2);
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 6.F), width * 2);
  };
  expect_rest_untouched([](const auto& f, float* m) { f(rc::from_blob(m, {rows, 2 * width}, rc::float32)); });
  expect_rest_untouched([](const auto& f, float* m) { rc::grad(f)(rc::from_blob(m, {rows, 2 * width}, rc::float32)); });
  expect_rest_untouched([](const auto& f, float* m) { rc::vmap(f)(rc::from_blob(m, {2, rows, width}, rc::float32)); });
  expect_rest_untouched(
      [](const auto& f, float* m) { rc::vmap(f, {.in_dims = 1})(rc::from_blob(m, {rows, 2, width}, rc::float32)); });
  expect_rest_untouched(
      [](const auto& f, float* m) { rc::vmap(f, {.in_dims = -1})(rc::from_blob(m, {rows, width, 2}, rc::float32)); });
}

/// Each chunk finds the arguments as the first did, from one copy of what is lent.
TEST(LentMemory, ChunksOfVmapCopyWhatTheyShareOnce) {
  std::vector<double> memory(std::size_t{1} << 20, 1.0);
  const Tensor x = rc::from_blob(memory.data(), {1 << 20}, rc::float64);
  const auto f = [](Tensor a, Tensor shared) { return shared.narrow(0, 0, 2) * a; };
  rc::empty_cache();
  rc::reset_peak_memory_stats();
  const std::size_t before = rc::memory_stats().reserved;
  const Tensor y = rc::vmap(f, {.in_dims = {0, rc::none}, .chunk_size = 1})(doubles({3, 4}), x);
  expect_values(y, {3, 3, 4, 4});
  EXPECT_LT(rc::memory_stats().max_reserved - before, std::size_t{12} << 20);  // of 8 MiB
}

}  // namespace
