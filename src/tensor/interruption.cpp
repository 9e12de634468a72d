// The one function that may end long work.
#include "ricci/interruption.h"

#include <atomic>

namespace ricci {
namespace {

std::atomic<Interruption> asked = nullptr;

}  // namespace

void set_interruption(Interruption check) { asked = check; }

void allow_interruption() {
  if (const Interruption check = asked.load(std::memory_order_relaxed)) check();
}

}  // namespace ricci
