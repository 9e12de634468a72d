// expect: ricci: instance_norm takes running statistics before weight and bias, as torch
#include <ricci/ricci.h>

ricci::Tensor misuse(const ricci::Tensor& x, const ricci::Tensor& weight, const ricci::Tensor& bias) {
  return ricci::instance_norm(x, weight, bias, 1e-3);
}
