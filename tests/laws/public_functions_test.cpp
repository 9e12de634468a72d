// Laws of public functions that are made of others: values and gradients are those that PyTorch recorded
// (tests/data/values_of_torch.txt), and every transform keeps its promise. Knows no function by name.
#include "public_functions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "few_cases.h"
#include "law.h"

namespace {

namespace rc = ricci;
using laws::Function;
using laws::List;
using laws::Mapped;
using laws::Table;
using rc::Tensor;

/// A case of the file.
struct Recorded {
  std::string name;
  List inputs, outputs, gradients;  // a gradient that PyTorch lacks is undefined
  const Function* function = nullptr;
  /// It reads values, or draws random numbers.
  bool is_for_one_example() const {
    return name.find("reads") != std::string::npos || name.find("draws") != std::string::npos;
  }
  bool is_kink() const { return name.find("kink") != std::string::npos; }
};

/// `f64[2,3] 0.5 …`, read by strtod: a stream takes ten times as long for the file.
Tensor tensor_of(const std::string& line) {
  static const std::map<std::string, rc::DType> dtypes = {
      {"f64", rc::float64}, {"f32", rc::float32}, {"c128", rc::complex128}, {"i64", rc::int64},
      {"i32", rc::int32},   {"u8", rc::uint8},    {"bool", rc::boolean}};
  const std::size_t bracket = line.find('['), after = line.find(']');
  if (bracket == std::string::npos) return {};  // `none`
  const rc::DType dtype = dtypes.at(line.substr(0, bracket));
  rc::Shape shape;
  char* at = nullptr;
  for (const char* size = &line[bracket + 1]; size < &line[after]; size = at + 1)
    shape.push_back(std::strtoll(size, &at, 10));
  std::vector<double> numbers;
  const char* from = &line[after + 1];
  for (double number = std::strtod(from, &at); at != from; number = std::strtod(from, &at)) {
    numbers.push_back(number);
    from = at;
  }
  if (!rc::is_complex(dtype)) return rc::tensor(numbers).to(dtype).reshape(shape).clone();
  std::vector<std::complex<double>> pairs;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) pairs.emplace_back(numbers[i], numbers[i + 1]);
  return rc::tensor(pairs).reshape(shape).clone();
}

const std::vector<const Table*>& tables() {
  static const std::vector<const Table*> all = {
      &laws::arithmetic(),      &laws::kinds(),       &laws::writes(),      &laws::reductions(), &laws::shapes(),
      &laws::indexing(),        &laws::creation(),    &laws::products(),    &laws::layers(),     &laws::losses(),
      &laws::distances(),       &laws::activations(), &laws::elementwise(), &laws::statistics(), &laws::arrangement(),
      &laws::complex_numbers(), &laws::fourier(),     &laws::signals(),     &laws::algebra(),    &laws::windows(),
      &laws::attention(),       &laws::embeddings(),  &laws::recurrent(),   &laws::ctc(),        &laws::resampling(),
      &laws::distributions(),   &laws::special()};
  return all;
}

const std::vector<Recorded>& recorded() {
  static const std::vector<Recorded> all = [] {
    std::vector<Recorded> cases;
    std::ifstream file(RICCI_TEST_DATA "/values_of_torch.txt");
    for (std::string text; std::getline(file, text);) {
      const std::string word = text.substr(0, text.find(' ')),
                        rest = text.substr(std::min(word.size() + 1, text.size()));
      if (word == "case") {
        cases.push_back({rest, {}, {}, {}});
        for (const Table* table : tables())
          if (const auto found = table->find(cases.back().name); found != table->end())
            cases.back().function = &found->second;
      } else if (word == "input") cases.back().inputs.push_back(tensor_of(rest));
      else if (word == "output") cases.back().outputs.push_back(tensor_of(rest));
      else if (word == "gradient") cases.back().gradients.push_back(tensor_of(rest));
    }
    return cases;
  }();
  return all;
}

/// The functions of the file: first words of its cases.
std::vector<std::string> functions() {
  std::set<std::string> names;
  for (const Recorded& r : recorded()) names.insert(r.name.substr(0, r.name.find(' ')));
  return {names.begin(), names.end()};
}

bool is_smooth(const Tensor& x) { return rc::is_differentiable(x.dtype()); }

/// A case as a function of its floating inputs, to its floating results.
struct Smooth {
  Function f;
  List x, y;
};
Smooth smooth_part(const Recorded& r) {
  Smooth s;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < r.inputs.size(); ++i)
    if (is_smooth(r.inputs[i])) {
      places.push_back(i);
      s.x.push_back(r.inputs[i]);
    }
  s.f = [&r, places](const List& x) {
    List inputs = r.inputs, y;
    for (std::size_t i = 0; i < places.size(); ++i) inputs[places[i]] = x[i];
    for (Tensor& out : (*r.function)(inputs))
      if (is_smooth(out)) y.push_back(std::move(out));
    return y;
  };
  s.y = s.f(s.x);
  return s;
}

constexpr double tolerance = laws::tolerance_of(rc::float64);

class PublicFunctions : public testing::TestWithParam<std::string> {
 protected:
  /// law(case), for each case of the function at hand.
  template <class L>
  void for_cases(const L& law) {
    for (const Recorded& r : recorded()) {
      if (r.name.substr(0, r.name.find(' ')) != GetParam()) continue;
      SCOPED_TRACE(r.name);
      ASSERT_TRUE(r.function) << "tests/laws/public_functions_of_*.cpp have no such case";
      law(r);
    }
  }
  /// law(smooth part), where there is one.
  template <class L>
  void for_smooth_cases(const L& law) {
    for_cases([&](const Recorded& r) {
      const Smooth s = smooth_part(r);
      if (!s.x.empty() && !s.y.empty()) law(r, s);
    });
  }
};

/// cos(1), cos(2), … of each result, as tools/torch_values.py weighs them.
List weights_of(const List& y) {
  List weights;
  for (const Tensor& t : y)
    weights.push_back(cos(rc::arange(1, t.numel() + 1, rc::float64)).reshape(t.shape()).to(t.dtype()));
  return weights;
}

TEST_P(PublicFunctions, GiveTheValuesOfTorch) {
  for_cases([](const Recorded& r) { laws::expect_close((*r.function)(r.inputs), r.outputs, tolerance, "values"); });
}

TEST_P(PublicFunctions, HaveTheGradientsOfTorch) {
  for_smooth_cases([](const Recorded& r, const Smooth& s) {
    if (r.gradients.empty()) return;
    const List found = laws::cotangents(s.f, s.x, weights_of(s.y));
    for (std::size_t i = 0; i < found.size(); ++i)
      if (r.gradients[i].defined()) laws::expect_close(found[i], r.gradients[i], 10 * tolerance, "gradient");
  });
}

List moved(const List& x, const List& t, double step) {
  List there;
  for (std::size_t i = 0; i < x.size(); ++i) there.push_back(x[i] + t[i] * step);
  return there;
}

/// Tangents are difference quotients, and cotangents their adjoint.
void expect_derivatives(const Function& f, const List& x, double factor, const char* what) {
  SCOPED_TRACE(what);
  const List t = laws::directions(x, 100);
  const List above = f(moved(x, t, laws::difference_step)), below = f(moved(x, t, -laws::difference_step));
  List quotient;
  for (std::size_t i = 0; i < above.size(); ++i)
    quotient.push_back((above[i] - below[i]) / (2 * laws::difference_step));
  const List tangents = laws::tangents(f, x, t);
  laws::expect_close(tangents, quotient, laws::difference_tolerance * factor, "jvp");
  const List ct = laws::directions(f(x), 300);
  const double forward = laws::inner_product(ct, tangents);
  const double backward = laws::inner_product(laws::cotangents(f, x, ct), t);
  EXPECT_NEAR(forward, backward, 100 * tolerance * factor * std::max(1.0, std::abs(forward))) << "vjp";
}

TEST_P(PublicFunctions, AreDifferentiable) {
  for_smooth_cases([](const Recorded& r, const Smooth& s) {
    if (!r.is_kink()) expect_derivatives(s.f, s.x, 1, "f");
  });
}

TEST_P(PublicFunctions, AreDifferentiableTwice) {
  for_smooth_cases([](const Recorded& r, const Smooth& s) {
    if (r.is_kink()) return;
    expect_derivatives(laws::pushforward(s.f), laws::joined(s.x, laws::directions(s.x, 400)), 10, "of jvp");
    expect_derivatives(laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 500)), 10, "of vjp");
  });
}

/// Examples like x, no two alike: floating ones a little smaller each, whole ones backwards.
List example(const List& x, std::size_t i) {
  List all;
  for (const Tensor& t : x)
    all.push_back(is_smooth(t)                ? t * (1 - 0.001 * static_cast<double>(i))
                  : i % 2 == 1 && t.dim() > 0 ? rc::flip(t, {0})
                                              : t);
  return all;
}
List examples(const List& x, std::size_t count, std::int64_t axis) {
  List all;
  for (std::size_t k = 0; k < x.size(); ++k) {
    std::vector<Tensor> rows;
    for (std::size_t i = 0; i < count; ++i) rows.push_back(example(x, i)[k]);
    all.push_back(rc::stack(rows, axis));
  }
  return all;
}

/// vmap of f is f of each example, whichever inputs are mapped and along whichever end.
void expect_batching(const Function& f, const List& x, const char* what) {
  SCOPED_TRACE(what);
  if (x.empty()) return;
  const auto expect = [&](const List& given, const Mapped& dims, std::int64_t axis) {
    List rows[2];
    for (std::size_t i = 0; i < 2; ++i) {
      List one = x;
      const List of_example = example(x, i);
      for (std::size_t k = 0; k < x.size(); ++k)
        if (dims[k]) one[k] = of_example[k];
      rows[i] = f(one);
    }
    List wanted;
    for (std::size_t k = 0; k < rows[0].size(); ++k) wanted.push_back(rc::stack({rows[0][k], rows[1][k]}, axis));
    laws::expect_close(laws::mapped(f, given, dims, rc::Dim(axis)), wanted, tolerance, "vmap");
  };
  expect(examples(x, 2, 0), Mapped(x.size(), rc::Dim(0)), 0);
  expect(examples(x, 2, -1), Mapped(x.size(), rc::Dim(-1)), -1);
  for (std::size_t k = 0; x.size() > 1 && k < x.size(); ++k) {
    List given = x;
    given[k] = examples(x, 2, 0)[k];
    Mapped dims(x.size(), rc::Dim(rc::none));
    dims[k] = rc::Dim(0);
    expect(given, dims, 0);
  }
}

TEST_P(PublicFunctions, AreMapped) {
  for_cases([](const Recorded& r) {
    if (!r.is_for_one_example()) expect_batching(*r.function, r.inputs, "f");
  });
  for_smooth_cases([](const Recorded& r, const Smooth& s) {
    if (r.is_for_one_example()) return;
    expect_batching(laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)), "vjp");
    expect_batching(laws::pushforward(s.f), laws::joined(s.x, laws::directions(s.x, 50)), "jvp");
  });
}

Function compiled(const Function& f) {
  return [fast = rc::compile([f](const List& inputs) { return f(inputs); })](const List& x) { return fast(x); };
}

TEST_P(PublicFunctions, AreCompiled) {
  const auto expect = [](const Function& f, const List& x, const char* what) {
    const Function fast = compiled(f);
    laws::expect_close(fast(x), f(x), tolerance, what);
    laws::expect_close(fast(example(x, 1)), f(example(x, 1)), tolerance, what);
  };
  std::size_t place = 0;
  for_cases([&](const Recorded& r) {
    if (r.inputs.empty() || r.is_for_one_example()) return;
    if (laws::takes_form(place, 0, 3)) expect(*r.function, r.inputs, "f");
    if (laws::takes_form(place, 1, 3)) {
      const Function many = [&](const List& all) {
        return laws::mapped(*r.function, all, Mapped(all.size(), rc::Dim(0)));
      };
      const Function fast = compiled(many);
      for (const std::size_t count : {2, 3, 5}) {
        const List all = examples(r.inputs, count, 0);
        laws::expect_close(fast(all), many(all), tolerance, "vmap(f)");
      }
    }
    const Smooth s = smooth_part(r);
    if (laws::takes_form(place, 2, 3) && !s.x.empty() && !s.y.empty())
      expect(laws::pullback(s.f, s.x.size()), laws::joined(s.x, laws::directions(s.y, 60)), "vjp(f)");
    ++place;
  });
}

INSTANTIATE_TEST_SUITE_P(, PublicFunctions, testing::ValuesIn(functions()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

TEST(PublicFunctionsTable, HasRecordedValuesForEachOfItsCases) {
  std::set<std::string> in_file;
  for (const Recorded& r : recorded()) in_file.insert(r.name);
  std::size_t count = 0;
  for (const Table* table : tables())
    for (const auto& [name, function] : *table) {
      ++count;
      EXPECT_TRUE(in_file.contains(name)) << name << ": tools/torch_values.py has no such case";
    }
  EXPECT_EQ(count, in_file.size());
}

}  // namespace
