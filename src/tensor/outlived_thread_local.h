// A thread-local object that may be asked for after its end. A tensor that outlives its thread's own objects then gets
// null and does without. Of thread-local storage it takes a few words, whatever the size of the object: a program that
// loads the library by dlopen finds its thread-locals a place only while they are small.
#pragma once

#include <new>
#include <utility>

namespace ricci {

/// One T for each thread, made when the thread first asks for it. Requires: T belongs to one file (an unnamed
/// namespace); making it throws nothing.
template <class T>
class OutlivedThreadLocal {
 public:
  /// Null once T's destructor has begun, and where there is no memory for a T.
  static T* get() {
    T* const mine = of_this_thread_;
    return mine ? mine : make();
  }

 private:
  struct EndsWithThread {
    ~EndsWithThread() {
      ended_ = true;
      delete std::exchange(of_this_thread_, nullptr);
    }
  };
  [[gnu::noinline]] static T* make() {
    if (ended_) return nullptr;
    [[maybe_unused]] static thread_local EndsWithThread ends;
    return of_this_thread_ = new (std::nothrow) T;
  }
  static thread_local constinit T* of_this_thread_;
  static thread_local constinit bool ended_;
};

template <class T>
thread_local constinit T* OutlivedThreadLocal<T>::of_this_thread_ = nullptr;
template <class T>
thread_local constinit bool OutlivedThreadLocal<T>::ended_ = false;

}  // namespace ricci
