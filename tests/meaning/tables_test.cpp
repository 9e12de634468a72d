// Tables that a loop fills row by row: dynamic programming, recurrences, elimination, time stepping. A write to a part
// costs what the part costs, whoever has read other parts, and under every transform.
#include "ricci/primitive/pool.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Runs the loop body and says whether the table's elements are still where they were.
template <class Step>
bool stays_in_place(const Tensor& table, const Step& step) {
  const float* const before = table.data<float>();
  for (int i = 1; i < 4; ++i) step(i);
  return table.data<float>() == before;
}

TEST(Tables, AreWrittenInPlaceWhileViewsOfThemLive) {
  const Tensor D = rc::ones({4, 3});
  EXPECT_TRUE(stays_in_place(D, [&](int i) { D[i] = D[i - 1]; }));
  EXPECT_TRUE(stays_in_place(D, [&](int i) { D[i].copy_(D[i - 1]); }));
  EXPECT_TRUE(stays_in_place(D, [&](int i) { D[i] += D[i - 1]; }));
  EXPECT_TRUE(stays_in_place(D, [&](int i) { rc::add_out(D[i], D[i - 1], D[0]); }));
  EXPECT_TRUE(stays_in_place(D, [&](int i) { D[i][0] = D[i - 1][0].item(); }));
  EXPECT_TRUE(stays_in_place(D, [&](int i) { D[i] -= D[i][0] * D[i - 1]; }));
  EXPECT_TRUE(stays_in_place(D, [&](int i) { D.slice(1, 1, 3) = D.slice(1, 0, 2) * i; }));
  const Tensor first = D[0], column = D.select(1, 2);
  EXPECT_TRUE(stays_in_place(D, [&](int i) {
    D[i] = first + column[0];
    column.mul_(first[i - 1]);
  }));
}

TEST(Tables, ShowEveryViewWhatWasWritten) {
  const Tensor D = rc::zeros({4, 3}), first = D[0], column = D.select(1, 2);
  expect_values(first, {0, 0, 0});
  expect_values(column, {0, 0, 0, 0});
  D[0] = rc::arange(3.0);
  expect_values(first, {0, 1, 2});
  expect_values(column, {2, 0, 0, 0});
  column.fill_(5);
  expect_values(first, {0, 1, 5});
  first.neg_();
  expect_values(D[0], {0, -1, -5});
}

TEST(Tables, AreReadBeforeTheyAreOverwritten) {
  const auto shifted = [](const auto& write) {
    const Tensor D = rc::arange(6.0).clone();
    write(D);
    expect_values(D, {0, 0, 1, 2, 3, 4});
  };
  shifted([](const Tensor& D) { D.slice(0, 1, 6) = D.slice(0, 0, 5); });
  shifted([](const Tensor& D) { D.slice(0, 1, 6).copy_(D.slice(0, 0, 5)); });
  shifted([](const Tensor& D) {
    const Tensor lower = D.slice(0, 0, 5), upper = D.slice(0, 1, 6);
    upper.copy_(lower);
  });
  const Tensor D = rc::arange(9.0).reshape({3, 3}).clone();
  D.copy_(D.t());
  expect_values(D, {0, 3, 6, 1, 4, 7, 2, 5, 8});
}

TEST(Tables, KeepWhatSomebodyElseHolds) {
  const Tensor D = rc::arange(6.0).reshape({2, 3}).clone(), row = D[0];
  const Tensor kept = rc::vmap([](Tensor x) { return x.detach(); })(row);
  auto [value, pullback] = rc::vjp([](Tensor x) { return x * x; }, row);
  D[0] = rc::full({3}, 9);
  expect_values(kept, {0, 1, 2});
  expect_values(pullback(rc::ones({3})), {0, 2, 4});
  expect_values(row, {9, 9, 9});
}

// ── under transforms ──

/// x0 in row 0, then each row from the one before.
Tensor table(const Tensor& x, int rows) {
  Tensor D = x.new_zeros({rows, x.size(0)});
  D[0] = x;
  for (int i = 1; i < rows; ++i) D[i] = sin(D[i - 1] * 0.9) + D[i - 1][0];
  return D;
}
Tensor list(const Tensor& x, int rows) {
  std::vector<Tensor> all{x};
  for (int i = 1; i < rows; ++i) all.push_back(sin(all.back() * 0.9) + all.back()[0]);
  return rc::stack(all);
}

/// Of float64: a table of six rows adds cotangents in another order than a list, some hundred terms below 100.
constexpr double other_order = 1e-12;

TEST(Tables, HaveTheDerivativesOfAListOfTensors) {
  const Tensor x = rc::rand({3}, rc::float64), xs = rc::rand({4, 3}, rc::float64);
  const auto by = [](auto fill) { return [=](const Tensor& x) { return square(fill(x, 6)).sum(); }; };
  expect_close(rc::grad(by(table))(x), rc::grad(by(list))(x), other_order);
  expect_close(rc::hessian(by(table))(x), rc::hessian(by(list))(x), other_order);
  expect_close(rc::jacrev(rc::grad(by(table)))(x), rc::hessian(by(list))(x), other_order);
  expect_close(rc::jacfwd(by(table))(x), rc::grad(by(list))(x), other_order);
  expect_close(rc::vmap(rc::grad(by(table)))(xs), rc::vmap(rc::grad(by(list)))(xs), other_order);
  const auto mapped = [&](auto fill) { return [=](const Tensor& xs) { return rc::vmap(by(fill))(xs).sum(); }; };
  expect_close(rc::grad(mapped(table))(xs), rc::grad(mapped(list))(xs), other_order);
  auto [y, along] = rc::linearize(by(table), x);
  expect_close(along(x), rc::sum(rc::grad(by(list))(x) * x), other_order);
}

TEST(Tables, OfTheCallerAreFilledUnderEveryTransform) {
  const auto fill = [](const Tensor& D) {
    for (int i = 1; i < 4; ++i) D[i] = D[i - 1] * 2;
    return D[3].sum();
  };
  const Tensor D = rc::ones({4, 2});
  expect_values(rc::grad(fill)(D), {8, 8, 0, 0, 0, 0, 0, 0});
  expect_values(D, {1, 1, 2, 2, 4, 4, 8, 8});
  const Tensor all = rc::ones({3, 4, 2}), view = all[1], last = rc::ones({4, 2, 3});
  expect_values(rc::vmap(fill)(all), {16, 16, 16});
  expect_values(view, {1, 1, 2, 2, 4, 4, 8, 8});
  rc::vmap(fill, {.in_dims = -1})(last);
  expect_values(last.select(2, 1), {1, 1, 2, 2, 4, 4, 8, 8});
  const Tensor part = rc::ones({2, 4, 2});
  rc::grad(fill)(part[1]);
  expect_values(part, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8});
}

/// The most bytes that are in use at one of the steps that `f` announces, beyond those at the start.
template <class F>
std::size_t peak_of(const F& f) {
  const std::size_t before = rc::pool::bytes_in_use();
  std::size_t most = before;
  f([&] { most = std::max(most, rc::pool::bytes_in_use()); });
  return most - before;
}

/// A table is kept once, with one row a step for the way back.
TEST(Tables, AreKeptOnceByATape) {
  constexpr int width = 500;
  const auto peak = [](int rows, auto step_of) {
    return peak_of([&](const auto& note) {
      rc::grad([&](const Tensor& x) {
        Tensor D = rc::zeros({rows, width});
        D[0] = x;
        for (int i = 1; i < rows; ++i) {
          step_of(D, i);
          note();
        }
        return D[rows - 1].sum();
      })(rc::ones({width}));
      note();
    });
  };
  const auto expect_linear = [&](auto step) {
    const std::size_t rows = 64, bytes = rows * width * sizeof(float);
    const std::size_t once = peak(rows, step), twice = peak(2 * rows, step);
    EXPECT_LE(once, 6 * bytes);
    EXPECT_LE(twice, 2 * once + bytes / 2);
  };
  expect_linear([](const Tensor& D, int i) { D[i] = tanh(D[i - 1]); });
  expect_linear([](const Tensor& D, int i) { D[i] = D[i - 1] * D[i - 1]; });
  expect_linear([](const Tensor& D, int i) { D.select(0, i).copy_(sin(D.slice(0, i - 1, i)[0])); });
  expect_linear([](const Tensor& D, int i) { D[i][0] = D[i - 1][0] * D[i - 1][1]; });
}

// ── large enough that elements are given away: a few are copied instead ──

constexpr int long_row = 1024;

/// [rows, long_row], of which row i holds i + x, and x.
Tensor counted(const Tensor& x, int rows) {
  const Tensor D = x.new_zeros({rows, long_row});
  for (int i = 0; i < rows; ++i) D[i] = x + i;
  return D;
}

TEST(Tables, AreReadBeforeTheyAreOverwrittenUnderEveryTransform) {
  const auto f = [](const Tensor& x) {
    const Tensor D = counted(x, 4), lower = D.slice(0, 0, 3), upper = D.slice(0, 1, 4), row = D[3], other = D[0];
    upper.copy_(lower);                // 0 0 1 2
    const Tensor sum = upper + lower;  // 0 1 3
    row.copy_(other);                  // 0 0 1 0
    D[0] = row + 7;                    // 7 0 1 0
    return rc::cat({D, upper, sum, row.unsqueeze(0), other.unsqueeze(0)}).sum(1) / long_row;
  };
  const Values expected{7, 0, 1, 0, 0, 1, 0, 0, 1, 3, 0, 7};
  const Tensor x = rc::zeros({long_row});
  const auto expect = [&](const char* transform, const Tensor& found) {
    SCOPED_TRACE(transform);
    expect_values(found, expected);
  };
  expect("nothing", f(x));
  expect("vjp", rc::vjp(f, x).first);
  expect("jvp", rc::jvp(f, x, rc::ones_like(x)).first);
  expect("linearize", rc::linearize(f, x).first);
  expect("vmap", rc::vmap(f)(x.unsqueeze(0))[0]);
  expect("trace", rc::trace(f)(x)({x})[0]);
  // Each row holds x once; `sum` holds it twice.
  const Values slopes{1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1};
  expect_values(rc::jvp(f, x, rc::ones_like(x)).second, slopes);
  expect_values(rc::linearize(f, x).second(rc::ones_like(x)), slopes);
}

/// A write to D, of which every row holds 0 before and row 1 only afterwards.
struct FailingWrite {
  const char* name;
  void (*write)(const Tensor& D, const Tensor& x);
};
const FailingWrite failing_writes[] = {
    {"row", [](const Tensor& D, const Tensor& x) { D[1] = x * 2; }},
    {"row of a transposed one", [](const Tensor& D, const Tensor& x) { D.t().t()[1] = x * 2; }},
    {"index_put_",
     [](const Tensor& D, const Tensor& x) {
       D.index_put_({rc::tensor({1, -2})}, rc::stack({x, x * 2}));  // the last one stays
     }},
    {"index_add_",
     [](const Tensor& D, const Tensor& x) { D.index_add_(0, rc::tensor({1, 1}), rc::stack({x * 1.5, x * 0.5})); }},
    {"scatter_", [](const Tensor& D,
                    const Tensor& x) { D.scatter_(0, rc::full({1, long_row}, 1, rc::int64), (x * 2).unsqueeze(0)); }},
    {"scatter_add_",
     [](const Tensor& D, const Tensor& x) {
       D.scatter_add_(0, rc::full({2, long_row}, 1, rc::int64), rc::stack({x, x}));
     }},
};

TEST(Tables, ThatAFailedWriteHasTouchedAreAsTheyWere) {
  for (const FailingWrite& way : failing_writes) {
    SCOPED_TRACE(way.name);
    const auto f = [&](const Tensor& x) {
      const Tensor D = x.new_zeros({3, long_row});
      D[0] = x;
      D[1] = x * 0;
      int failed = 0;
      for (int at = 1; at < 200; ++at) {
        rc::pool::fail_after(static_cast<std::uint64_t>(at));
        try {
          way.write(D, x);
          at = 200;
        } catch (const std::bad_alloc&) {
          rc::pool::fail_after(0);
          EXPECT_EQ(D[1].detach().abs().sum().item<float>(), 0);
          ++failed;
        }
        rc::pool::fail_after(0);
      }
      EXPECT_GT(failed, 3);
      return D.sum() / long_row;
    };
    const Tensor x = rc::ones({long_row});
    EXPECT_NEAR(rc::grad(f)(x).sum().item<float>(), 3, 1e-5);
    EXPECT_NEAR(std::get<1>(rc::jvp(f, x, x)).item<float>(), 3, 1e-5);
    EXPECT_NEAR(f(x).item<float>(), 3, 1e-5);
  }
}

/// Views whose parts are no one part of the table in row-major order.
TEST(Tables, AreWrittenAtIndicesThroughAnyTwoViews) {
  const Tensor at = rc::tensor({1, 0});
  for (bool under_vmap : {false, true}) {
    const auto write = [&](Tensor table) {
      table.as_strided({64, 32}, {64, 1})[3].index_fill_(0, at, 7);
      rc::view_as_complex(table.reshape({64, 32, 2}))[5].index_fill_(0, at, 9);
      table.as_strided({64, 32}, {64, 1}).slice(1, 2, 30)[4] = 5;
      return table * 1;
    };
    const Tensor table = rc::zeros({64, 64}, rc::float64), wanted = rc::zeros({64, 64}, rc::float64);
    wanted[3].slice(0, 0, 2).fill_(7);
    wanted.index({5, 0}) = 9;
    wanted.index({5, 2}) = 9;
    wanted[4].slice(0, 2, 30).fill_(5);
    if (under_vmap) expect_equal(rc::vmap(write)(rc::stack({table, table}))[1], wanted);
    else expect_equal(write(table), wanted);
  }
}

/// Rows 3, 0 and 3 of a table with 64 columns, each read at indices through other views; and all of the table.
Tensor rows_at_indices(const Tensor& x) {
  const Tensor table = x.t() * 1, at = rc::tensor({3, 0});
  const Tensor first = table.t().index_select(0, at).square(), second = table[1].t().index_select(0, at).square(),
               third = table.slice(0, 1, 3).t().index({rc::tensor(3)}).square(),
               fourth = rc::vmap([](Tensor row) { return row.index({rc::tensor({3, 0})}); })(table).square();
  return table.square().sum() + first.sum() + 2 * second.sum() + 3 * third.sum() + 4 * fourth.sum();
}
Tensor rows_by_products(const Tensor& x) {
  const Tensor three = x[3], zero = x[0];
  return x.square().sum() + 5 * (three.square().sum() + zero.square().sum()) +
         2 * (three[1].square() + zero[1].square()) + 3 * (three[1].square() + three[2].square());
}

TEST(Tables, AreReadAtIndicesThroughViewsWithTheRightDerivatives) {
  const Tensor x = rc::linspace(-1, 1, 64 * 64, rc::float64).reshape({64, 64}), v = (x * 7).sin();
  const auto both = [&](const auto& transform) {
    expect_close(transform(rows_at_indices), transform(rows_by_products), 1e-12);
  };
  both([&](auto f) { return f(x); });
  both([&](auto f) { return rc::grad(f)(x); });
  both([&](auto f) { return rc::vmap(rc::grad(f))(rc::stack({x, v})); });
  both([&](auto f) { return rc::grad([=](Tensor x) { return rc::vmap(f)(x).sum(); })(rc::stack({x, v})); });
  both([&](auto f) { return std::get<1>(rc::jvp(rc::grad(f), x, v)); });
  both([&](auto f) {
    return rc::grad([=](Tensor x) { return (rc::grad(f)(x) * v).sum(); })(x);
  });
  both([&](auto f) { return rc::trace(rc::grad(f))(x)({v})[0]; });
}

/// What is read at indices of a view is added to a cotangent that has begun with the caller's own.
TEST(Tables, LeaveTheCotangentsOfTheCallerAsTheyAre) {
  const Tensor x = rc::ones({64, 64}), given = rc::ones({64, 64}), of_rows = rc::ones({1, 64});
  const auto [y, pullback] = rc::vjp(
      [](Tensor x) {
        const Tensor table = x * 2;
        return std::pair(table, table.t().index_select(0, rc::tensor({5})));
      },
      x);
  const Tensor first = pullback(std::pair(given, of_rows)) * 1;
  EXPECT_EQ(given.sum().item<float>(), 64 * 64);
  expect_equal(pullback(std::pair(given, of_rows)), first);
  EXPECT_EQ(first.sum().item<float>(), 2 * (64 * 64 + 64));
}

}  // namespace
