// vmap, compiled side: check the axes, show one example's arguments, collect the results, join the chunks.
#include <algorithm>
#include <memory>
#include <optional>

#include "interpreters/batch.h"
#include "interpreters/lifted.h"
#include "interpreters/node_memory.h"
#include "primitive/derive.h"
#include "primitive/wording.h"
#include "ricci/tree/match_dims.h"
#include "transforms/arguments.h"
#include "transforms/block.h"

namespace ricci::runs {

namespace {

constexpr tree::DimsWords in_dims_words = {"vmap", "in_dims", "the arguments", "are", true};
constexpr tree::DimsWords out_dims_words = {"vmap", "out_dims", "the result", "is", false};

/// A result leaf as a view of one of the arguments' leaves, the same for every example.
struct Origin {
  std::size_t argument;
  std::vector<InnerOp> views;  // none: it is that argument
  bool operator==(const Origin&) const = default;
};

/// A result leaf of one run, seen from outside.
struct Collected {
  Tensor value;
  bool mapped = false;
  bool is_callers = false;  // of one value for all: a tensor from outside, or a view of one
  std::optional<Origin> origin = {};
};

/// Whether both are one value: to the eye, NaN included. Of elements that are being recorded that is known of one and
/// the same alone.
bool are_one_value(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  const Values values{value_of(a), value_of(b)};
  if (values[0].get() == values[1].get()) return true;
  if (!(type_of(a) == type_of(b)) || is_recorded({values.data(), values.size()})) return false;
  const Tensor equal = logical_or(eq(a, b), logical_and(ne(a, a), ne(b, b)));
  const ValueRef* elements = &value_of(equal);
  while ((*elements)->kind != ValueKind::array) elements = inner_of(**elements);
  const AtLevel eager(nullptr);
  return ricci::all(wrap(*elements)).item<bool>();
}

Shape tail(const Shape& shape) { return Shape(shape.begin() + 1, shape.end()); }

/// What one run of the function gave: for a chunk, or for a group of examples that parted from the others.
struct Part {
  std::int64_t from;  // the chunk's first example
  Size count;         // of the chunk
  LaneSetRef lanes;   // of the chunk's examples; null: all
  bool was_asked;     // its examples gave answers: what is one value for all of them may be another one elsewhere
  std::vector<Collected> leaves;

  std::int64_t size() const { return lanes ? static_cast<std::int64_t>(lanes->numbers.size()) : count.host(); }
  std::int64_t example(std::int64_t row) const {
    return from + (lanes ? lanes->numbers[static_cast<std::size_t>(row)] : row);
  }
  /// A row for each example, also where one value serves all.
  Tensor rows(std::size_t leaf) const {
    const Collected& found = leaves[leaf];
    return found.mapped ? found.value : repeated(found.value, lanes ? Size(size()) : count);
  }
};

}  // namespace

struct BatchRun::State {
  VmapOptions options;
  Place where;
  bool ragged = false;
  std::vector<Dim> in_dims;   // wrapped; none where not mapped
  std::vector<Tensor> given;  // the arguments' leaves
  GivenArguments noted;       // the same, where the function may run several times
  bool is_done = false;
  Size size = 0;
  std::int64_t ahead = 0;     // examples of a larger run, of which this one is a block, in front of these
  std::optional<Size> whole;  // the examples of that run; none: it is this one
  std::int64_t entry_axis = 0;
  std::int64_t from = 0;  // first example of the running chunk
  Size count = 0;         // of the running chunk
  bool first = true;
  Level level = 0;                  // of the last run
  std::vector<LaneSetRef> waiting;  // of the running chunk
  StreamScope streams{streams_of(this_thread.innermost), options.randomness};
  std::unique_ptr<BatchInterpreter> interpreter;
  tree::Structure result_structure;
  std::vector<Part> parts;

  static State& of(BatchRun& run) { return *run.state_; }
  // Defined here, where a BatchRun's state can be named; `used`, as nobody in this file calls it.
  [[gnu::used]] friend void number_as_block(BatchRun& run, std::int64_t first, Size count) {
    State& s = of(run);
    s.ahead = first;
    s.whole = count;
  }

  void match(const tree::Walk& arguments);
  /// With none for the whole of out_dims, the function may return nothing that is stacked.
  bool may_return_no_tensor() const { return !ragged && options.out_dims.leaf && !options.out_dims.dim; }
  std::string sizes_text(const tree::Walk& arguments) const;
  std::int64_t wrapped_axis(const tree::Walk& arguments, std::size_t leaf, std::int64_t axis) const;
  /// Whether the leaf is a mapped one too, or a view of the same memory.
  bool shares_with_mapped(const tree::Walk& arguments, std::size_t leaf) const;
  bool next_chunk();
  Collected collect(const Tensor& leaf) const;
  void require_same_tree(const tree::Walk& result);
  bool is_defined(std::size_t leaf, const tree::Walk& result) const;
  Collected gathered(std::size_t leaf, const tree::Walk& result, Dim out_dim) const;
  std::vector<std::int64_t> row_order() const;
  std::optional<Origin> origin_of(const Tensor& leaf) const;
  std::int64_t out_axis(const Type& one, std::int64_t out_dim, const tree::Walk& result, std::size_t leaf) const;
  Tensor view_of_argument(const Tensor& shown, std::size_t leaf, Dim out_dim, const tree::Walk& result) const;
  Tensor place(const Collected& found, Dim out_dim, const tree::Walk& result, std::size_t leaf) const;
};

std::int64_t BatchRun::State::wrapped_axis(const tree::Walk& arguments, std::size_t leaf, std::int64_t axis) const {
  const Type type = type_of(*arguments.leaves[leaf]);
  const std::int64_t rank = type.rank();
  const std::string start = "vmap: in_dim " + std::to_string(axis) + " of " + tree::argument_name(arguments, leaf) +
                            " is out of range: " + to_string(type);
  if (rank == 0) raise_own<IndexError>(start + " has no dimension to map; use none", where);
  if (axis < -rank || axis >= rank)
    raise_own<IndexError>(start + " has " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions") + "; " +
                              legal_range(-rank, rank - 1),
                          where);
  return axis < 0 ? axis + rank : axis;
}

/// What each argument maps; of an argument of many tensors those that follow one of the same size are counted.
std::string BatchRun::State::sizes_text(const tree::Walk& arguments) const {
  constexpr std::size_t said_each = 8;
  const auto mapped = static_cast<std::size_t>(
      std::count_if(in_dims.begin(), in_dims.end(), [](const auto& axis) { return axis.has_value(); }));
  std::string text;
  std::int64_t alike = 0;
  const auto say_alike = [&] {
    if (alike > 0) text += ", as " + count_of(alike, "tensor behind it does", "tensors behind it do");
    alike = 0;
  };
  const auto size_of = [&](std::size_t i) { return arguments.leaves[i]->size(*in_dims[i]); };
  const auto argument_of = [&](std::size_t i) {
    const std::string name = tree::argument_name(arguments, i);
    return name.substr(0, name.find(" ("));
  };
  std::optional<std::size_t> before;
  bool is_said = false;  // the one before
  std::size_t said = 0, unsaid = 0;
  for (std::size_t i = 0; i < in_dims.size(); ++i) {
    if (!in_dims[i]) continue;
    if (mapped > said_each && is_said && size_of(*before) == size_of(i) && argument_of(*before) == argument_of(i)) {
      ++alike;
      continue;
    }
    // The first few of each argument tell enough.
    if (before && argument_of(*before) != argument_of(i)) said = 0;
    if (++said > said_each) {
      ++unsaid;
      is_said = false;
      before = i;
      continue;
    }
    say_alike();
    text += (text.empty() ? "" : ", ") + tree::argument_name(arguments, i) + " maps axis " +
            std::to_string(*in_dims[i]) + " of " + to_string(type_of(*arguments.leaves[i])) + " (" +
            std::to_string(size_of(i)) + ")";
    is_said = true;
    before = i;
  }
  say_alike();
  if (unsaid > 0) text += ", … " + std::to_string(unsaid) + " more";
  return text;
}

void BatchRun::State::match(const tree::Walk& arguments) {
  if (arguments.nodes.size() <= 1)
    raise_own<ValueError>("vmap: called without arguments; pass at least one tensor to map over", where);
  tree::MatchedDims matched = tree::try_match_dims(options.in_dims, arguments, in_dims_words);
  if (!matched.problem.empty())
    raise_own<ValueError>(matched.problem + "; write one integer or none for all, or braces that follow the arguments",
                          where);
  in_dims = std::move(matched.dims);

  for (const std::size_t leaf : tree::leaves_of_ragged(arguments))
    if (in_dims[leaf])
      raise_own<ValueError>("vmap: " + tree::argument_name(arguments, leaf) + " is " +
                                tree::type_of(*arguments.leaves[leaf]) +
                                ", a part of a Ragged, of which no axis runs over its rows; map over pad(fill) and "
                                "lengths(), use map for each value, or give it in_dim none",
                            where);
  std::optional<Size> batch;
  bool differ = false;
  for (std::size_t i = 0; i < in_dims.size(); ++i) {
    if (!in_dims[i]) continue;
    if (!arguments.leaves[i]->defined())
      raise_own<ValueError>("vmap: " + tree::argument_name(arguments, i) + " is an undefined Tensor with in_dim " +
                                std::to_string(*in_dims[i]) + "; give it a value, or map it with none",
                            where);
    live(value_of(*arguments.leaves[i]), "vmap");  // nobody else looks at an argument that is returned as it is
    in_dims[i] = wrapped_axis(arguments, i, *in_dims[i]);
    const Size n = type_of(*arguments.leaves[i]).shape[static_cast<std::size_t>(*in_dims[i])];
    if (!batch) {
      batch = n;
      entry_axis = *in_dims[i];
    }
    differ |= !(*batch == n);
  }
  if (!batch)
    raise_own<ValueError>("vmap: nothing is mapped: in_dims is " + to_string(options.in_dims) + ", the arguments are " +
                              tree::to_string(arguments) + "; give at least one tensor an integer in_dim",
                          where);
  if (differ) {
    raise_own<ValueError>("vmap: mapped sizes differ: " + sizes_text(arguments) +
                              "; all mapped axes must have one size: what all examples share is mapped by rc::none, "
                              "as in {.in_dims = {rc::none, 0}}",
                          where);
  }
  size = *batch;
}

BatchRun::BatchRun(const tree::Walk& arguments, const VmapOptions& options, Place where, bool ragged)
    : state_(new State{.options = options, .where = where, .ragged = ragged}) {
  require_chunk_size("vmap", options.chunk_size, where);
  if (options.max_groups < 1)
    raise_own<ValueError>("vmap: max_groups is " + std::to_string(options.max_groups) + "; it must be at least 1",
                          where);
  state_->match(arguments);
}

/// Where an exception ends a call that runs the function several times, one run's writes would be half of the call's:
/// the arguments get back what they held.
BatchRun::~BatchRun() {
  State& s = *state_;
  if (s.is_done) return;
  s.interpreter.reset();
  const NoGradBelow none(0);
  try {
    s.noted.restore();
  } catch (...) {}  // there is one under way
}

bool BatchRun::State::shares_with_mapped(const tree::Walk& arguments, std::size_t leaf) const {
  const auto root = [&](std::size_t i) {
    return arguments.leaves[i]->defined() ? root_of(arguments.leaves[i]->cell()) : nullptr;
  };
  for (std::size_t i = 0; i < in_dims.size(); ++i)
    if (in_dims[i] && root(i) == root(leaf)) return true;
  return false;
}

/// Moves on to the next chunk; false if there is none.
bool BatchRun::State::next_chunk() {
  if (!first && (!options.chunk_size || from + count.host() >= size.host())) return false;
  from = first ? 0 : from + count.host();
  first = false;
  count = options.chunk_size ? Size(std::min(*options.chunk_size, size.host() - from)) : size;
  return true;
}

bool BatchRun::enter(const tree::Walk& arguments) {
  State& s = *state_;
  LaneSetRef group;
  if (!s.waiting.empty()) {
    group = std::move(s.waiting.back());
    s.waiting.pop_back();
  } else if (!s.next_chunk()) {
    return false;
  }
  if (s.given.empty()) {
    s.given.reserve(arguments.leaves.size());
    const bool may_run_again = s.options.chunk_size || s.options.lanes == Lanes::split;
    for (std::size_t i = 0; i < arguments.leaves.size(); ++i) {
      s.given.push_back(*arguments.leaves[i]);
      if (may_run_again) s.noted.note(s.given[i], !s.in_dims[i] && !s.shares_with_mapped(arguments, i));
    }
  } else {
    s.noted.restore_shared();
  }
  std::vector<Tensor> bases(arguments.leaves.size()), rows(arguments.leaves.size());
  std::vector<ValueRef> values(arguments.leaves.size());
  for (std::size_t i = 0; i < bases.size(); ++i) {
    if (!s.in_dims[i]) continue;
    const std::int64_t axis = *s.in_dims[i];
    bases[i] = s.count == s.size ? *arguments.leaves[i] : narrow(*arguments.leaves[i], axis, s.from, s.count.host());
    rows[i] = axis == 0 ? bases[i] : movedim(bases[i], axis, 0);
    if (group) rows[i] = index_select(rows[i], 0, tensor(group->numbers));
    values[i] = value_of(rows[i]);
    if (values[i]->level == 0) values[i] = read(rows[i], "vmap");  // a variable, where a recording around captures it
    values[i] = with_own_elements(std::move(values[i]));
  }
  Entry entry = entry_of("vmap", s.where);
  entry.axis = s.entry_axis;
  const Size examples_of_run = s.whole.value_or(s.size);
  entry.examples = examples_of_run;
  entry.size = examples_of_run.hint();
  const Parts parts = s.options.lanes == Lanes::split ? Parts::values : s.ragged ? Parts::sizes : Parts::nowhere;
  if (s.parts.size() > 0) s.streams.restart();
  const Examples examples{
      .count = examples_of_run, .first = s.ahead + s.from, .randomness = s.options.randomness, .streams = &s.streams};
  s.interpreter = std::make_unique<BatchInterpreter>(s.count, entry, examples, parts, s.options.max_groups);
  s.level = s.interpreter->level;
  if (group) group = make_lanes(s.level, nullptr, group->numbers);
  s.interpreter->run_lanes(group);
  for (std::size_t i = 0; i < bases.size(); ++i)
    if (s.in_dims[i])
      *arguments.leaves[i] = show_argument(new_node<Batched>(s.level, values[i], group),
                                           new MappedArgument(bases[i], s.level, *s.in_dims[i], i));
  return true;
}

Collected BatchRun::State::collect(const Tensor& leaf) const {
  if (!leaf.defined()) return {};
  const ValueRef value = read(leaf, "vmap");
  if (value->level == interpreter->level) interpreter->require_running(*value, "vmap");
  const bool is_callers = birth_of(*root_of(leaf.cell())) < interpreter->level;
  const bool is_all_of_it = value.get() == live(value_of(leaf), "vmap").get();
  const AtLevel outside(interpreter->parent);
  if (value->level == interpreter->level)  // a number per example is a tensor
    return {to(wrap(static_cast<const Batched&>(*value).value), value->type.dtype), true};
  return {is_callers && is_all_of_it ? leaf : wrap(with_own_elements(value)), false, is_callers};
}

std::optional<Origin> BatchRun::State::origin_of(const Tensor& leaf) const {
  if (!leaf.defined() || !leaf.cell()->link || interpreter->lanes) return {};
  const ShownArgument shown(leaf, interpreter->level);
  if (!shown.argument) return {};
  Origin origin{static_cast<const MappedArgument*>(shown.argument)->leaf, {}};  // those of a vmap's level are mapped
  for (const OperationLink* view : shown.views) origin.views.emplace_back(view->op());
  return origin;
}

void BatchRun::leave(const tree::Walk& result) {
  State& s = *state_;
  s.interpreter->end_inside();
  {
    const AtLevel outside(s.interpreter->parent);
    if (!s.may_return_no_tensor()) require_some_tensor("vmap", "result", result, s.where);
    s.require_same_tree(result);
  }
  Part part{.from = s.from,
            .count = s.count,
            .lanes = s.interpreter->lanes,
            .was_asked = s.interpreter->was_asked,
            .leaves = {}};
  part.leaves.reserve(result.leaves.size());
  for (Tensor* leaf : result.leaves) {
    part.leaves.push_back(s.collect(*leaf));
    part.leaves.back().origin = s.origin_of(*leaf);
  }
  s.parts.push_back(std::move(part));
  for (LaneSetRef& group : s.interpreter->waiting) s.waiting.push_back(std::move(group));
  s.interpreter.reset();
}

/// Every chunk and every group must return one structure.
void BatchRun::State::require_same_tree(const tree::Walk& result) {
  const tree::Structure found(result);
  if (parts.empty()) result_structure = found;
  if (!(found == result_structure))
    raise_own<ValueError>("vmap: the examples return different trees: " + result_structure.to_string() + " and " +
                              found.to_string() + "; every run must return one structure",
                          where);
}

std::int64_t BatchRun::State::out_axis(const Type& one, std::int64_t out_dim, const tree::Walk& result,
                                       std::size_t leaf) const {
  const std::int64_t rank = one.rank() + 1;
  if (out_dim < -rank || out_dim >= rank)
    raise_own<IndexError>("vmap: out_dim " + std::to_string(out_dim) + " of " + path_of("result", result, leaf) +
                              " is out of range: with the batch, " + to_string(one) + " has " + std::to_string(rank) +
                              (rank == 1 ? " dimension" : " dimensions") + "; " + legal_range(-rank, rank - 1),
                          where);
  return out_dim < 0 ? out_dim + rank : out_dim;
}

Tensor BatchRun::State::place(const Collected& found, Dim out_dim, const tree::Walk& result, std::size_t leaf) const {
  Type one = type_of(found.value);
  if (found.mapped) one.shape.erase(0);
  if (!out_dim) {
    if (found.mapped)
      raise_own<ValueError>("vmap: out_dim none of " + path_of("result", result, leaf) + " is on " + to_string(one) +
                                ", which differs per example; give it an integer out_dim",
                            where);
    return found.value;
  }
  const std::int64_t axis = out_axis(one, *out_dim, result, leaf);
  if (found.mapped) return axis == 0 ? found.value : movedim(found.value, 0, axis);
  Shape shape = one.shape;
  shape.insert(static_cast<std::size_t>(axis), size);
  const Tensor repeated = expand(unsqueeze(found.value, axis), shape);
  return found.is_callers ? repeated : in_own_cell(repeated);
}

/// A result that is an argument, or a view of one, as the same view of the caller's tensor; else undefined. `shown` is
/// the leaf as the first run gave it.
Tensor BatchRun::State::view_of_argument(const Tensor& shown, std::size_t leaf, Dim out_dim,
                                         const tree::Walk& result) const {
  const std::optional<Origin>& origin = parts[0].leaves[leaf].origin;
  const auto is_like_first = [&](const Part& part) { return part.leaves[leaf].origin == origin; };
  if (!out_dim || !origin || !std::all_of(parts.begin(), parts.end(), is_like_first)) return {};
  const Tensor& argument = given[origin->argument];
  const std::int64_t axis = *in_dims[origin->argument];
  const std::int64_t last = out_axis(type_of(shown), *out_dim, result, leaf);
  if (origin->views.empty())
    return axis == last ? without_switched_off(argument, "vmap") : movedim(argument, axis, last);
  Tensor rows = axis == 0 ? argument : movedim(argument, axis, 0);
  for (const InnerOp& view : origin->views) rows = view_of_rows(view.op(), rows, size);
  return cut_like(last == 0 ? rows : movedim(rows, 0, last), shown);
}

/// The rows of all examples, from all parts, in the order of the examples; one part's value alone where it serves all.
/// What its examples agree on need not be what those of others do, if they were asked; without an out_dim it is the
/// first part's, if it is known to be one value.
Collected BatchRun::State::gathered(std::size_t leaf, const tree::Walk& result, Dim out_dim) const {
  const Collected& first = parts[0].leaves[leaf];
  if (parts.size() == 1) return first;
  const bool was_asked = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.was_asked; });
  bool differs = was_asked && out_dim, parted = false;
  for (const Part& part : parts) {
    const Collected& found = part.leaves[leaf];
    differs = differs || found.mapped || (was_asked && !are_one_value(found.value, first.value));
    parted |= part.lanes != nullptr;
  }
  if (!differs) return first;
  std::vector<Tensor> rows;
  for (const Part& part : parts) {
    rows.push_back(part.rows(leaf));
    const Type one = type_of(rows.front()), other = type_of(rows.back());
    if (Type{one.dtype, tail(one.shape)} == Type{other.dtype, tail(other.shape)}) continue;
    raise_own<ValueError>("vmap: " + path_of("result", result, leaf) +
                              " differs between examples: " + to_string(Type{one.dtype, tail(one.shape)}) + " and " +
                              to_string(Type{other.dtype, tail(other.shape)}) +
                              "; return one type, or pass .out_dims = rc::ragged",
                          where);
  }
  const Tensor all = cat(rows, 0);
  return {parted ? index_select(all, 0, tensor(row_order())) : all, true};
}

/// Whether the runs gave this leaf a value, each of them or none.
bool BatchRun::State::is_defined(std::size_t leaf, const tree::Walk& result) const {
  const auto count =
      std::count_if(parts.begin(), parts.end(), [=](const Part& part) { return part.leaves[leaf].value.defined(); });
  if (count != 0 && count != std::ssize(parts))
    raise_own<ValueError>("vmap: " + path_of("result", result, leaf) +
                              " is an undefined Tensor for some examples; give it a value for all, or for none",
                          where);
  return count != 0;
}

/// For each example its row among the parts' rows, one part after the other.
std::vector<std::int64_t> BatchRun::State::row_order() const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size.host()));
  std::int64_t row = 0;
  for (const Part& part : parts)
    for (std::int64_t i = 0; i < part.size(); ++i) order[static_cast<std::size_t>(part.example(i))] = row++;
  return order;
}

void BatchRun::finish(const tree::Walk& result) {
  State& s = *state_;
  const tree::MatchedDims matched = tree::try_match_dims(s.options.out_dims, result, out_dims_words);
  if (!matched.problem.empty())
    raise_own<ValueError>(matched.problem + "; write one integer or none for all, or braces that follow the result",
                          s.where);
  for (const std::size_t leaf : tree::leaves_of_ragged(result))
    if (matched.dims[leaf])
      raise_own<ValueError>("vmap: " + path_of("result", result, leaf) + " is " + tree::type_of(*result.leaves[leaf]) +
                                ", a part of a Ragged, which cannot be stacked; return a Tensor of it, as sum() or "
                                "pad(fill), its values with .out_dims = rc::ragged, or give it out_dim none",
                            s.where);
  for (std::size_t i = 0; i < result.leaves.size(); ++i) {
    Tensor& leaf = *result.leaves[i];
    if (!s.is_defined(i, result)) continue;
    const Tensor view = s.view_of_argument(leaf, i, matched.dims[i], result);
    leaf = view.defined() ? view : s.place(s.gathered(i, result, matched.dims[i]), matched.dims[i], result, i);
  }
  s.is_done = true;
}

std::vector<Tensor> BatchRun::finish_ragged() {
  State& s = *state_;
  std::vector<Tensor> results;  // values and offsets of each leaf in turn
  for (std::size_t leaf = 0; leaf < s.parts[0].leaves.size(); ++leaf) {
    std::vector<Tensor> rows;
    std::vector<std::pair<std::int64_t, std::int64_t>> place(static_cast<std::size_t>(s.size.host()));  // start, length
    std::int64_t start = 0;
    for (const Part& part : s.parts) {
      const Tensor all = part.leaves[leaf].value.defined() ? part.rows(leaf) : Tensor();
      if (!all.defined() || all.dim() < 2)
        raise_own<ValueError>("vmap: a ragged result needs at least one axis per example, found " +
                                  (all.defined() ? to_string(Type{all.dtype(), tail(all.shape())}) : "undefined") +
                                  "; return a tensor with the values of one example along axis 0",
                              s.where);
      const Type row{all.dtype(), tail(tail(all.shape()))};
      if (!rows.empty() && !(tail(rows[0].shape()) == row.shape))
        raise_own<ValueError>("vmap: a ragged result's examples differ in more than their length: their rows are " +
                                  to_string(Type{row.dtype, tail(rows[0].shape())}) + " and " + to_string(row) +
                                  "; return examples that differ along axis 0 alone",
                              s.where);
      const std::int64_t length = all.size(1);
      for (std::int64_t i = 0; i < part.size(); ++i, start += length)
        place[static_cast<std::size_t>(part.example(i))] = {start, length};
      rows.push_back(flatten(all, 0, 1));
    }
    std::vector<std::int64_t> order, offsets{0};
    for (const auto& [first, length] : place) {
      for (std::int64_t i = 0; i < length; ++i) order.push_back(first + i);
      offsets.push_back(offsets.back() + length);
    }
    const Tensor all = rows.size() == 1 ? rows[0] : cat(rows, 0);
    results.push_back(s.parts.size() == 1 ? all : index_select(all, 0, tensor(order)));
    results.push_back(tensor(offsets));
  }
  s.is_done = true;
  return results;
}

void BatchRun::refuse(const char* found) {
  if (state_->may_return_no_tensor()) return;
  state_->interpreter.reset();
  raise_no_tensor("vmap", found, state_->where);
}

}  // namespace ricci::runs
