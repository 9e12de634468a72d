// NumPy's files: what NumPy writes is read, what is written is read again, and damage is named.
// compressed.npz is numpy.savez_compressed(…, a=numpy.arange(6, dtype="<i2").reshape(2, 3), s=numpy.float64(0.5)).
#include <unistd.h>

#include <complex>
#include <filesystem>
#include <fstream>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

class NumpyFile : public testing::Test {
 protected:
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("ricci_npy_" + std::to_string(getpid()));
  NumpyFile() { std::filesystem::create_directories(folder); }
  ~NumpyFile() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string& name) const { return (folder / name).string(); }

  /// A file as numpy.save writes it.
  std::string write(const std::string& header, const std::string& elements) const {
    std::string text = header;
    text.append(117 - text.size(), ' ');
    std::ofstream(path("x.npy"), std::ios::binary) << std::string("\x93NUMPY\x01\x00v\x00", 10) << text << '\n'
                                                   << elements;
    return path("x.npy");
  }
};

TEST_F(NumpyFile, GivesBackWhatWasSaved) {
  const Tensor x = rc::tensor({{1., 2., 3.}, {0., 5., 6.}});
  for (rc::DType dtype : {rc::boolean, rc::uint8, rc::int8, rc::int16, rc::int32, rc::int64, rc::float16, rc::float32,
                          rc::float64, rc::complex64, rc::complex128}) {
    const Tensor saved = x.to(dtype);
    rc::save_npy(path("x.npy"), saved);
    const Tensor loaded = rc::load_npy(path("x.npy"));
    EXPECT_EQ(loaded.dtype(), dtype);
    EXPECT_EQ(sizes(loaded), (Sizes{2, 3}));
    EXPECT_TRUE(rc::equal(loaded, saved));
  }
}

TEST_F(NumpyFile, KeepsShapesOfAnyRank) {
  for (const Sizes& shape : {Sizes{}, Sizes{3}, Sizes{0}, Sizes{2, 0, 4}, Sizes{1, 2, 3, 4}}) {
    rc::save_npy(path("x.npy"), rc::ones(rc::Shape(shape)));
    EXPECT_EQ(sizes(rc::load_npy(path("x.npy"))), shape);
  }
}

TEST_F(NumpyFile, HoldsRowsWhateverTheLayout) {
  const Tensor x = rc::arange(6).reshape({2, 3}).t();
  rc::save_npy(path("x.npy"), x);
  expect_close(rc::load_npy(path("x.npy")), x);
}

TEST_F(NumpyFile, BeginsItsElementsAtAMultipleOf64) {
  rc::save_npy(path("x.npy"), rc::ones({2}));
  EXPECT_EQ(std::filesystem::file_size(path("x.npy")), 128 + 8U);
}

TEST_F(NumpyFile, MayBeBigEndianAndColumnMajor) {
  const std::string file = write("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }",
                                 std::string("\0\0\0\0\x40\x40\0\0\x3f\x80\0\0\x40\x80\0\0\x40\0\0\0\x40\xa0\0\0", 24));
  const Tensor x = rc::load_npy(file);
  EXPECT_EQ(sizes(x), (Sizes{2, 3}));
  expect_values(x, {0, 1, 2, 3, 4, 5});
  EXPECT_TRUE(x.is_contiguous());
}

TEST_F(NumpyFile, MayHoldBooleansThatAreNeitherZeroNorOne) {
  const Tensor x =
      rc::load_npy(write("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", std::string("\0\x02\x01", 3)));
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{0, 1, 1}));
}

TEST_F(NumpyFile, ThatIsMissingIsAnError) {
  expect_error<rc::ValueError>([&] { rc::load_npy(path("none.npy")); },
                               "load_npy: cannot read " + path("none.npy") + ": No such file or directory");
}

TEST_F(NumpyFile, ThatIsDamagedIsAnError) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  expect_error<rc::ValueError>(
      [&] { rc::load_npy(write(header, "1234567")); },
      "load_npy: " + path("x.npy") + " ends too early: f32[2] needs more bytes than follow; save it again");
  expect_error<rc::ValueError>(
      [&] { rc::load_npy(write("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "1234567")); },
      "load_npy: " + path("x.npy") + " ends too early: f32[2,3] needs more bytes than follow; save it again");
  expect_error<rc::ValueError>(
      [&] { rc::load_npy(write("{'descr': '<f4', 'shape': (2, }", "")); },
      "load_npy: " + path("x.npy") + " has a header that cannot be read: a size is missing; save it again");
  expect_error<rc::ValueError>(
      [&] { rc::load_npy(write("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }", "")); },
      "load_npy: " + path("x.npy") +
          " ends too early: f32[9999999999,9999999999] needs more bytes than follow; save it again");
  std::ofstream(path("x.npy")) << "hello";
  expect_error<rc::ValueError>([&] { rc::load_npy(path("x.npy")); }, "load_npy: " + path("x.npy") + " is no .npy file");
}

TEST_F(NumpyFile, OfOtherElementTypesIsAnError) {
  expect_error<rc::ValueError>(
      [&] { rc::load_npy(write("{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }", "1234")); },
      "load_npy: " + path("x.npy") +
          " holds elements of type '<u4', which is not one of ours; convert it in NumPy first, for example with "
          ".astype('f4')");
  expect_error<rc::TypeError>([&] { rc::save_npy(path("y.npy"), rc::ones({2}, rc::bfloat16)); },
                              "save_npy: NumPy has no bf16; convert bf16[2] first, for example with x.to(rc::float32)");
  EXPECT_FALSE(std::filesystem::exists(path("y.npy")));
}

TEST_F(NumpyFile, CannotHoldAValuePerExample) {
  EXPECT_THROW(rc::vmap([&](Tensor x) {
                 rc::save_npy(path("x.npy"), x);
                 return x;
               })(rc::ones({2, 3})),
               rc::TransformError);
}

TEST_F(NumpyFile, ArchivesKeepNames) {
  const std::map<std::string, Tensor> saved{{"weight", rc::ones({2, 3})}, {"layers/0/bias", rc::arange(3)}};
  rc::save_npz(path("x.npz"), saved);
  const std::map<std::string, Tensor> loaded = rc::load_npz(path("x.npz"));
  ASSERT_EQ(loaded.size(), 2U);
  expect_close(loaded.at("weight"), saved.at("weight"));
  expect_close(loaded.at("layers/0/bias"), saved.at("layers/0/bias"));
}

/// An array is held against the checksum beside it.
TEST_F(NumpyFile, AnArchiveWithOneChangedByteIsAnError) {
  rc::save_npz(path("x.npz"), {{"a", rc::arange(1000)}});
  std::fstream file(path("x.npz"), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(4000);
  file.put('\x7f');
  file.close();
  expect_error<rc::ValueError>([&] { rc::load_npz(path("x.npz")); },
                               "load_npz: cannot read " + path("x.npz") + ": a.npy: CRC error");
}

TEST_F(NumpyFile, ArchivesMayHoldNothing) {
  rc::save_npz(path("x.npz"), {{"a", rc::ones({1})}});
  rc::save_npz(path("x.npz"), {});
  EXPECT_TRUE(rc::load_npz(path("x.npz")).empty());
}

TEST_F(NumpyFile, ArchivesMayBeCompressed) {
  const std::map<std::string, Tensor> loaded = rc::load_npz(RICCI_TEST_FILES "/compressed.npz");
  EXPECT_EQ(loaded.at("a").dtype(), rc::int16);
  expect_values(loaded.at("a"), {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(loaded.at("s").dim(), 0);
  EXPECT_EQ(loaded.at("s").item(), 0.5);
}

TEST_F(NumpyFile, OfNamesThatAnArchiveCannotHoldIsAnErrorAndNoFile) {
  expect_error<rc::ValueError>([&] { rc::save_npz(path("x.npz"), {{"a\xff", rc::ones({1})}}); },
                               "save_npz: the name 'a\\xff' is not UTF-8; give the tensor another one");
  expect_error<rc::ValueError>([&] { rc::save_npz(path("x.npz"), {{std::string("a\0b", 3), rc::ones({1})}}); },
                               "save_npz: the name 'a…' holds a zero byte, which an archive's names cannot; give the "
                               "tensor another one");
  EXPECT_FALSE(std::filesystem::exists(path("x.npz")));
  rc::save_npz(path("x.npz"), {{"µ", rc::ones({1})}});
  EXPECT_TRUE(rc::load_npz(path("x.npz")).contains("µ"));
}

TEST_F(NumpyFile, ThatIsNoArchiveIsAnError) {
  std::ofstream(path("x.npz")) << "hello, this is not an archive at all";
  expect_error<rc::ValueError>([&] { rc::load_npz(path("x.npz")); },
                               "load_npz: cannot read " + path("x.npz") + ": Not a zip archive");
}

}  // namespace
