// The words of formulas as plain functions over one register, for code that is made at run time: constants are folded
// by them, and generated code calls them. Knows nothing of graphs.
#pragma once

#include <cstdint>

#include "ricci/dtype.h"
#include "ricci/primitive/symbolic.h"

namespace ricci::compiled {

/// The bytes of one register of the library.
int library_register_bytes();
/// Whether a * b + c, rounded once, is one.
bool fuses();

/// A function that takes and gives registers of the library with these elements, by the calling convention of its
/// machine; null where the type has no such word. Truth values, half precision and complex elements have none.
void* function_of(scalar::Word word, DType dtype);
/// Calls that function. The operands lie in memory, one register behind the other; the result is written to memory.
/// Requires: there is such a function.
void call_in_memory(scalar::Word word, DType dtype, const void* operands, void* result);
/// One element by that function. Requires: it has one.
std::uint64_t word_value(scalar::Word word, DType dtype, const std::uint64_t* operands);

}  // namespace ricci::compiled
