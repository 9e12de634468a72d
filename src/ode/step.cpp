// Sums of slopes, weighted.
#include "ode/step.h"

#include <cstddef>

#include "ricci/ops.h"

namespace ricci::ode {

Tensor weighted(const std::vector<double>& weights, const std::vector<Tensor>& slopes) {
  Tensor sum;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (weights[j] == 0) continue;
    const Tensor part = weights[j] == 1 ? slopes[j] : weights[j] * slopes[j];
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

Step explicit_step(const Tableau& method, const Field& field, const Span& span) {
  const auto& [t, y, f, end, h] = span;
  Step step;
  step.slopes = {f};
  for (std::size_t i = 1; i < method.a.size(); ++i) {
    const Tensor time = method.c[i] == 1 ? end : t + method.c[i] * h;
    step.slopes.push_back(field(time, y + h * weighted(method.a[i], step.slopes)));
  }
  step.y = y + h * weighted(method.b, step.slopes);
  step.f = field(end, step.y);
  step.slopes.push_back(step.f);
  if (!method.error.empty()) step.error = h * weighted(method.error, step.slopes);
  return step;
}

Step leapfrog_step(const Field& field, const Before& before, const Span& span) {
  const Tensor y = before.y + (span.end - before.t) * span.f, f = field(span.end, y);
  return {.y = y, .f = f, .error = {}, .slopes = {span.f, (y - span.y) / span.h, f}};
}

std::vector<Tensor> slopes_between(const Tableau& method, const std::vector<Tensor>& slopes) {
  std::vector<Tensor> kept;
  for (std::size_t j = 0; j < slopes.size(); ++j)
    if (!method.dense[j].empty()) kept.push_back(slopes[j]);
  return kept;
}

Tensor value_within(const Tableau& method, const Piece& piece, const Tensor& t) {
  const Tensor has_length = ne(piece.h, 0), part = (t - piece.t) / where(has_length, piece.h, 1);
  Tensor sum;
  auto slope = piece.slopes.begin();
  for (const std::vector<double>& factors : method.dense) {
    if (factors.empty()) continue;
    Tensor weight = factors.back();
    for (std::size_t k = factors.size() - 1; k-- > 0;) weight = weight * part + factors[k];
    const Tensor term = weight * part * *slope++;
    sum = sum.defined() ? sum + term : term;
  }
  return piece.y + where(has_length, piece.h * sum, (t - piece.t) * piece.slopes.front());
}

}  // namespace ricci::ode
