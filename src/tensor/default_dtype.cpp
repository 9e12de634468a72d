// The default dtype: one for all threads, and one that a scope sets for its own.
#include "tensor/default_dtype.h"

#include <string>
#include <utility>

#include "ricci/error.h"

namespace ricci {

std::atomic<unsigned> asked_first = 0;

namespace {

constexpr int not_set = -1;
std::atomic<DType> of_all_threads = DType::float32;
thread_local constinit int of_this_thread = not_set;

void require_floating(const char* name, DType dtype) {
  if (is_floating(dtype)) return;
  throw TypeError(std::string(name) + ": " + short_name(dtype) +
                  " is not floating; pass rc::float32, rc::float64, rc::float16 or rc::bfloat16");
}

}  // namespace

DType default_dtype() {
  return of_this_thread != not_set ? static_cast<DType>(of_this_thread)
                                   : of_all_threads.load(std::memory_order_relaxed);
}

std::optional<DType> scoped_default_dtype() {
  if (of_this_thread == not_set) return std::nullopt;
  return static_cast<DType>(of_this_thread);
}

void set_scoped_default_dtype(std::optional<DType> dtype) {
  of_this_thread = dtype ? static_cast<int>(*dtype) : not_set;
}

void set_default_dtype(DType dtype) {
  require_floating("set_default_dtype", dtype);
  of_all_threads = dtype;
  asked_first |= another_dtype_was_set;
}

DefaultDType::DefaultDType(DType dtype) : outer_(of_this_thread) {
  require_floating("DefaultDType", dtype);
  of_this_thread = static_cast<int>(dtype);
  asked_first |= another_dtype_was_set;
}

DefaultDType::~DefaultDType() { of_this_thread = outer_; }

}  // namespace ricci
