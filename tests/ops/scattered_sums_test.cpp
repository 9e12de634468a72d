// Sums at places: whatever adds many terms to one element of a table, it rounds the sum once. In float16 to float32 and
// complex64 each result is the exact sum, rounded; in float64 it is as exact as additions one after the other are.
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include "support/expect_tensor.h"
#include "support/threads.h"

namespace rc = ricci;
using rc::DType;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Rows [n, width] that are added to a table [places, width], row k at places index[k]; the table begins with `start`.
struct Scattered {
  Tensor start, index, rows;
};
using Way = std::function<Tensor(const Scattered&)>;

/// The sums as a cotangent: the rows are that of what is looked up in a table.
template <class LookUp>
Way gradient_of(const LookUp& look_up) {
  return [look_up](const Scattered& s) {
    const auto [found, pull] = rc::vjp([&](Tensor table) { return look_up(table, s.index); }, s.start);
    return pull(s.rows);
  };
}

/// The index of each element of the rows.
Tensor widened(const Tensor& index, const Tensor& rows) { return index.unsqueeze(1).expand(rows.shape()); }

/// The places of all elements of a table, row after row, and those of `index` among them.
Tensor flat(const Tensor& index, const Tensor& table) {
  return index.unsqueeze(1) * table.size(1) + rc::arange(0, table.size(1), 1);
}

/// A bag for each index; of complex rows, the parts apart.
Tensor bagged(const Tensor& table, const Tensor& index) {
  if (rc::is_complex(table.dtype())) return rc::complex(bagged(real(table), index), bagged(imag(table), index));
  return embedding_bag(index.unsqueeze(1), table, {.mode = "sum"});
}

/// The ways in which rows are added to a table of zeros, and to any.
const std::vector<std::pair<const char*, Way>> from_zero{
    {"the gradient of embedding", gradient_of([](Tensor t, Tensor i) { return rc::embedding(i, t); })},
    {"the gradient of embedding_bag", gradient_of(bagged)},
    {"the gradient of x[index]", gradient_of([](Tensor t, Tensor i) { return t[i]; })},
    {"the gradient of gather",
     gradient_of([](Tensor t, Tensor i) { return gather(t, 0, i.unsqueeze(1).expand({i.size(0), t.size(1)})); })},
    {"the gradient of gather from rows",
     gradient_of([](Tensor t, Tensor i) { return gather(t.t(), 1, i.expand({t.size(1), i.size(0)}).clone()).t(); })},
    {"the gradient of index_select", gradient_of([](Tensor t, Tensor i) { return index_select(t, 0, i); })},
    {"the gradient of index_select from columns",
     gradient_of([](Tensor t, Tensor i) { return index_select(t.t(), 1, i).t(); })},
    {"the gradient of take", gradient_of([](Tensor t, Tensor i) { return rc::take(t, flat(i, t)); })},
    {"the gradient of x[row, column]",
     gradient_of([](Tensor t, Tensor i) { return t.index({i.unsqueeze(1), rc::arange(0, t.size(1), 1)}); })},
    {"the gradient of vmap over w[i]", gradient_of([](Tensor t, Tensor i) {
       return rc::vmap([](Tensor w, Tensor k) { return w[k]; }, {.in_dims = {rc::none, 0}})(t, i);
     })}};
const std::vector<std::pair<const char*, Way>> from_anything{
    {"scatter_add", [](const Scattered& s) { return scatter_add(s.start, 0, widened(s.index, s.rows), s.rows); }},
    {"scatter_add with an index of its own for each column",
     [](const Scattered& s) { return scatter_add(s.start, 0, widened(s.index, s.rows).clone(), s.rows); }},
    {"scatter_add along columns",
     [](const Scattered& s) {
       return scatter_add(s.start.t().contiguous(), 1, widened(s.index, s.rows).t().contiguous(), s.rows.t()).t();
     }},
    {"index_add", [](const Scattered& s) { return index_add(s.start, 0, s.index, s.rows); }},
    {"index_add along columns", [](const Scattered& s) { return index_add(s.start.t(), 1, s.index, s.rows.t()).t(); }},
    {"index_add_", [](const Scattered& s) { return s.start.clone().index_add_(0, s.index, s.rows); }},
    {"index_put that accumulates", [](const Scattered& s) { return index_put(s.start, {s.index}, s.rows, true); }},
    {"vmap of index_add over columns", [](const Scattered& s) {
       const auto add = [&](Tensor x, Tensor v) { return index_add(x, 0, s.index, v); };
       return rc::vmap(add, {.in_dims = {1, 1}, .out_dims = 1})(s.start, s.rows);
     }}};

using Exact = std::vector<long double>;

/// The parts of all elements, row by row.
Exact parts_of(const Tensor& x) {
  const std::vector<std::complex<double>> all = numbers(x);
  const auto* const parts = reinterpret_cast<const double*>(all.data());
  return {parts, parts + 2 * all.size()};
}

Exact exact_sums(const Scattered& s) {
  Exact sums = parts_of(s.start);
  const Exact terms = parts_of(s.rows);
  const std::vector<std::int64_t> index = s.index.to_vector<std::int64_t>();
  const std::size_t width = terms.size() / index.size();
  for (std::size_t k = 0; k < index.size(); ++k)
    for (std::size_t i = 0; i < width; ++i)
      sums[static_cast<std::size_t>(index[k]) * width + i] += terms[k * width + i];
  return sums;
}

/// Half a unit in the last place of a number of size one.
double rounding(DType dtype) {
  switch (rc::real_dtype(dtype)) {
    case rc::float16: return 0x1p-11;
    case rc::bfloat16: return 0x1p-8;
    default: return 0x1p-24;
  }
}

/// Of n terms no less than 0 with places that are drawn: a quarter are of the first row, and half go in pairs.
Scattered draw(DType dtype, std::int64_t places, std::int64_t width, std::int64_t n, unsigned seed) {
  std::minstd_rand generator(seed);
  const auto small = [&](std::int64_t count) {
    std::vector<double> x;
    for (std::int64_t i = 0; i < count; ++i) x.push_back(static_cast<double>(generator() % 1000 + 1) / 65536);
    return doubles(x).to(dtype);
  };
  std::vector<std::int64_t> index;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t drawn = static_cast<std::int64_t>(generator()) % places;
    index.push_back(k % 4 == 0 ? 0 : k % 4 == 2 ? index.back() : drawn);
  }
  return {small(places * width).reshape({places, width}), rc::tensor(index), small(n * width).reshape({n, width})};
}

/// Half a unit in the last place off at most.
void expect_rounded_once(const Tensor& found, const Exact& exact, const std::string& what) {
  const Exact sums = parts_of(found);
  ASSERT_EQ(sums.size(), exact.size()) << what;
  const long double allowed = rounding(found.dtype()) * 1.001L;
  int failures = 0;
  const long double *const found_at = sums.data(), *const exact_at = exact.data();
  for (std::size_t i = 0; i < exact.size() && failures < 2; ++i)
    if (found_at[i] != exact_at[i] && !(std::abs(found_at[i] - exact_at[i]) <= allowed * std::abs(exact_at[i]))) {
      ++failures;
      ADD_FAILURE() << what << ": element " << i / 2 << " is " << sums[i] << ", the sum is " << exact[i];
    }
}

struct Size {
  std::int64_t places, width, terms;
};
/// Few and many places to a term; rows of one element, short ones, long ones, and some of several blocks.
constexpr Size drawn_sizes[] = {{3, 1, 9000}, {7000, 1, 2000}, {30000, 1, 600}, {30000, 1, 40},   {5, 3, 2000},
                                {7, 40, 900}, {2000, 40, 900}, {2000, 19, 400}, {9000, 40, 2100}, {3, 700, 200}};

class ScatteredSums : public testing::TestWithParam<DType> {};

TEST_P(ScatteredSums, AreRoundedOnceHoweverManyTermsTheyHave) {
  unsigned seed = 1;
  for (const Size& size : drawn_sizes) {
    const Scattered s = draw(GetParam(), size.places, size.width, size.terms, seed++);
    const Scattered zero{zeros_like(s.start), s.index, s.rows};
    SCOPED_TRACE(std::to_string(size.places) + " places, rows of " + std::to_string(size.width) + ", " +
                 std::to_string(size.terms) + " terms");
    const Exact of_zero = exact_sums(zero), of_anything = exact_sums(s);
    for (const auto& [what, way] : from_zero) expect_rounded_once(way(zero), of_zero, what);
    for (const auto& [what, way] : from_anything) expect_rounded_once(way(s), of_anything, what);
  }
}

TEST_P(ScatteredSums, HaveTheSameBitsForAnyNumberOfThreads) {
  unsigned seed = 11;
  for (const Size& size : drawn_sizes) {
    const Scattered s = draw(GetParam(), size.places, size.width, size.terms, seed++);
    for (const auto& [what, way] : from_anything) {
      const auto outcome = [&, &sum = way] {
        std::optional<rc::kernels::CutEverything> cut;
        if (rc::kernels::thread_count() > 1) cut.emplace();
        return numbers(sum(s));
      };
      expect_same_with_any_threads(outcome, what);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ScatteredSums, testing::Values(rc::float16, rc::bfloat16, rc::float32, rc::complex64),
                         [](const auto& dtype) { return to_string(dtype.param); });

TEST(SumsAtPlaces, OfRaggedRowsAreRoundedOnce) {
  for (const DType dtype : {rc::float16, rc::bfloat16, rc::float32}) {
    const Tensor values = draw(dtype, 1, 4, 5000, 3).rows;
    const rc::Ragged r{values, rc::tensor({0, 10, 10, 5000})};
    const Tensor rows = rc::tensor(std::vector<std::int64_t>(4990, 2));
    const Tensor index = rc::cat({rc::zeros({10}, {.dtype = rc::int64}), rows}, 0);
    expect_rounded_once(r.sum(), exact_sums({rc::zeros({3, 4}, {.dtype = dtype}), index, values}), "Ragged::sum");
  }
}

TEST(SumsAtPlaces, OfAFewNumbersThatUsersMet) {
  const Tensor index = rc::zeros({12500}, {.dtype = rc::int64});
  for (const DType dtype : {rc::float16, rc::bfloat16}) {
    const auto loss = [&](Tensor table) { return (embedding(index, table) * number(0.01).to(dtype)).sum(); };
    const double found = rc::grad(loss)(rc::zeros({1, 1}, {.dtype = dtype})).item<double>();
    const double half_spacing = dtype == rc::float16 ? 0x1p-5 : 0x1p-2;  // of the type's numbers around 125
    EXPECT_NEAR(found, 12500 * number(0.01).to(dtype).item<double>(), half_spacing);
  }
  const Tensor large = rc::full({1}, 0x1p24, {.dtype = rc::float32});  // its neighbours are 2 apart
  const Tensor total = index_add(large, 0, rc::zeros({1000}, {.dtype = rc::int64}), rc::ones({1000}));
  EXPECT_EQ(total.item<double>(), 0x1p24 + 1000);
}

TEST(SumsAtPlaces, KeepInfinityNanAndTheSignOfZero) {
  for (const DType dtype : {rc::float16, rc::bfloat16, rc::float32, rc::float64}) {
    const double inf = std::numeric_limits<double>::infinity();
    const Tensor index = rc::tensor({0, 1, 1, 2, 2, 3, 3, 5, 5});
    const Tensor terms = doubles({inf, inf, 1, inf, -inf, -0.0, -0.0, 1, 1}).to(dtype);
    const Tensor start = doubles({0, 0, 0, -0.0, -0.0, -2}).to(dtype);
    const std::vector<double> sums = values(index_add(start, 0, index, terms));
    EXPECT_EQ(sums[0], inf);
    EXPECT_EQ(sums[1], inf);
    EXPECT_TRUE(std::isnan(sums[2]));
    EXPECT_TRUE(sums[3] == 0 && std::signbit(sums[3]));
    EXPECT_TRUE(sums[4] == 0 && std::signbit(sums[4]));
    EXPECT_TRUE(sums[5] == 0 && !std::signbit(sums[5]));
  }
}

/// Along rows and columns, of all rows of a table and of some, with an index that begins at a row's end.
TEST(SumsAtPlaces, AlongEitherAxisAreThoseOfFloat64Rounded) {
  std::mt19937 random(7);
  const auto numbers = [&](const Sizes& sizes) {
    std::normal_distribution<float> normal;
    const Tensor x = rc::empty(sizes, {.dtype = rc::float32});
    for (Tensor row : x.unbind()) row.copy_(doubles({normal(random)}).to(rc::float32) * (ramp({sizes[1]}) + 0.1));
    return x;
  };
  for (const std::int64_t terms : {3, 300, 1000})
    for (const std::int64_t lanes : {1, 5, 40}) {
      const Tensor table = numbers({lanes + 1, 200}), rows = numbers({lanes, terms});
      const Tensor index = (ramp({lanes, terms}) * 7919).to(rc::int64) % 200 * 37 % 200;
      const auto sums = [&](const Tensor& t, const Tensor& r) {
        return std::vector{scatter_add(t, 1, index, r), scatter_add(t.t().contiguous(), 0, index.t(), r.t()).t(),
                           scatter_add(t.t(), 0, index.t().contiguous(), r.t()).t(),
                           scatter_add(t.slice(0, 0, lanes), 1, index, r)};
      };
      const auto found = sums(table, rows), wanted = sums(table.to(rc::float64), rows.to(rc::float64));
      for (std::size_t i = 0; i < found.size(); ++i) {
        SCOPED_TRACE(std::to_string(terms) + " terms, " + std::to_string(lanes) + " lanes, " + std::to_string(i));
        expect_equal(found[i], wanted[i].to(rc::float32));
      }
    }
}

}  // namespace
