// in_dims and out_dims: how they are written, and how they are laid over trees.
#include "ricci/dims.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ricci/error.h"
#include "ricci/ops.h"
#include "ricci/tree/match_dims.h"

namespace rc = ricci;
namespace tree = ricci::tree;
using rc::Dim;
using rc::Dims;
using rc::Tensor;

namespace {

struct Linear {
  Tensor weight, bias;
};
struct Scaled {
  Tensor value;
  double factor = 1;
};

constexpr tree::DimsWords in_dims_words = {"vmap", "in_dims", "the arguments", "are", true};
constexpr tree::DimsWords out_dims_words = {"vmap", "out_dims", "the result", "is", false};

std::string written(rc::VmapOptions options) {
  return to_string(options.in_dims) + " -> " + to_string(options.out_dims);
}
std::string written(rc::RaggedOptions options) { return to_string(options.in_dims) + " -> ragged"; }

template <class... T>
std::vector<Dim> match(const Dims& dims, T... arguments) {
  auto all = std::tuple<T...>(std::move(arguments)...);
  tree::Walk walk;
  tree::walk(all, walk);
  return tree::match_dims(dims, walk, in_dims_words);
}

template <class T>
std::vector<Dim> match_result(const Dims& dims, T result) {
  tree::Walk walk;
  tree::walk(result, walk);
  return tree::match_dims(dims, walk, out_dims_words);
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const rc::ValueError& error) { return error.what(); }
  return "no error";
}

using Matched = std::vector<Dim>;
const Tensor x = rc::zeros({3});
const Linear linear{rc::zeros({3, 4}), rc::zeros({3})};

TEST(Dims, AreWrittenAsNestedBraces) {
  EXPECT_EQ(written({}), "0 -> 0");
  EXPECT_EQ(written({.in_dims = -1, .out_dims = rc::none}), "-1 -> none");
  EXPECT_EQ(written({.in_dims = {0, rc::none}, .out_dims = 1}), "(0, none) -> 1");
  EXPECT_EQ(written({.in_dims = {{0, rc::none}, -1}}), "((0, none), -1) -> 0");
  EXPECT_EQ(written({.in_dims = {{0, rc::none}}}), "((0, none)) -> 0");
  EXPECT_EQ(written({.in_dims = {0}}), "(0) -> 0");
  EXPECT_EQ(written({.in_dims = {{}, {{0}}}}), "((), ((0))) -> 0");
  EXPECT_EQ(written({.in_dims = {Dim(2), std::size_t{1}, 1L}}), "(2, 1, 1) -> 0");
}

TEST(Dims, RaggedStandsForAllOutDims) {
  EXPECT_EQ(written({.out_dims = rc::ragged}), "0 -> ragged");
  EXPECT_EQ(written({.in_dims = {0, rc::none}, .out_dims = rc::ragged, .chunk_size = 4}), "(0, none) -> ragged");
}

TEST(Dims, OptionsComeInOneOrder) {
  const rc::VmapOptions options{
      .in_dims = 1, .out_dims = 0, .randomness = rc::Randomness::same, .chunk_size = 8, .lanes = rc::Lanes::split};
  EXPECT_EQ(*options.chunk_size, 8);
  const rc::JacobianOptions jacobian{.randomness = rc::Randomness::different, .chunk_size = 16};
  EXPECT_EQ(*jacobian.chunk_size, 16);
}

TEST(MatchDims, OneEntryCoversAllArguments) { EXPECT_EQ(match(1, x, linear), (Matched{1, 1, 1})); }

TEST(MatchDims, OneEntryCoversASubtree) {
  EXPECT_EQ(match({0, rc::none, 1}, x, linear, std::vector{x, x}), (Matched{0, {}, {}, 1, 1}));
}

TEST(MatchDims, BracesFollowFieldsAndElements) {
  EXPECT_EQ(match({{0, rc::none}, -1}, linear, x), (Matched{0, {}, -1}));
  EXPECT_EQ(match({{{1, 2}}, {3}}, std::vector{linear}, std::tuple{x}), (Matched{1, 2, 3}));
}

TEST(MatchDims, ValuesAreNoneWhereAnEntryCoversThem) {
  EXPECT_EQ(match(0, x, 1.5), (Matched{0}));
  EXPECT_EQ(match({1}, Scaled{x}), (Matched{1}));
  EXPECT_EQ(match({{1, rc::none}}, Scaled{x}), (Matched{1}));
}

TEST(MatchDims, AnOptionalTakesTheEntriesOfWhatItMayHold) {
  EXPECT_EQ(match({{0, 1}}, std::optional(linear)), (Matched{0, 1}));
  EXPECT_EQ(match({{0, 1}}, std::optional<Linear>()), Matched{});
}

TEST(MatchDims, ALoneResultMayStandInBraces) {
  EXPECT_EQ(match_result(2, x), (Matched{2}));
  EXPECT_EQ(match_result({2}, x), (Matched{2}));
  EXPECT_EQ(match_result({{1, 0}, 0}, std::tuple{linear, x}), (Matched{1, 0, 0}));
}

TEST(MatchDims, AnEntryTooFewIsAnError) {
  EXPECT_EQ(error_of([] { match({0, rc::none}, x, linear, rc::zeros({2})); }),
            "vmap: in_dims does not fit the arguments: in_dims is (0, none), "
            "the arguments are (f32[3], {weight: f32[3,4], bias: f32[3]}, f32[2])");
}

TEST(MatchDims, BracesOnATensorAreAnError) {
  EXPECT_EQ(error_of([] { match({{0, 0}}, x); }),
            "vmap: in_dims does not fit the arguments: in_dims is ((0, 0)), the arguments are (f32[3])");
  EXPECT_EQ(error_of([] { match({{0}}, x); }),
            "vmap: in_dims does not fit the arguments: in_dims is ((0)), the arguments are (f32[3])");
  EXPECT_EQ(error_of([] { match_result({0, 1}, x); }),
            "vmap: out_dims does not fit the result: out_dims is (0, 1), the result is f32[3]");
}

TEST(MatchDims, AnAxisOfAValueIsAnError) {
  EXPECT_EQ(error_of([] { match({0, 0}, x, 1.5); }),
            "vmap: in_dims maps axis 0 of a non-tensor (double), whose place must be none: in_dims is (0, 0), the "
            "arguments are (f32[3], double)");
}

TEST(MatchDims, IsUndoneByDimsLike) {
  auto arguments = std::tuple{linear, 1.5, x, std::optional<Tensor>()};
  tree::Walk walk;
  tree::walk(arguments, walk);
  const Dims dims = tree::dims_like(walk, {0, rc::none, 2});
  EXPECT_EQ(to_string(dims), "((0, none), none, 2, none)");
  EXPECT_EQ(tree::match_dims(dims, walk, in_dims_words), (Matched{0, rc::none, 2}));
}

}  // namespace
