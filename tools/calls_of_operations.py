#!/usr/bin/env python3
# A call of every operation, as C++, made of the declarations in include/ricci/ops/*.h: `calls_of_operations.py FILE`
# writes to FILE a line `{"sum", [](const In& in, Tensors& list) { into(list), rc::sum(in.a, in.n); }},` for each
# declaration: with both truth values where it takes one, and also without the arguments that have defaults.
# tests/support/calls_of_operations.cpp says what `in` and `into` are. A declaration with parameters of other types than
# those below is left to that file.
import re
import sys
from pathlib import Path

from operation_index import FUNCTION, SAMPLER, parameters_of, statements, with_defaults

ROOT = Path(__file__).resolve().parent.parent
# The argument for a parameter, by its type.
ARGUMENTS = {
    "std::int64_t": "in.n",
    "Size": "in.n",
    "Bound": "in.n",
    "Sizes": "in.n",
    "ConvPadding": '"same"',
    "Axes": "in.n",
    "I": "in.n",
    "I...": "in.n",
    "std::optional<Size>": "in.n",
    "Shape": "rc::Shape{in.n}",
    "double": "in.x",
    "P": "in.x",
    "DType": "rc::float32",
    "Reduction": "rc::Reduction::mean",
    "TensorOptions": "rc::TensorOptions{}",
    "LikeOptions": "rc::LikeOptions{}",
    "IntegerOptions": "rc::IntegerOptions{}",
    "SizeOptions": "rc::SizeOptions{.size = in.n}",
    "ConvOptions": "rc::ConvOptions{.stride = in.n}",
    "ConvTransposeOptions": "rc::ConvTransposeOptions{.stride = in.n}",
    "UnfoldOptions": "rc::UnfoldOptions{.padding = in.n}",
    "TriangularOptions": "rc::TriangularOptions{.upper = false}",
    "SolveTriangularOptions": "rc::SolveTriangularOptions{.upper = true, .left = false}",
    "LuSolveOptions": "rc::LuSolveOptions{.left = false}",
    "LdlOptions": "rc::LdlOptions{.hermitian = true}",
    "OrmqrOptions": "rc::OrmqrOptions{.left = false}",
    "CrossEntropyOptions": "rc::CrossEntropyOptions{.weight = in.b, .label_smoothing = in.x}",
    "NllLossOptions": "rc::NllLossOptions{.weight = in.b, .ignore_index = in.n}",
    "WeightedLossOptions": "rc::WeightedLossOptions{.weight = in.b}",
    "LogitsLossOptions": "rc::LogitsLossOptions{.weight = in.b, .pos_weight = in.c}",
    "HuberLossOptions": "rc::HuberLossOptions{.delta = in.x, .weight = in.c}",
    "SmoothL1LossOptions": "rc::SmoothL1LossOptions{.beta = in.x}",
    "KlDivOptions": "rc::KlDivOptions{.batch_mean = true}",
    "PoissonLossOptions": "rc::PoissonLossOptions{.log_input = false, .full = true}",
    "GaussianLossOptions": "rc::GaussianLossOptions{.full = true}",
    "MultiMarginLossOptions": "rc::MultiMarginLossOptions{.p = in.n, .weight = in.c}",
    "RreluOptions": "rc::RreluOptions{.lower = in.x, .training = true}",
    "GumbelOptions": "rc::GumbelOptions{.tau = in.x, .hard = true, .dim = in.n}",
    "CovOptions": "rc::CovOptions{.fweights = in.b, .aweights = in.c}",
    "HistogramOptions": "rc::HistogramOptions{.high = in.x, .weight = in.b, .density = true}",
    "GradientOptions": "rc::GradientOptions{.spacing = in.b, .edge_order = in.n}",
    "TripletLossOptions": "rc::TripletLossOptions{.margin = in.x, .swap = true}",
    "SearchOptions": "rc::SearchOptions{.sorter = in.b}",
    "RepeatOptions": "rc::RepeatOptions{.repeats = in.b}",
    "StftOptions": "rc::StftOptions{.hop_length = in.n, .window = in.b}",
    "WindowOptions": "rc::WindowOptions{.dtype = rc::float64}",
    "AttentionOptions": "rc::AttentionOptions{.attn_mask = in.a, .dropout_p = in.x}",
    "MultiHeadAttentionOptions": "rc::MultiHeadAttentionOptions{.in_proj_weight = in.a, .out_proj_weight = in.b}",
    "EmbeddingBagOptions": "rc::EmbeddingBagOptions{.offsets = in.c, .padding_idx = in.n}",
    "RecurrentOptions": "rc::RecurrentOptions{.num_layers = in.n}",
    "CtcLossOptions": "rc::CtcLossOptions{.blank = in.n}",
    "InterpolateOptions": 'rc::InterpolateOptions{.size = in.n, .mode = "bilinear"}',
    "UpsampleOptions": "rc::UpsampleOptions{.scale_factor = in.x}",
    "GridSampleOptions": 'rc::GridSampleOptions{.mode = "bicubic"}',
    "std::string_view": '"ij,jk->ik"',
    "std::vector<Tensor>": "std::vector<Tensor>{in.a, in.b, in.c}",
    "std::vector<Index>": "std::vector<rc::Index>{in.b, in.n}",
    "std::initializer_list<Size>": "{in.n, 1}",
}
TENSORS = ("in.a", "in.b", "in.c")
TRUTH_VALUES = ("bool", "std::same_as<bool> auto")


def argument(parameter, tensors, writes, truth):
    """The argument for `const Axes& dims`; None if there is none. `tensors`: how many of them stand before it."""
    kind = parameter.replace("const ", "").replace("&", "").rpartition(" ")[0].strip()
    if kind == "Tensor":
        text = TENSORS[tensors % len(TENSORS)]
        return f"copy({text})" if writes and tensors == 0 else text
    return truth if kind in TRUTH_VALUES else ARGUMENTS.get(kind)


def call(name, parameters, truth):
    """`rc::sum(in.a, in.n)`, with `truth` for each truth value; None if there is no argument for one."""
    arguments, tensors = [], 0
    for parameter in parameters:
        arguments.append(argument(parameter, tensors, name.endswith(("_", "_out")), truth))
        tensors += "Tensor&" in parameter
    return None if None in arguments else f"rc::{name}({', '.join(arguments)})"


def declarations():
    """(name, parameters with their defaults) of each declaration."""
    for header in sorted((ROOT / "include/ricci/ops").glob("*.h")):
        for _, _, statement in statements(header):
            if match := SAMPLER.match(statement):
                yield match["name"], [f"const Tensor& {name}" for name in parameters_of(match["arguments"])]
            elif (match := FUNCTION.match(statement)) and not match["name"].startswith("operator"):
                yield match["name"], with_defaults(match["arguments"])


def lines():
    for name, parameters in declarations():
        required = [p for p in parameters if "=" not in p]
        forms = (parameters_of(", ".join(parameters)), required)
        for text in {call(name, form, truth) for form in forms for truth in ("false", "true")} - {None}:
            taken = "const In& in" if "in." in text else "const In&"
            yield f'{{"{name}", []({taken}, Tensors& list) {{ into(list), {text}; }}}},\n'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("".join(sorted(set(lines()))))
