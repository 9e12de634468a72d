// The default dtype: one for all threads, and one that a scope sets for its own.
#include "tensor/default_dtype.h"

#include <string>

#include "ricci/error.h"
#include "tensor/thread_context.h"

namespace ricci {

std::atomic<unsigned> asked_first = 0;

namespace {

std::atomic<DType> of_all_threads = DType::float32;

void require_floating(const char* name, DType dtype) {
  if (is_floating(dtype)) return;
  throw TypeError(std::string(name) + ": " + short_name(dtype) +
                  " is not floating; pass rc::float32, rc::float64, rc::float16 or rc::bfloat16");
}

}  // namespace

DType default_dtype() {
  const std::optional<DType>& of_this_thread = this_thread.default_dtype;
  return of_this_thread ? *of_this_thread : of_all_threads.load(std::memory_order_relaxed);
}

void set_default_dtype(DType dtype) {
  require_floating("set_default_dtype", dtype);
  of_all_threads = dtype;
  asked_first |= another_dtype_was_set;
}

DefaultDType::DefaultDType(DType dtype) : outer_(this_thread.default_dtype) {
  require_floating("DefaultDType", dtype);
  this_thread.default_dtype = dtype;
  asked_first |= another_dtype_was_set;
}

DefaultDType::~DefaultDType() { this_thread.default_dtype = outer_; }

}  // namespace ricci
