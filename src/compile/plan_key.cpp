// Every member of every struct, one after the other. A struct that gets another member does not compile here until the
// member is written, too.
#include "compile/plan_key.h"

#include <cstring>
#include <type_traits>

namespace ricci::compiled {
namespace {

class Key {
 public:
  std::string bytes;

  template <class... Members>
  void all(const Members&... members) {
    (add(members), ...);
  }

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T x) {
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  void add(const std::string& text) {
    add(text.size());
    bytes += text;
  }
  void add(const std::vector<bool>& bits) {
    add(bits.size());
    for (const bool bit : bits) add(bit);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(list.size());
    for (const T& x : list) add(x);
  }
  template <class T, std::size_t n>
  void add(const std::array<T, n>& list) {
    for (const T& x : list) add(x);
  }
  template <class T>
  void add(const std::optional<T>& x) {
    add(x.has_value());
    if (x) add(*x);
  }

  // ── scalar operations ──

  void add(const ScalarStep& s) {
    const auto& [kind, word, dtype, is_structural, from, payload] = s;
    all(kind, word, dtype, is_structural, from, payload);
  }
  void add(const ScalarGraph& graph) { add(graph.steps()); }
  void add(const Place& p) {
    const auto& [tensor, base, per_lane_count, stride] = p;
    all(tensor, base, per_lane_count, stride);
  }
  void add(const Input& input) {
    const auto& [dtype, place] = input;
    all(dtype, place);
  }
  void add(const Output& output) {
    const auto& [node, place] = output;
    all(node, place);
  }
  void add(const Given& given) {
    const auto& [what, tensor, axis] = given;
    all(what, tensor, axis);
  }
  void add(const LaneTurns::RowStep& step) {
    const auto& [base, per_lane_count] = step;
    all(base, per_lane_count);
  }
  void add(const LaneTurns& turns) {
    const auto& [state_of_output, first_number, in_rows, out_rows, count, count_given, goes_on, is_backward] = turns;
    all(state_of_output, first_number, in_rows, out_rows, count, count_given, goes_on, is_backward);
  }
  void add(const LaneProgram& program) {
    const auto& [graph, inputs, givens, outputs, has_lanes, output_dtypes, required, turns, rows] = program;
    all(graph, inputs, givens, outputs, has_lanes, output_dtypes, required, turns, rows);
  }
  void add(const Stage& stage) {
    const auto& [once, once_outputs, lane, turn, lane_outputs, totals] = stage;
    all(once, once_outputs, lane, turn, lane_outputs, totals);
  }
  void add(const CalledFunction& function) {
    const auto& [dtype, words, program] = function;
    all(dtype, words, program);
  }
  void add(const Refill& refill) {
    const auto& [most_turns, fewest_turns, of_turn, of_all, of_lane] = refill;
    all(most_turns, fewest_turns, of_turn, of_all, of_lane);
  }
  void add(const LanePlan& plan) {
    const auto& [program, stages, is_lane, is_turn, slots, given, slot_count, width, registers, functions, refill,
                 walks] = plan;
    all(program, stages, is_lane, is_turn, slots, given, slot_count, width, registers, functions, refill, walks);
  }

  // ── steps of a function ──

  void add(const Location& l) {
    const auto& [in, number, offset] = l;
    all(in, number, offset);
  }
  void add(const FilledCopies& copies) {
    const auto& [in, out, size] = copies;
    all(in, out, size);
  }
  void add(const KernelStep& s) {
    const auto& [plan, lanes_together, own_code, stands_in_place, careful_call, in, out, lanes, positions, in_steps,
                 out_steps, sizes, copies, slots, totals, copied] = s;
    all(*plan, lanes_together, own_code, stands_in_place, careful_call, in, out, lanes, positions, in_steps, out_steps,
        sizes, copies, slots, totals, copied);
  }
  void add(const CopyStep& s) {
    const auto& [from, to, dtype, shape, strides] = s;
    all(from, to, dtype, shape, strides);
  }
  void add(const MoveStep& s) {
    const auto& [from, to, table, dtype, count] = s;
    all(from, to, table, dtype, count);
  }
  void add(const PlacesStep::Index& index) {
    const auto& [where, strides, size, step] = index;
    all(where, strides, size, step);
  }
  void add(const PlacesStep& s) {
    const auto& [what, wraps, dtype, table, values, shape, table_strides, value_strides, index_axes, indices, elements,
                 totals] = s;
    all(what, wraps, dtype, table, values, shape, table_strides, value_strides, index_axes, indices, elements, totals);
  }
  void add(const CheckStep& s) {
    const auto& [numbers, dtype, count, allowed] = s;
    const auto& [least, most, zero, reals] = allowed;
    all(numbers, dtype, count, least, most, zero, reals.has_value());
    if (reals) all(reals->low, reals->high);
  }
  void add(const FillStep& s) {
    const auto& [takes_part, from, to, dtype, groups, rows, row_bytes] = s;
    all(takes_part, from, to, dtype, groups, rows, row_bytes);
  }
  void add(const RunningStep& s) {
    const auto& [from, to, from_type, total_type, to_type, word, is_backward, outer, count, inner] = s;
    all(from, to, from_type, total_type, to_type, word, is_backward, outer, count, inner);
  }
  void add(const ConvertStep& s) {
    const auto& [from, to, from_type, to_type, count] = s;
    all(from, to, from_type, to_type, count);
  }
  void add(const ProductStep::Factor& factor) {
    const auto& [where, is_transposed, leading, steps] = factor;
    all(where, is_transposed, leading, steps);
  }
  void add(const ProductStep& s) {
    const auto& [dtype, m, n, k, a, b, c, batch] = s;
    all(dtype, m, n, k, a, b, c, batch);
  }
  void add(const CallStep& s) {
    const auto& [number, in, out] = s;
    all(number, in, out);
  }
  void add(const RowCopy& copy) {
    const auto& [stack, row, size, dtype, step] = copy;
    all(stack, row, size, dtype, step);
  }
  void add(const TurnRecords& records) {
    const auto& [size, offset] = records;
    all(size, offset);
  }
  void add(const AlternatingState& state) {
    const auto& [number, first, second, size, dtype] = state;
    all(number, first, second, size, dtype);
  }
  void add(const WorkspacePart& part) {
    const auto& [offset, size] = part;
    all(offset, size);
  }
  void add(const LoopStep& s) {
    const auto& [most_turns, is_backward, limit, condition, truth, reads, body, writes, next, states, records,
                 counted_by, begin, end, own, is_in_registers] = s;
    all(most_turns, is_backward, limit, condition, truth, reads, body, writes, next, states, records, counted_by, begin,
        end, own, is_in_registers);
  }
  void add(const BranchStep& s) {
    const auto& [question, dtype, branches] = s;
    all(question, dtype, branches);
  }
  void add(const Step& step) {
    add(step.what.index());
    std::visit([&](const auto& s) { add(s); }, step.what);
  }
  void add(const OpenExamples::Rows& rows) {
    const auto& [size, copy] = rows;
    all(size, copy);
  }
  void add(const OpenExamples& open) {
    const auto& [of_block, arguments, results] = open;
    all(of_block, arguments, results);
  }
  void add(const FunctionPlan& plan) {
    const auto& [name, arguments, results, constants, steps, workspace_bytes, states, limits, records, calls_blas,
                 open] = plan;
    all(name, arguments, results, constants, steps, workspace_bytes, states, limits, records, calls_blas, open);
  }
};

template <class Plan>
std::string written(const Plan& plan) {
  Key key;
  key.add(plan);
  return std::move(key.bytes);
}

}  // namespace

std::string key_of(const LanePlan& plan) { return "lanes" + written(plan); }
std::string key_of(const FunctionPlan& plan) { return "function" + written(plan); }

}  // namespace ricci::compiled
