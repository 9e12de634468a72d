// Files of the folder.
#include "compile/kept_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "compile/kept_entry.h"

namespace ricci::compiled {
namespace {

constexpr std::size_t secret_bytes = 32, most_entry_bytes = std::size_t{1} << 28;
constexpr const char* secret_name = "secret";

/// A file, closed at the end.
class File {
 public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  ~File() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

File opened(int folder, const std::string& name, int how) {
  return File(openat(folder, name.c_str(), how | O_CLOEXEC | O_NOFOLLOW, 0600));
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// ── names ──

constexpr std::size_t name_length = 40;
constexpr std::string_view part_begin = ".ricci-", part_end = ".part";

bool is_hexadecimal(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }
bool is_entry(std::string_view name) { return name.size() == name_length && is_hexadecimal(name); }
/// Of a file that is being written.
bool is_part(std::string_view name) { return name.starts_with(part_begin) && name.ends_with(part_end); }

std::string hexadecimal(std::string_view bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  text.pop_back();
  return text;
}
std::string part_name() {
  std::string random(16, '\0');
  randombytes_buf(random.data(), random.size());
  return std::string(part_begin) + hexadecimal(random) + std::string(part_end);
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::string hash_of(std::string_view secret, std::initializer_list<std::string_view> texts) {
  const auto bytes_of = [](std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); };
  std::string result(hash_bytes, '\0');
  crypto_generichash_state state;
  crypto_generichash_init(&state, bytes_of(secret), secret.size(), hash_bytes);
  for (const std::string_view text : texts) crypto_generichash_update(&state, bytes_of(text), text.size());
  crypto_generichash_final(&state, reinterpret_cast<unsigned char*>(result.data()), hash_bytes);
  return result;
}

KeptFolder::KeptFolder(const std::string& folder, std::int64_t most_bytes, const std::string& build)
    : path_(without_slash(folder)), most_bytes_(most_bytes), build_(build) {
  if (build.empty()) {
    give_up(
        "code cannot be told from another build's: the library or its module of code has no build ID, or the module "
        "or /proc/cpuinfo is missing");
  } else if (sodium_init() < 0) {
    give_up("libsodium does not start");
  } else if (open_folder() && !read_secret() && !write_secret() && !read_secret()) {
    give_up("its secret can be neither read nor written; remove the folder, or name another one", errno);
  }
}
KeptFolder::~KeptFolder() {
  if (folder_ >= 0) close(folder_);
}

void KeptFolder::note(const std::string& problem, int error) {
  const std::string text = problem + (error != 0 ? std::string(": ") + std::strerror(error) : "");
  {
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) return;
    problem_ = text;
  }
  std::fprintf(stderr, "ricci: code is not kept in %s: %s\n", path_.c_str(), text.c_str());
}
void KeptFolder::give_up(const std::string& why, int error) {
  note(why, error);
  if (folder_ >= 0) close(folder_);
  folder_ = -1;
}

bool KeptFolder::open_folder() {
  std::error_code failed;
  const std::filesystem::path path(path_);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) return give_up("it cannot be made", errno), false;
  folder_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  struct stat found{};
  if (folder_ < 0 || fstat(folder_, &found) != 0) return give_up("it cannot be opened; name a folder", errno), false;
  if (found.st_uid != geteuid()) return give_up("it belongs to another user; name another one"), false;
  if ((found.st_mode & 077) != 0)
    return give_up("other users may enter it; name another one, or close a new one"), false;
  return true;
}

bool KeptFolder::read_secret() {
  std::optional<std::string> found = read(secret_name);
  if (found && found->size() == secret_bytes) secret_ = std::move(*found);
  else if (found) unlinkat(folder_, secret_name, 0);  // cut off: entries were hashed by another one, so they go, too
  return !secret_.empty();
}
/// False where another process was quicker, too.
bool KeptFolder::write_secret() {
  for (const auto& [name, bytes, used] : files())
    if (!is_entry(name) && !is_part(name)) {
      errno = ENOTEMPTY;  // it is a folder for something else
      return false;
    }
  std::string made(secret_bytes, '\0');
  randombytes_buf(made.data(), made.size());
  if (!write(secret_name, made)) return false;
  secret_ = std::move(made);
  return true;
}

std::optional<std::string> KeptFolder::read(const std::string& name) {
  const File file = opened(folder_, name, O_RDONLY | O_NONBLOCK);
  struct stat found{};
  if (!file.is_open() || fstat(file.number(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  // Others may have written here before the folder was closed to them.
  if (found.st_uid != geteuid() || (found.st_mode & 077) != 0) return std::nullopt;
  if (found.st_size < 0 || static_cast<std::size_t>(found.st_size) > most_entry_bytes) return std::string();
  std::string bytes(static_cast<std::size_t>(found.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  futimens(file.number(), nullptr);  // it was used now
  return bytes;
}

/// Other processes see all of the file or none of it.
bool KeptFolder::write(const std::string& name, std::string_view bytes) {
  const std::string part = part_name();
  bool is_written = false;
  {
    const File file = opened(folder_, part, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open()) return false;
    is_written = write_all(file.number(), bytes) && (name != secret_name || fsync(file.number()) == 0);
  }
  const bool is_secret = name == secret_name;  // the first one stays: others have hashed by it
  if (is_written && is_secret) is_written = linkat(folder_, part.c_str(), folder_, secret_name, 0) == 0;
  else if (is_written) is_written = renameat(folder_, part.c_str(), folder_, name.c_str()) == 0;
  const int error = errno;
  if (!is_written || is_secret) unlinkat(folder_, part.c_str(), 0);
  errno = error;
  return is_written;
}

std::string KeptFolder::name_of(std::string_view key) const {
  return hexadecimal(hash_of(secret_, {build_, "\n", key})).substr(0, name_length);
}

std::optional<Image> KeptFolder::find(const std::string& name) {
  if (!is_usable()) return std::nullopt;
  const std::optional<std::string> bytes = read(name);
  std::optional<Image> image;
  if (bytes && bytes->size() > hash_bytes) {
    const std::string_view all = *bytes, entry = all.substr(0, all.size() - hash_bytes);
    const std::string wanted = hash_of(secret_, {name, entry});
    if (sodium_memcmp(wanted.data(), all.data() + entry.size(), hash_bytes) == 0) image = image_in(entry);
  }
  ++(image ? hits_ : misses_);
  if (bytes && !image) ++refused_;
  return image;
}

void KeptFolder::keep(const std::string& name, const Image& image) {
  if (!is_usable()) return;
  std::string entry = entry_of(image);
  if (entry.size() + hash_bytes > most_entry_bytes) return;
  entry += hash_of(secret_, {name, entry});
  if (!write(name, entry)) return note("an entry cannot be written", errno);
  const std::lock_guard lock(mutex_);
  if (bytes_ >= 0) bytes_ += static_cast<std::int64_t>(entry.size());
  if (bytes_ < 0 || bytes_ > most_bytes_) remove_oldest();
}

/// What lies in the folder, but the secret.
std::vector<KeptFolder::Found> KeptFolder::files() const {
  const int listed = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(listed < 0 ? nullptr : fdopendir(listed), closedir);
  std::vector<Found> all;
  while (const dirent* const each = list ? readdir(list.get()) : nullptr) {
    struct stat found{};
    const std::string name = each->d_name;
    if (name == secret_name || name == "." || name == ".." ||
        fstatat(folder_, each->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    all.push_back({name, found.st_size, found.st_mtim});
  }
  return all;
}

/// Counts the entries, and removes some where they are too much. Other processes may do the same. Files of others stay.
void KeptFolder::remove_oldest() {
  const auto is_before = [](const timespec& a, const timespec& b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
  };
  constexpr std::time_t an_hour = 3600;
  const std::time_t now = std::time(nullptr);
  std::vector<Found> entries;
  bytes_ = 0;
  for (Found& file : files()) {
    const bool is_left_over = is_part(file.name) && now - file.used.tv_sec > an_hour;  // of a process that was killed
    if (is_left_over) unlinkat(folder_, file.name.c_str(), 0);
    if (!is_entry(file.name)) continue;
    bytes_ += file.bytes;
    entries.push_back(std::move(file));
  }
  if (bytes_ <= most_bytes_) return;
  std::ranges::sort(entries, is_before, &Found::used);
  for (const Found& entry : entries) {
    if (bytes_ <= most_bytes_ / 4 * 3) break;
    unlinkat(folder_, entry.name.c_str(), 0);
    bytes_ -= entry.bytes;
  }
}

CompileCacheStats KeptFolder::stats() const {
  const std::lock_guard lock(mutex_);
  return {hits_, misses_, refused_, problem_};
}

}  // namespace ricci::compiled
