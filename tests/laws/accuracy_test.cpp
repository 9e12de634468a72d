// The law of accuracy: a floating result of an elementwise operation is within the operation's `ulps` units in the last
// place of the exact one, over the whole domain, subnormal and largest numbers included.
//
// Arguments are drawn by exponent: from every binade of both signs. Between two of them at which the result is of
// another kind (zero, subnormal, finite, infinite, NaN, of another sign) lies a zero, a pole or a threshold; the law
// closes in on it and looks at both of its sides. At last it looks around the worst arguments found.
//
//   RICCI_ACCURACY_TABLE=docs/reference/accuracy.md   writes what it found
//   RICCI_ACCURACY_DRAWS=50                           draws fifty times as many arguments
//
// Operations whose exact values are long sums and integrals took two thirds of the time: they get a quarter of the
// arguments, from every fourth binade, and those that took longest an eighth.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "exact.h"
#include "law.h"
#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/machine.h"

namespace {

using laws::Case;
using laws::Quad;
using ricci::DType;
using ricci::Tensor;

/// One argument of an operation: its operands.
using Point = std::vector<double>;

/// What the law knows of an element type. Points are doubles that the type can hold.
struct Format {
  DType dtype;
  int digits, least_exponent, most_exponent;  // of the smallest subnormal and of the largest number, as by ilogb

  double round(double x) const { return dtype == ricci::float32 ? static_cast<double>(static_cast<float>(x)) : x; }
  double largest() const { return std::ldexp(2 - std::ldexp(1.0, 1 - digits), most_exponent); }
  /// Numbers in order, one apart; and back.
  std::int64_t rank(double x) const {
    const std::int64_t size = dtype == ricci::float32 ? std::bit_cast<std::int32_t>(static_cast<float>(std::fabs(x)))
                                                      : std::bit_cast<std::int64_t>(std::fabs(x));
    return std::signbit(x) ? -size : size;
  }
  double at(std::int64_t rank) const {
    const std::int64_t size = std::min(std::abs(rank), this->rank(largest()));
    const double x = dtype == ricci::float32
                         ? static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(size)))
                         : std::bit_cast<double>(size);
    return rank < 0 ? -x : x;
  }
  /// One unit in the last place of x.
  Quad unit(Quad x) const {
    const auto size = static_cast<double>(laws::quad_fabs(x));
    const int exponent = size > 0 ? std::min(std::ilogb(size), most_exponent) : least_exponent;
    return std::ldexp(1.0, std::max(exponent + 1 - digits, least_exponent));
  }
  /// The error of `found` in units in the last place. Infinity stands for the power of two after the largest number.
  double error(double found, const laws::Expected& expected) const {
    const Quad end = Quad(largest()) + unit(largest());
    if (laws::quad_isnan(expected.value) && std::isnan(found)) return 0;
    if (laws::quad_isnan(expected.unit)) return std::numeric_limits<double>::infinity();
    // A term that overflows leaves nothing to count in.
    if (expected.unit >= end || std::isinf(static_cast<double>(expected.unit))) return 0;
    if (laws::quad_isnan(expected.value) || std::isnan(found)) return std::numeric_limits<double>::infinity();
    const auto capped = [&](Quad x) { return x > end ? end : x < -end ? -end : x; };
    const Quad apart = laws::quad_fabs(capped(found) - capped(expected.value));
    const Quad size = laws::quad_fabs(expected.value), least = laws::quad_fabs(expected.unit);
    return static_cast<double>(apart / unit(size > least ? size : least));
  }
};
constexpr Format formats[] = {{ricci::float32, 24, -149, 127}, {ricci::float64, 53, -1074, 1023}};

/// What kind of result it is: a step between two kinds is worth a look.
int kind_of(const Format& format, Quad value) {
  if (laws::quad_isnan(value)) return 0;
  const int side = value < 0 ? -1 : 1;
  const Quad size = laws::quad_fabs(value);
  if (size > Quad(format.largest())) return 4 * side;
  if (size >= std::ldexp(1.0, format.least_exponent + format.digits - 1)) return 3 * side;
  return (size >= std::ldexp(1.0, format.least_exponent - 1) ? 2 : 1) * side;
}

std::size_t draws_factor() {
  const char* text = std::getenv("RICCI_ACCURACY_DRAWS");
  return text ? std::strtoul(text, nullptr, 10) : 1;
}

/// A point that was looked at, and what kind of result it should have.
struct Seen {
  Point at;
  int kind;
};

struct Worst {
  double error = 0;
  Point at;
  double found = 0;
  Quad expected = 0;
};

/// The arguments of one case in one element type, and the worst error among those looked at so far.
class Search {
 public:
  Search(const Case& c, const Format& format) : case_(c), format_(format), bits_(11) {}

  Worst run() {
    draw();
    look();
    close_in(std::exchange(looked_, {}));
    look();
    for (int round = 0; round < 3; ++round) {
      around_the_worst();
      look();
    }
    return worst_[0];
  }

 private:
  std::size_t operands() const { return static_cast<std::size_t>(case_.rules->loops()->inputs); }
  bool is_condition(std::size_t i) const { return (case_.rules->loops()->conditions >> i) & 1U; }

  double number(int exponent) {
    const double fraction = std::uniform_real_distribution<double>(1, 2)(bits_);
    const double rounded = bits_() % 4 == 0 ? std::floor(fraction * 8) / 8 : fraction;
    const double size = std::min(format_.round(std::ldexp(rounded, exponent)), format_.largest());
    return bits_() % 2 ? size : -size;
  }
  int exponent(int low, int high) { return std::uniform_int_distribution<int>(low, high)(bits_); }

  void draw() {
    if (operands() == 1 && !is_condition(0)) draw_every_binade();
    else draw_together();
  }

  std::size_t stride() const {
    static const std::set<std::string_view> slowest{"beta_tail_moment", "gamma_tail_moment", "polygamma",
                                                    "von_mises_tail_moment"};
    static const std::set<std::string_view> slow{
        "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "digamma", "exp1", "expi", "gamma_series",
        "i0", "i0e", "i1", "i1e", "incomplete_beta", "incomplete_gamma", "modified_bessel_k0", "modified_bessel_k1",
        "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "sinc", "spherical_bessel_j0", "zeta"};
    return slowest.contains(case_.rules->name) ? 8 : slow.contains(case_.rules->name) ? 4 : 1;
  }
  std::size_t draws(std::size_t usual) const { return usual * draws_factor() / stride(); }

  /// An operation with parameters has several cases.
  std::size_t share_of_case() const { return case_.rules->parameters.size > 0 ? 16 : 1; }

  void draw_every_binade() {
    const std::size_t each =
        std::max<std::size_t>(1, draws(format_.dtype == ricci::float32 ? 16 : 4) / share_of_case());
    const int step_of_grid = static_cast<int>(stride());
    for (int e = format_.least_exponent; e <= format_.most_exponent; e += step_of_grid) {
      for (const double side : {1.0, -1.0}) {
        points_.push_back({side * std::ldexp(1.0, e)});
        points_.push_back({format_.at(format_.rank(side * std::ldexp(1.0, e)) - (side > 0 ? 1 : -1))});
      }
      for (std::size_t i = 0; i < each; ++i) points_.push_back({number(e)});
    }
    // Most of what happens happens near 1.
    for (std::size_t i = 0; i < draws(4000) / share_of_case(); ++i)
      points_.push_back({number(exponent(-4, 6))});
    for (int i = -800; i <= 800; i += step_of_grid)
      for (int step = -1; step <= 1; ++step) points_.push_back({format_.at(format_.rank(i / 8.0) + step)});
    points_.push_back({0.0});
    points_.push_back({-0.0});
  }

  /// Operands of any size each, of nearly one size, and of moderate size.
  void draw_together() {
    for (std::size_t i = 0; i < draws(12000); ++i) {
      const int way = static_cast<int>(i % 3), shared = exponent(format_.least_exponent, format_.most_exponent);
      Point p;
      for (std::size_t k = 0; k < operands(); ++k) {
        if (is_condition(k)) p.push_back(static_cast<double>(bits_() % 2));
        else if (way == 0) p.push_back(number(exponent(format_.least_exponent, format_.most_exponent)));
        else if (way == 1)
          p.push_back(number(std::clamp(shared + exponent(-3, 3), format_.least_exponent, format_.most_exponent)));
        else p.push_back(number(exponent(-8, 8)));
      }
      if (i % 16 == 2) p[bits_() % p.size()] = 0;
      points_.push_back(p);
    }
  }

  /// Between pairs of points that differ in one operand.
  void close_in(std::vector<Seen> from) {
    std::vector<std::pair<Seen, Seen>> steps;
    if (operands() == 1) {
      std::sort(from.begin(), from.end(), [](const Seen& a, const Seen& b) { return a.at < b.at; });
      for (std::size_t i = 0; i + 1 < from.size(); ++i)
        if (from[i].kind != from[i + 1].kind) steps.push_back({from[i], from[i + 1]});
    } else {
      for (std::size_t i = 0; i < 1500 / stride(); ++i) {
        Seen a = from[bits_() % from.size()], b = a;
        const std::size_t k = bits_() % operands();
        if (!is_condition(k)) b.at[k] = from[bits_() % from.size()].at[k];
        b.kind = kind(b.at);
        if (b.at[k] < a.at[k]) std::swap(a, b);
        if (a.kind != b.kind) steps.push_back({a, b});
      }
    }
    std::shuffle(steps.begin(), steps.end(), bits_);
    if (steps.size() > draws(120)) steps.resize(draws(120));
    for (const auto& [first, last] : steps) {
      const Point &a = first.at, &b = last.at;
      std::size_t k = 0;
      while (k + 1 < operands() && a[k] == b[k]) ++k;
      std::int64_t low = format_.rank(a[k]), high = format_.rank(b[k]);
      while (low + 1 < high) {
        Point middle = a;
        const std::int64_t half = std::midpoint(low, high);  // a difference might overflow
        middle[k] = format_.at(half);
        (kind(middle) == first.kind ? low : high) = half;
      }
      for (int far = 0; far < 2 * format_.digits; ++far) {
        const std::int64_t away =
            far < 12 ? far : (std::int64_t{1} << (far / 2 - 2)) + static_cast<std::int64_t>(bits_() % 5);
        Point before = a, after = a;
        before[k] = format_.at(low - away);
        after[k] = format_.at(high + away);
        points_.push_back(before);
        points_.push_back(after);
      }
    }
  }

  void around_the_worst() {
    const std::vector<Worst> around = worst_;
    for (const Worst& w : around) {
      if (w.at.empty()) continue;
      for (std::size_t i = 0; i < 150 / stride(); ++i) {
        Point p = w.at;
        for (std::size_t k = 0; k < p.size(); ++k)
          if (!is_condition(k)) {
            const auto reach = std::int64_t{1} << bits_() % static_cast<unsigned>(format_.digits - 1);
            p[k] = format_.at(format_.rank(p[k]) + std::uniform_int_distribution<std::int64_t>(-reach, reach)(bits_));
          }
        points_.push_back(p);
      }
    }
  }

  laws::Expected expected(const Point& p) const { return laws::exact(case_, format_.dtype, p); }
  int kind(const Point& p) const { return kind_of(format_, expected(p).value); }

  /// Computes the points that were not looked at yet, all in one call.
  void look() {
    const auto n = static_cast<std::int64_t>(points_.size());
    laws::List inputs;
    for (std::size_t k = 0; k < operands(); ++k) {
      std::vector<double> operand;
      for (const Point& p : points_) operand.push_back(p[k]);
      inputs.push_back(reshape(ricci::tensor(operand), {n}).to(is_condition(k) ? ricci::boolean : format_.dtype));
    }
    const std::vector<double> found = case_(inputs)[0].to(ricci::float64).to_vector<double>();
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const laws::Expected wanted = expected(points_[i]);
      keep({format_.error(found[i], wanted), points_[i], found[i], wanted.value});
      looked_.push_back({points_[i], kind_of(format_, wanted.value)});
    }
    points_.clear();
  }

  /// The worst few, the worst first.
  void keep(Worst w) {
    if (w.error < worst_.back().error) return;
    const auto after = std::find_if(worst_.begin(), worst_.end(), [&](const Worst& x) { return x.error < w.error; });
    if (after == worst_.end()) return;
    worst_.insert(after, std::move(w));
    worst_.pop_back();
  }

  Case case_;
  Format format_;
  std::mt19937_64 bits_;
  std::vector<Point> points_;
  std::vector<Seen> looked_;
  std::vector<Worst> worst_ = std::vector<Worst>(6);
};

std::string text_of(double x, DType dtype) {
  char text[40];
  for (int digits = 1; digits < 18; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, x);
    const double back = std::strtod(text, nullptr);
    if (dtype == ricci::float32 ? static_cast<float>(back) == static_cast<float>(x) : back == x) break;
  }
  return text;
}
std::string text_of(const Point& p, DType dtype) {
  std::string text;
  for (const double x : p) text += (text.empty() ? "" : ", ") + text_of(x, dtype);
  return text;
}

constexpr const char* table_head = "| operation | bound | float32 | at | float64 | at |";

/// What was found, one line an operation. At the end, if RICCI_ACCURACY_TABLE names a page, it takes the place of the
/// table that the page ends with.
class Table : public testing::Environment {
 public:
  std::map<std::string, std::string> lines;
  void TearDown() override {
    const char* path = std::getenv("RICCI_ACCURACY_TABLE");
    if (!path) return;
    std::vector<std::string> page;
    std::ifstream before(path);
    for (std::string line; std::getline(before, line) && line != table_head;) page.push_back(line);
    std::ofstream file(path);
    for (const std::string& line : page) file << line << "\n";
    file << table_head << "\n| --- | --- | --- | --- | --- | --- |\n";
    for (const auto& [name, line] : lines) file << line << "\n";
  }
};
Table& table() {
  static auto* const all = static_cast<Table*>(testing::AddGlobalTestEnvironment(new Table));
  return *all;
}
[[maybe_unused]] const Table& at_start = table();

class Accuracy : public laws::Law {};

bool is_floating_result(const ricci::Rules& rules, DType dtype) {
  return rules.loops()->loop(dtype) && rules.loops()->result_dtype(dtype) == dtype;
}

TEST_P(Accuracy, IsWithinTheBoundOverTheWholeDomain) {
  if (!is_floating_result(rules(), ricci::float64)) GTEST_SKIP() << "has no floating results";
  ASSERT_NE(rules().bound, nullptr) << rules().name << " needs `static constexpr double ulps = …`";
  if (std::isinf(rules().bound->ulps)) GTEST_SKIP() << "has no bound in ulps; the reason stands beside it";
  char bound[20];
  std::snprintf(bound, sizeof bound, "%g", rules().bound->ulps);
  std::string line = "| " + std::string(rules().name) + " | " + bound;
  for (const Format& format : formats) {
    Worst worst;
    std::string parameters;
    for (const Case& c : laws::cases_of(rules())) {
      if (rules().parameters.size == 0 && !worst.at.empty()) break;  // cases differ in their shapes alone
      const Worst found = Search(c, format).run();
      EXPECT_LE(found.error, rules().bound->ulps)
          << c.text() << " in " << ricci::short_name(format.dtype) << " at " << text_of(found.at, format.dtype) << ": "
          << text_of(found.found, format.dtype) << ", expected "
          << text_of(static_cast<double>(found.expected), ricci::float64);
      if (found.error >= worst.error) worst = found;
      count_case();
    }
    char error[20];
    std::snprintf(error, sizeof error, "%.3g", worst.error);
    line += " | " + std::string(error) + " | " + (worst.error > 0 ? text_of(worst.at, format.dtype) : "");
  }
  table().lines[rules().name] = line + " |";
}

/// The bounds that the page of the documentation shows, by operation.
std::map<std::string, double> bounds_on_the_page() {
  std::map<std::string, double> bounds;
  std::ifstream page(RICCI_ACCURACY_PAGE);
  bool in_table = false;
  for (std::string line; std::getline(page, line); in_table = in_table || line == table_head) {
    const std::size_t end = line.find(" | ", 2);
    if (in_table && end != std::string::npos && line[2] != '-')
      bounds[line.substr(2, end - 2)] = std::strtod(line.c_str() + end + 3, nullptr);
  }
  return bounds;
}

TEST(AccuracyPage, ShowsTheBoundOfEveryOperation) {
  if (!ricci::scalar::machine::fuses) GTEST_SKIP() << "the page shows the bounds of processors that fuse multiply-add";
  std::map<std::string, double> bounds;
  for (const ricci::Rules* rules : laws::elementwise_operations())
    if (is_floating_result(*rules, ricci::float64) && rules->bound && !std::isinf(rules->bound->ulps))
      bounds[rules->name] = rules->bound->ulps;
  EXPECT_EQ(bounds_on_the_page(), bounds) << "RICCI_ACCURACY_TABLE=docs/reference/accuracy.md build/release/"
                                             "tests/test_laws --gtest_filter='*Accuracy.*' writes it anew";
}

FOR_OPERATIONS(Accuracy, laws::elementwise_operations());

}  // namespace
