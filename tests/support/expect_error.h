// The check of an error's type and whole text, of the transform stack after it, and of the arguments it was given.
// Start with `expect_error`. Knows no particular error.
#pragma once

#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <cctype>
#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "support/expect_tensor.h"

namespace testing_support {

inline std::string_view basename_of(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// Drops `prefix` from the front of `text`, or leaves it and says no.
inline bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

inline bool take_digits(std::string_view& text) {
  const std::string_view before = text;
  while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  return text.size() < before.size();
}

inline bool take_place(std::string_view& text, std::string_view file) {
  std::string_view rest = text;
  if (!take(rest, " (") || !take(rest, file) || !take(rest, ":") || !take_digits(rest) || !take(rest, ")"))
    return false;
  text = rest;
  return true;
}

/// An operation's own place, which is only known where the program has debug information.
inline bool is_operation_place(std::string_view text, std::string_view file) {
  return take(text, "\n  at ") && take(text, file) && take(text, ":") && take_digits(text) && text.empty();
}

/// `{at}` in the pattern stands for ` (file:line)`, `{at?}` for the same or nothing.
inline bool matches(std::string_view text, std::string_view pattern, std::string_view file) {
  while (!pattern.empty()) {
    if (take(pattern, "{at}")) {
      if (!take_place(text, file)) return false;
    } else if (take(pattern, "{at?}")) {
      take_place(text, file);
    } else {
      if (text.empty() || text.front() != pattern.front()) return false;
      text.remove_prefix(1);
      pattern.remove_prefix(1);
    }
  }
  return text.empty() || is_operation_place(text, file);
}

struct Snapshot {
  ricci::DType dtype;
  Sizes sizes;
  std::vector<std::complex<double>> numbers;
  explicit Snapshot(const Tensor& t)
      : dtype(t.dtype()), sizes(testing_support::sizes(t)), numbers(testing_support::numbers(t)) {}
  bool operator==(const Snapshot&) const = default;
};

inline std::vector<Snapshot> snapshots(const std::vector<Tensor>& tensors) {
  return std::vector<Snapshot>(tensors.begin(), tensors.end());
}

/// What is called, without its type: a test of errors has hundreds of lambdas.
class AnyCall {
 public:
  template <class F>
    requires(!std::is_same_v<F, AnyCall>)
  explicit AnyCall(F& f) : f_(&f), run_([](const void* f) { (*static_cast<F*>(const_cast<void*>(f)))(); }) {}
  void operator()() const { run_(f_); }

 private:
  const void* f_;
  void (*run_)(const void*);
};

inline void expect_error_of(const std::type_info& type, const AnyCall& call, std::string_view pattern,
                            const std::vector<Tensor>& arguments, const std::source_location& where) {
  const std::vector<Snapshot> before = snapshots(arguments);
  const auto fail = [&where](const std::string& text) {
    ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line())) << text;
  };
  const std::string expected(pattern);
  try {
    call();
    fail("nothing was thrown; expected\n" + expected);
  } catch (const std::exception& error) {
    if (typeid(error) != type) fail(std::string("thrown type is ") + typeid(error).name());
    if (!matches(error.what(), pattern, basename_of(where.file_name()))) {
      fail("the text is\n" + std::string(error.what()) + "\nexpected\n" + expected);
    }
  }
  if (ricci::inside_transform()) fail("a transform is still active after the error");
  if (snapshots(arguments) != before) fail("an argument was changed");
}

/// `call` throws exactly an E whose whole text is `pattern`; afterwards no transform is active and `arguments` hold
/// what they held. `{at}` matches ` (file:line)` of the calling test file; a last line `at file:line` may follow.
template <class E, class Call>
void expect_error(Call&& call, std::string_view pattern, const std::vector<Tensor>& arguments = {},
                  std::source_location where = std::source_location::current()) {
  expect_error_of(typeid(E), AnyCall(call), pattern, arguments, where);
}

}  // namespace testing_support
