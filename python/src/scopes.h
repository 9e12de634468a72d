// What `with` enters on one thread, for scopes that C++ ends in reverse order. Start with `Scopes`.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace ricci::python {

/// The scopes that are open on a thread. Scopes may be left in any order: where A was entered before B and is left
/// first, as two suspended generators do, A ends together with B.
template <class Guard>
class Scopes {
 public:
  Scopes() = default;
  Scopes(const Scopes&) = delete;
  ~Scopes() {
    while (!open_.empty()) open_.pop_back();
  }

  void enter(const void* owner, std::unique_ptr<Guard> guard) { open_.push_back({owner, std::move(guard)}); }
  bool is_open(const void* owner) const {
    for (const Scope& scope : open_)
      if (scope.owner == owner) return true;
    return false;
  }
  /// Leaves the last that the owner has entered; false if there is none.
  bool leave(const void* owner) {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i].owner != owner) continue;
      open_[i].owner = nullptr;
      while (!open_.empty() && !open_.back().owner) open_.pop_back();
      return true;
    }
    return false;
  }

 private:
  struct Scope {
    const void* owner;  // null once it is left
    std::unique_ptr<Guard> guard;
  };
  std::vector<Scope> open_;
};

}  // namespace ricci::python
