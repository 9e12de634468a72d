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
  expect_close(by_table.reshape({width}), by_list.reshape({width}), 1e-6);
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

}  // namespace
