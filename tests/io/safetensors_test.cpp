// .safetensors files: what the Python package writes is read, what is written are the bytes that it writes, and damage
// is named. python.safetensors is safetensors 0.8's save_file of the tensors below.
#include <unistd.h>

#include <complex>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const std::string written_by_python = RICCI_TEST_FILES "/python.safetensors";

std::map<std::string, Tensor> tensors() {
  return {{"layers.0.weight", rc::arange(6).reshape({2, 3}) / 2},
          {"layers.0.bias", rc::tensor(std::vector<double>{1.5, -2})},
          {"mask", rc::tensor({1., 0., 1.}).to(rc::boolean)},
          {"steps", rc::full({}, 7, rc::int64)},
          {"half", rc::tensor({0.5, 65504.}).to(rc::float16)},
          {"brain", rc::tensor({1., -3.}).to(rc::bfloat16)},
          {"small", rc::tensor({-1., 2.}).to(rc::int8)},
          {"bytes", rc::full({1}, 255, rc::uint8)},
          {"short", rc::full({1}, -300, rc::int16)},
          {"int", rc::full({1}, 70000, rc::int32)},
          {"wave", rc::full({1}, std::complex<double>(1, 2), rc::complex64)},
          {"empty", rc::zeros({0, 3})}};
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Safetensors : public testing::Test {
 protected:
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("ricci_safetensors_" + std::to_string(getpid()));
  const std::string path = (folder / "x.safetensors").string();
  Safetensors() { std::filesystem::create_directories(folder); }
  ~Safetensors() override { std::filesystem::remove_all(folder); }

  void write(const std::string& header, const std::string& elements) const {
    std::ofstream file(path, std::ios::binary);
    for (int i = 0; i < 8; ++i) file.put(static_cast<char>(header.size() >> (8 * i)));
    file << header << elements;
  }
  void expect_damage(const std::string& found) const {
    expect_error<rc::ValueError>([&] { rc::load_safetensors(path); }, "load_safetensors: " + path + found);
  }
};

TEST_F(Safetensors, AreReadAsPythonWroteThem) {
  const std::map<std::string, Tensor> loaded = rc::load_safetensors(written_by_python);
  const std::map<std::string, Tensor> expected = tensors();
  ASSERT_EQ(loaded.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    SCOPED_TRACE(name);
    EXPECT_EQ(loaded.at(name).dtype(), tensor.dtype());
    EXPECT_EQ(sizes(loaded.at(name)), sizes(tensor));
    EXPECT_TRUE(rc::equal(loaded.at(name), tensor));
  }
}

TEST_F(Safetensors, AreTheBytesThatPythonWrites) {
  rc::save_safetensors(path, tensors());
  EXPECT_EQ(bytes_of(path), bytes_of(written_by_python));
}

TEST_F(Safetensors, KeepATreeByTheNamesOfItsLeaves) {
  struct Linear {
    Tensor weight, bias;
  };
  const std::vector<Linear> model{{rc::arange(6).reshape({2, 3}).t(), rc::ones({3})}, {rc::zeros({1, 3}), {}}};
  rc::save_safetensors(path, rc::named_leaves(model));
  const std::vector<Linear> loaded = rc::load_leaves(std::vector<Linear>(2), rc::load_safetensors(path));
  expect_close(loaded[0].weight, model[0].weight);
  EXPECT_FALSE(loaded[1].bias.defined());
}

TEST_F(Safetensors, MayHoldNothing) {
  rc::save_safetensors(path, {});
  EXPECT_TRUE(rc::load_safetensors(path).empty());
}

TEST_F(Safetensors, NamesMayHoldAnyText) {
  rc::save_safetensors(path, {{"a \"quoted\"\n\xc3\xa4", rc::ones({})}});
  EXPECT_EQ(rc::load_safetensors(path).begin()->first, "a \"quoted\"\n\xc3\xa4");
}

TEST_F(Safetensors, MetadataIsPassedBy) {
  write(R"({"__metadata__":{"format":"pt"},"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
        std::string("\0\0\x80?", 4));
  expect_values(rc::load_safetensors(path).at("x"), {1});
}

TEST_F(Safetensors, ThatAreDamagedAreAnError) {
  std::ofstream(path) << "hello";
  expect_damage(" ends too early; save it again");
  std::ofstream(path) << "hello, this is another file";
  expect_damage(" is no safetensors file");
  write("{\"x\":", "");
  expect_damage(" has a header that cannot be read: it is not JSON; save it again");
  write(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234567");
  expect_damage(" ends too early; save it again");
  write(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "12345");
  expect_damage(" has a header that cannot be read: its tensors end before the file does; save it again");
  write(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "12345678");
  expect_damage(" has a header that cannot be read: x does not begin where the tensor before it ends; save it again");
  write(R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678");
  expect_damage(" has a header that cannot be read: x is f32[3], and its data_offsets are [0, 8]; save it again");
  write(R"({"x":{"dtype":"F32","shape":[9999999999,9999999999],"data_offsets":[0,8]}})", "12345678");
  expect_damage(
      " has a header that cannot be read: x is f32[9999999999,9999999999], and its data_offsets are [0, 8]; save it "
      "again");
  write(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})", "12345678");
  expect_damage(" has a header that cannot be read: x holds -1, which is no size; save it again");
  const std::string deep(2'000'000, '['), closed(2'000'000, ']');  // deeper than the stack
  write(R"({"x":{"dtype":"F32","data_offsets":[0,8],"shape":[)" + deep + closed + "]}}", "12345678");
  expect_damage(" has a header that cannot be read: x holds a JSON array, which is no size; save it again");
  write(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,)" + deep + closed + "]}}", "12345678");
  expect_damage(" has a header that cannot be read: x holds a JSON array, which is no size; save it again");
  write(R"({"x":{"dtype":"F32","shape":[{}],"data_offsets":[0,8]}})", "12345678");
  expect_damage(" has a header that cannot be read: x holds a JSON object, which is no size; save it again");
  write(R"({"x":{"dtype":"F32","shape":["1"],"data_offsets":[0,8]}})", "12345678");
  expect_damage(" has a header that cannot be read: x holds \"1\", which is no size; save it again");
  write(R"({"x":{"dtype":"F32","shape":[1]}})", "1234");
  expect_damage(" has a header that cannot be read: x has no data_offsets; save it again");
  write(R"({"x":{"shape":[1],"data_offsets":[0,4]}})", "1234");
  expect_damage(" has a header that cannot be read: x has no dtype and shape; save it again");
  write(R"({"x":4})", "1234");
  expect_damage(" has a header that cannot be read: x is no description of a tensor; save it again");
  write(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
        "");
  expect_damage(" has a header that cannot be read: x stands in it twice; save it again");
}

TEST_F(Safetensors, OfOtherElementTypesAreAnError) {
  write(R"({"x":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "1");
  expect_damage(": x has elements of type F8_E4M3, which Ricci does not have; convert it before it is saved");
  expect_error<rc::TypeError>(
      [&] { rc::save_safetensors((folder / "y").string(), {{"x", rc::ones({2}, rc::complex128)}}); },
      "save_safetensors: x is c128[2], and the format has no c128; convert it first, for example with "
      "x.to(rc::complex64)");
  EXPECT_FALSE(std::filesystem::exists(folder / "y"));
}

TEST_F(Safetensors, RefuseNamesThatTheFormatCannotHold) {
  expect_error<rc::ValueError>([&] { rc::save_safetensors(path, {{"__metadata__", rc::ones({})}}); },
                               "save_safetensors: no tensor can be named __metadata__; give it another name");
  expect_error<rc::ValueError>([&] { rc::save_safetensors(path, {{"\xff", rc::ones({})}}); },
                               "save_safetensors: the name '\\xff' is not UTF-8; give the tensor another one");
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
