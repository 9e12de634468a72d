// Laws of lane kernels: an operation that says what one element of its result is gives the same bits as machine code,
// alone and for each example of a vmap, for every type of elements.
#include "support/lane_kernels.h"

#include <cstdio>

#include "few_cases.h"
#include "law.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Smooth;
using ricci::DType;
using ricci::Program;
using ricci::Tensor;
namespace compiled = ricci::compiled;

class LaneKernels : public laws::Law {
 protected:
  void SetUp() override {
    Law::SetUp();
    if (!testing_support::makes_kernels()) GTEST_SKIP() << "built without a compiler";
  }
};

/// The same bits where sums are not joined in another order.
double tolerance(const ricci::Rules& rules, DType dtype) {
  const bool adds = rules.kind == ricci::Kind::multilinear || rules.keep != nullptr ||
                    !(rules.formula() || rules.is_view() || rules.accumulation());
  return adds ? 20 * laws::tolerance_of(dtype) * rules.tolerance_factor : 0;
}

/// A function and the kernel of its program for sizes of which some are the number of lanes; not made where an
/// operation says nothing of its elements.
struct Made {
  Program program;
  compiled::MadeKernel made;
  Made(const Function& f, const List& x, std::vector<std::int64_t> sizes)
      : program(ricci::trace([&f](const List& inputs) { return f(inputs); })(x).simplified()),
        made(compiled::lane_kernel(program, {.sizes = std::move(sizes), .most_of_formula = SIZE_MAX})) {}
  const compiled::LaneKernel* kernel() const { return testing_support::kernel_of(made); }
  void expect(const List& x, std::int64_t lanes, double tolerance) const {
    SCOPED_TRACE(to_string(program));
    const List expected = program(x);
    laws::expect_close(testing_support::run(*kernel(), program, x, expected, lanes), expected, tolerance, "kernel");
  }
};

/// All sizes of all inputs, but `lanes` for the first axes.
std::vector<std::int64_t> sizes_of(const List& x, bool first_axes_are_lanes) {
  std::vector<std::int64_t> sizes;
  for (const Tensor& t : x)
    for (std::int64_t axis = 0; axis < t.dim(); ++axis)
      sizes.push_back(first_axes_are_lanes && axis == 0 ? -1 : t.shape()[static_cast<std::size_t>(axis)].host());
  return sizes;
}

List examples(const List& x, int count) {
  List all;
  for (const Tensor& t : x) {
    std::vector<Tensor> rows;
    for (int k = 0; k < count; ++k) rows.push_back(ricci::is_differentiable(t.dtype()) ? t * (1 + 0.03125 * k) : t);
    all.push_back(stack(rows));
  }
  return all;
}

bool is_complex(const List& x) {
  return std::ranges::any_of(x, [](const Tensor& t) { return t.is_complex(); });
}

TEST_P(LaneKernels, GiveTheBitsOfTheOperation) {
  for (const Case& c : laws::cases_to_compile_by_type(rules())) {
    if (is_complex(c.inputs)) continue;
    SCOPED_TRACE(c.text());
    const Made made(c, c.inputs, sizes_of(c.inputs, false));
    const bool says_it = rules().formula() || rules().accumulation() || rules().is_view();
    if (made.kernel() == nullptr) {
      const std::string why = testing_support::why_not(made.made);
      EXPECT_TRUE(!says_it || why == "more than 10000 steps" || why.ends_with("complex elements")) << why;
      continue;
    }
    made.expect(c.inputs, 1, c.inputs.empty() ? 0 : tolerance(rules(), c.inputs[0].dtype()));
    count_case();
  }
}

/// One kernel serves any number of examples: fewer than a register has lanes, as many, and some more.
TEST_P(LaneKernels, GiveTheBitsOfEachExample) {
  for (const Case& c : laws::cases_to_compile_by_type(rules())) {
    if (c.inputs.empty() || is_complex(c.inputs)) continue;
    SCOPED_TRACE(c.text());
    const Function mapped = [&c](const List& x) { return ricci::vmap([&c](const List& one) { return c(one); })(x); };
    const List x = examples(c.inputs, 37);
    const Made made(mapped, x, sizes_of(x, true));
    if (!made.kernel()) continue;
    for (const int count : {37, 2, 3, 8, 9, 16, 64})
      made.expect(examples(c.inputs, count), count, tolerance(rules(), c.inputs[0].dtype()));
    count_case();
  }
}

FOR_ALL_OPERATIONS(LaneKernels);

}  // namespace
