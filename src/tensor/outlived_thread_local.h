// A thread-local object that may be asked for after its end. A tensor that outlives its thread's own objects then gets
// null and does without.
#pragma once

namespace ricci {

/// One T for each thread, made when the thread first asks for it. Requires: T belongs to one file (an unnamed
/// namespace).
template <class T>
class OutlivedThreadLocal {
 public:
  /// Null once T's destructor has begun.
  static T* get() { return ended_ ? nullptr : &of_this_thread_; }

 private:
  struct EndsWithThread : T {
    ~EndsWithThread() { ended_ = true; }
  };
  static thread_local EndsWithThread of_this_thread_;
  static thread_local constinit bool ended_;
};

template <class T>
thread_local typename OutlivedThreadLocal<T>::EndsWithThread OutlivedThreadLocal<T>::of_this_thread_;
template <class T>
thread_local constinit bool OutlivedThreadLocal<T>::ended_ = false;

}  // namespace ricci
