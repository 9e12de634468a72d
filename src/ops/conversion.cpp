// The same values in another element type, in memory of their own, or without their derivative. Start with `Cast`.
#include <complex>

#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "primitive/writing.h"
#include "program/structure.h"
#include "ricci/no_grad.h"
#include "ricci/primitive/element_rules.h"

namespace ricci {
namespace {

/// A dtype, of a tensor or of a number.
struct WantedDType {
  DType dtype;
  bool weak = false;

  void print_parameter(std::string& out) const {
    if (weak) out += "weak ";
    parameters::print(dtype, out);
  }
  void parse_parameter(std::string_view& text) {
    weak = parameters::take(text, "weak ");
    parameters::parse(dtype, text);
  }
  bool operator==(const WantedDType&) const = default;
};

struct Cast {
  using kind = Linear;
  static constexpr const char* name = "to";
  static constexpr unsigned moves_elements = all_inputs;
  WantedDType dtype;

  Type type(const Type& x) const { return {dtype.dtype, x.shape, dtype.weak}; }
  void eval(Outputs out, Inputs in) const { kernels::copy(out[0], in[0]); }
  Tensor transpose(const Tensor& ct, const Type& input) const { return to(ct, input.dtype); }
  Cast lifted() const { return *this; }
  static std::vector<Sample<Cast>> samples() {
    const Tensor z = mul(rand({2, 3}), std::complex<double>(1, 2));
    return {{{{DType::float64}}, {rand({2, 3})}},
            {{{DType::complex128}}, {rand({3})}},
            {{{DType::float64}}, {z}},
            {{{DType::int64}}, {mul(rand({4}), 5)}},
            {{{DType::boolean}}, {rand({})}},
            {{{DType::float64, true}}, {rand({})}}};
  }
};

struct Clone {
  using kind = Linear;
  static constexpr const char* name = "clone";
  static constexpr unsigned moves_elements = all_inputs;

  Type type(const Type& x) const { return x; }
  void eval(Outputs out, Inputs in) const { kernels::copy(out[0], in[0]); }
  Tensor transpose(const Tensor& ct) const { return ct; }
  Clone lifted() const { return {}; }
  Structure structure() const { return Copied{}; }
  static std::vector<Sample<Clone>> samples() {
    return {{{}, {rand({2, 3})}}, {{}, {rand({})}}, {{}, {mT(rand({2, 3}))}}};
  }
};
}  // namespace

Tensor to_type(const Tensor& x, DType dtype, bool weak) {
  require_defined("to", x, 0);
  const Type& have = value_of(x)->type;
  return have.dtype == dtype && have.weak == weak ? x : apply(Cast{{dtype, weak}}, x);
}

namespace ops {

Tensor to(const Tensor& x, DType dtype) { return to_type(x, dtype, false); }
Tensor clone(const Tensor& x) { return apply(Clone{}, x); }
Tensor detach(const Tensor& x) {
  require_defined("detach", x, 0);
  const no_grad guard;
  return wrap(with_own_elements(read(x.is_contiguous() ? x : clone(x), "detach")));
}

}  // namespace ops
}  // namespace ricci
