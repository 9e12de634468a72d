// Rows of tables with options, and bags of rows. A bag's sum is `sum_rows`; its greatest elements are read at places
// that a primitive without derivative finds.
#include "ricci/ops/embedding.h"

#include <algorithm>

#include "kernels/bags.h"
#include "kernels/index.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/patterns.h"
#include "ops/reading.h"
#include "ops/row_sums.h"
#include "ops/samples.h"
#include "ops/sums.h"
#include "primitive/called.h"

namespace ricci {
namespace {

/// Inputs: rows [..., n, D], the bag of each [..., n]. Where the greatest element of each bag stands, as
/// kernels::bag_argmax. int64 [..., bags, D].
struct BagArgmax {
  using kind = Explicit;
  static constexpr const char* name = "bag_argmax";
  static constexpr bool locally_constant = true;
  Size bags;

  Type type(const Type& rows, const Type& of) const {
    require_real(name, rows);
    require_floating(name, rows);
    require_rank_of_at_least(2, rows);
    require_dtype(DType::int64, of);
    require_shape(of.shape, Shape(rows.shape.begin(), rows.shape.end() - 1));
    Type type{DType::int64, rows.shape};
    type.shape[type.shape.size() - 2] = bags;
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    if (const auto bad = kernels::find_out_of_range(in[1], 0, bags.host()))
      raise<IndexError>(std::string(name) + ": bag " + std::to_string(*bad) + " is out of range; " +
                        legal_range(0, bags.host() - 1));
    run_computed(ElementOrder::row_major, out, in,
                 [](Outputs places, Inputs x) { kernels::bag_argmax(places[0], x[0], x[1]); });
  }
  BagArgmax lifted() const { return *this; }
  static std::vector<Sample<BagArgmax>> samples() {
    const Tensor bags = tensor({0, 2, 2, 0});
    return {{{3}, {uniform_around_zero({4, 2}), bags}},
            {{3}, {uniform_around_zero({2, 4, 1}), stack({bags, flip(bags, 0)})}},
            {{2}, {uniform_around_zero({0, 2}), zeros({0}, DType::int64)}}};
  }
};

/// Inputs: where bags begin, ascending from 0, [..., bags]. The bag of each of `count` places, [..., count]; 0 where
/// there are no bags.
struct BagsOfPlaces {
  using kind = Explicit;
  static constexpr const char* name = "bags_of_places";
  static constexpr bool locally_constant = true;
  Size count;

  Type type(const Type& begins) const {
    require_dtype(DType::int64, begins);
    require_rank_of_at_least(1, begins);
    require_between(0, count, beyond_memory);
    Type type = begins;
    type.shape.back() = count;
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    run_row_major(out, in, [&](void* result, Inputs given) {
      const Strided& begins = given[0];
      const std::int64_t bags = begins.shape[begins.rank - 1], places = count.host();
      const auto* begin = static_cast<const std::int64_t*>(begins.data);
      auto* bag = static_cast<std::int64_t*>(result);
      for (std::int64_t left = shape_of(begins).numel().host() / std::max<std::int64_t>(bags, 1); left > 0; --left) {
        std::int64_t place = 0;
        for (std::int64_t b = 0; b < bags; ++b) {
          const std::int64_t end = b + 1 < bags ? std::clamp(begin[b + 1], place, places) : places;
          std::fill(bag + place, bag + end, b);
          place = end;
        }
        begin += bags, bag += places;
      }
      if (bags == 0) std::fill_n(bag, shape_of(out[0]).numel().host(), 0);
    });
  }
  BagsOfPlaces lifted() const { return *this; }
  static std::vector<Sample<BagsOfPlaces>> samples() {
    const Tensor begins = tensor({0, 2, 2, 3});
    return {{{5}, {begins}}, {{4}, {stack({begins, tensor({0, 0, 1, 4})})}}, {{3}, {zeros({0}, DType::int64)}}};
  }
};

void require_table(const char* op, const Tensor& weight) {
  if (type_of(weight).rank() != 2)
    raise<ValueError>(std::string(op) + ": the weight " + type_text(weight) + " must have 2 axes");
}

struct OffsetsOfBags {
  static constexpr const char* name = "check_offsets";
  Size indices;       // how many
  bool with_the_end;  // the last offset is the end of the last bag

  void look(const Strided& offsets, const Vmaps& vmaps) const {
    const std::int64_t count = offsets.shape[offsets.rank - 1], most = indices.host();
    std::int64_t i = 0, offset = 0, lowest = 0, highest = 0;
    const std::int64_t place = first_place(offsets, [&](std::int64_t n) {
      const bool is_first = i == 0, is_end = with_the_end && i + 1 == count;
      lowest = is_end ? most : is_first ? 0 : offset;
      highest = is_first ? 0 : most;
      offset = n, i = (i + 1) % count;
      return n < lowest || n > highest;
    });
    if (place < 0) return;
    raise<IndexError>("embedding_bag: offset " + std::to_string(offset) + place_text(place, shape_of(offsets), vmaps) +
                      " is out of range; " + legal_range(lowest, highest) + ": offsets begin with 0, ascend, and " +
                      (with_the_end ? "end with" : "are at most") + " the number of indices");
  }
};

/// The sums of the bags' rows, each times the weight of its index if there are weights: [bags, width].
Tensor bag_sums(const Tensor& index, const Tensor& table, const Tensor& bag, Size bags, const Tensor& weights) {
  const Type type = type_of(table);
  const Tensor places = flatten(index);
  const Tensor factors = weights.defined() ? flatten(weights) : ones({}, {.dtype = type.dtype});
  const IndexPlace told{"embedding_bag", {0}, type.shape, false};
  return naming_the_example(told, {&index, 1}, table, [&] {
    return sum_rows(table, expand(factors, type_of(places).shape), {places, told},
                    {bag, {"embedding_bag", {0}, {bags, type.shape[1]}, false}}, {bags});
  });
}

}  // namespace

namespace ops {

Tensor embedding(const Tensor& index, const Tensor& weight, Size padding_idx) {
  const Called as("embedding", index, weight);
  require_table("embedding", weight);
  const Size padding = wrap_index("embedding", padding_idx, 0, weight);
  const Tensor rows = embedding(index, weight);
  return where(unsqueeze(eq(index, padding), -1), detach(rows), rows);
}

Tensor embedding_bag(const Tensor& index, const Tensor& weight) {
  return embedding_bag(index, weight, EmbeddingBagOptions{});
}
Tensor embedding_bag(const Tensor& index, const Tensor& weight, EmbeddingBagOptions options) {
  const char* op = "embedding_bag";
  const Called as(op, index, weight);
  const int rank = type_of(index).rank();
  require_integers(op, "index", index);
  require_real_floating(op, weight);
  require_table(op, weight);
  word_among(op, "mode", options.mode, {"sum", "mean", "max"});
  if (options.per_sample_weights.defined()) {
    if (options.mode != "sum")
      raise<ValueError>(std::string(op) + ": per_sample_weights go with the mode \"sum\", it is \"" + options.mode +
                        "\"");
    if (!(type_of(options.per_sample_weights).shape == type_of(index).shape))
      raise<ValueError>(std::string(op) + ": per_sample_weights " + type_text(options.per_sample_weights) +
                        " must have the shape of the index " + type_text(index));
  }
  if (rank == 2 ? options.offsets.defined() : rank != 1 || !options.offsets.defined())
    raise<ValueError>(std::string(op) + ": the index " + type_text(index) +
                      " must be [bags, n] without offsets, or [n] with them; offsets are " +
                      type_text(options.offsets));

  // Each index's bag. Indices in no bag have one more, the last, which is left out of the result.
  const Tensor named = require_indices(op, index, 0), places = flatten(named);
  const Size count = type_of(places).shape[0];
  Tensor bag;
  Size bags;
  if (rank == 2) {
    bags = type_of(index).shape[0];
    bag = flatten(expand(unsqueeze(places_along(bags), 1), type_of(index).shape));
  } else {
    require_integers(op, "offsets", options.offsets);
    if (type_of(options.offsets).rank() != 1)
      raise<ValueError>(std::string(op) + ": offsets " + type_text(options.offsets) + " must be a vector");
    const Tensor offsets = to(options.offsets, DType::int64);
    bags = type_of(offsets).shape[0];
    if (options.include_last_offset) {
      if (bags == 0) raise<ValueError>(std::string(op) + ": offsets are empty; include_last_offset wants one at least");
      bags = bags - 1;
    }
    check_elements(op, offsets, OffsetsOfBags{count, options.include_last_offset}, !count.is_symbol());
    bag = apply(BagsOfPlaces{count}, narrow(offsets, 0, 0, bags));
  }
  const bool some_are_in_none = options.padding_idx || bags == 0;
  const Size all = some_are_in_none ? bags + 1 : bags;
  if (options.padding_idx) bag = where(eq(places, wrap_index(op, *options.padding_idx, 0, weight)), Tensor(bags), bag);

  Tensor y;
  if (options.mode == "max") {
    const Tensor rows = flatten(embedding(named, weight), 0, -2);  // [count, width]
    const Tensor best = apply(BagArgmax{all}, rows, bag);          // `count` for a bag without rows, which reads a 0
    y = gather(cat({rows, zeros({1, type_of(rows).shape[1]}, {.dtype = type_of(rows).dtype})}, 0), 0, best);
  } else if (options.mode == "mean") {
    const DType dtype = type_of(weight).dtype, computed = computed_dtype(dtype);
    const bool is_known = rank == 2 && !options.padding_idx;
    const Tensor rows = is_known ? Tensor(type_of(index).shape[1])  // how many
                                 : bag_sums(zeros_like(named), ones({1, 1}, {.dtype = computed}), bag, all, {});
    y = to(bag_sums(named, to(weight, computed), bag, all, {}) / clamp_min(rows, 1), dtype);
  } else {
    y = bag_sums(named, weight, bag, all, options.per_sample_weights);
  }
  return some_are_in_none ? narrow(y, 0, 0, bags) : y;
}

}  // namespace ops
}  // namespace ricci
