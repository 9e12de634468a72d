// Views by what they do to strides, moves by where they put the numbers of elements.
#include "sparse/moves.h"

#include <algorithm>

namespace ricci::sparse {

std::optional<Shown> shown_by(Op op, const Type& operand) {
  Type type = operand;
  Strides strides = contiguous_strides(type.shape);
  const std::uintptr_t first = std::uintptr_t{1} << 32;
  void* data = reinterpret_cast<void*>(first);
  if (!op.rules->alias(op.parameters, type, strides, data)) return std::nullopt;
  const auto own_bytes = static_cast<std::int64_t>(element_size(operand.dtype)),
             bytes = static_cast<std::int64_t>(element_size(type.dtype));
  const auto begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) - first);
  Shown shown{.first = {}, .count = std::max<std::int64_t>(1, bytes / own_bytes)};
  shown.first.reserve(static_cast<std::size_t>(type.shape.numel().raw()));
  bool is_inside = true;
  for_each_place(type.shape, strides, [&](std::int64_t, std::int64_t place) {
    const std::int64_t from = (begin + place * bytes) / own_bytes;
    is_inside = is_inside && from >= 0 && from + shown.count <= operand.shape.numel().raw();
    shown.first.push_back(from);
  });
  return is_inside ? std::optional(std::move(shown)) : std::nullopt;
}

std::optional<std::vector<std::vector<ElementSource>>> moves_of(Op op, const std::vector<Operand>& operands,
                                                                const Types& results) {
  const unsigned moves = op.rules->moves_elements ? op.rules->moves_elements(op.parameters) : 0;
  if (moves == 0) return std::nullopt;
  std::vector<Strides> strides;
  strides.reserve(operands.size());
  std::vector<Strided> in;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const auto& [type, number] = operands[k];
    if (moves >> k & 1U) {
      strides.push_back(contiguous_strides(type.shape));
      in.push_back({nullptr, DType::int64, type.rank(), type.shape.host(), strides.back().data()});
    } else {
      if (!number) return std::nullopt;
      in.push_back(static_cast<const Array&>(*number).strided());
    }
  }
  return sources_of(op, moves, in, results);
}

Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides own = contiguous_strides(from);
  Strides strides;
  strides.resize(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) strides[to.size() - from.size() + i] = from[i].raw() == 1 ? 0 : own[i];
  return strides;
}

}  // namespace ricci::sparse
