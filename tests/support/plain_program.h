// Recorded functions: their programs give what the functions give; some are to be plain, with no operation in them that
// is an operation under a transform.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ricci/ricci.h"
#include "support/expect_tensor.h"

namespace testing_support {

/// The derivative of f along cos(x).
inline ricci::Tensor derivative(const std::function<ricci::Tensor(ricci::Tensor)>& f, const ricci::Tensor& x) {
  return ricci::jvp(f, x, ricci::cos(x)).second;
}

inline std::size_t times(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// The program of f at `recorded_at` gives what f gives, there and elsewhere.
template <class F>
ricci::Program expect_same(const F& f, const ricci::Tensor& recorded_at, const std::vector<ricci::Tensor>& elsewhere,
                           double tolerance = 0) {
  const ricci::Program p = ricci::trace(f)(recorded_at);
  ricci::check(p);
  expect_close(p({recorded_at})[0], f(recorded_at), tolerance);
  for (const ricci::Tensor& x : elsewhere) expect_close(p({x})[0], f(x), tolerance);
  return p;
}

/// Whether no custom operation in the program's text stands under a vmap of its rules.
inline bool is_plain(const std::string& text) { return text.find("function=vmap(") == std::string::npos; }

/// The same as `expect_same`, and the program is plain.
template <class F>
std::string expect_plain(const F& f, const ricci::Tensor& recorded_at, const std::vector<ricci::Tensor>& elsewhere,
                         double tolerance = 0) {
  const std::string text = ricci::to_string(expect_same(f, recorded_at, elsewhere, tolerance));
  EXPECT_TRUE(is_plain(text)) << text;
  return text;
}

}  // namespace testing_support
