// How the library itself notes spans of time. Start with `Noted`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ricci/profile.h"
#include "tensor/asked_first.h"

namespace ricci::profile {

/// Nanoseconds by the clock that spans are noted with.
std::int64_t now();
/// Notes a span that ends now.
void note(std::string_view name, const char* category, std::int64_t begin) noexcept;

/// A span, while it lives. Costs a look at one flag where no profile runs.
class Noted {
 public:
  Noted(const char* name, const char* category) {
    if (is_so(a_profile_runs)) [[unlikely]]
      begin(name, category);
  }
  Noted(const Noted&) = delete;
  ~Noted() {
    if (name_) [[unlikely]]
      end();
  }

  /// The innermost one on this thread; null where there is none.
  static const char* innermost();

 private:
  void begin(const char* name, const char* category);
  void end() noexcept;
  const char* name_ = nullptr;
  const char* category_ = nullptr;
  const char* around_ = nullptr;
  std::int64_t begin_ = 0;
};

/// Of several processes that run one program: the number of this one.
void set_rank(int rank);

}  // namespace ricci::profile
