// A plan that a thread makes, while calls run another one.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace ricci::compiled {

struct ProgramPlan;

class LaterPlan {
 public:
  /// Gives null where there is no plan. Ends early where `is_dropped` becomes true: nobody waits for the plan then.
  using Make = std::function<std::shared_ptr<const ProgramPlan>(const std::atomic<bool>& is_dropped)>;

  explicit LaterPlan(Make make) : make_(std::move(make)) {}
  LaterPlan(const LaterPlan&) = delete;
  /// Waits for a thread that is at work. The plan is dropped, so that takes as long as the code of one kernel.
  ~LaterPlan();

  /// The first time: starts the thread. Where the system has none left, makes the plan at once.
  void begin();
  /// Null while the plan is not there.
  const std::shared_ptr<const ProgramPlan>& if_made() const { return is_made_ ? plan_ : none_; }
  void wait();

 private:
  void run() noexcept;

  Make make_;
  std::shared_ptr<const ProgramPlan> plan_;
  const std::shared_ptr<const ProgramPlan> none_;
  std::atomic<bool> has_begun_ = false, is_made_ = false, is_dropped_ = false;
  std::mutex mutex_;    // of the thread
  pid_t process_ = -1;  // that the thread belongs to
  std::thread thread_;
};

}  // namespace ricci::compiled
