// Formulas of words that the C library has no function for: code that stands alone holds these.
#pragma once

#include <optional>

#include "compile/plan.h"

namespace ricci::compiled {

/// As the library computes the word, to the bit where the words of the formula are. None: it has no formula here.
std::optional<CalledFunction> formula_of_word(Word word, DType dtype);
/// The same with the elementary functions in it as words.
std::optional<CalledFunction> written_out(Word word, DType dtype);

}  // namespace ricci::compiled
