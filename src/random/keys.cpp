// Keys: made of a seed, split, and folded with numbers. What is drawn from them stands beside what generators draw.
#include "ricci/keys.h"

#include <vector>

#include "kernels/elementwise.h"
#include "kernels/random.h"
#include "ops/axes.h"
#include "ops/patterns.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "random/drawn_scalars.h"

namespace ricci {
namespace {

using kernels::Purpose;
using kernels::RandomSource;

/// (keys [leading…, 2], numbers [leading…]) to keys: to each its number'th child of a kind.
struct ChildKey {
  using kind = Explicit;
  static constexpr const char* name = "child_key";
  static constexpr bool locally_constant = true;
  Purpose purpose;

  Type type(const Type& key, const Type& numbers) const {
    require_dtype(DType::int64, key);
    Shape shape = numbers.shape;
    shape.push_back(2);
    require_shape(key.shape, shape);
    return key;
  }
  void eval(Outputs out, Inputs in) const {
    kernels::copy(out[0], in[0]);
    const Shape shape(in[1].shape, in[1].shape + in[1].rank);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(shape.numel().host()));
    const Strides strides = contiguous_strides(shape);
    kernels::copy({numbers.data(), DType::int64, shape.rank(), shape.host(), strides.data()}, in[1]);
    auto* source = static_cast<RandomSource*>(out[0].data);
    for (std::int64_t number : numbers) {
      *source = kernels::derived_source(*source, static_cast<std::uint64_t>(number), purpose);
      ++source;
    }
  }
  Scalar element(ElementWriter& y) const {
    std::vector<Coordinate> key = y.coordinates(y.type(0).rank());
    const bool is_stream = key.back().number == 1;
    const Whole number = Whole::at(y.element_of(1, std::span(key.data(), key.size() - 1)));
    key.back() = 0;
    const Whole seed = Whole::at(y.element_of(0, key));
    key.back() = 1;
    return derived_scalar(seed, Whole::at(y.element_of(0, key)), number, purpose, is_stream);
  }
  ChildKey lifted() const { return *this; }
  static std::vector<Sample<ChildKey>> samples() {
    return {{{Purpose::split}, {tensor({{7, -9}, {1, 2}}), tensor({3, 4})}}, {{Purpose::fold}, {tensor({5, 6}), 3}}};
  }
};

/// A child for each of the keys and numbers, whose axes broadcast.
Key children(const char* op, const Key& key, const Tensor& numbers, Purpose purpose) {
  const Type key_type = type_of(key.data), number_type = type_of(numbers);
  const Type leading{DType::int64, Shape(key_type.shape.begin(), key_type.shape.end() - 1)};
  const Type* types[] = {&leading, &number_type};
  Shape shape = broadcast_shape(op, types);
  const Tensor all_numbers = expand(to(numbers, DType::int64), shape);
  shape.push_back(2);
  return Key(apply(ChildKey{purpose}, expand(key.data, shape), all_numbers));
}

Tensor data_of_seed(std::int64_t seed) {
  const RandomSource source = kernels::derived_source({static_cast<std::uint64_t>(seed), 0}, 0, Purpose::key);
  return tensor(
      std::vector<std::int64_t>{static_cast<std::int64_t>(source.seed), static_cast<std::int64_t>(source.stream)});
}

}  // namespace

namespace ops {

Key::Key(std::int64_t seed) : data(data_of_seed(seed)) {}

Key::Key(Tensor from) : data(std::move(from)) {
  require_defined("Key", data, 0);
  const Type type = type_of(data);
  if (type.dtype != DType::int64)
    raise<TypeError>("Key: " + to_string(type) + " is no key's data, which is int64; make a key with rc::Key(seed)");
  if (type.rank() == 0 || !(type.shape.back() == 2))
    raise<ValueError>("Key: " + to_string(type) +
                      " is no key's data, which has a last axis of 2; make a key with rc::Key(seed)");
}

Key Key::operator[](const Index& index) const {
  if (const Type type = type_of(data); type.rank() == 1)
    raise<ValueError>("Key: key[i] is one of several keys, this is a single one; rc::split(key, n) gives n of them");
  return Key(data[index]);
}

std::array<Key, 2> split(const Key& key) {
  return {children("split", key, 0, Purpose::split), children("split", key, 1, Purpose::split)};
}
Key split(const Key& key, Size n) {
  const Called as("split");
  require_sizes("split", {n});
  Shape shape = Shape::filled(type_of(key.data).shape.size(), 1);  // the keys' own axes come after the new one
  shape[0] = n;
  return children("split", Key(unsqueeze(key.data, 0)), reshape(places_along(n), shape), Purpose::split);
}
Key fold_in(const Key& key, const Tensor& number) {
  require_defined("fold_in", number, 1);
  const Type type = type_of(number);
  if (!is_integral(type.dtype))
    raise<TypeError>("fold_in: the number is " + to_string(type) + "; it must be an integer");
  return children("fold_in", key, number, Purpose::fold);
}

}  // namespace ops
}  // namespace ricci
