// Writes an object file with the Jacobian of a robot's arm, and what the Jacobian is for one posture and for many, as
// arrays in C. model_in_c.c calls the function and compares.
#include <ricci/ricci.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

Tensor hand(const Tensor& angles) {
  const Tensor sums = rc::cumsum(angles, 0);
  return rc::stack({rc::cos(sums).sum(), rc::sin(sums).sum()});
}

void write_array(std::ofstream& out, const std::string& name, const Tensor& x) {
  out << "static const float " << name << "[] = {";
  for (const float value : x.to_vector<float>()) {
    char text[40];
    std::snprintf(text, sizeof text, "%af, ", static_cast<double>(value));
    out << text;
  }
  out << "};\n";
}

}  // namespace

int main() {
  const auto one = rc::compile(rc::jacfwd(hand));
  const auto many = rc::compile(rc::vmap(rc::jacfwd(hand)));
  rc::manual_seed(1);
  const Tensor angles = rc::randn({7}), postures = rc::randn({100, 7});
  rc::export_object(one, "jacobian", angles);
  rc::export_object(many, "jacobians", postures);
  std::ofstream out("expected.h");
  write_array(out, "angles", angles);
  write_array(out, "postures", postures);
  write_array(out, "expected", one(angles));
  write_array(out, "expected_of_many", many(postures));
  return out.good() ? 0 : 1;
}
