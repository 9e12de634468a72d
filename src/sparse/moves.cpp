// Views by what they do to strides, moves by where they put the numbers of elements.
#include "sparse/moves.h"

#include "tensor/at.h"

namespace ricci::sparse {
namespace {

/// Elements row by row. Requires: int64.
std::vector<std::int64_t> whole_numbers(const Value& number) {
  const auto& array = static_cast<const Array&>(number);
  std::vector<std::int64_t> all(at(array.numel()));
  for_each_place(array.type.shape, array.strides, [&](std::int64_t i, std::int64_t place) {
    all[at(i)] = static_cast<const std::int64_t*>(array.data)[place];
  });
  return all;
}

}  // namespace

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

std::optional<AtNamedPlaces> at_named_places(const AtPlaces& places, const std::vector<Operand>& operands) {
  const std::size_t first_index = places.what == AtPlaces::What::reads ? 1 : 2;
  const Shape &table = operands[0].type.shape, &index = operands[first_index].type.shape;
  if (table.empty()) return std::nullopt;
  std::vector<std::size_t> axes;  // that the indices name
  if (places.axis) axes.push_back(at(*places.axis));
  else
    for (std::size_t k = 0; k + first_index < operands.size(); ++k) axes.push_back(k);
  AtNamedPlaces named{.unknown = std::vector<bool>(table.size()), .table = {}, .others = {}};
  std::vector<std::vector<std::int64_t>> numbers;
  Shape known = table;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const ValueRef& number = operands[first_index + k].number;
    numbers.push_back(number ? whole_numbers(*number) : std::vector<std::int64_t>());
    if (number) continue;
    named.unknown[axes[k]] = true;
    known[axes[k]] = 1;
  }
  const Strides strides = contiguous_strides(known);
  const std::int64_t count = index.numel().raw();
  std::int64_t elements = 1;  // that one index names
  Strides of_index;
  if (places.axis) {
    of_index = strides;
    of_index[axes[0]] = 0;
  } else {
    elements = Shape(table.begin() + std::ssize(axes), table.end()).numel().raw();
    of_index.resize(index.size(), 0);
  }
  bool is_inside = true;
  for_each_place(index, of_index, [&](std::int64_t i, std::int64_t place) {
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (named.unknown[axes[k]]) continue;
      const std::int64_t size = table[axes[k]].raw();
      std::int64_t n = numbers[k][at(i)];
      if (n < 0 && places.wraps) n += size;
      is_inside = is_inside && n >= 0 && n < size;
      place += n * strides[axes[k]];
    }
    for (std::int64_t r = 0; r < elements; ++r) named.table.push_back(place + r);
  });
  if (!is_inside) return std::nullopt;
  if (first_index == 2 && places.axis) {  // the values may be more than the indices
    for_each_place(index, contiguous_strides(operands[1].type.shape),
                   [&](std::int64_t, std::int64_t place) { named.others.push_back(place); });
  } else {
    for (std::int64_t i = 0; i < count * elements; ++i) named.others.push_back(i);
  }
  return named;
}

Groups groups_along(const Shape& shape, const std::vector<bool>& axes) {
  const Strides own = contiguous_strides(shape);
  Shape gone, kept;
  Strides along, apart;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    (axes[i] ? gone : kept).push_back(shape[i]);
    (axes[i] ? along : apart).push_back(own[i]);
  }
  Groups groups;
  for_each_place(kept, apart, [&](std::int64_t, std::int64_t place) { groups.begins.push_back(place); });
  for_each_place(gone, along, [&](std::int64_t, std::int64_t place) { groups.offsets.push_back(place); });
  return groups;
}

Lines lines_of(const ProductAxes& axes, const Shape& operand, bool is_left) {
  const std::size_t rank = operand.size();
  const int core = axes.is_outer ? 1 : is_left ? axes.left : axes.right;
  Lines lines{.summed = {}, .shape = Shape(operand.begin(), operand.end() - core)};
  if (!axes.is_outer) lines.summed = is_left || core == 1 ? rank - 1 : rank - 2;
  const Size length = axes.is_outer ? operand[rank - 1] : core == 1 ? Size(1) : operand[rank - (is_left ? 2 : 1)];
  lines.shape.push_back(is_left ? length : Size(1));
  lines.shape.push_back(is_left ? Size(1) : length);
  return lines;
}

Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides own = contiguous_strides(from);
  Strides strides;
  strides.resize(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) strides[to.size() - from.size() + i] = from[i].raw() == 1 ? 0 : own[i];
  return strides;
}

}  // namespace ricci::sparse
