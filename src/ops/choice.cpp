// Choosing among elements: by a mask, the greater, the smaller, within bounds. Derivatives choose as well, so that a
// NaN or infinity that was not chosen leaks into no gradient. Start with `Where`.
#include <cmath>

#include "ops/axes.h"
#include "ops/constants.h"
#include "primitive/writing.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

Tensor random_mask(const Shape& shape) { return lt(rand(shape), 0.5); }

struct Where {
  using kind = Elementwise;
  using operands = OperandKinds<Boolean, SameAsInput, SameAsInput>;
  static constexpr const char* name = "where";
  static constexpr unsigned linear_in = input(1) | input(2);
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = DTypes::all;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(scalar::Mask<T> condition, T a, T b) const { return scalar::select(condition, a, b); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return zeros_of({t.dtype(), type_of(x[0]).shape});  // a floating condition: locally constant
    return i == 1 ? where(x[0], t, 0) : where(x[0], 0, t);
  }
  static double reference(double condition, double a, double b) { return condition != 0 ? a : b; }
  static std::vector<Sample<Where>> samples() {
    return {{{}, {random_mask({2, 3}), rand({2, 3}), rand({2, 3})}}, {{}, {random_mask({3}), rand({2, 1}), rand({})}}};
  }
};

/// Where under another name and order of operands: `masked_fill_` writes the place of the first.
struct MaskedFill {
  using kind = Elementwise;
  using operands = OperandKinds<SameAsInput, Boolean, SameAsInput>;
  static constexpr const char* name = "masked_fill";
  static constexpr unsigned linear_in = input(0) | input(2);
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = DTypes::all;
  static constexpr unsigned keeps = input(1);
  template <class T> auto formula(T x, scalar::Mask<T> mask, T value) const { return scalar::select(mask, value, x); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 1) return zeros_of({t.dtype(), type_of(x[1]).shape});
    return i == 0 ? where(x[1], 0, t) : where(x[1], t, 0);
  }
  static double reference(double x, double mask, double value) { return mask != 0 ? value : x; }
  static std::vector<Sample<MaskedFill>> samples() { return {{{}, {rand({2, 3}), random_mask({3}), rand({})}}}; }
};

/// t where a > b, half of it where they tie, 0 where a < b. A step: constant in a and b.
struct GreaterShare {
  using kind = Elementwise;
  static constexpr const char* name = "greater_share";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 0.5;
  static constexpr unsigned keeps[] = {input(1) | input(2), nothing};
  template <class T> auto formula(T t, T a, T b) const {
    const T most = scalar::select(scalar::equal(a, b), t * T(0.5), t);
    return scalar::select(scalar::less(a, b), T(0), most);
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(GreaterShare{}, t, x[1], x[2]) : Tensor();
  }
  static double reference(double t, double a, double b) { return a > b ? t : a < b ? 0 : t / 2; }
};

struct Maximum {
  using kind = Elementwise;
  static constexpr const char* name = "maximum";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = ordered;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T b) const { return scalar::max(a, b); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(GreaterShare{}, t, x[0], x[1]) : apply(GreaterShare{}, t, x[1], x[0]);
  }
  static double reference(double a, double b) { return a > b ? a : b; }
};

struct Minimum {
  using kind = Elementwise;
  static constexpr const char* name = "minimum";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = ordered;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T b) const { return scalar::min(a, b); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(GreaterShare{}, t, x[1], x[0]) : apply(GreaterShare{}, t, x[0], x[1]);
  }
  static double reference(double a, double b) { return a < b ? a : b; }
};

/// What input i of fmax or fmin has of t; `by_order` is its share of it between numbers. Of a number and a NaN the
/// number has it all, of two NaN the first.
Tensor share_of_numbers(int i, const Tensor& t, const Tensor& by_order, std::span<const Tensor> x) {
  const Tensor first_wins = i == 0 ? t : Tensor(0), second_wins = i == 0 ? Tensor(0) : t;
  return where(isnan(x[1]), first_wins, where(isnan(x[0]), second_wins, by_order));
}

struct Fmax {
  using kind = Elementwise;
  static constexpr const char* name = "fmax";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = ordered;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T b) const {
    return scalar::select(scalar::greater_equal(a, b) || scalar::isnan(b), a, b);
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return share_of_numbers(i, t, Maximum().scale(i, t, x, y), x);
  }
  static double reference(double a, double b) { return std::fmax(a, b); }
};

struct Fmin {
  using kind = Elementwise;
  static constexpr const char* name = "fmin";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = ordered;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T b) const {
    return scalar::select(scalar::less_equal(a, b) || scalar::isnan(b), a, b);
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return share_of_numbers(i, t, Minimum().scale(i, t, x, y), x);
  }
  static double reference(double a, double b) { return std::fmin(a, b); }
};

bool is_number(const Tensor& x) { return type_of(x).weak; }

/// t where low < x < high, else 0: the derivative by x of a clamp between numbers. A step: constant in all but t.
struct ClampSlope {
  using kind = Elementwise;
  static constexpr const char* name = "clamp_slope";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 0;
  static constexpr unsigned keeps[] = {input(1) | input(2) | input(3), nothing};
  template <class T> auto formula(T t, T x, T low, T high) const {
    return scalar::select(scalar::greater(x, low) && scalar::less(x, high), t, T(0));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(ClampSlope{}, t, x[1], x[2], x[3]) : Tensor();
  }
  static std::vector<Sample<ClampSlope>> samples() { return {{{}, {rand({8}), rand({8}), rand({8}), rand({8})}}}; }
};

/// What x has of t in a clamp between tensors: all between them, and where all three are equal; half at one of them.
struct ClampShare {
  using kind = Elementwise;
  static constexpr const char* name = "clamp_share";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 0.5;
  static constexpr unsigned keeps[] = {input(1) | input(2) | input(3), nothing};
  template <class T> auto formula(T t, T x, T low, T high) const {
    const auto ties = scalar::less(low, high) && (scalar::equal(x, low) || scalar::equal(x, high));
    const auto outside = scalar::less(x, low) || scalar::greater(x, high);
    return scalar::select(outside, T(0), scalar::select(ties, t * T(0.5), t));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(ClampShare{}, t, x[1], x[2], x[3]) : Tensor();
  }
  static std::vector<Sample<ClampShare>> samples() { return {{{}, {rand({8}), rand({8}), rand({8}), rand({8})}}}; }
};

/// The greater of x and low, then the smaller of that and high. Where low > high, the gradient goes to high. A bound
/// that x ties with has half of it if it is a tensor, and all of it if both bounds are numbers.
struct Clamp {
  using kind = Elementwise;
  static constexpr const char* name = "clamp";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = ordered;
  static constexpr unsigned keeps = input(0) | input(1) | input(2);
  template <class T> auto formula(T x, T low, T high) const { return scalar::min(scalar::max(x, low), high); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    const Tensor &low = x[1], &high = x[2];
    const bool numbers = is_number(low) && is_number(high);
    if (i == 0) return numbers ? apply(ClampSlope{}, t, x[0], low, high) : apply(ClampShare{}, t, x[0], low, high);
    const Tensor tie = where(logical_and(lt(low, high), eq(x[0], x[at(i)])), mul(t, numbers ? 1 : 0.5), 0);
    if (i == 1) return where(logical_and(le(low, high), lt(x[0], low)), t, tie);
    return where(logical_or(gt(low, high), logical_and(le(low, high), gt(x[0], high))), t, tie);
  }
  static double reference(double x, double low, double high) { return std::fmin(std::fmax(x, low), high); }
};

/// Maximum; but where the bound is a number, x has nothing in a tie.
struct ClampMin {
  using kind = Elementwise;
  static constexpr const char* name = "clamp_min";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = ordered;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T x, T low) const { return scalar::max(x, low); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    if (!is_number(x[1])) return Maximum().scale(i, t, x, y);
    const Tensor above = gt(x[0], x[1]);
    return i == 0 ? where(above, t, 0) : where(above, 0, t);
  }
  static double reference(double x, double low) { return std::fmax(x, low); }
};

/// Minimum; but where the bound is a number, x has nothing in a tie.
struct ClampMax {
  using kind = Elementwise;
  static constexpr const char* name = "clamp_max";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = ordered;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T x, T high) const { return scalar::min(x, high); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    if (!is_number(x[1])) return Minimum().scale(i, t, x, y);
    const Tensor below = lt(x[0], x[1]);
    return i == 0 ? where(below, t, 0) : where(below, 0, t);
  }
  static double reference(double x, double high) { return std::fmin(x, high); }
};

/// `run(operation, bounds…)` with the bounds that there are.
template <class Run>
decltype(auto) with_bounds(const char* op, const Tensor& low, const Tensor& high, const Run& run) {
  if (!low.defined() && !high.defined())
    raise<ValueError>(std::string(op) + ": neither low nor high is given; at least one of them must be");
  if (low.defined() && high.defined()) return run(Clamp{}, low, high);
  return low.defined() ? run(ClampMin{}, low) : run(ClampMax{}, high);
}

}  // namespace

namespace ops {

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) { return apply(Where{}, condition, a, b); }
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value) {
  require_defined("masked_fill", x, 0);
  require_defined("masked_fill", value, 2);
  return apply(MaskedFill{}, x, mask, converted(value, x.dtype(), "masked_fill"));
}
Tensor maximum(const Tensor& a, const Tensor& b) { return apply(Maximum{}, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return apply(Minimum{}, a, b); }
Tensor fmax(const Tensor& a, const Tensor& b) { return apply(Fmax{}, a, b); }
Tensor fmin(const Tensor& a, const Tensor& b) { return apply(Fmin{}, a, b); }
Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high) {
  return with_bounds("clamp", low, high, [&](auto op, const auto&... bounds) { return apply(op, x, bounds...); });
}
Tensor clamp_min(const Tensor& x, const Tensor& low) { return apply(ClampMin{}, x, low); }
Tensor clamp_max(const Tensor& x, const Tensor& high) { return apply(ClampMax{}, x, high); }

const Tensor& Tensor::clamp_(const Tensor& low, const Tensor& high) const {
  return with_bounds("clamp_", low, high, [&](auto op, const auto&... bounds) -> const Tensor& {
    return apply_into(*this, op, *this, bounds...);
  });
}
const Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const {
  require_defined("masked_fill_", *this, 0);
  require_defined("masked_fill_", value, 2);
  return apply_into(*this, MaskedFill{}, *this, mask, converted(value, dtype(), "masked_fill_"));
}

const Tensor& Tensor::clamp_min_(const Tensor& low) const { return apply_into(*this, ClampMin{}, *this, low); }
const Tensor& Tensor::clamp_max_(const Tensor& high) const { return apply_into(*this, ClampMax{}, *this, high); }

}  // namespace ops
}  // namespace ricci
