// A trace of what a program does and when, to look at in chrome://tracing or ui.perfetto.dev.
//
//   #include <ricci/profile.h>
//   rc::profile::start("trace.json");
//   train();
//   rc::profile::stop();
#pragma once

#include <string>
#include <string_view>

namespace ricci::profile {

/// From now on the library notes spans of time: of operations; of calls of compiled functions, and of making their
/// plans; of the pieces of a long operation on each thread; and of `Span`. They are written by `stop`, or at the end of
/// the program, to the file, which is replaced. Under MPI each rank writes a file: rank 2 `trace.rank2.json`. Of more
/// than two million spans the last are counted and left out. ValueError if a profile runs, or if the file cannot be
/// written.
void start(const std::string& path);
/// Writes the file. ValueError if no profile runs, or if the file cannot be written.
void stop();

/// A span of your own, while it lives: nothing where no profile runs.
///   const rc::profile::Span span("epoch 3");
class Span {
 public:
  explicit Span(std::string_view name);
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span();

 private:
  std::string name_;
  long long begin_;
};

}  // namespace ricci::profile
