// Triangles of the matrices in the last two axes: kept among zeros, or packed into vectors, row after row.
#include <algorithm>
#include <cstring>

#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "primitive/called.h"
#include "ricci/primitive/element_rules.h"
#include "ricci/primitive/parallel.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// The elements on and above (or on and below) a diagonal of the matrices in the last two axes; zeros elsewhere.
struct TriangularPart {
  using kind = Linear;
  static constexpr const char* name = "triangle";
  static constexpr unsigned moves_elements = all_inputs;
  bool upper;
  Size diagonal;

  Type type(const Type& x) const {
    require_rank_of_at_least(2, x);
    return {x.dtype, x.shape};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::copy(out[0], in[0]);
    const Strided& to = out[0];
    const std::int64_t rows = to.shape[to.rank - 2], columns = to.shape[to.rank - 1];
    if (columns == 0) return;  // however many rows there are
    const std::int64_t offset = std::clamp<std::int64_t>(diagonal, -rows - 1, columns);
    std::int64_t matrices = 1;
    for (int i = 0; i < to.rank - 2; ++i) matrices *= to.shape[i];
    const std::size_t element = element_size(to.dtype);
    const double nanoseconds_per_row = 2 + 0.01 * static_cast<double>(at(columns) * element);
    kernels::parallel_for({matrices * rows, nanoseconds_per_row}, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t split = std::clamp<std::int64_t>(row % rows + offset + (upper ? 0 : 1), 0, columns);
        const std::int64_t from = upper ? 0 : split, until = upper ? split : columns;
        std::memset(advance(to.data, to.dtype, row * columns + from), 0, at(until - from) * element);
      }
    });
  }
  Tensor transpose(const Tensor& ct) const { return apply(*this, ct); }
  TriangularPart lifted() const { return *this; }
  static std::vector<Sample<TriangularPart>> samples() {
    return {{{true, 0}, {rand({3, 3})}},   {{false, 1}, {rand({2, 3, 4})}},      {{true, -1}, {rand({3, 2})}},
            {{false, -5}, {rand({2, 2})}}, {{false, INT64_MAX}, {rand({2, 3})}}, {{true, INT64_MIN}, {rand({2, 3})}}};
  }
};

/// How many elements of an n × n matrix lie on and below a diagonal.
Size packed_size(Size n, Size diagonal) {
  const auto below = [n](Size d) {  // for d <= 0: a triangle of n + d rows
    return n < 0 - d ? Size(0) : n * (n + 1) / 2 + d * n + d * (d + 1) / 2;
  };
  // Half, so that sums with n stay within 64 bits.
  if (!diagonal.is_symbol()) diagonal = std::clamp(diagonal.raw(), -beyond_memory / 2, beyond_memory / 2);
  return diagonal <= 0 ? below(diagonal) : n * n - below(-1 - diagonal);
}

/// f(a row's part on and below the diagonal, of all `matrices`; the same elements of all vectors `packed`).
template <class F>
void for_each_packed_row(const Strided& matrices, const Strided& packed, std::int64_t diagonal, const F& f) {
  const int axis = packed.rank - 1;
  const std::int64_t n = matrices.shape[axis];
  const std::int64_t offset = std::clamp(diagonal, -n, n);
  Strides strides(matrices.strides, matrices.strides + packed.rank);
  strides.back() = matrices.strides[axis + 1];
  Strides sizes(packed.shape, packed.shape + packed.rank);
  for (std::int64_t row = 0, place = 0; row < n; ++row) {
    const std::int64_t size = sizes[at(axis)] = std::clamp<std::int64_t>(row + 1 + offset, 0, n);
    if (size == 0) continue;
    void* from = advance(matrices.data, matrices.dtype, row * matrices.strides[axis]);
    void* to = advance(packed.data, packed.dtype, place * packed.strides[axis]);
    f(Strided{from, matrices.dtype, packed.rank, sizes.data(), strides.data()},
      Strided{to, packed.dtype, packed.rank, sizes.data(), packed.strides});
    place += size;
  }
}

struct TrilUnpack;

/// The elements on and below a diagonal of square matrices, row after row.
struct TrilPack {
  using kind = Linear;
  static constexpr const char* name = "tril_pack";
  static constexpr unsigned moves_elements = all_inputs;
  Size diagonal;

  Type type(const Type& x) const {
    require_rank_of_at_least(2, x);
    require_shape({x.shape.back()}, {x.shape[x.shape.size() - 2]});
    Shape shape(x.shape.begin(), x.shape.end() - 1);
    shape.back() = packed_size(x.shape.back(), diagonal);
    return {x.dtype, shape};
  }
  void eval(Outputs out, Inputs in) const {
    for_each_packed_row(in[0], out[0], diagonal,
                        [](const Strided& row, const Strided& packed) { kernels::copy(packed, row); });
  }
  Tensor transpose(const Tensor& ct, const Type& x) const;
  TrilPack lifted() const { return *this; }
  static std::vector<Sample<TrilPack>> samples() {
    return {{{0}, {rand({3, 3})}},         {{-1}, {rand({2, 4, 4})}},    {{1}, {rand({3, 3})}},
            {{0}, {rand({0, 0})}},         {{-5}, {rand({2, 2})}},       {{2}, {rand({2, 2})}},
            {{INT64_MAX}, {rand({2, 2})}}, {{INT64_MIN}, {rand({2, 2})}}};
  }
};

/// Matrices of `rows` rows and columns of zeros, with these elements on and below a diagonal.
struct TrilUnpack {
  using kind = Linear;
  static constexpr const char* name = "tril_unpack";
  static constexpr unsigned moves_elements = all_inputs;
  Size rows, diagonal;

  Type type(const Type& packed) const {
    require_rank_of_at_least(1, packed);
    require_shape({packed.shape.back()}, {packed_size(rows, diagonal)});
    Shape shape = packed.shape;
    shape.back() = rows;
    shape.push_back(rows);
    return {packed.dtype, shape};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::fill(out[0], 0, 0);
    for_each_packed_row(out[0], in[0], diagonal,
                        [](const Strided& row, const Strided& packed) { kernels::copy(row, packed); });
  }
  Tensor transpose(const Tensor& ct) const { return apply(TrilPack{diagonal}, ct); }
  TrilUnpack lifted() const { return *this; }
  static std::vector<Sample<TrilUnpack>> samples() {
    return {{{3, 0}, {rand({6})}}, {{4, -1}, {rand({2, 6})}}, {{3, 1}, {rand({8})}},
            {{0, 0}, {rand({0})}}, {{2, -5}, {rand({0})}},    {{2, 2}, {rand({3, 4})}}};
  }
};

Tensor TrilPack::transpose(const Tensor& ct, const Type& x) const {
  return apply(TrilUnpack{x.shape.back(), diagonal}, ct);
}

Tensor triangle(const char* op, const Tensor& x, bool upper, Size diagonal) {
  require_defined(op, x, 0);
  if (type_of(x).rank() < 2) raise<ValueError>(std::string(op) + ": needs matrices, found " + type_text(x));
  return apply(TriangularPart{upper, diagonal}, x);
}

}  // namespace

namespace ops {

Tensor tril(const Tensor& x) { return triangle("tril", x, false, 0); }
Tensor tril(const Tensor& x, Size diagonal) { return triangle("tril", x, false, diagonal); }
Tensor triu(const Tensor& x) { return triangle("triu", x, true, 0); }
Tensor triu(const Tensor& x, Size diagonal) { return triangle("triu", x, true, diagonal); }

Tensor tril_pack(const Tensor& x) { return tril_pack(x, 0); }
Tensor tril_pack(const Tensor& x, Size diagonal) {
  const Called as("tril_pack", x);
  const Shape shape = type_of(x).shape;
  if (shape.size() < 2 || !(shape.back() == shape[shape.size() - 2]))
    raise<ValueError>("tril_pack: needs square matrices, found " + type_text(x));
  return apply(TrilPack{diagonal}, x);
}

Tensor tril_unpack(const Tensor& packed, Size rows) { return tril_unpack(packed, rows, 0); }
Tensor tril_unpack(const Tensor& packed, Size rows, Size diagonal) {
  const Called as("tril_unpack", packed);
  require_sizes("tril_unpack", {rows, rows});
  const Shape shape = type_of(packed).shape;
  const Size wanted = packed_size(rows, diagonal);
  if (shape.empty() || !(shape.back() == wanted))
    raise<ValueError>("tril_unpack: matrices of " + hint_text(rows) + " rows have " + hint_text(wanted) +
                      " elements on and below diagonal " + hint_text(diagonal) + ", found " + type_text(packed) +
                      "; pass the rows and the diagonal that packed it");
  return apply(TrilUnpack{rows, diagonal}, packed);
}

}  // namespace ops
}  // namespace ricci
