// Draws from a generator: each takes one position of its stream, and is an operation without inputs whose parameters
// say which. So the same seed gives the same numbers, whatever the transforms and threads.
#include "interpreters/batch.h"
#include "kernels/random.h"
#include "ops/axes.h"
#include "ops/reading.h"
#include "ricci/random.h"

namespace ricci {
namespace {

/// Which draw of which seed.
struct Draw {
  std::uint64_t seed, position;
  kernels::RandomSource source() const { return {seed, position}; }
};

struct Rand {
  using kind = Explicit;
  static constexpr const char* name = "rand";
  static constexpr bool locally_constant = true;
  Shape shape;
  DType dtype;
  Draw draw;

  Type type() const { return {dtype, shape}; }
  void eval(Outputs out, Inputs) const { kernels::random_uniform(out[0], draw.source()); }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Rand>> samples() { return {{{{2, 3}, DType::float64, {1, 2}}, {}}}; }
};

struct Randn {
  using kind = Explicit;
  static constexpr const char* name = "randn";
  static constexpr bool locally_constant = true;
  Shape shape;
  DType dtype;
  Draw draw;

  Type type() const { return {dtype, shape}; }
  void eval(Outputs out, Inputs) const { kernels::random_normal(out[0], draw.source()); }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Randn>> samples() { return {{{{2, 3}, DType::float64, {1, 2}}, {}}}; }
};

struct Randint {
  using kind = Explicit;
  static constexpr const char* name = "randint";
  static constexpr bool locally_constant = true;
  std::int64_t low, high;
  Shape shape;
  DType dtype;
  Draw draw;

  Type type() const { return {dtype, shape}; }
  void eval(Outputs out, Inputs) const { kernels::random_integers(out[0], low, high, draw.source()); }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Randint>> samples() { return {{{-3, 5, {6}, DType::int64, {1, 2}}, {}}}; }
};

struct Randperm {
  using kind = Explicit;
  static constexpr const char* name = "randperm";
  static constexpr bool locally_constant = true;
  Size size;
  Draw draw;

  Type type() const { return {DType::int64, {size}}; }
  void eval(Outputs out, Inputs) const { kernels::random_permutation(out[0], draw.source()); }
  BatchedOutputs batch(const Batch&) const { return {.outputs = {apply(*this)}, .mapped = 0}; }
  static std::vector<Sample<Randperm>> samples() { return {{{5, {1, 2}}, {}}}; }
};

/// Every vmap is in error mode: the others are not built yet.
void require_no_vmap(const char* op) {
  const Interpreter* i = innermost;
  while (i && i->kind != ValueKind::batched) i = i->parent;
  if (i)
    raise<TransformError>(
        std::string(op) + ": a random operation under " + transform_text(i) +
        ", whose randomness mode is error; pass .randomness = rc::Randomness::different for a draw per "
        "example, or rc::Randomness::same for one draw for all");
}

Draw next_draw(GeneratorOption option) {
  Generator& generator = option.generator ? *option.generator : default_generator();
  return {generator.seed(), generator.next()};
}

void require_floating_draw(const char* op, DType dtype) {
  if (!is_floating(dtype))
    raise<TypeError>(std::string(op) + ": draws floating numbers, not " + short_name(dtype) +
                     "; use a floating dtype, or randint");
}

template <class P>
Tensor draw_floating(const char* op, const Shape& shape, TensorOptions options) {
  require_no_vmap(op);
  require_sizes(op, shape);
  require_floating_draw(op, options.dtype);
  return apply(P{shape, options.dtype, next_draw(options.generator)});
}

template <class P>
Tensor draw_like(const char* op, const Tensor& x) {
  require_defined(op, x, 0);
  const Type type = type_of(x);
  return draw_floating<P>(op, type.shape, {.dtype = type.dtype});
}

}  // namespace

namespace ops {

Tensor rand(const Shape& shape) { return draw_floating<Rand>("rand", shape, {}); }
Tensor rand(const Shape& shape, TensorOptions options) { return draw_floating<Rand>("rand", shape, options); }
Tensor randn(const Shape& shape) { return draw_floating<Randn>("randn", shape, {}); }
Tensor randn(const Shape& shape, TensorOptions options) { return draw_floating<Randn>("randn", shape, options); }
Tensor rand_like(const Tensor& x) { return draw_like<Rand>("rand_like", x); }
Tensor randn_like(const Tensor& x) { return draw_like<Randn>("randn_like", x); }

Tensor randint(std::int64_t high, const Shape& shape) { return randint(0, high, shape, IntegerOptions{}); }
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  return randint(low, high, shape, IntegerOptions{});
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, IntegerOptions options) {
  require_no_vmap("randint");
  require_sizes("randint", shape);
  if (low >= high)
    raise<ValueError>("randint: the range [" + std::to_string(low) + ", " + std::to_string(high) +
                      ") is empty; high must be above low");
  if (is_complex(options.dtype))
    raise<TypeError>(std::string("randint: draws real numbers, not ") + short_name(options.dtype) +
                     "; use a real dtype");
  return apply(Randint{low, high, shape, options.dtype, next_draw(options.generator)});
}

Tensor randperm(std::int64_t n) { return randperm(n, IntegerOptions{}); }
Tensor randperm(std::int64_t n, IntegerOptions options) {
  require_no_vmap("randperm");
  require_sizes("randperm", {n});
  return to(apply(Randperm{n, next_draw(options.generator)}), options.dtype);
}

}  // namespace ops
}  // namespace ricci
