// W19: implicit material updates at one, 1,000 and 20,000 points.
#include "w19_material_points.h"

#include "cases.h"
#include "inputs.h"

namespace rc = ricci;
using rc::Tensor;

std::vector<bench::Case> bench::material_points() {
  std::vector<Case> cases;
  for (const std::int64_t points : {1, 1000, 20000}) {
    cases.push_back(make_case(points == 1 ? "W19/one_point" : "W19/points_" + std::to_string(points), [points] {
      const Tensor strains = 0.002 * uniform({points, 6}, 190).to(rc::float64);
      return call(rc::vmap(bench::material::update), strains, uniform({points}, 191, 0, 0.01).to(rc::float64));
    }));
  }
  return within(1e-6, std::move(cases));  // Newton stops at 1e-10
}
