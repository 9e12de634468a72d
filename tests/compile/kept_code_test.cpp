// Code that is kept in a folder: later processes find it, and nothing that is wrong with the folder reaches a caller.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "compile/kept_folder.h"
#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
namespace fs = std::filesystem;
using rc::Tensor;
using rc::compiled::Image;
using namespace testing_support;

namespace {

constexpr std::int64_t much = std::int64_t{1} << 30;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
/// Writes over what is there. Of a file that is cut to nothing first, file systems bring the new bytes to the disk at
/// once, which takes milliseconds.
void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app);  // makes it
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out) << bytes;
  fs::resize_file(path, bytes.size());
}

/// A plan of its own for each number, with a call of the library's lgamma, a call of C's functions and a loop.
Tensor computed(double number, const Tensor& x) {
  const auto step = [&](const std::tuple<Tensor, Tensor>& s) {
    return std::tuple(std::get<0>(s) + 1, (std::get<1>(s) + number).sin());
  };
  const auto goes_on = [](const std::tuple<Tensor, Tensor>& s) { return std::get<0>(s) < 20; };
  const Tensor turned = std::get<1>(rc::while_loop(goes_on, step, std::tuple(rc::tensor(0), x[0])));
  return (x.exp() * number).lgamma() + turned;
}

class KeptCode : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    std::string name = (fs::temp_directory_path() / "ricci_code_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    rc::set_compile_cache("");
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  /// Two calls, of which the second may make code for these sizes, by a function of its own.
  void expect_right(double number) {
    const Tensor x = rc::linspace(0.5, 2, 40, {.dtype = rc::float64});
    const auto fast = rc::compile([=](const Tensor& y) { return computed(number, y); });
    for (int i = 0; i < 2; ++i) expect_close(fast(x), computed(number, x));
  }
  /// As a process that begins anew: it has nothing in memory.
  rc::CompileCacheStats used(double number) {
    rc::set_compile_cache(folder_.string());
    expect_right(number);
    return rc::compile_cache_stats();
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& file : fs::directory_iterator(folder_))
      if (file.path().filename() != "secret") all.push_back(file.path());
    return all;
  }
  fs::path folder_;
};

Image image_of_bytes(const std::string& bytes) {
  return {.bytes = bytes, .code_bytes = 4096, .holes = {{{rc::compiled::Callee::What::copy}, 8}}, .functions = {0, -1}};
}

TEST_F(KeptCode, IsFoundByTheNextProcess) {
  const auto first = used(1.5), second = used(1.5);
  EXPECT_GT(first.misses, 0);
  EXPECT_EQ(first.hits, 0);
  EXPECT_EQ(second.hits, first.misses);
  EXPECT_EQ(second.misses, 0);
  EXPECT_EQ(second.problem, "");
}

TEST_F(KeptCode, IsAnotherForAnotherNumber) {
  used(1.5);
  const auto other = used(1.25);
  EXPECT_GT(other.misses, 0);
}

// Columns at the sides of a matrix have their lanes along rows, which are as long as the matrix is wide.
TEST_F(KeptCode, OfAStencilServesOtherSizes) {
  const auto energy = [](const Tensor& x) {
    const Tensor across = rc::roll(x, 1, 1) + rc::roll(x, -1, 1), along = rc::roll(x, 1, 0) + rc::roll(x, -1, 0);
    return (x + 0.1 * (across + along - 4 * x)).square().sum();
  };
  const auto slope = rc::grad(energy);
  const auto fast = rc::compile(slope);
  rc::set_compile_cache(folder_.string());
  std::int64_t made = 0;
  for (const rc::Shape& shape : {rc::Shape{1000, 640}, rc::Shape{900, 700}, rc::Shape{1111, 801}}) {
    const Tensor x = rc::rand(shape);
    expect_equal(fast(x), slope(x));
    const std::int64_t misses = rc::compile_cache_stats().misses;
    if (made > 0) EXPECT_EQ(misses, made);
    else EXPECT_GT(misses, 0);
    made = misses;
  }
}

TEST_F(KeptCode, IsOffByDefaultAndSwitchedOffByAnEmptyPath) {
  used(1.5);
  rc::set_compile_cache("");
  const std::size_t before = entries().size();
  expect_right(1.75);
  EXPECT_EQ(entries().size(), before);
  EXPECT_EQ(rc::compile_cache_stats().misses, 0);
}

TEST_F(KeptCode, IsClosedToOtherUsers) {
  const fs::path inner = folder_ / "made" / "here";
  rc::set_compile_cache(inner.string());
  expect_right(1.5);
  struct stat found{};
  ASSERT_EQ(stat(inner.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
  for (const auto& file : fs::directory_iterator(inner)) {
    ASSERT_EQ(stat(file.path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U) << file.path();
  }
}

TEST_F(KeptCode, IsNotTakenFromAFolderThatOthersMayEnter) {
  used(1.5);
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  const auto stats = used(1.5);
  EXPECT_EQ(stats.hits, 0);
  EXPECT_NE(stats.problem.find("other users may enter it"), std::string::npos);
}

TEST_F(KeptCode, IsMadeAnewWhereEveryEntryIsDamaged) {
  const auto first = used(1.5);
  for (const fs::path& entry : entries()) {
    std::string bytes = read(entry);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write(entry, bytes);
  }
  const auto second = used(1.5), third = used(1.5);
  EXPECT_EQ(second.refused, first.misses);
  EXPECT_EQ(second.hits, 0);
  EXPECT_EQ(third.hits, first.misses) << "what was damaged is kept anew";
}

TEST_F(KeptCode, IsRefusedInTenThousandKindsOfDamage) {
  rc::compiled::KeptFolder kept(folder_.string(), much, "build");
  ASSERT_TRUE(kept.is_usable());
  const std::string name = kept.name_of("key"), other = kept.name_of("other key");
  kept.keep(name, image_of_bytes(std::string(5000, 'x')));
  kept.keep(other, image_of_bytes(std::string(5000, 'y')));
  ASSERT_TRUE(kept.find(name));
  const std::string whole = read(folder_ / name);
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes = whole;
    switch (i % 5) {
      case 0: bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8)); break;
      case 1: bytes.resize(below(bytes.size())); break;
      case 2: bytes.insert(below(bytes.size()), 1 + below(64), static_cast<char>(below(256))); break;
      case 3: bytes.erase(below(bytes.size() - 64), 1 + below(64)); break;
      default: bytes = std::string(below(9000), static_cast<char>(below(256)));
    }
    if (bytes == whole) continue;
    write(folder_ / name, bytes);
    ASSERT_FALSE(kept.find(name)) << "damage " << i;
  }
  write(folder_ / name, read(folder_ / other));
  EXPECT_FALSE(kept.find(name)) << "an entry under the name of another";
  write(folder_ / name, whole);
  EXPECT_TRUE(kept.find(name));
}

TEST_F(KeptCode, GivesBackWhatWasKept) {
  rc::compiled::KeptFolder kept(folder_.string(), much, "build");
  const Image image = image_of_bytes("code" + std::string(5000, '\0') + "data");
  kept.keep(kept.name_of("key"), image);
  const std::optional<Image> found = kept.find(kept.name_of("key"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, image.bytes);
  EXPECT_EQ(found->code_bytes, 4096U);
  EXPECT_EQ(found->functions, image.functions);
  ASSERT_EQ(found->holes.size(), 1U);
  EXPECT_EQ(found->holes[0].callee, image.holes[0].callee);
  EXPECT_EQ(found->holes[0].offset, 8U);
}

TEST_F(KeptCode, IsFoundByNoOtherBuildAndUnderNoOtherSecret) {
  rc::compiled::KeptFolder one(folder_.string(), much, "build 1"), two(folder_.string(), much, "build 2");
  EXPECT_NE(one.name_of("key"), two.name_of("key"));
  one.keep(one.name_of("key"), image_of_bytes(std::string(100, 'x')));
  EXPECT_FALSE(two.find(two.name_of("key")));
  const std::string entry = read(folder_ / one.name_of("key"));
  fs::remove(folder_ / "secret");
  rc::compiled::KeptFolder later(folder_.string(), much, "build 1");
  write(folder_ / later.name_of("key"), entry);
  EXPECT_FALSE(later.find(later.name_of("key")));
}

TEST_F(KeptCode, NeedsABuildThatCanBeTold) {
  rc::compiled::KeptFolder kept(folder_.string(), much, "");
  EXPECT_FALSE(kept.is_usable());
  EXPECT_NE(kept.stats().problem.find("no build ID"), std::string::npos);
}

TEST_F(KeptCode, LosesTheEntriesThatWereNotUsedForLongest) {
  constexpr std::int64_t most = 60'000;
  rc::compiled::KeptFolder kept(folder_.string(), most, "build");
  const auto name = [&](int i) { return kept.name_of(std::to_string(i)); };
  for (int i = 0; i < 40; ++i) {
    kept.keep(name(i), image_of_bytes(std::string(5000, 'x')));
    ASSERT_TRUE(kept.find(name(0))) << "the first is used all the time, also when " << i << " are there";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::int64_t bytes = 0;
  for (const fs::path& entry : entries()) bytes += static_cast<std::int64_t>(fs::file_size(entry));
  EXPECT_LE(bytes, most);
  EXPECT_TRUE(kept.find(name(39)));
  EXPECT_FALSE(kept.find(name(1)));
}

TEST_F(KeptCode, IsMadeWhereTheFolderCannotBe) {
  rc::set_compile_cache("/proc/no/such/folder");
  expect_right(1.5);
  EXPECT_NE(rc::compile_cache_stats().problem, "");
  write(folder_ / "file", "no folder");
  rc::set_compile_cache((folder_ / "file").string());
  expect_right(1.5);
  EXPECT_NE(rc::compile_cache_stats().problem, "");
}

TEST_F(KeptCode, LeavesFilesOfOthersAloneAndKeepsNothingBesideThem) {
  write(folder_ / "letter.txt", std::string(5000, 'x'));
  write(folder_ / ".profile", "mine");
  fs::last_write_time(folder_ / ".profile", fs::file_time_type::clock::now() - std::chrono::hours(100));
  rc::compiled::KeptFolder refused(folder_.string(), 1000, "build");
  EXPECT_FALSE(refused.is_usable());
  fs::remove(folder_ / "letter.txt"), fs::remove(folder_ / ".profile");
  rc::compiled::KeptFolder kept(folder_.string(), 1000, "build");
  write(folder_ / "letter.txt", std::string(5000, 'x'));
  write(folder_ / ".profile", "mine");
  fs::last_write_time(folder_ / ".profile", fs::file_time_type::clock::now() - std::chrono::hours(100));
  for (int i = 0; i < 3; ++i) kept.keep(kept.name_of(std::to_string(i)), image_of_bytes(std::string(5000, 'x')));
  EXPECT_TRUE(fs::exists(folder_ / "letter.txt"));
  EXPECT_TRUE(fs::exists(folder_ / ".profile"));
}

TEST_F(KeptCode, TakesNothingThatOthersMayHaveWritten) {
  const auto first = used(1.5);
  for (const fs::path& entry : entries()) fs::permissions(entry, fs::perms::owner_all | fs::perms::group_write);
  EXPECT_EQ(used(1.5).hits, 0);
  EXPECT_EQ(used(1.5).hits, first.misses);
  fs::permissions(folder_ / "secret", fs::perms::owner_all | fs::perms::others_write);
  EXPECT_EQ(used(1.5).hits, 0);
}

TEST_F(KeptCode, StandsInAFolderWhoseNameEndsInASlash) {
  const std::string path = (folder_ / "made").string() + "/";
  rc::set_compile_cache(path);
  expect_right(1.5);
  EXPECT_EQ(rc::compile_cache_stats().problem, "");
  EXPECT_TRUE(fs::exists(folder_ / "made" / "secret"));
}

TEST_F(KeptCode, IsMadeWhereTheSecretIsCutOffOrTheFolderGoesAway) {
  write(folder_ / "secret", "short");
  fs::permissions(folder_ / "secret", fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(used(1.5).problem, "") << "there is another secret then";
  rc::set_compile_cache(folder_.string());
  fs::remove_all(folder_);
  expect_right(1.5);
  EXPECT_NE(rc::compile_cache_stats().problem, "");
}

TEST_F(KeptCode, IsMadeWhereTheDiskIsFull) {
  const pid_t child = fork();
  if (child == 0) {  // a limit on files stands for a full disk
    signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};  // of RLIMIT_FSIZE
    setrlimit(RLIMIT_FSIZE, &none);
    rc::compiled::KeptFolder kept(folder_.string(), much, "build");
    _exit(kept.is_usable() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(used(1.5).problem, "") << "nothing half written stands in the way";
}

TEST_F(KeptCode, IsSharedByProcessesThatRunTogether) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      rc::compiled::KeptFolder kept(folder_.string(), 200'000, "build");
      bool is_right = kept.is_usable();
      for (int k = 0; k < 300; ++k) {
        const std::string text(4096 + static_cast<std::size_t>(k % 50), static_cast<char>('a' + k % 50 % 26));
        const std::string name = kept.name_of(std::to_string(k % 50));
        if (const auto found = kept.find(name)) is_right = is_right && found->bytes == text;
        else kept.keep(name, image_of_bytes(text));
      }
      _exit(is_right && kept.stats().refused == 0 && kept.stats().problem.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  for (const auto& file : fs::directory_iterator(folder_))
    EXPECT_NE(file.path().extension(), ".part") << "nothing half written is left";
}

TEST_F(KeptCode, IsRunByThreadsThatBeginTogether) {
  rc::set_compile_cache(folder_.string());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { expect_right(1 + i % 2); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rc::compile_cache_stats().problem, "");
}

TEST_F(KeptCode, ComputesLargeArgumentsOfSinesCarefully) {
  const Tensor x = rc::tensor({1e3, 1e9, 1e18, 1e300}, rc::float64);
  const auto f = [](const Tensor& y) { return y.sin() * y.cos() + y.sin(); };
  for (int process = 0; process < 2; ++process) {
    rc::set_compile_cache(folder_.string());
    const auto fast = rc::compile(rc::vmap(f));
    expect_close(fast(x), f(x));
    EXPECT_EQ(rc::compile_cache_stats().misses > 0, process == 0);
  }
}

}  // namespace
