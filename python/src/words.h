// Words of Python that stand for values of a C++ enum.
#pragma once

#include <string>
#include <utility>

#include "ricci/control/options.h"
#include "ricci/error.h"

namespace ricci::python {

/// The value that a word stands for. Another word is a ValueError that lists the words; `what` names the argument of
/// `call` that was given.
template <class E, std::size_t n>
E word_of(const std::string& given, const std::pair<const char*, E> (&words)[n], const char* call, const char* what) {
  std::string all;
  for (const auto& [name, value] : words) {
    if (given == name) return value;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw ValueError(std::string(call) + ": the " + what + " is \"" + given + "\"; it must be one of " + all);
}

inline constexpr std::pair<const char*, Checkpoints> checkpoints[] = {
    {"every_step", Checkpoints::every_step}, {"sqrt", Checkpoints::sqrt}, {"log", Checkpoints::log}};

}  // namespace ricci::python
