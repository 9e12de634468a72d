// A folder of code between processes.
//
// An entry is run as code, so it is trusted only if this user could have written it: the folder is this user's and
// closed to others, and so is each file; each entry ends in a hash, keyed by a secret in the folder, of its name and of
// its bytes. An entry whose hash is another is passed over, and its code is made anew. Where the folder cannot be used,
// code is made as without a folder; no call fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/code.h"
#include "ricci/compile_cache.h"

namespace ricci::compiled {

inline constexpr std::size_t hash_bytes = 32;
/// Of the texts one after the other, keyed by the secret if there is one.
std::string hash_of(std::string_view secret, std::initializer_list<std::string_view> texts);

/// One folder.
class KeptFolder {
 public:
  /// Makes the folder where there is none. `build`: code is found by the build that kept it; empty: nothing is kept.
  KeptFolder(const std::string& folder, std::int64_t most_bytes, const std::string& build);
  KeptFolder(const KeptFolder&) = delete;
  ~KeptFolder();

  /// Under which name the code with this key is kept.
  std::string name_of(std::string_view key) const;
  /// Nothing where there is no such entry, or where it is damaged.
  std::optional<Image> find(const std::string& name);
  void keep(const std::string& name, const Image& image);

  bool is_usable() const { return folder_ >= 0; }
  CompileCacheStats stats() const;

 private:
  /// For good. The first reason is written to stderr.
  void give_up(const std::string& why, int error = 0);
  void note(const std::string& problem, int error = 0);
  bool open_folder();
  bool read_secret();
  bool write_secret();
  std::optional<std::string> read(const std::string& name);
  bool write(const std::string& name, std::string_view bytes);
  struct Found {
    std::string name;
    std::int64_t bytes;
    timespec used;
  };
  std::vector<Found> files() const;
  void remove_oldest();

  const std::string path_;
  const std::int64_t most_bytes_;
  const std::string build_;
  int folder_ = -1;
  std::string secret_;
  std::atomic<std::int64_t> hits_ = 0, misses_ = 0, refused_ = 0;
  mutable std::mutex mutex_;
  std::int64_t bytes_ = -1;  // of all entries, as this process knows; -1: not counted yet
  std::string problem_;
};

}  // namespace ricci::compiled
