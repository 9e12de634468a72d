// What a call throws, as a text to compare with what another call throws. Knows no particular error.
#pragma once

#include <ricci/error.h>

#include <string>

namespace testing_support {

/// The first line of the ricci::Error that f throws, without its place and the transforms; empty: f throws none.
template <class F>
std::string thrown_by(const F& f) {
  try {
    f();
  } catch (const ricci::Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return {};
}

}  // namespace testing_support
