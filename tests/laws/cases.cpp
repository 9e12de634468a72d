// Where the inputs of the laws come from.
#include "cases.h"

#include <algorithm>
#include <complex>
#include <random>
#include <string_view>

#include "ricci/primitive/loop_table.h"

namespace laws {

using ricci::Rules;
using ricci::Shape;

namespace {

bool is_smooth(const Tensor& x) { return ricci::is_differentiable(x.dtype()); }

/// Numbers an element type can hold, of moderate size.
struct Range {
  double low, high;
};
Range range_for(const Rules& rules, DType dtype) {
  Range range{rules.domain.low, rules.domain.high};
  if (dtype == ricci::boolean) return {0, 2};
  if (!ricci::is_integral(dtype)) return range;
  range.low = dtype == ricci::uint8 ? std::max(0.0, std::ceil(range.low)) : std::ceil(range.low);
  return {range.low, std::max(range.low + 1, std::floor(range.high) + 1)};
}

std::vector<std::vector<Shape>> shapes_for(int inputs) {
  if (inputs == 1) return {{{}}, {{3}}, {{2, 3}}, {{0}}};
  if (inputs == 2) return {{{3}, {3}}, {{2, 3}, {3}}, {{}, {3}}, {{2, 1}, {2, 3}}, {{}, {}}, {{0, 1}, {3}}};
  std::vector<Shape> same, mixed;
  for (int i = 0; i < inputs; ++i) {
    same.push_back({3});
    mixed.push_back(i % 3 == 0 ? Shape{2, 3} : i % 3 == 1 ? Shape{3} : Shape{});
  }
  return {same, mixed};
}

DType main_dtype(const ricci::LoopTable& table) {
  for (DType dtype : {ricci::float64, ricci::int64, ricci::boolean})
    if (table.loop(dtype)) return dtype;
  return ricci::complex128;
}

}  // namespace

std::string Case::text() const {
  std::string text = rules->name, members;
  rules->parameters.print(parameters.get(), members);
  if (!members.empty()) text += "[" + members + "]";
  for (const Tensor& x : inputs) text += " " + to_string(ricci::type_of(x));
  return text;
}

List Case::operator()(const List& x) const {
  const ricci::Tensors y = ricci::apply_all(op(), x);
  return {y.begin(), y.end()};
}

void Case::write(const Tensor& target, const List& x) const {
  std::vector<const Tensor*> pointers;
  for (const Tensor& operand : x) pointers.push_back(&operand);
  ricci::apply_into(target, op(), pointers.data(), pointers.size());
}

bool fits(const Tensor& y, const Tensor& target) {
  return y.shape() == target.shape() && ricci::category(y.dtype()) <= ricci::category(target.dtype());
}

std::vector<const Rules*> operations() {
  std::vector<const Rules*> all = ricci::registry();
  std::sort(all.begin(), all.end(), [](const Rules* a, const Rules* b) { return std::string_view(a->name) < b->name; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<const Rules*> elementwise_operations() {
  std::vector<const Rules*> all = operations();
  std::erase_if(all, [](const Rules* rules) { return rules->kind != ricci::Kind::elementwise; });
  return all;
}

Tensor uniform(const Shape& shape, DType dtype, double low, double high, unsigned seed) {
  std::mt19937 bits(seed * 7919 + 17);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<std::complex<double>> values(static_cast<std::size_t>(shape.numel().host()));
  for (auto& value : values) {
    const double re = draw(bits), im = draw(bits);
    value = ricci::is_integral(dtype) ? std::floor(re) : ricci::is_complex(dtype) ? std::complex(re, im) : re;
  }
  return reshape(ricci::tensor(values).to(dtype), shape).clone();
}

List directions(const List& like, unsigned seed) {
  List t;
  for (const Tensor& x : like) t.push_back(uniform(x.shape(), x.dtype(), -1, 1, seed++));
  return t;
}

namespace {

/// An operation without parameters on inputs that are made up for it.
std::vector<Case> made_up(const Rules& rules, DType dtype) {
  const ricci::LoopTable& table = *rules.loops();
  if (rules.parameters.size > 0) return {};  // only its samples know the parameters
  std::vector<Case> cases;
  unsigned seed = 1;
  for (const std::vector<Shape>& shapes : shapes_for(table.inputs)) {
    Case c{&rules, {}, {}};
    for (int i = 0; i < table.inputs; ++i) {
      const bool condition = (table.conditions >> i) & 1U;
      const DType own = condition ? ricci::boolean : dtype;
      const Range range = range_for(rules, own);
      c.inputs.push_back(uniform(shapes[static_cast<std::size_t>(i)], own, range.low, range.high, seed++));
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

std::vector<Case> cases_of(const Rules& rules) {
  std::vector<Case> cases;
  if (rules.kind == ricci::Kind::elementwise) cases = made_up(rules, main_dtype(*rules.loops()));
  if (!rules.samples) return cases;
  ricci::manual_seed(7);
  for (const ricci::ErasedSample& sample : rules.samples())
    cases.push_back(converted({&rules, sample.op, sample.inputs}, ricci::float64));
  return cases;
}

Case converted(const Case& c, DType dtype) {
  Case other = c;
  for (Tensor& x : other.inputs)
    if (is_smooth(x)) x = x.to(ricci::is_complex(x.dtype()) ? ricci::complex_dtype(dtype) : dtype).clone();
  return other;
}

std::vector<Case> elementwise_cases(const Rules& rules, DType dtype) {
  std::vector<Case> cases = made_up(rules, dtype);
  if (cases.empty() && ricci::is_floating(dtype))
    for (const Case& c : cases_of(rules)) cases.push_back(converted(c, dtype));
  return cases;
}

Case complexified(const Case& c) {
  const bool linear = c.rules->kind == ricci::Kind::linear || c.rules->kind == ricci::Kind::multilinear;
  const bool has_loop = c.rules->kind == ricci::Kind::elementwise && c.rules->loops()->loop(ricci::complex128);
  const Case undefined{c.rules, c.parameters, {}};
  if (!linear && !has_loop) return undefined;
  Case other = c;
  unsigned seed = 40;
  for (Tensor& x : other.inputs)
    if (is_smooth(x)) x = x.to(ricci::complex128) + uniform(x.shape(), ricci::complex128, -0.5, 0.5, seed++);
  try {
    other(other.inputs);
    return other;
  } catch (const ricci::TypeError&) { return undefined; }
}

Smooth smooth_part(const Case& c) {
  Smooth smooth;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    if (is_smooth(c.inputs[i])) {
      places.push_back(i);
      smooth.x.push_back(c.inputs[i]);
    }
  smooth.f = [c, places](const List& x) {
    List inputs = c.inputs, y;
    for (std::size_t i = 0; i < places.size(); ++i) inputs[places[i]] = x[i];
    for (Tensor& out : c(inputs))
      if (is_smooth(out)) y.push_back(std::move(out));
    return y;
  };
  smooth.y = smooth.f(smooth.x);
  return smooth;
}

Smooth by_input(const Smooth& s, std::size_t input) {
  const Function f = [s, input](const List& x) {
    List all = s.x;
    all[input] = x[0];
    return s.f(all);
  };
  return {f, {s.x[input]}, s.y};
}

Smooth to_output(const Smooth& s, std::size_t output) {
  const Function f = [s, output](const List& x) { return List{s.f(x)[output]}; };
  return {f, s.x, {s.y[output]}};
}

}  // namespace laws
