// The words of formulas as plain functions over one register, for code that is made at run time: constants are folded
// by them, and generated code calls them. Knows nothing of graphs.
#pragma once

#include <cstdint>

#include "ricci/dtype.h"
#include "ricci/primitive/symbolic.h"

namespace ricci::compiled {

/// Elements in one register of the library, by the bytes of one.
int lanes_of_register(int bytes);
int register_bytes();
/// Whether the words of the elementary formulas (scale, exponent, mantissa) are instructions.
bool knows_exponents();
/// Whether a * b + c, rounded once, is one.
bool fuses();

/// A function that takes and gives registers of these elements, by the calling convention of the library's machine;
/// null where the type has no such word. Truth values, half precision and complex elements have none.
void* function_of(scalar::Word word, DType dtype);
/// One element by that function. Requires: it has one.
std::uint64_t value_of(scalar::Word word, DType dtype, const std::uint64_t* operands);

}  // namespace ricci::compiled
