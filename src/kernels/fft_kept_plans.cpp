// A list in the order of use. It is short, and most lengths are found near its end.
#include "kernels/fft_kept_plans.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace ricci::kernels {
namespace {

class KeptPlans {
 public:
  AnyPlan find(const PlanKey& key) {
    const std::lock_guard lock(mutex_);
    return find_locked(key);
  }
  void keep(const PlanKey& key, AnyPlan plan, std::size_t bytes) {
    if (bytes > most_bytes_of_plans) return;
    const std::lock_guard lock(mutex_);
    if (find_locked(key)) return;
    while (entries_.size() == most || bytes_ + bytes > most_bytes_of_plans) {
      bytes_ -= entries_.front().bytes;
      entries_.erase(entries_.begin());
    }
    entries_.push_back({key, std::move(plan), bytes});
    bytes_ += bytes;
  }
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    PlanKey key;
    AnyPlan plan;
    std::size_t bytes;
  };

  AnyPlan find_locked(const PlanKey& key) {
    const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.key == key; });
    if (found == entries_.rend()) return {};
    std::rotate(entries_.rbegin(), found, found + 1);
    return entries_.back().plan;
  }

  static constexpr std::size_t most = 64;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // the one used last at the back
  std::size_t bytes_ = 0;
};

KeptPlans& plans() {
  static KeptPlans all;
  return all;
}

}  // namespace

std::size_t bytes_of_kept_plans() { return plans().bytes(); }
AnyPlan kept_plan(const PlanKey& key) { return plans().find(key); }
void keep_plan(const PlanKey& key, AnyPlan plan, std::size_t bytes) { plans().keep(key, std::move(plan), bytes); }

}  // namespace ricci::kernels
