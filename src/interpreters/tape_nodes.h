// The operations of a tape, packed one behind the other: what a small one leaves is a hundred bytes. Knows nothing of
// interpreters, and no rule but which operands an operation wants kept. Start with `TapeNodes`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ricci/primitive.h"
#include "tensor/value.h"

namespace ricci {

/// One operation of a tape as it was recorded. Its operands, inputs first, stand behind it in memory.
struct TapeNode {
  TapeNode* previous;
  const Rules* rules;
  OwnedParameters parameters;
  int first_slot;  // of its first output
  std::uint32_t inputs, outputs;
  bool has_residual;  // of a custom operation: it stands behind the operands
};

/// What a node says to those who run it backwards.
struct UnpackedNode {
  Tensors inputs, outputs;  // undefined unless kept
  Types input_types;
  SmallVector<Type, 1> output_types;
  SmallVector<int, 3> parents;  // the inputs' slots; -1 where an input is not tracked
  const Residual* residual;     // null unless it is of a custom operation
};

/// Adds at its end and passes from there to its beginning. Nodes stay where they are until they are taken off.
///   nodes.add({.op = op, …});  for (const TapeNode* n = nodes.last(); n; n = n->previous) … TapeNodes::unpack(*n) …
class TapeNodes {
 public:
  struct Added {
    Op op;
    unsigned keeps;  // of the bits `input(i)` and `output(i)`
    int first_slot;
    std::span<const ValueRef> inputs, outputs;
    std::span<const int> parents;
    std::shared_ptr<const Residual> residual;
    bool copies_few;  // elements, rather than hold their array: a recording knows what is captured by its array
  };

  TapeNodes() = default;
  TapeNodes(const TapeNodes&) = delete;
  ~TapeNodes() { clear(); }

  void add(Added node);  ///< whole or not at all
  const TapeNode* last() const { return last_; }
  void pop_back();
  void clear();
  static UnpackedNode unpack(const TapeNode& node);

 private:
  struct Chunk {
    Chunk* previous;
    std::byte* end;  // of the chunk, which is a block of the pool
  };
  std::byte* room_for(std::size_t bytes);

  Chunk* chunk_ = nullptr;     // the last
  std::byte* free_ = nullptr;  // in that, behind the last node
  TapeNode* last_ = nullptr;
};

}  // namespace ricci
