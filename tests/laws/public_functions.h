// Public functions that are made of others, by the names of the cases in tests/data/values_of_torch.txt: the laws of
// primitives hold their parts, these the whole.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "functions.h"
#include "support/table.h"

namespace laws {

using X = const List&;  // the inputs of a case

/// What to call for a case. Families stand in public_functions_of_*.cpp.
using Table = testing_support::Table<List(X)>;

/// What cases call: a function of one, two or three tensors, or of a list.
inline Function of(Tensor (*f)(const Tensor&)) {
  return [f](X x) { return List{f(x[0])}; };
}
inline Function of(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](X x) { return List{f(x[0], x[1])}; };
}
inline Function of(Tensor (*f)(const Tensor&, const Tensor&, const Tensor&)) {
  return [f](X x) { return List{f(x[0], x[1], x[2])}; };
}
inline Function of(Tensor (*f)(const std::vector<Tensor>&)) {
  return [f](X x) { return List{f(x)}; };
}
/// The results of a function that gives two, of which the second may be undefined, or three.
template <class Two>
List both(const Two& results) {
  if (!results.second.defined()) return {results.first};
  return {results.first, results.second};
}
inline List all(const std::tuple<Tensor, Tensor, Tensor>& results) {
  return {std::get<0>(results), std::get<1>(results), std::get<2>(results)};
}

const Table& arithmetic();
const Table& kinds();
const Table& writes();
const Table& reductions();
const Table& shapes();
const Table& indexing();
const Table& creation();
const Table& products();
const Table& layers();
const Table& losses();
const Table& distances();
const Table& activations();
const Table& elementwise();
const Table& statistics();
const Table& arrangement();
const Table& complex_numbers();
const Table& fourier();
const Table& algebra();
const Table& signals();
const Table& windows();
const Table& attention();
const Table& embeddings();
const Table& recurrent();
const Table& ctc();
const Table& resampling();
const Table& distributions();
const Table& special();

}  // namespace laws
