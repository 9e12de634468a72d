// Where the user called the library, kept as return addresses: cheap to note, read only where somebody asks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ricci {

class CallSite {
 public:
  static CallSite here();
  /// `reshape (train.cpp:89)`; nothing where the user's program has no debug information.
  std::string text() const;

 private:
  std::vector<std::uintptr_t> calls_;  // the innermost first
};

}  // namespace ricci
