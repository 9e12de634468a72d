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
  union {
    const Rules* rules;
    TapeNode* next_dropped;  // while it is being dropped
  };
  OwnedParameters parameters;
  int first_slot;  // of its first output
  std::uint32_t inputs;
  std::uint32_t outputs : 30, has_residual : 1;  // of a custom operation: the residual stands behind the operands
  std::uint32_t is_dropped : 1;                  // nothing is kept of it but its place
  int readers;                                   // who holds an output, and inputs of later nodes
};

/// An output of a node, or an input of the tape.
struct TapePlace {
  TapeNode* node = nullptr;  // null: an input of the tape, or not on it
  int slot = -1;             // -1: not on the tape
};

/// What a node says to those who run it backwards.
struct UnpackedNode {
  Tensors inputs, outputs;  // undefined unless kept
  Types input_types;
  SmallVector<Type, 1> output_types;
  SmallVector<int, 3> parents;      // the inputs' slots; -1 where an input is not tracked
  const TapeNode* first = nullptr;  // the node that gave the first input; null: an input of the tape, or not on it
  const Residual* residual;         // null unless it is of a custom operation
};

/// Adds at its end and passes from there to its beginning. Nodes stay where they are until they are taken off. A node
/// that has no reader left is dropped: it keeps no value and reads no other node.
///   nodes.add({.op = op, …});  for (const TapeNode* n = nodes.last(); n; n = n->previous) … TapeNodes::unpack(*n) …
class TapeNodes {
 public:
  struct Added {
    Op op;
    unsigned keeps;  // of the bits `input(i)` and `output(i)`
    int first_slot;
    std::span<const ValueRef> inputs, outputs;
    std::span<const TapePlace> parents;  // of the inputs
    int holders;                         // of its outputs: one for each that is a reader from the start
    std::shared_ptr<const Residual> residual;
    bool copies_few;  // elements, rather than hold their array: a recording knows what is captured by its array
  };

  TapeNodes() = default;
  TapeNodes(const TapeNodes&) = delete;
  ~TapeNodes() { clear(); }

  TapeNode* add(Added node);  ///< whole or not at all
  const TapeNode* last() const { return last_; }
  /// One reader of the node less; true if that dropped it. Nodes that it alone read are dropped too.
  static bool let_go(TapeNode& node) noexcept { return --node.readers == 0 && (drop(node), true); }
  void pop_back();
  void clear();
  static UnpackedNode unpack(const TapeNode& node);

 private:
  struct Chunk {
    Chunk* previous;
    std::byte* end;  // of the chunk, which is a block of the pool
  };
  std::byte* room_for(std::size_t bytes);
  static void drop(TapeNode& node) noexcept;

  Chunk* chunk_ = nullptr;     // the last
  std::byte* free_ = nullptr;  // in that, behind the last node
  TapeNode* last_ = nullptr;
};

}  // namespace ricci
