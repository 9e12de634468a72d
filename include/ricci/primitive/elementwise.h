// The bridge from an elementwise primitive to its loops. Included by files that define elementwise primitives; brings
// in the scalar words and the instruction set of the including file.
#pragma once

#include "ricci/primitive.h"
#include "ricci/primitive/loop.h"
#include "ricci/primitive/scalar.h"

namespace ricci::erase {

template <class P>
const LoopTable* loops_for() {
  static constexpr LoopTable table = loops_of<P>();
  return &table;
}

}  // namespace ricci::erase
