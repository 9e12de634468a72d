// A first program with Ricci: the gradient of w·x + sin(x·x) for each row of a batch, and a program read from text
// whose operation nothing here names in C++. Exits with 0 if all are right.
#include <ricci/ricci.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

int main() {
  auto f = [](Tensor w, Tensor x) { return (w * x).sum() + rc::sin((x * x).sum()); };
  const Tensor w = rc::tensor({1., 2.});                                            // [2]
  const Tensor x = rc::tensor({{0., 0.}, {1., 0.}, {1., 2.}});                      // [3,2]
  const Tensor df_dx = rc::vmap(rc::grad<1>(f), {.in_dims = {rc::none, 0}})(w, x);  // [3,2]

  const std::vector<float> given = x.to_vector<float>(), got = df_dx.to_vector<float>();
  for (std::size_t i = 0; i < 6; i += 2) {
    const float slope = 2 * std::cos(given[i] * given[i] + given[i + 1] * given[i + 1]);
    if (std::abs(got[i] - (1 + slope * given[i])) > 1e-5F) return 1;
    if (std::abs(got[i + 1] - (2 + slope * given[i + 1])) > 1e-5F) return 1;
  }
  if (got.size() != 6) return 1;

  const rc::Program read =
      rc::parse_program("program(x: f32[1]) {\n  y: f32[1] = digamma x\n  return y\n}\n", std::vector<Tensor>{});
  const float minus_euler = read({rc::ones({1})})[0].to_vector<float>()[0];
  return std::abs(minus_euler + 0.5772157F) < 1e-6F ? 0 : 1;
}
