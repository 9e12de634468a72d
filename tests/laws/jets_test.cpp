// The law of jets: of every operation, the derivatives along a curve are those that nested forward derivatives give.
#include <string_view>

#include "law.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Smooth;

class Jets : public laws::Law {};

/// The derivative of a function of where a curve is and of its derivatives, all in one list: each moves along the next.
List along_curve(const Function& f, const List& curve, std::size_t inputs) {
  const auto step = static_cast<std::ptrdiff_t>(inputs);
  return laws::tangents(f, List(curve.begin(), curve.end() - step), List(curve.begin() + step, curve.end()));
}

/// How far values may be from those without a derivative. These operations find values alone by a faster routine of
/// LAPACK; with a derivative they find vectors too, by another one that rounds otherwise.
double tolerance_of_value(std::string_view name) {
  const bool is_of_two_routines = name == "eigvalsh" || name == "eigvals" || name == "svdvals";
  return is_of_two_routines ? laws::tolerance_of(ricci::float64) : 0;
}

TEST_P(Jets, AreNestedForwardDerivatives) {
  for (const Case& c : laws::cases_of(rules())) {
    const Case variants[] = {c, laws::complexified(c)};
    for (const Case& variant : variants) {
      if (variant.inputs.empty()) continue;
      SCOPED_TRACE(variant.text());
      const Smooth s = laws::smooth_part(variant);
      if (s.empty()) continue;
      const std::size_t inputs = s.x.size();
      const std::vector<List> series{laws::directions(s.x, 1), laws::directions(s.x, 2), laws::directions(s.x, 3)};
      const Function first = [&](const List& curve) { return along_curve(s.f, curve, inputs); };
      const Function second = [&](const List& curve) { return along_curve(first, curve, inputs); };
      const auto [y, found] = ricci::jet(s.f, s.x, series);
      List curve = s.x;
      const Function orders[] = {first, second, [&](const List& at) { return along_curve(second, at, inputs); }};
      laws::expect_close(y, s.y, tolerance_of_value(rules().name), "value");
      for (std::size_t k = 0; k < series.size(); ++k) {
        curve = laws::joined(curve, series[k]);
        SCOPED_TRACE(k + 1);
        // Three derivatives one in the other, each with its own roundings.
        laws::expect_close(found[k], orders[k](curve), 1e3 * laws::tolerance_of(ricci::float64), "jet");
      }
      count_case();
    }
  }
}

FOR_ALL_OPERATIONS(Jets);

}  // namespace
