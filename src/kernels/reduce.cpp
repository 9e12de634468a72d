// The kinds of reductions, by name.
#include "kernels/reduce.h"

#include <cassert>

#include "kernels/reduce_kinds.h"

namespace ricci::kernels {

DType reduced_dtype(Reduction kind, DType in) {
  switch (kind) {
    case Reduction::sum:
    case Reduction::prod: return is_integral(in) ? DType::int64 : in;
    case Reduction::any:
    case Reduction::all: return DType::boolean;
    case Reduction::count_nonzero: return DType::int64;
    case Reduction::sum_of_squares:
    case Reduction::sum_of_abs:
    case Reduction::max_abs: return real_dtype(in);
    case Reduction::mean:
    case Reduction::max:
    case Reduction::min:
    case Reduction::logsumexp: return in;
  }
  __builtin_unreachable();
}

void reduce(Reduction kind, Strided out, Strided in, const bool* reduced) {
  assert(out.dtype == reduced_dtype(kind, in.dtype));
  switch (kind) {
    case Reduction::sum: return reduce_sum(out, in, reduced);
    case Reduction::mean: return reduce_mean(out, in, reduced);
    case Reduction::prod: return reduce_prod(out, in, reduced);
    case Reduction::max: return reduce_max(out, in, reduced);
    case Reduction::min: return reduce_min(out, in, reduced);
    case Reduction::any: return reduce_any(out, in, reduced);
    case Reduction::all: return reduce_all(out, in, reduced);
    case Reduction::count_nonzero: return reduce_count_nonzero(out, in, reduced);
    case Reduction::sum_of_squares: return reduce_sum_of_squares(out, in, reduced);
    case Reduction::sum_of_abs: return reduce_sum_of_abs(out, in, reduced);
    case Reduction::max_abs: return reduce_max_abs(out, in, reduced);
    case Reduction::logsumexp: return reduce_logsumexp(out, in, reduced);
  }
}

}  // namespace ricci::kernels
