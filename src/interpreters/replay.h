// Drawing again what was drawn before: a function that is computed a second time for its derivative must see the same
// random numbers. Its draws are noted as places in streams, and later given in the same order; no generator is turned
// back, which other threads may share. Both nest, and belong to one thread. Knows nothing of what is drawn.
// Start with `next_draw`.
#pragma once

#include <vector>

#include "interpreters/streams.h"
#include "tensor/value.h"

namespace ricci {

class BatchInterpreter;
class Interpreter;

/// The draws of one run of a function.
struct Draws {
  std::vector<StreamPosition> places;  // in order
  std::vector<Level> runs;             // of vmap, that the function ran under
};

/// The place of the next draw from `generator`: what is drawn again, else the next of the innermost run of vmap, else
/// the generator's own.
StreamPosition next_draw(Generator& generator);

/// Whether what this thread computes is computed again, with the draws that were noted.
bool draws_are_repeated();

/// Whether what this thread computes is computed again, and the first time not under this run of vmap: a pullback may be
/// called under others than its function was. It has no part in the draws.
bool is_new_to_draws(const BatchInterpreter& batch);

/// Where draws come from while it lives: the innermost such source of this thread is asked first. What a recording
/// inside it draws belongs to the runs of the program.
class DrawSource {
 public:
  DrawSource(const DrawSource&) = delete;
  /// The innermost one of this thread; null: there is none, or a recording has begun inside it.
  static DrawSource* current();
  virtual StreamPosition next(Generator& generator) = 0;
  /// Whether draws come from places noted before, here or in a source around it.
  virtual bool repeats() const { return outer_ && outer_->repeats(); }
  virtual bool is_new(const BatchInterpreter& batch) const { return outer_ && outer_->is_new(batch); }

 protected:
  DrawSource();
  ~DrawSource();
  StreamPosition next_of_outer(Generator& generator) const;

 private:
  DrawSource* const outer_;             // the current one when this began
  DrawSource* const resumed_;           // the innermost one again when this ends
  const Interpreter* const recording_;  // the innermost one when this began
};

/// While it lives, the draws of this thread are noted.
class NotedDraws final : public DrawSource {
 public:
  /// Requires: `into` outlives this.
  explicit NotedDraws(Draws& into);
  StreamPosition next(Generator& generator) override;

 private:
  Draws& draws_;
};

/// While it lives, the first draws of this thread are those noted; what is drawn beyond them is new.
class RepeatedDraws final : public DrawSource {
 public:
  /// Requires: `draws` outlives this.
  explicit RepeatedDraws(const Draws& draws);
  StreamPosition next(Generator& generator) override;
  bool repeats() const override { return true; }
  bool is_new(const BatchInterpreter& batch) const override;

 private:
  const Draws& draws_;
  const Level began_;  // vmaps inside it are the function's own
  std::size_t given_ = 0;
};

}  // namespace ricci
