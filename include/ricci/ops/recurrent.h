// Recurrent networks, and the loss of sequences without alignment. Element types are real and floating.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "ricci/ops/nn.h"

namespace ricci {

/// `{.num_layers = 2, .bidirectional = true}`
struct RecurrentOptions {
  bool has_biases = true;       ///< params hold b_ih and b_hh
  std::int64_t num_layers = 1;  ///< each reads what the one before it gave
  double dropout = 0;           ///< of what layers but the last give, where `train`
  bool train = false;           ///< as PyTorch's functions; its modules say true while they are trained
  bool bidirectional = false;   ///< each layer runs forwards and backwards; the results stand side by side
  bool batch_first = false;     ///< inputs and outputs are [N, L, …]
};

/// `{.blank = 0, .reduction = rc::Reduction::sum}`
struct CtcLossOptions {
  Size blank = 0;              ///< the class between labels
  Reduction reduction = Reduction::mean;
  bool zero_infinity = false;  ///< a loss that is infinite, as its target has no alignment, counts as 0
};

namespace ops {

// ── one step: input [N, I] or [I], hx [N, H] or [H], w_ih [G H, I], w_hh [G H, H], biases [G H] or undefined ──

/// tanh(w_ih x + b_ih + w_hh h + b_hh), and the same with relu. G = 1. ValueError for shapes that do not fit.
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh);
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                     const Tensor& b_hh);
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh);
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                     const Tensor& b_hh);
/// (1 - z) n + z h, with the gates r and z = σ(w_ih x + b_ih + w_hh h + b_hh) and n = tanh(w_ih x + b_ih +
/// r (w_hh h + b_hh)), whose weights stand in this order; G = 3. Cho et al., 2014, as PyTorch has it.
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh);
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                const Tensor& b_hh);
/// h' = σ(o) tanh(c') and c' = σ(f) c + σ(i) tanh(g), with i, f, g, o = w_ih x + b_ih + w_hh h + b_hh in this order;
/// G = 4. hx holds h and c. Hochreiter and Schmidhuber, 1997.
///   auto [h, c] = rc::lstm_cell(x, {h, c}, w_ih, w_hh, b_ih, b_hh);
std::pair<Tensor, Tensor> lstm_cell(const Tensor& input, const std::vector<Tensor>& hx, const Tensor& w_ih,
                                    const Tensor& w_hh);
std::pair<Tensor, Tensor> lstm_cell(const Tensor& input, const std::vector<Tensor>& hx, const Tensor& w_ih,
                                    const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh);

// ── layers: the cells along a sequence, by `scan` ──

/// The outputs [L, N, D H] of the last layer, D = 2 if bidirectional, else 1, and the last states [layers D, N, H].
/// input is [L, N, I], hx the first states [layers D, N, H]; one example has no axis N. params holds w_ih, w_hh and, if
/// they have biases, b_ih and b_hh, for each layer and direction in turn, as PyTorch's modules list them. ValueError
/// for other shapes or another number of weights; with dropout errors as `dropout`.
///   auto [y, h] = rc::gru(x, h0, {w_ih, w_hh, b_ih, b_hh}, {.batch_first = true});
std::pair<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params);
std::pair<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params,
                                   RecurrentOptions options);
std::pair<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params);
std::pair<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params,
                                   RecurrentOptions options);
std::pair<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params);
std::pair<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params,
                              RecurrentOptions options);
/// The same with two states, hx = {h, c}: outputs, last h, last c. One more weight behind those of each layer and
/// direction, [P, H], projects h to P numbers.
///   auto [y, h, c] = rc::lstm(x, {h0, c0}, {w_ih, w_hh, b_ih, b_hh});
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const std::vector<Tensor>& hx,
                                        const std::vector<Tensor>& params);
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const std::vector<Tensor>& hx,
                                        const std::vector<Tensor>& params, RecurrentOptions options);

// ── loss ──

/// -log of the probability that a sequence of classes, of which repeated ones and then blanks are left out, is the
/// target: the sum over all alignments. log_probs [T, N, C] holds logarithms of probabilities; targets [N, S], padded,
/// or [S₀ + S₁ + …], one after the other; input_lengths and target_lengths [N] say how much of each counts. One example
/// has no N. [N], or reduced; the mean is that of the losses over their targets' lengths. The gradient is that by
/// log_probs, as they are given (PyTorch's takes them for the result of log_softmax, and agrees behind one); that of an
/// infinite loss is 0. Targets one after the other must be known, for the longest one gives a size; padded ones may
/// differ between examples of a vmap and between runs of a program. Graves, Fernández, Gomez and Schmidhuber,
/// "Connectionist temporal classification", 2006. ValueError for shapes that do not fit, TypeError unless log_probs are
/// floating and the others integers, IndexError for a class that is not in [0, C).
///   Tensor loss = rc::ctc_loss(rc::log_softmax(x, -1), targets, input_lengths, target_lengths);
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths);
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, CtcLossOptions options);

}  // namespace ops
}  // namespace ricci
