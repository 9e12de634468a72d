// expect: ricci: triangular_solve takes the right-hand side first and its options by name
#include <ricci/ricci.h>

ricci::Tensor misuse(const ricci::Tensor& a, const ricci::Tensor& b) { return ricci::triangular_solve(a, b, true); }
