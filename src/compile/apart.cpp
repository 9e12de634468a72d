// Runs equations on elements that lie in somebody else's memory.
#include "compile/apart.h"

#include <deque>

#include "kernels/elementwise.h"
#include "kernels/strided.h"
#include "primitive/interpreter.h"
#include "tensor/lent.h"
#include "tensor/value.h"

namespace ricci::compiled {

void run_apart(const Program& apart, Outputs out, Inputs in) {
  std::deque<kernels::RowMajorCopy> copies;
  std::vector<Tensor> inputs;
  for (const Strided& x : in) {
    const Strided rows = kernels::is_contiguous(x) ? x : copies.emplace_back(x).view();
    const Type type{x.dtype, Shape(x.shape, x.shape + x.rank)};
    inputs.push_back(wrap(make_lent(type, rows.data, [](void*, void*) {}, nullptr)));
  }
  const std::vector<Tensor> results = apart(inputs);
  for (std::size_t i = 0; i < results.size(); ++i)
    kernels::copy(out[i], static_cast<const Array&>(*value_of(results[i])).strided());
}

}  // namespace ricci::compiled
