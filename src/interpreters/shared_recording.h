// What several threads record together, each what it computes: a tape, or the equations of a linearized function.
#pragma once

#include <memory>
#include <mutex>

#include "primitive/running.h"

namespace ricci {

/// Keeps the threads that record apart, and refuses those that go on when the function has ended. One thread alone
/// takes no lock.
class SharedRecording {
 public:
  using Lock = std::unique_lock<std::recursive_mutex>;

  /// From now on other threads record as well, inside the transform with this entry. Requires: none does yet, or it was
  /// called before.
  void share(const Entry& entry) {
    if (!shared_) shared_ = std::make_unique<State>(entry);
  }
  /// The function has ended: who goes on recording gets a TransformError.
  void close() {
    if (const Lock lock = this->lock()) shared_->is_closed = true;
  }
  /// Keeps other threads out while it lives, where there are any.
  Lock lock() const { return shared_ ? Lock(shared_->mutex) : Lock(); }
  /// The same, to record.
  Lock lock_if_open() const {
    Lock lock = this->lock();
    if (lock && shared_->is_closed) raise_ended_elsewhere(shared_->entry);
    return lock;
  }

 private:
  struct State {
    const Entry entry;
    std::recursive_mutex mutex;
    bool is_closed = false;
    explicit State(const Entry& entry) : entry(entry) {}
  };
  std::unique_ptr<State> shared_;  // null: one thread alone records
};

}  // namespace ricci
