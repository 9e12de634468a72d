// What operations say of indices, axes and permutations out of range.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(IndexErrors, AnAxisTooLargeForAnInteger) {
  const Tensor x = rc::ones({3, 2});
  const std::string range = "axis 9223372036854775807 is out of range: f32[3,2] has 2 axes; the legal range is [-2, 1]";
  expect_error<rc::IndexError>([&] { rc::max(x, ~0ULL); }, "max: " + range, {x});
  expect_error<rc::IndexError>([&] { rc::min(x, ~0ULL, true); }, "min: " + range, {x});
  expect_error<rc::IndexError>(
      [&] { rc::vmap([](Tensor a) { return a; }, {.in_dims = ~0ULL})(x); },
      "vmap: in_dim 9223372036854775807 of argument 0 is out of range: f32[3,2] has 2 dimensions; the "
      "legal range is [-2, 1]{at}",
      {x});
}

TEST(IndexErrors, AnIndexOutOfRangeInsideVmap) {
  const Tensor x = rc::ones({3, 2});
  expect_error<rc::IndexError>([&] { rc::vmap([](Tensor a) { return a[2]; })(x); },
                               "index: index 2 is out of range for axis 0 of f32[2]; the legal range is [-2, 1]\n"
                               "  inside vmap over axis 0 of 3{at}",
                               {x});
}

TEST(IndexErrors, AnIndexIntoATensorWithoutAxes) {
  const Tensor x = rc::ones({});
  expect_error<rc::IndexError>([&] { x[0]; }, "index: axis 0 is out of range: f32[] has no axes");
  expect_error<rc::IndexError>([&] { x.index({0}); }, "index: 1 index is too many for f32[], which has 0 axes");
}

TEST(IndexErrors, SpeakOfTheAxesOfWhatIsIndexed) {
  const Tensor x = rc::ones({3, 2, 4}), index = rc::tensor({0, 7});
  const std::string rest = " is out of range for axis 2 of f32[3,2,4]; the legal range is [-4, 3]";
  expect_error<rc::IndexError>([&] { x.index({0, 1, 9}); }, "index: index 9" + rest, {x});
  expect_error<rc::IndexError>([&] { x.index({rc::ellipsis, -9}); }, "index: index -9" + rest, {x});
  expect_error<rc::IndexError>([&] { x.index({1, rc::none, 0, index}); }, "index: index 7" + rest, {x, index});
  expect_error<rc::IndexError>(
      [&] { x[3] = 1; }, "index: index 3 is out of range for axis 0 of f32[3,2,4]; the legal range is [-3, 2]", {x});
  expect_error<rc::ValueError>([&] { x[rc::Slice(0, 2, 0)]; }, "index: step is 0; it must be at least 1", {x});
}

TEST(IndexErrors, AMaskOfAnotherShape) {
  const Tensor x = rc::tensor({1., 2., 3.}), m = rc::ones({2, 3});
  const Tensor two = rc::tensor({true, false}), three = rc::tensor({true, false, false});
  const auto found = [](const std::string& text) { return "index: the mask " + text; };
  expect_error<rc::IndexError>([&] { x[two]; }, found("bool[2] does not fit f32[3]"), {x});
  expect_error<rc::IndexError>([&] { m[three]; }, found("bool[3] does not fit f32[2,3]"), {m});
  expect_error<rc::IndexError>([&] { m[rc::ones({3, 2}) > 0]; }, found("bool[3,2] does not fit f32[2,3]"), {m});
  expect_error<rc::IndexError>([&] { m.index({0, two}); }, found("bool[2] does not fit axis 1 of f32[2,3]"), {m});
  expect_error<rc::IndexError>([&] { x[rc::zeros({0}, rc::boolean)]; }, found("bool[0] does not fit f32[3]"), {x});
  expect_error<rc::IndexError>([&] { rc::grad([&](Tensor v) { return v[two].sum(); })(x); },
                               found("bool[2] does not fit f32[3]\n  inside grad{at}"), {x});
  expect_error<rc::IndexError>([&] { m.index({rc::tensor(true), 0}); },
                               found("").substr(0, 7) +
                                   "a mask without axes must stand alone; write where(mask, "
                                   "value, x) or x[mask]",
                               {m});
}

TEST(IndexErrors, SayWhichExample) {
  const Tensor table = rc::ones({3, 2}), places = rc::tensor({{0, 1}, {2, 7}});
  const std::string range = " is out of range for axis 0 of f32[3,2]; the legal range is [",
                    two = "\n  inside vmap over axis 0 of 2{at}";
  const auto of_places = [&](const auto& f) { return [&, f] { rc::vmap([&](Tensor i) { return f(i); })(places); }; };
  const std::string found = ": index 7 at [1] in example 1";
  expect_error<rc::IndexError>(of_places([&](Tensor i) { return rc::embedding(i, table); }),
                               "embedding" + found + range + "0, 2]" + two, {table, places});
  expect_error<rc::IndexError>(of_places([&](Tensor i) { return table[i]; }), "index" + found + range + "-3, 2]" + two);
  expect_error<rc::IndexError>(of_places([&](Tensor i) { return rc::index_select(table, 0, i); }),
                               "index_select" + found + range + "0, 2]" + two);
  expect_error<rc::IndexError>(of_places([&](Tensor i) { return rc::index_add(table, 0, i, rc::ones({2})); }),
                               "index_add" + found + range + "0, 2]" + two);
  expect_error<rc::IndexError>(
      of_places([&](Tensor i) { return rc::take(table, i); }),
      "take" + found + " is out of range for axis 0 of f32[6]; the legal range is [-6, 5]" + two);
  expect_error<rc::IndexError>(of_places([&](Tensor i) { return rc::gather(table[0], 0, i); }),
                               "gather: index 2 at [0] in example 1 is out of range for axis 0 of f32[2]; the legal "
                               "range is [0, 1]" +
                                   two);
  expect_error<rc::IndexError>(of_places([&](Tensor i) { return rc::scatter(table[0], 0, i, rc::ones({2})); }),
                               "scatter: index 2 at [0] in example 1 is out of range for axis 0 of f32[2]; the legal "
                               "range is [0, 1]" +
                                   two);
  expect_error<rc::IndexError>(of_places([&](Tensor i) { return rc::take_along_dim(table[0], i, 0); }),
                               "take_along_dim: index 2 at [0] in example 1 is out of range for axis 0 of f32[2]; the "
                               "legal range is [-2, 1]" +
                                   two);
}

TEST(IndexErrors, SayWhichExampleWhereBothAreMappedAcrossChunksAndNestedMaps) {
  const Tensor tables = rc::ones({4, 3}), places = rc::tensor({0, 1, 2, 3});
  const auto read = [](Tensor table, Tensor i) { return table[i]; };
  const std::string start = "index: index 3 in example ",
                    rest = " is out of range for axis 0 of f32[3]; the legal range is [-3, 2]\n  inside vmap over ";
  expect_error<rc::IndexError>([&] { rc::vmap(read)(tables, places); }, start + "3" + rest + "axis 0 of 4{at}");
  expect_error<rc::IndexError>([&] { rc::vmap(read, {.chunk_size = 1})(tables, places); },
                               start + "3" + rest + "axis 0 of 4{at}");
  expect_error<rc::IndexError>([&] { rc::vmap(rc::vmap(read))(tables.reshape({2, 2, 3}), places.reshape({2, 2})); },
                               start + "[1,1]" + rest + "axis 0 of 2{at}, inside vmap over axis 0 of 2{at}");
  expect_error<rc::IndexError>(
      [&] { rc::vmap(rc::grad([&](Tensor t, Tensor i) { return read(t, i); }))(tables, places); },
      start + "3" + rest.substr(0, rest.find("\n")) + "\n  inside grad{at}, inside vmap over axis 0 of 4{at}");
}

TEST(IndexErrors, SayWhichExampleInCompiledFunctions) {
  const Tensor table = rc::ones({3, 2}), tables = rc::ones({4, 3}), places = rc::tensor({{0, 1}, {2, 7}});
  const auto expect = [&](const auto& f, const std::string& text) {
    const std::string inside = "\n  inside vmap over axis 0 of 2{at}";
    expect_error<rc::IndexError>([&] { rc::compile(rc::vmap(f))(places); }, text + inside);
    expect_error<rc::IndexError>([&] { rc::trace(rc::vmap(f))(places)({places}); }, text + inside);
  };
  const std::string found = ": index 7 at [1] in example 1",
                    range = " is out of range for axis 0 of f32[3,2]; the legal range is [";
  expect([&](Tensor i) { return rc::embedding(i, table); }, "embedding" + found + range + "0, 2]");
  expect([&](Tensor i) { return table[i]; }, "index" + found + range + "-3, 2]");
  expect([&](Tensor i) { return rc::index_select(table, 0, i); }, "index_select" + found + range + "0, 2]");
  expect([&](Tensor i) { return rc::index_add(table, 0, i, rc::ones({2})); }, "index_add" + found + range + "0, 2]");
  const auto read = [](Tensor t, Tensor i) { return t[i]; };
  expect_error<rc::IndexError>(
      [&] { rc::compile(rc::vmap(rc::vmap(read)))(tables.reshape({2, 2, 3}), rc::tensor({{0, 1}, {2, 3}})); },
      "index: index 3 in example [1,1] is out of range for axis 0 of f32[3]; the legal range is [-3, 2]\n"
      "  inside vmap over axis 0 of 2{at}, inside vmap over axis 0 of 2{at}");
  expect_error<rc::IndexError>(
      [&] { rc::compile(rc::vmap(rc::grad(read)))(tables, rc::tensor({0, 1, 5, 0})); },
      "index: index 5 in example 2 is out of range for axis 0 of f32[3]; the legal range is [-3, 2]\n"
      "  inside grad{at}, inside vmap over axis 0 of 4{at}");
}

TEST(IndexErrors, SayTheExampleOfTheMapThatMapsTheIndex) {
  const Tensor x = rc::ones({5, 3, 4}), places = rc::tensor({{0, 1}, {2, 9}, {0, 0}});
  const auto inner_alone = [](Tensor x, Tensor i) {
    const auto each = [](Tensor row, Tensor i) { return rc::index_select(row, 0, i); };
    return rc::vmap([=](Tensor rows) { return rc::vmap(each)(rows, i); })(x);
  };
  const std::string text =
      "index_select: index 9 at [1] in example 1 is out of range for axis 0 of f32[4]; the legal range is [0, 3]\n"
      "  inside vmap over axis 0 of 3{at}, inside vmap over axis 0 of 5{at}";
  expect_error<rc::IndexError>([&] { inner_alone(x, places); }, text);
  expect_error<rc::IndexError>([&] { rc::trace(inner_alone)(x, places * 0)({x, places}); }, text);
  expect_error<rc::IndexError>([&] { rc::compile(inner_alone)(x, places); }, text);
}

/// An index that all examples share is of none of them, whatever its length.
TEST(IndexErrors, SayNoExampleOfASharedIndex) {
  const Tensor tables = rc::ones({2, 3}), index = rc::tensor({0, 7});
  expect_error<rc::IndexError>([&] { rc::vmap([&](Tensor t) { return t[index]; })(tables); },
                               "index: index 7 is out of range for axis 0 of f32[3]; the legal range is [-3, 2]\n"
                               "  inside vmap over axis 0 of 2{at}");
}

TEST(IndexErrors, AnIndexTensorWithAnIndexOutOfRange) {
  const Tensor x = rc::ones({3}), index = rc::tensor({0, 7});
  expect_error<rc::IndexError>([&] { rc::index_select(x, 0, index); },
                               "index_select: index 7 is out of range for axis 0 of f32[3]; the legal range is [0, 2]",
                               {x, index});
}

TEST(IndexErrors, AnIndexIntoAnEmptyAxis) {
  const Tensor x = rc::ones({0, 3}), index = rc::tensor({0});
  const std::string rest = ": index 0 is out of range for axis 0 of f32[0,3]; the legal range is empty";
  expect_error<rc::IndexError>([&] { x[0]; }, "index" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::index_select(x, 0, index); }, "index_select" + rest, {x, index});
}

TEST(AxisErrors, OutOfRangeInsideVmapCountsVisibleAxes) {
  const Tensor x = rc::ones({3, 4});
  expect_error<rc::IndexError>([&] { rc::vmap([](Tensor a) { return a.sum(1); })(x); },
                               "sum: axis 1 is out of range: f32[4] has 1 axis; the legal range is [-1, 0]\n"
                               "  inside vmap over axis 0 of 3{at}",
                               {x});
}

TEST(AxisErrors, Repeated) {
  const Tensor x = rc::ones({3, 4});
  expect_error<rc::ValueError>([&] { x.sum({0, -2}); }, "sum: axis 0 appears more than once in [0,-2]", {x});
}

}  // namespace
