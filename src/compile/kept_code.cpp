// What the process keeps, and where.
#include "compile/kept_code.h"

#include <pthread.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "compile/build_identity.h"
#include "compile/kept_folder.h"
#include "compile/switches.h"

namespace ricci::compiled {
namespace {

struct Current {
  std::mutex mutex;
  std::shared_ptr<KeptFolder> folder;
  bool is_set = false;
};

std::shared_ptr<KeptFolder> opened_folder(const std::string& path, std::int64_t most_bytes) {
  return path.empty() ? nullptr : std::make_shared<KeptFolder>(path, most_bytes, build_identity());
}

/// Stays when the process ends: threads may be at work.
Current& current() {
  static Current& of_process = *new Current;
  return of_process;
}

/// What this process made or found lately. A function that is compiled again needs no compiler.
class Recent {
 public:
  std::optional<Image> find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = images_.find(name);
    return found == images_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const std::string& name, const Image& image) {
    constexpr std::size_t most_bytes = std::size_t{32} << 20;
    const std::lock_guard lock(mutex_);
    if (bytes_ + image.bytes.size() > most_bytes) images_.clear(), bytes_ = 0;
    if (images_.emplace(name, image).second) bytes_ += image.bytes.size();
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    images_.clear(), bytes_ = 0;
  }

  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Image> images_;
  std::size_t bytes_ = 0;
};

Recent& recent() {
  static Recent& of_process = *new Recent;
  return of_process;
}

/// A process that is forked while a thread holds a lock gets the lock, and not the thread.
void hold_locks() {
  current().mutex.lock();
  recent().mutex().lock();
}
void let_locks_go() {
  recent().mutex().unlock();
  current().mutex.unlock();
}

std::shared_ptr<KeptFolder> current_folder() {
  static const int registered = pthread_atfork(&hold_locks, &let_locks_go, &let_locks_go);
  static_cast<void>(registered);
  Current& now = current();
  const std::lock_guard lock(now.mutex);
  if (!now.is_set) {
    const char* const named = secure_getenv("RICCI_COMPILE_CACHE");
    now.folder = opened_folder(named ? named : "", default_compile_cache_bytes);
    now.is_set = true;
  }
  return now.folder;
}

}  // namespace

bool keeps_code() {
  const auto folder = current_folder();
  return folder && folder->is_usable();
}

Image kept_or_made(const std::function<std::string()>& key_of, const std::function<Image()>& make) {
  if (is_listed("RICCI_DUMP", "code")) return make();
  const std::string key = key_of(), name = hash_of("", {key});
  if (std::optional<Image> image = recent().find(name)) return std::move(*image);
  const auto folder = current_folder();
  const bool is_kept = folder && folder->is_usable();
  const std::string entry = is_kept ? folder->name_of(key) : "";
  std::optional<Image> image = is_kept ? folder->find(entry) : std::nullopt;
  if (!image) {
    image = make();
    if (!image->error.empty()) return std::move(*image);
    if (is_kept && image->is_for_all_processes) folder->keep(entry, *image);
  }
  recent().keep(name, *image);
  return std::move(*image);
}

}  // namespace ricci::compiled

namespace ricci {

void set_compile_cache(const std::string& folder, std::int64_t most_bytes) {
  auto opened = compiled::opened_folder(folder, most_bytes);
  compiled::Current& now = compiled::current();
  const std::lock_guard lock(now.mutex);
  now.folder = std::move(opened), now.is_set = true;
  compiled::recent().forget();  // so that what is made again is written to the folder
}

CompileCacheStats compile_cache_stats() {
  const auto folder = compiled::current_folder();
  return folder ? folder->stats() : CompileCacheStats{};
}

}  // namespace ricci
