// Every operation that takes an axis, at every axis and one beyond, of 0-dim tensors, of axes without elements and of
// others: the shapes are PyTorch's (axes_of_torch.txt), and an example of a vmap, of none at all too, gets what the
// same tensor gets alone, derivatives included. Add an operation here and in tools/torch_answers.py.
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Results = std::vector<Tensor>;
struct AxisOperation {
  std::string name;
  std::function<Results(const Tensor& x, std::int64_t dim)> f;
  bool differentiable = true;
};

Results all_of(const Tensor& x) { return {x}; }
Results all_of(const std::pair<Tensor, Tensor>& both) { return {both.first, both.second}; }
Results all_of(Results list) { return list; }

template <class F>
AxisOperation operation(std::string name, F f) {
  return {std::move(name), [f](const Tensor& x, std::int64_t dim) { return all_of(f(x, dim)); }};
}

bool has_axis(const Tensor& x, std::int64_t dim) { return -x.dim() <= dim && dim < x.dim(); }
std::int64_t size_along(const Tensor& x, std::int64_t dim) { return has_axis(x, dim) ? x.size(dim) : 1; }

/// Zeros as indices, of this shape; as many per example as x has if `differ`, so that vmap maps them too.
Tensor zero_indices(const Tensor& x, const rc::Shape& shape, bool differ) {
  const Tensor zeros = rc::zeros(shape, rc::int64);
  return differ ? zeros + rc::isnan(x.sum()).to(rc::int64) : zeros;
}
/// The first place along an axis, if there is one.
Tensor few(const Tensor& x, std::int64_t dim, bool differ) {
  return zero_indices(x, rc::Shape(std::min<std::int64_t>(size_along(x, dim), 1)), differ);
}
rc::Shape shape_of_few(const Tensor& x, std::int64_t dim) {
  rc::Shape shape = x.shape();
  if (!has_axis(x, dim)) return shape;
  rc::Size& size = shape[static_cast<std::size_t>(dim < 0 ? dim + x.dim() : dim)];
  size = std::min<std::int64_t>(size, 1);
  return shape;
}
Tensor few_of_each(const Tensor& x, std::int64_t dim, bool differ) {
  return zero_indices(x, shape_of_few(x, dim), differ);
}
/// Ones in x's dtype where `few` looks.
Tensor part(const Tensor& x, std::int64_t dim) { return rc::ones(shape_of_few(x, dim), x.dtype()); }
/// Ones in the shape of x without an axis.
Tensor without(const Tensor& x, std::int64_t dim) {
  rc::Shape shape = x.shape();
  if (has_axis(x, dim)) shape.erase(static_cast<std::size_t>(dim < 0 ? dim + x.dim() : dim));
  return rc::ones(shape, x.dtype());
}

std::vector<AxisOperation> operations_by_index(bool differ) {
  std::vector<AxisOperation> list{
      operation("index_select", [=](Tensor x, std::int64_t d) { return rc::index_select(x, d, few(x, d, differ)); }),
      operation("index_select_by_number",
                [=](Tensor x, std::int64_t d) { return rc::index_select(x, d, zero_indices(x, {}, differ)); }),
      operation("index_add",
                [=](Tensor x, std::int64_t d) { return rc::index_add(x, d, few(x, d, differ), part(x, d)); }),
      operation("index_add_number",
                [=](Tensor x, std::int64_t d) {
                  return rc::index_add(x, d, zero_indices(x, {}, differ), rc::ones(rc::Shape(), x.dtype()));
                }),
      operation("index_fill", [=](Tensor x, std::int64_t d) { return rc::index_fill(x, d, few(x, d, differ), 2); }),
      operation("index_fill_by_number",
                [=](Tensor x, std::int64_t d) { return rc::index_fill(x, d, zero_indices(x, {}, differ), 2); }),
      operation("gather", [=](Tensor x, std::int64_t d) { return rc::gather(x, d, few_of_each(x, d, differ)); }),
      operation("gather_one", [=](Tensor x, std::int64_t d) { return rc::gather(x, d, zero_indices(x, {1}, differ)); }),
      operation("gather_number",
                [=](Tensor x, std::int64_t d) { return rc::gather(x, d, zero_indices(x, {}, differ)); }),
      operation("take_along_dim",
                [=](Tensor x, std::int64_t d) { return rc::take_along_dim(x, few_of_each(x, d, differ), d); }),
      operation("scatter",
                [=](Tensor x, std::int64_t d) { return rc::scatter(x, d, few_of_each(x, d, differ), part(x, d)); }),
      operation("scatter_one",
                [=](Tensor x, std::int64_t d) {
                  return rc::scatter(x, d, zero_indices(x, {1}, differ), rc::ones({1}, x.dtype()));
                }),
      operation("scatter_number",
                [=](Tensor x, std::int64_t d) {
                  return rc::scatter(x, d, zero_indices(x, {}, differ), rc::ones(rc::Shape(), x.dtype()));
                }),
      operation("scatter_add",
                [=](Tensor x, std::int64_t d) { return rc::scatter_add(x, d, few_of_each(x, d, differ), part(x, d)); }),
  };
  return list;
}

std::vector<AxisOperation> operations() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<AxisOperation> list{
      operation("sum", [](Tensor x, std::int64_t d) { return rc::sum(x, d); }),
      operation("sum_keepdim", [](Tensor x, std::int64_t d) { return rc::sum(x, d, true); }),
      operation("mean", [](Tensor x, std::int64_t d) { return rc::mean(x, d); }),
      operation("prod", [](Tensor x, std::int64_t d) { return rc::prod(x, d); }),
      operation("prod_keepdim", [](Tensor x, std::int64_t d) { return rc::prod(x, d, true); }),
      operation("amax", [](Tensor x, std::int64_t d) { return rc::amax(x, d); }),
      operation("amin", [](Tensor x, std::int64_t d) { return rc::amin(x, d); }),
      operation("max", [](Tensor x, std::int64_t d) { return rc::max(x, d); }),
      operation("min_keepdim", [](Tensor x, std::int64_t d) { return rc::min(x, d, true); }),
      operation("argmax", [](Tensor x, std::int64_t d) { return rc::argmax(x, d); }),
      operation("argmin_keepdim", [](Tensor x, std::int64_t d) { return rc::argmin(x, d, true); }),
      operation("any", [](Tensor x, std::int64_t d) { return rc::any(x, d); }),
      operation("all", [](Tensor x, std::int64_t d) { return rc::all(x, d); }),
      operation("var", [](Tensor x, std::int64_t d) { return rc::var(x, d); }),
      operation("std_keepdim", [](Tensor x, std::int64_t d) { return rc::std(x, d, 1, true); }),
      operation("norm", [](Tensor x, std::int64_t d) { return rc::norm(x, 2, d); }),
      operation("norm_inf", [](Tensor x, std::int64_t d) { return rc::norm(x, infinity, d); }),
      operation("logsumexp", [](Tensor x, std::int64_t d) { return rc::logsumexp(x, d); }),
      operation("softmax", [](Tensor x, std::int64_t d) { return rc::softmax(x, d); }),
      operation("log_softmax", [](Tensor x, std::int64_t d) { return rc::log_softmax(x, d); }),
      operation("cumsum", [](Tensor x, std::int64_t d) { return rc::cumsum(x, d); }),
      operation("cumprod", [](Tensor x, std::int64_t d) { return rc::cumprod(x, d); }),
      operation("logcumsumexp", [](Tensor x, std::int64_t d) { return rc::logcumsumexp(x, d); }),
      operation("sort", [](Tensor x, std::int64_t d) { return rc::sort(x, d); }),
      operation("argsort", [](Tensor x, std::int64_t d) { return rc::argsort(x, d); }),
      operation("topk", [](Tensor x, std::int64_t d) { return rc::topk(x, 1, d); }),
      operation("median", [](Tensor x, std::int64_t d) { return rc::median(x, d); }),
      operation("transpose", [](Tensor x, std::int64_t d) { return rc::transpose(x, d, 0); }),
      operation("movedim", [](Tensor x, std::int64_t d) { return rc::movedim(x, d, 0); }),
      operation("slice", [](Tensor x, std::int64_t d) { return rc::slice(x, d, 0, 1); }),
      operation("select", [](Tensor x, std::int64_t d) { return rc::select(x, d, 0); }),
      operation("narrow", [](Tensor x, std::int64_t d) { return rc::narrow(x, d, 0, size_along(x, d)); }),
      operation("diagonal", [](Tensor x, std::int64_t d) { return rc::diagonal(x, 0, d, 0); }),
      operation("unfold", [](Tensor x, std::int64_t d) { return rc::unfold(x, d, 1, 1); }),
      operation("unfold_nothing", [](Tensor x, std::int64_t d) { return rc::unfold(x, d, 0, 1); }),
      operation("squeeze", [](Tensor x, std::int64_t d) { return rc::squeeze(x, d); }),
      operation("unsqueeze", [](Tensor x, std::int64_t d) { return rc::unsqueeze(x, d); }),
      operation("flatten", [](Tensor x, std::int64_t d) { return rc::flatten(x, d, -1); }),
      operation("flatten_to", [](Tensor x, std::int64_t d) { return rc::flatten(x, 0, d); }),
      operation("unbind", [](Tensor x, std::int64_t d) { return rc::unbind(x, d); }),
      operation("split", [](Tensor x, std::int64_t d) { return rc::split(x, 2, d); }),
      operation("split_sizes", [](Tensor x, std::int64_t d) { return rc::split(x, std::vector{size_along(x, d)}, d); }),
      operation("chunk", [](Tensor x, std::int64_t d) { return rc::chunk(x, 2, d); }),
      operation("tensor_split", [](Tensor x, std::int64_t d) { return rc::tensor_split(x, 2, d); }),
      operation("tensor_split_at", [](Tensor x, std::int64_t d) { return rc::tensor_split(x, {1}, d); }),
      operation("cat", [](Tensor x, std::int64_t d) { return rc::cat({x, x}, d); }),
      operation("stack", [](Tensor x, std::int64_t d) { return rc::stack({x, x}, d); }),
      operation("repeat_interleave", [](Tensor x, std::int64_t d) { return rc::repeat_interleave(x, 2, d); }),
      operation("flip", [](Tensor x, std::int64_t d) { return rc::flip(x, d); }),
      operation("roll", [](Tensor x, std::int64_t d) { return rc::roll(x, 1, d); }),
      operation("diag_embed", [](Tensor x, std::int64_t d) { return rc::diag_embed(x, 0, d, 0); }),
      operation("slice_scatter",
                [](Tensor x, std::int64_t d) { return rc::slice_scatter(x, rc::slice(x, d, 0, 1), d, 0, 1, 1); }),
      operation("select_scatter", [](Tensor x, std::int64_t d) { return rc::select_scatter(x, without(x, d), d, 0); }),
      operation("diagonal_scatter",
                [](Tensor x, std::int64_t d) {
                  return rc::diagonal_scatter(x, rc::ones(rc::diagonal(x, 0, d, 0).shape(), x.dtype()), 0, d, 0);
                }),
      operation("cross", [](Tensor x, std::int64_t d) { return rc::cross(x, x, d); }),
  };
  for (bool differ : {false, true})
    for (AxisOperation& by_index : operations_by_index(differ)) {
      if (differ) by_index.name += ", indices per example";
      list.push_back(std::move(by_index));
    }
  for (AxisOperation& op : list)
    for (const char* constant : {"argmax", "argmin_keepdim", "any", "all", "argsort"})
      if (op.name == constant) op.differentiable = false;
  return list;
}

/// Everything that has a size of 0 or no axis, and some that have neither.
const std::vector<Sizes>& shapes() {
  static const std::vector<Sizes> list{{}, {0}, {1}, {3}, {0, 3}, {2, 0}, {2, 0, 3}};
  return list;
}
Tensor quarters(const Sizes& shape) {
  const rc::Shape s(shape);
  return rc::reshape(rc::arange(1, 1 + s.numel().host(), rc::float64) / 4, s);
}

/// What came of a call: the results, or the kind of error.
struct Outcome {
  Results results;
  std::string error;

  std::string text() const {
    if (!error.empty()) return "error";
    if (results.empty()) return "nothing";
    std::string all;
    for (const Tensor& x : results) all += (all.empty() ? "" : "+") + to_string(x.shape());
    return all;
  }
};

template <class F>
Outcome outcome(const F& f) {
  try {
    return {f(), ""};
  } catch (const rc::IndexError&) { return {{}, "IndexError"}; } catch (const rc::ValueError&) {
    return {{}, "ValueError"};
  } catch (const rc::TypeError&) { return {{}, "TypeError"}; } catch (const rc::Error& e) {
    return {{}, e.what()};
  }
}

/// Calls visit(operation, shape, x, dim) for every operation, shape and axis, one beyond on each side.
template <class Visit>
void for_each_call(const Visit& visit) {
  for (const AxisOperation& op : operations())
    for (const Sizes& shape : shapes()) {
      const Tensor x = quarters(shape);
      const std::int64_t rank = std::max<std::int64_t>(x.dim(), 1);
      for (std::int64_t dim = -rank - 1; dim <= rank; ++dim) {
        SCOPED_TRACE(op.name + " of " + to_string(rc::Shape(shape)) + " along " + std::to_string(dim));
        visit(op, x, dim);
      }
    }
}

std::map<std::string, std::vector<std::string>> answers_of_torch() {
  std::map<std::string, std::vector<std::string>> answers;
  std::ifstream file(RICCI_TORCH_ANSWERS "/axes_of_torch.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(':');
    std::istringstream words(line.substr(colon + 1));
    std::vector<std::string>& list = answers[line.substr(0, colon)];
    for (std::string word; words >> word;) list.push_back(word);
  }
  return answers;
}

/// Where PyTorch refuses what has one meaning, we need not; and an axis is checked even where nothing moves along it.
bool may_differ(const std::string& name, const std::string& ours, const std::string& theirs, bool in_range) {
  if (theirs == "error")
    return ours != "error" &&
           (name == "repeat_interleave" || name == "roll" || name == "take_along_dim" || name == "index_add_number");
  return ours == "error" && !in_range && (name == "cat" || name == "roll");
}

TEST(Axes, ShapesAreThoseOfTorch) {
  const auto answers = answers_of_torch();
  std::size_t used = 0;
  for (const AxisOperation& op : operations()) {
    const std::string name = op.name.substr(0, op.name.find(','));
    for (const Sizes& shape : shapes()) {
      const Tensor x = quarters(shape);
      const std::int64_t rank = std::max<std::int64_t>(x.dim(), 1);
      const auto found = answers.find(name + " " + to_string(x.shape()));
      ASSERT_NE(found, answers.end()) << name;
      ASSERT_EQ(std::ssize(found->second), 2 * rank + 2) << name;
      used += op.name == name;
      for (std::int64_t dim = -rank - 1; dim <= rank; ++dim) {
        const std::string ours = outcome([&] { return op.f(x, dim); }).text(),
                          theirs = found->second[static_cast<std::size_t>(dim + rank + 1)];
        if (may_differ(name, ours, theirs, -rank <= dim && dim < rank)) continue;
        EXPECT_EQ(ours, theirs) << op.name << " of " << to_string(x.shape()) << " along " << dim;
      }
    }
  }
  EXPECT_EQ(used, answers.size()) << "a line of axes_of_torch.txt has no operation here";
}

TEST(Axes, AnAxisOutOfRangeIsAnIndexError) {
  for_each_call([](const AxisOperation& op, const Tensor& x, std::int64_t dim) {
    const bool makes_axis = op.name == "unsqueeze" || op.name == "stack" || op.name == "diag_embed";
    const std::int64_t rank = makes_axis ? x.dim() + 1 : std::max<std::int64_t>(x.dim(), 1);
    if (-rank <= dim && dim < rank) return;
    if (op.name == "diag_embed" && x.dim() == 0) return;  // refused at every axis, for another reason
    EXPECT_EQ(outcome([&] { return op.f(x, dim); }).error, "IndexError");
  });
}

/// A 0-dim tensor behaves as a vector of one element whose axis is gone from the result; or it is refused.
TEST(Axes, OfA0DimTensorTheValuesAreThoseOfOneElement) {
  const Tensor one = rc::full({1}, 0.25, rc::float64), x = rc::full({}, 0.25, rc::float64);
  for (const AxisOperation& op : operations())
    for (std::int64_t dim : {-1, 0}) {
      SCOPED_TRACE(op.name + " along " + std::to_string(dim));
      const Outcome of_x = outcome([&] { return op.f(x, dim); }), of_one = outcome([&] { return op.f(one, dim); });
      for (std::size_t i = 0; i < of_x.results.size() && i < of_one.results.size(); ++i) {
        if (op.name != "unsqueeze" && op.name != "stack") expect_values(of_x.results[i], values(of_one.results[i]));
      }
    }
}

/// Results along a new axis 0, as vmap gives them.
Results stacked(const Results& one, std::int64_t count) {
  Results all;
  for (const Tensor& x : one) {
    rc::Shape wide = x.shape();
    wide.insert(0, count);
    all.push_back(rc::expand(x, wide));
  }
  return all;
}

/// Close, where infinities and NaN, which empty tensors give, are close to themselves.
void expect_alike(const Tensor& found, const Tensor& wanted) {
  EXPECT_EQ(sizes(found), sizes(wanted));
  EXPECT_EQ(found.dtype(), wanted.dtype());
  if (sizes(found) != sizes(wanted)) return;
  const Tensor a = found.to(rc::float64), b = wanted.to(rc::float64);
  const Tensor alike = rc::logical_or(rc::isclose(a, b, 1e-11, 1e-11), rc::logical_and(rc::isnan(a), rc::isnan(b)));
  EXPECT_TRUE(rc::all(alike).item<bool>()) << found << " against " << wanted;
}

void expect_same(const Outcome& found, const Outcome& wanted) {
  EXPECT_EQ(found.error, wanted.error);
  ASSERT_EQ(found.results.size(), wanted.results.size());
  for (std::size_t i = 0; i < found.results.size(); ++i) expect_alike(found.results[i], wanted.results[i]);
}

/// f on x under vmap, over 2 and over no examples, gives what it gives alone.
void expect_vmap_agrees(const std::function<Results(const Tensor&)>& f, const Tensor& x) {
  const Outcome alone = outcome([&] { return f(x); });
  if (alone.error.empty() && alone.results.empty()) return;  // vmap wants a tensor to return
  for (std::int64_t examples : {2, 0}) {
    SCOPED_TRACE(std::to_string(examples) + " examples");
    rc::Shape wide = x.shape();
    wide.insert(0, examples);
    const Tensor many = rc::expand(x, wide);
    const Outcome mapped = outcome([&] { return rc::vmap([&](Tensor each) { return f(each); })(many); });
    if (examples == 0 && !alone.error.empty()) continue;  // where no example is, an index of one cannot be wrong
    expect_same(mapped, {stacked(alone.results, examples), alone.error});
  }
}

TEST(Axes, AnExampleOfVmapGetsWhatItGetsAlone) {
  for_each_call([](const AxisOperation& op, const Tensor& x, std::int64_t dim) {
    expect_vmap_agrees([&](const Tensor& each) { return op.f(each, dim); }, x);
  });
}

/// Of each floating result the sum, weighted so that elements differ.
Tensor summary(const Results& results) {
  Tensor total = rc::zeros(rc::Shape(), rc::float64);
  for (const Tensor& y : results)
    if (y.is_floating_point())
      total = total + rc::sum(rc::reshape(y, {-1}) * rc::arange(1, 1 + y.numel(), rc::float64));
  return total;
}

bool is_view(const std::string& name) {
  for (const char* view : {"transpose", "movedim", "slice", "select", "narrow", "diagonal", "unfold", "unfold_nothing",
                           "squeeze", "unsqueeze", "flatten", "flatten_to", "unbind", "split", "split_sizes", "chunk",
                           "tensor_split", "tensor_split_at"})
    if (name == view) return true;
  return false;
}

TEST(Axes, AViewIsWrittenThroughEmptyOnesToo) {
  for_each_call([](const AxisOperation& op, const Tensor& x, std::int64_t dim) {
    if (!is_view(op.name) || !outcome([&] { return op.f(x, dim); }).error.empty()) return;
    const auto squared = [&](const Tensor& each) -> Results {
      const Tensor base = each.clone();
      for (const Tensor& y : op.f(base, dim)) y.square_();
      for (const Tensor& y : op.f(base, dim)) y.add_(0).mul_(1).copy_(y.clone());
      return op.f(base, dim);
    };
    const Results found = squared(x), wanted = op.f(x * x, dim);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) expect_close(found[i], wanted[i]);
    expect_vmap_agrees(squared, x);
    expect_close(rc::grad([&](Tensor each) { return summary(squared(each)); })(x),
                 rc::grad([&](Tensor each) { return summary(op.f(each * each, dim)); })(x));
  });
}

TEST(Axes, EmptyExpandedTensorsAreWrittenAsNothingOverlaps) {
  rc::zeros({1, 0}).expand({5, 0}).add_(1);
  rc::zeros({2, 0}).t().square_();
  rc::unsqueeze(rc::zeros({2, 0}), 2).zero_();
  rc::zeros({0, 1}).expand({0, 4}).fill_(1);
  EXPECT_THROW(rc::zeros({1, 2}).expand({5, 2}).add_(1), rc::ValueError);
}

TEST(Axes, DerivativesHaveTheShapeOfTheirTensor) {
  for_each_call([](const AxisOperation& op, const Tensor& x, std::int64_t dim) {
    if (!op.differentiable || !outcome([&] { return op.f(x, dim); }).error.empty()) return;
    const auto f = [&](Tensor each) { return summary(op.f(each, dim)); };
    const auto gradient = [&](const Tensor& each) -> Results { return {rc::grad(f)(each)}; };
    const auto tangent = [&](const Tensor& each) -> Results { return {rc::jvp(f, each, rc::ones_like(each)).second}; };
    const Results by_reverse = gradient(x), by_forward = tangent(x);
    EXPECT_EQ(sizes(by_reverse[0]), sizes(x));
    EXPECT_EQ(sizes(by_forward[0]), Sizes{});
    const bool is_finite = rc::all(rc::isfinite(by_reverse[0])).item<bool>() &&
                           std::isfinite(by_forward[0].item());  // a mean or variance of too few elements is NaN
    if (is_finite) expect_close(by_reverse[0].sum(), by_forward[0]);
    expect_vmap_agrees(gradient, x);
    expect_vmap_agrees(tangent, x);
  });
}

}  // namespace
