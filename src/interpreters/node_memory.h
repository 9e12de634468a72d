// Pool memory for the values that interpreters make.
#pragma once

#include <new>

#include "tensor/pool.h"
#include "tensor/value.h"

namespace ricci {

template <class V, class... A>
ValueRef new_node(A&&... arguments) {
  return ValueRef::adopt(new (pool::allocate(sizeof(V))) V(std::forward<A>(arguments)...));
}

template <class V>
void destroy_node(V* value) noexcept {
  value->~V();
  pool::release(value, sizeof(V));
}

}  // namespace ricci
