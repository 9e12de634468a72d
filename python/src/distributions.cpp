// Probability distributions in Python, under ricci.distributions: the members of the C++ structs, as methods of the
// dataclasses of python/ricci/distributions.py, whose fields have the same names. Start with `described`.
#include "ricci/distributions.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "call.h"
#include "errors.h"
#include "object.h"
#include "random.h"
#include "sizes.h"
#include "transforms.h"

namespace ricci::python {
namespace {

using namespace distributions;

template <class D, class T>
struct Field {
  const char* name;
  T D::* member;
};

/// The name of a struct, and its fields. Classes of Python have the same.
template <class D>
constexpr auto described = nullptr;
template <>
constexpr auto described<Normal> = std::tuple{"Normal", Field{"loc", &Normal::loc}, Field{"scale", &Normal::scale}};
template <>
constexpr auto described<StudentT> =
    std::tuple{"StudentT", Field{"df", &StudentT::df}, Field{"loc", &StudentT::loc}, Field{"scale", &StudentT::scale}};
template <>
constexpr auto described<Cauchy> = std::tuple{"Cauchy", Field{"loc", &Cauchy::loc}, Field{"scale", &Cauchy::scale}};
template <>
constexpr auto described<Laplace> = std::tuple{"Laplace", Field{"loc", &Laplace::loc}, Field{"scale", &Laplace::scale}};
template <>
constexpr auto described<Gumbel> = std::tuple{"Gumbel", Field{"loc", &Gumbel::loc}, Field{"scale", &Gumbel::scale}};
template <>
constexpr auto described<LogNormal> =
    std::tuple{"LogNormal", Field{"loc", &LogNormal::loc}, Field{"scale", &LogNormal::scale}};
template <>
constexpr auto described<HalfNormal> = std::tuple{"HalfNormal", Field{"scale", &HalfNormal::scale}};
template <>
constexpr auto described<Exponential> = std::tuple{"Exponential", Field{"rate", &Exponential::rate}};
template <>
constexpr auto described<Gamma> =
    std::tuple{"Gamma", Field{"concentration", &Gamma::concentration}, Field{"rate", &Gamma::rate}};
template <>
constexpr auto described<Weibull> =
    std::tuple{"Weibull", Field{"scale", &Weibull::scale}, Field{"concentration", &Weibull::concentration}};
template <>
constexpr auto described<Uniform> = std::tuple{"Uniform", Field{"low", &Uniform::low}, Field{"high", &Uniform::high}};
template <>
constexpr auto described<Beta> =
    std::tuple{"Beta", Field{"concentration1", &Beta::concentration1}, Field{"concentration0", &Beta::concentration0}};
template <>
constexpr auto described<VonMises> =
    std::tuple{"VonMises", Field{"loc", &VonMises::loc}, Field{"concentration", &VonMises::concentration}};
template <>
constexpr auto described<Bernoulli> =
    std::tuple{"Bernoulli", Field{"probs", &Bernoulli::probs}, Field{"logits", &Bernoulli::logits}};
template <>
constexpr auto described<Binomial> = std::tuple{"Binomial", Field{"total_count", &Binomial::total_count},
                                                Field{"probs", &Binomial::probs}, Field{"logits", &Binomial::logits}};
template <>
constexpr auto described<Poisson> = std::tuple{"Poisson", Field{"rate", &Poisson::rate}};
template <>
constexpr auto described<Categorical> =
    std::tuple{"Categorical", Field{"probs", &Categorical::probs}, Field{"logits", &Categorical::logits}};
template <>
constexpr auto described<Multinomial> =
    std::tuple{"Multinomial", Field{"total_count", &Multinomial::total_count}, Field{"probs", &Multinomial::probs},
               Field{"logits", &Multinomial::logits}};
template <>
constexpr auto described<MultivariateNormal> =
    std::tuple{"MultivariateNormal", Field{"loc", &MultivariateNormal::loc},
               Field{"covariance_matrix", &MultivariateNormal::covariance_matrix},
               Field{"precision_matrix", &MultivariateNormal::precision_matrix},
               Field{"scale_tril", &MultivariateNormal::scale_tril}};
template <>
constexpr auto described<Dirichlet> = std::tuple{"Dirichlet", Field{"concentration", &Dirichlet::concentration}};
template <>
constexpr auto described<AffineTransform> =
    std::tuple{"AffineTransform", Field{"loc", &AffineTransform::loc}, Field{"scale", &AffineTransform::scale}};
template <>
constexpr auto described<ExpTransform> = std::tuple{"ExpTransform"};
template <>
constexpr auto described<PowerTransform> = std::tuple{"PowerTransform", Field{"exponent", &PowerTransform::exponent}};
template <>
constexpr auto described<SigmoidTransform> = std::tuple{"SigmoidTransform"};
template <>
constexpr auto described<TanhTransform> = std::tuple{"TanhTransform"};
template <>
constexpr auto described<SoftplusTransform> = std::tuple{"SoftplusTransform"};

template <class D>
constexpr const char* name_of = std::get<0>(described<D>);

// ── from Python's objects ──

/// A field's value: a Tensor, or a number as the Tensor that C++ makes of it. Undefined for None.
Tensor parameter(nb::handle value, const char* name, const char* of) {
  Tensor made;
  if (value.is_none()) return made;
  if (is_tensor(value.ptr())) return tensor_of(value.ptr());
  if (!number_from(value.ptr(), made))
    throw TypeError(std::string(of) + ": " + name + " must be a Tensor or a number, not " + name_of_type(value.ptr()));
  return made;
}
void set(Tensor& field, nb::handle value, const char* name, const char* of) {
  field = parameter(value, name, of);
  if (!field.defined()) throw TypeError(std::string(of) + ": " + name + " is missing; it must be a Tensor or a number");
}
void set(std::optional<Tensor>& field, nb::handle value, const char* name, const char* of) {
  const Tensor given = parameter(value, name, of);
  if (given.defined()) field = given;
}
void set(std::int64_t& field, nb::handle value, const char* name, const char* of) {
  if (!int_from(value.ptr(), field))
    throw TypeError(std::string(of) + ": " + name + " must be an int, not " + name_of_type(value.ptr()));
}

template <class D>
D from(nb::handle object) {
  D made{};
  const auto read = [&]([[maybe_unused]] const char* of, const auto&... field) {
    (set(made.*field.member, object.attr(field.name), field.name, of), ...);
  };
  std::apply(read, described<D>);
  return made;
}

Tensor tensor_from(nb::handle returned, const char* member) { return parameter(returned, "what it returns", member); }
/// A size, or a list of them.
Shape shape_from(nb::handle given) {
  Shape shape;
  const auto add = [&](nb::handle item) {
    Size size;
    if (!size_from(item.ptr(), size))
      throw TypeError("sample: sample_shape must be an int or a tuple of ints, not " + name_of_type(given.ptr()));
    shape.push_back(size);
  };
  if (!PyTuple_Check(given.ptr()) && !PyList_Check(given.ptr())) return add(given), shape;
  for (nb::handle item : nb::borrow<nb::object>(given)) add(item);
  return shape;
}

/// A distribution of Python as the part of one that is made of it.
template <int dims>
struct Part {
  nb::object object;

  static constexpr int event_dims = dims;
  Tensor sample(const Key& key, const Shape& sample_shape) const {
    const nb::object shape = nb::steal(wrap_shape(sample_shape));
    return tensor_from(call(object.attr("sample"), nb::make_tuple(wrap_key(key.data), shape)), "sample");
  }
  Tensor log_prob(const Tensor& value) const { return of("log_prob", value); }
  Tensor cdf(const Tensor& value) const { return of("cdf", value); }
  Tensor icdf(const Tensor& probability) const { return of("icdf", probability); }
  Tensor mean() const { return of("mean"); }
  Tensor variance() const { return of("variance"); }

 private:
  Tensor of(const char* member, const auto&... values) const {
    return tensor_from(call(object.attr(member), nb::make_tuple(wrapped(values)...)), member);
  }
};
/// The same of a transform.
struct PartTransform {
  nb::object object;

  Tensor operator()(const Tensor& x) const { return of("__call__", x); }
  Tensor inverse(const Tensor& y) const { return of("inverse", y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const { return of("log_abs_det_jacobian", x, y); }
  Tensor reaches(const Tensor& y) const { return of("reaches", y); }
  Tensor sign() const { return of("sign"); }

 private:
  Tensor of(const char* member, const auto&... values) const {
    return tensor_from(call(object.attr(member), nb::make_tuple(wrapped(values)...)), member);
  }
};

template <int dims>
MixtureSameFamily<Part<dims>> mixture_from(nb::handle object) {
  return {from<Categorical>(object.attr("mixture_distribution")), {nb::object(object.attr("component_distribution"))}};
}
template <int dims>
distributions::TransformedDistribution<Part<dims>, PartTransform> transformed_from(nb::handle object) {
  return {{nb::object(object.attr("_below"))}, std::tuple{PartTransform{nb::object(object.attr("_last"))}}};
}

// ── methods ──

/// The members that a C++ type has: a dict from names to methods, which python/ricci/distributions.py gives to a class.
/// `get(object)` makes a C++ object of a Python one.
template <class Get>
class Members {
 public:
  explicit Members(Get get) : get_(std::move(get)) {}

  nb::dict of_distribution() {
    const auto key = nb::arg("key"), value = nb::arg("value");
    add(
        "sample",
        [get = get_](nb::handle self, const Key& with, nb::handle shape) {
          return get(self).sample(with, shape_from(shape));
        },
        "[sample_shape…, batch…, event…]: the same numbers for the same key.", key,
        nb::arg("sample_shape") = nb::tuple());
    member(
        "log_prob", "The logarithm of the density, or of the probability.",
        [](const auto& d, const Tensor& x) -> decltype(d.log_prob(x)) { return d.log_prob(x); }, value);
    member(
        "cdf", "The probability of a number that is not greater.",
        []<class D>
          requires(D::event_dims == 0)
        (const D& d, const Tensor& x) -> decltype(d.cdf(x)) { return d.cdf(x); },
        value);
    member(
        "log_cdf", "Its logarithm, to the last digits in both tails.",
        [](const auto& d, const Tensor& x) -> decltype(d.log_cdf(x)) { return d.log_cdf(x); }, value);
    member(
        "icdf", "The inverse of cdf.", [](const auto& d, const Tensor& p) -> decltype(d.icdf(p)) { return d.icdf(p); },
        nb::arg("probability"));
    member("entropy", "In nats.", [](const auto& d) -> decltype(d.entropy()) { return d.entropy(); });
    member("mean", "[batch…, event…]", [](const auto& d) -> decltype(d.mean()) { return d.mean(); });
    member("variance", "[batch…, event…]", [](const auto& d) -> decltype(d.variance()) { return d.variance(); });
    member("log_probs", "Of all classes.", [](const auto& d) -> decltype(d.log_probs()) { return d.log_probs(); });
    member("factor", "scale_tril, computed if it was not given.",
           [](const auto& d) -> decltype(d.factor()) { return d.factor(); });
    return dict_;
  }
  nb::dict of_transform() {
    const auto x = nb::arg("x"), y = nb::arg("y");
    member("__call__", "y of x.", [](const auto& t, const Tensor& at) -> decltype(t(at)) { return t(at); }, x);
    member(
        "inverse", "x of y.", [](const auto& t, const Tensor& at) -> decltype(t.inverse(at)) { return t.inverse(at); },
        y);
    add(
        "log_abs_det_jacobian",
        [get = get_](nb::handle self, const Tensor& at, const Tensor& to) {
          return get(self).log_abs_det_jacobian(at, to);
        },
        "The logarithm of the slope's absolute value at x, where y is t(x).", x, y);
    member(
        "reaches", "bool: whether y is a value of the transform.",
        [](const auto& t, const Tensor& at) -> decltype(t.reaches(at)) { return t.reaches(at); }, y);
    member("sign", "1 where it rises, -1 where it falls.",
           [](const auto& t) -> decltype(t.sign()) { return t.sign(); });
    return dict_;
  }

 private:
  using Of = decltype(std::declval<const Get&>()(nb::handle()));

  template <class F, class... A>
  void add(const char* name, const F& f, const char* doc, const A&... arguments) {
    dict_[name] = nb::cpp_function(f, nb::name(name), nb::is_method(), arguments..., doc);
  }
  /// Nothing where D has no such member.
  template <class F, class... A>
  void member(const char* name, const char* doc, const F& f, const A&... arguments) {
    if constexpr (std::is_invocable_v<F, const Of&> && sizeof...(A) == 0) {
      add(name, [f, get = get_](nb::handle self) { return f(get(self)); }, doc);
    } else if constexpr (std::is_invocable_v<F, const Of&, const Tensor&> && sizeof...(A) == 1) {
      add(name, [f, get = get_](nb::handle self, const Tensor& x) { return f(get(self), x); }, doc, arguments...);
    }
  }

  nb::dict dict_;
  Get get_;
};

template <class D>
void add_distribution(nb::module_& m) {
  nb::dict members = Members([](nb::handle object) { return from<D>(object); }).of_distribution();
  members["event_dims"] = static_cast<int>(D::event_dims);
  m.attr(name_of<D>) = members;
}
template <class T>
void add_transform(nb::module_& m) {
  m.attr(name_of<T>) = Members([](nb::handle object) { return from<T>(object); }).of_transform();
}

/// Whether an object is of the class of this name, or of one that is derived from it.
template <class D>
bool is(nb::handle object) {
  return nb::isinstance(object, nb::module_::import_("ricci.distributions").attr(name_of<D>));
}
/// kl_divergence of these two kinds, if the objects are of them.
template <class P, class Q>
bool divergence(nb::handle p, nb::handle q, Tensor& into) {
  if (!is<P>(p) || !is<Q>(q)) return false;
  into = kl_divergence(from<P>(p), from<Q>(q));
  return true;
}
template <class... D>
bool divergence_of_one_kind(nb::handle p, nb::handle q, Tensor& into) {
  return (divergence<D, D>(p, q, into) || ...);
}
Tensor kl_divergence_of(nb::handle p, nb::handle q) {
  Tensor found;
  const bool is_known =
      divergence_of_one_kind<Normal, LogNormal, HalfNormal, Laplace, Cauchy, Gumbel, Exponential, Gamma, Uniform, Beta,
                             VonMises, Bernoulli, Binomial, Poisson, Categorical, MultivariateNormal, Dirichlet>(
          p, q, found) ||
      divergence<Uniform, Normal>(p, q, found) || divergence<Laplace, Normal>(p, q, found) ||
      divergence<Exponential, Normal>(p, q, found) || divergence<Exponential, Gamma>(p, q, found) ||
      divergence<Gamma, Exponential>(p, q, found) || divergence<Gamma, Normal>(p, q, found) ||
      divergence<Beta, Normal>(p, q, found);
  if (!is_known) {
    const auto name = [](nb::handle o) { return std::string(nb::inst_name(o).c_str()); };
    throw NotImplementedError("kl_divergence: there is no closed form for " + name(p) + " and " + name(q) +
                              "; take the mean of p.log_prob(x) - q.log_prob(x) over samples x of p");
  }
  return found;
}

}  // namespace

void make_distributions(nb::module_& module) {
  nb::module_ m = module.def_submodule("_distributions");
  const auto add = [&m]<class... D>(std::type_identity<D>...) { (add_distribution<D>(m), ...); };
  add(std::type_identity<Normal>(), std::type_identity<StudentT>(), std::type_identity<Cauchy>(),
      std::type_identity<Laplace>(), std::type_identity<Gumbel>(), std::type_identity<LogNormal>(),
      std::type_identity<HalfNormal>(), std::type_identity<Exponential>(), std::type_identity<Gamma>(),
      std::type_identity<Weibull>(), std::type_identity<Uniform>(), std::type_identity<Beta>(),
      std::type_identity<VonMises>(), std::type_identity<Bernoulli>(), std::type_identity<Binomial>(),
      std::type_identity<Poisson>(), std::type_identity<Categorical>(), std::type_identity<Multinomial>(),
      std::type_identity<MultivariateNormal>(), std::type_identity<Dirichlet>());
  const auto add_all = [&m]<class... T>(std::type_identity<T>...) { (add_transform<T>(m), ...); };
  add_all(std::type_identity<AffineTransform>(), std::type_identity<ExpTransform>(),
          std::type_identity<PowerTransform>(), std::type_identity<SigmoidTransform>(),
          std::type_identity<TanhTransform>(), std::type_identity<SoftplusTransform>());
  // By the axes of their events: of numbers, and of vectors.
  m.attr("MixtureSameFamily") =
      nb::make_tuple(Members(mixture_from<0>).of_distribution(), Members(mixture_from<1>).of_distribution());
  m.attr("TransformedDistribution") =
      nb::make_tuple(Members(transformed_from<0>).of_distribution(), Members(transformed_from<1>).of_distribution());
  m.def("kl_divergence", kl_divergence_of, nb::arg("p"), nb::arg("q"),
        "The mean of p.log_prob(x) - q.log_prob(x) over samples x of p, in closed form. NotImplementedError for pairs "
        "that have none.");
  m.def(
      "parameter",
      [](nb::handle value, const std::string& name, const std::string& of) {
        return parameter(value, name.c_str(), of.c_str());
      },
      nb::arg("value").none(), nb::arg("name"), nb::arg("of"));
}

}  // namespace ricci::python
