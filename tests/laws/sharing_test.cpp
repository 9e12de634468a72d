// The law of sharing: whether a write to the result of an operation reaches its argument has one answer, outside
// transforms and under every one of them, for every layout of the argument.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "law.h"

namespace {

namespace rc = ricci;
using laws::Case;
using laws::Function;
using laws::List;
using rc::Tensor;

// ── layouts ──

/// A tensor is kept in another one, `store`, and is the `view` of that. Axes are counted from the back, so that the
/// view serves one example and all of them.
struct Layout {
  const char* name;
  std::int64_t fewest_axes;
  Tensor (*store)(const Tensor& x);
  Tensor (*view)(const Tensor& store);
};

const std::vector<Layout> layouts = {
    {"rows", 0, [](const Tensor& x) { return x.clone(); }, [](const Tensor& s) { return s; }},
    {"transposed", 2, [](const Tensor& x) { return x.mT().clone(); }, [](const Tensor& s) { return s.mT(); }},
    {"stepped", 1, [](const Tensor& x) { return rc::stack({x, x}, -1).flatten(-2, -1).clone(); },
     [](const Tensor& s) { return s.slice(-1, 0, std::nullopt, 2); }},
    {"columns", 0, [](const Tensor& x) { return rc::stack({x, x}, -1); },
     [](const Tensor& s) { return s.select(-1, 1); }},
    {"the first of two", 1, [](const Tensor& x) { return rc::cat({x, x}, -1); },
     [](const Tensor& s) { return s.narrow(-1, 0, s.shape().back() / 2); }},
    {"a diagonal", 1, [](const Tensor& x) { return rc::diag_embed(x); },
     [](const Tensor& s) { return s.diagonal(0, -2, -1); }},
};

bool fits(const Layout& layout, const List& x) {
  return std::all_of(x.begin(), x.end(), [&](const Tensor& t) { return t.dim() >= layout.fewest_axes; });
}
template <class F>
List each(const List& x, const F& f) {
  List results;
  for (const Tensor& t : x) results.push_back(f(t));
  return results;
}

// ── transforms ──

/// Gives the function that runs a function under a transform, for the function's values.
struct Transform {
  const char* name;
  Function (*of)(const Function& f);
};

/// A loss beside the results of f.
auto with_loss(const Function& f) {
  return [f](const List& x) {
    List results = f(x);
    Tensor loss = rc::zeros({}, rc::float64);
    for (const Tensor& t : x) loss = loss + t.sum();
    return std::pair(loss, results);
  };
}

Tensor first(const Tensor& examples) { return examples.select(0, 0); }
Tensor two(const Tensor& x) { return rc::stack({x, x}); }

const std::vector<Transform> on_one_example = {
    {"grad",
     [](const Function& f) -> Function {
       return [f](const List& x) { return rc::grad(with_loss(f), rc::has_aux)(x).second; };
     }},
    {"vjp", [](const Function& f) -> Function { return [f](const List& x) { return rc::vjp(f, x).first; }; }},
    {"jvp",
     [](const Function& f) -> Function {
       return [f](const List& x) {
         const List zeros = each(x, [](const Tensor& t) { return rc::zeros_like(t); });
         return std::get<0>(rc::jvp(f, std::tuple<List>(x), std::tuple<List>(zeros)));
       };
     }},
    {"linearize",
     [](const Function& f) -> Function { return [f](const List& x) { return rc::linearize(f, x).first; }; }},
    {"jacrev",
     [](const Function& f) -> Function {
       return [f](const List& x) { return rc::jacrev(with_loss(f), rc::has_aux)(x).second; };
     }},
    {"jacfwd",
     [](const Function& f) -> Function {
       return [f](const List& x) { return rc::jacfwd(with_loss(f), rc::has_aux)(x).second; };
     }},
    {"hessian",
     [](const Function& f) -> Function {
       return [f](const List& x) { return rc::hessian(with_loss(f), rc::has_aux)(x).second; };
     }},
    {"trace", [](const Function& f) -> Function { return [f](const List& x) { return rc::trace(f)(x)(x); }; }},
    {"tape",
     [](const Function& f) -> Function {
       return [f](const List& x) {
         rc::Tape tape;
         tape.watch(x);
         return f(x);
       };
     }},
    {"vmap that does not map it",
     [](const Function& f) -> Function {
       return [f](const List& x) {
         const auto beside = [f](const List& y, const Tensor&) { return f(y); };
         return rc::vmap(beside, {.in_dims = {rc::none, 0}, .out_dims = rc::none})(x, rc::zeros({2}));
       };
     }},
};
const std::vector<Transform> on_two_examples = {
    {"vmap", [](const Function& f) -> Function { return [f](const List& x) { return each(rc::vmap(f)(x), first); }; }},
    {"chunks of vmap",
     [](const Function& f) -> Function {
       return [f](const List& x) { return each(rc::vmap(f, {.chunk_size = 1})(x), first); };
     }},
    {"vmap at the back",
     [](const Function& f) -> Function {
       return [f](const List& x) {
         const List moved = each(x, [](const Tensor& t) { return t.movedim(0, -1); });
         return each(rc::vmap(f, {.in_dims = -1})(moved), first);
       };
     }},
};

/// Every transform, and every two of them, on examples of its own where it maps: for functions that make their layouts
/// themselves.
std::vector<std::pair<std::string, Function>> nests(const Function& f, bool nested) {
  std::vector<std::pair<std::string, Function>> single, all;
  for (const Transform& t : on_one_example) single.emplace_back(t.name, t.of(f));
  for (const Transform& t : on_two_examples) {
    const Function mapped = t.of(f);
    single.emplace_back(t.name, [mapped](const List& x) { return mapped(each(x, two)); });
  }
  all = single;
  if (!nested) return all;
  for (const auto& [name, inner] : single) {
    for (const Transform& t : on_one_example) all.emplace_back(t.name + std::string(" of ") + name, t.of(inner));
    const Function mapped = on_two_examples[0].of(inner);
    all.emplace_back("vmap of " + name, [mapped](const List& x) { return mapped(each(x, two)); });
  }
  return all;
}

// ── the law ──

/// 1 for every argument that has become another one because a result was written; nothing where the write is refused.
using Answer = std::optional<std::vector<double>>;

/// Writes to a result of f and looks.
Function writing(const Function& f, std::size_t result) {
  return [f, result](const List& x) {
    const List before = each(x, [](const Tensor& t) { return t.clone(); });
    const Tensor y = f(x)[result];
    if (y.dtype() == rc::boolean) y.copy_(rc::logical_not(y));
    else y.copy_(y + 1);
    List changed;
    for (std::size_t i = 0; i < x.size(); ++i) changed.push_back(rc::any(rc::ne(x[i], before[i])).to(rc::float64));
    return changed;
  };
}

/// Writes to what `contiguous` gives of a result, and looks at the result.
Function writing_in_order(const Function& f, std::size_t result) {
  return [f, result](const List& x) {
    const Tensor y = f(x)[result], before = y.clone(), in_order = y.contiguous();
    if (y.dtype() == rc::boolean) in_order.copy_(rc::logical_not(in_order));
    else in_order.copy_(in_order + 1);
    return List{rc::any(rc::ne(y, before)).to(rc::float64)};
  };
}

Answer answer(const Function& program, const List& x) {
  std::vector<double> changed;
  List results;
  try {
    results = program(x);
  } catch (const rc::ValueError&) { return std::nullopt; }
  for (const Tensor& t : results) changed.push_back(t.item<double>());
  return changed;
}

std::string text(const Answer& answer) {
  if (!answer) return "the write is refused";
  std::string text = "reached:";
  for (double changed : *answer) text += changed != 0 ? " yes" : " no";
  return text;
}

using Writing = Function (*)(const Function& f, std::size_t result);

/// Requires: x has no integers among its tensors.
void expect_one_answer(Writing writing, const Function& f, const List& x, bool nested) {
  const List plain = f(x);
  for (std::size_t result = 0; result < plain.size(); ++result) {
    if (plain[result].numel() == 0) continue;
    const Function program = writing(f, result);
    for (const Layout& layout : layouts) {
      if (!fits(layout, x)) continue;
      const auto stores = [&] { return each(x, layout.store); };
      const auto views = [&](const List& s) { return each(s, layout.view); };
      const std::string outside = text(answer(program, views(stores())));
      const auto expect = [&](const std::string& name, const Function& run, const List& arguments) {
        std::string found;
        try {
          found = text(answer(run, arguments));
        } catch (const std::exception& error) { found = error.what(); }
        EXPECT_EQ(found, outside) << "under " << name << ", result " << result << ", argument: " << layout.name;
      };
      const Function inside = [&](const List& s) { return program(views(s)); };
      for (const auto& [name, run] : nests(inside, nested)) expect(name + ", a view made inside", run, stores());
      for (const Transform& t : on_one_example)
        if (std::string(t.name) != "tape")  // which does not let a watched view be written
          expect(t.name, t.of(program), views(stores()));
      for (const Transform& t : on_two_examples) expect(t.name, t.of(program), views(each(stores(), two)));
    }
  }
}

/// What a result and its argument show of writes to each other, once the transform has ended.
std::string what_is_shared(const Function& run, const List& x) {
  const Tensor y = run(x)[0], before = y.clone();
  x[0].add_(1);
  const std::string text = rc::any(rc::ne(y, before)).item<bool>() ? "follows the argument" : "stays";
  const Tensor argument = x[0].clone();
  try {
    y.copy_(y + 1);
  } catch (const rc::ValueError&) { return text + ", cannot be written"; }
  return text + (rc::any(rc::ne(x[0], argument)).item<bool>() ? ", reaches the argument" : ", reaches nothing");
}

/// The law for what transforms return. A program returns values alone.
void expect_one_sharing(const Function& f, const Tensor& x) {
  for (const Layout& layout : layouts) {
    const auto store = [&] { return List{layout.store(x)}; };
    const auto views = [&](const List& s) { return each(s, layout.view); };
    const std::string outside = what_is_shared(f, views(store()));
    const auto expect = [&](const std::string& name, const Function& run, const List& arguments) {
      EXPECT_EQ(what_is_shared(run, arguments), outside) << "under " << name << ", argument: " << layout.name;
    };
    for (const Transform& t : on_one_example) {
      const std::string name = t.name;
      if (name == "trace") continue;
      const Function inner = t.of(f);
      if (name != "tape") expect(name, inner, views(store()));  // it does not let a watched view be written
      for (const Transform& outer : on_one_example)
        if (std::string(outer.name) != "trace" && std::string(outer.name) != "tape" &&
            (name != "tape" || std::string(outer.name) != "vmap that does not map it"))
          expect(outer.name + std::string(" of ") + t.name, outer.of(inner), views(store()));
      for (const Transform& outer : on_two_examples)
        expect(outer.name + std::string(" of ") + t.name, outer.of(inner), views(each(store(), two)));
    }
    for (const Transform& t : on_two_examples) expect(t.name, t.of(f), views(each(store(), two)));
  }
}

/// All cases; of an elementwise operation without parameters, whose cases differ in shapes and numbers alone, the one
/// that has room for most layouts.
std::vector<Case> cases_to_share(const rc::Rules& rules) {
  std::vector<Case> all = laws::cases_of(rules);
  if (rules.kind != rc::Kind::elementwise || rules.parameters.size > 0) return all;
  const auto fewest_axes = [](const Case& c) {
    std::int64_t fewest = 9;
    for (const Tensor& x : c.inputs) fewest = std::min(fewest, x.numel() == 0 ? -1 : x.dim());
    return fewest;
  };
  return {std::ranges::max(all, {}, fewest_axes)};
}

class Sharing : public laws::Law {};

TEST_P(Sharing, ByAWriteToTheResult) {
  for (const Case& c : cases_to_share(rules())) {
    List x;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
      if (rc::is_floating(c.inputs[i].dtype())) {
        x.push_back(c.inputs[i]);
        places.push_back(i);
      }
    if (x.empty()) continue;
    SCOPED_TRACE(c.text());
    const Function f = [&](const List& given) {
      List inputs = c.inputs;
      for (std::size_t i = 0; i < places.size(); ++i) inputs[places[i]] = given[i];
      const Tensor* const input = &inputs[0];
      return rules().is_view() ? List{ricci::apply_one(c.op(), &input, 1)} : c(inputs);
    };
    expect_one_answer(writing, f, x, rules().is_view());
    expect_one_answer(writing_in_order, f, x, false);
    count_case();
  }
}

FOR_ALL_OPERATIONS(Sharing);

/// Functions that give a view of their argument, the argument itself or a copy, and some that may for some arguments.
const std::map<std::string, Tensor (*)(const Tensor&)> functions = {
    {"contiguous", [](const Tensor& x) { return x.contiguous(); }},
    {"contiguous of the transpose", [](const Tensor& x) { return x.mT().contiguous(); }},
    {"contiguous of a row", [](const Tensor& x) { return x[0].contiguous(); }},
    {"contiguous of a column", [](const Tensor& x) { return x.select(-1, 0).contiguous(); }},
    {"contiguous of columns", [](const Tensor& x) { return x.narrow(-1, 0, 1).contiguous(); }},
    {"contiguous of every second row", [](const Tensor& x) { return x.slice(0, 0, std::nullopt, 2).contiguous(); }},
    {"contiguous of a diagonal", [](const Tensor& x) { return x.diagonal().contiguous(); }},
    {"contiguous of a reshaped transpose", [](const Tensor& x) { return x.mT().reshape({-1}).contiguous(); }},
    {"contiguous of an expanded one", [](const Tensor& x) { return x.unsqueeze(0).expand({2, -1, -1}).contiguous(); }},
    {"contiguous of windows", [](const Tensor& x) { return x.unfold(-1, 2, 1).contiguous(); }},
    {"contiguous of strides", [](const Tensor& x) { return x.as_strided({2, 2}, {1, 2}).contiguous(); }},
    {"contiguous twice", [](const Tensor& x) { return x.mT().contiguous().mT().contiguous(); }},
    {"clone", [](const Tensor& x) { return x.clone(); }},
    {"detach", [](const Tensor& x) { return x.detach(); }},
    {"positive", [](const Tensor& x) { return rc::positive(x); }},
    {"to its own type", [](const Tensor& x) { return x.to(x.dtype()); }},
    {"to another type", [](const Tensor& x) { return x.to(rc::float32); }},
    {"real", [](const Tensor& x) { return rc::real(x); }},
    {"conj", [](const Tensor& x) { return rc::conj(x); }},
    {"reshape", [](const Tensor& x) { return x.reshape({-1}); }},
    {"reshape to its own shape", [](const Tensor& x) { return x.reshape(x.shape()); }},
    {"reshape of the transpose", [](const Tensor& x) { return x.mT().reshape({-1}); }},
    {"view", [](const Tensor& x) { return x.view({1, -1}); }},
    {"view_as", [](const Tensor& x) { return x.view_as(x); }},
    {"expand", [](const Tensor& x) { return x.expand({2, -1, -1}); }},
    {"expand to its own shape", [](const Tensor& x) { return x.expand({-1, -1}); }},
    {"expand_as", [](const Tensor& x) { return x.expand_as(x); }},
    {"broadcast_to", [](const Tensor& x) { return rc::broadcast_to(x, x.shape()); }},
    {"permute", [](const Tensor& x) { return rc::permute(x, {1, 0}); }},
    {"permute of nothing", [](const Tensor& x) { return rc::permute(x, {0, 1}); }},
    {"transpose", [](const Tensor& x) { return x.transpose(0, 1); }},
    {"movedim", [](const Tensor& x) { return x.movedim(0, -1); }},
    {"slice", [](const Tensor& x) { return x.slice(0, 0, 1); }},
    {"slice of all", [](const Tensor& x) { return x.slice(0, std::nullopt, std::nullopt); }},
    {"select", [](const Tensor& x) { return x.select(0, 1); }},
    {"narrow", [](const Tensor& x) { return x.narrow(1, 0, 1); }},
    {"diagonal", [](const Tensor& x) { return x.diagonal(); }},
    {"unfold", [](const Tensor& x) { return x.unfold(-1, 2, 2); }},
    {"squeeze", [](const Tensor& x) { return x.unsqueeze(0).squeeze(); }},
    {"squeeze of nothing", [](const Tensor& x) { return x.squeeze(0); }},
    {"unsqueeze", [](const Tensor& x) { return x.unsqueeze(-1); }},
    {"flatten", [](const Tensor& x) { return x.flatten(); }},
    {"as_strided", [](const Tensor& x) { return x.as_strided({2}, {2}, 1); }},
    {"unbind", [](const Tensor& x) { return x.unbind()[0]; }},
    {"unstack", [](const Tensor& x) { return rc::unstack(x)[0]; }},
    {"split", [](const Tensor& x) { return x.split(1)[0]; }},
    {"chunk", [](const Tensor& x) { return x.chunk(1)[0]; }},
    {"tensor_split", [](const Tensor& x) { return rc::tensor_split(x, 2)[0]; }},
    {"meshgrid", [](const Tensor& x) { return rc::meshgrid({x[0], x[1]})[0]; }},
    {"meshgrid of one", [](const Tensor& x) { return rc::meshgrid({x[0]})[0]; }},
    {"index by a number", [](const Tensor& x) { return Tensor(x[0]); }},
    {"index by slices", [](const Tensor& x) { return Tensor(x.index({rc::Slice(0, 2), 0})); }},
    {"index by a tensor", [](const Tensor& x) { return Tensor(x.index({rc::tensor({0})})); }},
    {"cat of one", [](const Tensor& x) { return rc::cat({x}); }},
    {"stack of one", [](const Tensor& x) { return rc::stack({x}); }},
    {"repeat of once", [](const Tensor& x) { return rc::repeat(x, {1, 1}); }},
    {"tile of once", [](const Tensor& x) { return rc::tile(x, {1}); }},
    {"repeat_interleave of once", [](const Tensor& x) { return rc::repeat_interleave(x, 1, 0); }},
    {"flip of no axis", [](const Tensor& x) { return rc::flip(x, {}); }},
    {"roll by nothing", [](const Tensor& x) { return rc::roll(x, 0); }},
    {"roll of no axis", [](const Tensor& x) { return rc::roll(x, {0}, {0}); }},
    {"tril of all", [](const Tensor& x) { return rc::tril(x, 9); }},
    {"diag", [](const Tensor& x) { return rc::diag(x); }},
    {"pad by nothing", [](const Tensor& x) { return rc::pad(x, {0, 0}); }},
    {"pad that cuts", [](const Tensor& x) { return rc::pad(x, {-1, 0}); }},
    {"sum over an axis of one", [](const Tensor& x) { return x.unsqueeze(0).sum(0); }},
    {"mean over an axis of one", [](const Tensor& x) { return x.unsqueeze(0).mean(0); }},
    {"pow by one", [](const Tensor& x) { return rc::pow(x, 1); }},
    {"matrix_power of one", [](const Tensor& x) { return rc::matrix_power(x.slice(-1, 0, 2), 1); }},
    {"einsum that keeps", [](const Tensor& x) { return rc::einsum("ij->ij", x); }},
    {"einsum that transposes", [](const Tensor& x) { return rc::einsum("ij->ji", x); }},
    {"einsum of a diagonal", [](const Tensor& x) { return rc::einsum("ii->i", x.slice(-1, 0, 2)); }},
    {"dropout of nothing", [](const Tensor& x) { return rc::dropout(x, 0.5, false); }},
    {"where", [](const Tensor& x) { return rc::where(rc::ones({}, rc::boolean), x, x); }},
    {"nan_to_num", [](const Tensor& x) { return rc::nan_to_num(x); }},
    {"masked_fill of nothing", [](const Tensor& x) { return rc::masked_fill(x, rc::zeros({}, rc::boolean), 1); }},
    {"sort of one", [](const Tensor& x) { return rc::sort(x.unsqueeze(-1), -1).first; }},
    {"cumsum of one", [](const Tensor& x) { return rc::cumsum(x.unsqueeze(0), 0); }},
    {"a write in place", [](const Tensor& x) { return x.add_(0); }},
    {"a copy into the transpose",
     [](const Tensor& x) {
       const Tensor y = x.mT();
       y.copy_(y * 1);
       return y.contiguous();
     }},
    {"a copy of a transpose into rows",
     [](const Tensor& x) {
       const Tensor y = rc::zeros({3, 2}, rc::float64);
       y.copy_(x.mT());
       x.add_(y.contiguous().mT().sum() * 0);
       return y.contiguous();
     }},
};

class SharingOfFunctions : public testing::TestWithParam<std::string> {};

TEST_P(SharingOfFunctions, ByAWriteToTheResult) {
  Tensor (*const f)(const Tensor&) = functions.at(GetParam());
  const Tensor x = rc::tensor({{0.5, 1.5, 2.5}, {3.5, 4.5, 5.5}}, rc::float64);
  const Function one = [f](const List& given) { return List{f(given[0])}; };
  expect_one_answer(writing, one, {x}, true);
  expect_one_answer(writing_in_order, one, {x}, false);  // nested: functions of which `contiguous` is the last
}

TEST_P(SharingOfFunctions, ByTheResultOfATransform) {
  Tensor (*const f)(const Tensor&) = functions.at(GetParam());
  expect_one_sharing([f](const List& given) { return List{f(given[0])}; },
                     rc::tensor({{0.5, 1.5, 2.5}, {3.5, 4.5, 5.5}}, rc::float64));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, f] : functions) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(, SharingOfFunctions, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
