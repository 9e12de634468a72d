// Sizes that are open, as numbers to try. Simplifying asks its questions about shapes and layouts of these. Start with
// `SampleSizes`.
#pragma once

#include <array>
#include <vector>

#include "program/program.h"

namespace ricci {

/// Sizes in numbers: as they were recorded, and then twice as larger ones. What holds of all three is no coincidence:
/// each larger size is the recorded one and a prime of its own, so that no two keep their difference or ratio, and no
/// remainder stays what it was.
struct SampleSizes {
  static constexpr int samples = 3;                   // number 0 is the recorded one
  const SymbolTable* table = nullptr;                 // null: there are no symbols
  std::array<std::vector<Size>, samples - 1> larger;  // of the inputs

  SampleSizes() = default;
  explicit SampleSizes(const SymbolTable& of);
  void put(Size& size, int sample) const {
    if (size.is_symbol())
      size = sample == 0 ? Size(size.hint()) : table->evaluate(size, larger[static_cast<std::size_t>(sample - 1)]);
  }
  Type put(Type type, int sample) const {
    for (Size& size : type.shape) put(size, sample);
    return type;
  }
  /// The parameters of the equation in numbers.
  OwnedParameters put(const Equation& e, int sample) const;
  /// Whether it holds of all; not if an operation that it asks about does not fit its operands.
  template <class Question>
  static bool of_all(const Question& question) try {
    for (int sample = 0; sample < samples; ++sample)
      if (!question(sample)) return false;
    return true;
  } catch (const Error&) { return false; }
};

/// The same symbols and numbers, not only sizes that happen to be equal in this recording.
bool are_same(const Type& a, const Type& b);

}  // namespace ricci
