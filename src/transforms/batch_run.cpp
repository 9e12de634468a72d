// vmap, compiled side: check the axes, show one example's arguments, collect the results, join the chunks.
#include <algorithm>
#include <memory>
#include <optional>

#include "interpreters/batch.h"
#include "interpreters/node_memory.h"
#include "ricci/tree/match_dims.h"
#include "transforms/arguments.h"

namespace ricci::runs {

/// A result leaf of one chunk, seen from outside.
struct Collected {
  Tensor value;
  bool mapped = false;
};

struct BatchRun::State {
  VmapOptions options;
  Place where;
  std::vector<Dim> in_dims;  // wrapped; none where not mapped
  Size size = 0;
  std::int64_t entry_axis = 0;
  std::int64_t done = 0;  // examples of finished and running chunks
  std::int64_t from = 0;  // first example of the running chunk
  bool first = true;
  Level level = 0;  // of the last chunk
  StreamScope streams{streams_of(innermost)};
  std::unique_ptr<BatchInterpreter> interpreter;
  std::vector<std::vector<Collected>> chunks;

  void match(const tree::Walk& arguments);
  std::int64_t wrapped_axis(const tree::Walk& arguments, std::size_t leaf, std::int64_t axis) const;
  Collected collect(const Tensor& leaf) const;
  Tensor view_of_argument(const Tensor& leaf, std::int64_t out_dim) const;
  Tensor place(const Tensor& rows, bool mapped, Dim out_dim, const tree::Walk& result, std::size_t leaf) const;
};

std::int64_t BatchRun::State::wrapped_axis(const tree::Walk& arguments, std::size_t leaf, std::int64_t axis) const {
  const Type type = type_of(*arguments.leaves[leaf]);
  const std::int64_t rank = type.rank();
  const std::string start = "vmap: in_dim " + std::to_string(axis) + " of " + tree::argument_name(arguments, leaf) +
                            " is out of range: " + to_string(type);
  if (rank == 0) raise_own<IndexError>(start + " has no dimension to map; use none", where);
  if (axis < -rank || axis >= rank)
    raise_own<IndexError>(start + " has " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions") +
                              "; the legal range is [" + std::to_string(-rank) + ", " + std::to_string(rank - 1) + "]",
                          where);
  return axis < 0 ? axis + rank : axis;
}

void BatchRun::State::match(const tree::Walk& arguments) {
  if (arguments.nodes.size() <= 1)
    raise_own<ValueError>("vmap: called without arguments; pass at least one tensor to map over", where);
  tree::MatchedDims matched = tree::try_match_dims(options.in_dims, arguments, tree::vmap_in_dims);
  if (!matched.problem.empty())
    raise_own<ValueError>(matched.problem + "; write one integer or none for all, or braces that follow the arguments",
                          where);
  in_dims = std::move(matched.dims);

  std::string sizes;
  std::optional<Size> batch;
  bool differ = false;
  for (std::size_t i = 0; i < in_dims.size(); ++i) {
    if (!in_dims[i] || !arguments.leaves[i]->defined()) {
      in_dims[i] = none;
      continue;
    }
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
    for (std::size_t i = 0; i < in_dims.size(); ++i)
      if (in_dims[i])
        sizes += (sizes.empty() ? "" : ", ") + tree::argument_name(arguments, i) + " maps axis " +
                 std::to_string(*in_dims[i]) + " of " + to_string(type_of(*arguments.leaves[i])) + " (" +
                 std::to_string(arguments.leaves[i]->size(*in_dims[i])) + ")";
    raise_own<ValueError>("vmap: mapped sizes differ: " + sizes + "; all mapped axes must have one size", where);
  }
  size = *batch;
}

BatchRun::BatchRun(const tree::Walk& arguments, const VmapOptions& options, Place where)
    : state_(new State{.options = options, .where = where}) {
  try {
    if (options.chunk_size && *options.chunk_size < 1)
      raise_own<ValueError>("vmap: chunk_size is " + std::to_string(*options.chunk_size) + "; it must be at least 1",
                            where);
    if (options.lanes == Lanes::split)
      raise_own<NotImplementedError>("vmap: lanes = Lanes::split is not built yet; use where, or leave lanes out",
                                     where);
    state_->match(arguments);
  } catch (...) {
    delete state_;
    throw;
  }
}

BatchRun::~BatchRun() { delete state_; }

bool BatchRun::enter(const tree::Walk& arguments) {
  State& s = *state_;
  if (!s.first && (!s.options.chunk_size || s.done >= s.size.host())) return false;
  s.first = false;
  s.from = s.done;
  Size count = s.size;
  if (s.options.chunk_size) count = std::min(*s.options.chunk_size, s.size.host() - s.from);
  const bool whole = count == s.size;
  if (!whole || s.options.chunk_size) s.done = s.from + count.host();

  std::vector<Tensor> bases(arguments.leaves.size()), rows(arguments.leaves.size());
  for (std::size_t i = 0; i < bases.size(); ++i) {
    if (!s.in_dims[i]) continue;
    const std::int64_t axis = *s.in_dims[i];
    bases[i] = whole ? *arguments.leaves[i] : narrow(*arguments.leaves[i], axis, s.from, count.host());
    rows[i] = axis == 0 ? bases[i] : movedim(bases[i], axis, 0);
  }
  Entry entry = entry_of("vmap", s.where);
  entry.axis = s.entry_axis;
  entry.size = s.size.hint();
  if (s.from > 0) s.streams.restart();
  s.interpreter = std::make_unique<BatchInterpreter>(
      count, entry,
      Examples{.count = s.size, .first = s.from, .randomness = s.options.randomness, .streams = &s.streams});
  s.level = s.interpreter->level;
  for (std::size_t i = 0; i < bases.size(); ++i)
    if (s.in_dims[i])
      *arguments.leaves[i] = show_argument(new_node<Batched>(s.level, value_of(rows[i])),
                                           new MappedArgument(bases[i], s.level, *s.in_dims[i]));
  return true;
}

Collected BatchRun::State::collect(const Tensor& leaf) const {
  if (!leaf.defined()) return {};
  const ValueRef value = read(leaf, "vmap");
  const AtLevel outside(interpreter->parent);
  if (value->level != interpreter->level) return {wrap(value), false};
  return {wrap(static_cast<const Batched&>(*value).value), true};
}

void BatchRun::leave(const tree::Walk& result) {
  State& s = *state_;
  {
    const AtLevel outside(s.interpreter->parent);
    require_tensor("vmap", result, s.where);
  }
  std::vector<Collected> collected;
  for (Tensor* leaf : result.leaves) collected.push_back(s.collect(*leaf));
  s.chunks.push_back(std::move(collected));
  s.interpreter.reset();
}

Tensor BatchRun::State::place(const Tensor& rows, bool mapped, Dim out_dim, const tree::Walk& result,
                              std::size_t leaf) const {
  Type one = type_of(rows);
  if (mapped) one.shape.erase(0);
  if (!out_dim) {
    if (mapped)
      raise_own<ValueError>("vmap: out_dim none of " + path_of("result", result, leaf) + " is on " + to_string(one) +
                                ", which differs per example; give it an integer out_dim",
                            where);
    return rows;
  }
  const std::int64_t rank = one.rank() + 1;
  if (*out_dim < -rank || *out_dim >= rank)
    raise_own<IndexError>("vmap: out_dim " + std::to_string(*out_dim) + " of " + path_of("result", result, leaf) +
                              " is out of range: with the batch, " + to_string(one) + " has " + std::to_string(rank) +
                              (rank == 1 ? " dimension" : " dimensions") + "; the legal range is [" +
                              std::to_string(-rank) + ", " + std::to_string(rank - 1) + "]",
                          where);
  const std::int64_t axis = *out_dim < 0 ? *out_dim + rank : *out_dim;
  if (mapped) return axis == 0 ? rows : movedim(rows, 0, axis);
  Shape shape = one.shape;
  shape.insert(static_cast<std::size_t>(axis), size);
  return expand(unsqueeze(rows, axis), shape);
}

/// A result that is an argument, or a view of one, as the same view of the caller's tensor; else undefined.
Tensor BatchRun::State::view_of_argument(const Tensor& leaf, std::int64_t out_dim) const {
  std::vector<const OperationLink*> views;  // innermost last
  const Cell* cell = leaf.cell();
  for (; cell->link && !cell->link->is_argument(); cell = cell->link->base.cell()) {
    const auto* view = dynamic_cast<const OperationLink*>(cell->link);
    if (!view || !view->rules->lifted) return {};
    views.push_back(view);
  }
  const auto* argument = dynamic_cast<const MappedArgument*>(cell->link);
  if (!argument || argument->level != level) return {};
  const std::int64_t rank = type_of(leaf).rank() + 1, axis = out_dim < 0 ? out_dim + rank : out_dim;
  if (views.empty()) return argument->axis == axis ? argument->base : movedim(argument->base, argument->axis, axis);
  Tensor rows = argument->axis == 0 ? argument->base : movedim(argument->base, argument->axis, 0);
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    const OwnedParameters lifted = (*view)->rules->lifted((*view)->parameters.get(), size);
    const Tensor* input = &rows;
    rows = apply_one({(*view)->rules, lifted.get()}, &input, 1);
  }
  return axis == 0 ? rows : movedim(rows, 0, axis);
}

void BatchRun::finish(const tree::Walk& result) {
  State& s = *state_;
  const tree::MatchedDims matched = tree::try_match_dims(s.options.out_dims, result, tree::vmap_out_dims);
  if (!matched.problem.empty())
    raise_own<ValueError>(matched.problem + "; write one integer or none for all, or braces that follow the result",
                          s.where);
  for (std::size_t i = 0; i < result.leaves.size(); ++i) {
    Tensor& leaf = *result.leaves[i];
    if (!leaf.defined()) continue;
    if (s.chunks.size() == 1 && s.chunks[0][i].mapped && matched.dims[i]) {
      s.place(s.chunks[0][i].value, true, matched.dims[i], result, i);  // throws what is wrong with out_dims
      if (const Tensor view = s.view_of_argument(leaf, *matched.dims[i]); view.defined()) {
        leaf = view;
        continue;
      }
    }
    bool mapped = false;
    for (const auto& chunk : s.chunks) mapped |= chunk[i].mapped;
    if (s.chunks.size() == 1) {
      leaf = s.place(s.chunks[0][i].value, mapped, matched.dims[i], result, i);
      continue;
    }
    if (!mapped) {
      leaf = s.place(s.chunks[0][i].value, false, matched.dims[i], result, i);
      continue;
    }
    std::vector<Tensor> parts;
    for (const auto& chunk : s.chunks) parts.push_back(chunk[i].value);
    leaf = s.place(cat(parts, 0), true, matched.dims[i], result, i);
  }
}

void BatchRun::refuse(const char* found) {
  state_->interpreter.reset();
  raise_no_tensor("vmap", found, state_->where);
}

}  // namespace ricci::runs
