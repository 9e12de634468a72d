// Random tensors without a generator: a key says which numbers, and says the same each time. Keys need no randomness
// mode: a function mapped over keys draws for each example what it would draw for that key alone, and one that is
// not draws the same for all. Use a key once, and split it for what else is random.
//   rc::Key key(0);  auto [noise_key, mask_key] = rc::split(key);  rc::Tensor x = rc::normal(noise_key, {3});
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "ricci/tensor.h"

namespace ricci::ops {

/// 128 bits that stand for a stream of random numbers; a tree, which maps, stacks and travels through transforms.
/// Samplers given keys of leading axes draw for each of them: [leading…, shape…].
struct Key {
  explicit Key(std::int64_t seed);
  /// int64 [..., 2], as another key's data. TypeError or ValueError for anything else.
  explicit Key(Tensor data);

  Tensor data;  // int64 [leading…, 2]

  /// Of several keys those at an index: `rc::split(key, 10)[i]`. ValueError for a single key, IndexError out of range.
  Key operator[](const Index& index) const;

  static auto tree_fields(auto& self) { return std::tie(self.data); }
};

/// Two keys that have nothing in common with each other and with this one.
std::array<Key, 2> split(const Key& key);
/// n of them as one tree with a leading axis n, to map over. ValueError if n is negative.
///   rc::vmap(simulate)(rc::split(key, 1000))
Key split(const Key& key, Size n);
/// The same n keys, to take apart.
///   auto [weights, bias, noise] = rc::split<3>(key);
template <std::size_t n>
  requires(n > 0)
std::array<Key, n> split(const Key& key) {
  const Key all = split(key, static_cast<std::int64_t>(n));
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{all[i]...};
  }(std::make_index_sequence<n>());
}
/// A key for each number (an integer, or a tensor of integers, whose axes the keys take on): of a step, for one.
/// TypeError if it is not an integer.
Key fold_in(const Key& key, const Tensor& number);

// ── samplers, as in ops/random.h. A sample has the dtype that is given; else that of the parameters, promoted, or the
// default dtype if these are numbers or integers. Without parameters the distribution is the standard one ──
//   rc::Tensor x = rc::exponential(key, 2, {100}, rc::float64);  // f64[100]

Tensor uniform(const Key& key, const Shape& shape);  ///< on [0, 1)
Tensor uniform(const Key& key, const Shape& shape, DType dtype);
Tensor uniform(const Key& key, const Tensor& low, const Tensor& high);
Tensor uniform(const Key& key, const Tensor& low, const Tensor& high, const Shape& shape);
Tensor uniform(const Key& key, const Tensor& low, const Tensor& high, const Shape& shape, DType dtype);
Tensor normal(const Key& key, const Shape& shape);
Tensor normal(const Key& key, const Shape& shape, DType dtype);
Tensor normal(const Key& key, const Tensor& mean, const Tensor& std);
Tensor normal(const Key& key, const Tensor& mean, const Tensor& std, const Shape& shape);
Tensor normal(const Key& key, const Tensor& mean, const Tensor& std, const Shape& shape, DType dtype);
Tensor log_normal(const Key& key, const Tensor& mean, const Tensor& std);
Tensor log_normal(const Key& key, const Tensor& mean, const Tensor& std, const Shape& shape);
Tensor log_normal(const Key& key, const Tensor& mean, const Tensor& std, const Shape& shape, DType dtype);
Tensor exponential(const Key& key, const Shape& shape);
Tensor exponential(const Key& key, const Shape& shape, DType dtype);
Tensor exponential(const Key& key, const Tensor& rate, const Shape& shape);
Tensor exponential(const Key& key, const Tensor& rate, const Shape& shape, DType dtype);
Tensor cauchy(const Key& key, const Shape& shape);
Tensor cauchy(const Key& key, const Shape& shape, DType dtype);
Tensor cauchy(const Key& key, const Tensor& median, const Tensor& sigma, const Shape& shape);
Tensor cauchy(const Key& key, const Tensor& median, const Tensor& sigma, const Shape& shape, DType dtype);
Tensor laplace(const Key& key, const Shape& shape);
Tensor laplace(const Key& key, const Shape& shape, DType dtype);
Tensor laplace(const Key& key, const Tensor& loc, const Tensor& scale, const Shape& shape);
Tensor laplace(const Key& key, const Tensor& loc, const Tensor& scale, const Shape& shape, DType dtype);
Tensor gumbel(const Key& key, const Shape& shape);
Tensor gumbel(const Key& key, const Shape& shape, DType dtype);
Tensor gumbel(const Key& key, const Tensor& loc, const Tensor& scale, const Shape& shape);
Tensor gumbel(const Key& key, const Tensor& loc, const Tensor& scale, const Shape& shape, DType dtype);
Tensor truncated_normal(const Key& key, const Tensor& low, const Tensor& high, const Shape& shape);
Tensor truncated_normal(const Key& key, const Tensor& low, const Tensor& high, const Shape& shape, DType dtype);
Tensor bernoulli(const Key& key, const Tensor& p);
Tensor bernoulli(const Key& key, const Tensor& p, const Shape& shape);
Tensor bernoulli(const Key& key, const Tensor& p, const Shape& shape, DType dtype);
Tensor geometric(const Key& key, const Tensor& p, const Shape& shape);
Tensor geometric(const Key& key, const Tensor& p, const Shape& shape, DType dtype);
Tensor poisson(const Key& key, const Tensor& rate);
Tensor poisson(const Key& key, const Tensor& rate, const Shape& shape);
Tensor poisson(const Key& key, const Tensor& rate, const Shape& shape, DType dtype);
Tensor binomial(const Key& key, const Tensor& count, const Tensor& probability);
Tensor binomial(const Key& key, const Tensor& count, const Tensor& probability, const Shape& shape);
Tensor binomial(const Key& key, const Tensor& count, const Tensor& probability, const Shape& shape, DType dtype);
Tensor gamma(const Key& key, const Tensor& concentration);
Tensor gamma(const Key& key, const Tensor& concentration, const Shape& shape);
Tensor gamma(const Key& key, const Tensor& concentration, const Shape& shape, DType dtype);
Tensor beta(const Key& key, const Tensor& a, const Tensor& b);
Tensor beta(const Key& key, const Tensor& a, const Tensor& b, const Shape& shape);
Tensor beta(const Key& key, const Tensor& a, const Tensor& b, const Shape& shape, DType dtype);
Tensor dirichlet(const Key& key, const Tensor& concentration);
Tensor multinomial(const Key& key, const Tensor& weights, Size samples, bool replacement);
Tensor randint(const Key& key, Bound low, Bound high, const Shape& shape);
Tensor randint(const Key& key, Bound low, Bound high, const Shape& shape, DType dtype);
Tensor randperm(const Key& key, Size n);
Tensor randperm(const Key& key, Size n, DType dtype);

}  // namespace ricci::ops
