// Programs as they are traced, and as they are simplified: small enough to read side by side.
#include <utility>

#include "ricci/ricci.h"
#include "support/golden.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor either(const Tensor& x) {
  return rc::cond(x > 0, [](const Tensor& a) { return sin(a); }, [](const Tensor& a) { return a * a; }, x);
}
/// The gain is made of the weight at each step anew.
Tensor folded(const Tensor& weight, const Tensor& xs) {
  const auto step = [&](const Tensor& c, const Tensor& x) {
    const Tensor next = c * exp(weight) + x;
    return std::pair{next, next};
  };
  return rc::scan(step, weight * 0, xs).first;
}
Tensor loss(const Tensor& w, const Tensor& v, const Tensor& x, const Tensor& y) {
  const Tensor error = (v * tanh(matmul(w, x))).sum() - y;
  return error * error;
}

// Equal products are computed once, operands that no branch reads are passed no more, and seeds of one go.
TEST(SimplifiedGolden, AHessianOfABranch) {
  const rc::Program p = rc::trace(rc::hessian(either))(rc::tensor(2.));
  expect_golden_whole(p, R"(
program(a: f32[]) {
  b: f32[1,1] = seeds[row=0, column=0, rows=1, columns=1, dtype=f32]
  c: f32[i=1] = reshape[shape=(1)] b
  d: bool[] = gt a 0
  e: f32[1,1] = seeds[row=0, column=0, rows=1, columns=1, dtype=f32]
  f: f32[j=1] = reshape[shape=(1)] e
  g: f32[j=1], h: f32[i=1,j=1] = cond[operands=3, branches=(program(a: f32[], b: f32[1], c: f32[1]) {
      d: f32[1] = mul b a
      e: f32[1,1] = reshape[shape=(1,1)] c
      f: f32[1,1] = mul e b
      g: f32[1] = mul b a
      h: f32[1,1] = reshape[shape=(1,1)] c
      k: f32[1,1] = mul h b
      l: f32[1] = add d g
      m: f32[1,1] = add f k
      return l m
    },program(a: f32[], b: f32[1], c: f32[1]) {
      d: f32[1] = sin_slope b a
      e: f32[1,1] = reshape[shape=(1,1)] c
      f: f32[1,1] = mul e b
      g: f32[1,1] = cos_slope f a
      return d g
    })] predicate(d) operands(a f c)
  k: f32[i=1] = reshape[shape=(1)] h
  l: f32[1] = permute[axes=(0)] k
  m: f32[] = reshape[shape=()] l
  return m
}
)");
  expect_golden_whole(p.simplified(), R"(
program(a: f32[]) {
  b: f32[1,1] = seeds[row=0, column=0, rows=1, columns=1, dtype=f32]
  c: f32[i=1] = reshape[shape=(1)] b
  d: bool[] = gt a 0
  e: f32[i=1,j=1] = cond[operands=3, branches=(program(a: f32[], b: f32[1], c: f32[1]) {
      d: f32[1,1] = reshape[shape=(1,1)] c
      e: f32[1,1] = mul d b
      f: f32[1,1] = add e e
      return f
    },program(a: f32[], b: f32[1], c: f32[1]) {
      d: f32[1,1] = reshape[shape=(1,1)] c
      e: f32[1,1] = mul d b
      f: f32[1,1] = cos_slope e a
      return f
    })] predicate(d) operands(a c c)
  f: f32[] = reshape[shape=()] e
  return f
}
)");
}

// The exponential of the weight is computed before the loop.
TEST(SimplifiedGolden, TheGradientOfAScan) {
  const rc::Program p = rc::trace(rc::grad(folded))(rc::tensor(0.5), rc::ones({4}));
  expect_golden_whole(p, R"(
program(a: f32[], b: f32[s0]) {
  c: f32[] = mul a 0
  d: f32[], e: f32[s0], f: f32[s0], g: f32[s0] = scan[step=program(a: f32[], b: f32[], c: f32[]) {
      d: f32[] = exp c
      e: f32[] = mul a d
      f: f32[] = add e b
      return f f a d
    }, carried=1, scanned=1, streams=0, reverse=false, length=none] carry(c) xs(b) step(a)
  h: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  k: f32[] = structural_zeros[shape=(), dtype=f32]
  l: f32[], m: f32[] = scan[step=program(a: f32[], b: f32[], c: f32[], d: f32[]) {
      e: f32[] = mul a d
      f: f32[] = mul a c
      g: f32[] = mul f d
      h: f32[] = add b g
      return e h
    }, carried=2, scanned=2, streams=0, reverse=true, length=none] carry(h k) xs(f g)
  n: f32[] = mul l 0
  o: f32[] = add m n
  return o
}
)");
  expect_golden_whole(p.simplified(), R"(
program(a: f32[], b: f32[s0]) {
  c: f32[] = mul a 0
  d: f32[] = exp a
  e: f32[], f: f32[s0], g: f32[s0] = scan[step=program(a: f32[], b: f32[], c: f32[]) {
      d: f32[] = mul a c
      e: f32[] = add d b
      return e a c
    }, carried=1, scanned=1, streams=0, reverse=false, length=none] carry(c) xs(b) step(d)
  h: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  k: f32[] = structural_zeros[shape=(), dtype=f32]
  l: f32[], m: f32[] = scan[step=program(a: f32[], b: f32[], c: f32[], d: f32[]) {
      e: f32[] = mul a d
      f: f32[] = mul a c
      g: f32[] = mul f d
      h: f32[] = add b g
      return e h
    }, carried=2, scanned=2, streams=0, reverse=true, length=none] carry(h k) xs(f g)
  n: f32[] = mul l 0
  o: f32[] = add m n
  return o
}
)");
}

TEST(SimplifiedGolden, GradientsOfANetworkBySample) {
  const rc::Program p = rc::trace(rc::vmap(rc::grad<0, 1>(loss), {.in_dims = {rc::none, rc::none, 0, 0}}))(
      rc::ones({3, 2}), rc::ones({3}), rc::ones({4, 2}), rc::ones({4}));
  expect_golden_whole(p, R"(
program(a: f32[s0,s1], b: f32[s0], c: f32[i=s2,s1], d: f32[i=s2]) where s0!=1, s2!=1 {
  e: f32[s1,s0] = permute[axes=(1,0)] a
  f: f32[i=s2,s0] = matmul[form=0] c e
  g: f32[i=s2,s0] = tanh f
  h: f32[i=s2,s0] = mul b g
  k: f32[i=s2] = sum[axes=(1)] h
  l: f32[i=s2] = sub k d
  m: f32[] = full[shape=(), dtype=f32, integer=1, real=1, imaginary=0]
  n: f32[i=s2] = mul m l
  o: f32[i=s2] = mul m l
  p: f32[i=s2] = add n o
  q: f32[s2,1] = reshape[shape=(s2,1)] p
  r: f32[i=s2,s0] = expand[shape=(s2,s0)] q
  s: f32[i=s2,s0] = mul r g
  t: f32[i=s2,s0] = mul r b
  u: f32[i=s2,s0] = tanh_slope t g
  v: f32[i=s2,s0,s1] = matmul[form=3] u c
  return v s
}
)");
  expect_golden_whole(p.simplified(), R"(
program(a: f32[s0,s1], b: f32[s0], c: f32[i=s2,s1], d: f32[i=s2]) where s0!=1, s2!=1 {
  e: f32[s1,s0] = permute[axes=(1,0)] a
  f: f32[i=s2,s0] = matmul[form=0] c e
  g: f32[i=s2,s0] = tanh f
  h: f32[i=s2,s0] = mul b g
  k: f32[i=s2] = sum[axes=(1)] h
  l: f32[i=s2] = sub k d
  m: f32[i=s2] = add l l
  n: f32[s2,1] = reshape[shape=(s2,1)] m
  o: f32[i=s2,s0] = expand[shape=(s2,s0)] n
  p: f32[i=s2,s0] = mul o g
  q: f32[i=s2,s0] = mul o b
  r: f32[i=s2,s0] = tanh_slope q g
  s: f32[i=s2,s0,s1] = matmul[form=3] r c
  return s p
}
)");
}

}  // namespace
