// What a program can ask of the library that is a template, an overload or a conversion: it must compile without a
// warning and link with either compiler, whichever built the library. Exits with 0 if what it computes is right.
#include <ricci/primitive.h>
#include <ricci/primitive/elementwise.h>
#include <ricci/primitive/reduction.h>
#include <ricci/ricci.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

int wrong = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::cerr << "wrong: " << what << "\n";
  ++wrong;
}

bool same(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && rc::equal(a, b); }

template <class T>
void number_and_list() {
  const T one(1);
  expect(rc::tensor(one).template item<T>() == one, "a number");
  expect(rc::tensor(one, rc::float64).dtype() == rc::float64, "a number of a dtype");
  const Tensor list = rc::tensor(std::vector<T>{one, one});
  expect(list.dtype() == rc::dtype_of<T>, "a list keeps its type");
  expect(list.template to_vector<T>() == std::vector<T>{one, one}, "a list and back");
  if constexpr (!std::is_same_v<T, bool>) expect(list.template data<T>()[1] == one, "its elements");
}

struct Layer {
  Tensor weight, bias;
};
struct Model {
  std::vector<Layer> layers;
  std::map<std::string, Tensor> more;
  std::optional<Tensor> scale;
  double rate = 0.5;
};

Tensor loss(const Model& m, const Tensor& x) {
  Tensor y = x;
  for (const Layer& layer : m.layers) y = tanh(rc::linear(y, layer.weight, layer.bias));
  return (y * m.more.at("shift") * *m.scale).sum() * m.rate;
}

struct Twice : rc::Function<Twice> {
  static Tensor forward(const Tensor& x) { return x * 2; }
  static void setup_context(rc::Context&, const std::tuple<Tensor>&, const Tensor&) {}
  static Tensor backward(rc::Context&, const Tensor& ct) { return ct * 2; }
  static constexpr bool generate_vmap_rule = true;
};

struct Cube {
  using kind = rc::Elementwise;
  static constexpr const char* name = "consumer_cube";
  static constexpr unsigned keeps = rc::input(0);
  template <class T>
  auto formula(T x) const {
    return x * x * x;
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return 3 * x * x; }
  static double reference(double x) { return x * x * x; }
};

void from_values() {
  number_and_list<bool>();
  number_and_list<std::uint8_t>();
  number_and_list<std::int8_t>();
  number_and_list<std::int16_t>();
  number_and_list<std::int32_t>();
  number_and_list<std::int64_t>();
  number_and_list<long long>();
  number_and_list<float>();
  number_and_list<double>();
  number_and_list<std::complex<float>>();
  number_and_list<std::complex<double>>();
  expect(rc::tensor('a').dtype() == rc::int64 && rc::tensor(1UL).dtype() == rc::int64, "integers");
  const std::array<std::array<float, 2>, 3> rows{{{1, 2}, {3, 4}, {5, 6}}};
  expect(same(rc::tensor(rows), rc::tensor({{1., 2.}, {3., 4.}, {5., 6.}})), "lists within lists");
  expect(same(rc::tensor(std::span<const std::array<float, 2>>(rows)), rc::tensor(rows)), "a span");
  const rc::Half half(0.5F);
  expect(rc::tensor(std::vector<rc::Half>{half}).item<float>() == 0.5F, "halves");
  const std::complex<double> i(0, 1);
  expect((rc::tensor({i, i * 2.}) * i).sum().item<std::complex<float>>() == std::complex<float>(-3, 0),
         "complex numbers");
}

void indices() {
  const Tensor x = rc::arange(6).reshape({2, 3}).clone(), k = rc::tensor({1});
  const auto row = [&](bool one) {
    if (one) return x[k];
    return x;
  };
  expect(row(true).shape() == rc::Shape{1, 3} && row(false).is_same(x), "a branch of an index");
  auto y = x[std::size_t{1}];
  y = y + 1;
  expect(same(x[1U], rc::tensor({3, 4, 5})), "a named row stands for another");
  x[k] = 0;
  x[rc::Slice(0, 1)] += 1;
  x.index({0, rc::ellipsis, -1}) = 9;
  expect(same(x, rc::tensor({{1, 2, 9}, {0, 0, 0}})), "writes by index");
  std::int64_t sum = 0;
  for (Tensor r : x) sum += r.sum().item<std::int64_t>();
  expect(sum == 12, "rows");
}

void transforms() {
  const Tensor x = rc::tensor({0.5, 1., 1.5});
  const Model m{{{rc::eye(3), rc::zeros({3})}}, {{"shift", rc::ones({3})}}, rc::ones({}), 0.5};
  const Model g = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0}})(m, rc::stack({x, x}));
  expect(g.layers[0].weight.shape() == rc::Shape{2, 3, 3} && g.scale->shape() == rc::Shape{2}, "trees");
  const auto square_sum = [](const Tensor& a, const Tensor& b) { return (a * a * b).sum(); };
  const auto [of_a, of_b] = rc::grad<0, -1>(square_sum)(x, x);
  expect(rc::allclose(of_a, 2 * x * x) && rc::allclose(of_b, x * x), "argnums");
  expect(rc::hessian([](Tensor a) { return a.prod(); })(x).shape() == rc::Shape{3, 3}, "hessian");
  expect(same(rc::grad(rc::sum)(x), rc::ones({3})) && rc::vmap(rc::add)(x, x).shape() == x.shape(), "names");
  const auto [value, pullback] = rc::vjp(Twice::apply<Tensor>, x);
  expect(same(pullback(rc::ones({3})), rc::full({3}, 2.)), "a function with rules");
  expect(rc::allclose(rc::grad([](Tensor a) { return rc::apply(Cube{}, a).sum(); })(x), 3 * x * x), "a primitive");
  const auto [out, slope] = rc::jvp([](Tensor a) { return a * a; }, x, x);
  expect(rc::allclose(slope, 2 * out), "jvp");
  const Tensor counted = rc::fori_loop(0, 3, [](Tensor, Tensor s) { return s + 1; }, rc::zeros({}));
  const Tensor chosen = rc::cond(counted > 2, [](Tensor a) { return a; }, [](Tensor a) { return -a; }, counted);
  expect(chosen.item() == 3, "control");
}

Tensor cube(const Tensor& x) { return x * x * x; }
Tensor one_more(const Tensor&, const Tensor& x) { return x + 1; }

/// What is passed is the function itself, no lambda.
void functions() {
  const Tensor two = rc::tensor(2.);
  expect(same(rc::grad(cube)(two), rc::tensor(12.)) && same(rc::checkpoint(cube)(two), rc::tensor(8.)), "derivatives");
  expect(same(rc::cond(two > 1, cube, cube, two), rc::tensor(8.)), "branches");
  expect(same(rc::fori_loop(0, 3, one_more, two), rc::tensor(5.)), "a step");
}

void printing() {
  const Tensor x = rc::tensor({0.5, 1.});
  expect(rc::to_string(x) == "[0.5,   1] f32[2]" && rc::to_string(x.dtype()) == "float32", "text");
  std::cout << x << x.dtype() << x.shape() << "\n";
}

/// The greatest size of an element.
struct GreatestSize {
  using kind = rc::Explicit;
  using elements = rc::reduction::Magnitudes;
  static constexpr const char* name = "consumer_greatest_size";
  static constexpr bool locally_constant = true;
  static constexpr double start = 0;
  rc::Axes axes;

  template <class T>
  auto term(T x) const {
    return rc::scalar::abs(x);
  }
  template <class T>
  auto join(T a, T b) const {
    return rc::scalar::max(a, b);
  }
  rc::Type type(const rc::Type& x) const { return rc::reduced_type(*this, axes, x); }
  void eval(rc::Outputs out, rc::Inputs in) const { rc::reduce(*this, axes, out, in); }
  GreatestSize lifted() const { return {rc::behind_batch(axes)}; }
};

void primitives() {
  const Tensor x = rc::tensor({{1.0, -3.0}, {2.0, 0.5}});
  expect(same(rc::apply(GreatestSize{{1}}, x), rc::tensor({3.0, 2.0})), "a reduction of one's own");
  const auto greatest = [](const Tensor& row) { return rc::apply(GreatestSize{{0}}, row); };
  expect(same(rc::vmap(greatest)(x), rc::tensor({3.0, 2.0})), "the same, mapped");
}

void memory() {
  rc::empty_cache();
  rc::reset_peak_memory_stats();
  const rc::MemoryStats stats = rc::memory_stats();
  expect(stats.allocated <= stats.reserved && stats.reserved <= stats.max_reserved, "what the library holds");
}

}  // namespace

int main() {
  primitives();
  memory();
  from_values();
  indices();
  transforms();
  functions();
  printing();
  return wrong == 0 ? 0 : 1;
}
