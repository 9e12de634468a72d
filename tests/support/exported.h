// Exported functions, linked and called as programs in C call them.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "primitive/interpreter.h"

namespace testing_support {

/// Bytes with a page behind them that nobody may read or write.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    pages_ = (bytes + page - 1) / page * page;
    memory_ =
        static_cast<char*>(mmap(nullptr, pages_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    all_ = pages_ + page;
    mprotect(memory_ + pages_, page, PROT_NONE);
    data_ = memory_ + pages_ - bytes;
  }
  GuardedBytes(GuardedBytes&& other) noexcept { *this = std::move(other); }
  GuardedBytes& operator=(GuardedBytes&& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(data_, other.data_);
    std::swap(pages_, other.pages_), std::swap(all_, other.all_);
    return *this;
  }
  ~GuardedBytes() {
    if (memory_) munmap(memory_, all_);
  }
  void* data() const { return data_; }

 private:
  char *memory_ = nullptr, *data_ = nullptr;
  std::size_t pages_ = 0, all_ = 0;
};

inline std::size_t byte_count(const ricci::Tensor& x) {
  return static_cast<std::size_t>(x.numel()) * ricci::element_size(x.dtype());
}
/// Requires: x is an array whose elements lie row by row.
inline void* bytes_at(const ricci::Tensor& x) {
  return static_cast<const ricci::Array&>(*ricci::value_of(x)).strided().data;
}

inline bool has_ptx_assembler() {
  static const bool is_there = std::system("command -v ptxas > /dev/null") == 0;
  return is_there;
}

/// A folder of exported functions, gone when this ends.
class Exports {
 public:
  using Tensors = std::vector<ricci::Tensor>;

  Exports() {
    std::string name = (std::filesystem::temp_directory_path() / "ricci_exports_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  Exports(const Exports&) = delete;
  ~Exports() {
    if (library_) dlclose(library_);
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string header(const std::string& name) const { return text(name + ".h"); }
  std::string text(const std::string& file_name) const {
    std::ifstream file(path(file_name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  /// All objects in one library, which finds what it calls in libm and a CBLAS alone.
  void link() {
    const std::string command = std::string(RICCI_TEST_COMPILER) + " -shared -nostdlib -Wl,--no-undefined -o " +
                                path("all.so") + " " + folder_ + "/*.o " + RICCI_OPENBLAS_LIBRARY + " -lm";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    load();
  }
  /// All functions in C, by a compiler that warns of everything, and takes a warning for an error. They stand in one
  /// text; those of more than 50,000 bytes stand in another, which takes options of its own.
  void compile_c(const std::string& options = "-O1", const std::optional<std::string>& of_long_ones = {}) {
    constexpr std::uintmax_t many_bytes = 50'000;
    const std::string all[] = {options, of_long_ones.value_or(options)};
    std::string command = "cd " + folder_, objects;
    for (const bool is_long : {false, true}) {
      std::string includes;
      for (const auto& file : std::filesystem::directory_iterator(folder_))
        if (file.path().extension() == ".c" && (file.file_size() > many_bytes) == is_long)
          includes += "#include \"" + file.path().filename().string() + "\"\n";
      if (includes.empty()) continue;
      const std::string name = is_long ? "long" : "short";
      std::ofstream(path(name + ".txt")) << includes;
      command += " && " + std::string(RICCI_TEST_COMPILER) + " -std=c99 " + all[is_long] +
                 " -Wall -Wextra -Werror -pedantic -fPIC -x c -c -o " + name + ".o " + name + ".txt";
      objects += " " + name + ".o";
    }
    command += " && " + std::string(RICCI_TEST_COMPILER) + " -shared -o all.so" + objects + " -lm";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    load();
  }
  struct Assembled {
    int registers = 0, spilled_bytes = 0;
  };
  /// A kernel, by NVIDIA's assembler, for Turing: newer ones know no processor before it.
  Assembled assemble_ptx(const std::string& name) const {
    const std::string command =
        "ptxas -v -arch=sm_75 -o " + path(name) + ".cubin " + path(name) + ".ptx > " + path(name) + ".said 2>&1";
    const int answer = std::system(command.c_str());
    const std::string said = text(name + ".said");
    EXPECT_EQ(answer, 0) << said;
    Assembled all;
    const std::string spills = "bytes stack frame, ", used = "Used ";
    for (std::size_t at = said.find(spills); at != std::string::npos; at = said.find(spills, at + 1))
      all.spilled_bytes += std::atoi(said.c_str() + at + spills.size());
    if (const std::size_t at = said.find(used); at != std::string::npos)
      all.registers = std::atoi(said.c_str() + at + used.size());
    return all;
  }
  /// What the function returns. Its results are written over `results`. Each array ends where memory ends. `examples`:
  /// of a function of any number of them.
  int call(const std::string& name, const Tensors& arguments, Tensors& results,
           std::optional<std::int64_t> examples = {}) const {
    std::vector<GuardedBytes> memory;
    std::vector<void*> pointers;
    for (const ricci::Tensor& x : arguments) {
      const ricci::Tensor rows = x.contiguous();
      pointers.push_back(memory.emplace_back(byte_count(rows)).data());
      std::memcpy(pointers.back(), bytes_at(rows), byte_count(rows));
    }
    for (ricci::Tensor& y : results) {
      y = ricci::clone(y.contiguous());
      pointers.push_back(memory.emplace_back(byte_count(y)).data());
      std::memset(pointers.back(), 0x5a, byte_count(y));
    }
    const std::size_t workspace = workspace_bytes(name);
    pointers.push_back(memory.emplace_back(workspace).data());
    std::memset(pointers.back(), 0x5a, workspace);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointers.back()) % 64, 0U);
    std::vector<void*> given = pointers;  // a number of 64 bits is passed as a pointer is
    if (examples) given.insert(given.begin(), reinterpret_cast<void*>(*examples));
    const int answer = call(dlsym(library_, name.c_str()), given);
    for (std::size_t i = 0; i < results.size(); ++i)
      std::memcpy(bytes_at(results[i]), pointers[arguments.size() + i], byte_count(results[i]));
    return answer;
  }

 private:
  void load() {
    library_ = dlopen(path("all.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library_) << dlerror();
  }
  std::size_t workspace_bytes(const std::string& name) const {
    const std::string text = header(name), word = "_WORKSPACE_BYTES ";
    return std::stoul(text.substr(text.find(word) + word.size()));
  }
  template <std::size_t... I>
  static int call_with(void* f, void* const* p, std::index_sequence<I...>) {
    return reinterpret_cast<int (*)(decltype(static_cast<void>(I), static_cast<void*>(nullptr))...)>(f)(p[I]...);
  }
  /// By the number of pointers.
  static int call(void* f, const std::vector<void*>& p) {
    constexpr std::size_t most = 24;
    EXPECT_TRUE(f);
    EXPECT_LT(p.size(), most);
    int answer = -1;
    const auto one = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
      if (f && p.size() == N) answer = call_with(f, p.data(), std::make_index_sequence<N>{});
    };
    [&]<std::size_t... N>(std::index_sequence<N...>) {
      (one(std::integral_constant<std::size_t, N>{}), ...);
    }(std::make_index_sequence<most>{});
    return answer;
  }

  std::string folder_;
  void* library_ = nullptr;
};

}  // namespace testing_support
