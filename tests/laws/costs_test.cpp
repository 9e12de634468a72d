// Laws of what a loop over a table holds: filled row by row, in every way to write a row and under every transform, it
// holds at most twice what the same loop over a list of tensors holds, and the table besides. At 2n rows it holds at
// most twice as much as at n. Counted in calls and bytes of the pool: time is no test.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "ricci/primitive/pool.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr int width = 1024;
constexpr std::size_t row_bytes = width * sizeof(float);

/// Called after every step; notes the bytes in use.
struct Meter {
  std::size_t at_start = rc::pool::bytes_in_use(), most = 0;
  std::uint64_t calls_at_start = rc::pool::allocation_count();
  void note() { most = std::max(most, rc::pool::bytes_in_use() - at_start); }
  std::uint64_t calls() const { return rc::pool::allocation_count() - calls_at_start; }
};

/// One step's row from the one before.
Tensor next(const Tensor& row) { return tanh(row * 0.9); }

struct WayToWrite {
  std::string name;
  std::function<void(const Tensor& table, int i)> write;
};
void PrintTo(const WayToWrite& way, std::ostream* out) { *out << way.name; }

const WayToWrite ways[] = {
    {"row", [](const Tensor& D, int i) { D[i] = next(D[i - 1]); }},
    {"copied_row", [](const Tensor& D, int i) { D[i].copy_(next(D[i - 1])); }},
    {"row_of_slice", [](const Tensor& D, int i) { D.slice(0, i, i + 1) = next(D.slice(0, i - 1, i)); }},
    {"selected_row", [](const Tensor& D, int i) { D.select(0, i).copy_(next(D.select(0, i - 1))); }},
    {"added_row", [](const Tensor& D, int i) { D[i] += next(D[i - 1]); }},
    {"index", [](const Tensor& D, int i) { D.index({i}) = next(D.index({i - 1})); }},
    {"row_into_out",
     [](const Tensor& D, int i) {
       rc::mul_out(D[i], D[i - 1] * 0.5, 1.8);
       D[i].tanh_();
     }},
    {"row_of_a_column_block",
     [](const Tensor& D, int i) { D[i].slice(0, 0, width) = next(D[i - 1].slice(0, 0, width)); }},
};

struct Around {
  std::string name;
  std::function<Tensor(std::function<Tensor(Tensor)>, Tensor)> run;
};
void PrintTo(const Around& around, std::ostream* out) { *out << around.name; }

const Around arounds[] = {
    {"nothing", [](auto f, Tensor x) { return f(x); }},
    {"grad", [](auto f, Tensor x) { return rc::grad([=](Tensor x) { return f(x).sum(); })(x); }},
    {"jvp", [](auto f, Tensor x) { return std::get<1>(rc::jvp(f, x, rc::ones_like(x))); }},
    {"vmap", [](auto f, Tensor x) { return rc::vmap(f)(x.unsqueeze(0)); }},
    {"vmap_of_grad",
     [](auto f, Tensor x) { return rc::vmap(rc::grad([=](Tensor x) { return f(x).sum(); }))(x.unsqueeze(0)); }},
    {"grad_of_vmap",
     [](auto f, Tensor x) { return rc::grad([=](Tensor x) { return rc::vmap(f)(x.unsqueeze(0)).sum(); })(x); }},
};

class Costs : public testing::TestWithParam<std::tuple<WayToWrite, Around>> {};

Meter of_table(const WayToWrite& way, const Around& around, int rows, Tensor& result) {
  Meter meter;
  const auto f = [&](Tensor x) {
    const Tensor D = x.new_zeros({rows, width});
    D[0] = x;
    const Tensor first = D[0];  // a view that is read between writes
    for (int i = 1; i < rows; ++i) {
      way.write(D, i);
      first.sum();
      meter.note();
    }
    return D[rows - 1] * 1;
  };
  result = around.run(f, rc::ones({width}));
  return meter;
}

Meter of_list(const Around& around, int rows, Tensor& result) {
  Meter meter;
  const auto f = [&](Tensor x) {
    std::vector<Tensor> all{x};
    for (int i = 1; i < rows; ++i) {
      all.push_back(next(all.back()));
      meter.note();
    }
    return all.back() * 1;
  };
  result = around.run(f, rc::ones({width}));
  return meter;
}

TEST_P(Costs, OfATableAreThoseOfAListAndTheTable) {
  const auto& [way, around] = GetParam();
  constexpr int rows = 64;
  // A block of the pool may be a quarter larger than what was asked for.
  constexpr std::size_t table_bytes = rows * row_bytes * 5 / 4, few = 16 * row_bytes;
  Tensor by_table, by_list, twice_as_long;
  of_table(way, around, rows, by_table);  // what the first call finds and keeps for the next ones
  const Meter table = of_table(way, around, rows, by_table), list = of_list(around, rows, by_list),
              long_table = of_table(way, around, 2 * rows, twice_as_long);
  constexpr double other_order = 1e-6;  // some 64 terms of float32, added in another order
  expect_close(by_table.reshape({width}), by_list.reshape({width}), other_order);
  // Without a tape, the table is all that there is. A list keeps its rows for itself and for the way back alike.
  const bool is_taped = around.name.find("grad") != std::string::npos;
  // A tangent has a table of its own. What is made inside vmap holds one value for all examples until it is written to;
  // the elements of that value live as long as the tensor.
  const std::size_t tables = around.name == "jvp" || around.name.find("vmap") != std::string::npos ? 2 : 1;
  EXPECT_LE(table.most, (is_taped ? 2 * list.most : 0) + tables * table_bytes + few);
  EXPECT_LE(long_table.most, 2 * table.most + few);
  EXPECT_LE(long_table.calls(), 2 * table.calls() + 100);
}

INSTANTIATE_TEST_SUITE_P(, Costs, testing::Combine(testing::ValuesIn(ways), testing::ValuesIn(arounds)),
                         [](const auto& given) {
                           return std::get<0>(given.param).name + "_under_" + std::get<1>(given.param).name;
                         });

// ── growth ──

/// Where the rows of a table lie, and how they are reached.
struct Table {
  std::string name;
  std::function<Tensor(const Tensor& like, int rows)> make;
  std::function<Tensor(const Tensor& base)> rows;  // of what was made, in every step anew
};

Tensor itself(const Tensor& base) { return base; }

const Table tables[] = {
    {"rows", [](const Tensor& x, int n) { return x.new_zeros({n, width}); }, itself},
    {"rows_of_a_flat_one", [](const Tensor& x, int n) { return x.new_zeros({n * width}).reshape({n, width}); }, itself},
    {"columns", [](const Tensor& x, int n) { return x.new_zeros({width, n}).t(); }, itself},
    {"columns_transposed_anew", [](const Tensor& x, int n) { return x.new_zeros({width, n}); },
     [](const Tensor& base) { return base.t(); }},
};

Tensor place(int i) { return rc::tensor({i}); }
Tensor places(int i) { return rc::full({1, width}, i, rc::int64); }
Tensor mask() { return rc::arange(width) % 2 == 0; }
Tensor as_rows(const Tensor& row) { return row.unsqueeze(0); }

const WayToWrite steps[] = {
    {"row", [](const Tensor& D, int i) { D[i] = next(D[i - 1]); }},
    {"the_row_before", [](const Tensor& D, int i) { D[i] = D[i - 1]; }},
    {"a_product", [](const Tensor& D, int i) { D[i] = D[i - 1] * (D[i - 1] + 1); }},
    {"copy_", [](const Tensor& D, int i) { D[i].copy_(next(D[i - 1])); }},
    {"slice", [](const Tensor& D, int i) { D.slice(0, i, i + 1) = next(D.slice(0, i - 1, i)); }},
    {"select", [](const Tensor& D, int i) { D.select(0, i).copy_(next(D.select(0, i - 1))); }},
    {"add", [](const Tensor& D, int i) { D[i] += D[i - 1]; }},
    {"out", [](const Tensor& D, int i) { rc::add_out(D[i], D[i - 1], D[0]); }},
    {"element", [](const Tensor& D, int i) { D[i][0] = D[i - 1][0] * 0.5; }},
    {"fill_", [](const Tensor& D, int i) { D[i].fill_(D[i - 1][0]); }},
    {"index", [](const Tensor& D, int i) { D.index({i}) = next(D.index({i - 1})); }},
    {"index_and_mask", [](const Tensor& D, int i) { D.index({i, mask()}) = D[i - 1][0]; }},
    {"masked_fill_", [](const Tensor& D, int i) { D[i].masked_fill_(mask(), D[i - 1][0]); }},
    {"index_put_", [](const Tensor& D, int i) { D.index_put_({place(i)}, as_rows(next(D[i - 1]))); }},
    {"index_of_tensor", [](const Tensor& D, int i) { D.index({place(i)}) = as_rows(next(D[i - 1])); }},
    {"index_put_added", [](const Tensor& D, int i) { D.index_put_({place(i)}, as_rows(next(D[i - 1])), true); }},
    {"index_put_in_a_row", [](const Tensor& D, int i) { D[i].index_put_({rc::tensor({0, 2})}, D[i - 1][0]); }},
    {"index_add_", [](const Tensor& D, int i) { D.index_add_(0, place(i), as_rows(next(D[i - 1]))); }},
    {"index_add_transposed",
     [](const Tensor& D, int i) { D.t().index_add_(1, place(i), next(D[i - 1]).unsqueeze(1)); }},
    {"index_fill_", [](const Tensor& D, int i) { D.index_fill_(0, place(i), D[i - 1][0]); }},
    {"scatter_", [](const Tensor& D, int i) { D.scatter_(0, places(i), as_rows(next(D[i - 1]))); }},
    {"scatter_of_two_rows",
     [](const Tensor& D, int i) {
       D.scatter_(0, rc::cat({places(i - 1), places(i)}), next(D[i - 1]).expand({2, width}));
     }},
    {"scatter_add_", [](const Tensor& D, int i) { D.scatter_add_(0, places(i), as_rows(next(D[i - 1]))); }},
};

const Around arounds_of_growth[] = {
    {"nothing", [](auto f, Tensor x) { return f(x); }},
    {"grad", [](auto f, Tensor x) { return rc::grad([=](Tensor x) { return f(x).sum(); })(x); }},
    {"jvp", [](auto f, Tensor x) { return std::get<1>(rc::jvp(f, x, rc::ones_like(x))); }},
    {"vmap", [](auto f, Tensor x) { return rc::vmap(f)(rc::stack({x, x})); }},
    {"vmap_of_grad",
     [](auto f, Tensor x) { return rc::vmap(rc::grad([=](Tensor x) { return f(x).sum(); }))(rc::stack({x, x})); }},
    {"grad_of_vmap",
     [](auto f, Tensor x) { return rc::grad([=](Tensor x) { return rc::vmap(f)(x).sum(); })(rc::stack({x, x})); }},
    {"linearize", [](auto f, Tensor x) { return std::get<1>(rc::linearize(f, x))(x); }},
    {"trace", [](auto f, Tensor x) { return rc::trace(f)(x)({x})[0]; }},
};

class GrowthOfWrites : public testing::TestWithParam<std::tuple<WayToWrite, Around>> {};

struct Cost {
  std::uint64_t calls, bytes;
};

Cost cost_of(const Table& table, const WayToWrite& step, const Around& around, int rows) {
  const auto f = [&](Tensor x) {
    const Tensor D = table.make(x, rows);
    table.rows(D)[0] = x;
    for (int i = 1; i < rows; ++i) step.write(table.rows(D), i);
    return table.rows(D)[rows - 1] * 1;
  };
  const Tensor x = rc::linspace(0.1, 0.9, width);
  const rc::pool::Costs costs;
  around.run(f, x);
  return {costs.allocations, costs.bytes};
}

/// `y = y.t()` in a loop ties y to the root again and again; a write to a row of y is one to a part of the root.
TEST(Growth, OfRowsWrittenThroughATensorThatIsBoundToItsOwnViewIsThatOfTheRows) {
  static constexpr int size = 512, steps = 64;
  const std::pair<const char*, std::function<Tensor(const Tensor&)>> views[] = {
      {"t", [](const Tensor& y) { return y.t(); }},
      {"slice", [](const Tensor& y) { return y.slice(0, 0, size); }},
      {"reshape", [](const Tensor& y) { return y.reshape({-1}).reshape({size, size}); }}};
  for (const auto& [name, view] : views)
    for (const Around& around : arounds_of_growth) {
      SCOPED_TRACE(name + (" under " + around.name));
      const auto f = [&](const Tensor& x) {
        Tensor y = x.new_zeros({size, size});
        y[0] = x;
        for (int i = 1; i < steps; ++i) {
          y = view(y);
          y[i] += 0.5;
        }
        return y.sum(0);
      };
      const Tensor x = rc::linspace(0.1, 0.9, size);
      const rc::pool::Costs costs;
      around.run(f, x);
      // Some tables are made once, for two examples or for a derivative too. A table a step would be 64 of them, and
      // 128 for two examples.
      EXPECT_LE(costs.bytes, 40 * size * size * sizeof(float));
    }
}

/// At twice the rows; a loop that copies its table in each step asks the pool for four times as many bytes there.
void expect_growth_of_rows(const Table& table, const WayToWrite& step, const Around& around) {
  constexpr int rows = 64;
  cost_of(table, step, around, 4);  // what the first call finds and keeps for the next ones
  const Cost once = cost_of(table, step, around, rows), twice = cost_of(table, step, around, 2 * rows);
  // What a tape packs its operations into doubles as it grows.
  EXPECT_LE(twice.bytes, once.bytes * 9 / 4) << once.bytes;
  EXPECT_LE(twice.calls, once.calls * 9 / 4) << once.calls;
}

/// `row_under_grad`
const auto name_of_growth = [](const auto& given) {
  return std::get<0>(given.param).name + "_under_" + std::get<1>(given.param).name;
};

TEST_P(GrowthOfWrites, OfWhatALoopOverATableAsksForIsThatOfItsRows) {
  const auto& [step, around] = GetParam();
  for (const Table& table : tables) {
    SCOPED_TRACE(table.name);
    // A program that writes at indices of a view puts the whole view back.
    const bool is_by_index = step.name.starts_with("index_") || step.name.starts_with("scatter");
    const bool is_of_view = table.name != "rows" || step.name.ends_with("transposed");
    if (around.name == "trace" && is_by_index && is_of_view) continue;
    expect_growth_of_rows(table, step, around);
  }
}

INSTANTIATE_TEST_SUITE_P(, GrowthOfWrites,
                         testing::Combine(testing::ValuesIn(steps), testing::ValuesIn(arounds_of_growth)),
                         name_of_growth);

/// On the way back, what is read at indices is added where others have begun, not to zeros for the whole table; also
/// where the read sees the table through views, its own or those of the loop.
class GrowthOfReads : public testing::TestWithParam<std::tuple<WayToWrite, Around>> {};

const WayToWrite reads[] = {
    {"index_select", [](const Tensor& D, int i) { D[i] = next(D.index_select(0, place(i - 1))[0]); }},
    {"index_select_of_columns",
     [](const Tensor& D, int i) { D[i] = next(D.t().index_select(1, place(i - 1)).t()[0]); }},
    {"gather", [](const Tensor& D, int i) { D[i] = next(D.gather(0, places(i - 1))[0]); }},
    {"take_along_dim", [](const Tensor& D, int i) { D[i] = next(take_along_dim(D, places(i - 1), 0)[0]); }},
    {"take_along_dim_at_one_place",
     [](const Tensor& D, int i) { D[i] = next(take_along_dim(D, rc::full({1, 1}, i - 1, rc::int64), 0)[0]); }},
    {"embedding", [](const Tensor& D, int i) { D[i] = next(rc::embedding(place(i - 1), D)[0]); }},
    {"index_of_tensor", [](const Tensor& D, int i) { D[i] = next(D.index({place(i - 1)})[0]); }},
    {"row_at_a_tensor", [](const Tensor& D, int i) { D[i] = next(D[rc::tensor(i - 1)]); }},
};

TEST_P(GrowthOfReads, OfWhatALoopOverATableAsksForIsThatOfItsRows) {
  const auto& [read, around] = GetParam();
  for (const Table& table : tables) {
    SCOPED_TRACE(table.name);
    expect_growth_of_rows(table, read, around);
  }
}

INSTANTIATE_TEST_SUITE_P(, GrowthOfReads,
                         testing::Combine(testing::ValuesIn(reads), testing::ValuesIn(arounds_of_growth)),
                         name_of_growth);

/// Where the table is the caller's, who sees what is written there.
struct CallersTable {
  std::string name;
  std::function<void(const std::function<Tensor(Tensor)>& fill, int rows)> run;
};
void PrintTo(const CallersTable& table, std::ostream* out) { *out << table.name; }

class GrowthAtTheCaller : public testing::TestWithParam<CallersTable> {};

TEST_P(GrowthAtTheCaller, OfWhatALoopOverATableAsksForIsThatOfItsRows) {
  constexpr int rows = 64;
  const auto cost = [](int n) {
    const rc::pool::Costs costs;
    GetParam().run(
        [n](const Tensor& D) {
          for (int i = 1; i < n; ++i) D[i] = next(D[i - 1]) + 1;
          return D[n - 1].sum();
        },
        n);
    return Cost{costs.allocations, costs.bytes};
  };
  cost(4);
  const Cost once = cost(rows), twice = cost(2 * rows);
  EXPECT_LE(twice.bytes, once.bytes * 9 / 4) << once.bytes;
  EXPECT_LE(twice.calls, once.calls * 9 / 4) << once.calls;
}

INSTANTIATE_TEST_SUITE_P(
    , GrowthAtTheCaller,
    testing::Values(CallersTable{"argument", [](auto f, int n) { rc::grad(f)(rc::ones({n, width})); }},
                    CallersTable{"view", [](auto f, int n) { rc::grad(f)(rc::ones({2, n, width})[1]); }},
                    CallersTable{"transposed",
                                 [](auto f, int n) {
                                   const Tensor x = rc::ones({width, n}).t();
                                   rc::jvp(f, x, x);
                                 }},
                    CallersTable{"mapped", [](auto f, int n) { rc::vmap(f)(rc::ones({2, n, width})); }},
                    CallersTable{"mapped_over_the_last_axis",
                                 [](auto f, int n) { rc::vmap(f, {.in_dims = -1})(rc::ones({n, width, 2})); }},
                    CallersTable{"view_mapped_over_a_middle_axis",
                                 [](auto f, int n) { rc::vmap(f, {.in_dims = 1})(rc::ones({2, n, 2, width})[1]); }},
                    CallersTable{"mapped_under_grad",
                                 [](auto f, int n) {
                                   rc::grad([&](Tensor x) { return rc::vmap(f, {.in_dims = 1})(x * 1).sum(); })(
                                       rc::ones({n, 2, width}));
                                 }},
                    CallersTable{"lent",
                                 [](auto f, int n) {
                                   std::vector<float> memory(static_cast<std::size_t>(2 * n * width), 1);
                                   const Tensor x = rc::from_blob(memory.data(), {n, 2, width}, rc::float32);
                                   rc::vmap(f, {.in_dims = 1})(x);
                                 }}),
    [](const auto& given) { return given.param.name; });

// ── what forward mode computes ──

/// An operation whose value alone is faster than the value with what its derivative reads.
struct Alone {
  std::string name, with_rest;
  std::function<Tensor(Tensor)> f;
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ForwardMode, ComputesAValueAndItsTangentFromOneCall) {
  const Alone all[] = {
      {"eigvalsh", "eigh", [](Tensor x) { return eigvalsh(x); }},
      {"svdvals", "svd", [](Tensor x) { return svdvals(x); }},
      {"eigvals", "eig", [](Tensor x) { return rc::abs(eigvals(x)); }},
      {"max_pool", "max_pool_with_places", [](Tensor x) { return max_pool2d(x.unsqueeze(0), {2, 2}); }},
      {"adaptive_max_pool", "adaptive_max_pool_with_places",
       [](Tensor x) { return adaptive_max_pool2d(x.unsqueeze(0), {2, 2}); }},
  };
  for (const Alone& one : all) {
    const Tensor x = rc::tensor({{4., 1., 0.}, {1., 2., 0.5}, {0., 0.5, 7.}});
    const auto f = [&](Tensor y) { return rc::jvp(one.f, y, ones_like(y)); };
    const std::string text = rc::to_string(rc::trace(f)(x));
    EXPECT_EQ(count_of(text, "= " + one.with_rest), 1U) << text;
    EXPECT_EQ(count_of(text, "= " + one.name), one.with_rest.starts_with(one.name) ? 1U : 0U) << text;
  }
}

}  // namespace
