// vmap_with_index, compiled side: the numbers of the examples, as a value that differs per example.
#include "ricci/transforms/vmap_with_index.h"

#include "interpreters/batch.h"
#include "interpreters/node_memory.h"

namespace ricci::runs {

Tensor example_number() {
  const auto& vmap = static_cast<const BatchInterpreter&>(*this_thread.innermost);
  ValueRef numbers;
  {
    const AtLevel outside(vmap.parent);
    numbers = read(row_numbers(vmap), "vmap_with_index");
  }
  return wrap(new_node<Batched>(vmap.level, std::move(numbers), vmap.lanes));
}

}  // namespace ricci::runs
