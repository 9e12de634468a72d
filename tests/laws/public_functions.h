// Public functions that are made of others, by the names of the cases in tests/data/values_of_torch.txt: the laws of
// primitives hold their parts, these the whole.
#pragma once

#include <map>
#include <string>

#include "functions.h"

namespace laws {

/// What to call for a case. Families stand in public_functions_of_*.cpp.
using Table = std::map<std::string, Function>;
using X = const List&;  // the inputs of a case
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

}  // namespace laws
