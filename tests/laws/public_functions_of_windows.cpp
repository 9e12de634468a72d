// Convolutions, pooling and padding, as the cases of tools/torch_values_of_windows.py call them.
#include <ricci/ops/convolution.h>
#include <ricci/ops/padding.h>
#include <ricci/ops/pooling.h>

#include <limits>

#include "public_functions.h"

namespace laws {
namespace {

namespace rc = ricci;
using X = const List&;
constexpr double inf = std::numeric_limits<double>::infinity();


Table convolutions() {
  return {
      {"conv1d same", [](X x) { return List{conv1d(x[0], x[1], rc::none, 1, "same", 1, 1)}; }},
      {"conv1d whole", [](X x) { return List{conv1d(x[0], x[1], {.stride = 2, .padding = 1})}; }},
      {"conv2d same",
       [](X x) { return List{conv2d(x[0], x[1], x[2], 1, "same", {1, 2}, 2)}; }},
      {"conv2d valid", [](X x) { return List{conv2d(x[0], x[1], rc::none, 1, "valid", 1, 1)}; }},
      {"conv2d whole", [](X x) { return List{conv2d(x[0], x[1])}; }},
      {"conv3d", [](X x) { return List{conv3d(x[0], x[1])}; }},
      {"conv3d of one", [](X x) { return List{conv3d(x[0], x[1], x[2])}; }},
      {"conv3d options", [](X x) { return List{conv3d(x[0], x[1], x[2], {2, 1, 1}, {1, 0, 1}, {1, 2, 1}, 2)}; }},
      {"conv3d same", [](X x) { return List{conv3d(x[0], x[1], rc::none, 1, "same", 1, 1)}; }},
      {"conv_transpose1d", [](X x) { return List{conv_transpose1d(x[0], x[1])}; }},
      {"conv_transpose1d options", [](X x) { return List{conv_transpose1d(x[0], x[1], x[2], 3, 1, 2, 2, 2)}; }},
      {"conv_transpose1d wide output_padding",
       [](X x) { return List{conv_transpose1d(x[0], x[1], {.output_padding = 2, .dilation = 3})}; }},
      {"conv_transpose2d", [](X x) { return List{conv_transpose2d(x[0], x[1])}; }},
      {"conv_transpose2d bias", [](X x) { return List{conv_transpose2d(x[0], x[1], x[2])}; }},
      {"conv_transpose2d options",
       [](X x) { return List{conv_transpose2d(x[0], x[1], rc::none, {2, 1}, {1, 0}, {1, 0}, 2, {1, 2})}; }},
      {"conv_transpose2d complex", [](X x) { return List{conv_transpose2d(x[0], x[1], {.stride = 2})}; }},
      {"conv_transpose3d", [](X x) { return List{conv_transpose3d(x[0], x[1])}; }},
      {"conv_transpose3d options",
       [](X x) {
         return List{conv_transpose3d(
             x[0], x[1], x[2],
             {.stride = 2, .padding = {0, 1, 0}, .output_padding = {1, 0, 1}, .groups = 2, .dilation = {1, 1, 2}})};
       }},
      {"unfold windows", [](X x) { return List{unfold(x[0], 2)}; }},
      {"unfold options", [](X x) { return List{unfold(x[0], {2, 3}, {1, 2}, {0, 2}, {2, 1})}; }},
      {"unfold complex", [](X x) { return List{unfold(x[0], 2, {.padding = 1, .stride = 2})}; }},
      {"fold", [](X x) { return List{fold(x[0], {3, 4}, 2)}; }},
      {"fold options",
       [](X x) { return List{fold(x[0], {4, 3}, {2, 3}, {.dilation = {1, 2}, .padding = {0, 2}, .stride = {2, 1}})}; }},
  };
}

Table maxima() {
  return {
      {"max_pool1d", [](X x) { return List{max_pool1d(x[0], 2)}; }},
      {"max_pool1d options", [](X x) { return List{max_pool1d(x[0], 3, 2, 1, 2)}; }},
      {"max_pool1d ceil", [](X x) { return List{max_pool1d(x[0], 2, 2, 0, 1, true)}; }},
      {"max_pool1d_with_indices", [](X x) { return both(max_pool1d_with_indices(x[0], 3, 1, 1, 1, false)); }},
      {"max_pool1d_with_indices kernel", [](X x) { return both(max_pool1d_with_indices(x[0], 2)); }},
      {"max_pool2d ceil", [](X x) { return List{max_pool2d(x[0], 3, 2, {1, 0}, 1, true)}; }},
      {"max_pool2d ceil wide", [](X x) { return List{max_pool2d(x[0], {4, 3}, {2, 3}, 0, 1, true)}; }},
      {"max_pool2d whole", [](X x) { return List{max_pool2d(x[0], 2)}; }},
      {"max_pool2d_with_indices", [](X x) { return both(max_pool2d_with_indices(x[0], 2)); }},
      {"max_pool2d_with_indices options",
       [](X x) { return both(max_pool2d_with_indices(x[0], 2, {2, 1}, {0, 1}, {1, 2}, true)); }},
      {"max_pool3d", [](X x) { return List{max_pool3d(x[0], 2)}; }},
      {"max_pool3d stride", [](X x) { return List{max_pool3d(x[0], 2, 1)}; }},
      {"max_pool3d padding", [](X x) { return List{max_pool3d(x[0], {1, 2, 3}, {1, 2, 1}, {0, 1, 1})}; }},
      {"max_pool3d dilation", [](X x) { return List{max_pool3d(x[0], 2, 1, 0, {1, 2, 1})}; }},
      {"max_pool3d ceil", [](X x) { return List{max_pool3d(x[0], 2, 2, 0, 1, true)}; }},
      {"max_pool3d_with_indices", [](X x) { return both(max_pool3d_with_indices(x[0], 2)); }},
      {"max_pool3d_with_indices options", [](X x) { return both(max_pool3d_with_indices(x[0], 2, 1, 1, 1, true)); }},
      {"max_unpool1d", [](X x) { return List{max_unpool1d(x[0], x[1], 2)}; }},
      {"max_unpool1d options", [](X x) { return List{max_unpool1d(x[0], x[1], 3, 2, 1)}; }},
      {"max_unpool1d output_size", [](X x) { return List{max_unpool1d(x[0], x[1], 2, 2, 0, 5)}; }},
      {"max_unpool2d", [](X x) { return List{max_unpool2d(x[0], x[1], 2)}; }},
      {"max_unpool2d options", [](X x) { return List{max_unpool2d(x[0], x[1], {2, 3}, {2, 1}, {0, 1})}; }},
      {"max_unpool2d output_size", [](X x) { return List{max_unpool2d(x[0], x[1], 2, {}, 0, {3, 5})}; }},
      {"max_unpool3d", [](X x) { return List{max_unpool3d(x[0], x[1], 2)}; }},
      {"max_unpool3d options", [](X x) { return List{max_unpool3d(x[0], x[1], {1, 2, 2}, {1, 2, 1}, 0)}; }},
      {"max_unpool3d output_size", [](X x) { return List{max_unpool3d(x[0], x[1], 2, {}, 0, {3, 2, 4})}; }},
      {"adaptive_max_pool1d", [](X x) { return List{adaptive_max_pool1d(x[0], 3)}; }},
      {"adaptive_max_pool2d", [](X x) { return List{adaptive_max_pool2d(x[0], {3, 2})}; }},
      {"adaptive_max_pool2d more", [](X x) { return List{adaptive_max_pool2d(x[0], 3)}; }},
      {"adaptive_max_pool3d", [](X x) { return List{adaptive_max_pool3d(x[0], {2, 1, 3})}; }},
      {"adaptive_max_pool1d_with_indices", [](X x) { return both(adaptive_max_pool1d_with_indices(x[0], 3)); }},
      {"adaptive_max_pool2d_with_indices", [](X x) { return both(adaptive_max_pool2d_with_indices(x[0], 2)); }},
      {"adaptive_max_pool3d_with_indices", [](X x) { return both(adaptive_max_pool3d_with_indices(x[0], {2, 2, 1})); }},
      {"fractional_max_pool2d", [](X x) { return List{fractional_max_pool2d(x[0], 2, {3, 4}, x[1])}; }},
      {"fractional_max_pool2d of one", [](X x) { return List{fractional_max_pool2d(x[0], {2, 1}, 2, x[1])}; }},
      {"fractional_max_pool3d", [](X x) { return List{fractional_max_pool3d(x[0], 2, {2, 3, 1}, x[1])}; }},
      {"fractional_max_pool2d_with_indices",
       [](X x) { return both(fractional_max_pool2d_with_indices(x[0], 2, 3, x[1])); }},
      {"fractional_max_pool3d_with_indices",
       [](X x) { return both(fractional_max_pool3d_with_indices(x[0], {1, 2, 3}, 2, x[1])); }},
  };
}

Table means() {
  return {
      {"avg_pool1d", [](X x) { return List{avg_pool1d(x[0], 2)}; }},
      {"avg_pool1d stride", [](X x) { return List{avg_pool1d(x[0], 2, 1)}; }},
      {"avg_pool1d padding", [](X x) { return List{avg_pool1d(x[0], 3, 2, 1)}; }},
      {"avg_pool1d options", [](X x) { return List{avg_pool1d(x[0], 3, 2, 1, true, false)}; }},
      {"avg_pool2d ceil", [](X x) { return List{avg_pool2d(x[0], 3, 2, 1, true, true)}; }},
      {"avg_pool2d inside", [](X x) { return List{avg_pool2d(x[0], 3, 1, 1, false, false)}; }},
      {"avg_pool2d ceil inside", [](X x) { return List{avg_pool2d(x[0], {2, 3}, 2, 1, true, false)}; }},
      {"avg_pool2d divisor", [](X x) { return List{avg_pool2d(x[0], 2, 1, 1, true, false, 3)}; }},
      {"avg_pool2d wide", [](X x) { return List{avg_pool2d(x[0], 4, 1, 2, false, false)}; }},
      {"avg_pool2d wide divisor", [](X x) { return List{avg_pool2d(x[0], 3, {}, 0, false, true, -2)}; }},
      {"avg_pool2d whole", [](X x) { return List{avg_pool2d(x[0], 2)}; }},
      {"avg_pool3d", [](X x) { return List{avg_pool3d(x[0], 2)}; }},
      {"avg_pool3d stride", [](X x) { return List{avg_pool3d(x[0], 2, 1)}; }},
      {"avg_pool3d padding", [](X x) { return List{avg_pool3d(x[0], {1, 2, 3}, {1, 2, 1}, {0, 1, 1})}; }},
      {"avg_pool3d inside", [](X x) { return List{avg_pool3d(x[0], 2, 2, 1, true, false)}; }},
      {"avg_pool3d divisor", [](X x) { return List{avg_pool3d(x[0], 2, 2, 1, true, true, 5)}; }},
      {"lp_pool1d", [](X x) { return List{lp_pool1d(x[0], 2, 3)}; }},
      {"lp_pool1d options", [](X x) { return List{lp_pool1d(x[0], 3.5, 2, 2, true)}; }},
      {"lp_pool2d", [](X x) { return List{lp_pool2d(x[0], 2, {2, 3})}; }},
      {"lp_pool2d options", [](X x) { return List{lp_pool2d(x[0], 1.5, 2, {2, 1}, true)}; }},
      {"lp_pool2d inf", [](X x) { return List{lp_pool2d(x[0], inf, 2)}; }},
      {"lp_pool2d least", [](X x) { return List{lp_pool2d(x[0], -inf, 2)}; }},
      {"lp_pool2d kink", [](X x) { return List{lp_pool2d(x[0], 2, 2)}; }},
      {"lp_pool3d", [](X x) { return List{lp_pool3d(x[0], 2, 2)}; }},
      {"lp_pool3d options", [](X x) { return List{lp_pool3d(x[0], 3, 2, 1, true)}; }},
      {"adaptive_avg_pool1d", [](X x) { return List{adaptive_avg_pool1d(x[0], 3)}; }},
      {"adaptive_avg_pool3d", [](X x) { return List{adaptive_avg_pool3d(x[0], {2, 1, 3})}; }},
      {"adaptive_avg_pool3d more", [](X x) { return List{adaptive_avg_pool3d(x[0], 3)}; }},
  };
}

Table paddings() {
  Table table;
  for (const std::string mode : {"reflect", "replicate", "circular"}) {
    table["pad " + mode] = [=](X x) { return List{pad(x[0], {2, 1}, mode)}; };
    table["pad " + mode + " of planes"] = [=](X x) { return List{pad(x[0], {1, 2, 2, 0}, mode)}; };
    table["pad " + mode + " of volumes"] = [=](X x) { return List{pad(x[0], {1, 1, 0, 1, 1, 0}, mode)}; };
    table["pad " + mode + " cut"] = [=](X x) { return List{pad(x[0], {2, -1}, mode)}; };
  }
  table["pad circular complex"] = [](X x) { return List{pad(x[0], {1, 2}, "circular")}; };
  table["pad constant"] = [](X x) { return List{pad(x[0], {1, 2}, "constant", 7)}; };
  table["pad constant zero"] = [](X x) { return List{pad(x[0], {1, 2}, "constant")}; };
  return table;
}

}  // namespace

const Table& windows() {
  static const Table table = [] {
    Table all = convolutions();
    all.merge(maxima());
    all.merge(means());
    all.merge(paddings());
    return all;
  }();
  return table;
}

}  // namespace laws
