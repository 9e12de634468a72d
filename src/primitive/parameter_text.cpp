// Parameters of operations as text, and compared. What is printed reads back as the same parameter, bit for bit.
#include <algorithm>
#include <charconv>
#include <vector>

#include "ricci/dtype.h"
#include "ricci/primitive/parameters.h"
#include "ricci/program.h"
#include "tensor/symbols.h"

namespace ricci::parameters {

void print(bool value, std::string& out) { out += value ? "true" : "false"; }

void print(std::int64_t value, std::string& out) { out += std::to_string(value); }

void print(double value, std::string& out) {
  char digits[32];  // the shortest that reads back exactly has at most 24
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void print(DType value, std::string& out) { out += short_name(value); }

void print(Size value, std::string& out) { out += symbol_text(value); }

namespace {

class TextWriter : public ParameterVisitor {
 public:
  explicit TextWriter(std::string& out) : ParameterVisitor(Mode::reads), out_(out) {}

  void truth(bool& value) override { print(value, out_); }
  void integer(std::int64_t& value) override { print(value, out_); }
  void real(double& value) override { print(value, out_); }
  void dtype(DType& value) override { print(value, out_); }
  void size(Size& value) override { print(value, out_); }
  void text(std::string& value) override { out_ += value; }
  void program(Program& program) override { program.print_parameter(out_); }
  void object(const ParameterObject& object) override { object.print(object.value, out_); }

  void member(std::size_t number, std::string_view name) override {
    if (number > 0) out_ += ", ";
    out_ += name;
    out_ += '=';
  }
  void open(char bracket) override { out_ += bracket; }
  void element(std::size_t number) override {
    if (number > 0) out_ += ',';
  }
  void close(char bracket) override { out_ += bracket; }
  bool is_there(bool now) override {
    if (!now) out_ += "none";
    return now;
  }

 protected:
  std::string& out_;
};

/// What tells parameters apart: text where that is all there is to a parameter, and the objects that are more.
struct Identity final : TextWriter {
  std::string text_of_values;
  std::vector<ParameterObject> objects;
  std::vector<const Program*> programs;
  Identity(const ParameterRules& rules, const void* parameters) : TextWriter(text_of_values) {
    rules.walk(parameters, *this);
  }
  void program(Program& program) override { programs.push_back(&program); }
  void object(const ParameterObject& object) override {
    out_ += '\n';
    objects.push_back(object);
  }
};

bool are_equal(const ParameterObject& a, const ParameterObject& b) {
  return a.equal != nullptr && a.equal == b.equal && a.equal(a.value, b.value);
}

}  // namespace

void print_members(const void* op, Walk walk, std::string& out) {
  TextWriter writer(out);
  walk(const_cast<void*>(op), writer);
}

}  // namespace ricci::parameters

namespace ricci {

void ParameterRules::print(const void* parameters, std::string& out) const {
  parameters::print_members(parameters, walk_members, out);
}

bool ParameterRules::equal(const void* a, const void* b) const {
  const parameters::Identity x(*this, a), y(*this, b);
  const auto are_same = [](const Program* p, const Program* q) { return *p == *q; };
  return x.text_of_values == y.text_of_values && std::ranges::equal(x.objects, y.objects, parameters::are_equal) &&
         std::ranges::equal(x.programs, y.programs, are_same);
}

}  // namespace ricci
