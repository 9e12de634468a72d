// What vmap and the Jacobians can be told: which axes are mapped, how random operations behave, how much at a time.
// Knows nothing of trees or tensors. Start with `VmapOptions`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ricci/shape.h"

namespace ricci {

inline constexpr std::nullopt_t none = std::nullopt;  ///< not mapped

/// The mapped axis of one tensor; negative ones count from the back.
using Dim = std::optional<std::int64_t>;

/// Mapped axes in the form of a tree: one axis or `none` covers everything below its place, braces follow the parts of
/// a tuple, list or struct. `{{0, none}, -1}` are two arguments, the first of two parts.
class Dims {
 public:
  template <Integer I>
  Dims(I axis) : dim(host_index(axis)) {}
  Dims(std::nullopt_t) {}
  Dims(Dim axis) : dim(axis) {}
  Dims(std::initializer_list<Dims> parts);
  explicit Dims(std::vector<Dims> parts);
  // Compiled once, as every call of vmap copies some.
  Dims(const Dims& other);
  Dims(Dims&& other) noexcept;
  Dims& operator=(const Dims& other);
  Dims& operator=(Dims&& other) noexcept;
  ~Dims();

  Dim dim;
  std::vector<Dims> children;
  bool leaf = true;

  friend bool operator==(const Dims& left, const Dims& right);
};

std::string to_string(const Dims& dims);  ///< `((0, none), -1)`
std::ostream& operator<<(std::ostream& out, const Dims& dims);

/// What a random operation does inside vmap: refuse, draw for each example, draw once for all.
enum class Randomness : std::uint8_t { error, different, same };

/// Whether examples may part ways at an `if`: `split` runs the function again for each group that agrees.
enum class Lanes : std::uint8_t { together, split };

/// Makes the names of options mandatory: `vmap(f, {0, none})` does not compile, `vmap(f, {.in_dims = {0, none}})` does.
class NamedOnly {
  NamedOnly() = default;
  friend struct VmapOptions;
  friend struct RaggedOptions;
  friend struct JacobianOptions;
};

struct VmapOptions {
  NamedOnly write_field_names = {};
  Dims in_dims = 0;   ///< over the arguments
  Dims out_dims = 0;  ///< over the result
  Randomness randomness = Randomness::error;
  std::optional<std::int64_t> chunk_size = {};  ///< examples at a time; all if not given
  Lanes lanes = Lanes::together;
  std::int64_t max_groups = 65536;  ///< into which Lanes::split may divide the examples
};

/// As out_dims: every Tensor of the result becomes an rc::Ragged, its first size free to differ between examples.
struct ragged_t {
  struct Made {};  // users write none: options without out_dims, or with a list of numbers, are no RaggedOptions
  explicit constexpr ragged_t(Made) {}
};
inline constexpr ragged_t ragged{ragged_t::Made{}};

struct RaggedOptions {
  NamedOnly write_field_names = {};
  Dims in_dims = 0;
  ragged_t out_dims;
  Randomness randomness = Randomness::error;
  std::optional<std::int64_t> chunk_size = {};
  Lanes lanes = Lanes::together;
  std::int64_t max_groups = 65536;
};

/// Of jacrev, jacfwd and hessian.
struct JacobianOptions {
  NamedOnly write_field_names = {};
  Randomness randomness = Randomness::error;    ///< between the tangents (jacfwd, hessian) or cotangents (jacrev)
  std::optional<std::int64_t> chunk_size = {};  ///< rows or columns at a time; all if not given
};

}  // namespace ricci
