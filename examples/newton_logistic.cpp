// Newton's method for logistic regression on the 569 tumours of data/breast_cancer.csv, float64: the Hessian is
// `rc::hessian(loss)`, one line, and Cholesky solves for the step. Close to the optimum every step squares the error;
// the program prints the gradient's norm and fails unless it sees that.
#include <ricci/ricci.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace rc = ricci;
using rc::Tensor;

namespace {

constexpr std::int64_t columns = 31;  // 30 measurements and the diagnosis, 1 for benign

/// [569, 31] float64; the header line is skipped.
Tensor read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<double> numbers;
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    while (std::getline(cells, cell, ',')) numbers.push_back(std::stod(cell));
  }
  return rc::tensor(numbers).view({-1, columns});
}

/// Each column with mean 0 and deviation 1, then a column of ones for the intercept.
Tensor standardised(const Tensor& x) {
  const Tensor centred = x - x.mean(0);
  const Tensor scaled = centred / (centred * centred).mean(0).sqrt();
  return rc::cat({scaled, x.new_ones({x.size(0), 1})}, 1);
}

/// Mean negative log-likelihood with a ridge. w: [31], x: [n, 31], y: [n] of 0 and 1.
Tensor loss(const Tensor& w, const Tensor& x, const Tensor& y) {
  const Tensor z = rc::matmul(x, w);
  return (rc::logaddexp(z, 0.0) - y * z).mean() + 0.01 * (w * w).sum();
}

Tensor newton_step(const Tensor& w, const Tensor& x, const Tensor& y) {
  const Tensor gradient = rc::grad(loss)(w, x, y);      // [31]
  const Tensor curvature = rc::hessian(loss)(w, x, y);  // [31, 31], positive definite thanks to the ridge
  const Tensor lower = rc::cholesky(curvature);
  return w - rc::cholesky_solve(gradient.unsqueeze(1), lower).squeeze(1);
}

double gradient_norm(const Tensor& w, const Tensor& x, const Tensor& y) {
  return rc::norm(rc::grad(loss)(w, x, y)).item<double>();
}

/// True if the gradient's norm ends at rounding error and shrank like its square on the way.
bool converges_quadratically(const Tensor& w0, const Tensor& x, const Tensor& y, Tensor& w) {
  w = w0;
  double before = gradient_norm(w, x, y), ratio = 0;
  std::printf("step 0  |gradient| %.3e\n", before);
  for (int step = 1; step <= 20 && before > 1e-13; ++step) {
    w = newton_step(w, x, y);
    const double after = gradient_norm(w, x, y);
    std::printf("step %d  |gradient| %.3e", step, after);
    if (after > 1e-13) {  // below, rounding decides
      ratio = after / (before * before);
      std::printf("  over the square of the last %.2f", ratio);
    }
    std::printf("\n");
    before = after;
  }
  return before <= 1e-13 && ratio < 20;
}

}  // namespace

int main() try {  // quick as it is: `--quick` changes nothing
  const Tensor table = read_table(RICCI_DATA_DIR "/breast_cancer.csv");
  const Tensor x = standardised(table.slice(1, 0, columns - 1)), y = table.select(1, columns - 1);
  Tensor w;
  const bool quadratic = converges_quadratically(rc::zeros({columns}, rc::float64), x, y, w);
  const Tensor correct = (rc::matmul(x, w) > 0.0) == (y > 0.5);
  const double accuracy = correct.to(rc::float64).mean().item<double>();
  std::printf("training accuracy %.4f\n", accuracy);
  return quadratic && accuracy > 0.98 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "newton_logistic: %s\n", error.what());
  return 1;
}
