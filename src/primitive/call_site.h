// Where the user called the library, kept as return addresses: cheap to note, read only where somebody asks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ricci {

class CallSite {
 public:
  static CallSite here();
  /// `train.cpp:89`; nothing where the user's program has no debug information.
  std::string place() const;
  /// `reshape (train.cpp:89)`; nothing as above.
  std::string text() const;
  bool is_known() const { return !calls_.empty() || !place_.empty(); }

 private:
  std::vector<std::uintptr_t> calls_;  // the innermost first
  std::string place_;                  // what a binding says instead
};

}  // namespace ricci
