// No function's meaning depends on two sizes being equal: what it does to a batch of 5 matrices of size 3 it does to a
// batch of 3. Every operation of the index of operations is recorded with open sizes, at tensors of each rank, and the
// program then runs on tensors of every other size that the operation takes. Where the operation chose its meaning by
// asking whether two sizes agree, the program relies on the answer and refuses the other sizes, or gives another
// result.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "program/program.h"
#include "support/calls_of_operations.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Functions whose meaning does depend on it, and why it must.
const std::map<std::string, std::string> reasons = {
    {"solve", "torch.linalg.solve takes [..., n] of the very leading axes of the matrices for vectors"},
    {"solve_ex", "as solve"},
};

enum class Elements { floating, integers, flags };

/// Floating elements between 0 and 1, heavy on the diagonal: matrices are regular, and probabilities are valid.
Tensor made(const rc::Shape& shape, Elements elements) {
  Tensor x = (rc::arange(shape.numel().host()) * 7 % 11).reshape(shape) / 50.0 + 0.05;
  if (shape.size() >= 2) x = x + rc::eye(shape[shape.size() - 2], shape.back()) * 0.6;
  if (elements == Elements::floating) return x.to(rc::float32);
  const Tensor bits = rc::arange(shape.numel().host()).reshape(shape) % 2;
  return elements == Elements::flags ? bits > 0 : bits.to(rc::int64);
}

/// Made once for all calls, which leave their operands as they are.
Tensor filled(const rc::Shape& shape, Elements elements) {
  static std::map<std::pair<std::string, Elements>, Tensor> all;
  Tensor& x = all[{to_string(shape), elements}];
  if (!x.defined()) x = made(shape, elements);
  return x;
}

/// Operands of given ranks at given sizes, which stand one operand after the other.
std::vector<Tensor> operands(const std::vector<std::size_t>& ranks, const std::vector<Elements>& elements,
                             const Sizes& sizes) {
  std::vector<Tensor> all;
  auto size = sizes.begin();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto end = size + static_cast<std::ptrdiff_t>(ranks[i]);
    all.push_back(filled(rc::Shape(size, end), elements[i]));
    size = end;
  }
  return all;
}

/// A function of the operands; the numbers of the call are fixed.
struct Bound {
  const Call& call;
  std::int64_t n;
  std::vector<Tensor> operator()(const std::vector<Tensor>& x) const {
    rc::manual_seed(1);
    return call({x[0], x.size() > 1 ? x[1] : Tensor(), x.size() > 2 ? x[2] : Tensor(), n, 0.5});
  }
};

std::optional<std::vector<Tensor>> result_of(const Bound& f, const std::vector<Tensor>& x) {
  try {
    return f(x);
  } catch (const rc::Error&) { return std::nullopt; }
}

std::optional<rc::Program> recorded(const Bound& f, const std::vector<Tensor>& x) {
  try {
    return rc::trace([&f](const std::vector<Tensor>& inputs) { return f(inputs); })(x);
  } catch (const rc::Error&) { return std::nullopt; }  // it looks at values
}

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (to_string(a[k].shape()) != to_string(b[k].shape())) return false;
    const auto x = numbers(a[k]), y = numbers(b[k]);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!is_close(x[i], y[i], 1e-5)) return false;
  }
  return true;
}
bool same_shapes(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (to_string(a[k].shape()) != to_string(b[k].shape())) return false;
  return true;
}

/// Not so where the call leaves its elements uninitialised, or the stream of its draws is another in a program.
bool is_determined(const Bound& f, const std::vector<Tensor>& x) {
  static const std::set<std::string> uninitialised = {"empty", "empty_like", "new_empty", "new_empty_strided"};
  if (uninitialised.contains(f.call.name)) return false;
  const std::vector<Tensor> first = f(x);
  rc::randn({7});
  return same(f.call({x[0], x.size() > 1 ? x[1] : Tensor(), x.size() > 2 ? x[2] : Tensor(), f.n, 0.5}), first);
}

std::string text_of(const std::vector<Tensor>& x) {
  std::string text;
  for (const Tensor& one : x) text += std::string(" ") + rc::short_name(one.dtype()) + to_string(one.shape());
  return text;
}

/// Whether a program refuses these sizes because it relies on two sizes being equal, or on their being different. That
/// it relies on which of two is greater, or that it reads a size or a product of sizes as a number, is no choice of
/// meaning.
bool relies_on_two_sizes(const rc::Program& program, const std::vector<Tensor>& x) {
  Sizes unknowns;  // the sizes of the inputs, in order
  for (const Tensor& one : x)
    for (const std::int64_t size : sizes(one)) unknowns.push_back(size);
  return std::ranges::any_of(program.body().symbols->guards(), [&](const rc::Guard& guard) {
    using enum rc::Guard::Relation;
    if (guard.relation != equal && guard.relation != different) return false;
    std::set<int> read;
    std::int64_t difference = 0;
    for (const auto& [unknowns_of_term, factor] : guard.difference) {
      std::int64_t term = factor;
      for (const int unknown : unknowns_of_term) {
        read.insert(unknown);
        term *= unknowns.at(static_cast<std::size_t>(unknown));
      }
      difference += term;
    }
    const bool reads_a_number = guard.difference.contains({});
    return !reads_a_number && read.size() >= 2 && (difference == 0) != (guard.relation == equal);
  });
}

/// Operands that the operation takes, and what it gives.
struct Taken {
  std::vector<Tensor> x, expected;
};

/// What is wrong where the program that was recorded at `at` meets other sizes; "" if nothing is.
std::string fault(const rc::Program& program, const std::vector<Tensor>& at, const Bound& f, const Taken& taken) {
  const auto& [x, expected] = taken;
  const auto where = [&] { return std::string(f.call.name) + ", recorded at" + text_of(at) + ", at" + text_of(x); };
  try {
    const std::vector<Tensor> y = program(x);
    if (same(y, expected) || (!is_determined(f, x) && same_shapes(y, expected))) return "";
    return where() + " gives" + text_of(y) + " for" + text_of(expected);
  } catch (const rc::Error& error) {
    return relies_on_two_sizes(program, x) ? where() + " throws " + error.what() : "";
  }
}

/// `count` sizes, each 2 or 3, as the bits say.
Sizes sizes_of(unsigned bits, std::size_t count) {
  Sizes sizes;
  for (std::size_t i = 0; i < count; ++i) sizes.push_back(bits >> i & 1U ? 3 : 2);
  return sizes;
}

/// The first fault of a call with operands of these ranks; counts what was tried.
std::string fault_at_ranks(const Bound& f, const std::vector<std::size_t>& ranks, const std::vector<Elements>& elements,
                           int& tried) {
  std::size_t axes = 0;
  for (const std::size_t rank : ranks) axes += rank;
  if (axes > 5) return "";
  std::vector<Taken> taken;
  for (unsigned bits = 0; bits < 1U << axes; ++bits) {
    const std::vector<Tensor> x = operands(ranks, elements, sizes_of(bits, axes));
    if (const auto y = result_of(f, x)) {
      if (y->empty()) return "";
      taken.push_back({x, *y});
    }
    if (taken.empty()) return "";  // what it does not take where all sizes agree, it takes nowhere
  }
  for (const Taken* at : {&taken.front(), &taken.back()}) {
    const std::optional<rc::Program> program = recorded(f, at->x);
    if (!program) return "";
    for (const Taken& one : taken) {
      ++tried;
      if (std::string text = fault(*program, at->x, f, one); !text.empty()) return text;
    }
  }
  return "";
}

/// The first fault of a call with that many operands, over ranks and element types; none if it never takes so many.
std::string fault_of(const Call& call, std::size_t operands, int& tried) {
  using enum Elements;
  static const std::vector<std::vector<Elements>> kinds = {{floating, floating, floating},
                                                           {floating, integers, floating},
                                                           {integers, floating, floating},
                                                           {flags, floating, floating}};
  const std::size_t combinations = operands == 1 ? 4 : operands == 2 ? 16 : 48;
  for (const std::int64_t n : {0, 1})
    for (const auto& elements : kinds) {
      if (operands == 1 && &elements == &kinds[1]) continue;  // differs from the first in the second operand
      for (std::size_t k = 0; k < combinations; ++k) {
        std::vector<std::size_t> ranks = {k % 4, k / 4 % 4, k / 16};
        ranks.resize(operands);
        if (std::string text = fault_at_ranks({call, n}, ranks, elements, tried); !text.empty()) return text;
      }
    }
  return "";
}

TEST(EqualSizes, ChooseNoMeaning) {
  int tried = 0;
  std::map<std::string, std::string> faults;
  for (const Call& call : calls()) {
    for (std::size_t operands = 1; operands <= 3; ++operands) {
      const int before = tried;
      if (std::string text = fault_of(call, operands, tried); !text.empty()) faults.emplace(call.name, text);
      if (tried > before) break;  // further operands would be ignored
    }
  }
  for (const auto& [name, text] : faults) EXPECT_TRUE(reasons.contains(name)) << text;
  for (const auto& [name, reason] : reasons) EXPECT_TRUE(faults.contains(name)) << name << " is on the list of reasons";
  EXPECT_GT(tried, 10000);
}

}  // namespace
