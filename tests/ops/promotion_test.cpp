// Element types of mixed operands: the whole table of types, as tensors with axes, 0-dim tensors and numbers, is
// PyTorch's (promotion_of_torch.txt), in every kind of operation that promotes, and as examples of a vmap.
#include <complex>
#include <fstream>
#include <sstream>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr rc::DType all_dtypes[] = {rc::boolean, rc::uint8,    rc::int8,    rc::int16,   rc::int32,     rc::int64,
                                    rc::float16, rc::bfloat16, rc::float32, rc::float64, rc::complex64, rc::complex128};

/// The operand that the table calls `name`; `f32[1]`, `f32[]`, `float`.
Tensor operand(const std::string& name) {
  if (name == "true") return true;
  if (name == "int") return 1;
  if (name == "float") return 1.0;
  if (name == "complex") return std::complex<double>(0, 1);
  const std::string dtype = name.substr(0, name.find('['));
  for (rc::DType d : all_dtypes)
    if (dtype == short_name(d))
      return rc::ones(name.back() == ']' && name[name.size() - 2] == '1' ? rc::Shape{1} : rc::Shape{}, d);
  ADD_FAILURE() << "no operand " << name;
  return {};
}

struct Table {
  std::vector<std::string> right;
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
};

Table answers_of_torch() {
  Table table;
  std::ifstream file(RICCI_TORCH_ANSWERS "/promotion_of_torch.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word);
    if (line.rfind("right:", 0) == 0) table.right = list;
    else table.rows.emplace_back(line.substr(0, line.find(':')), list);
  }
  return table;
}

TEST(Promotion, OfTwoIsTorchsForEveryPairOfTypesAndStandings) {
  const Table table = answers_of_torch();
  ASSERT_EQ(table.right.size(), 2 * std::size(all_dtypes) + 4);
  ASSERT_EQ(table.rows.size(), 2 * std::size(all_dtypes));
  for (const auto& [left, answers] : table.rows) {
    ASSERT_EQ(answers.size(), table.right.size());
    const Tensor x = operand(left);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Tensor y = operand(table.right[i]);
      SCOPED_TRACE(left + " and " + table.right[i]);
      EXPECT_EQ(short_name((x + y).dtype()), answers[i]);
      EXPECT_EQ(short_name((y * x).dtype()), answers[i]);
      EXPECT_EQ(short_name(rc::where(true, x, y).dtype()), answers[i]);
    }
  }
}

TEST(Promotion, JoiningPromotesAsAdding) {
  const Table table = answers_of_torch();
  for (const auto& [left, answers] : table.rows)
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Tensor x = operand(left), y = operand(table.right[i]);
      if (x.dim() != y.dim()) continue;
      SCOPED_TRACE(left + " and " + table.right[i]);
      EXPECT_EQ(rc::stack({x, y}).dtype(), (x + y).dtype());
      if (x.dim() == 0) continue;
      EXPECT_EQ(rc::cat({x, y}).dtype(), (x + y).dtype());
    }
}

/// A 0-dim example stands as a 0-dim tensor, whatever the axes of the batch; its derivatives have its own type.
TEST(Promotion, OfExamplesIsTheOneOfEachAlone) {
  const Table table = answers_of_torch();
  for (const auto& [left, answers] : table.rows) {
    const Tensor x = operand(left);
    rc::Shape wide = x.shape();
    wide.insert(0, 2);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Tensor y = operand(table.right[i]);
      SCOPED_TRACE(left + " and " + table.right[i]);
      const Tensor mapped = rc::vmap([&](Tensor each) { return each + y; })(x.expand(wide));
      EXPECT_EQ(short_name(mapped.dtype()), answers[i]);
      if (!x.is_floating_point()) continue;
      const auto [value, pullback] = rc::vjp([&](Tensor each) { return each + y; }, x);
      EXPECT_EQ(pullback(rc::ones_like(value)).dtype(), x.dtype());
    }
  }
}

TEST(Promotion, OfThreeTakesTheNumberAndThe0DimTensorTogetherFirst) {
  const Tensor zero = rc::ones(rc::Shape(), rc::float64), one = rc::ones({1}, rc::int32);
  EXPECT_EQ(rc::addcmul(one, zero, std::complex<double>(0, 1)).dtype(), rc::complex128);  // f64[] and complex: c128
  EXPECT_EQ(rc::addcmul(rc::ones({1}), zero, std::complex<double>(0, 1)).dtype(), rc::complex64);
  EXPECT_EQ(rc::where(true, rc::ones({3}), rc::ones(rc::Shape(), rc::complex128)).dtype(), rc::complex64);
  EXPECT_EQ((rc::ones({3}) + rc::ones(rc::Shape(), rc::complex128)).dtype(), rc::complex64);
}

}  // namespace
