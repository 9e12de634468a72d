// How long the memory of each value is needed, and which results are made in the memory of an operand that nobody reads
// any more. Start with `Lifetimes`.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "program/program.h"
#include "tensor/at.h"

namespace ricci::compiled {

/// Where the elements of a value lie: in the memory of a variable, by strides.
struct Lies {
  Variable in;
  std::int64_t offset;  // in bytes
  Strides strides;

  bool is_whole(const Type& type) const;
};

/// By result of an equation: the number of the operand in whose memory it may be made, where nobody reads the operand
/// any more. Example: 0 of `index_put`, which gives its first operand with some elements replaced.
using MadeIn = SmallVector<std::optional<std::size_t>, 2>;

/// Of the values of one program. Example, of the body of a loop that writes one element at each turn:
///   program(a: f32[100], b: i64[]) {
///     c: f32[] = index a b
///     d: f32[] = mul c 2
///     e: f32[100] = index_put a d b    made in the memory of a: nobody reads a behind it
///     return e                         lies where a lay
///   }
class Lifetimes {
 public:
  /// `may_overwrite`: the inputs whose memory the program may overwrite. `made_in`: of equations that run other
  /// programs. Requires: sizes are numbers.
  Lifetimes(const ProgramBody& body, const Flags& may_overwrite,
            const std::function<MadeIn(const Equation& e)>& made_in);

  /// The last equation that reads the variable's memory; the number of equations where an output lies there.
  std::size_t last_use(Variable v) const { return last_use_[at(v)]; }
  /// The operand in whose memory the result of an equation is made; none: it has memory of its own.
  std::optional<Variable> made_in(Variable result) const { return made_in_[at(result)]; }
  const Lies& lies(Variable v) const { return lies_[at(v)]; }
  /// The input that output number `k` replaces: it lies there as the input did, and no other output does.
  std::optional<std::size_t> replaced_by(std::size_t k) const;

 private:
  const Type& type(Variable v) const { return body_.types[at(v)]; }
  void follow_views();
  void find_last_uses(const Flags& may_overwrite, const std::function<MadeIn(const Equation& e)>& of_programs);
  bool is_read_by_another(const Equation& e, std::size_t operand) const;

  const ProgramBody& body_;
  std::vector<Lies> lies_;  // by variable
  std::vector<std::optional<Variable>> made_in_;
  std::vector<std::size_t> last_use_;  // by variable
};

}  // namespace ricci::compiled
