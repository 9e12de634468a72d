// The sizes of one call of a program: what its symbols are. Each is computed once a call, also where the steps of a
// loop ask for it again and again. Start with `CallSizes`.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "primitive/origin.h"
#include "ricci/primitive/parameters.h"
#include "tensor/symbols.h"

namespace ricci {

/// Numbers, or symbols of the recording that the call is made in.
class CallSizes {
 public:
  /// `inputs`: the sizes of the call's inputs, in their order.
  CallSizes(std::shared_ptr<const SymbolTable> table, std::vector<Size> inputs);

  const SymbolTable& table() const { return *table_; }
  const std::shared_ptr<const SymbolTable>& shared_table() const { return table_; }
  std::span<const Size> inputs() const { return inputs_; }
  /// What a size of the program is in this call. Any thread may ask.
  Size of(Size size) const;
  /// The sizes of the same call, where the visitor edits those of the inputs.
  std::shared_ptr<const CallSizes> edited(ParameterVisitor& edits) const;

 private:
  static constexpr std::int64_t unknown = INT64_MAX - 1;
  std::shared_ptr<const SymbolTable> table_;
  std::vector<Size> inputs_;
  mutable std::vector<std::atomic<std::int64_t>> known_;  // by symbol
};

/// For errors; null: sizes are what they are around.
inline SizesOfRun sizes_of_run(const CallSizes* sizes) {
  return sizes ? SizesOfRun{&sizes->table(), sizes->inputs()} : SizesOfRun{};
}

/// Puts the sizes of a call among parameters. Programs there are not copied: they take the sizes along.
class PutSizes final : public ParameterVisitor {
 public:
  explicit PutSizes(const std::shared_ptr<const CallSizes>& sizes) : ParameterVisitor(Mode::edits), sizes_(sizes) {}
  void size(Size& size) override { size = sizes_->of(size); }
  void program(Program& program) override;

 private:
  const std::shared_ptr<const CallSizes>& sizes_;
};

}  // namespace ricci
