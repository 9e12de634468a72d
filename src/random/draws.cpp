// The primitives that draw, and how a draw from a generator is shared out to the examples of the running vmaps: it is
// one draw with the examples as leading axes, of which an example sees its own part. So the numbers are a function of
// seed, position, example and element, whatever the chunks, threads and nesting.
#include "random/draws.h"

#include <algorithm>
#include <cassert>
#include <numbers>

#include "interpreters/batch.h"
#include "interpreters/node_memory.h"
#include "interpreters/places.h"
#include "interpreters/replay.h"
#include "kernels/elementwise.h"
#include "kernels/random.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "primitive/called.h"
#include "program/structure.h"
#include "random/drawn_scalars.h"

namespace ricci {
namespace {

// ── what is drawn: `fill` gives elements [first, …) of a source, the last `whole_axes` axes together; `check` throws
// where it cannot for a shape; `element` writes one of them down, of which a block of the source makes
// `elements_of_block` ──

struct Uniform {
  static constexpr const char* name = "rand";
  static constexpr const char* name_by_key = "rand_by_key";
  static constexpr const char* name_at = "rand_at";
  static constexpr int whole_axes = 0;
  DType dtype = DType::float64;
  void check(const Shape&) const { require_floating_draw(name, dtype); }
  void fill(Strided out, kernels::RandomSource source, std::uint64_t first) const {
    kernels::random_uniform(out, source, first);
  }
  std::int64_t elements_of_block() const { return dtype == DType::float64 ? 2 : 4; }
  Scalar element(const DrawnElement& x) const { return uniform_scalar(x, dtype); }
};

struct Normal {
  static constexpr const char* name = "randn";
  static constexpr const char* name_by_key = "randn_by_key";
  static constexpr const char* name_at = "randn_at";
  static constexpr int whole_axes = 0;
  DType dtype = DType::float64;
  void check(const Shape&) const { require_floating_draw(name, dtype); }
  void fill(Strided out, kernels::RandomSource source, std::uint64_t first) const {
    kernels::random_normal(out, source, first);
  }
  std::int64_t elements_of_block() const { return dtype == DType::float64 ? 2 : 4; }
  Scalar element(const DrawnElement& x) const { return normal_scalar(x, dtype); }
};

struct Integers {
  static constexpr const char* name = "randint";
  static constexpr const char* name_by_key = "randint_by_key";
  static constexpr const char* name_at = "randint_at";
  static constexpr int whole_axes = 0;
  std::int64_t low = -3, high = 5;
  DType dtype = DType::int64;
  void check(const Shape&) const {
    require_real(name, Type{dtype, {}});
    if (low >= high) throw IndexError("the range [low, high) is empty");
  }
  void fill(Strided out, kernels::RandomSource source, std::uint64_t first) const {
    kernels::random_integers(out, low, high, source, first);
  }
  static constexpr std::int64_t elements_of_block() { return 2; }
  Scalar element(const DrawnElement& x) const { return integer_scalar(x, low, high, dtype); }
};

/// As Integers, where a bound is a size of a recorded program.
struct IntegersBySize {
  static constexpr const char* name = "randint_by_size";
  static constexpr const char* name_by_key = "randint_by_size_by_key";
  static constexpr const char* name_at = "randint_by_size_at";
  static constexpr int whole_axes = 0;
  Size low = 0, high = 5;
  DType dtype = DType::int64;
  void check(const Shape&) const {
    require_real(name, Type{dtype, {}});
    if (any_symbol(low, high)) return;
    require_between(low.raw() + 1, high, INT64_MAX);
    require_fits("randint", low.raw(), dtype);
    require_fits("randint", high.raw() - 1, dtype);
  }
  void fill(Strided out, kernels::RandomSource source, std::uint64_t first) const {
    kernels::random_integers(out, low, high, source, first);
  }
};

/// Along the last axis.
struct Permutation {
  static constexpr const char* name = "randperm";
  static constexpr const char* name_by_key = "randperm_by_key";
  static constexpr const char* name_at = "randperm_at";
  static constexpr int whole_axes = 1;
  static constexpr DType dtype = DType::int64;
  void check(const Shape& shape) const { require_between(1, shape.rank(), beyond_memory); }
  void fill(Strided out, kernels::RandomSource source, std::uint64_t first) const {
    kernels::random_permutation(out, source, first);
  }
};

struct Bits {
  static constexpr const char* name = "random_bits";
  static constexpr const char* name_by_key = "random_bits_by_key";
  static constexpr const char* name_at = "random_bits_at";
  static constexpr int whole_axes = 0;
  static constexpr DType dtype = DType::int64;
  void check(const Shape&) const {}
  void fill(Strided out, kernels::RandomSource source, std::uint64_t first) const {
    kernels::random_bits(out, source, first);
  }
  static constexpr std::int64_t elements_of_block() { return 2; }
  Scalar element(const DrawnElement& x) const { return x.word64(x.first).scalar(); }
};

/// Each element follows from its number, and not from the others.
template <class Numbers>
concept DrawnByElement = requires(const Numbers& numbers) { numbers.elements_of_block(); };

// ── the primitives that draw it ──

std::int64_t rows_in(const Shape& shape, int axes) {
  std::int64_t rows = 1;
  for (int i = 0; i < axes; ++i) rows *= shape[static_cast<std::size_t>(i)].host();
  return rows;
}

/// How many axes in front divide into `parts` equal ones, the last `whole` axes left alone. Throws IndexError if none
/// do.
int axes_of_parts(const Shape& shape, std::int64_t parts, int whole) {
  for (int axes = 1; axes <= shape.rank() - whole; ++axes)
    if (rows_in(shape, axes) % parts == 0) return axes;
  throw IndexError("the rows of " + to_string(shape) + " do not divide into " + std::to_string(parts) + " runs");
}

/// The element of a draw whose source, a seed and a stream, is the operand's row at `source`. no_scalar: lanes share
/// blocks, or there are many elements of one lane: these are better drawn side by side.
template <class Numbers>
Scalar element_of_draw(const Numbers& numbers, ElementWriter& y, std::vector<Coordinate> source, std::uint64_t further,
                       std::int64_t first, std::int64_t of_lane, bool is_of_many) {
  if (of_lane % numbers.elements_of_block() != 0 || is_of_many) return no_scalar;
  source.emplace_back(0);
  const Whole seed = Whole::at(y.element_of(0, source));
  source.back() = 1;
  const Whole stream = Whole::at(y.element_of(0, source)) + Whole(further);
  return numbers.element({seed, stream, first, of_lane, of_lane == 0 ? Whole(0) : y.lane()});
}
constexpr std::int64_t few_draws = 16;

/// Equal parts of the rows of a row-major array, which its axes in front number.
struct EqualParts {
  Strided whole;
  Strides sizes, strides;
  EqualParts(const Strided& whole, std::int64_t parts, int axes) : whole(whole) {
    assert(is_row_major(whole));
    const Shape shape(whole.shape, whole.shape + whole.rank);
    sizes.push_back(rows_in(shape, axes) / parts);
    strides.push_back(whole.strides[axes - 1]);
    sizes.append(whole.shape + axes, whole.shape + whole.rank);
    strides.append(whole.strides + axes, whole.strides + whole.rank);
  }
  Strided at(std::int64_t i) const {
    const std::int64_t offset = i * sizes[0] * strides[0];
    return {static_cast<std::byte*>(whole.data) + offset * static_cast<std::int64_t>(element_size(whole.dtype)),
            whole.dtype, static_cast<int>(sizes.size()), sizes.data(), strides.data()};
  }
};

/// From a generator's stream. `shape` is that of `examples` draws together, one after the other.
template <class Numbers>
struct Drawn {
  using kind = Explicit;
  static constexpr const char* name = Numbers::name;
  static constexpr bool locally_constant = true;
  Numbers numbers;
  Shape shape;
  std::uint64_t seed, position;
  Size examples;
  SmallVector<std::int64_t, 1> starts;  // the first example of each of several equal runs of consecutive ones

  Type type() const {
    numbers.check(shape);
    for (std::int64_t start : starts) require_between(0, start, beyond_memory);
    const bool is_known = std::none_of(shape.begin(), shape.end(), [](Size s) { return s.is_symbol(); });
    if (starts.size() > 1 && is_known) axes_of_runs();
    return {numbers.dtype, shape};
  }
  int axes_of_runs() const { return axes_of_parts(shape, std::ssize(starts), Numbers::whole_axes); }
  void eval(Outputs out, Inputs) const {
    const std::int64_t elements = shape.numel(), runs = std::ssize(starts);
    if (elements == 0) return;
    require_between(1, examples.host(), beyond_memory);
    require_between(1, runs, beyond_memory);
    const auto of_one = static_cast<std::uint64_t>(elements / examples.host());
    const kernels::RandomSource source{seed, position};
    if (runs == 1) return numbers.fill(out[0], source, static_cast<std::uint64_t>(starts[0]) * of_one);
    const EqualParts parts(out[0], runs, axes_of_runs());
    for (std::int64_t i = 0; i < runs; ++i)
      numbers.fill(parts.at(i), source, static_cast<std::uint64_t>(starts[static_cast<std::size_t>(i)]) * of_one);
  }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Drawn>> samples() {
    return {{{Numbers(), {6}, 1, 2, 1, {0}}, {}}, {{Numbers(), {4, 3}, 1, 2, 4, {5, 1}}, {}}};
  }
};

/// One for each pair of numbers along the last axis.
std::vector<kernels::RandomSource> sources_of(const Strided& keys) {
  const Shape shape(keys.shape, keys.shape + keys.rank);
  std::vector<kernels::RandomSource> sources(static_cast<std::size_t>(shape.numel() / 2));
  const Strides strides = contiguous_strides(shape);
  kernels::copy({sources.data(), DType::int64, keys.rank, shape.host(), strides.data()}, keys);
  return sources;
}

/// From keys [leading…, 2]: `shape` for each, [leading…, shape…].
template <class Numbers>
struct DrawnByKey {
  using kind = Explicit;
  static constexpr const char* name = Numbers::name_by_key;
  static constexpr bool locally_constant = true;
  Numbers numbers;
  Shape shape;

  Type type(const Type& key) const {
    numbers.check(shape);
    require_rank_of_at_least(1, key);
    require_shape({key.shape.back()}, {2});
    Shape all(key.shape.begin(), key.shape.end() - 1);
    all.append(shape.begin(), shape.end());
    return {numbers.dtype, all};
  }
  void eval(Outputs out, Inputs in) const {
    const std::vector<kernels::RandomSource> sources = sources_of(in[0]);
    const auto count = static_cast<std::int64_t>(sources.size());
    Shape rows = shape;
    rows.insert(0, count);
    if (rows.numel() == 0) return;
    const Strides strides = contiguous_strides(rows);
    const Strided whole{out[0].data, out[0].dtype, rows.rank(), rows.host(), strides.data()};
    const EqualParts parts(whole, count, 1);
    for (std::int64_t i = 0; i < count; ++i)
      numbers.fill({parts.at(i).data, whole.dtype, shape.rank(), shape.host(), strides.data() + 1},
                   sources[static_cast<std::size_t>(i)], 0);
  }
  Scalar element(ElementWriter& y) const
    requires DrawnByElement<Numbers>
  {
    const int leading = y.type(0).rank() - 1;
    std::vector<Coordinate> key;
    for (int i = 0; i < leading; ++i) key.push_back(y.coordinate(i));
    std::int64_t first = 0, of_lane = 0;
    if (leading == 0 && !y.number_by_lane(first, of_lane)) return no_scalar;
    for (int i = leading; leading > 0 && i < leading + shape.rank(); ++i) {
      const Coordinate own = y.coordinate(i);
      if (own.is_lane) return no_scalar;
      first = first * shape[static_cast<std::size_t>(i - leading)].host() + own.number;
    }
    return element_of_draw(numbers, y, key, 0, first, of_lane, leading == 0 && of_lane == 0 && first >= few_draws);
  }
  DrawnByKey lifted() const { return *this; }
  Structure structure() const
    requires DrawnByElement<Numbers>
  {
    return Blocks{numbers.elements_of_block(), [](const void* op, const Shape& shape) {
                    return own(DrawnByKey{erase::as<DrawnByKey>(op).numbers, shape});
                  }};
  }
  static std::vector<Sample<DrawnByKey>> samples() {
    const DrawnByKey row{Numbers(), {5}}, grid{Numbers(), {2, 3}};
    return {{row, {tensor({7, -9})}}, {grid, {tensor({{7, -9}, {1, 2}, {0, 0}})}}};
  }
};

// ── the running vmaps ──

/// How errors name a vmap: where it stands for another level, as that; where it has no name of its own, as the
/// transform inside it that it maps for.
std::string name_of(const BatchInterpreter& vmap) {
  const Interpreter *run = &vmap, *inside = nullptr;
  for (const Interpreter* i : whole_nest()) {
    if (i->level == vmap.run()) run = i;
    if (i->level > vmap.run() && i->entry.name) inside = i;
  }
  return transform_text(run->entry.name || !inside ? run : inside);
}

[[noreturn]] void raise_refused(const char* op, const BatchInterpreter& vmap) {
  const std::string start =
      std::string(op) + ": a random operation under " + name_of(vmap) + ", whose randomness mode is ";
  if (vmap.examples.randomness == Randomness::different)
    raise<TransformError>(start +
                          "different, in a function that none of its arguments makes differ per example: one draw "
                          "would serve all; pass an argument that does, or draw outside and pass the numbers");
  raise<TransformError>(start +
                        "error; pass .randomness = rc::Randomness::different for a draw per example, or "
                        "rc::Randomness::same for one draw for all");
}

/// `end`: the level that is the first not to be asked, null for none.
void require_no_error_mode(const char* op, const Interpreter* end = nullptr) {
  for (const Interpreter* i = this_thread.innermost; i != end; i = i->parent) {
    if (i->kind != ValueKind::batched) continue;
    const auto& level = static_cast<const BatchInterpreter&>(*i);
    if (level.examples.randomness == Randomness::error && has_part_in_draws(level)) raise_refused(op, level);
  }
  if (const BatchInterpreter* vmap = refuses_draws()) raise_refused(op, *vmap);
}

/// The levels whose examples draw differently, outermost first. What a recorded program draws belongs to its runs: the
/// levels around the recording have no part in it.
SmallVector<const BatchInterpreter*, 4> drawing_levels() {
  SmallVector<const BatchInterpreter*, 4> inwards;
  for (const Interpreter* i = this_thread.innermost; i && !i->sees_everything(); i = i->parent) {
    if (i->kind != ValueKind::batched) continue;
    const auto* level = static_cast<const BatchInterpreter*>(i);
    if (level->examples.randomness == Randomness::different && has_part_in_draws(*level)) inwards.push_back(level);
  }
  std::reverse(inwards.begin(), inwards.end());
  return inwards;
}

/// The numbers of pairs of examples: (outer number) * `inner_count` + (inner number).
ExampleNumbers pairs(const ExampleNumbers& outer, const ExampleNumbers& inner, Size inner_count) {
  ExampleNumbers all;
  if (inner.starts.size() == 1 && inner.starts[0] == 0 && inner.each == inner_count) {
    all.each = outer.each * inner.each;
    for (std::int64_t start : outer.starts) all.starts.push_back(start == 0 ? 0 : start * inner_count.host());
    return all;
  }
  all.each = inner.each;
  for (std::int64_t outer_start : outer.starts)
    for (std::int64_t i = outer_start; i < outer_start + outer.each; ++i)
      for (std::int64_t start : inner.starts) all.starts.push_back(i * inner_count + start);
  return all;
}

/// The examples of all running levels that draw differently, as one row of numbers.
struct DrawingExamples {
  SmallVector<const BatchInterpreter*, 4> levels = drawing_levels();
  ExampleNumbers numbers{{0}, 1};
  Size count = 1;  // of the whole runs
  Shape rows;      // one extent for each level: of its examples that run here

  DrawingExamples() {
    for (const BatchInterpreter* level : levels) {
      numbers = pairs(numbers, level->numbers(), level->examples.count);
      count = count * level->examples.count;
      rows.push_back(level->count(level->lanes));
    }
  }
  Shape shape_of_all(const Shape& of_one) const {
    Shape all = rows;
    all.append(of_one.begin(), of_one.end());
    return all;
  }
  /// `drawn` as each example sees it.
  Tensor share_out(const Tensor& drawn) const {
    if (levels.empty()) return drawn;
    ValueRef value = value_of(drawn);
    for (const BatchInterpreter* level : levels)
      value = new_node<Batched>(level->level, std::move(value), level->lanes);
    return wrap(std::move(value));
  }
};

/// From the place that is its input: what a recorded program draws. The examples of vmaps inside the recording stand in
/// front of `shape`; those of vmaps around a run are found when it runs.
template <class Numbers>
struct DrawnAt {
  using kind = Custom;
  static constexpr const char* name = Numbers::name_at;
  Numbers numbers;
  Shape shape;
  std::uint64_t draws_before;  // behind the place
  Size examples, count;        // in front of the shape, and of their whole runs
  ExampleNumbers which;

  Types type(const Types& place) const {
    require_between(1, std::ssize(place), 1);
    require_dtype(place_type.dtype, place[0]);
    require_shape(place[0].shape, place_type.shape);
    return {Type{numbers.dtype, shape}};
  }
  bool draws() const { return true; }
  Scalar element(ElementWriter& y) const
    requires DrawnByElement<Numbers>
  {
    std::int64_t first = 0, of_lane = 0;
    const bool are_all = which.starts.size() == 1 && which.starts[0] == 0;
    if (!are_all || !y.number_by_lane(first, of_lane)) return no_scalar;
    return element_of_draw(numbers, y, {}, draws_before, first, of_lane, of_lane == 0 && first >= few_draws);
  }
  Tensors call(std::span<const Tensor> place) const {
    require_no_error_mode(Numbers::name, recorder_of_everything());
    const DrawingExamples around;
    const Shape all = around.shape_of_all(shape);
    const Size rows = around.rows.numel() * examples;
    const ExampleNumbers numbers_of_all = pairs(around.numbers, which, count);
    const ValueRef value = read(place[0], Numbers::name);
    if (is_recorded({&value, 1})) {
      Tensor drawn;
      {
        const AtLevel at(recorder_of_everything());
        drawn = apply(DrawnAt{numbers, all, draws_before, rows, around.count * count, numbers_of_all}, place[0]);
      }
      return {around.share_out(drawn)};
    }
    const StreamPosition at = position_at(place[0]);
    const Drawn<Numbers> drawn{numbers, all, at.seed, at.position + draws_before, rows, numbers_of_all.starts};
    return {around.share_out(apply(drawn))};
  }
};

/// The draws of all examples together, of which each sees its own.
template <class Numbers>
Tensor draw_from(Generator& generator, const Numbers& numbers, const Shape& shape) {
  const StreamPosition at = next_draw(generator);
  if (at.place.defined()) return apply(DrawnAt<Numbers>{numbers, shape, at.position, 1, 1, {{0}, 1}}, at.place);
  if (!this_thread.innermost) return apply(Drawn<Numbers>{numbers, shape, at.seed, at.position, 1, {0}});
  const DrawingExamples examples;
  const Shape all = examples.shape_of_all(shape);
  const Size rows = examples.rows.numel();
  return examples.share_out(apply(Drawn<Numbers>{numbers, all, at.seed, at.position, rows, examples.numbers.starts}));
}

}  // namespace

namespace {
std::int64_t number_of(Bound bound) { return bound.is_symbol() ? bound.size().hint() : bound.number(); }
std::string text_of(Bound bound) { return std::to_string(number_of(bound)); }
std::string dtype_text(DType dtype) {
  return (is_complex(dtype) ? "the complex " : "") + std::string(short_name(dtype));
}
}  // namespace

void require_floating_draw(const char* op, DType dtype) {
  if (!is_floating(dtype))
    raise<TypeError>(std::string(op) + ": draws floating numbers, not " + dtype_text(dtype) +
                     "; use a floating dtype, or randint");
}

Noise::Noise(const char* op, GeneratorOption generator) : op_(op), generator_(generator) { require_no_error_mode(op); }

template <class Numbers>
Tensor Noise::draw(const Numbers& numbers, const Shape& shape) const {
  const Called as(op_);
  require_sizes(op_, shape);
  if (key_) return apply(DrawnByKey<Numbers>{numbers, shape}, key_->data);
  return draw_from(generator_.generator ? *generator_.generator : default_generator(), numbers, shape);
}

Tensor Noise::uniform(const Shape& shape, DType dtype) const {
  require_floating_draw(op_, dtype);
  return draw(Uniform{dtype}, shape);
}
Tensor Noise::normal(const Shape& shape, DType dtype) const {
  require_floating_draw(op_, dtype);
  return draw(Normal{dtype}, shape);
}
Tensor Noise::real_or_complex_normal(const Shape& shape, DType dtype) const {
  if (!is_complex(dtype)) return normal(shape, dtype);
  Shape parts = shape;
  parts.push_back(2);
  return view_as_complex(normal(parts, real_dtype(dtype)) * (std::numbers::sqrt2 / 2));
}
Tensor Noise::integers(Bound low, Bound high, const Shape& shape, DType dtype) const {
  const bool is_open = low.is_symbol() || high.is_symbol();
  if (is_open ? low.size() >= high.size() : low.number() >= high.number())
    raise<ValueError>(std::string(op_) + ": the range [" + text_of(low) + ", " + text_of(high) +
                      ") is empty; high must be above low");
  if (is_complex(dtype))
    raise<TypeError>(std::string(op_) + ": draws real numbers, not " + dtype_text(dtype) + "; use a real dtype");
  const auto require = [&](Bound bound, std::int64_t below) {
    if (bound.is_symbol()) require_fits(op_, bound.size() - below, dtype);
    else require_fits(op_, bound.number() - below, dtype);
  };
  require(low, 0), require(high, 1);
  if (!is_open) return draw(Integers{low.number(), high.number(), dtype}, shape);
  for (Bound bound : {low, high})
    if (!bound.is_symbol() && bound.size().raw() != bound.number())
      raise<ValueError>(std::string(op_) + ": the bound " + text_of(bound) +
                        " is too low beside a size of a recorded program; pass the size as a C++ number");
  return draw(IntegersBySize{low.size(), high.size(), dtype}, shape);
}
Tensor Noise::permutation(Size size) const { return draw(Permutation(), {size}); }
Tensor Noise::keys(const Shape& shape) const { return draw(Bits(), shape); }

}  // namespace ricci
