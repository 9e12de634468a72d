// ht: the hand tracker's residuals and their Jacobian, by the functions of W14. Points correspond to vertices, or,
// where the input has `us`, to places in triangles.
#include "evals.h"
#include "w14_hand.h"

namespace gradbench {
namespace {

using bench::adbench::Hand;

Hand read_hand(const json& input) {
  const json &data = input.at("data"), &model = data.at("model");
  if (model.at("is_mirrored").get<bool>()) throw std::runtime_error("ht: no data of GradBench has a mirrored hand");
  Hand hand{.model = {.parents = model.at("parents").get<std::vector<int>>(),
                      .relative = read_numbers(model.at("base_relatives")),
                      .inverse = read_numbers(model.at("inverse_base_absolutes")),
                      .vertices = read_numbers(model.at("base_positions")),
                      .weights = read_numbers(model.at("weights")),
                      .triangles = read_integers(model.at("triangles"))},
            .correspondences = read_integers(data.at("correspondences")),
            .points = read_numbers(data.at("points")),
            .theta = read_numbers(input.at("theta"))};
  if (!input.at("us").empty()) hand.places = read_numbers(input.at("us"));
  return hand;
}

}  // namespace

Eval ht() {
  return {{"objective",
           [](const json& input) {
             const Hand hand = read_hand(input);
             if (!hand.places.defined()) return answer(input, bench::hand::simple_residual(hand), hand.theta);
             return answer(input, bench::hand::complicated_residual(hand), hand.theta, hand.places);
           }},
          {"jacobian", [](const json& input) {
             const Hand hand = read_hand(input);
             if (!hand.places.defined())
               return answer(input, rc::jacfwd(bench::hand::simple_residual(hand)), hand.theta);
             return answer(input, bench::hand::complicated_jacobian(hand), hand.theta, hand.places,
                           bench::hand::direction(hand, 1, 0), bench::hand::direction(hand, 0, 1));
           }}};
}

}  // namespace gradbench
