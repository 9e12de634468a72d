// How an operation is packed: a TapeNode, then for each operand its type in brief and what is kept of it. Few elements
// are kept as they are: a number takes 8 bytes, where the array that held it would take 320 and stay out of the cache.
#include "interpreters/tape_nodes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "primitive/interpreter.h"
#include "ricci/primitive/pool.h"

namespace ricci {
namespace {

constexpr std::size_t first_chunk = std::size_t{1} << 11, largest_chunk = std::size_t{1} << 21;  // a huge page
constexpr std::size_t few_bytes = 64;
using ResidualRef = std::shared_ptr<const Residual>;

enum class Keep : std::uint8_t { nothing, value, elements, type_alone };

/// What follows it in memory: if it is on the tape, the node that gave it; then, by `keep`: value, type_alone: a
/// ValueRef. nothing: the sizes. elements: the sizes, then the elements.
struct Operand {
  int parent;  // the slot; -1: not on the tape
  DType dtype;
  Keep keep;
  bool weak;
  std::uint8_t rank;
};
static_assert(sizeof(Operand) == 8 && sizeof(Size) == 8 && sizeof(TapeNode) % 8 == 0);

constexpr std::size_t in_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// The bytes of the elements, where they are few and in row-major order; else 0.
std::size_t few_elements(const Value& value) {
  if (value.kind != ValueKind::array) return 0;
  const auto& array = static_cast<const Array&>(value);
  std::size_t bytes = element_size(array.type.dtype);
  for (Size size : array.type.shape) {
    if (size.raw() < 0 || size.raw() > static_cast<std::int64_t>(few_bytes)) return 0;
    bytes *= static_cast<std::size_t>(size.raw());
    if (bytes > few_bytes) return 0;
  }
  return is_contiguous(array.type.shape, array.strides) ? bytes : 0;
}

struct Packing {
  Keep keep;
  std::size_t elements;  // their bytes
  std::size_t bytes;     // of all: the Operand and what is behind it
};

Packing packing_of(const Value& value, bool kept, bool copies_few, bool has_parent) {
  const std::size_t rank = value.type.shape.size(), head = has_parent ? 16 : 8;
  const std::size_t elements = kept && copies_few ? few_elements(value) : 0;
  if (rank > std::numeric_limits<std::uint8_t>::max()) return {kept ? Keep::value : Keep::type_alone, 0, head + 8};
  if (elements > 0) return {Keep::elements, elements, head + 8 * rank + in_words(elements)};
  if (kept) return {Keep::value, 0, head + 8};
  return {Keep::nothing, 0, head + 8 * rank};
}

std::byte* pack(std::byte* at, const ValueRef& value, const Packing& packing, const TapePlace& parent) noexcept {
  const Type& type = value->type;
  new (at) Operand{.parent = parent.slot,
                   .dtype = type.dtype,
                   .keep = packing.keep,
                   .weak = type.weak,
                   .rank = static_cast<std::uint8_t>(type.shape.size())};
  std::byte* behind = at + sizeof(Operand);
  if (parent.slot >= 0) {
    new (behind) TapeNode*(parent.node);
    behind += sizeof(TapeNode*);
    if (parent.node) ++parent.node->readers;
  }
  if (packing.keep == Keep::value || packing.keep == Keep::type_alone) {
    new (behind) ValueRef(value);
  } else {
    std::memcpy(behind, type.shape.data(), 8 * type.shape.size());
    behind += 8 * type.shape.size();
    if (packing.elements > 0) std::memcpy(behind, static_cast<const Array&>(*value).data, packing.elements);
  }
  return at + packing.bytes;
}

/// Passes over the operands of a node.
class Reader {
 public:
  explicit Reader(const TapeNode& node)
      : at_(const_cast<std::byte*>(reinterpret_cast<const std::byte*>(&node)) + sizeof(TapeNode)) {}

  /// The next operand's type; `kept` is what is kept of it.
  Type next(Tensor& kept) {
    const Operand& operand = here();
    std::byte* const behind = behind_head(operand);
    if (holds_value(operand)) {
      const ValueRef& value = value_at(behind);
      at_ = behind + sizeof(ValueRef);
      if (operand.keep == Keep::value) kept = wrap(value);
      return value->type;
    }
    Type type{operand.dtype, {}, operand.weak};
    const auto* sizes = reinterpret_cast<const Size*>(behind);
    type.shape.append(sizes, sizes + operand.rank);
    at_ = behind + 8 * std::size_t{operand.rank};
    if (operand.keep != Keep::elements) return type;
    ArrayRef array = make_array(type);
    const auto bytes = static_cast<std::size_t>(array->numel()) * element_size(type.dtype);
    std::memcpy(array->data, at_, bytes);
    at_ += in_words(bytes);
    kept = wrap(std::move(array));
    return type;
  }
  int parent() const { return here().parent; }
  const TapeNode* parent_node() const {
    return parent() < 0 ? nullptr : *std::launder(reinterpret_cast<TapeNode**>(at_ + sizeof(Operand)));
  }

  /// Gives up what the next operand holds, and gives the node that it was read from; null if there is none.
  TapeNode* end_next() noexcept {
    const Operand& operand = here();
    std::byte* const behind = behind_head(operand);
    TapeNode* const node =
        operand.parent >= 0 ? *std::launder(reinterpret_cast<TapeNode**>(at_ + sizeof(Operand))) : nullptr;
    if (holds_value(operand)) {
      at_ = behind + sizeof(ValueRef);
      value_at(behind).~ValueRef();
      return node;
    }
    std::size_t bytes = operand.keep == Keep::elements ? element_size(operand.dtype) : 0;
    const auto* sizes = reinterpret_cast<const Size*>(behind);
    for (std::size_t i = 0; i < operand.rank && bytes > 0; ++i) bytes *= static_cast<std::size_t>(sizes[i].raw());
    at_ = behind + 8 * std::size_t{operand.rank} + in_words(bytes);
    return node;
  }
  ResidualRef& residual() const { return *std::launder(reinterpret_cast<ResidualRef*>(at_)); }

 private:
  static bool holds_value(const Operand& o) { return o.keep == Keep::value || o.keep == Keep::type_alone; }
  const Operand& here() const { return *std::launder(reinterpret_cast<const Operand*>(at_)); }
  std::byte* behind_head(const Operand& o) const {
    return at_ + sizeof(Operand) + (o.parent >= 0 ? sizeof(TapeNode*) : 0);
  }
  static ValueRef& value_at(std::byte* at) { return *std::launder(reinterpret_cast<ValueRef*>(at)); }
  std::byte* at_;
};

/// Gives up all that the node holds; `parent` is called with each node that it has read.
template <class F>
void release(TapeNode& node, F parent) noexcept {
  Reader reader(node);
  for (std::uint32_t i = 0; i < node.inputs + node.outputs; ++i)
    if (TapeNode* const read = reader.end_next()) parent(*read);
  if (node.has_residual) reader.residual().~ResidualRef();
  node.parameters = OwnedParameters();
}

}  // namespace

std::byte* TapeNodes::room_for(std::size_t bytes) {
  if (chunk_ && bytes <= static_cast<std::size_t>(chunk_->end - free_)) return free_;
  const auto* const last = reinterpret_cast<const std::byte*>(chunk_);
  const std::size_t grown = chunk_ ? 2 * static_cast<std::size_t>(chunk_->end - last) : first_chunk;
  const std::size_t size = std::max(std::min(grown, largest_chunk), in_words(sizeof(Chunk) + bytes));
  auto* memory = static_cast<std::byte*>(pool::allocate(size));
  chunk_ = new (memory) Chunk{.previous = chunk_, .end = memory + size};
  return free_ = memory + sizeof(Chunk);
}

TapeNode* TapeNodes::add(Added node) {
  SmallVector<Packing, 4> packings;
  std::size_t bytes = sizeof(TapeNode) + (node.residual ? sizeof(ResidualRef) : 0);
  const auto plan = [&](const ValueRef& value, bool kept, bool has_parent) {
    packings.push_back(packing_of(*value, kept, node.copies_few, has_parent));
    bytes += packings.back().bytes;
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    plan(node.inputs[i], keeps_input(node.keeps, i), node.parents[i].slot >= 0);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) plan(node.outputs[i], keeps_output(node.keeps, i), false);

  OwnedParameters parameters(node.op.rules->parameters, node.op.parameters);
  std::byte* at = room_for(bytes);
  last_ = new (at) TapeNode{.previous = last_,
                            .rules = node.op.rules,
                            .parameters = std::move(parameters),
                            .first_slot = node.first_slot,
                            .inputs = static_cast<std::uint32_t>(node.inputs.size()),
                            .outputs = static_cast<std::uint32_t>(node.outputs.size()) & 0x3fffffffU,
                            .has_residual = node.residual != nullptr,
                            .is_dropped = false,
                            .readers = node.holders};
  at += sizeof(TapeNode);
  const Packing* packing = packings.begin();
  for (std::size_t i = 0; i < node.inputs.size(); ++i) at = pack(at, node.inputs[i], *packing++, node.parents[i]);
  for (const ValueRef& output : node.outputs) at = pack(at, output, *packing++, {});
  if (node.residual) {
    new (at) ResidualRef(std::move(node.residual));
    at += sizeof(ResidualRef);
  }
  free_ = at;
  return last_;
}

/// Dropping a node may drop those before it. They may be as many as the tape is long, so they stand in a list and are
/// not reached by recursion.
void TapeNodes::drop(TapeNode& node) noexcept {
  node.next_dropped = nullptr;
  for (TapeNode* first = &node; first;) {
    TapeNode& dropped = *first;
    first = dropped.next_dropped;
    release(dropped, [&first](TapeNode& parent) {
      if (--parent.readers > 0) return;
      parent.next_dropped = first;
      first = &parent;
    });
    dropped.is_dropped = true;
  }
}

void TapeNodes::pop_back() {
  TapeNode* node = last_;
  if (!node->is_dropped) release(*node, [](TapeNode&) {});
  last_ = node->previous;
  node->~TapeNode();
  free_ = reinterpret_cast<std::byte*>(node);
  auto* const first = reinterpret_cast<std::byte*>(chunk_);
  if (free_ != first + sizeof(Chunk)) return;
  Chunk* const before = chunk_->previous;
  pool::release(chunk_, static_cast<std::size_t>(chunk_->end - first));
  chunk_ = before;
  free_ = before ? before->end : nullptr;  // what is left of that one is not used again
}

void TapeNodes::clear() {
  while (last_) pop_back();
}

UnpackedNode TapeNodes::unpack(const TapeNode& node) {
  UnpackedNode unpacked;
  Reader reader(node);
  if (node.inputs > 0) unpacked.first = reader.parent_node();
  for (std::uint32_t i = 0; i < node.inputs; ++i) {
    unpacked.parents.push_back(reader.parent());
    unpacked.inputs.push_back({});
    unpacked.input_types.push_back(reader.next(unpacked.inputs.back()));
  }
  for (std::uint32_t i = 0; i < node.outputs; ++i) {
    unpacked.outputs.push_back({});
    unpacked.output_types.push_back(reader.next(unpacked.outputs.back()));
  }
  unpacked.residual = node.has_residual ? reader.residual().get() : nullptr;
  return unpacked;
}

}  // namespace ricci
