// How an operation is written, ours and yours. A primitive is a small aggregate that says what is true about one
// operation: its type, value, derivative, batching and test samples; its data members are its parameters. Calling
// `apply(MyOp{…}, x, y)` in the public function registers it.
//
//   struct Cube {
//     using kind = Elementwise;
//     static constexpr const char* name = "cube";
//     static constexpr unsigned keeps = input(0);
//     template <class T> auto formula(T x) const { return x * x * x; }
//     Tensor partial(const Tensor& x, const Tensor&) const { return 3 * square(x); }
//   };
//   Tensor cube(const Tensor& x) { return apply(Cube{}, x); }
//
// The kind says which rules are written and which follow:
//   Elementwise   formula, partial (or scale)            → broadcasting, promotion, loops, jvp, vjp, batch
//   Linear        type, eval (or alias), transpose, lift → jvp, vjp; linear jointly in the inputs of `linear_in`
//   Multilinear   type, eval, transpose, lift            → jvp, vjp; linear in each input, the others held
//   Explicit      type, eval, jvp, vjp, lift             → nothing more
//   Custom        call                                   → everything: its value is written in tensors
// An elementwise operation that is linear says so: jointly in the inputs of `linear_in` (where), in each of those of
// `linear_in_each` while the others are held (a product). So a reader of programs knows where zeros stay zeros.
// A formula holds for any T that has the words of ricci::scalar. So it can also be written down, for a compiler to read
// (`primitive/formula.h`); one that calls anything else says `static constexpr bool formula_is_opaque = true`. Other
// operations say what becomes of single elements by `moves_elements` or `on_elements` (`primitive/element_rules.h`).
// An elementwise operation may bind itself to an error, `static constexpr double ulps`: units in the last place of
// float32 and float64 results, over the whole domain. The laws hold it against `formula` in more digits, or against
// `exact` of the same arguments where the formula itself rounds (a constant, a series). Where the terms of a sum cancel
// no error of the result can be bound: `unit` of the same arguments, beside its reason, names the term whose units
// count. `lift` is one of lifted(), lifted(Size) — the same operation with one more leading axis on every input and
// output — or batch(Batch), a direct rule. Rules never look at values, only at types; they are written in ordinary
// operations.
//
// A custom operation is a function on tensors that a recorded program shows as one equation: control flow, a function
// of the user's. With `call` alone it is transparent: transforms see through it to what `call` does, also where they
// run inside a recording. With the rules
//   Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const      the value, and what vjp will need
//   Tensors vjp(const Reverse&) const                                        reads Reverse::residual
//   Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const
//   BatchedOutputs batch(const Batch&) const
// it is opaque: its rules run one level below the transform that asks, where `apply(*this, inputs)` is its own value.
// With the rules and `static constexpr bool transparent = true` it is transparent all the same; its rules say what
// becomes of a recorded one, and need not hold elsewhere.
// A tensor of a running transform that reaches a rule by capture, not as an input, is a TransformError. An explicit
// primitive may bring `keep` too, where its value leaves more than its outputs, such as factors.
//
//   struct Cond {                                            // parameters may be anything that prints itself
//     using kind = Custom;
//     static constexpr const char* name = "cond";
//     Program yes, no;
//     Tensors call(std::span<const Tensor> inputs) const { … }
//   };
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ricci/ops.h"
#include "ricci/primitive/parameters.h"
#include "ricci/primitive/rule_arguments.h"
#include "ricci/strided.h"
#include "ricci/type.h"

namespace ricci {

using Inputs = std::span<const Strided>;
using Outputs = std::span<const Strided>;

struct Elementwise {};
struct Linear {};
struct Multilinear {};
struct Explicit {};
struct Custom {};
enum class Kind : std::uint8_t { elementwise, linear, multilinear, explicit_, custom };

/// The most operands an operation with rules may have inside a transform: `keeps` and `linear_in` name them by bits.
/// A Custom operation may have any number.
inline constexpr std::size_t max_operands = 32;

/// Bits of `keeps`: what the reverse rule reads, and so is kept until the backward pass, among the first 8 inputs and
/// the outputs. Where the cotangents of different inputs read different operands, a list says it input by input, and
/// what is kept depends on which inputs need a derivative; the last mask serves all further inputs:
///   static constexpr unsigned keeps[] = {input(1), input(0) | output(0)};
/// With a single mask, the library drops what it can prove is not read. The cotangent of a factor of a multilinear
/// operation does not read that factor, and need not name the others. Where an elementwise operation is linear in an
/// input, that input's cotangent reads neither the inputs that the operation is linear in nor the output.
inline constexpr std::size_t keepable_inputs = 8, keepable_outputs = 24;
constexpr unsigned input(int i) { return 1U << i; }
constexpr unsigned output(int i) { return 1U << (static_cast<int>(keepable_inputs) + i); }
inline constexpr unsigned nothing = 0, all_inputs = ~0U;
/// Whether `keeps` names this input or output; there may be more of them than it can name.
constexpr bool keeps_input(unsigned keeps, std::size_t i) {
  return i < keepable_inputs && (keeps & input(static_cast<int>(i))) != 0;
}
constexpr bool keeps_output(unsigned keeps, std::size_t i) {
  return i < keepable_outputs && (keeps & output(static_cast<int>(i))) != 0;
}

/// Inputs at which the laws try an operation; `op` carries the parameters.
template <class P>
struct Sample {
  P op;
  std::vector<Tensor> inputs;
};
struct ErasedSample {
  OwnedParameters op;
  std::vector<Tensor> inputs;
};

/// Where an elementwise operation's default samples are drawn from.
struct Interval {
  double low = -2, high = 2;
};

struct LoopTable;
struct Exact;
struct ExactValue;
struct Formula;
struct Accumulation;
struct ElementFormula;
class ElementWriter;
class Written;
// Of programs, inside the library.
struct ProgramsRun;
struct Pruned;
struct Role;
struct Structure;

/// The error that float32 and float64 results have at most, in units in the last place, over the whole domain; and what
/// the results should be.
struct ErrorBound {
  double ulps;
  void (*exact)(const void* op, const Exact* inputs, ExactValue&);
};

/// What the rule `overwrite` does.
enum class Overwriting : std::uint8_t {
  is_done,  ///< says whether the second input is, in memory, the part that would be replaced
  keep,     ///< copies the elements that would be replaced; throws what is wrong with the inputs
  replace,  ///< replaces them; throws as `keep` does
  restore,  ///< puts those that were kept back, and neither allocates nor throws
};
/// What an operation does beside giving its results. Whoever reorders, merges or drops operations keeps the number and
/// the order of those that do anything.
enum class Effect : std::uint8_t {
  no_effect,
  acts,           ///< acts each time it runs: takes a place from a generator, sends a message, prints a line
  checks_values,  ///< throws where its operands have values that they must not have
};
inline constexpr std::size_t axes_on_the_stack = 6;  // of a Shape and Strides: those of more axes allocate

/// Everything known about one primitive, with its C++ type erased. Made by the compiler from the struct; a rule the
/// struct does not have is null. The first argument of every rule points at the parameters.
struct Rules {
  const char* name = nullptr;
  Kind kind = {};
  ParameterRules parameters = {};
  int operands = -1;  // how many it takes, where its rules tell; else -1. Elementwise: in `loops`
  // What scale, transpose and vjp read for the cotangent of each input, in bits `input(i)`, `output(i)`. The last mask
  // serves all further inputs.
  std::array<unsigned, keepable_inputs + 1> keeps = {};
  unsigned linear_in = 0;       // Linear, Elementwise: the jointly linear inputs
  unsigned linear_in_each = 0;  // Elementwise: further inputs in which it is linear while all others are held
  Effect effect = Effect::no_effect;

  Types (*type)(const void*, const Types&) = nullptr;  // of the outputs; throws what is wrong with the inputs
  void (*eval)(const void*, Outputs, Inputs) = nullptr;
  /// The result in the elements of the first input, of which it replaces as many as the second has; no other input
  /// shares them. The elements that are kept, or put back, stand in the third argument. False if the first input's
  /// layout does not allow it.
  bool (*overwrite)(const void*, Overwriting step, const Strided& kept, Inputs) = nullptr;
  bool (*alias)(const void*, Type&, Strides&, void*&) = nullptr;  // a view: change the layout, share the elements
  const LoopTable* (*loops)() = nullptr;                          // Elementwise
  /// A bit for each input whose elements move to the results; the others choose places. Null or 0: the operation
  /// computes. In primitive/element_rules.h.
  unsigned (*moves_elements)(const void*) = nullptr;
  /// What the operation makes of real elements, written down in one of four ways, or in none.
  using FormulaRule = Formula (*)(const void*);                                  // Elementwise
  using AccumulationRule = Accumulation (*)(const void*);                        // a reduction: how it joins elements
  using ElementsRule = ElementFormula (*)(const void*, std::span<const Shape>);  // primitive/element_rules.h
  using ElementRule = std::int32_t (*)(const void*, ElementWriter&);             // inside the library
  std::variant<std::monostate, FormulaRule, AccumulationRule, ElementsRule, ElementRule> written = {};
  /// Elementwise: a tangent of input i times the partial derivative there; undefined is zero.
  Tensor (*scale)(const void*, int i, const Tensor& tangent, std::span<const Tensor> inputs,
                  const Tensor& output) = nullptr;
  /// Linear, Multilinear: the cotangent of input i, from the output's.
  Tensor (*transpose)(const void*, int i, const Tensor& cotangent, const Reverse&) = nullptr;
  Tensors (*jvp)(const void*, const Forward&) = nullptr;         // Explicit: the outputs' tangents
  Tensors (*vjp)(const void*, const Reverse&) = nullptr;         // Explicit, or Linear instead of `transpose`
  BatchedOutputs (*batch)(const void*, const Batch&) = nullptr;  // preferred to `lifted`
  OwnedParameters (*lifted)(const void*, Size) = nullptr;        // for one more leading axis of this size
  std::uint64_t (*home)(const void*) = nullptr;  // the level of the one transform that answers it, whatever its inputs

  bool transparent = false;  // Custom: transforms see through it, except, if it has rules, where a program is recorded
  /// Custom: the name of a function of the user's, which a program shows as `custom` with what it computes. Null: it is
  /// an operation.
  std::string (*function_name)(const void*) = nullptr;
  /// Custom: whether it draws, so that a vmap handles it which maps none of its inputs. Null: it does not.
  bool (*draws)(const void*) = nullptr;
  Tensors (*call)(const void*, std::span<const Tensor>) = nullptr;
  Kept (*keep)(const void*, std::span<const Tensor>, const Mask&) = nullptr;
  Pushed (*push)(const void*, std::span<const Tensor>, std::span<const Tensor>) = nullptr;

  // For readers of programs, inside the library.
  Structure (*structure)(const void*) = nullptr;                               // program/structure.h
  ProgramsRun (*programs_run)(const void*) = nullptr;                          // program/programs_run.h
  SmallVector<Role, 6> (*roles)(const void*, std::size_t operands) = nullptr;  // program/roles.h
  std::optional<Pruned> (*pruned)(const void*, const SmallVector<bool, 8>& needed,
                                  std::size_t operands) = nullptr;  // program/pruning.h
  /// The results in operations that are simpler: for where a kernel cannot hold the operation, and no library is there.
  /// Sums may be made in another order. Requires: the operands are real, and none is empty.
  Tensors (*simpler)(const void*, std::span<const Tensor>) = nullptr;

  std::vector<ErasedSample> (*samples)() = nullptr;
  double (*reference)(const void*, const double*) = nullptr;  // the scalar in double, by another route than formula
  Interval domain = {};
  double tolerance_factor = 1;        // times the dtype's tolerance; a reason stands beside it
  const ErrorBound* bound = nullptr;  // Elementwise: null where the struct has no `ulps`

  bool is_view() const { return alias != nullptr; }
  // How it is written down; null: otherwise, or not at all.
  FormulaRule formula() const { return written_as<FormulaRule>(); }
  AccumulationRule accumulation() const { return written_as<AccumulationRule>(); }
  ElementsRule on_elements() const { return written_as<ElementsRule>(); }
  ElementRule element() const { return written_as<ElementRule>(); }
  /// Whether the derivative is zero wherever it exists.
  bool is_locally_constant() const {
    return kind == Kind::elementwise ? scale == nullptr : kind == Kind::explicit_ && jvp == nullptr;
  }

 private:
  template <class Rule>
  Rule written_as() const {
    const Rule* const rule = std::get_if<Rule>(&written);
    return rule ? *rule : nullptr;
  }
};

/// A primitive with its parameters, borrowed.
struct Op {
  const Rules* rules;
  const void* parameters;
};

// ── applying ──

/// The one output of an operation. Throws ValueError for an undefined input, and whatever the operation's rules say.
Tensor apply_one(Op op, const Tensor* const* inputs, std::size_t count);
/// All outputs, of any number of inputs; ValueError if the operation does not take that many. One whose type rule takes
/// a list takes at least one, and checks the rest there.
Tensors apply_all(Op op, std::span<const Tensor> inputs);
/// In place: `target` takes the value, through views to its base. Throws TransformError where the target holds one
/// value for what differs per example of a running vmap, or was captured by a function under differentiation.
void apply_into(const Tensor& target, Op op, const Tensor* const* inputs, std::size_t count);
/// Gives `target` the value of `source`, broadcast and converted; `name` is the operation errors speak of.
void assign_into(const Tensor& target, const Tensor& source, const char* name);
/// Zeros of that shape and dtype, as differentiation puts them where nothing depends: a compiler may take 0 * x for 0
/// where the 0 is one of these.
Tensor zeros_of(const Type& type);
/// What a product's transpose multiplies by.
Tensor conj_if_complex(const Tensor& x);
/// Sums `x` down and converts it to the given type: the transpose of broadcasting and promotion.
Tensor fit(const Tensor& x, const Type& type);

// Rules for custom operations that follow from `call`.
/// The value, and the inputs for later.
Kept keep_by_calling(Op op, std::span<const Tensor> inputs);
/// Computes the operation again, from the inputs that were kept.
Tensors vjp_by_calling(Op op, const Reverse& rule);
Pushed jvp_by_calling(Op op, std::span<const Tensor> inputs, std::span<const Tensor> tangents);
/// A batching rule for any custom operation: `call` and the rules each run under a batch level of their own. A
/// cotangent that differs per example is summed for an unmapped input; every output is mapped.
BatchedOutputs batch_by_lifting(Op op, const Batch& batch);

/// All primitives the program contains, in no particular order.
std::vector<const Rules*>& registry();

namespace erase {

/// Compiles if the formula of the elementwise P takes `count` operands. In primitive/elementwise.h.
template <class P, std::size_t count>
void check_operand_count();

}  // namespace erase

template <class P>
constexpr Rules make_rules();
template <class P>
inline constexpr Rules rules_of = make_rules<P>();
template <class P>
inline const bool registered = (registry().push_back(&rules_of<P>), true);

template <class P, class... X>
  requires(std::same_as<X, Tensor> && ...)
Tensor apply(const P& op, const X&... x) {
  (void)&registered<P>;
  if constexpr (std::same_as<typename P::kind, Custom>) {
    const Tensors inputs{x...};
    return apply_all({&rules_of<P>, &op}, inputs)[0];
  } else {
    if constexpr (std::same_as<typename P::kind, Elementwise>) erase::check_operand_count<P, sizeof...(X)>();
    const Tensor* inputs[sizeof...(X) ? sizeof...(X) : 1] = {&x...};
    return apply_one({&rules_of<P>, &op}, inputs, sizeof...(X));
  }
}

/// For primitives with several outputs, or a number of inputs known at run time.
template <class P>
Tensors apply(const P& op, std::span<const Tensor> inputs) {
  (void)&registered<P>;
  return apply_all({&rules_of<P>, &op}, inputs);
}

template <class P, class... X>
  requires(std::same_as<X, Tensor> && ...)
const Tensor& apply_into(const Tensor& target, const P& op, const X&... x) {
  (void)&registered<P>;
  if constexpr (std::same_as<typename P::kind, Elementwise>) erase::check_operand_count<P, sizeof...(X)>();
  const Tensor* inputs[] = {&x...};
  apply_into(target, Op{&rules_of<P>, &op}, inputs, sizeof...(X));
  return target;
}

// ── from the struct to the table ──

namespace erase {

template <class P>
const P& as(const void* op) {
  return *static_cast<const P*>(op);
}

/// The number of operands that the type rule takes; -1 for a rule that takes a list.
template <class P>
constexpr int operands_of_type() {
  if constexpr (requires(const P& p, const Types& in) { p.type(in); }) return -1;
  else if constexpr (requires(const P& p) { p.type(); }) return 0;
  else if constexpr (requires(const P& p, const Type& t) { p.type(t); }) return 1;
  else if constexpr (requires(const P& p, const Type& t) { p.type(t, t); }) return 2;
  else return 3;
}

template <class P>
Types type_of(const void* op, const Types& in) {
  const P& p = as<P>(op);
  if constexpr (requires { p.type(in); }) return Types{p.type(in)};
  else if constexpr (requires { p.type(); }) return Types{p.type()};
  else if constexpr (requires { p.type(in[0]); }) return Types{p.type(in[0])};
  else if constexpr (requires { p.type(in[0], in[1]); }) return Types{p.type(in[0], in[1])};
  else if constexpr (requires { p.type(in[0], in[1], in[2]); }) return Types{p.type(in[0], in[1], in[2])};
  else
    static_assert(
        sizeof(P) == 0,
        "ricci: a primitive needs `Type type(const Type& x, …) const` or `Type type(const Types&) const`, or the "
        "same that returns Types");
}

template <class P>
Tensor scale_of(const void* op, int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) {
  const P& p = as<P>(op);
  if constexpr (requires { p.scale(i, t, x, y); }) return p.scale(i, t, x, y);
  else if constexpr (requires { p.scale(t, x[0], y); }) return p.scale(t, x[0], y);
  else if constexpr (requires { p.partial(i, x, y); }) return mul(t, p.partial(i, x, y));
  else if constexpr (requires { p.partial(x[0], y); }) return mul(t, p.partial(x[0], y));
  else
    static_assert(
        sizeof(P) == 0,
        "ricci: an elementwise primitive needs `partial`, `scale`, or `static constexpr bool locally_constant = true`");
}

template <class P>
Tensor transpose_of(const void* op, int i, const Tensor& ct, const Reverse& r) {
  const P& p = as<P>(op);
  if constexpr (requires { p.transpose(i, ct, r); }) return p.transpose(i, ct, r);
  else if constexpr (requires { p.transpose(ct, r.input_types[0]); }) return p.transpose(ct, r.input_types[0]);
  else if constexpr (requires { p.transpose(ct); }) return p.transpose(ct);
  else
    static_assert(sizeof(P) == 0,
                  "ricci: a linear primitive needs `Tensor transpose(const Tensor& ct, const Type& input) const`");
}

template <class P>
OwnedParameters lifted_of(const void* op, Size size) {
  const P& p = as<P>(op);
  if constexpr (requires { p.lifted(size); }) return own(p.lifted(size));
  else return own(p.lifted());
}

template <class P>
std::vector<ErasedSample> samples_of() {
  std::vector<ErasedSample> erased;
  for (auto& sample : P::samples()) erased.push_back({own(sample.op), sample.inputs});
  return erased;
}

template <class P>
double reference_of(const void* op, const double* x) {
  const P& p = as<P>(op);
  if constexpr (requires { p.reference(x[0]); }) return static_cast<double>(p.reference(x[0]));
  else if constexpr (requires { p.reference(x[0], x[1]); }) return static_cast<double>(p.reference(x[0], x[1]));
  else return static_cast<double>(p.reference(x[0], x[1], x[2]));
}

template <class P>
constexpr bool is_locally_constant() {
  if constexpr (requires { P::locally_constant; }) return P::locally_constant;
  else return false;
}

/// Rules::keeps, from the list or the mask that the struct declares.
template <class P>
constexpr auto keeps_by_input(const Rules& r) {
  constexpr unsigned inputs = output(0) - 1;
  std::array<unsigned, keepable_inputs + 1> all = {};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if constexpr (requires { std::size(P::keeps); }) {
      all[i] = P::keeps[std::min(i, std::size(P::keeps) - 1)];
    } else {
      unsigned keeps = nothing;
      if constexpr (requires { P::keeps; }) keeps = P::keeps;
      const unsigned itself = i < keepable_inputs ? 1U << i : 0U;
      if (r.kind == Kind::linear) keeps |= inputs & ~r.linear_in;
      else if (r.kind == Kind::multilinear) keeps = (keeps | inputs) & ~itself;
      else if ((r.linear_in >> i & 1U) != 0) keeps &= inputs & ~r.linear_in;
      else if ((r.linear_in_each >> i & 1U) != 0) keeps &= inputs & ~itself;
      all[i] = keeps;
    }
  }
  return all;
}

template <class P>
constexpr bool is_opaque =
    requires(const P& p, std::span<const Tensor> x, const Mask& m, const Reverse& r, const Batch& b) {
      p.keep(x, m);
      p.vjp(r);
      p.jvp(x, x);
      p.batch(b);
    };
template <class P>
constexpr bool has_rule_of_custom = requires(const P& p, std::span<const Tensor> x, const Mask& m) { p.keep(x, m); } ||
                                    requires(const P& p, const Reverse& r) { p.vjp(r); } ||
                                    requires(const P& p, std::span<const Tensor> x) { p.jvp(x, x); } ||
                                    requires(const P& p, const Batch& b) { p.batch(b); };

template <class P>
Tensors call_of(const void* op, std::span<const Tensor> inputs) {
  return as<P>(op).call(inputs);
}
template <class P>
Kept keep_of(const void* op, std::span<const Tensor> inputs, const Mask& wanted) {
  return as<P>(op).keep(inputs, wanted);
}
template <class P>
Tensors vjp_of(const void* op, const Reverse& rule) {
  return as<P>(op).vjp(rule);
}
template <class P>
Pushed push_of(const void* op, std::span<const Tensor> inputs, std::span<const Tensor> tangents) {
  return as<P>(op).jvp(inputs, tangents);
}
template <class P>
BatchedOutputs batch_of(const void* op, const Batch& batch) {
  return as<P>(op).batch(batch);
}

// Defined in primitive/elementwise.h, which a file with elementwise primitives includes.
template <class P>
const LoopTable* loops_for();
template <class P>
void exact_of(const void* op, const Exact* x, ExactValue& y);
template <class P>
inline constexpr ErrorBound bound_of{P::ulps, exact_of<P>};
template <class P>
Formula formula_of(const void* op);
// In primitive/reduction.h.
template <class P>
Accumulation accumulation_of(const void* op);
// In primitive/element_rules.h.
template <class P>
ElementFormula element_formula_of(const void* op, std::span<const Shape> operands);

/// Rules that only the library's operations have are found by the types of members. A call `p.element(y)` would compile
/// a helper of that name in a user's struct, as `template <class T> auto element(T x) const`, for a type it is not for.
template <class P>
concept SaysElement = requires {
  { &P::element } -> std::convertible_to<std::int32_t (P::*)(ElementWriter&) const>;
};
template <class P>
concept SaysElements = !std::same_as<typename P::kind, Custom> && requires { &P::template on_elements<Written>; };
template <class P>
concept IsReduction = !std::same_as<typename P::kind, Custom> && requires { typename P::elements; };

/// Rules::written.
template <class P>
constexpr auto written_of() -> decltype(Rules::written) {
  if constexpr (std::same_as<typename P::kind, Elementwise>) {
    if constexpr (!requires { P::formula_is_opaque; }) return Rules::FormulaRule(formula_of<P>);
  } else {
    static_assert(IsReduction<P> + SaysElements<P> + SaysElement<P> <= 1,
                  "ricci: a primitive has one of `elements`, `on_elements` and `element`");
    if constexpr (IsReduction<P>) return Rules::AccumulationRule(accumulation_of<P>);
    if constexpr (SaysElements<P>) return Rules::ElementsRule(element_formula_of<P>);
    if constexpr (SaysElement<P>)
      return Rules::ElementRule([](const void* op, ElementWriter& y) { return as<P>(op).element(y); });
  }
  return {};
}

}  // namespace erase

template <class P>
constexpr Rules make_rules() {
  Rules r{.name = P::name, .parameters = parameter_rules<P>(), .written = erase::written_of<P>()};
  if constexpr (requires { P::effect; }) r.effect = P::effect;
  using Needed = const SmallVector<bool, 8>&;
  if constexpr (requires {
                  { &P::structure } -> std::convertible_to<Structure (P::*)() const>;
                })
    r.structure = [](const void* op) { return erase::as<P>(op).structure(); };
  if constexpr (requires {
                  { &P::programs_run } -> std::convertible_to<ProgramsRun (P::*)() const>;
                })
    r.programs_run = [](const void* op) { return erase::as<P>(op).programs_run(); };
  if constexpr (requires {
                  { &P::roles } -> std::convertible_to<SmallVector<Role, 6> (P::*)(std::size_t) const>;
                })
    r.roles = [](const void* op, std::size_t operands) { return erase::as<P>(op).roles(operands); };
  if constexpr (requires {
                  { &P::pruned } -> std::convertible_to<std::optional<Pruned> (P::*)(Needed, std::size_t) const>;
                })
    r.pruned = [](const void* op, Needed needed, std::size_t operands) {
      return erase::as<P>(op).pruned(needed, operands);
    };
  if constexpr (requires {
                  { &P::simpler } -> std::convertible_to<Tensors (P::*)(std::span<const Tensor>) const>;
                })
    r.simpler = [](const void* op, std::span<const Tensor> operands) { return erase::as<P>(op).simpler(operands); };
  if constexpr (requires { P::domain; }) r.domain = P::domain;
  if constexpr (requires { P::tolerance_factor; }) r.tolerance_factor = P::tolerance_factor;
  if constexpr (requires { P::samples(); }) r.samples = erase::samples_of<P>;
  if constexpr (
      requires(P p, double x) { p.reference(x); } || requires(P p, double x) { p.reference(x, x); } ||
      requires(P p, double x) { p.reference(x, x, x); })
    r.reference = erase::reference_of<P>;
  if constexpr (std::same_as<typename P::kind, Elementwise>) {
    r.kind = Kind::elementwise;
    r.loops = erase::loops_for<P>;
    if constexpr (requires { P::linear_in; }) r.linear_in = P::linear_in;
    if constexpr (requires { P::linear_in_each; }) r.linear_in_each = P::linear_in_each;
    if constexpr (requires { P::ulps; }) { r.bound = &erase::bound_of<P>; }
    if constexpr (!erase::is_locally_constant<P>()) r.scale = erase::scale_of<P>;
    r.keeps = erase::keeps_by_input<P>(r);
    return r;
  } else if constexpr (std::same_as<typename P::kind, Custom>) {
    static_assert(
        requires(const P& p, std::span<const Tensor> x) { p.call(x); },
        "ricci: a custom primitive needs `Tensors call(std::span<const Tensor> inputs) const`");
    static_assert(erase::is_opaque<P> || !erase::has_rule_of_custom<P>,
                  "ricci: a custom primitive needs all of `keep`, `vjp`, `jvp` and `batch`, or none of them");
    r.kind = Kind::custom;
    r.transparent = !erase::is_opaque<P> || requires { P::transparent; };
    if constexpr (requires(const P& p) { p.function_name(); })
      r.function_name = [](const void* op) -> std::string { return erase::as<P>(op).function_name(); };
    if constexpr (requires(const P& p) { p.draws(); })
      r.draws = [](const void* op) -> bool { return erase::as<P>(op).draws(); };
    r.call = erase::call_of<P>;
    if constexpr (erase::is_opaque<P>) {
      r.keep = erase::keep_of<P>;
      r.vjp = erase::vjp_of<P>;
      r.push = erase::push_of<P>;
      r.batch = erase::batch_of<P>;
    }
    if constexpr (requires(const P& p, const Types& in) { p.type(in); }) r.type = erase::type_of<P>;
    return r;
  } else {
    r.type = erase::type_of<P>;
    r.operands = erase::operands_of_type<P>();
    if constexpr (requires(const P& p, Outputs o, Inputs i) { p.eval(o, i); })
      r.eval = [](const void* op, Outputs out, Inputs in) { erase::as<P>(op).eval(out, in); };
    if constexpr (requires(const P& p, Type& t, Strides& s, void*& d) { p.alias(t, s, d); }) {
      r.alias = [](const void* op, Type& type, Strides& strides, void*& data) {
        if constexpr (std::same_as<decltype(erase::as<P>(op).alias(type, strides, data)), bool>)
          return erase::as<P>(op).alias(type, strides, data);
        else return erase::as<P>(op).alias(type, strides, data), true;
      };
    }
    if constexpr (requires(const P& p, const Strided& s, Inputs i) { p.overwrite(Overwriting::keep, s, i); })
      r.overwrite = [](const void* op, Overwriting step, const Strided& kept, Inputs in) {
        return erase::as<P>(op).overwrite(step, kept, in);
      };
    if constexpr (requires(const P& p) { p.home(); })
      r.home = [](const void* op) -> std::uint64_t { return erase::as<P>(op).home(); };
    if constexpr (requires(const P& p) { p.moves_elements(); }) {
      static_assert(std::same_as<decltype(std::declval<const P&>().moves_elements()), unsigned>,
                    "ricci: moves_elements is of type unsigned: bits of inputs, such as `rc::input(0)`");
      r.moves_elements = [](const void* op) -> unsigned { return erase::as<P>(op).moves_elements(); };
    } else if constexpr (requires { P::moves_elements; }) {
      static_assert(std::same_as<decltype(P::moves_elements), const unsigned>,
                    "ricci: moves_elements is of type unsigned: bits of inputs, such as `rc::all_inputs`");
      r.moves_elements = [](const void*) -> unsigned { return P::moves_elements; };
    }
    static_assert(
        requires(const P& p, Outputs o, Inputs i) { p.eval(o, i); } ||
            requires(const P& p, Type& t, Strides& s, void*& d) { p.alias(t, s, d); } ||
            requires(const P& p) { p.home(); },
        "ricci: a primitive needs `void eval(Outputs, Inputs) const`, or `alias` if it is a view");
    if constexpr (requires(const P& p, const Batch& b) { p.batch(b); })
      r.batch = [](const void* op, const Batch& b) { return erase::as<P>(op).batch(b); };
    if constexpr (requires(const P& p) { p.lifted(); } || requires(const P& p, Size s) { p.lifted(s); })
      r.lifted = erase::lifted_of<P>;
    static_assert(
        requires(const P& p, const Batch& b) { p.batch(b); } || requires(const P& p) { p.lifted(); } ||
            requires(const P& p, Size s) { p.lifted(s); },
        "ricci: a primitive needs `lifted()`, `lifted(Size)` or `batch(const Batch&)` to work under vmap");
    if constexpr (std::same_as<typename P::kind, Linear>) {
      r.kind = Kind::linear;
      if constexpr (requires { P::linear_in; }) r.linear_in = P::linear_in;
      else r.linear_in = input(0);
      if constexpr (requires(const P& p, const Reverse& v) { p.vjp(v); })
        r.vjp = [](const void* op, const Reverse& v) { return erase::as<P>(op).vjp(v); };
      else r.transpose = erase::transpose_of<P>;
    } else if constexpr (std::same_as<typename P::kind, Multilinear>) {
      r.kind = Kind::multilinear;
      r.transpose = erase::transpose_of<P>;
    } else {
      static_assert(std::same_as<typename P::kind, Explicit>,
                    "ricci: a primitive's kind is Elementwise, Linear, Multilinear, Explicit or Custom");
      r.kind = Kind::explicit_;
      if constexpr (requires(const P& p, const Forward& f) { p.jvp(f); })
        r.jvp = [](const void* op, const Forward& f) { return erase::as<P>(op).jvp(f); };
      if constexpr (requires(const P& p, const Reverse& v) { p.vjp(v); })
        r.vjp = [](const void* op, const Reverse& v) { return erase::as<P>(op).vjp(v); };
      static_assert(erase::is_locally_constant<P>() || (requires(const P& p, const Forward& f) { p.jvp(f); } &&
                                                         requires(const P& p, const Reverse& v) { p.vjp(v); }),
                    "ricci: an explicit primitive needs `Tensors jvp(const Forward&) const` and `Tensors vjp(const "
                    "Reverse&) const`, or `static constexpr bool locally_constant = true`");
      if constexpr (requires(const P& p, std::span<const Tensor> x, const Mask& m) { p.keep(x, m); })
        r.keep = [](const void* op, std::span<const Tensor> x, const Mask& m) { return erase::as<P>(op).keep(x, m); };
    }
    r.keeps = erase::keeps_by_input<P>(r);
    return r;
  }
}

}  // namespace ricci
