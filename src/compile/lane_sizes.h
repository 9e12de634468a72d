// The sizes of a program as lanes see them: one is the number of lanes, another may be walked around them, the others
// are numbers. Knows nothing of elements.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/target.h"
#include "program/program.h"

namespace ricci::compiled {

/// A program that cannot be said element by element, or is not to be: why, with the equation.
struct NotExpandable {
  enum class Because : std::uint8_t {
    it_cannot,
    too_long,      ///< for one kernel: parts of it may be short enough
    no_work_left,  ///< the kernels before took what a plan may have
  };
  std::string why;
  Because because = Because::it_cannot;
};
[[noreturn]] inline void refuse(const std::string& why) { throw NotExpandable{why}; }

/// A size that may be any number: an unknown of the symbol table (`s0`), or a number wherever it stands in a shape.
struct OpenSize {
  std::optional<int> unknown = {};  // `SymbolTable::unknown_of`
  std::int64_t number = 0;
  std::int64_t stands_for = 0;  // of a number that tells some axes apart (axes_apart.h): their size
  std::int64_t in_call() const { return stands_for > 0 ? stands_for : number; }
  bool is_given() const { return unknown || number > 0; }
  bool is_number(Size size) const { return number > 0 && size.raw() == number; }
  bool operator==(const OpenSize&) const = default;
};

/// What a program is taken apart for.
struct ExpandOptions {
  /// Of the symbols, where the program has no table of its own, as one derived from another program: the table's inputs
  /// say what is open.
  std::shared_ptr<const SymbolTable> table = nullptr;
  /// Elements of a value in one lane, or where there is one lane: values of more are better walked than unrolled.
  std::int64_t most_of_lane = 256, most_of_one = 1024;
  /// Which number each size of the inputs is, in their order, where it is a symbol; -1: it stays open, and the lanes
  /// may lie along it. Whoever gives numbers runs the result for these sizes alone.
  std::vector<std::int64_t> sizes = {};
  /// Where `sizes` is empty: open sizes up to this are what they were in the recording.
  std::int64_t most_unrolled = 0;
  /// The number of lanes; not given: the first symbol.
  OpenSize lanes = {};
  /// A size that stands in front of others and is walked outside of the kernel, which runs for one position after the
  /// other: so work on [examples, features] has the features as lanes. Not given: there is none.
  OpenSize outer = {};
  /// Lanes know nothing of each other, nor of their number and place: no totals, no numbers of lanes, no addresses.
  bool are_independent = false;
  /// Of one element of a formula. A longer one stays an operation of the library: fusion saves little beside its own
  /// work, and LLVM takes 10 ms for 250 steps of one element (igamma has 1,500).
  std::size_t most_of_formula = 400;
  std::size_t most_steps = 10'000;         ///< that are computed once or in a lane, elementary functions taken apart
  std::int64_t most_unrolled_number = 64;  ///< a larger number in a shape may be that of the lanes
  /// Of all kernels of a plan together (LaneKernel::work); null: any number.
  std::shared_ptr<std::size_t> work_left = nullptr;
  /// Every equation that can be said element by element gets a kernel, also one that stands alone or only moves
  /// elements: where nothing but kernels runs, or where code runs them without the library between.
  bool takes_all = false;
  const Target* target = &this_machine();  ///< whose registers the lanes fill
};

/// The sizes of a program for one number of lanes.
class LaneSizes {
 public:
  LaneSizes(const ProgramBody& body, std::int64_t lanes, const ExpandOptions& options);

  /// The sizes that `ExpandOptions::sizes` gives numbers for, in this order.
  static std::vector<Size> of_inputs(const ProgramBody& body, const ExpandOptions& options);

  std::int64_t lanes() const { return lanes_; }
  bool has_lanes() const { return lane_.is_given(); }
  bool is(Size size, const OpenSize& open) const;
  bool is_lane(Size size) const { return is(size, lane_); }
  bool depends_on_lanes(Size size) const { return depends(size, lane_, with_more_lanes_); }
  /// 3 of a size that is three times the number of lanes; 0 of one that is no multiple of it.
  std::int64_t size_of_lane(Size size) const;
  /// How many positions the outer axis is given.
  static constexpr std::int64_t outer_count = 5;
  bool is_outer(Size size) const { return is(size, outer_); }
  bool depends_on_outer(Size size) const { return depends(size, outer_, with_more_outer_); }
  /// Whether it depends on a size that is neither the number of lanes, nor the outer one, nor known.
  bool is_open(Size size) const;
  /// Whether sizes that the program tells apart, or takes for equal, are so among these, made up as they are. That one
  /// is below another need not hold: where an equation needs it (a slice of 100 elements), its type rule fails.
  bool choices_hold() const;
  /// Throws NotExpandable where a guard does not hold.
  void require_guards() const;
  /// Whether a size among the equation's parameters is open; whether one depends on the number of lanes.
  bool reads_open(const Equation& e) const;
  bool reads_lanes(const Equation& e) const;
  /// Throws NotExpandable where there is one.
  void require_no_open() const;
  /// All unknowns for which there are no numbers.
  const std::vector<int>& unknowns() const { return unknowns_; }

  void put(Size& size) const {
    if (size.is_symbol()) size = table_->evaluate(size, sizes_);
    else if (lane_.is_number(size)) size = lanes_;
    else if (outer_.is_number(size)) size = outer_count;
  }
  Type put(Type type) const;
  /// The parameters in numbers. One that is the number of the lanes is another number, as the 10 in x[10] of ten
  /// examples, if the type rule then gives what the program says; else it is that of the lanes. `types`: of the
  /// program's variables.
  OwnedParameters put(const Equation& e, const std::vector<Type>& types) const;

 private:
  bool depends(Size size, const OpenSize& open, const std::vector<Size>& with_more) const;
  bool changes_with(Size size, const std::vector<Size>& others) const;
  bool fits(const Equation& e, const OwnedParameters& parameters, const std::vector<Type>& types) const;

  const SymbolTable* table_;
  std::int64_t lanes_;
  OpenSize lane_, outer_;
  std::vector<Size> sizes_, with_more_lanes_, with_more_outer_, with_others_open_;
  std::vector<int> unknowns_;
  std::vector<Size> open_;  // by unknown: it as a size
};

}  // namespace ricci::compiled
