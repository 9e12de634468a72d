// The three transforms, put on lists.
#include "functions.h"

#include <tuple>
#include <utility>

namespace laws {

List tangents(const Function& f, const List& x, const List& t) {
  return std::get<1>(ricci::jvp(f, std::tuple<List>(x), std::tuple<List>(t)));
}

List cotangents(const Function& f, const List& x, const List& ct) {
  const auto [y, pull] = ricci::vjp(f, x);
  return pull(ct);
}

List mapped(const Function& f, const List& x, const Mapped& in_dims, Dim out_dim) {
  const ricci::Dims list(std::vector<ricci::Dims>(in_dims.begin(), in_dims.end()));
  const ricci::Dims of_one_argument(std::vector<ricci::Dims>{list});
  return ricci::vmap(f, {.in_dims = of_one_argument, .out_dims = out_dim})(x);
}

Function pushforward(Function f) {
  return [f = std::move(f)](const List& both) {
    const auto half = both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
    return tangents(f, List(both.begin(), half), List(half, both.end()));
  };
}

Function pullback(Function f, std::size_t inputs) {
  return [f = std::move(f), inputs](const List& both) {
    const auto part = both.begin() + static_cast<std::ptrdiff_t>(inputs);
    return cotangents(f, List(both.begin(), part), List(part, both.end()));
  };
}

List joined(const List& a, const List& b) {
  List both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

}  // namespace laws
