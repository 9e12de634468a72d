// A law of what random loops over tables cost: rows are read and written in every way, mixed, and the same program over
// lists of tensors says what the values are and what the loop may hold. Counted in calls and bytes of the pool: time is
// no test. A failure names the seed and shows the program.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "ricci/primitive/pool.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr int width = 1024;

Tensor places(int i) { return rc::full({1, width}, i, rc::int64); }

struct Read {
  const char* name;
  bool at_places;
  Tensor (*of)(const Tensor& table, int i);
};
const Read reads[] = {
    {"D[i]", false, [](const Tensor& D, int i) -> Tensor { return D[i]; }},
    {"D.select", false, [](const Tensor& D, int i) { return D.select(0, i); }},
    {"D.slice[0]", false, [](const Tensor& D, int i) -> Tensor { return D.slice(0, i, i + 1)[0]; }},
    {"D.t()", false, [](const Tensor& D, int i) { return D.t().select(1, i); }},
    {"D.index_select", false, [](const Tensor& D, int i) -> Tensor { return D.index_select(0, rc::tensor({i}))[0]; }},
    {"D[tensor]", false, [](const Tensor& D, int i) -> Tensor { return D[rc::tensor(i)]; }},
    {"D.t().index_select", false,
     [](const Tensor& D, int i) -> Tensor { return D.t().index_select(1, rc::tensor({i})).t()[0]; }},
    {"take_along_dim", true, [](const Tensor& D, int i) -> Tensor { return take_along_dim(D, places(i), 0)[0]; }},
    {"D.gather", true, [](const Tensor& D, int i) -> Tensor { return D.gather(0, places(i))[0]; }},
};

/// Replaces a row, or adds to it.
struct Write {
  const char* name;
  bool adds;
  bool at_places;
  void (*to)(const Tensor& table, int i, const Tensor& row);
};
const Write writes[] = {
    {"D[i] =", false, false, [](const Tensor& D, int i, const Tensor& row) { D[i] = row; }},
    {"D.select.copy_", false, false, [](const Tensor& D, int i, const Tensor& row) { D.select(0, i).copy_(row); }},
    {"D.slice =", false, false,
     [](const Tensor& D, int i, const Tensor& row) { D.slice(0, i, i + 1) = row.unsqueeze(0); }},
    {"D.t().select =", false, false, [](const Tensor& D, int i, const Tensor& row) { D.t().select(1, i).copy_(row); }},
    {"D.index =", false, false, [](const Tensor& D, int i, const Tensor& row) { D.index({i}) = row; }},
    {"D.index_put_", false, false,
     [](const Tensor& D, int i, const Tensor& row) { D.index_put_({rc::tensor({i})}, row.unsqueeze(0)); }},
    {"D.scatter_", false, true,
     [](const Tensor& D, int i, const Tensor& row) { D.scatter_(0, places(i), row.unsqueeze(0)); }},
    {"D[i] +=", true, false, [](const Tensor& D, int i, const Tensor& row) { D[i] += row; }},
    {"D.index_add_", true, false,
     [](const Tensor& D, int i, const Tensor& row) { D.index_add_(0, rc::tensor({i}), row.unsqueeze(0)); }},
    {"D.scatter_add_", true, true,
     [](const Tensor& D, int i, const Tensor& row) { D.scatter_add_(0, places(i), row.unsqueeze(0)); }},
};

/// Each term is at most a third of its greatest operand or of 1, so that three of them, added, stay finite.
struct Term {
  const char* name;
  Tensor (*of)(const Tensor& a, const Tensor& b);
};
const Term terms[] = {
    {"tanh(a)", [](const Tensor& a, const Tensor&) { return tanh(a * 0.9) * 0.3; }},
    {"a * b", [](const Tensor& a, const Tensor& b) { return a * b * 0.3; }},
    {"a + b", [](const Tensor& a, const Tensor& b) { return (a + b) * 0.15; }},
    {"a", [](const Tensor& a, const Tensor&) { return a * 0.3; }},
    {"a - b[0]", [](const Tensor& a, const Tensor& b) { return (a - b[0]) * 0.15; }},
};

/// Row `row` of a table, counted back from the row that the step writes; -1: the first one.
struct Operand {
  int table, back;
  const Read* read;
  int row(int i) const { return back < 0 ? 0 : i - back; }
};
struct Instruction {
  Operand a, b;
  const Term* term;
  const Write* write;
  int table;
};

constexpr int tables = 2;

/// What each step of a loop does.
struct TableProgram {
  std::vector<Instruction> steps;

  explicit TableProgram(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<int>(random() % n); };
    const auto operand = [&] {
      constexpr int backs[] = {1, 1, 2, -1};
      return Operand{below(tables), backs[below(std::size(backs))], &reads[below(std::size(reads))]};
    };
    const int count = 1 + below(3);
    for (int i = 0; i < count; ++i)
      steps.push_back({operand(), operand(), &terms[below(std::size(terms))], &writes[below(std::size(writes))],
                       below(tables)});
  }
  std::string text() const {
    std::string all;
    const auto operand = [](const Operand& o) {
      return std::string(o.read->name) + " of table " + std::to_string(o.table) + ", row " +
             (o.back < 0 ? "0" : "i - " + std::to_string(o.back));
    };
    for (const Instruction& s : steps)
      all += std::string(s.write->name) + " of table " + std::to_string(s.table) + ": " + s.term->name + ", a is " +
             operand(s.a) + ", b is " + operand(s.b) + "\n";
    return all;
  }

  std::size_t operands_at_places() const {
    std::size_t count = 0;
    for (const Instruction& s : steps) count += s.a.read->at_places + s.b.read->at_places + s.write->at_places;
    return count;
  }

  Tensor over_tables(const Tensor& x, int rows) const {
    std::vector<Tensor> D;
    for (int t = 0; t < tables; ++t) {
      D.push_back(x.new_zeros({rows, width}));
      D[t][0] = x;
      D[t][1] = x * 0.5;
    }
    for (int i = 2; i < rows; ++i)
      for (const Instruction& s : steps)
        s.write->to(D[s.table], i,
                    s.term->of(s.a.read->of(D[s.a.table], s.a.row(i)), s.b.read->of(D[s.b.table], s.b.row(i))));
    return D[0][rows - 1] + D[1][rows - 1] + D[0][rows / 2];
  }
  Tensor over_lists(const Tensor& x, int rows) const {
    std::vector<Tensor> D[tables];
    for (auto& list : D) {
      list = std::vector<Tensor>(rows, x.new_zeros({width}));
      list[0] = x * 1;
      list[1] = x * 0.5;
    }
    for (int i = 2; i < rows; ++i)
      for (const Instruction& s : steps) {
        Tensor& row = D[s.table][i];
        const Tensor value = s.term->of(D[s.a.table][s.a.row(i)], D[s.b.table][s.b.row(i)]);
        row = s.write->adds ? row + value : value * 1;
      }
    return D[0][rows - 1] + D[1][rows - 1] + D[0][rows / 2];
  }
};

using Function = std::function<Tensor(Tensor)>;
struct Around {
  const char* name;
  Tensor (*run)(const Function& f, const Tensor& x);
};
const Around arounds[] = {
    {"nothing", [](const Function& f, const Tensor& x) { return f(x); }},
    {"grad", [](const Function& f, const Tensor& x) { return rc::grad([&](Tensor y) { return f(y).sum(); })(x); }},
    {"jvp", [](const Function& f, const Tensor& x) { return rc::jvp(f, x, rc::ones_like(x)).second; }},
    {"vmap", [](const Function& f, const Tensor& x) { return rc::vmap(f)(rc::stack({x, x * 0.5})); }},
};

struct Cost {
  std::uint64_t calls, bytes;
  std::size_t peak;
  Tensor result;
};

template <class F>
Cost cost_of(const F& f) {
  const Tensor x = rc::linspace(0.1, 0.9, width);
  const rc::pool::Costs costs;
  Tensor result = f(x);
  return {costs.allocations, costs.bytes, costs.peak, std::move(result)};
}

/// Tables are as large from the start as they will be: once for each of two examples, or for the values and for their
/// tangents, and one of them once more while its rows are given to the examples. Where a derivative will read it, a row
/// that was read is kept as a row of its own, which a list shares; and so are places: int64, two rows of float32 each.
std::size_t most_of_tables(const TableProgram& program, const Cost& of_lists, int rows) {
  const std::size_t table = rows * width * sizeof(float), reads_of_a_row = 2 * program.steps.size();
  return 2 * of_lists.peak + (2 * tables + 1 + reads_of_a_row + 2 * program.operands_at_places()) * table;
}

TEST(TablePrograms, GrowAsTheirRowsAndHoldWhatListsHoldAndTheTables) {
  constexpr int rows = 64;
  // The tape grows by chunks, each twice as large as the one before it: one more at twice the rows.
  constexpr std::size_t last_chunk = 1 << 18;
  // A list's step may make two arrays, its term and no copy. A table's reads at indices make the index from a number,
  // the read and its views, for each operand and once more for the derivative or the examples: some ten arrays each.
  const std::uint64_t calls_of_a_list_step = 40;
  // A row each; the places of an operand are two more, the row read at them one, and as many on the way back.
  const std::uint64_t bytes_of_a_list_step = 10;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const TableProgram program(seed);
    for (const Around& around : arounds) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " under " + around.name + ":\n" + program.text());
      const auto over_tables = [&](int n) {
        return cost_of([&](const Tensor& x) {
          return around.run([&](const Tensor& y) { return program.over_tables(y, n); }, x);
        });
      };
      over_tables(4);  // what the first call finds and keeps for the next ones
      const int rows_of_twice = 2 * rows - 2;  // the first two rows are no steps
      const Cost once = over_tables(rows), twice = over_tables(rows_of_twice), list = cost_of([&](const Tensor& x) {
        return around.run([&](const Tensor& y) { return program.over_lists(y, rows); }, x);
      });
      expect_close(once.result, list.result, 1e-4);  // float32: derivatives of 64 steps, summed in another order
      EXPECT_LE(twice.calls, 2 * once.calls + 64);
      EXPECT_LE(twice.bytes, 2 * once.bytes + last_chunk);
      EXPECT_LE(twice.peak, 2 * once.peak + last_chunk);
      EXPECT_LE(once.calls, calls_of_a_list_step * list.calls);
      EXPECT_LE(once.bytes, bytes_of_a_list_step * list.bytes);
      EXPECT_LE(once.peak, most_of_tables(program, list, rows)) << "lists: " << list.peak;
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
