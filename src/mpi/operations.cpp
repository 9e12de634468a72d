// The primitives. Each says its type, sends and receives in `eval`, and names its transpose.
#include "mpi/operations.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/elementwise.h"
#include "kernels/strided.h"
#include "mpi/agreement.h"
#include "mpi/runs.h"
#include "primitive/interpreter.h"
#include "ricci/primitive.h"
#include "ricci/primitive/raise.h"

namespace ricci::mpi {
namespace {

/// The ranks of an operation.
struct Ranks {
  std::shared_ptr<WorldState> state;

  void print_parameter(std::string& out) const {
    if (state) out += std::to_string(state->rank) + "/" + std::to_string(state->size);
  }
  bool operator==(const Ranks&) const = default;
  World world() const { return World(state); }
  std::size_t rank() const { return static_cast<std::size_t>(state->rank); }
};
Ranks ranks_of(const World& world) { return {world.state()}; }

/// The elements row by row: where they lie if they do so, else in a copy.
class Dense {
 public:
  explicit Dense(const Strided& x) : data(x.data) {
    const Shape shape(x.shape, x.shape + x.rank);
    const Strides strides(x.strides, x.strides + x.rank);
    if (is_contiguous(shape, strides)) return;
    copy_ = make_array({x.dtype, shape});
    kernels::copy(copy_->strided(), x);
    data = copy_->data;
  }
  const void* data;

 private:
  ArrayRef copy_;
};

std::int64_t bytes_of(const Strided& x) {
  return kernels::element_count(x) * static_cast<std::int64_t>(element_size(x.dtype));
}
std::int64_t row_bytes(const Strided& x) {
  std::int64_t bytes = static_cast<std::int64_t>(element_size(x.dtype));
  for (int i = 1; i < x.rank; ++i) bytes *= x.shape[i];
  return bytes;
}

/// Before an operation sends: throws where it may not stand, or where ranks differ.
void before_sending(const char* call, WorldState& world, std::span<const Strided> values, bool has_rows,
                    const std::string& more = "") {
  if (this_thread.ranks_agree && !this_thread.of_the_user && !this_thread.innermost) return;
  const runs::Turn turn(call);
  require_place(call, world);
  if (!checks_calls()) return;
  std::string about;
  for (const Strided& x : values) {
    const Type type{x.dtype, Shape(x.shape, x.shape + x.rank)};
    about += (about.empty() ? "" : ", ") + to_text(type, has_rows ? std::optional<std::int64_t>(0) : std::nullopt);
  }
  agree(world, call, about + more + outside_transforms);
}

// ── sums ──

Tensor part_of(const ArrayRef& array, std::int64_t row) { return wrap(ValueRef(array))[row]; }

/// `parts`, [ranks, n], added up in the order of the ranks.
void add_up(const ArrayRef& parts, std::int64_t ranks, const Strided& out) {
  const AtLevel eager(nullptr);
  Tensor total = part_of(parts, 0);
  for (std::int64_t r = 1; r < ranks; ++r) total = r == 1 ? total + part_of(parts, r) : total.add_(part_of(parts, r));
  const ValueRef& value = value_of(total);
  kernels::copy(out, static_cast<const Array&>(*value).strided());
}

constexpr std::int64_t few_bytes = 2048;                            // one message of each rank to all
constexpr std::int64_t most_bytes_at_once = std::int64_t{1} << 26;  // of a rank; what is received takes as much

/// Of `n` elements, which lie row by row.
void sum_over_ranks(WorldState& world, const void* mine, void* out, DType dtype, std::int64_t n) {
  const auto bytes = static_cast<std::int64_t>(element_size(dtype));
  const std::int64_t step = 1;
  const auto vector = [&](void* data, const std::int64_t& size) { return Strided{data, dtype, 1, &size, &step}; };
  if (world.size == 1) {
    std::memcpy(out, mine, static_cast<std::size_t>(n * bytes));
    return;
  }
  if (n * bytes <= few_bytes) {
    const ArrayRef all = make_array({dtype, {world.size, n}});
    all_gather_bytes(world, mine, static_cast<std::size_t>(n * bytes), all->data);
    return add_up(all, world.size, vector(out, n));
  }
  for (std::int64_t from = 0; from < n; from += most_bytes_at_once / bytes) {
    const std::int64_t now = std::min(n - from, most_bytes_at_once / bytes);
    // Each rank adds up one part of the elements, and gives the sums to all.
    std::vector<int> parts;
    std::vector<std::int64_t> counts;
    for (int r = 0; r < world.size; ++r) {
      counts.push_back(block_begin(now, r + 1, world.size) - block_begin(now, r, world.size));
      parts.push_back(static_cast<int>(counts.back() * bytes));
    }
    const std::int64_t own = counts[static_cast<std::size_t>(world.rank)];
    const ArrayRef received = make_array({dtype, {world.size, own}}), sums = make_array({dtype, {own}});
    exchange_parts(world, static_cast<const std::byte*>(mine) + from * bytes, received->data, parts);
    if (own > 0) add_up(received, world.size, vector(sums->data, own));
    all_gather_rows(world, sums->data, static_cast<std::byte*>(out) + from * bytes, counts, bytes);
  }
}

struct Sum {
  using kind = Linear;
  static constexpr const char* name = "mpi_sum";
  static constexpr unsigned linear_in = ~0U;
  static constexpr Effect effect = Effect::acts;
  Ranks ranks;

  Types type(const Types& own) const {
    Types sums;
    for (const Type& type : own) {
      if (type.dtype == DType::boolean)
        throw TypeError("mpi::sum: " + to_string(type) + " cannot be added up; convert it with .to(rc::int64)");
      sums.push_back({type.dtype, type.shape});
    }
    return sums;
  }
  void eval(Outputs out, Inputs in) const {
    WorldState& world = *ranks.state;
    before_sending("mpi::sum", world, in, false);
    std::int64_t elements = 0;
    for (const Strided& x : in) elements += kernels::element_count(x);
    if (elements == 0) return;
    const DType dtype = in[0].dtype;
    if (in.size() == 1) return sum_over_ranks(world, Dense(in[0]).data, out[0].data, dtype, elements);
    // Several go as one, so that they cost the messages of one.
    const ArrayRef mine = make_array({dtype, {elements}}), sums = make_array({dtype, {elements}});
    auto* to = static_cast<std::byte*>(mine->data);
    for (const Strided& x : in) {
      std::memcpy(to, Dense(x).data, static_cast<std::size_t>(bytes_of(x)));
      to += bytes_of(x);
    }
    sum_over_ranks(world, mine->data, sums->data, dtype, elements);
    const auto* from = static_cast<const std::byte*>(sums->data);
    for (const Strided& x : out) {
      std::memcpy(x.data, from, static_cast<std::size_t>(bytes_of(x)));
      from += bytes_of(x);
    }
  }
  Tensors vjp(const Reverse& r) const;
  Sum lifted() const { return *this; }
};

struct Replicated {
  using kind = Linear;
  static constexpr const char* name = "mpi_replicated";
  static constexpr unsigned linear_in = ~0U;
  Ranks ranks;

  Types type(const Types& shared) const {
    Types own;
    for (const Type& type : shared) own.push_back({type.dtype, type.shape});
    return own;
  }
  void eval(Outputs out, Inputs in) const {
    for (std::size_t i = 0; i < in.size(); ++i) kernels::copy(out[i], in[i]);
  }
  Tensors vjp(const Reverse& r) const;
  Replicated lifted() const { return *this; }
};

Tensors cotangents_of_all(const Reverse& r) {
  Tensors all;
  for (std::size_t i = 0; i < r.output_types.size(); ++i) all.push_back(r.cotangent(static_cast<int>(i)));
  return all;
}
Tensors Sum::vjp(const Reverse& r) const { return replicas(cotangents_of_all(r), ranks.world()); }
/// Also of inputs that this rank alone does not want: all ranks make one call.
Tensors Replicated::vjp(const Reverse& r) const { return sums(cotangents_of_all(r), ranks.world()); }

// ── rows: the batch of a vmap goes behind axis 0 ──

/// `op` on every example's rows, along axis 0 of each example.
template <class P>
BatchedOutputs batch_behind_rows(const P& op, const Batch& batch) {
  return {.outputs = {movedim(apply(op, movedim(batch.input(0), 0, 1)), 1, 0)}};
}
Type with_rows(const Type& type, std::int64_t rows) {
  if (type.shape.empty())
    throw ValueError(to_string(type) +
                     " has no axis 0, along which the ranks' rows stand; give it one by unsqueeze(0)");
  Type result{type.dtype, type.shape};
  result.shape[0] = rows;
  return result;
}
std::int64_t total(const Counts& counts) {
  std::int64_t sum = 0;
  for (std::int64_t count : counts) sum += count;
  return sum;
}
std::int64_t rows_before(const Counts& counts, std::size_t rank) {
  std::int64_t sum = 0;
  for (std::size_t r = 0; r < rank; ++r) sum += counts[r];
  return sum;
}
/// Throws unless the operand has the rows that were agreed upon.
void require_rows(const Strided& x, std::int64_t rows) {
  if (x.shape[0] != rows)
    throw ValueError("there are " + std::to_string(x.shape[0]) + " rows, where the ranks have agreed on " +
                     std::to_string(rows) + "; record the function again for another number");
}

struct AllRows {
  using kind = Linear;
  static constexpr const char* name = "mpi_all_rows";
  static constexpr Effect effect = Effect::acts;
  Ranks ranks;
  Counts counts;

  Type type(const Type& own) const { return with_rows(own, total(counts)); }
  void eval(Outputs out, Inputs in) const {
    require_rows(in[0], counts[ranks.rank()]);
    before_sending("mpi::all_gather", *ranks.state, in, true);
    if (bytes_of(out[0]) > 0) all_gather_rows(*ranks.state, Dense(in[0]).data, out[0].data, counts, row_bytes(in[0]));
  }
  Tensor transpose(const Tensor& ct) const { return own_rows(ct, counts, ranks.world()); }
  BatchedOutputs batch(const Batch& b) const { return batch_behind_rows(*this, b); }
};

struct OwnRows {
  using kind = Linear;
  static constexpr const char* name = "mpi_own_rows";
  Ranks ranks;
  Counts counts;

  Type type(const Type& all) const { return with_rows(all, counts[ranks.rank()]); }
  void eval(Outputs out, Inputs in) const {
    require_rows(in[0], total(counts));
    Strided rows = in[0];
    rows.data = advance(rows.data, rows.dtype, rows_before(counts, ranks.rank()) * rows.strides[0]);
    rows.shape = out[0].shape;
    kernels::copy(out[0], rows);
  }
  Tensor transpose(const Tensor& ct) const { return gathered(ct, counts, ranks.world()); }
  BatchedOutputs batch(const Batch& b) const { return batch_behind_rows(*this, b); }
};

struct RowsToRoot {
  using kind = Linear;
  static constexpr const char* name = "mpi_rows_to_root";
  static constexpr Effect effect = Effect::acts;
  Ranks ranks;
  Counts counts;
  int root = 0;

  Type type(const Type& own) const { return with_rows(own, ranks.state->rank == root ? total(counts) : 0); }
  void eval(Outputs out, Inputs in) const {
    require_rows(in[0], counts[ranks.rank()]);
    before_sending("mpi::gather", *ranks.state, in, true, " to rank " + std::to_string(root));
    const std::int64_t bytes = row_bytes(in[0]);
    if (bytes > 0) gather_rows(*ranks.state, Dense(in[0]).data, out[0].data, counts, bytes, root);
  }
  Tensor transpose(const Tensor& ct) const { return rows_from_root(ct, counts, root, ranks.world()); }
  BatchedOutputs batch(const Batch& b) const { return batch_behind_rows(*this, b); }
};

struct RowsFromRoot {
  using kind = Linear;
  static constexpr const char* name = "mpi_rows_from_root";
  static constexpr Effect effect = Effect::acts;
  Ranks ranks;
  Counts counts;
  int root = 0;

  Type type(const Type& all) const { return with_rows(all, counts[ranks.rank()]); }
  void eval(Outputs out, Inputs in) const {
    require_rows(in[0], ranks.state->rank == root ? total(counts) : 0);
    before_sending("mpi::scatter_rows", *ranks.state, in, true, " from rank " + std::to_string(root));
    const std::int64_t bytes = row_bytes(in[0]);
    if (bytes > 0) scatter_rows(*ranks.state, Dense(in[0]).data, out[0].data, counts, bytes, root);
  }
  Tensor transpose(const Tensor& ct) const { return rows_to_root(ct, counts, root, ranks.world()); }
  BatchedOutputs batch(const Batch& b) const { return batch_behind_rows(*this, b); }
};

// ── one rank's values ──

struct OfRoot {
  using kind = Linear;
  static constexpr const char* name = "mpi_of_root";
  static constexpr Effect effect = Effect::acts;
  Ranks ranks;
  int root = 0;

  Type type(const Type& own) const { return {own.dtype, own.shape}; }
  void eval(Outputs out, Inputs in) const {
    before_sending("mpi::broadcast", *ranks.state, in, false, " from rank " + std::to_string(root));
    if (ranks.state->rank == root) kernels::copy(out[0], in[0]);
    broadcast_bytes(*ranks.state, out[0].data, bytes_of(out[0]), root);
  }
  Tensor transpose(const Tensor& ct) const { return at_root(ct, root, ranks.world()); }
  OfRoot lifted() const { return *this; }
};

struct AtRoot {
  using kind = Linear;
  static constexpr const char* name = "mpi_at_root";
  Ranks ranks;
  int root = 0;

  Type type(const Type& shared) const { return {shared.dtype, shared.shape}; }
  void eval(Outputs out, Inputs in) const {
    if (ranks.state->rank == root) kernels::copy(out[0], in[0]);
    else kernels::clear(out[0]);
  }
  Tensor transpose(const Tensor& ct) const { return of_root(ct, root, ranks.world()); }
  AtRoot lifted() const { return *this; }
};

}  // namespace

Counts counts_of_blocks(std::int64_t count, const WorldState& world) {
  Counts counts;
  for (int r = 0; r < world.size; ++r)
    counts.push_back(block_begin(count, r + 1, world.size) - block_begin(count, r, world.size));
  return counts;
}

std::string to_text(const Type& type, std::optional<std::int64_t> axis_of_rows) {
  if (!axis_of_rows) return to_string(type);
  Type row{type.dtype, type.shape};
  row.shape.erase(static_cast<std::size_t>(*axis_of_rows));
  const std::string along = *axis_of_rows == 0 ? "" : "along axis " + std::to_string(*axis_of_rows) + " ";
  return "rows " + along + "of " + to_string(row);
}

void require_place(const char* call, WorldState& world) {
  for (const runs::OwnValues* own = this_thread.own_values; own && world.size > 1; own = own->outer) {
    if (own->of == runs::OwnValues::Of::examples)
      raise<TransformError>(
          std::string(call) +
          ": called in a function that mpi::vmap runs, on each rank for other examples; return what it "
          "needs, and call it outside, on the result of mpi::vmap");
    // A rank that throws there tells the ranks of that world, not those that wait for it in another one.
    if (own->world.state().get() != &world)
      raise<TransformError>(std::string(call) +
                            ": called between other ranks than those of the mpi::sum_over around it; use one World");
  }
  if (this_thread.narrowed_levels == 0) return;
  try {
    raise<TransformError>(std::string(call) +
                          ": called where only a part of a vmap's examples runs, so that other ranks may not come "
                          "here; call it outside the branch or loop, on a value that the examples return");
  } catch (...) { fail(world); }
}

bool are_own_values(const World& world) {
  for (const runs::OwnValues* own = this_thread.own_values; own; own = own->outer)
    if (own->world == world) return true;
  return false;
}

Tensors sums(std::span<const Tensor> own, const World& world) { return ricci::apply(Sum{ranks_of(world)}, own); }
Tensors replicas(std::span<const Tensor> shared, const World& world) {
  return ricci::apply(Replicated{ranks_of(world)}, shared);
}
Tensor gathered(const Tensor& own, const Counts& counts, const World& world) {
  return apply(AllRows{ranks_of(world), counts}, own);
}
Tensor own_rows(const Tensor& all, const Counts& counts, const World& world) {
  return apply(OwnRows{ranks_of(world), counts}, all);
}
Tensor of_root(const Tensor& own, int root, const World& world) { return apply(OfRoot{ranks_of(world), root}, own); }
Tensor at_root(const Tensor& shared, int root, const World& world) {
  return apply(AtRoot{ranks_of(world), root}, shared);
}
Tensor rows_to_root(const Tensor& own, const Counts& counts, int root, const World& world) {
  return apply(RowsToRoot{ranks_of(world), counts, root}, own);
}
Tensor rows_from_root(const Tensor& all, const Counts& counts, int root, const World& world) {
  return apply(RowsFromRoot{ranks_of(world), counts, root}, all);
}

}  // namespace ricci::mpi
