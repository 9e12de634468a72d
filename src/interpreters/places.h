// Where the draws of a recorded program come from: a place, the seed and the position of a draw, is a value of the
// program like any other, int64 [2]. So a program draws anew each time it runs, and what is computed twice for a
// derivative draws the same. Knows nothing of what is drawn. Start with `next_position`.
#pragma once

#include "interpreters/streams.h"
#include "ricci/primitive.h"
#include "ricci/type.h"

namespace ricci {

/// Of a place: int64 [2].
extern const Type place_type;

/// The generator's next position; where a program is recorded, one that the program takes each time it runs.
StreamPosition next_position(Generator& generator);

/// An equation of the recording: the place of the next draw from `generator`, which it takes. Requires: `generator`
/// outlives all programs that hold the operation.
Tensor take_place(Generator& generator, RecordInterpreter& recording);
/// An equation of the recording: where the streams of a conditional or loop begin, outside which the program has none.
/// It takes the place of the next draw; where the program runs inside streams, these are those of the conditional or
/// loop that has this number in the program. Requires: as `take_place`.
Tensor begin_streams(Generator& generator, std::uint64_t number, RecordInterpreter& recording);
/// Whether an operation is one of these two. Others act each time they run as well (Effect::acts), but draw nothing.
bool takes_place_of_draw(const Rules& rules);
/// The start of a stream of its own, that no other place leads to.
Tensor derived_place(const Tensor& place);
/// A position as a value of the program.
Tensor place_of(const StreamPosition& position);
/// `count` draws further on.
Tensor advanced_place(const Tensor& place, std::uint64_t count);
/// What the place is. Requires: it is not recorded, and the same for all examples that run.
StreamPosition position_at(const Tensor& place);

}  // namespace ricci
