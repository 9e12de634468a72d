// What is made from a program once and kept with it: derived programs, plans. Knows nothing of what is made.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ricci {

/// Any thread may ask. A copy is another program's, with nothing in it.
class MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(const MadeOnce&) {}
  MadeOnce& operator=(const MadeOnce&) { return *this; }

  /// What `make()`, a shared_ptr, gave under this key the first time. Null is not kept. Where two threads make it at
  /// once, both get the first one's.
  template <class T, class Make>
  std::shared_ptr<const T> get(const std::string& key, const Make& make) const {
    if (auto known = find(key)) return std::static_pointer_cast<const T>(known);
    const std::shared_ptr<const T> made = make();
    if (!made) return made;
    const std::lock_guard lock(mutex_);
    return std::static_pointer_cast<const T>(all_.try_emplace(key, made).first->second);
  }

 private:
  std::shared_ptr<const void> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto known = all_.find(key);
    return known == all_.end() ? nullptr : known->second;
  }

  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const void>> all_;
};

}  // namespace ricci
