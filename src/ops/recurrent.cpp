// Recurrent cells and layers, made of products, activations and `scan`. A layer multiplies all inputs by their weights
// at once; a step of the scan adds the product of the state. Start with `step`.
#include "ops/axes.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/control/scan.h"
#include "ricci/ops/random.h"
#include "ricci/ops/recurrent.h"

namespace ricci {
namespace {

enum class Unit : std::uint8_t { tanh, relu, gru, lstm };

std::int64_t gates_of(Unit cell) { return cell == Unit::lstm ? 4 : cell == Unit::gru ? 3 : 1; }

/// The state of a cell: {h}, or {h, c} of an lstm.
using State = std::vector<Tensor>;

struct Weights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;  // biases and projection may be undefined
};

/// The state after one step, from the weighted input.
State step(Unit cell, const Tensor& weighted, const State& state, const Weights& w) {
  const Tensor& h = state[0];
  const Tensor of_state = linear(h, w.w_hh, w.b_hh);
  if (cell == Unit::tanh) return {tanh(weighted + of_state)};
  if (cell == Unit::relu) return {relu(weighted + of_state)};
  if (cell == Unit::gru) {
    const std::vector<Tensor> x = chunk(weighted, 3, -1), y = chunk(of_state, 3, -1);
    const Tensor r = sigmoid(x[0] + y[0]), z = sigmoid(x[1] + y[1]), n = tanh(x[2] + r * y[2]);
    return {n + z * (h - n)};
  }
  const std::vector<Tensor> gates = chunk(weighted + of_state, 4, -1);
  const Tensor c = sigmoid(gates[1]) * state[1] + sigmoid(gates[0]) * tanh(gates[2]);
  const Tensor y = sigmoid(gates[3]) * tanh(c);
  return {w.w_hr.defined() ? linear(y, w.w_hr) : y, c};
}

void require_shape_of(const char* op, const std::string& what, const Tensor& x, const Shape& shape) {
  if (!(type_of(x).shape == shape))
    raise<ValueError>(std::string(op) + ": " + what + " is " + type_text(x) + "; it must be " + to_string(shape));
}

/// Throws unless weights of these names fit an input of `inputs` numbers and a state of `hidden` ones, of which `given`
/// are given to the next step.
void require_weights(const char* op, Unit cell, const Weights& w, Size inputs, Size hidden, Size given,
                     const std::string& behind) {
  const Size rows = gates_of(cell) * hidden;
  require_shape_of(op, "w_ih" + behind, w.w_ih, {rows, inputs});
  require_shape_of(op, "w_hh" + behind, w.w_hh, {rows, given});
  if (w.b_ih.defined()) require_shape_of(op, "b_ih" + behind, w.b_ih, {rows});
  if (w.b_hh.defined()) require_shape_of(op, "b_hh" + behind, w.b_hh, {rows});
  if (w.w_hr.defined()) require_shape_of(op, "w_hr" + behind, w.w_hr, {given, hidden});
}

void require_states(const char* op, Unit cell, const State& hx) {
  if (cell == Unit::lstm && hx.size() != 2)
    raise<ValueError>(std::string(op) + ": hx must be {h, c}, it has " + count_of(hx.size(), "tensor", "tensors"));
  for (std::size_t i = 0; i < hx.size(); ++i) {
    require_defined(op, hx[i], 1);
    require_real_floating(op, hx[i]);
  }
}

State run_cell(const char* op, Unit cell, const Tensor& input, const State& hx, const Weights& w) {
  const Called as(op, input, w.w_ih, w.w_hh);
  require_real_floating(op, input);
  require_states(op, cell, hx);
  const Shape& shape = type_of(input).shape;
  if (shape.size() != 1 && shape.size() != 2)
    raise<ValueError>(std::string(op) + ": the input is " + type_text(input) + "; it must be [N, inputs] or [inputs]");
  if (type_of(hx[0]).rank() == 0)
    raise<ValueError>(std::string(op) + ": hx is " + type_text(hx[0]) + "; it must be [N, hidden] or [hidden]");
  const Size hidden = type_of(hx[0]).shape.back();
  Shape state = shape;
  state.back() = hidden;
  for (const Tensor& x : hx) require_shape_of(op, "hx", x, state);
  require_weights(op, cell, w, shape.back(), hidden, hidden, "");
  return step(cell, linear(input, w.w_ih, w.b_ih), hx, w);
}

/// Outputs [L, N, H] of one layer in one direction, and its last state.
std::pair<Tensor, State> run_layer(Unit cell, const Tensor& input, const State& first, const Weights& w,
                                   bool backwards) {
  const auto [last, outputs] = scan(
      [&](const State& state, const Tensor& weighted) {
        State after = step(cell, weighted, state, w);
        const Tensor y = after[0];
        return std::pair{std::move(after), y};
      },
      first, linear(input, w.w_ih, w.b_ih), {.reverse = backwards});
  return {outputs, last};
}

struct Ran {
  Tensor outputs;
  State last;
};

Ran run(const char* op, Unit cell, const Tensor& input, const State& hx, const std::vector<Tensor>& params,
        const RecurrentOptions& options) {
  const Called as(op, input);
  require_real_floating(op, input);
  require_states(op, cell, hx);
  const int rank = type_of(input).rank();
  if (rank != 2 && rank != 3)
    raise<ValueError>(std::string(op) + ": the input is " + type_text(input) +
                      "; it must be [L, N, inputs] ([N, L, inputs] with batch_first), or [L, inputs] of one example");
  if (options.num_layers < 1)
    raise<ValueError>(std::string(op) + ": num_layers is " + std::to_string(options.num_layers) +
                      "; it must be at least 1");
  for (std::size_t i = 0; i < params.size(); ++i)
    if (!params[i].defined())
      raise<ValueError>(std::string(op) + ": weight " + std::to_string(i) + " of params is undefined");
  const std::int64_t directions = options.bidirectional ? 2 : 1, runs = options.num_layers * directions;
  const std::int64_t own = options.has_biases ? 4 : 2, given = static_cast<std::int64_t>(params.size());
  const bool projects = cell == Unit::lstm && given == runs * (own + 1);
  const std::int64_t each = own + (projects ? 1 : 0);
  if (given != runs * each)
    raise<ValueError>(std::string(op) + ": params holds " + count_of(given, "weight", "weights") + "; " +
                      count_of(runs, "layer and direction", "layers and directions") + " with " + std::to_string(own) +
                      " weights each take " + std::to_string(runs * own));

  const bool one_example = rank == 2;
  Tensor x = one_example ? unsqueeze(input, 1) : options.batch_first ? transpose(input, 0, 1) : input;  // [L, N, I]
  State first = hx;
  if (one_example)
    for (Tensor& state : first) {
      if (type_of(state).rank() != 2)
        raise<ValueError>(std::string(op) + ": hx is " + type_text(state) + "; it must be [" + std::to_string(runs) +
                          ", hidden], as the input has no axis of examples");
      state = unsqueeze(state, 1);
    }
  const Size examples = type_of(x).shape[1];
  for (const Tensor& state : first) {
    const Size numbers = type_of(state).rank() > 0 ? type_of(state).shape.back() : Size(1);
    require_shape_of(op, "hx", state, {runs, examples, numbers});
  }
  const Size put_out = type_of(first[0]).shape[2], hidden = type_of(first.back()).shape[2];
  if (!projects && !(put_out == hidden))
    raise<ValueError>(std::string(op) + ": h is " + type_text(hx[0]) + ", c is " + type_text(hx.back()) +
                      "; they must have one shape without a projection");

  std::vector<State> last;
  for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t number = layer * directions + direction;
      const auto weight = [&](std::int64_t i) { return i < each ? params[at(number * each + i)] : Tensor(); };
      const Weights w{weight(0), weight(1), options.has_biases ? weight(2) : Tensor(),
                      options.has_biases ? weight(3) : Tensor(), projects ? weight(each - 1) : Tensor()};
      require_weights(op, cell, w, type_of(x).shape[2], hidden, put_out,
                      " of layer " + std::to_string(layer) + (direction == 1 ? ", backwards," : ""));
      State begin;
      for (const Tensor& state : first) begin.push_back(select(state, 0, number));
      auto [y, end] = run_layer(cell, x, begin, w, direction == 1);
      outputs.push_back(y);
      last.push_back(end);
    }
    x = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
    if (options.train && options.dropout != 0 && layer + 1 < options.num_layers) x = dropout(x, options.dropout, true);
  }
  Ran result{one_example ? squeeze(x, 1) : options.batch_first ? transpose(x, 0, 1) : x, {}};
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<Tensor> of_all;
    for (const State& state : last) of_all.push_back(state[i]);
    const Tensor states = stack(of_all, 0);
    result.last.push_back(one_example ? squeeze(states, 1) : states);
  }
  return result;
}

std::pair<Tensor, Tensor> run_one(const char* op, Unit cell, const Tensor& input, const Tensor& hx,
                                  const std::vector<Tensor>& params, const RecurrentOptions& options) {
  const Ran result = run(op, cell, input, {hx}, params, options);
  return {result.outputs, result.last[0]};
}

}  // namespace

namespace ops {

#define RICCI_DEFINE_RECURRENT(op, kind)                                                                              \
  Tensor op##_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh) {                   \
    return op##_cell(input, hx, w_ih, w_hh, {}, {});                                                                  \
  }                                                                                                                   \
  Tensor op##_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, \
                   const Tensor& b_hh) {                                                                              \
    return run_cell(#op "_cell", kind, input, {hx}, {w_ih, w_hh, b_ih, b_hh, {}})[0];                                 \
  }                                                                                                                   \
  std::pair<Tensor, Tensor> op(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params) {            \
    return run_one(#op, kind, input, hx, params, {});                                                                 \
  }                                                                                                                   \
  std::pair<Tensor, Tensor> op(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params,              \
                               RecurrentOptions options) {                                                            \
    return run_one(#op, kind, input, hx, params, options);                                                            \
  }
RICCI_DEFINE_RECURRENT(rnn_tanh, Unit::tanh)
RICCI_DEFINE_RECURRENT(rnn_relu, Unit::relu)
RICCI_DEFINE_RECURRENT(gru, Unit::gru)
#undef RICCI_DEFINE_RECURRENT

std::pair<Tensor, Tensor> lstm_cell(const Tensor& input, const std::vector<Tensor>& hx, const Tensor& w_ih,
                                    const Tensor& w_hh) {
  return lstm_cell(input, hx, w_ih, w_hh, {}, {});
}
std::pair<Tensor, Tensor> lstm_cell(const Tensor& input, const std::vector<Tensor>& hx, const Tensor& w_ih,
                                    const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  const State state = run_cell("lstm_cell", Unit::lstm, input, hx, {w_ih, w_hh, b_ih, b_hh, {}});
  return {state[0], state[1]};
}
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const std::vector<Tensor>& hx,
                                        const std::vector<Tensor>& params) {
  return lstm(input, hx, params, RecurrentOptions{});
}
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const std::vector<Tensor>& hx,
                                        const std::vector<Tensor>& params, RecurrentOptions options) {
  const Ran result = run("lstm", Unit::lstm, input, hx, params, options);
  return {result.outputs, result.last[0], result.last[1]};
}

}  // namespace ops
}  // namespace ricci
