// The number of threads, as users set it.
#include "ricci/threads.h"

#include <string>

#include "ricci/primitive/parallel.h"
#include "ricci/primitive/raise.h"

namespace ricci {

int num_threads() { return kernels::thread_count(); }

void set_num_threads(int n) {
  if (n < 1) {
    raise<ValueError>("set_num_threads: got " + std::to_string(n) +
                      "; pass 1 or more, where 1 computes on the calling thread alone");
  }
  kernels::set_thread_count(n);
}

}  // namespace ricci
