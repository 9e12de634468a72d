// Pool memory for the values that interpreters make.
#pragma once

#include <new>
#include <utility>

#include "ricci/primitive/pool.h"
#include "tensor/value.h"

namespace ricci {

template <class V, class... A>
ValueRef new_node(A&&... arguments) {
  void* memory = pool::allocate(sizeof(V));
  try {
    return ValueRef::adopt(new (memory) V(std::forward<A>(arguments)...));
  } catch (...) {
    pool::release(memory, sizeof(V));
    throw;
  }
}

template <class V>
void destroy_node(V* value) noexcept {
  value->~V();
  pool::release(value, sizeof(V));
}

}  // namespace ricci
