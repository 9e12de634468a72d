// What error texts repeat of a file: names and words of damaged files, and names that a file gives to tensors, are
// shown without anything that acts on a terminal.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "primitive/escaped.h"
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Escape, bell, end of line, return, delete, a lone byte, a control character of two bytes, and an unfinished one.
const std::string unsafe[] = {"\x1b[31m",          "\a", "\n", "\r", "\x7f", "\x80", "\xc2\x9b", "\xe2\x82",
                              std::string(1, '\0')};

/// The error's own lines: what was wrong, and where the user's call is.
void expect_safe(const std::string& text) {
  const std::string first = text.substr(0, text.find("\n  at "));
  EXPECT_EQ(first, rc::escaped(first));
}

class TextOfADamagedFile : public testing::Test {
 protected:
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("ricci_damaged_" + std::to_string(getpid()));
  const std::string path = (folder / "x").string();
  TextOfADamagedFile() { std::filesystem::create_directories(folder); }
  ~TextOfADamagedFile() override { std::filesystem::remove_all(folder); }

  std::string bytes() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Puts each unsafe text over each place of the first bytes, and loads. Some of the files must be errors.
  template <class Load>
  void expect_safe_wherever_it_is_damaged(std::size_t places, const Load& load) const {
    const std::string whole = bytes();
    int errors = 0;
    for (std::size_t at = 0; at < std::min(places, whole.size()); ++at)
      for (const std::string& text : unsafe) {
        std::string damaged = whole;
        damaged.replace(at, text.size(), text);
        std::filesystem::remove(path);  // to write over a file waits for the disk
        std::ofstream(path, std::ios::binary) << damaged;
        try {
          load(path);
        } catch (const rc::Error& error) {
          ++errors;
          expect_safe(error.what());
        }
      }
    EXPECT_GT(errors, 50);
  }
};

TEST_F(TextOfADamagedFile, IsSafeInNumpysFormat) {
  rc::save_npy(path, rc::ones({2, 3}));
  expect_safe_wherever_it_is_damaged(100, rc::load_npy);
}

TEST_F(TextOfADamagedFile, IsSafeInArchives) {
  rc::save_npz(path, {{"weight", rc::ones({2, 3})}, {"bias", rc::ones({2})}});
  expect_safe_wherever_it_is_damaged(800, rc::load_npz);
}

TEST_F(TextOfADamagedFile, IsSafeInSafetensors) {
  rc::save_safetensors(path, {{"weight", rc::ones({2, 3})}, {"bias", rc::ones({2})}});
  expect_safe_wherever_it_is_damaged(160, rc::load_safetensors);
}

TEST_F(TextOfADamagedFile, IsSafeWhereTheNameIsWrittenAsJson) {
  const std::string header = R"({"\u001b[31m\u009b":{"dtype":"F32\u0007","shape":[1],"data_offsets":[0,4]}})";
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < 8; ++i) file.put(static_cast<char>(header.size() >> (8 * i)));
  file << header << "abcd";
  file.close();
  expect_error<rc::ValueError>([&] { rc::load_safetensors(path); },
                               "load_safetensors: " + path + R"(: \x1b[31m\xc2\x9b has elements of type F32\x07,)" +
                                   " which Ricci does not have; convert it before it is saved");
}

TEST_F(TextOfADamagedFile, IsSafeWhereATreeHasNoPlaceForAName) {
  struct Model {
    Tensor weight;
  };
  expect_error<rc::ValueError>(
      [&] {
        (void)rc::load_leaves(Model{rc::ones({2})}, {{"weight", rc::ones({2})}, {"\x1b]0;title\a", rc::ones({2})}});
      },
      R"(load_leaves: the named tensors do not fit the tree; in no place of the tree: \x1b]0;title\x07; )"
      "pass a tree of the structure that was saved");
}

TEST_F(TextOfADamagedFile, IsSafeInAProgram) {
  try {
    rc::parse_program("program(x: f32[\x1b[31m]) {\n  return x\n}\n", std::vector<Tensor>{});
    FAIL();
  } catch (const rc::ValueError& error) { expect_safe(error.what()); }
}

TEST(Escaped, LeavesCharactersOfAnyLanguageAsTheyAre) {
  for (const char* text : {"größe.ключ", "重み", "a😀b", "\\x1b", "tab-free 'quotes' \"and\" more"})
    EXPECT_EQ(rc::escaped(text), text);
}

}  // namespace
