// Programs as graphs and tables, and traces of a run. python/tests/test_pictures.py reads them as JSON, XML and HTML.
#include <gtest/gtest.h>
#include <ricci/primitive/elementwise.h>
#include <ricci/profile.h>
#include <ricci/ricci.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace rc = ricci;
using rc::Tensor;

namespace {

/// An operation whose name and parameters have the characters that markup has a meaning for.
struct Awkward {
  using kind = rc::Elementwise;
  static constexpr const char* name = "a<b>&\"c\"\\d";
  template <class T>
  auto formula(T x) const {
    return x + T(1);
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return rc::ones_like(x); }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}
std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Pictures, AGraphHasANodeForEachEquationAndAnArrowForEachOperand) {
  const rc::Program program = rc::trace([](const Tensor& x, const Tensor& w) { return tanh(matmul(x, w)).sum(); })(
      rc::ones({20, 3}), rc::ones({3, 4}));
  const std::string text = rc::to_dot(program);
  EXPECT_EQ(count(text, " -> "), 5U) << text;  // x and w, then one for each of tanh, sum and return
  EXPECT_EQ(count(text, "shape=box"), 1U);
  EXPECT_EQ(count(text, "[label="), 2U + 3U + 1U + 5U) << text;
  EXPECT_NE(text.find("label=\"tanh\\ld: f32"), std::string::npos) << text;
}

TEST(Pictures, ANestedProgramIsAFrameOrATableOfItsOwn) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(0, 5, [](const Tensor&, const Tensor& s) { return sin(s); }, x);
  };
  const rc::Program program = rc::trace(f)(rc::ones({3}));
  EXPECT_EQ(count(rc::to_dot(program), "subgraph cluster_"), 1U) << rc::to_dot(program);
  EXPECT_EQ(count(rc::to_html(program), "<table"), 2U) << rc::to_html(program);
}

TEST(Pictures, NamesAreEscaped) {
  const rc::Program program = rc::trace([](const Tensor& x) { return rc::apply(Awkward{}, x); })(rc::ones({2}));
  EXPECT_NE(rc::to_dot(program).find("a<b>&\\\"c\\\"\\\\d"), std::string::npos) << rc::to_dot(program);
  EXPECT_NE(rc::to_html(program).find("a&lt;b&gt;&amp;&quot;c&quot;\\d"), std::string::npos) << rc::to_html(program);
  EXPECT_EQ(rc::to_html(program).find("a<b>"), std::string::npos);
  const std::string drawn =
      rc::compile([](const Tensor& x) { return rc::sort(x).first; }).explain(rc::ones({9})).to_svg();
  EXPECT_NE(drawn.find("sort f32[9]"), std::string::npos) << drawn;
}

/// An operation whose name holds a byte that is no UTF-8, a character cut short, and whole ones.
struct OfOtherBytes {
  using kind = rc::Elementwise;
  static constexpr const char* name = "a\xff\xe2\x82z\xce\xb1";
  template <class T>
  auto formula(T x) const {
    return x + T(1);
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return rc::ones_like(x); }
};

TEST(Pictures, BytesThatAreNoUtf8AreReplaced) {
  const auto f = [](const Tensor& x) { return rc::apply(OfOtherBytes{}, x); };
  const std::string shown = "a���zα", path = "pictures_test_bytes.json";
  const rc::Program program = rc::trace(f)(rc::ones({2}));
  EXPECT_NE(rc::to_dot(program).find(shown), std::string::npos) << rc::to_dot(program);
  EXPECT_NE(rc::to_html(program).find(shown), std::string::npos) << rc::to_html(program);
  rc::profile::start(path);
  { const rc::profile::Span span("\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xef\xbf\xbf \xf0\x9f\x98\x80"); }
  f(rc::ones({2}));
  rc::profile::stop();
  const std::string text = contents(path);
  EXPECT_EQ(count(text, "\"" + shown + "\""), 1U) << text;
  EXPECT_EQ(count(text, "\"�� ��� ���� ��� 😀\""), 1U) << text;
  std::remove(path.c_str());
}

TEST(Pictures, AnExplanationIsSavedAsSvgAlone) {
  const rc::Explanation e = rc::compile([](const Tensor& x) { return rc::sort(x).first; }).explain(rc::ones({9}));
  EXPECT_THROW(e.save("plan.png"), rc::ValueError);
  EXPECT_THROW(e.save("no_such_folder/plan.svg"), rc::ValueError);
  e.save("pictures_test_plan.svg");
  EXPECT_EQ(contents("pictures_test_plan.svg"), e.to_svg());
  std::remove("pictures_test_plan.svg");
}

TEST(Profile, NotesWhatRunsBetweenStartAndStop) {
  const std::string path = "pictures_test_trace.json";
  const Tensor x = rc::ones({4}), y = rc::cos(x);
  rc::profile::start(path);
  EXPECT_THROW(rc::profile::start(path), rc::ValueError);
  {
    const rc::profile::Span span("mine");
    rc::sin(x);
    y.add_(1);
    const rc::DefaultDType wide(rc::float64);
    rc::exp(rc::arange(0, 3));  // converted first
  }
  rc::apply(Awkward{}, x);
  rc::profile::stop();
  rc::tan(x);
  EXPECT_THROW(rc::profile::stop(), rc::ValueError);
  const std::string text = contents(path);
  for (const char* name : {"\"sin\"", "\"add\"", "\"exp\"", "\"mine\"", "\"a<b>&\\\"c\\\"\\\\d\""})
    EXPECT_EQ(count(text, std::string("\"name\":") + name), 1U) << name << "\n" << text;
  EXPECT_EQ(count(text, "\"cos\"") + count(text, "\"tan\""), 0U) << text;
  std::remove(path.c_str());
}

}  // namespace
