// One call of a function across ranks: whose turn it is, what the function computes with, and where its exceptions go.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "custom/closure.h"
#include "ricci/mpi.h"
#include "tensor/thread_context.h"

namespace ricci::mpi::runs {

/// While it lives, this thread calls between ranks, and no other thread of the process may. Throws Error where another
/// one does so now: the order of two threads' calls could differ between ranks.
class Turn {
 public:
  explicit Turn(const char* call);
  Turn(const Turn&) = delete;
  ~Turn();
};

/// One call of a function that computes with own values: its arguments, and the exception that it throws, which reaches
/// all ranks.
class OwnRun {
 public:
  OwnRun(const char* name, const World& world, Place where);
  OwnRun(const OwnRun&) = delete;
  /// After an error, the default generator is where it was before: ranks that got further have drawn more.
  ~OwnRun();
  const char* name() const { return name_; }
  /// Leaves of shared values become own ones.
  void replicate(const tree::Walk& shared) const;
  /// Whether what the function captures must become arguments: where a derivative may be asked for later.
  bool writes_down() const;
  /// The function's result, from the function written down; what it captures is shared.
  void compute(const function::Closure& function, const tree::Walk& arguments, const tree::Walk& result) const;
  /// In a handler: all ranks of the world throw what this one has caught.
  [[noreturn]] void fail() const;
  /// The leaves become their sums over the ranks, once all have come here.
  void add_up(const tree::Walk& result) const;

 protected:
  const char* name_;
  World world_;
  Place where_;

 private:
  const Turn turn_;
  const Generator generator_before_;
  const int exceptions_before_;
};

/// One call of mpi::vmap.
class MapRun : public OwnRun {
 public:
  /// The arguments' leaves become this rank's own.
  MapRun(const tree::Walk& arguments, const VmapOptions& options, const World& world, Place where);
  /// The vmap of this rank's examples.
  const ricci::VmapOptions& plain() const { return plain_; }
  void number(ricci::runs::BatchRun& run) const;
  /// The leaves, of this rank's examples, become what the options say.
  void finish(const tree::Walk& result) const;

 private:
  void take_rows(const tree::Walk& arguments, const std::vector<Dim>& dims);

  VmapOptions options_;
  ricci::VmapOptions plain_;
  bool inside_own_;  // the arguments are own values already, and so are the results
  std::vector<std::int64_t> counts_;
  std::int64_t first_ = 0, all_ = 0;
};

/// A function computes with own values of this world's ranks: each with its own examples, or all with the same calls.
struct OwnValues {
  enum class Of : std::uint8_t { examples, ranks };
  World world;
  Of of;
  const OwnValues* outer = this_thread.own_values;
};

}  // namespace ricci::mpi::runs
