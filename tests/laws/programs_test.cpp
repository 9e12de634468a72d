// Laws of programs: what is recorded of an operation computes what the operation computes, is well formed, and reads
// back as it was printed.
#include <memory>

#include "interpreters/record.h"
#include "law.h"
#include "ricci/program.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Smooth;
using ricci::Program;
using ricci::Tensor;

class Programs : public laws::Law {};

Program recorded(const Function& f, const List& x) {
  ricci::RecordInterpreter record(ricci::Records::program, {});
  List variables;
  for (const Tensor& input : x) variables.push_back(ricci::wrap(record.add_input(ricci::type_of(input))));
  for (const Tensor& y : f(variables)) record.body->outputs.push_back(record.variable_of(ricci::value_of(y)));
  return Program(ricci::Shared<const ricci::ProgramBody>(new ricci::ProgramBody(*record.body)));
}

void expect_program(const Function& f, const List& x, double tolerance, const char* what) {
  const Program program = recorded(f, x);
  SCOPED_TRACE(to_string(program));
  check(program);
  laws::expect_close(program(x), f(x), tolerance, what);
}

TEST_P(Programs, ComputeWhatWasRecorded) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    expect_program(c, c.inputs, 0, "program");
    count_case();
    const Smooth s = laws::smooth_part(c);
    if (s.empty()) continue;
    const double tolerance = laws::tolerance_of(ricci::float64) * rules().tolerance_factor;
    expect_program(laws::pushforward(s.f), laws::joined(s.x, laws::directions(s.x, 50)), tolerance, "program of jvp");
    expect_program(laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)), tolerance,
                   "program of vjp");
  }
}

TEST_P(Programs, ReadBackAsPrinted) {
  for (const Case& c : laws::cases_of(rules())) {
    SCOPED_TRACE(c.text());
    const std::string text = to_string(recorded(c, c.inputs));
    EXPECT_EQ(to_string(ricci::parse_program(text, {})), text);
    count_case();
  }
}

FOR_ALL_OPERATIONS(Programs);

}  // namespace
