// The order in which factors are multiplied and added up, and the equations that do so.
#include "compile/contractions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compile/apart.h"
#include "compile/carried_sums.h"
#include "compile/costs.h"
#include "compile/lane_steps.h"
#include "compile/switches.h"
#include "compile/terms.h"
#include "interpreters/recorder.h"
#include "kernels/elementwise.h"
#include "kernels/strided.h"
#include "primitive/interpreter.h"
#include "program/edit.h"
#include "ricci/ops.h"
#include "tensor/at.h"

namespace ricci::compiled {
namespace {

using scalar::Word;

/// A tensor with an axis for each digit.
struct Item {
  Tensor value;
  Digits axes;
  bool is_computed = false;  // else it is a factor as the function has it
  bool is_sum = false;
};

bool has_all(const Digits& digits, const Digits& others) {
  return std::ranges::all_of(others, [&](Digit d) { return has(digits, d); });
}

/// Multiplies and adds up the factors of one sum.
class Contraction {
 public:
  Contraction(const DigitTable& digits, std::vector<Item> items, Digits kept)
      : digits_(digits), items_(std::move(items)), kept_(std::move(kept)) {}

  /// The largest absolute values of what was computed and then multiplied: out of range, perhaps, where the products
  /// that the function computes are not.
  const std::vector<Tensor>& most_of_factors() const { return most_of_factors_; }
  /// One axis for each digit that is kept.
  Tensor result() {
    multiply_alike();
    for (;;) {
      while (add_up_what_one_has_alone()) multiply_alike();
      if (items_.size() == 1) break;
      if (!multiply_into_larger()) multiply_two();
    }
    return laid_out(items_[0], kept_, true);
  }

 private:
  Shape shape_of(const Digits& digits) const {
    Shape shape;
    for (const Digit d : digits) shape.push_back(digits_.size(d));
    return shape;
  }
  /// The item with an axis for each digit of `order`. An axis that the item lacks has one element; if `repeats`, the
  /// item's elements are repeated along that axis.
  Tensor laid_out(const Item& item, const Digits& order, bool repeats) const {
    std::vector<std::int64_t> axes;
    Shape with_ones, whole;
    for (const Digit d : order) {
      const auto place = std::ranges::find(item.axes, d);
      if (place != item.axes.end()) axes.push_back(place - item.axes.begin());
      with_ones.push_back(place != item.axes.end() ? digits_.size(d) : 1);
      whole.push_back(digits_.size(d));
    }
    Tensor value = item.value;
    if (!std::ranges::is_sorted(axes)) value = permute(value, axes);
    if (axes.size() < order.size()) value = reshape(value, with_ones);
    return repeats && !(with_ones == whole) ? expand(value, whole) : value;
  }

  /// Of two that are multiplied. A factor of the function's that a sum is multiplied by need only be finite: it is 1
  /// here, else nan.
  void note_ranges(const Item& a, const Item& b) {
    for (const Item* item : {&a, &b}) {
      if (!item->is_computed && !a.is_sum && !b.is_sum) continue;
      const Tensor most = amax(abs(item->value));
      most_of_factors_.push_back(item->is_computed ? most : most * 0 + 1);
    }
  }
  /// Factors with the same digits: the square of one, or a product element by element.
  void multiply_alike() {
    for (std::size_t i = 0; i < items_.size(); ++i)
      for (std::size_t k = items_.size(); k-- > i + 1;)
        if (items_[i].axes.size() == items_[k].axes.size() && has_all(items_[i].axes, items_[k].axes)) multiply(k, i);
  }
  /// Item `from` goes into item `into`, which has all of its digits.
  void multiply(std::size_t from, std::size_t into) {
    Item& item = items_[into];
    note_ranges(item, items_[from]);
    item.value = item.value * laid_out(items_[from], item.axes, false);
    item.is_computed = true, item.is_sum = false;
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(from));
  }

  /// Whether the digit is kept, or read by an item besides these.
  bool is_needed(Digit d, std::size_t i, std::size_t k) const {
    if (has(kept_, d)) return true;
    for (std::size_t other = 0; other < items_.size(); ++other)
      if (other != i && other != k && has(items_[other].axes, d)) return true;
    return false;
  }
  bool add_up_what_one_has_alone() {
    bool is_changed = false;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      Item& item = items_[i];
      std::vector<std::int64_t> axes;
      Digits left;
      for (std::size_t k = 0; k < item.axes.size(); ++k)
        if (is_needed(item.axes[k], i, i)) left.push_back(item.axes[k]);
        else axes.push_back(static_cast<std::int64_t>(k));
      if (axes.empty()) continue;
      item.value = sum(item.value, axes);
      item.is_computed = item.is_sum = true;
      item.axes = std::move(left);
      is_changed = true;
    }
    return is_changed;
  }
  /// An item whose digits are among those of another one, the smallest of these.
  bool multiply_into_larger() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      std::size_t into = i;
      for (std::size_t k = 0; k < items_.size(); ++k)
        if (k != i && has_all(items_[k].axes, items_[i].axes) &&
            (into == i || digits_.positions(items_[k].axes) < digits_.positions(items_[into].axes)))
          into = k;
      if (into == i) continue;
      multiply(i, into);
      return true;
    }
    return false;
  }
  /// The two whose product is smallest.
  void multiply_two() {
    std::size_t first = 0, second = 1;
    std::int64_t least = INT64_MAX;
    for (std::size_t i = 0; i < items_.size(); ++i)
      for (std::size_t k = i + 1; k < items_.size(); ++k) {
        const std::int64_t now = digits_.positions(axes_of_product(i, k));
        if (now < least) least = now, first = i, second = k;
      }
    const Item product = is_in_order(first, second) ? product_of(first, second) : product_of(second, first);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(second));
    items_[first] = product;
  }
  /// Whether the result has the axes of item i before those of item k: then their product lies as the result does.
  bool is_in_order(std::size_t i, std::size_t k) const {
    const AxisDigits parts = parts_of_product(i, k);
    const auto place = [&](const Digits& own) { return own.empty() ? kept_.end() : std::ranges::find(kept_, own[0]); };
    return place(parts[1]) <= place(parts[2]);
  }
  Digits axes_of_product(std::size_t i, std::size_t k) const {
    const AxisDigits parts = parts_of_product(i, k);
    Digits all;
    for (const Digits* part : {&parts[0], &parts[1], &parts[2]}) all.insert(all.end(), part->begin(), part->end());
    return all;
  }
  /// Digits of both that are needed; of the first alone; of the second alone; those that the product adds up.
  AxisDigits parts_of_product(std::size_t i, std::size_t k) const {
    AxisDigits parts(4);
    for (const Digit d : items_[i].axes) {
      const bool is_in_both = has(items_[k].axes, d);
      parts[is_in_both ? (is_needed(d, i, k) ? 0U : 3U) : 1U].push_back(d);
    }
    for (const Digit d : items_[k].axes)
      if (!has(items_[i].axes, d)) parts[2].push_back(d);
    return parts;
  }
  Item product_of(std::size_t i, std::size_t k) {
    note_ranges(items_[i], items_[k]);
    const AxisDigits parts = parts_of_product(i, k);
    const auto &batch = parts[0], &rows = parts[1], &columns = parts[2], &added = parts[3];
    const Digits axes = axes_of_product(i, k);
    if (added.empty()) return {laid_out(items_[i], axes, false) * laid_out(items_[k], axes, false), axes, true};
    const auto as_matrices = [&](const Item& item, const Digits& first, const Digits& last) {
      Digits order = batch;
      order.insert(order.end(), first.begin(), first.end());
      order.insert(order.end(), last.begin(), last.end());
      Shape shape = shape_of(batch);
      shape.push_back(digits_.positions(first)), shape.push_back(digits_.positions(last));
      const Tensor value = laid_out(item, order, false);
      return first.size() == 1 && last.size() == 1 ? value : reshape(value, shape);
    };
    const Tensor product = matmul(as_matrices(items_[i], rows, added), as_matrices(items_[k], added, columns));
    return {rows.size() == 1 && columns.size() == 1 ? product : reshape(product, shape_of(axes)), axes, true, true};
  }

  const DigitTable& digits_;
  std::vector<Item> items_;
  const Digits kept_;
  std::vector<Tensor> most_of_factors_;
};

/// The first operand, or what the equations give that it stands for, where a factor of it went out of range: of g_i
/// infinite and x_j 0, the sum of g_i x_j is nan, and the product of the two sums may be infinite. The operands behind
/// the first are the largest absolute values of such factors, then what the equations read.
struct OrAsWritten {
  using kind = Explicit;
  static constexpr const char* name = "or_as_written";
  static constexpr bool locally_constant = true;  // no rule derives from it
  struct Equations {
    Program program;
    void print_parameter(std::string& out) const { out += std::to_string(program.equations()); }
    void walk_parameter(ParameterVisitor& visitor) { visitor.program(program); }
    bool operator==(const Equations& other) const { return &program.body() == &other.program.body(); }
  } apart;
  std::int64_t factors;
  double least;  // that the largest absolute value of a factor may be

  Type type(const Types& in) const { return in[0]; }
  void eval(Outputs out, Inputs in) const {
    kernels::copy(out[0], in[0]);
    write_unless_in_range(out[0], in);
  }
  bool overwrite(Overwriting step, const Strided&, Inputs in) const {
    if (step == Overwriting::replace) write_unless_in_range(in[0], in);
    return step == Overwriting::replace;
  }
  BatchedOutputs batch(const Batch&) const { throw TransformError("a plan runs outside transforms"); }

 private:
  void write_unless_in_range(const Strided& result, Inputs in) const {
    const auto is_in_range = [this](const Strided& x) {
      const double most = x.dtype == DType::float32 ? static_cast<double>(*static_cast<const float*>(x.data))
                                                    : *static_cast<const double*>(x.data);
      return std::isfinite(most) && most >= least;
    };
    const Inputs most = in.subspan(1, at(factors));
    if (!std::ranges::all_of(most, is_in_range)) run_apart(apart.program, {&result, 1}, in.subspan(1 + at(factors)));
  }
};

/// Whether factors are multiplied element by element, as in squares. Of a factor in float32 these may be so large or
/// small that they have no number, though those of the whole product have one.
bool has_factors_alike(const Sum& sum) {
  std::vector<Digits> known;
  for (const Factor& f : sum.term.factors) {
    Digits digits = all_of(f.axes);
    std::ranges::sort(digits);
    if (digits.empty()) continue;
    if (std::ranges::find(known, digits) != known.end()) return true;
    known.push_back(std::move(digits));
  }
  return false;
}

/// What equations are written for: the total of some sums, added to a first value.
struct Replaced {
  std::span<const Sum> sums;
  const DigitTable& digits;
  Variable start;  // -1: there is none
  Variable result;
  OriginRef origin;
};

/// Writes the equations that stand for others.
class Replacement {
 public:
  explicit Replacement(const Replaced& of) : of_(of) {}

  /// Behind those of `to`. `as_written(factors)`: the equations that they stand for, whose first inputs are the
  /// factors. False if a reduction ends otherwise than sums and means do.
  template <class AsWritten>
  bool add_to(ProgramBody& to, const AsWritten& as_written) {
    constexpr double least_of_float = 1e-30, least_of_double = 1e-290;
    const AtLevel outside(nullptr);
    Recorder recorder("compile", Records::program);
    const Type type = to.types[at(of_.result)];
    const bool in_double = type.dtype == DType::float32 && std::ranges::any_of(of_.sums, has_factors_alike);
    Tensor result;
    std::vector<Tensor> most_of_factors;
    for (const Sum& sum : of_.sums) {
      std::vector<Item> items = items_of(sum, to, recorder, in_double ? DType::float64 : type.dtype);
      Contraction contraction(of_.digits, std::move(items), all_of(sum.term.axes));
      const Tensor total = contraction.result();
      const Ending ending = ending_of(sum.finish);
      if (ending == Ending::other) return false;
      const std::int64_t elements = of_.digits.positions(all_of(sum.added));
      const Tensor finished = ending == Ending::mean ? total / static_cast<double>(elements) : total;
      const Tensor shaped = reshape(finished, sum.type.shape);
      result = result.defined() ? result + shaped : shaped;
      std::ranges::copy(contraction.most_of_factors(), std::back_inserter(most_of_factors));
    }
    result = ricci::to(result, type.dtype);
    if (of_.start >= 0) result = input(of_.start, to, recorder) + result;
    recorder.output(result);
    for (const Tensor& most : most_of_factors) recorder.output(most);
    const std::vector<Variable> results = splice(recorder.end().body(), to);
    // Of at most eight numbers of float32, squared or not, each product has one of float64.
    const double least = in_double ? 0 : type.dtype == DType::float32 ? least_of_float : least_of_double;
    if (results.size() > 1) to.equations.push_back(or_as_written(results, as_written(factors()), least));
    return true;
  }

 private:
  Tensor input(Variable v, const ProgramBody& to, const Recorder& recorder) {
    inputs_.push_back(v);
    return recorder.input(to.types[at(v)]);
  }
  std::vector<Item> items_of(const Sum& sum, const ProgramBody& to, const Recorder& recorder, DType dtype) {
    std::vector<Item> items;
    for (const Factor& f : sum.term.factors) {
      const Digits axes = all_of(f.axes);
      Shape shape;
      for (const Digit d : axes) shape.push_back(of_.digits.size(d));
      Tensor value = input(f.value, to, recorder);
      if (!(to.types[at(f.value)].shape == shape)) value = reshape(value, shape);
      if (value.dtype() != dtype) value = ricci::to(value, dtype);
      items.push_back({f.divides ? 1.0 / value : value, axes, f.divides});
    }
    return items;
  }

  /// Adds the equations of `from` to `to` and returns the outputs of `from` as variables of `to`. If `from` has one
  /// output, that output is the variable of the result.
  std::vector<Variable> splice(const ProgramBody& from, ProgramBody& to) const {
    std::vector<Variable> number(from.types.size(), -1), outputs;
    for (std::size_t k = 0; k < from.inputs.size(); ++k) number[at(from.inputs[k])] = inputs_[k];
    if (from.outputs.size() == 1) number[at(from.outputs[0])] = of_.result;
    const auto number_of = [&](Variable v) {
      if (number[at(v)] < 0) {
        number[at(v)] = static_cast<Variable>(to.types.size());
        to.types.push_back(from.types[at(v)]);
      }
      return number[at(v)];
    };
    for (const Constant& c : from.constants) to.constants.push_back({number_of(c.variable), c.value});
    for (Equation e : from.equations) {
      for (Variable& v : e.inputs) v = number_of(v);
      for (Variable& v : e.outputs) v = number_of(v);
      e.origin = of_.origin;
      to.equations.push_back(std::move(e));
    }
    for (const Variable v : from.outputs) outputs.push_back(number_of(v));
    return outputs;
  }

  std::vector<Variable> factors() const {
    std::vector<Variable> factors;
    for (const Variable v : inputs_)
      if (std::ranges::find(factors, v) == factors.end()) factors.push_back(v);
    return factors;
  }
  /// `results`: the sum, then the largest absolute values of factors.
  Equation or_as_written(const std::vector<Variable>& results, Apart apart, double least) const {
    Equation e{.rules = &rules_of<OrAsWritten>,
               .parameters = {},
               .inputs = {results.begin(), results.end()},
               .outputs = {of_.result},
               .origin = of_.origin};
    for (const Variable v : apart.inputs) e.inputs.push_back(v);
    e.parameters = own(OrAsWritten{{std::move(apart.program)}, std::ssize(results) - 1, least});
    return e;
  }

  const Replaced& of_;
  std::vector<Variable> inputs_;  // of the recording, as the program numbers them
};

/// Whether a product of at least `fewest` elements is spared that is much larger than what is read and written instead.
bool is_worth_it(const Sum& sum, const DigitTable& digits, std::int64_t fewest) {
  constexpr std::int64_t times_larger = 4;
  std::int64_t largest = digits.positions(all_of(sum.term.axes));
  for (const Factor& f : sum.term.factors) largest = std::max(largest, digits.positions(all_of(f.axes)));
  return sum.term.most_spared >= std::max(fewest, times_larger * largest);
}

constexpr std::int64_t none_spared = INT64_MAX;  // by no sum

/// In the programs of loops and branches, sums that spare a megabyte or two.
bool contract_programs_in(Equation& e) {
  constexpr std::int64_t fewest = 1 << 18;
  if (!holds_programs(e.op())) return false;
  bool is_changed = false;
  OwnedParameters parameters = with_each_program(e.op(), [&](const Program& step) {
    const std::optional<Program> fewer = contracted(step, fewest);
    is_changed = is_changed || fewer;
    return fewer.value_or(step);
  });
  if (is_changed) e.parameters = std::move(parameters);
  return is_changed;
}

/// What stands for `e` of `body`, an equation that adds up terms. False if there is no such thing.
bool add_instead(const Equation& e, const Sum& sum, const DigitTable& digits, const ProgramBody& body,
                 ProgramBody& to) {
  const Replaced replaced{{&sum, 1}, digits, -1, e.outputs[0], e.origin};
  return Replacement(replaced).add_to(to, [&](const std::vector<Variable>& factors) {
    return equations_between(body, factors, {e.outputs.data(), 1}, [](const Equation&) { return true; });
  });
}

/// What stands behind a loop for a sum that the loop carried.
void add_behind_loop(const CarriedSum& sum, const LoopWithRows& loop, const Equation& as_written,
                     const ProgramBody& body, ProgramBody& to) {
  const Replaced replaced{sum.terms, loop.digits, sum.start, sum.result, as_written.origin};
  Replacement(replaced).add_to(to, [&](const std::vector<Variable>&) {
    std::vector<Variable> operands;
    for (const Variable v : as_written.inputs)
      if (std::ranges::find(operands, v) == operands.end()) operands.push_back(v);
    return equations_between(body, operands, {&sum.result, 1}, [&](const Equation& e) { return &e == &as_written; });
  });
}

/// The equation, without sums that loops had better not carry. Returns whether it is another one now.
bool add_with_programs_contracted(const Equation& e, const ProgramBody& body, ProgramBody& to) {
  Equation now = e;
  const bool is_changed = contract_programs_in(now);
  const std::optional<LoopWithRows> loop = with_sums_taken_out(now, to);
  to.equations.push_back(loop ? loop->loop : std::move(now));
  if (loop)
    for (const CarriedSum& sum : loop->sums) add_behind_loop(sum, *loop, e, body, to);
  return is_changed || loop;
}

}  // namespace

std::optional<Program> contracted(const Program& program, std::int64_t fewest) {
  const ProgramBody& body = program.body();
  auto contracted = std::make_unique<ProgramBody>(body);
  contracted->equations.clear();
  bool is_changed = false;
  Terms terms(body);
  for (const Equation& e : body.equations) {
    const std::optional<Sum> sum = fewest == none_spared ? std::nullopt : terms.sum(e);
    const bool is_it = sum && reads_all(*sum) && is_worth_it(*sum, terms.digits(), fewest);
    if (is_it && add_instead(e, *sum, terms.digits(), body, *contracted)) is_changed = true;
    else is_changed = add_with_programs_contracted(e, body, *contracted) || is_changed;
  }
  if (!is_changed) return std::nullopt;
  return Program(Shared<const ProgramBody>(new ProgramBody(without_dead_equations(*contracted)))).simplified();
}

std::optional<Contracted> with_contractions(const Program& program, double bytes) {
  constexpr double fewest_saved = 1 << 20;
  const auto is_left_out = [](const char* pass) { return is_listed("RICCI_COMPILE_WITHOUT", pass); };
  if (is_left_out("contractions") || is_left_out("lanes")) return std::nullopt;
  const auto with_kernels = [](Program fewer) {
    ExpandOptions options;
    options.work_left = std::make_shared<std::size_t>(most_work_of_plan);
    Program planned = with_kernels_throughout(fewer, options);
    return Contracted{std::move(fewer), std::move(planned)};
  };
  if (bytes >= fewest_saved)
    if (std::optional<Program> fewer = contracted(program)) {
      Contracted all = with_kernels(std::move(*fewer));
      if (bytes - bytes_moved(all.planned) >= fewest_saved) return all;
    }
  // What a loop moves in all is not known.
  std::optional<Program> in_steps = contracted(program, none_spared);
  return in_steps ? std::optional(with_kernels(std::move(*in_steps))) : std::nullopt;
}

}  // namespace ricci::compiled
