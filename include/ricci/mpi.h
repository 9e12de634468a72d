// One program on many machines: every rank of an MPI program runs the same C++, and vmap, sums and gathers work across
// them. A part of its own: find_package(Ricci COMPONENTS mpi), Ricci::mpi; ricci.h does not include it.
//
// Two kinds of value meet here. A **shared** value is the same on every rank: parameters, a seed, a total. An **own**
// value differs between ranks: a rank's rows, and results computed from these rows. `replicated` makes an own value of
// a shared one, `sum` a shared one of own ones; `mpi::vmap` and `sum_over` do both for you. Derivatives follow this
// rule: the cotangent of a shared value is shared too.
//
// Every rank of a World makes the same calls between its ranks, in the same order, with the same types. Where ranks
// differ, all of them get an error that says which rank has what. Where one rank throws inside mpi::vmap or sum_over,
// all throw its text: in the same class if that is one of ricci's, else as rc::Error. Where a rank leaves main, the
// calls of the others between all ranks throw; those between a part of the ranks that it belongs to end all ranks.
// One mistake hangs: ranks wait for each other in two different worlds, rank 0 in a call between all ranks, rank 1 in
// one between a part of them. One thread of a rank calls at a time; a second one that comes meanwhile gets an error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/random.h"
#include "ricci/transforms.h"
#include "ricci/tree.h"

namespace ricci::mpi {

struct WorldState;

struct SessionOptions {
  /// Compare what the ranks call, and with which types, before data moves: one message of 32 bytes to each other rank.
  /// Without it, `sum`, `broadcast` and derivatives save that message. Where one rank differs, throws or leaves while
  /// another is in one of these, there is no defined result; ranks may wait for ever. `mpi::vmap` and `sum_over`
  /// compare always. The environment's RICCI_MPI_CHECK=off leaves it out too. The same on every rank.
  bool checks = true;
  /// Compute each row of a product, each solution and each image of a convolution as it would be computed alone, in the
  /// whole program, so that results have the same bits for any number of ranks and any chunk_size. Without it, kernels
  /// choose their way by the number of rows, which is faster for products with few rows (docs/13-many-machines.md has
  /// figures), and another number of ranks may change last bits. The same on every rank.
  bool same_bits = true;
};

/// MPI, from here to the end of main. An exception that leaves main on one rank prints its text and ends all ranks.
/// Other threads than this one may call between ranks too, one at a time. ValueError if there is a Session already;
/// NotImplementedError if MPI lets one thread alone call it.
///   int main(int argc, char** argv) { rc::mpi::Session session(argc, argv); … }
class Session {
 public:
  Session(int& argc, char**& argv, SessionOptions options = {}) : Session(&argc, &argv, options) {}
  explicit Session(SessionOptions options = {}) : Session(nullptr, nullptr, options) {}
  Session(const Session&) = delete;
  ~Session();

 private:
  Session(int* argc, char*** argv, SessionOptions options);
  struct State;
  Owned<State> state_;
};

/// What this rank has sent to others through one World.
struct Traffic {
  std::int64_t calls = 0;  ///< of MPI, each of which every rank makes together
  std::int64_t bytes = 0;  ///< of this rank's that others need, counted once for each of them
};

/// A group of ranks. Copies are one World.
///   rc::mpi::World world;  std::cout << world.rank() << " of " << world.size();
class World {
 public:
  /// All ranks. ValueError where no Session lives.
  World();
  explicit World(std::shared_ptr<WorldState> state) : state_(std::move(state)) {}
  int rank() const;
  int size() const;
  /// The ranks of this world that give the same color, in their order here. All ranks call it together. ValueError if
  /// the color is negative; TransformError where `barrier` throws it.
  ///   rc::mpi::World row = world.split(world.rank() / 4);
  World split(int color) const;
  /// Returns when all ranks have called it. TransformError in a function that mpi::vmap runs, or that only some
  /// examples of a vmap run: other ranks may not come there.
  void barrier() const;
  Traffic traffic() const;
  const std::shared_ptr<WorldState>& state() const { return state_; }
  friend bool operator==(const World& a, const World& b) { return a.state_ == b.state_; }

 private:
  std::shared_ptr<WorldState> state_;
};

/// Whether the rows of all ranks are meant, or those of this rank alone.
enum class Rows : std::uint8_t { all, mine };
inline constexpr Rows all_rows = Rows::all, my_rows = Rows::mine;

/// As rc::VmapOptions, and which rows come in and go out.
struct VmapOptions {
  Dims in_dims = 0;
  Dims out_dims = 0;
  Randomness randomness = Randomness::error;
  std::optional<std::int64_t> chunk_size = {};  ///< of this rank's examples
  Rows rows = all_rows;     ///< all_rows: every rank gives all examples; my_rows: each gives its own, in rank order
  Rows results = all_rows;  ///< all_rows: every rank gets the results of all examples; my_rows: those of its own
  Lanes lanes = Lanes::together;
  std::int64_t max_groups = 65536;
};

// ── what the templates below are written with; not for users ──

namespace runs {

using ricci::runs::Place;

/// One call of mpi::vmap, and of what mpi::sum_over gives.
tree::AnyTree vmap(const tree::AnyFunction& f, tree::Arguments arguments, const VmapOptions& options,
                   const World& world, Place where);
tree::AnyTree sum_over(const tree::AnyFunction& f, tree::Arguments arguments, const World& world, Place where);

void sum(const tree::Walk& leaves, const World& world);
void replicate(const tree::Walk& leaves, const World& world);
void broadcast(const tree::Walk& leaves, const World& world, int root);
void gather(const tree::Walk& leaves, const World& world, int root);
void all_gather(const tree::Walk& leaves, const World& world);
void scatter_rows(const tree::Walk& leaves, const World& world, int root);

}  // namespace runs

/// What mpi::vmap returns.
template <class F>
struct Vmapped {
  F f;
  VmapOptions options;
  World world;
  where_t where;

  template <class... A>
  auto operator()(const A&... a) const {
    using R = call::result_t<F, std::decay_t<const A>...>;
    return runs::vmap(call::any_function<R, std::decay_t<const A>...>(f), call::any_list(std::decay_t<const A>(a)...),
                      options, world, where)
        .template take<typename call::Parts<false, R>::Out>();
  }
};

/// rc::vmap, whose examples are shared out to the ranks: each runs one contiguous block of them. The draws of example i
/// are those of example i in one process, so the results are the same bits for any number of ranks and any chunk_size,
/// unless SessionOptions::same_bits is off. They are those of rc::vmap in a program of one rank.
/// Unmapped arguments, and what f captures, are shared values. What f writes to its arguments stays in f. The default
/// generator is kept together; one of your own must be drawn from on every rank, as often as on the others.
/// All ranks call it together; the last blocks may be empty. Where a derivative by reverse mode is taken around it, or
/// a program recorded, f is recorded. Throws what rc::vmap throws, on every rank, and leaves the default generator
/// where it was. ValueError if the ranks' arguments, options, results or generators differ; TransformError in a
/// function that mpi::vmap runs, or that only some examples of a vmap run.
///   Tensor prices = rc::mpi::vmap(price, {.in_dims = {rc::none, 0}}, world)(market, paths);
template <class F>
Vmapped<F> vmap(F f, VmapOptions options = {}, World world = World(), where_t where = where_t::current()) {
  return {std::move(f), std::move(options), std::move(world), where};
}
inline Vmapped<Unary*> vmap(Unary* f, VmapOptions options = {}, World world = World(),
                            where_t where = where_t::current()) {
  return {f, std::move(options), std::move(world), where};
}
template <class = void>
Vmapped<Binary*> vmap(Binary* f, VmapOptions options = {}, World world = World(), where_t where = where_t::current()) {
  return {f, std::move(options), std::move(world), where};
}

/// Each Tensor's sum over the ranks, on every rank, added up in the order of the ranks: ((x₀ + x₁) + x₂) + …. A shared
/// value; its transpose is `replicated`. ValueError if the trees or types differ between ranks, or if no Tensor is
/// defined; TypeError for bool.
///   Tensor total = rc::mpi::sum(mine, world);
template <class T>
T sum(T tree, const World& world = World()) {
  runs::sum(call::walk(tree), world);
  return tree;
}

/// The same values, as own ones. Nothing is sent. Its transpose is `sum`: use it where shared values meet own ones
/// under a derivative, so that every rank's share is added up. mpi::vmap and sum_over do so themselves.
///   auto own = rc::mpi::replicated(parameters, world);
template <class T>
T replicated(T tree, const World& world = World()) {
  runs::replicate(call::walk(tree), world);
  return tree;
}

/// The root's values on every rank: a shared value. All ranks give the same types. ValueError if root is no rank.
///   parameters = rc::mpi::broadcast(parameters, 0, world);
template <class T>
T broadcast(T tree, int root = 0, const World& world = World()) {
  runs::broadcast(call::walk(tree), world, root);
  return tree;
}

/// Each Tensor's rows, of all ranks in their order, at the root: [rows of all, …]; [0, …] on the other ranks. Ranks may
/// have different numbers of rows; on one rank, all Tensors have the same. ValueError for a Tensor without axes.
///   Tensor all = rc::mpi::gather(mine, 0, world);
template <class T>
T gather(T tree, int root = 0, const World& world = World()) {
  runs::gather(call::walk(tree), world, root);
  return tree;
}

/// The same on every rank: a shared value.
template <class T>
T all_gather(T tree, const World& world = World()) {
  runs::all_gather(call::walk(tree), world);
  return tree;
}

/// The block of the root's rows that mpi::vmap gives this rank: [own rows, …]. What the other ranks pass tells dtypes
/// and the other axes; its rows do not count.
///   Tensor mine = rc::mpi::scatter_rows(world.rank() == 0 ? load() : rc::zeros({0, 784}), 0, world);
template <class T>
T scatter_rows(T tree, int root = 0, const World& world = World()) {
  runs::scatter_rows(call::walk(tree), world, root);
  return tree;
}

/// The rows of `count` that mpi::vmap gives this rank: from `first`, `count` of them. ValueError if count is negative.
struct Block {
  std::int64_t first = 0, count = 0;
};
Block block_of(std::int64_t count, const World& world = World());

/// What sum_over returns.
template <class F>
struct SummedOver {
  F f;
  World world;
  where_t where;

  template <class S, class... A>
  auto operator()(const S& shared, const A&... rows) const {
    using R = call::result_t<F, S, A...>;
    static_assert(!std::is_void_v<R>, "ricci: mpi::sum_over: the function must return a Tensor, or a tree of Tensors");
    return runs::sum_over(call::any_function<R, S, A...>(f), call::any_list(shared, rows...), world, where)
        .template take<R>();
  }
};

/// Σ over the ranks of f(shared, rows…), where `shared` is the same on every rank and the rows are each rank's own. The
/// result is shared, and has every derivative by `shared`: a Hessian is that of the whole data. What f captures counts
/// as shared too; where a derivative by reverse mode is taken around it, f is recorded.
///   auto total = rc::mpi::sum_over(loss, world);  auto g = rc::grad(total)(parameters, my_x, my_y);
template <class F>
SummedOver<F> sum_over(F f, World world = World(), where_t where = where_t::current()) {
  return {std::move(f), std::move(world), where};
}

}  // namespace ricci::mpi
