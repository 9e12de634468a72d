// What an index gives is a Tensor like any other, and assigning to it without a name writes to what was indexed.
#include <array>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor integers(const std::vector<std::int64_t>& values) { return rc::tensor(values); }

// ── what may stand in brackets ──

template <class I>
void expect_second_row(I k) {
  expect_values(doubles({1, 2, 3, 4}, {2, 2})[k], {3, 4});
}

/// As in PyTorch: one truth value keeps all of x as the row of a new axis, or nothing.
TEST(Masks, WithoutAxesKeepAllOrNothing) {
  const Tensor x = doubles({1, 2, 3});
  EXPECT_EQ(Tensor(x[x.sum() > 0]).shape(), rc::Shape({1, 3}));
  EXPECT_EQ(Tensor(x[x.sum() > 100]).shape(), rc::Shape({0, 3}));
  EXPECT_EQ(Tensor(number(2)[rc::tensor(true)]).shape(), rc::Shape({1}));
  expect_values(rc::grad([](Tensor v) { return v[rc::tensor(true)].sum(); })(x), {1, 1, 1});
  Tensor written = x.clone();
  written.index_put_({rc::tensor(true)}, number(1), true);
  written.index_put_({rc::tensor(false)}, number(9), true);
  expect_values(written, {2, 3, 4});
  written[rc::tensor(true)] = Tensor(written[rc::tensor(true)]) * 2;
  expect_values(written, {4, 6, 8});
  written[rc::tensor(false)] = number(0);
  expect_values(written, {4, 6, 8});
}

TEST(Brackets, TakeEveryTypeOfInteger) {
  expect_second_row(std::int8_t{1});
  expect_second_row(std::uint8_t{1});
  expect_second_row(short{1});
  expect_second_row(1);
  expect_second_row(1U);
  expect_second_row(1L);
  expect_second_row(1UL);
  expect_second_row(1LL);
  expect_second_row(1ULL);
  expect_second_row('\1');
  const Tensor x = doubles({1, 2});
  expect_values(x[x.shape()[0] - 1], {2});
}

TEST(Brackets, DoNotCountFromTheBackByAGreatUnsignedNumber) {
  const Tensor x = doubles({1, 2});
  expect_error<rc::IndexError>([&] { x[UINT64_MAX]; },
                               "index: index 9223372036854775807 is out of range for axis 0 of "
                               "f64[2]; the legal range is [-2, 1]");
  expect_error<rc::IndexError>([&] { x.index({UINT64_MAX}); },
                               "index: index 9223372036854775807 is out of range for "
                               "axis 0 of f64[2]; the legal range is [-2, 1]");
}

TEST(Brackets, TakeSlicesNewAxesAndEllipses) {
  const Tensor x = ramp({3, 2});
  expect_equal(x[rc::Slice(0, 2)], rc::slice(x, 0, 0, 2));
  expect_equal(x[rc::Slice({}, {}, 2)], rc::slice(x, 0, {}, {}, 2));
  EXPECT_EQ(sizes(x[rc::none]), (Sizes{1, 3, 2}));
  expect_equal(x[rc::ellipsis], x);
  x[rc::Slice(1, 3)] = 0;
  expect_values(x[rc::Slice(1, 3)], {0, 0, 0, 0});
}

// ── a Tensor like any other ──

TEST(IndexedTensors, AreOfTypeTensor) {
  const Tensor x = ramp({3, 2}), places = integers({0});
  static_assert(std::is_same_v<decltype(x[0]), Tensor>);
  static_assert(std::is_same_v<decltype(x[places]), Tensor>);
  static_assert(std::is_same_v<decltype(x[rc::Slice(0, 2)]), Tensor>);
  static_assert(std::is_same_v<decltype(x.index({0, places})), Tensor>);
  const auto entry_or_all = [&](bool one) {
    if (one) return x[places];
    return x;
  };
  EXPECT_EQ(sizes(entry_or_all(true)), (Sizes{1, 2}));
  EXPECT_EQ(sizes(entry_or_all(false)), (Sizes{3, 2}));
}

TEST(IndexedTensors, AreMadeToStandForAnotherTensorOnceTheyHaveAName) {
  const Tensor x = doubles({1, 2, 3}), places = integers({0, 2});
  const Values before = values(x);
  auto entry = x[0], entries = x[places], slice = x[rc::Slice(0, 2)];
  entry = entry + 1;
  entries = entries + 1;
  slice = slice * 0;
  expect_values(entry, {2});
  expect_values(entries, {2, 4});
  expect_values(slice, {0, 0});
  EXPECT_EQ(values(x), before);
}

TEST(IndexedTensors, AreCopiesWhichWritesInPlaceLeaveApart) {
  const Tensor x = doubles({1, 2, 3});
  auto entries = x[integers({0, 2})];
  entries += 10;
  entries.mul_(2);
  expect_values(entries, {22, 26});
  expect_values(x, {1, 2, 3});
}

TEST(IndexedTensors, AreCopiedAndMovedLikeOthers) {
  Tensor x = doubles({1, 2, 3});
  std::vector<Tensor> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(x[integers({i})]);
  std::optional<Tensor> last = x[integers({2})];
  last = x[integers({1})];
  x = x[integers({2, 1, 0})];
  expect_values(x, {3, 2, 1});
  expect_values(rc::cat(kept), {1, 2, 3});
  expect_values(*last, {2});
}

// ── assigning without a name ──

TEST(AssignedIndices, WriteToWhatWasIndexed) {
  const Tensor x = rc::zeros({2, 3}, rc::float64), places = integers({0, 2}), mask = x == 0;
  x[0] = 1;
  x.index({1, places}) = doubles({5, 6});
  expect_values(x, {1, 1, 1, 5, 0, 6});
  x.index({rc::ellipsis, 1}) = 7;
  expect_values(x, {1, 7, 1, 5, 7, 6});
  x[mask] = 0;
  expect_values(x, {0, 0, 0, 0, 0, 0});
  x[1][places] = 3;  // through a view that has no name either
  expect_values(x, {0, 0, 0, 3, 0, 3});
}

TEST(AssignedIndices, TakeWhatOtherIndicesGive) {
  const Tensor x = doubles({1, 2, 3, 4}), front = integers({0, 1}), back = integers({2, 3});
  x[front] = x[back];
  expect_values(x, {3, 4, 3, 4});
  x[back] += x[front] * x[integers({1, 1})];
  expect_values(x, {3, 4, 15, 20});
  x[0] = x[1] = 9;
  expect_values(x, {9, 9, 15, 20});
  x[front] = x[back] = 1;
  expect_values(x, {1, 1, 1, 1});
}

TEST(AssignedIndices, AreUpdatedByEachOperator) {
  const Tensor x = doubles({1, 2, 3}), places = integers({0, 2});
  x[places] += 2;
  x[places] *= 3;
  x[places] -= 1;
  x[places] /= 2;
  expect_values(x, {4, 2, 7});
  x[1] += 1;
  x[rc::Slice(0, 2)] *= 2;
  expect_values(x, {8, 6, 7});
  x.index({x > 7}) -= 1;
  expect_values(x, {7, 6, 7});
}

TEST(AssignedIndices, AreUpdatedOnlyToWhatTheyCanHold) {
  const Tensor x = integers({0, 1, 2}), mask = x > 0;
  const auto expect_refused = [&](const auto& update, const char* name, const char* result, const char* target) {
    expect_error<rc::TypeError>(update, std::string(name) + ": the result is " + result +
                                            ", which does not convert to the target " + target +
                                            "; convert an operand, or use the out-of-place operation");
    expect_values(x, {0, 1, 2});
  };
  expect_refused([&] { x[0] += doubles({0.5}).sum(); }, "add_", "f64", "i64[]");
  expect_refused([&] { x[mask] += doubles({0.5}).sum(); }, "add_", "f64", "i64[2]");
  expect_refused([&] { x.index({integers({0})}) *= doubles({0.5}); }, "mul_", "f64", "i64[1]");
  expect_refused([&] { x[mask] /= x[mask]; }, "div_", "f32", "i64[2]");
  EXPECT_THROW(x[mask] += 0.5, rc::TypeError);
  expect_error<rc::ValueError>([&] { x[mask] -= integers({1, 2}).unsqueeze(1); },
                               "sub_: the result i64[2,2] does not fit the target i64[2]; a write keeps its target's "
                               "shape");
  expect_values(x, {0, 1, 2});
  x[mask] = 0.5;  // an assignment converts, as in PyTorch
  expect_values(x, {0, 0, 0});
}

TEST(AssignedIndices, LeaveTheEntriesAloneWhereTheyAreTwiceRemoved) {
  const Tensor x = doubles({1, 2, 3});
  x[integers({0, 1})][0] = 9;  // as in Python: an entry of a copy
  expect_values(x, {1, 2, 3});
}

TEST(AssignedIndices, WorkOnExamplesAndUnderDerivatives) {
  const Tensor places = integers({0, 2});
  const auto f = [&](Tensor x) {
    Tensor y = rc::zeros({3}, rc::float64);
    y[places] = x * x;
    y[places] += x;
    y[1] = x.sum();
    return y;
  };
  const Tensor xs = doubles({1, 2, 3, 4}, {2, 2});
  expect_values(rc::vmap(f)(xs), {2, 3, 6, 12, 7, 20});
  expect_values(rc::jacrev(f)(xs[0]), {3, 0, 1, 1, 0, 5});
  expect_values(rc::jacfwd(f)(xs[0]), {3, 0, 1, 1, 0, 5});
  const auto masked = [](Tensor x) {
    Tensor y = x.clone();
    y[x > 1] = 0;
    return y;
  };
  expect_values(rc::vmap(masked)(doubles({0, 2, 3, 1}, {2, 2})), {0, 0, 0, 1});
}

/// How a mask may stand among indices that make views, for x [2,3,2].
struct MaskedPlace {
  const char* name;
  std::vector<std::int64_t> mask;  // its sizes
  std::vector<rc::Index> (*indices)(const Tensor& mask);
  std::vector<std::int64_t> value;  // sizes that broadcast against what the index gives, alike for all true elements
};

const std::vector<MaskedPlace> masked_places = {
    {"x[m] of all axes", {2, 3, 2}, [](const Tensor& m) { return std::vector<rc::Index>{m}; }, {1}},
    {"x[m]", {2, 3}, [](const Tensor& m) { return std::vector<rc::Index>{m}; }, {2}},
    {"x[m] of one axis", {2}, [](const Tensor& m) { return std::vector<rc::Index>{m}; }, {1, 3, 2}},
    {"x[..., m]", {3, 2}, [](const Tensor& m) { return std::vector<rc::Index>{rc::ellipsis, m}; }, {2, 1}},
    {"x[:, m]", {3}, [](const Tensor& m) { return std::vector<rc::Index>{rc::Slice(), m}; }, {2, 1, 2}},
    {"x[1, m]", {3}, [](const Tensor& m) { return std::vector<rc::Index>{1, m}; }, {}},
    {"x[0, 1:, m]", {2}, [](const Tensor& m) { return std::vector<rc::Index>{0, rc::Slice(1, rc::none), m}; }, {2, 1}},
    {"x[m, 1]", {2, 3}, [](const Tensor& m) { return std::vector<rc::Index>{m, 1}; }, {1}},
    {"x[None, :, m]", {3}, [](const Tensor& m) { return std::vector<rc::Index>{rc::none, rc::Slice(), m}; }, {1, 2}},
};

using MaskedWrite = void (*)(const Tensor& x, const std::vector<rc::Index>& indices, const Tensor& value);
const std::vector<std::pair<const char*, MaskedWrite>> masked_writes = {
    {"=", [](const Tensor& x, const std::vector<rc::Index>& i, const Tensor& v) { x.index(i) = v; }},
    {"+=", [](const Tensor& x, const std::vector<rc::Index>& i, const Tensor& v) { x.index(i) += v; }},
    {"-=", [](const Tensor& x, const std::vector<rc::Index>& i, const Tensor& v) { x.index(i) -= v; }},
    {"*=", [](const Tensor& x, const std::vector<rc::Index>& i, const Tensor& v) { x.index(i) *= v; }},
    {"/=", [](const Tensor& x, const std::vector<rc::Index>& i, const Tensor& v) { x.index(i) /= v; }},
    {"index_put_", [](const Tensor& x, const std::vector<rc::Index>& i, const Tensor& v) { x.index_put_(i, v); }},
    {"accumulate", [](const Tensor& x, const std::vector<rc::Index>& i, const Tensor& v) { x.index_put_(i, v, true); }},
};

/// 0 and 1 in no pattern, from the bits of a number.
Tensor mask_of(const std::vector<std::int64_t>& sizes, unsigned bits) {
  std::vector<double> elements;
  for (std::int64_t i = 0, n = rc::Shape(sizes).numel(); i < n; ++i) elements.push_back((bits >> i) & 1);
  return doubles(elements, sizes) == 1;
}

TEST(AssignedIndices, OfAMaskAmongViewsAreWrittenAndUpdatedUnderEveryTransform) {
  for (const MaskedPlace& place : masked_places)
    for (const auto& [write_name, write] : masked_writes)
      for (const rc::DType dtype : {rc::float64, rc::float32, rc::float16}) {
        SCOPED_TRACE(std::string(place.name) + " " + write_name + " " + rc::to_string(dtype));
        const Tensor x = ramp({2, 3, 2}).to(dtype), v = (ramp(place.value) + 0.1).to(dtype);
        const Tensor masks = rc::stack({mask_of(place.mask, 0b011010110101), mask_of(place.mask, 0b100101001010),
                                        rc::zeros(rc::Shape(place.mask), rc::boolean)});
        const auto f = [&, write = write](Tensor mask, Tensor a, Tensor b) {
          const Tensor y = a.clone();
          write(y, place.indices(mask), b);
          return y;
        };
        std::vector<Tensor> rows;
        for (Tensor mask : masks) rows.push_back(f(mask, x, v));
        const auto mapped = rc::vmap(f, {.in_dims = {0, rc::none, rc::none}});
        expect_equal(mapped(masks, x, v), rc::stack(rows));
        const auto traced = rc::trace([&](Tensor a, Tensor b, Tensor ms) { return mapped(ms, a, b); })(x, v, masks);
        expect_equal(traced({x, v, masks})[0], rc::stack(rows));
        if (dtype != rc::float64) continue;
        const auto loss = [&](Tensor mask, Tensor a, Tensor b) { return (f(mask, a, b) * ramp({2, 3, 2})).sum(); };
        const auto [gx, gv] = rc::vmap(rc::grad<1, 2>(loss), {.in_dims = {0, rc::none, rc::none}})(masks, x, v);
        for (std::int64_t i = 0; i < 3; ++i) {
          const auto [wx, wv] = rc::grad<1, 2>(loss)(masks[i], x, v);
          expect_close(gx[i], wx);
          expect_close(gv[i], wv);
        }
      }
}

/// What the mask leaves out takes no part: dividing it by 0 would make NaN of its gradient.
TEST(AssignedIndices, UpdatesOfAMaskOnExamplesLeakNothingFromBesideIt) {
  const auto f = [](Tensor x, Tensor v) {
    const Tensor y = x.clone();
    y[x > 1] /= v;
    return y.sum();
  };
  const Tensor xs = doubles({0, 0.5, 4, 0}, {2, 2}), vs = doubles({0, 2});
  const auto [gx, gv] = rc::vmap(rc::grad<0, 1>(f))(xs, vs);
  expect_values(gx, {1, 1, 0.5, 1});
  expect_values(gv, {0, -1});
}

TEST(AssignedIndices, OfAMaskThatDiffersPerExampleTakeNoRowsOfTheirOwn) {
  const auto f = [](Tensor x) {
    const Tensor y = x.clone();
    y[x > 1] += rc::ones({2}, rc::float64);
    return y;
  };
  EXPECT_THROW(rc::vmap(f)(doubles({0, 2, 3, 1, 5, 6}, {2, 3})), rc::TransformError);
  const auto kept = [](Tensor x) {
    const Tensor y = x.to(rc::int64);
    y[x > 1] += 0.5;
    return y;
  };
  EXPECT_THROW(rc::vmap(kept)(doubles({0, 2, 3, 1}, {2, 2})), rc::TypeError);
}

TEST(AssignedIndices, ThrowWithoutAWrite) {
  const Tensor x = doubles({1, 2, 3}), places = integers({0, 5});
  EXPECT_THROW(x[places] = 1, rc::IndexError);
  EXPECT_THROW(x[integers({0, 1})] = doubles({1, 2, 3}), rc::ValueError);
  expect_values(x, {1, 2, 3});
  Tensor undefined;
  EXPECT_THROW(std::move(undefined) = 1, rc::ValueError);
  EXPECT_THROW(Tensor() += 1, rc::ValueError);
}

/// Elements that tell when the last tensor has let them go.
struct Lent {
  std::vector<double> elements = {1, 2, 3};
  bool ended = false;
  Tensor tensor() {
    return rc::from_blob(elements.data(), {3}, rc::float64, [this](void*) { ended = true; });
  }
};

TEST(IndexedTensors, LetWhatWasIndexedGo) {
  Lent first, second;
  { const Tensor entries = first.tensor()[integers({0, 1})]; }
  EXPECT_TRUE(first.ended);
  const Tensor kept = second.tensor()[integers({0, 1})];
  const Tensor next = kept[integers({0})];  // the next index
  EXPECT_TRUE(second.ended);
  expect_values(kept, {1, 2});
}

TEST(IndexedTensors, KeepNoChainOfWhatWasIndexed) {
  Tensor x = rc::arange(8).to(rc::float64);
  for (int i = 0; i < 100'000; ++i) x = x[integers({1, 2, 3, 4, 5, 6, 7, 0})];
  expect_values(x[0], {0});
}

TEST(IndexedTensors, MayEndOnAnotherThread) {
  Tensor x = doubles({1, 2, 3});
  Tensor entries = x[integers({0, 1})];
  std::thread([taken = std::move(entries)]() mutable {
    const Tensor mine = taken[integers({1})];
    taken = Tensor();
  }).join();
  Tensor from_thread;
  std::thread([&] { from_thread = x[integers({2})]; }).join();
  std::move(from_thread) = 5;  // its thread and what that had read are gone: a copy like others
  expect_values(from_thread, {5});
  expect_values(x, {1, 2, 3});
}

// ── rows ──

TEST(Rows, AreViewsInOrder) {
  const Tensor x = doubles({1, 2, 3, 4}, {2, 2});
  std::vector<Values> seen;
  for (Tensor row : x) seen.push_back(values(row));
  EXPECT_EQ(seen, (std::vector<Values>{{1, 2}, {3, 4}}));
  for (Tensor row : x) row += 1;
  expect_values(x, {2, 3, 4, 5});
  for (Tensor row : x) row = row * 0;  // names another tensor
  expect_values(x, {2, 3, 4, 5});
  const std::vector<Tensor> rows(x.begin(), x.end());
  EXPECT_EQ(rows.size(), 2U);
  for (Tensor row : rc::ones({2, 3}) * 2) expect_values(row, {2, 2, 2});
  for (Tensor row : rc::zeros({0, 3})) ADD_FAILURE() << row;
}

TEST(Rows, AreThoseOfOneExample) {
  const auto sum_of_rows = [](Tensor x) {
    Tensor sum = rc::zeros({2}, rc::float64);
    for (Tensor row : x) sum = sum + row;
    return sum;
  };
  expect_values(rc::vmap(sum_of_rows)(doubles({1, 2, 3, 4}, {1, 2, 2})), {4, 6});
  expect_values(rc::grad([&](Tensor x) { return sum_of_rows(x * x).sum(); })(doubles({1, 2}, {1, 2})), {2, 4});
}

TEST(Rows, AreNoneOfANumber) {
  expect_error<rc::ValueError>(
      [] {
        for (Tensor row : rc::tensor(1.)) ADD_FAILURE() << row;
      },
      "begin: f32[] has no rows to go over; reshape it to {-1}");
}

TEST(UnravelIndex, OfNoPlacesHasNoCoordinates) {
  const std::vector<Tensor> coordinates = rc::unravel_index(rc::zeros({0}, rc::int64), {2, 0});
  ASSERT_EQ(coordinates.size(), 2U);
  for (const Tensor& c : coordinates) EXPECT_EQ(sizes(c), Sizes{0});
}

}  // namespace
