// How many references there are to something shared. Knows nothing of what it is.
#pragma once

#include <atomic>
#include <cstdint>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace ricci {

/// False where no other thread has ever existed: the user's, or the pool's, which start with the first work that is
/// worth a second thread.
inline bool may_be_other_threads() noexcept {
#if __has_include(<sys/single_threaded.h>)
  return !__libc_single_threaded;
#else
  return true;
#endif
}

/// Counts with locked instructions, which cost as much as a small operation's arithmetic, only where other threads
/// exist or have existed.
class RefCount {
 public:
  void add() noexcept {
    if (is_only_thread()) count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else count_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Gives up one reference; true if it was the last. A sole owner needs no locked instruction: nobody else can take a
  /// reference meanwhile.
  bool drop() noexcept {
    const std::uint32_t count = count_.load(std::memory_order_acquire);
    if (count == 1) return true;
    if (!is_only_thread()) return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    count_.store(count - 1, std::memory_order_relaxed);
    return false;
  }
  bool is(std::uint32_t count) const noexcept { return count_.load(std::memory_order_acquire) == count; }
  /// Requires: nobody else can see it.
  void reset(std::uint32_t count) noexcept { count_.store(count, std::memory_order_relaxed); }

 private:
  static bool is_only_thread() noexcept { return !may_be_other_threads(); }

  std::atomic<std::uint32_t> count_ = 1;
};

}  // namespace ricci
