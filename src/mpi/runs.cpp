// The compiled side of ricci/mpi.h: trees of tensors across ranks, mpi::vmap, and functions of own values.
#include "mpi/runs.h"

#include <algorithm>
#include <exception>
#include <map>

#include "interpreters/batch.h"
#include "mpi/agreement.h"
#include "mpi/operations.h"
#include "primitive/interpreter.h"
#include "primitive/writing.h"
#include "ricci/primitive.h"
#include "ricci/random.h"
#include "ricci/tree/match_dims.h"
#include "transforms/arguments.h"
#include "transforms/block.h"

namespace ricci::mpi {

Block block_of(std::int64_t count, const World& world) {
  if (count < 0) throw ValueError("mpi::block_of: the count is " + std::to_string(count) + "; it must be at least 0");
  const std::int64_t first = block_begin(count, world.rank(), world.size());
  return {first, block_begin(count, world.rank() + 1, world.size()) - first};
}

namespace runs {

using ricci::runs::run_examples;
using tree::AnyFunction, tree::AnyTree, tree::Arguments;
namespace {

/// `check()`, whose errors all ranks throw.
template <class Check>
auto together(const World& world, const Check& check) {
  try {
    return check();
  } catch (...) { fail(*world.state()); }
}

/// The leaves that are defined, for one operation each, or for several by dtype.
std::vector<Tensor*> defined(const tree::Walk& leaves) {
  std::vector<Tensor*> found;
  for (Tensor* leaf : leaves.leaves)
    if (leaf->defined()) found.push_back(leaf);
  return found;
}

/// `change(some)` on at most `max_operands` leaves of one dtype at a time.
template <class Change>
void by_dtype(const tree::Walk& leaves, const Change& change) {
  std::map<DType, std::vector<Tensor*>> groups;
  for (Tensor* leaf : defined(leaves)) groups[type_of(*leaf).dtype].push_back(leaf);
  for (auto& [dtype, group] : groups)
    for (std::size_t from = 0; from < group.size(); from += max_operands) {
      const std::size_t until = std::min(group.size(), from + max_operands);
      Tensors some;
      for (std::size_t i = from; i < until; ++i) some.push_back(*group[i]);
      const Tensors changed = change(std::span<const Tensor>(some.data(), some.size()));
      for (std::size_t i = from; i < until; ++i) *group[i] = changed[i - from];
    }
}

/// Whether a derivative may be asked of it, so that an identity is more than the value.
bool may_have_derivative(const Tensor& x) { return is_differentiable(type_of(x).dtype) && value_of(x)->level != 0; }

/// What is shared becomes an own value where these are.
void own_if_inside(const tree::Walk& leaves, const World& world) {
  if (are_own_values(world)) replicate(leaves, world);
}

/// The transforms around a call, which decide how often its operations send: `a call inside vmap, a recording`.
std::string text_of_transforms() {
  std::string text;
  bool is_recorded = false;
  for (const Interpreter* i = this_thread.innermost; i; i = i->parent) {
    if (i->is_given_up()) continue;
    text += text.empty() ? "\na call inside " : ", ";
    is_recorded |= i->kind == ValueKind::recorded;
    switch (i->kind) {
      case ValueKind::batched: text += "vmap"; break;
      case ValueKind::dual: text += "a derivative by forward mode"; break;
      case ValueKind::taped: text += "a derivative by reverse mode"; break;
      case ValueKind::recorded: text += "a recording"; break;
      case ValueKind::array: break;
    }
  }
  if (is_recorded) text += " (which rc::compile makes where sizes are new; let them be new on all ranks or on none)";
  return text.empty() ? outside_transforms : text;
}

/// A call of the page on what `about` says, which all ranks must agree on; `mine` may differ.
std::vector<std::int64_t> begin(const char* call, const World& world, const std::string& about, std::int64_t mine = 0) {
  require_place(call, *world.state());
  return agree(*world.state(), call, about + text_of_transforms(), mine);
}
void begin_checked(const char* call, const World& world, const tree::Walk& leaves, const std::string& more = "") {
  require_place(call, *world.state());
  if (checks_calls()) agree(*world.state(), call, tree::to_string(leaves) + more + text_of_transforms());
}

/// Throws on all ranks where there are tensors, and none of them has a value.
void require_defined(const char* call, const World& world, const tree::Walk& leaves) {
  if (leaves.leaves.empty() || !defined(leaves).empty()) return;
  together(world, [&] {
    throw ValueError(std::string(call) + ": the Tensor is undefined; give it a value first, such as rc::zeros({3})");
  });
}

/// The leaves' sums, where the ranks have agreed on their types.
void add_up_agreed(const tree::Walk& leaves, const World& world) {
  const Agreed agreed(true);
  by_dtype(leaves, [&](std::span<const Tensor> some) { return sums(some, world); });
  own_if_inside(leaves, world);
}

void require_root(const char* call, const World& world, int root) {
  if (root < 0 || root >= world.size())
    throw ValueError(std::string(call) + ": the root is " + std::to_string(root) + "; it must be a rank, from 0 to " +
                     std::to_string(world.size() - 1));
}

/// The tree, and its types, of which the ranks' rows may differ.
std::string text_with_rows(const tree::Walk& leaves, const std::vector<Dim>& axes) {
  std::string text = tree::Structure(leaves).to_string() + " of ";
  for (std::size_t i = 0; i < leaves.leaves.size(); ++i) {
    const Tensor& leaf = *leaves.leaves[i];
    text += (i == 0 ? "" : ", ") + (leaf.defined() ? to_text(type_of(leaf), axes[i]) : "undefined");
  }
  return text;
}

/// How many rows the leaves have along axis 0. Throws unless all have as many.
std::int64_t rows_of_all(const char* call, const tree::Walk& leaves) {
  std::optional<std::int64_t> rows;
  for (std::size_t i = 0; i < leaves.leaves.size(); ++i) {
    if (!leaves.leaves[i]->defined()) continue;
    const Type type = type_of(*leaves.leaves[i]);
    if (type.rank() == 0)
      throw ValueError(std::string(call) + ": " + tree::described(leaves, i) +
                       ", without an axis for the rows; give it one by unsqueeze(0)");
    const std::int64_t here = type.shape[0].host();
    if (rows && *rows != here)
      throw ValueError(std::string(call) + ": " + tree::described(leaves, i) + ", where others have " +
                       std::to_string(*rows) + " rows; all tensors of the tree must have equally many");
    rows = here;
  }
  return rows.value_or(0);
}

std::vector<Dim> all_axis_0(const tree::Walk& leaves) { return std::vector<Dim>(leaves.leaves.size(), Dim(0)); }

/// Where the generator is: its next position, which stays the next.
std::int64_t position_of(const Generator& generator) {
  Generator copy = generator;
  return static_cast<std::int64_t>(copy.next());
}

}  // namespace

// ── trees across ranks ──

void sum(const tree::Walk& leaves, const World& world) {
  const Turn turn("mpi::sum");
  require_defined("mpi::sum", world, leaves);
  begin_checked("mpi::sum", world, leaves);
  add_up_agreed(leaves, world);
}

void replicate(const tree::Walk& leaves, const World& world) {
  by_dtype(leaves, [&](std::span<const Tensor> some) {
    const bool has_derivative = std::any_of(some.begin(), some.end(), may_have_derivative);
    return has_derivative ? replicas(some, world) : Tensors(some.begin(), some.end());
  });
}

void broadcast(const tree::Walk& leaves, const World& world, int root) {
  const Turn turn("mpi::broadcast");
  require_defined("mpi::broadcast", world, leaves);
  begin_checked("mpi::broadcast", world, leaves, " from rank " + std::to_string(root));
  require_root("mpi::broadcast", world, root);
  const Agreed agreed(true);
  for (Tensor* leaf : defined(leaves)) *leaf = of_root(*leaf, root, world);
  own_if_inside(leaves, world);
}

void gather(const tree::Walk& leaves, const World& world, int root) {
  const Turn turn("mpi::gather");
  require_defined("mpi::gather", world, leaves);
  const std::int64_t mine = together(world, [&] { return rows_of_all("mpi::gather", leaves); });
  const std::string about = text_with_rows(leaves, all_axis_0(leaves)) + " to rank " + std::to_string(root);
  const Counts counts = begin("mpi::gather", world, about, mine);
  require_root("mpi::gather", world, root);
  const Agreed agreed(true);
  for (Tensor* leaf : defined(leaves)) *leaf = rows_to_root(*leaf, counts, root, world);
}

void all_gather(const tree::Walk& leaves, const World& world) {
  const Turn turn("mpi::all_gather");
  require_defined("mpi::all_gather", world, leaves);
  const std::int64_t mine = together(world, [&] { return rows_of_all("mpi::all_gather", leaves); });
  const Counts counts = begin("mpi::all_gather", world, text_with_rows(leaves, all_axis_0(leaves)), mine);
  const Agreed agreed(true);
  for (Tensor* leaf : defined(leaves)) *leaf = gathered(*leaf, counts, world);
  own_if_inside(leaves, world);
}

void scatter_rows(const tree::Walk& leaves, const World& world, int root) {
  const Turn turn("mpi::scatter_rows");
  require_defined("mpi::scatter_rows", world, leaves);
  const std::int64_t mine = together(world, [&] { return rows_of_all("mpi::scatter_rows", leaves); });
  const std::string about = text_with_rows(leaves, all_axis_0(leaves)) + " from rank " + std::to_string(root);
  const Counts rows_of_ranks = begin("mpi::scatter_rows", world, about, mine);
  require_root("mpi::scatter_rows", world, root);
  const Counts counts = counts_of_blocks(rows_of_ranks[static_cast<std::size_t>(root)], *world.state());
  const Agreed agreed(true);
  for (Tensor* leaf : defined(leaves)) {
    const Tensor rows = world.rank() == root ? *leaf : narrow(*leaf, 0, 0, 0);
    *leaf = rows_from_root(rows, counts, root, world);
  }
}

// ── functions of own values ──

OwnRun::OwnRun(const char* name, const World& world, Place where)
    : name_(name),
      world_(world),
      where_(where),
      turn_(name),
      generator_before_(default_generator()),
      exceptions_before_(std::uncaught_exceptions()) {}

OwnRun::~OwnRun() {
  if (std::uncaught_exceptions() > exceptions_before_) default_generator() = generator_before_;
}

void OwnRun::replicate(const tree::Walk& shared) const { runs::replicate(shared, world_); }

/// Inside own values of these ranks, what the function captures is one already.
bool OwnRun::writes_down() const {
  if (are_own_values(world_)) return false;
  for (const Interpreter* i = this_thread.innermost; i; i = i->parent)
    if (i->kind == ValueKind::taped || i->kind == ValueKind::recorded) return true;
  return false;
}

void OwnRun::compute(const function::Closure& function, const tree::Walk& arguments, const tree::Walk& result) const {
  std::vector<Tensor> captured = function.captured;
  tree::Walk captured_leaves;
  for (Tensor& leaf : captured) captured_leaves.tensor(&leaf);
  runs::replicate(captured_leaves, world_);
  Tensors inputs = function::defined_leaves(arguments);
  inputs.append(captured.begin(), captured.end());
  const std::vector<Tensor> outputs = function.program(std::span<const Tensor>(inputs.data(), inputs.size()));
  std::span<const Tensor> left(outputs);
  function::write_leaves(left, result);
}

void OwnRun::fail() const { mpi::fail(*world_.state()); }

/// Compares without checks too: another rank may tell here that its function has thrown.
void OwnRun::add_up(const tree::Walk& result) const {
  begin(name_, world_, tree::to_string(result));
  add_up_agreed(result, world_);
}

// ── mpi::vmap ──

namespace {

constexpr tree::DimsWords in_dims_words = {"vmap", "in_dims", "the arguments", "are", true};
constexpr tree::DimsWords out_dims_words = {"vmap", "out_dims", "the result", "is", false};

ricci::VmapOptions plain_options(const VmapOptions& options) {
  return {.in_dims = options.in_dims,
          .out_dims = options.out_dims,
          .randomness = options.randomness,
          .chunk_size = options.chunk_size,
          .lanes = options.lanes,
          .max_groups = options.max_groups};
}

std::int64_t wrapped(std::int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

/// The axes that are mapped, counted from the front. Throws what rc::vmap throws.
std::vector<Dim> mapped_axes(const tree::Walk& arguments, const ricci::VmapOptions& options, Place where) {
  const ricci::runs::BatchRun throws(arguments, options, where);
  std::vector<Dim> axes = tree::match_dims(options.in_dims, arguments, in_dims_words);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i]) axes[i] = wrapped(*axes[i], type_of(*arguments.leaves[i]).rank());
  return axes;
}

/// `change`, which works along axis 0, along another.
template <class Change>
Tensor along(std::int64_t axis, const Tensor& x, const Change& change) {
  return axis == 0 ? change(x) : movedim(change(movedim(x, axis, 0)), 0, axis);
}

const char* text_of(Rows rows) { return rows == Rows::all ? "all_rows" : "my_rows"; }

std::string options_text(const VmapOptions& options) {
  std::string text = std::string("\nrows ") + text_of(options.rows) + "\nresults " + text_of(options.results) +
                     "\nin_dims " + to_string(options.in_dims) + "\nrandomness ";
  if (options.randomness == Randomness::error) return text + "error";
  const Generator& generator = default_generator();
  return text + (options.randomness == Randomness::same ? "same" : "different") + ", default generator of seed " +
         std::to_string(generator.seed()) + " at position " + std::to_string(position_of(generator));
}

}  // namespace

MapRun::MapRun(const tree::Walk& arguments, const VmapOptions& options, const World& world, Place where)
    : OwnRun("mpi::vmap", world, where),
      options_(options),
      plain_(plain_options(options)),
      inside_own_(are_own_values(world)) {
  require_place("mpi::vmap", *world.state());
  const std::vector<Dim> axes = together(world, [&] {
    if (inside_own_ && (options.rows == Rows::all || options.results == Rows::all))
      raise_own<ValueError>(
          "mpi::vmap: called in a function of mpi::sum_over, where each rank has rows of its own; "
          "pass .rows = rc::mpi::my_rows and .results = rc::mpi::my_rows",
          where);
    return mapped_axes(arguments, plain_, where);
  });
  std::int64_t mine = 0;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i]) mine = type_of(*arguments.leaves[i]).shape[static_cast<std::size_t>(*axes[i])].host();
  const bool gives_all = options.rows == Rows::all;
  const std::string types = gives_all ? tree::to_string(arguments) : text_with_rows(arguments, axes);
  const Counts rows = agree(*world.state(), "mpi::vmap", types + options_text(options) + text_of_transforms(), mine);
  counts_ = gives_all ? counts_of_blocks(mine, *world.state()) : rows;
  for (int r = 0; r < world.size(); ++r) {
    if (r == world.rank()) first_ = all_;
    all_ += counts_[static_cast<std::size_t>(r)];
  }
  take_rows(arguments, axes);
}

void MapRun::take_rows(const tree::Walk& arguments, const std::vector<Dim>& axes) {
  tree::Walk shared;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Tensor& leaf = *arguments.leaves[i];
    if (!axes[i]) {
      shared.tensor(&leaf);
      continue;
    }
    if (options_.rows == Rows::mine) continue;
    const bool is_plain = !may_have_derivative(leaf);
    leaf = is_plain ? narrow(leaf, *axes[i], first_, counts_[static_cast<std::size_t>(world_.rank())])
                    : along(*axes[i], leaf, [&](const Tensor& x) { return own_rows(x, counts_, world_); });
  }
  if (!inside_own_) replicate(shared);
  function::own_cells("mpi::vmap", arguments);
}

void MapRun::number(ricci::runs::BatchRun& run) const { number_as_block(run, first_, all_); }

void MapRun::finish(const tree::Walk& result) const {
  const std::vector<Dim> dims = tree::match_dims(options_.out_dims, result, out_dims_words);
  std::vector<Dim> axes = dims;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!result.leaves[i]->defined()) axes[i] = none;
    if (axes[i]) axes[i] = wrapped(*axes[i], type_of(*result.leaves[i]).rank());
  }
  // Some ranks' examples may have drawn where no other rank's has.
  Generator& generator = default_generator();
  const bool draws = options_.randomness != Randomness::error && !recorder_of_everything();
  StreamScope* const streams = streams_of(this_thread.innermost);
  const std::int64_t in_stream = streams ? static_cast<std::int64_t>(streams->draws_from(generator)) : 0;
  const std::int64_t position = !draws ? 0 : streams ? in_stream : position_of(generator);
  const std::vector<std::int64_t> positions =
      agree(*world_.state(), "the result of mpi::vmap", text_with_rows(result, axes), position);
  const std::int64_t furthest = *std::max_element(positions.begin(), positions.end());
  if (streams) streams->move_on(generator, static_cast<std::uint64_t>(furthest));
  else
    for (std::int64_t at = position; at < furthest; ++at) generator.next();
  if (world_.size() == 1) return;

  const Agreed agreed(true);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Tensor& leaf = *result.leaves[i];
    if (!leaf.defined() || inside_own_) continue;
    if (!axes[i] && may_have_derivative(leaf)) leaf = of_root(leaf, 0, world_);
    if (axes[i] && options_.results == Rows::all)
      leaf = along(*axes[i], leaf, [&](const Tensor& x) { return gathered(x, counts_, world_); });
  }
}

// ── the calls ──

namespace {

/// What `compute` gives for the arguments; it is written down where what it captures must become arguments. All ranks
/// throw what one of them throws in it.
template <class Compute>
AnyTree call(const OwnRun& run, const World& world, OwnValues::Of of, const Compute& compute, Arguments arguments) {
  try {
    const bool writes_down = run.writes_down();
    const OwnValues own{world, of};
    const With<&ThreadContext::own_values> inside(&own);
    if (!writes_down) return compute(arguments);
    const tree::Walk leaves = tree::walk_of(arguments);
    Arguments shown = arguments;
    Recorder recorder(run.name(), Records::part, {.name = run.name()});
    recorder.show(tree::walk_of(shown).leaves);
    AnyTree result = compute(shown);
    const tree::Walk of_result = ricci::call::walk(result);
    run.compute(function::closed(recorder, of_result), leaves, of_result);
    return result;
  } catch (...) { run.fail(); }
}

}  // namespace

AnyTree vmap(const AnyFunction& f, Arguments mine, const VmapOptions& options, const World& world, Place where) {
  const MapRun run(tree::walk_of(mine), options, world, where);
  const auto map_mine = [&](const Arguments& given) {
    Arguments shown = given;
    ricci::runs::BatchRun batch(tree::walk_of(shown), run.plain(), where);
    run.number(batch);
    AnyTree result = run_examples(batch, f, given, shown);
    batch.finish(ricci::call::walk(result));
    return result;
  };
  AnyTree result = call(run, world, OwnValues::Of::examples, map_mine, mine);
  run.finish(ricci::call::walk(result));
  return result;
}

AnyTree sum_over(const AnyFunction& f, Arguments arguments, const World& world, Place where) {
  const OwnRun run("mpi::sum_over", world, where);
  run.replicate(ricci::call::walk(arguments[0]));
  const auto compute = [&](Arguments& given) { return f(given); };
  AnyTree result = call(run, world, OwnValues::Of::ranks, compute, std::move(arguments));
  run.add_up(ricci::call::walk(result));
  return result;
}

}  // namespace runs
}  // namespace ricci::mpi
