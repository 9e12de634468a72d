// Moving values between sets of lanes. Rows of a set lie in the order of its numbers, so one set's rows are found among
// another's by merging.
#include "interpreters/lanes.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

#include "interpreters/batch.h"
#include "interpreters/node_memory.h"
#include "primitive/derive.h"
#include "primitive/writing.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

[[noreturn]] void refuse_to_parse() {
  throw NotImplementedError("parse: sets of lanes are known only while their vmap runs");
}

/// A set of lanes of one vmap as a parameter.
struct LanesOf {
  Level level = 0;
  LaneSetRef set;

  void print_parameter(std::string& out) const {
    out += set ? std::to_string(set->numbers.size()) + " lanes" : std::string("all lanes");
  }
  void parse_parameter(std::string_view&) { refuse_to_parse(); }
  friend bool operator==(const LanesOf&, const LanesOf&) = default;
};

Tensor move(Op op, std::span<const Tensor> inputs) {
  Values values;
  for (const Tensor& t : inputs) values.push_back(read(t, op.rules->name));
  return wrap(dispatch(op, {values.data(), values.size()})[0]);
}

/// The rows for `to`, of rows for `from`: one of these sets is a part of the other. The rows of lanes that `from` lacks
/// are zero. So is the row of a lane of which there is no value, as of a cotangent that a pullback is given in a branch
/// which this lane did not take. Selected from what is not batched: itself.
struct MoveLanes {
  using kind = Linear;
  static constexpr const char* name = "move_lanes";
  LanesOf from, to;

  Level home() const { return to.level; }
  Type type(const Type& x) const { return x; }
  Tensor transpose(const Tensor& ct) const {
    const MoveLanes back{to, from};
    return move({&rules_of<MoveLanes>, &back}, {&ct, 1});
  }
  MoveLanes lifted() const { return *this; }
};

/// The parts of a set of lanes as a parameter.
struct PartsOf {
  std::shared_ptr<const LaneParts> all;

  void print_parameter(std::string& out) const { out += std::to_string(all->parts.size()) + " parts"; }
  void parse_parameter(std::string_view&) { refuse_to_parse(); }
  friend bool operator==(const PartsOf&, const PartsOf&) = default;
};

/// Linear jointly in the parts.
struct JoinLanes {
  using kind = Linear;
  static constexpr const char* name = "join_lanes";
  static constexpr unsigned linear_in = ~0U;
  PartsOf parts;

  Level home() const { return parts.all->level; }
  Type type(const Types& in) const { return in[0]; }
  Tensor transpose(int i, const Tensor& ct, const Reverse&) const {
    const MoveLanes select{{home(), parts.all->whole}, {home(), parts.all->parts[static_cast<std::size_t>(i)]}};
    return move({&rules_of<MoveLanes>, &select}, {&ct, 1});
  }
  JoinLanes lifted() const { return *this; }
};

/// For each lane of `wanted`, its row among those of `among`; their count for a lane that is none of them.
std::vector<std::int64_t> rows_among(const BatchInterpreter& batch, const LaneSetRef& wanted, const LaneSetRef& among) {
  if (!among) return wanted->numbers;
  const auto& numbers = among->numbers;
  const std::int64_t count = batch.count(wanted).host(), available = std::ssize(numbers);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count), available);
  std::int64_t row = 0;
  for (std::int64_t i = 0; i < count && row < available; ++i) {
    const std::int64_t number = wanted ? wanted->numbers[static_cast<std::size_t>(i)] : i;
    while (row < available && numbers[static_cast<std::size_t>(row)] < number) ++row;
    if (row < available && numbers[static_cast<std::size_t>(row)] == number) rows[static_cast<std::size_t>(i)] = row;
  }
  return rows;
}

std::uint64_t id_of(const LaneSetRef& set) { return set ? set->id : 0; }

/// Whether `whole` has all lanes of `part`. All examples, null, are part of nothing.
bool is_part_of(const LaneSetRef& part, const LaneSetRef& whole) {
  if (!part) return false;
  if (!whole || part->parted_from == whole->id) return true;
  return std::includes(whole->numbers.begin(), whole->numbers.end(), part->numbers.begin(), part->numbers.end());
}

const Batched* batched_at(const ValueRef& value, Level level) {
  return static_cast<const Batched*>(part_at(*value, level));
}

/// The hidden value with the rows of `lanes`: an unbatched value serves every example.
Tensor rows_for(const BatchInterpreter& batch, const ValueRef& value, const LaneSetRef& lanes) {
  if (value->level == batch.level) {
    const auto& batched = static_cast<const Batched&>(*value);
    assert(batched.lanes == lanes);
    return wrap(batched.value);
  }
  return repeated(wrap(value), batch.count(lanes));
}

/// A number for each of the lanes is a number.
ValueRef batched_like(const Type& type, const BatchInterpreter& batch, const Tensor& rows, const LaneSetRef& lanes,
                      const char* op) {
  return new_node<Batched>(batch.level, read(to_type(rows, type.dtype, type.weak), op), lanes);
}

/// A value with rows for the lanes of `from`, with those of `to`: zero where it has none.
ValueRef with_rows_of(const BatchInterpreter& batch, const LaneSetRef& to, const LaneSetRef& from, Tensor value,
                      const char* op) {
  const Type type = type_of(value);
  const auto selected = [&](const Tensor& rows) {
    return batched_like(type, batch, index_select(value, 0, rows), to, op);
  };
  if (!from || is_part_of(to, from))
    return selected(to->parted_from == id_of(from) ? to->rows : tensor(rows_among(batch, to, from)));
  Shape one = value.shape();
  one[0] = 1;
  value = cat(std::vector{value, zeros(one, TensorOptions{.dtype = type.dtype})}, 0);
  return selected(tensor(rows_among(batch, to, from)));
}

ValueRef move_rows(const BatchInterpreter& batch, const MoveLanes& op, const ValueRef& value) {
  const LaneSetRef &from = op.from.set, &to = op.to.set;
  const bool selects = is_part_of(to, from), is_batched = value->level == batch.level;
  if (selects && !is_batched) return value;
  const LaneSetRef& has = is_batched ? static_cast<const Batched&>(*value).lanes : from;
  // Lanes that have left since are gone from what is selected already. Where rows are added, theirs are zero.
  if (has == to || (selects && !is_part_of(to, has) && is_part_of(has, to))) return value;
  return with_rows_of(batch, to, has, rows_for(batch, value, has), op.name);
}

/// Those of `set` that run. Requires: not all examples do.
LaneSetRef running_of(const BatchInterpreter& batch, const LaneSetRef& set) {
  assert(batch.lanes);
  std::vector<std::int64_t> numbers;
  std::set_intersection(set->numbers.begin(), set->numbers.end(), batch.lanes->numbers.begin(),
                        batch.lanes->numbers.end(), std::back_inserter(numbers));
  return make_lanes(batch.level, nullptr, std::move(numbers));
}

/// Of parts that some examples have left since, the others: a linear map that was recorded before may run for fewer.
/// Requires: some of those that run are in a part.
ValueRef join_running(const BatchInterpreter& batch, const JoinLanes& op, std::span<const ValueRef> values) {
  const LaneParts& all = *op.parts.all;
  std::vector<LaneSetRef> parts;
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const LaneSetRef part = running_of(batch, all.parts[i]);
    if (part->numbers.empty()) continue;
    const MoveLanes select{{batch.level, all.parts[i]}, {batch.level, part}};
    rows.push_back(rows_for(batch, move_rows(batch, select, values[i]), part));
    parts.push_back(part);
  }
  assert(!parts.empty());
  const std::shared_ptr<const LaneParts> running = make_parts(batch, united(parts), parts);
  const Tensor joined = index_select(cat(rows, 0), 0, running->order);
  return batched_like(values[0]->type, batch, joined, running->whole, op.name);
}

ValueRef join_rows(const BatchInterpreter& batch, const JoinLanes& op, std::span<const ValueRef> values) {
  const LaneParts& all = *op.parts.all;
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_narrowed =
        values[i]->level == batch.level && static_cast<const Batched&>(*values[i]).lanes != all.parts[i];
    if (is_narrowed) return join_running(batch, op, values);
    rows.push_back(rows_for(batch, values[i], all.parts[i]));
  }
  const Tensor joined = index_select(cat(rows, 0), 0, all.order);
  return batched_like(values[0]->type, batch, joined, all.whole, op.name);
}

}  // namespace

Values BatchInterpreter::move_lanes(Op op, std::span<const ValueRef> inputs) {
  if (op.rules == &rules_of<MoveLanes>)
    return one_value(move_rows(*this, *static_cast<const MoveLanes*>(op.parameters), inputs[0]));
  return one_value(join_rows(*this, *static_cast<const JoinLanes*>(op.parameters), inputs));
}

void BatchInterpreter::run_lanes(LaneSetRef set) {
  this_thread.narrowed_levels += (set ? 1 : 0) - (lanes ? 1 : 0);
  lanes = std::move(set);
}

void BatchInterpreter::go_on_with_largest(const char* op, const std::vector<LaneSetRef>& groups) {
  if (static_cast<std::int64_t>(waiting.size() + groups.size()) > most_groups_)
    raise<TransformError>(std::string(op) + ": the examples of " + transform_text(this) + " part into more than " +
                          std::to_string(most_groups_) +
                          " groups here; use cond or while_loop, which keep them together, or raise .max_groups");
  const auto largest = std::max_element(groups.begin(), groups.end(), [](const LaneSetRef& a, const LaneSetRef& b) {
    return a->numbers.size() < b->numbers.size();
  });
  for (auto group = groups.begin(); group != groups.end(); ++group)
    if (group != largest) waiting.push_back(*group);
  run_lanes(*largest);
}

namespace {

bool is_taped_inside(const Value& value, Level level) {
  const Value* taped = innermost_part(value, ValueKind::taped);
  return taped && taped->level > level;
}

/// The lanes of `batch` that ran before the first scope which began inside `level` narrowed them; its own if none did.
const LaneSetRef& lanes_before_scopes(const BatchInterpreter& batch, Level level) {
  const LaneSetRef* before = &batch.lanes;
  for (const Interpreter* i = this_thread.innermost; i && i->level > level; i = i->parent)
    if (i->narrows() == batch.level) before = &static_cast<const LaneScope*>(i)->before();
  return *before;
}

/// The lanes that the value has rows for. A shared value that receives cotangents from several branches counts as
/// having the lanes from before the branch.
const LaneSetRef& lanes_of(const BatchInterpreter& batch, const ValueRef& value) {
  if (const Batched* batched = batched_at(value, batch.level)) return batched->lanes;
  const bool has_cotangents = is_differentiable(value->type.dtype) && is_taped_inside(*value, batch.level);
  return has_cotangents ? lanes_before_scopes(batch, value->level) : batch.lanes;
}

}  // namespace

/// The outermost vmap first: a selection further in reads what is below it, and must find nothing there that is left to
/// narrow, since no tape would know of it.
ValueRef in_running_lanes(ValueRef value) {
  SmallVector<const BatchInterpreter*, 4> narrowed;
  for (const Interpreter* i = this_thread.innermost; i; i = i->parent)
    if (i->kind == ValueKind::batched && static_cast<const BatchInterpreter*>(i)->lanes)
      narrowed.push_back(static_cast<const BatchInterpreter*>(i));
  for (std::size_t i = narrowed.size(); i-- > 0;) {
    const BatchInterpreter& batch = *narrowed[i];
    const LaneSetRef& lanes = lanes_of(batch, value);
    if (lanes == batch.lanes || !is_part_of(batch.lanes, lanes)) continue;
    const MoveLanes select{{batch.level, lanes}, {batch.level, batch.lanes}};
    value = dispatch({&rules_of<MoveLanes>, &select}, {&value, 1})[0];
  }
  return value;
}

namespace {

std::uint64_t new_id() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

LaneSetRef make_lanes(Level level, const LaneSetRef& whole, std::vector<std::int64_t> rows) {
  Tensor places = tensor(rows);
  if (whole)
    for (std::int64_t& row : rows) row = whole->numbers[static_cast<std::size_t>(row)];
  return LaneSetRef(new LaneSet{level, std::move(rows), new_id(), id_of(whole), std::move(places)});
}

LaneSetRef united(std::span<const LaneSetRef> parts) {
  std::vector<std::int64_t> numbers;
  for (const LaneSetRef& part : parts) numbers.insert(numbers.end(), part->numbers.begin(), part->numbers.end());
  std::sort(numbers.begin(), numbers.end());
  return make_lanes(parts[0]->level, nullptr, std::move(numbers));
}

std::shared_ptr<const LaneParts> make_parts(const BatchInterpreter& batch, const LaneSetRef& whole,
                                            std::vector<LaneSetRef> parts) {
  std::vector<std::int64_t> place(static_cast<std::size_t>(batch.size.host()));  // of each example
  std::int64_t next = 0;
  for (const LaneSetRef& part : parts)
    for (const std::int64_t number : part->numbers) place[static_cast<std::size_t>(number)] = next++;
  std::vector<std::int64_t> order = whole ? whole->numbers : std::move(place);
  if (whole)
    for (std::int64_t& number : order) number = place[static_cast<std::size_t>(number)];
  return std::make_shared<const LaneParts>(LaneParts{batch.level, whole, std::move(parts), tensor(order)});
}

Tensor join_lanes(const std::shared_ptr<const LaneParts>& parts, const std::vector<Tensor>& values) {
  const JoinLanes join{{parts}};
  return move({&rules_of<JoinLanes>, &join}, values);
}

std::vector<std::unique_ptr<Interpreter>> in_lanes_of(std::span<const Tensor> values, bool all) {
  std::vector<std::unique_ptr<Interpreter>> scopes;
  for (Interpreter* i = this_thread.innermost; i; i = i->parent) {
    if (i->kind != ValueKind::batched) continue;
    auto& batch = static_cast<BatchInterpreter&>(*i);
    for (const Tensor& t : values) {
      const Batched* batched = t.defined() ? batched_at(value_of(t), batch.level) : nullptr;
      if (!batched || batched->lanes == batch.lanes) continue;
      if (!all && !is_part_of(batched->lanes, batch.lanes)) continue;
      scopes.push_back(std::make_unique<LaneScope>(batch, batched->lanes));
      break;
    }
  }
  return scopes;
}

LaneScope::LaneScope(BatchInterpreter& batch, LaneSetRef lanes)
    : Interpreter(ValueKind::array, Entry{}), batch_(batch), before_(batch.lanes) {
  batch_.run_lanes(std::move(lanes));
}

LaneScope::~LaneScope() { batch_.run_lanes(before_); }

std::unique_ptr<Interpreter> LaneScope::copy() { raise_part_has_one_thread(batch_); }

Level LaneScope::narrows() const { return batch_.level; }

Values LaneScope::process(Op op, std::span<const ValueRef> inputs) { return dispatch(op, inputs); }

}  // namespace ricci
