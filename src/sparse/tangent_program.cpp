// Forward mode inside a recording.
#include "sparse/tangent_program.h"

#include "program/program.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"

namespace ricci::sparse {

Program tangent_program(const char* name, const VectorFunction& f, const Tensor& x, std::int64_t columns,
                        where_t where) {
  const auto tangent = [&](const Tensor& point, const Tensor& direction) {
    return runs::jvp({call::any_function<Tensor, Tensor>(f), name, where}, call::any_list(Tensor(point)),
                     call::any_list(Tensor(direction)), false)
        .tangent.take<Tensor>();
  };
  const Tensor shape_alone = zeros({columns}, x.dtype());
  const Program program =
      runs::trace(call::any_function<Tensor, Tensor, Tensor>(tangent), call::any_list(Tensor(x), shape_alone), where)
          .simplified();
  const auto& symbols = program.body().symbols;
  if (!symbols) return program;
  return program.in_call(std::make_shared<const CallSizes>(symbols, std::vector<Size>{columns, columns}));
}

void require_real(const char* name, const char* what, const Type& type) {
  if (is_complex(type.dtype))
    raise<TypeError>(std::string(name) + ": the " + what + " is " + to_string(type) +
                     "; sparse derivatives are those of real functions: pass real and imaginary parts apart");
}

}  // namespace ricci::sparse
