// Added behind the C++ that stanc makes of a model: makes the model from data, gives its log density and the gradient.
#include <sstream>
#include <stan/io/json/json_data.hpp>
#include <string>

extern "C" void* make_model(const char* data) {
  std::istringstream in{std::string(data)};
  stan::json::json_data context(in);
  return new stan_model(context, 0, nullptr);
}

extern "C" double value_and_gradient(const void* model, const double* x, double* slope, long size) {
  using Vector = Eigen::VectorXd;
  const auto density = [&](auto& at) {
    return static_cast<const stan_model*>(model)->template log_prob<false, true>(at, nullptr);
  };
  double value;
  Vector gradient;
  stan::math::gradient(density, Vector(Eigen::Map<const Vector>(x, size)), value, gradient);
  Eigen::Map<Vector>(slope, size) = gradient;
  return value;
}
