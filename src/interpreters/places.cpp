// The two operations on places. Their values are written in tensors, so that recording is all they need to know of.
#include "interpreters/places.h"

#include <bit>

#include "interpreters/batch.h"
#include "interpreters/record.h"
#include "interpreters/replay.h"
#include "kernels/random.h"

namespace ricci {
namespace {

std::int64_t as_signed(std::uint64_t bits) { return std::bit_cast<std::int64_t>(bits); }
std::uint64_t as_unsigned(std::int64_t bits) { return std::bit_cast<std::uint64_t>(bits); }

Tensor tensor_of(std::uint64_t seed, std::uint64_t position) {
  return tensor(std::vector<std::int64_t>{as_signed(seed), as_signed(position)});
}

/// Told apart by identity: two generators with one seed are not one.
struct GeneratorReference {
  Generator* generator = nullptr;

  void print_parameter(std::string& out) const { out += generator == &default_generator() ? "default" : "own"; }
  void parse_parameter(std::string_view& text) {
    generator = &default_generator();
    parameters::expect(text, "default");
  }
  bool operator==(const GeneratorReference&) const = default;
};

struct TakePlace {
  using kind = Custom;
  static constexpr const char* name = "take_place";
  static constexpr Effect effect = Effect::acts;
  GeneratorReference generator;

  Types type(const Types&) const { return {place_type}; }
  Tensors call(std::span<const Tensor>) const { return {place_of(next_draw(*generator.generator))}; }
};

struct BeginStreams {
  using kind = Custom;
  static constexpr const char* name = "begin_streams";
  static constexpr Effect effect = Effect::acts;
  GeneratorReference generator;
  std::int64_t number;

  Types type(const Types&) const { return {place_type}; }
  Tensors call(std::span<const Tensor>) const {
    StreamScope own(StreamScope::Branch{.number_in_program = as_unsigned(number)});
    return {place_of(start_of_draws(*generator.generator, own.streams()))};
  }
};

struct DerivedPlace {
  using kind = Custom;
  static constexpr const char* name = "derived_place";

  Types type(const Types& place) const {
    if (place.size() != 1 || !(place[0] == place_type)) throw IndexError("takes one place");
    return {place_type};
  }
  Tensors call(std::span<const Tensor> inputs) const {
    const StreamPosition from = position_at(inputs[0]);
    return {tensor_of(kernels::derived_source({from.seed, from.position}, 0, kernels::Purpose::scope).seed, 0)};
  }
};

/// So many draws further on. The number is a parameter: a tensor made of it would be a capture of the program.
struct AdvancedPlace {
  using kind = Custom;
  static constexpr const char* name = "advanced_place";
  std::int64_t count;

  Types type(const Types& place) const { return DerivedPlace().type(place); }
  Tensors call(std::span<const Tensor> inputs) const {
    const StreamPosition from = position_at(inputs[0]);
    return {tensor_of(from.seed, from.position + as_unsigned(count))};
  }
};

}  // namespace

const Type place_type{DType::int64, {2}};

StreamPosition next_position(Generator& generator) {
  if (RecordInterpreter* recording = innermost_recording()) return recording->next_position(generator);
  return {.seed = generator.seed(), .position = generator.next(), .place = {}};
}

bool takes_place_of_draw(const Rules& rules) {
  return &rules == &rules_of<TakePlace> || &rules == &rules_of<BeginStreams>;
}

Tensor take_place(Generator& generator, RecordInterpreter& recording) {
  (void)&registered<TakePlace>;
  const TakePlace take{{&generator}};
  return recording.add_equation({&rules_of<TakePlace>, &take});
}

Tensor begin_streams(Generator& generator, std::uint64_t number, RecordInterpreter& recording) {
  (void)&registered<BeginStreams>;
  const BeginStreams begin{{&generator}, as_signed(number)};
  return recording.add_equation({&rules_of<BeginStreams>, &begin});
}

Tensor derived_place(const Tensor& place) { return apply(DerivedPlace{}, place); }

Tensor place_of(const StreamPosition& position) {
  return position.place.defined() ? advanced_place(position.place, position.position)
                                  : tensor_of(position.seed, position.position);
}

Tensor advanced_place(const Tensor& place, std::uint64_t count) {
  return count == 0 ? place : apply(AdvancedPlace{as_signed(count)}, place);
}

StreamPosition position_at(const Tensor& place) {
  ValueRef value = read(place, "draw");
  while (value->kind == ValueKind::batched) {  // repeated for each of the examples that run
    const AtLevel below(find_interpreter(value->level)->parent);
    const Tensor rows = wrap(static_cast<const Batched&>(*value).value);
    if (rows.size(0) == 0) return {};
    value = read(select(rows, 0, 0), "draw");
  }
  const std::vector<std::int64_t> at = wrap(value).to_vector<std::int64_t>();
  return {.seed = as_unsigned(at[0]), .position = as_unsigned(at[1]), .place = {}};
}

}  // namespace ricci
