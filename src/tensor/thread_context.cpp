// The one thread-local that the way of an operation reads.
#include "tensor/thread_context.h"

namespace ricci {

thread_local constinit ThreadContext this_thread;

}  // namespace ricci
