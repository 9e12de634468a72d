// Recorded functions whose programs are to be plain: no operation in them is an operation under a transform.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ricci/ricci.h"
#include "support/expect_tensor.h"

namespace testing_support {

inline std::size_t times(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// The program of f at `recorded_at` gives what f gives, there and elsewhere, and has no operation on operations.
template <class F>
std::string expect_plain(const F& f, const ricci::Tensor& recorded_at, const std::vector<ricci::Tensor>& elsewhere,
                         double tolerance = 0) {
  const ricci::Program p = ricci::trace(f)(recorded_at);
  ricci::check(p);
  expect_close(p({recorded_at})[0], f(recorded_at), tolerance);
  for (const ricci::Tensor& x : elsewhere) expect_close(p({x})[0], f(x), tolerance);
  const std::string text = ricci::to_string(p);
  EXPECT_EQ(text.find("op="), std::string::npos) << text;
  return text;
}

}  // namespace testing_support
