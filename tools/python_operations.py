#!/usr/bin/env python3
# The Python side of every operation, made of the declarations in include/ricci/ops/*.h, keys.h and the methods of
# tensor.h: `python_operations.py FOLDER PARTS` writes operations_0.cpp … with a function for each overload and a
# table for each name, with the signatures as its doc. Overloads of one name become one signature. What Python adds is
# here, PyTorch's names of arguments and the defaults that C++ expresses by shorter overloads, and in
# python/src/forms.h, PyTorch's forms that C++ has not.
import re
import sys
from pathlib import Path

import check_methods
from operation_index import SAMPLER, statements, with_defaults

ROOT = Path(__file__).resolve().parent.parent
HEADERS = [*sorted((ROOT / "include/ricci/ops").glob("*.h")), ROOT / "include/ricci/keys.h"]
FORMS = ROOT / "python/src/forms.h"

# C++ type → kind, how the argument is taken from a call, and its type in Python.
KINDS = {
    "Tensor": ("tensor", "Tensor"),
    "In": ("tensor", "Tensor"),
    "Key": ("key", "Key"),
    "Axes": ("axes", "Ints"),
    "Shape": ("shape", "Ints"),
    "Sizes": ("sizes", "Ints"),
    "ConvPadding": ("sizes", "Ints"),  # a word is another form: python/src/forms.h
    "std::int64_t": ("integer", "int"),
    "I": ("integer", "int"),
    "Size": ("size", "int"),
    "Bound": ("bound", "int"),
    "std::optional<Size>": ("optional_size", "int | None"),
    "double": ("number", "float"),
    "P": ("number", "float"),
    "bool": ("boolean", "bool"),
    "std::same_as<bool> auto": ("boolean", "bool"),
    "std::vector<Tensor>": ("tensors", "Sequence[TensorLike]"),
    "std::vector<Index>": ("indices", "Any"),
    "std::string_view": ("text", "str"),
    "DType": ("dtype", "DType"),
    "Reduction": ("reduction", "str"),
    "std::string": ("text", "str"),
    "std::pair<Axes, Axes>": ("axes_pair", "tuple[Ints, Ints]"),
    "std::optional<DType>": ("dtype", "DType"),
    "std::optional<std::string>": ("text", "str"),
    "std::optional<Axes>": ("axes", "Ints"),
    "std::optional<double>": ("number", "float"),
    "std::optional<bool>": ("boolean", "bool"),
    "std::vector<double>": ("numbers", "float | Sequence[float]"),
    "Terms": ("terms", "Sequence[TensorLike | Sequence[int]]"),
    "OnlyDevice": ("device", "device | str"),
}
REDUCTION, CLASS_WEIGHT = ("reduction", "reduction", '"mean"'), ("weight", "tensor", "None")
TAKEN_BY_VALUE = {"integer", "size", "bound", "number", "boolean", "reduction", "key", "tensors", "indices"}
TEXTS = {"text", "reduction"}
# Those of which C++ has a value for "not given".
OPTIONAL = re.compile(r"std::optional<(DType|std::string|Axes|double|bool)>$")
# Options, as keyword-only arguments: (name, kind, default) of each, and how they are put together: by a member of Call,
# or, if None, from fields of these names.
OPTIONS = {
    "TensorOptions": ([("dtype", "dtype", "None"), ("generator", "generator", "None")], "tensor_options"),
    "LikeOptions": ([("dtype", "dtype", "None"), ("generator", "generator", "None")], "like_options"),
    "IntegerOptions": ([("dtype", "dtype", "None"), ("generator", "generator", "None")], "integer_options"),
    "RandomOptions": ([("generator", "generator", "None")], "random_options"),
    "SizeOptions": ([("size", "size", None), ("fill", "tensor", "None")], "size_options"),
    "TriangularOptions": (
        [("upper", "boolean", "True"), ("transpose", "boolean", "False"), ("unitriangular", "boolean", "False")],
        "triangular_options",
    ),
    "SolveTriangularOptions": (
        [("upper", "boolean", "True"), ("left", "boolean", "True"), ("unitriangular", "boolean", "False")],
        None,
    ),
    "LuSolveOptions": ([("left", "boolean", "True"), ("adjoint", "boolean", "False")], None),
    "LdlOptions": ([("hermitian", "boolean", "False")], None),
    "OrmqrOptions": ([("left", "boolean", "True"), ("transpose", "boolean", "False")], None),
    "CrossEntropyOptions": (
        [CLASS_WEIGHT, ("ignore_index", "integer", "-100"), REDUCTION, ("label_smoothing", "number", "0.0")],
        None,
    ),
    "NllLossOptions": ([CLASS_WEIGHT, ("ignore_index", "integer", "-100"), REDUCTION], None),
    "WeightedLossOptions": ([CLASS_WEIGHT, REDUCTION], None),
    "LogitsLossOptions": ([CLASS_WEIGHT, REDUCTION, ("pos_weight", "tensor", "None")], None),
    "HuberLossOptions": ([REDUCTION, ("delta", "number", "1.0"), CLASS_WEIGHT], None),
    "SmoothL1LossOptions": ([REDUCTION, ("beta", "number", "1.0")], None),
    "PoissonLossOptions": (
        [("log_input", "boolean", "True"), ("full", "boolean", "False"), ("eps", "number", "1e-8"), REDUCTION],
        None,
    ),
    "RreluOptions": (
        [
            ("lower", "number", "0.125"),
            ("upper", "number", "0.3333333333333333"),
            ("training", "boolean", "False"),
        ],
        None,
    ),
    "GumbelOptions": (
        [
            ("tau", "number", "1.0"),
            ("hard", "boolean", "False"),
            ("dim", "integer", "-1"),
        ],
        None,
    ),
    "CovOptions": (
        [("correction", "size", "1"), ("fweights", "tensor", "None"), ("aweights", "tensor", "None")],
        None,
    ),
    "HistogramOptions": (
        [
            ("low", "number", "0.0"),
            ("high", "number", "0.0"),
            ("weight", "tensor", "None"),
            ("density", "boolean", "False"),
        ],
        None,
    ),
    "StftOptions": (
        [
            ("hop_length", "optional_size", "None"),
            ("win_length", "optional_size", "None"),
            ("window", "tensor", "None"),
            ("center", "boolean", "True"),
            ("pad_mode", "text", '"reflect"'),
            ("normalized", "boolean", "False"),
            ("onesided", "boolean", "True"),
        ],
        None,
    ),
    "WindowOptions": ([("periodic", "boolean", "True"), ("dtype", "dtype", "None")], "window_options"),
    "GaussianLossOptions": ([("full", "boolean", "False"), ("eps", "number", "1e-6"), REDUCTION], None),
    "MultiMarginLossOptions": (
        [("p", "integer", "1"), ("margin", "number", "1.0"), CLASS_WEIGHT, REDUCTION],
        None,
    ),
    "TripletLossOptions": (
        [
            ("margin", "number", "1.0"),
            ("p", "number", "2.0"),
            ("eps", "number", "1e-6"),
            ("swap", "boolean", "False"),
            REDUCTION,
        ],
        None,
    ),
}
ANNOTATIONS = {kind: text for kind, text in KINDS.values()} | {"generator": "Generator", "tensor": "TensorLike"}

# PyTorch's names, where they are not the headers'. By operation, or by it and the number of its parameters: their names
# in order, as far as they differ.
NAMES = {
    "add": "input other",
    "sub": "input other",
    "mul": "input other",
    "div": "input other",
    "where": "condition input other",
    "pow": "input exponent",
    "addcmul": "input tensor1 tensor2",
    "addcmul_": "self tensor1 tensor2",
    "addcdiv_": "self tensor1 tensor2",
    "addmm_": "self mat1 mat2",
    "atan2_": "self other",
    "copysign_": "self other",
    "xlogy_": "self other",
    "clamp_min_": "self min",
    "clamp_max_": "self max",
    "copy_": "self src",
    "new_full": "self size fill_value",
    "full": "size fill_value",
    "full_like": "input fill_value",
    "flatten": "input start_dim end_dim",
    "as_strided": "input size stride storage_offset",
    "split": "input split_size_or_sections dim",
    "tensor_split": "input indices_or_sections dim",
    "index_add": "input dim index source",
    "index_add_": "self dim index source",
    "index_put": "input indices values accumulate",
    "index_put_": "self indices values accumulate",
    "multinomial": "input num_samples replacement",
    "bernoulli": "input",
    "poisson": "input size",
    "binomial": "count prob size",
    "addcdiv": "input tensor1 tensor2",
    "lerp": "input end weight",
    "copysign": "input other",
    "xlogy": "input other",
    "atan2": "input other",
    "clamp": "input min max",
    "clamp_": "self min max",
    "add_": "self other",
    "sub_": "self other",
    "mul_": "self other",
    "div_": "self other",
    "clamp_min": "input min",
    "clamp_max": "input max",
    "complex": "real imag",
    "mm": "input mat2",
    "bmm": "input mat2",
    "mv": "input vec",
    "dot": "input tensor",
    "vdot": "input other",
    "outer": "input vec2",
    "addmm": "input mat1 mat2",
    "tensordot": "a b dims",
    "linear": "input weight bias",
    "cholesky_solve": "input input2",
    "solve": "A B",
    "solve_triangular": "input B",
    "cholesky_inverse": "input upper",
    "lu_unpack": "LU_data LU_pivots",
    "lu_solve": "LU pivots B",
    "ldl_solve": "LD pivots B",
    "solve_ex": "A B",
    "lstsq": "A B",
    "tensorsolve": "A B dims",
    "vecdot": "x y dim",
    "vander": "x N",
    "triangular_solve": "input A",
    "transpose": "input dim0 dim1",
    "flip": "input dims",
    "permute": "input dims",
    "roll": "input shifts dims",
    "movedim": "input source destination",
    "expand": "input size",
    "take_along_dim": "input indices",
    "searchsorted": "sorted_sequence input",
    "diag": "input diagonal",
    "meshgrid": "tensors",
    "masked_select": "input mask",
    "slice_scatter": "input src dim start end",
    "select_scatter": "input src dim index",
    "diagonal_scatter": "input src offset dim1 dim2",
    "multi_dot": "tensors",
    "embedding": "input weight",
    "one_hot": "input num_classes",
    "group_norm": "input num_groups",
    "nll_loss": "input target",
    "pairwise_distance": "x1 x2",
    "cosine_similarity": "x1 x2",
    "cdist": "x1 x2",
    "bilinear": "input1 input2 weight bias",
    "dist": "input other p",
    "hardtanh": "input min_val max_val",
    "hardshrink": "input lambd",
    "softshrink": "input lambd",
    "renorm": "input p dim maxnorm",
    "histc": "input bins min max",
    "trapezoid": "y x dim",
    "cumulative_trapezoid": "y x dim",
    "addmv": "input mat vec",
    "addr": "input vec1 vec2",
    "addbmm": "input batch1 batch2",
    "baddbmm": "input batch1 batch2",
    "index_copy": "input dim index source",
    "isin": "elements test_elements",
    "bucketize": "input boundaries right",
    "scatter_reduce": "input dim index src reduce include_self",
    "index_reduce": "input dim index source reduce include_self",
    "nextafter": "input other",
    "igamma": "input other",
    "igammac": "input other",
    "betainc": "a b x",
    "zeta": "input other",
    "kaiser_window": "window_length beta",
    **{f"{w}_window": "window_length" for w in "hann hamming blackman nuttall bartlett cosine".split()},
    "istft": "input n_fft",
    "quantile": "input q dim keepdim interpolation",
    "nanquantile": "input q dim keepdim interpolation",
    "heaviside": "input values",
    "float_power": "input exponent",
    "ldexp": "input other",
    "logaddexp2": "input other",
    "xlog1py": "input other",
    "polar": "abs angle",
    "histogram": "input bins",
    "unravel_index": "indices shape",
    "tril_indices": "row col offset",
    "triu_indices": "row col offset",
    "rms_norm": "input normalized_shape weight eps",
    "normal": "mean std size",
    "cross": "input other",
    "kron": "input other",
    "beta": "a b",
    "unsqueeze": "input dim",
    "tile": "input dims",
    "repeat": "input repeats",
    "einsum": "equation operands",
    "block_diag": "tensors",
    "cartesian_prod": "tensors",
    "slice": "input dim start end step",
    ("unfold", 4): "input dimension size step",
}
RENAMED = {"x": "input", "dims": "dim", "kernel": "kernel_size", "shape": "size", "from": "source", "to": "destination"}
# Arguments that are given by name, for PyTorch has others in their places.
NAMED = {
    "cross_entropy": {"reduction"},
    "nll_loss": {"reduction"},
    "binary_cross_entropy": {"reduction"},
    "binary_cross_entropy_with_logits": {"reduction"},
}
# Operations that take `out`: those of these headers, and of others these. Some of torch.nn.functional take `inplace`.
OUT_HEADERS = {"compare", "create", "decompositions", "elementwise", "fft", "index", "linalg", "reduce"}
OUT = (
    "cat stack tril triu diag kron rand randn randint randperm normal bernoulli multinomial hstack vstack dstack "
    "column_stack index_copy renorm hardshrink softshrink heaviside signbit isposinf isneginf float_power ldexp "
    "logaddexp2 logit polar erfinv mvlgamma nansum nanmean nanmedian msort quantile nanquantile histc diff "
    "addmv addr addbmm baddbmm index_reduce scatter_reduce bucketize cummax cummin mode gcd lcm nextafter frexp sinc "
    "logspace i0 igamma igammac"
).split()
NO_OUT = "index embedding one_hot real imag detach clone to positive view_as_real view_as_complex linear".split()
INPLACE = (
    "relu leaky_relu elu silu threshold dropout feature_dropout alpha_dropout feature_alpha_dropout hardtanh relu6 "
    "hardsigmoid hardswish rrelu selu celu mish"
).split()
KEEPS_SHAPE = {"reshape"}  # PyTorch says shape, not size
# What a shorter overload leaves out, by operation and by name in Python, as it reads in Python.
KEEPDIM, LAST, FIRST, MEAN = {"dim": "None", "keepdim": "False"}, {"dim": "-1"}, {"dim": "0"}, {"reduction": '"mean"'}
FOURIER = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
NORM = {"norm": '"backward"'}
AXES = ["1d", "2d", "3d"]
CONVOLUTION = {"bias": "None", "stride": "1", "padding": "0", "dilation": "1", "groups": "1"}
WINDOWS = {"dilation": "1", "padding": "0", "stride": "1"}
MAX_POOL = {"stride": "None", "padding": "0", "dilation": "1", "ceil_mode": "False"}
AVG_POOL = {"stride": "None", "padding": "0", "ceil_mode": "False", "count_include_pad": "True"}
DEFAULTS = {
    "sum": KEEPDIM,
    "mean": KEEPDIM,
    "amax": KEEPDIM,
    "amin": KEEPDIM,
    "any": KEEPDIM,
    "all": KEEPDIM,
    "logsumexp": KEEPDIM,
    "prod": {"keepdim": "False"},
    "argmax": {"keepdim": "False"},
    "argmin": {"keepdim": "False"},
    "var": KEEPDIM | {"correction": "1"},
    "std": KEEPDIM | {"correction": "1"},
    "norm": {"p": "2.0", "dim": "None", "keepdim": "False"},
    "vector_norm": {"ord": "2.0", "dim": "None", "keepdim": "False"},
    "max": {"keepdim": "False"},
    "min": {"keepdim": "False"},
    "sort": LAST | {"descending": "False"},
    "argsort": LAST | {"descending": "False"},
    "topk": LAST | {"largest": "True"},
    "unbind": FIRST,
    "split": FIRST,
    "chunk": FIRST,
    "tensor_split": FIRST,
    "cat": FIRST,
    "stack": FIRST,
    "cross": {},
    "diagonal": {"offset": "0", "dim1": "0", "dim2": "1"},
    "diag_embed": {"offset": "0", "dim1": "-2", "dim2": "-1"},
    "flatten": {"start_dim": "0", "end_dim": "-1"},
    "tril": {"diagonal": "0"},
    "triu": {"diagonal": "0"},
    "tril_pack": {"diagonal": "0"},
    "tril_unpack": {"diagonal": "0"},
    "slice": {"start": "None", "end": "None", "step": "1"},
    "as_strided": {"storage_offset": "0"},
    "diagonal_scatter": {"offset": "0", "dim1": "0", "dim2": "1"},
    "roll": {"dims": "None"},
    "index_put": {"accumulate": "False"},
    "index_put_": {"accumulate": "False"},
    "isclose": {"rtol": "1e-5", "atol": "1e-8", "equal_nan": "False"},
    "allclose": {"rtol": "1e-5", "atol": "1e-8", "equal_nan": "False"},
    "leaky_relu": {"negative_slope": "0.01"},
    "elu": {"alpha": "1.0"},
    "softplus": {"beta": "1.0", "threshold": "20.0"},
    "clamp": {"min": "None", "max": "None"},
    "clamp_": {"min": "None", "max": "None"},
    **{f"conv{axes}": CONVOLUTION for axes in AXES},
    **{f"conv_transpose{axes}": CONVOLUTION | {"output_padding": "0"} for axes in AXES},
    "unfold": WINDOWS,
    "fold": WINDOWS,
    **{f"max_pool{axes}{indices}": MAX_POOL for axes in AXES for indices in ("", "_with_indices")},
    **{f"avg_pool{axes}": AVG_POOL for axes in AXES},
    **{f"lp_pool{axes}": {"stride": "None", "ceil_mode": "False"} for axes in AXES},
    **{f"max_unpool{axes}": {"stride": "None", "padding": "0", "output_size": "None"} for axes in AXES},
    "layer_norm": {"weight": "None", "bias": "None", "eps": "1e-5"},
    "group_norm": {"weight": "None", "bias": "None", "eps": "1e-5"},
    "batch_norm": {"weight": "None", "bias": "None", "training": "False", "momentum": "0.1", "eps": "1e-5"},
    "instance_norm": {
        "running_mean": "None",
        "running_var": "None",
        "weight": "None",
        "bias": "None",
        "use_input_stats": "True",
        "momentum": "0.1",
        "eps": "1e-5",
    },
    "linear": {"bias": "None"},
    "tensordot": {"dims": "2"},
    "huber_loss": {"delta": "1.0", "reduction": '"mean"'},
    "solve_triangular": {"upper": "True"},
    "dropout": {"p": "0.5", "training": "True"},
    "feature_dropout": {"p": "0.5", "training": "True"},
    "alpha_dropout": {"p": "0.5", "training": "True"},
    "feature_alpha_dropout": {"p": "0.5", "training": "True"},
    "mse_loss": MEAN,
    "l1_loss": MEAN,
    "cross_entropy": MEAN,
    "nll_loss": MEAN,
    "binary_cross_entropy": MEAN,
    "binary_cross_entropy_with_logits": MEAN,
    "soft_margin_loss": MEAN,
    "multilabel_margin_loss": MEAN,
    "margin_ranking_loss": MEAN | {"margin": "0.0"},
    "hinge_embedding_loss": MEAN | {"margin": "1.0"},
    "cosine_embedding_loss": MEAN | {"margin": "0.0"},
    "linear_cross_entropy": {"linear_bias": "None"},
    "pairwise_distance": {"p": "2.0", "eps": "1e-6", "keepdim": "False"},
    "cdist": {"p": "2.0"},
    "pdist": {"p": "2.0"},
    "cosine_similarity": {"dim": "1", "eps": "1e-8"},
    "normalize": {"p": "2.0", "dim": "1", "eps": "1e-12"},
    "local_response_norm": {"alpha": "1e-4", "beta": "0.75", "k": "1.0"},
    "rms_norm": {"weight": "None", "eps": "None"},
    "bilinear": {"bias": "None"},
    "dist": {"p": "2.0"},
    "hardtanh": {"min_val": "-1.0", "max_val": "1.0"},
    "hardshrink": {"lambd": "0.5"},
    "softshrink": {"lambd": "0.5"},
    "celu": {"alpha": "1.0"},
    "glu": {"dim": "-1"},
    "aminmax": {"keepdim": "False"},
    "var_mean": KEEPDIM | {"correction": "1"},
    "std_mean": KEEPDIM | {"correction": "1"},
    "nansum": KEEPDIM,
    "nanmean": KEEPDIM,
    "kthvalue": LAST | {"keepdim": "False"},
    "quantile": {"keepdim": "False", "interpolation": '"linear"'},
    "nanquantile": {"keepdim": "False", "interpolation": '"linear"'},
    "bincount": {"weights": "None", "minlength": "0"},
    "histc": {"min": "0.0", "max": "0.0"},
    "diff": {"n": "1", "dim": "-1", "prepend": "None", "append": "None"},
    "trapezoid": {"x": "1", "dim": "-1"},
    "cumulative_trapezoid": {"x": "1", "dim": "-1"},
    "rot90": {"k": "1"},
    "diagflat": {"offset": "0"},
    "scatter_reduce": {"include_self": "True"},
    "index_reduce": {"include_self": "True"},
    "bucketize": {"right": "False"},
    "mode": LAST | {"keepdim": "False"},
    "combinations": {"r": "2", "with_replacement": "False"},
    "put": {"accumulate": "False"},
    "as_strided_scatter": {"offset": "0"},
    "tril_indices": {"offset": "0"},
    "triu_indices": {"offset": "0"},
    "multinomial": {"replacement": "False"},
    "arange": {"step": "1"},
    "normal_": {"mean": "0", "std": "1"},
    "uniform_": {"low": "0", "high": "1"},
    "log_normal_": {"mean": "1", "std": "2"},
    "exponential_": {"rate": "1"},
    "cauchy_": {"median": "0", "sigma": "1"},
    "tril_": {"diagonal": "0"},
    "triu_": {"diagonal": "0"},
    "gamma": {"rate": "1"},
    **{name: {"n": "None", "dim": "-1"} | NORM for name in FOURIER},
    **{name + axes: {"s": "None", "dim": "None"} | NORM for name in FOURIER for axes in ("2", "n")},
    "cholesky": {"upper": "False"},
    "cholesky_solve": {"upper": "False"},
    "cholesky_ex": {"upper": "False"},
    "cholesky_inverse": {"upper": "False"},
    "svd": {"full_matrices": "False"},
    "qr": {"mode": '"reduced"'},
    "schur": {"output": '"real"'},
    "svd_lowrank": {"q": "6", "niter": "2"},
    "pca_lowrank": {"q": "None", "center": "True", "niter": "2"},
    "pinv": {"rtol": "None"},
    "matrix_rank": {"rtol": "None"},
    "matrix_norm": {"ord": '"fro"', "keepdim": "False"},
    "condition_number": {"p": "2.0"},
    "tensorinv": {"ind": "2"},
    "tensorsolve": {"dims": "None"},
    "vecdot": {"dim": "-1"},
    "vander": {"N": "None"},
    "kaiser_window": {"beta": "12.0"},
    "affine_grid": {"align_corners": "False"},
    **{f"{name}_cell": {"b_ih": "None", "b_hh": "None"} for name in ("rnn_tanh", "rnn_relu", "gru", "lstm")},
    "fftshift": {"dim": "None"},
    "ifftshift": {"dim": "None"},
    "fftfreq": {"d": "1.0"},
    "rfftfreq": {"d": "1.0"},
}
# core.cpp, not for users, or of functions of C++
NOT_HERE = {
    "tensor",
    "copy_of_elements",
    "from_blob",
    "extreme_along",
    "require_length",
    "histogram_of_bins",
    "histogramdd",
    "triplet_margin_with_distance_loss",
}
REPLACED = {"eigh", "eigvalsh", "solve", "solve_triangular"}
REPLACED |= set(
    "scaled_dot_product_attention multi_head_attention_forward embedding embedding_bag rnn_tanh rnn_relu gru lstm "
    "pad gradient ctc_loss interpolate upsample_nearest upsample_bilinear grid_sample".split()
)  # by a form, which takes all that its overloads take
# Forms of names that C++ has not: functions that are methods too, and methods.
ADDED = "argwhere ravel".split()
ADDED_METHODS = "detach_ squeeze_ t_ transpose_ unsqueeze_".split()
KEYS_OWN = {"split", "fold_in"}  # of keys.h: python/src/random.cpp
# Overloads that a form says, by number of parameters, or by a dtype among these.
SAID_BY_FORMS = {("median", 3), ("tensordot", 4), ("addmm", 5)}
TAKE_DTYPE = {"sum", "mean", "prod", "cumsum", "cumprod", "softmax", "log_softmax"}
SHORTER_BY_DEFAULTS = {("huber_loss", 3)}  # overloads, by number of parameters, that defaults make superfluous
# Their axes or Tensors may be given one by one, as every shape may.
SEVERAL = {"permute", "flip", "einsum", "meshgrid", "block_diag", "broadcast_tensors", "cartesian_prod"}
OWN_METHODS = {"where", "polygamma"}  # whose tensor is not the first argument of the function of that name
BOUND_BY_HAND = set("size dim numel strides stride data item index T mT mH H real imag".split())  # slots.cpp
RETURNS = {
    "Tensor",
    "const Tensor&",
    "bool",
    "std::pair<Tensor, Tensor>",
    "std::tuple<Tensor, Tensor, Tensor>",
    "std::vector<Tensor>",
    "OneOrSeveral",
    "Rebound",
}
WRITTEN_OUT = {"Tensor", "std::pair<Tensor, Tensor>", "std::tuple<Tensor, Tensor, Tensor>"}  # results that `out` gets
# The named tuples of several results, with the names of PyTorch's, and what gives them.
RESULT_TYPES = {
    "ValuesAndIndices": (
        "values indices",
        "max min sort topk median nanmedian kthvalue cummax cummin mode max_pool1d_with_indices "
        "max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices "
        "adaptive_max_pool3d_with_indices fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices",
    ),
    "MinAndMax": ("min max", "aminmax"),
    "VarianceAndMean": ("var mean", "var_mean"),
    "DeviationAndMean": ("std mean", "std_mean"),
    "HistogramAndEdges": ("hist bin_edges", "histogram"),
    "MantissaAndExponent": ("mantissa exponent", "frexp"),
    "ValuesAndInverse": ("values inverse_indices", "unique_inverse"),
    "ValuesAndCounts": ("values counts", "unique_counts"),
    "SignAndLogabsdet": ("sign logabsdet", "slogdet"),
    "EigenvaluesAndEigenvectors": ("eigenvalues eigenvectors", "eigh eig"),
    "PermutedLu": ("P L U", "lu lu_unpack"),
    "LuAndPivots": ("LU pivots", "lu_factor"),
    "LuPivotsAndInfo": ("LU pivots info", "lu_factor_ex"),
    "LdAndPivots": ("LD pivots", "ldl_factor"),
    "LdPivotsAndInfo": ("LD pivots info", "ldl_factor_ex"),
    "InverseAndInfo": ("inverse info", "inv_ex"),
    "ResultAndInfo": ("result info", "solve_ex"),
    "CholeskyAndInfo": ("L info", "cholesky_ex"),
    "OrthogonalAndTriangular": ("Q R", "qr"),
    "PackedReflections": ("a tau", "geqrf"),
    "PolarFactors": ("U H", "polar_decomposition"),
    "SchurForm": ("T Z", "schur"),
    "SingularValuesOfLowRank": ("U S V", "svd_lowrank pca_lowrank"),
    "SingularValueDecomposition": ("U S Vh", "svd"),
    "OutputAndWeights": ("output weights", "multi_head_attention_forward"),
    "OutputAndState": ("output hn", "rnn_tanh rnn_relu gru"),
    "OutputAndStates": ("output hn cn", "lstm"),
    "LstmState": ("h c", "lstm_cell"),
}
RESULT_TYPE_OF = {name: i for i, (_, names) in enumerate(RESULT_TYPES.values()) for name in names.split()}
MORE = {}  # name → what `takes` gives
# New tensors: they take PyTorch's words for where a tensor lies.
FACTORIES = (
    "zeros ones empty full zeros_like ones_like empty_like full_like eye arange linspace logspace geomspace tri "
    "tril_indices triu_indices fftfreq rfftfreq rand randn randint randperm rand_like randn_like randint_like "
    "hann_window hamming_window blackman_window nuttall_window bartlett_window cosine_window general_cosine_window "
    "general_hamming_window exponential_window gaussian_window kaiser_window new_zeros new_ones new_empty new_full "
    "new_empty_strided"
).split()
TAKE_MEMORY_FORMAT = "clone contiguous to".split()
REPLACED_TEXTS = {}  # of those that are replaced by a form
ORDER = [
    "key",
    "boolean",
    "integer",
    "size",
    "bound",
    "optional_size",
    "number",
    "numbers",
    "text",
    "dtype",
    "reduction",
    "generator",
    "axes",
    "axes_pair",
    "shape",
    "sizes",
    "tensors",
    "indices",
    "terms",
    "device",
    "tensor",
]  # what decides between overloads first
DECLARATION = re.compile(r"^(?:inline )?(?P<result>[\w:<>, ]+?[>&]?) (?P<name>[a-z]\w*)\((?P<rest>.*)$")
METHOD = re.compile(r"^(?P<result>[\w:<>, ]+?&?) (?P<name>\w+)\((?P<rest>.*)$")


class Parameter:
    def __init__(self, name, kind, default=None, keyword_only=False, several=False, annotation=None):
        self.name, self.kind, self.default = name, kind, default
        self.keyword_only, self.several = keyword_only, several
        self.annotation = annotation or ANNOTATIONS[kind]
        self.flag = None  # the one of call.h, for several arguments
        self.is_optional = False  # whether C++ has a value for "not given" besides those of the kind

    def python(self):
        kinds = self.annotation.split(" | ") + (["None"] if self.default == "None" else [])
        annotation = " | ".join(dict.fromkeys(kinds))
        return f"{self.name}: {annotation}" + (f" = {self.default}" if self.default is not None else "")


def place(name, kind, default, annotation, flag):
    parameter = Parameter(name, kind, default, keyword_only=True, annotation=annotation)
    parameter.flag = flag
    return parameter


PLACE = [
    place("device", "device", "None", "device | str", "takes_device"),  # layout and pin_memory are not shown
    place("requires_grad", "boolean", "False", "bool", "takes_requires_grad"),
    place("memory_format", "text", "None", "Any", "takes_memory_format"),
]


class Overload:
    """One declaration: its parameters in Python, and the C++ that calls it with them."""

    def __init__(self, name, result, declared, call, text="", is_form=False):
        self.name, self.result, self.text, self.call = name, result, text, call
        self.is_form, self.is_named = is_form, False
        self.parameters, self.arguments = [], []  # of Python; expressions of C++
        for p in declared:
            self.add(p)
        for i, p in enumerate(self.parameters):  # one that is needed behind it would get nothing
            p.several &= all(q.keyword_only or q.default is not None for q in self.parameters[i + 1 :])
        if is_form:
            return
        names = NAMES.get((name, len(self.parameters)), NAMES.get(name, "")).split()
        is_keyed = any(p.kind == "key" for p in self.parameters)
        for parameter, new in zip(self.parameters, [] if is_keyed else names):
            if not parameter.keyword_only:
                parameter.name = new
        for p in self.parameters:
            p.keyword_only |= p.name in NAMED.get(name, ())
            default = DEFAULTS.get(name, {}).get(p.name)
            if p.default is None and (default in (None, "None") or default.startswith('"') == (p.kind in TEXTS)):
                p.default = default

    def add(self, declaration):
        declaration, _, literal = (part.strip() for part in declaration.partition(" ="))
        if declaration == "Named":
            self.is_named = True
            self.arguments.append("ricci::python::forms::Named()")
            return
        if declaration in OPTIONS or declaration.split()[0] in OPTIONS:
            parameters, put_together = OPTIONS[declaration.split()[0]]
            first = len(self.parameters)
            for n, kind, default in parameters:
                by_name = n != "weight" or "reduction" not in NAMED.get(self.name, ())
                self.parameters.append(Parameter(n, kind, default, keyword_only=by_name))
            if put_together:
                self.arguments.append(f"c.{put_together}({first})")
                return
            fields = [f".{p.name} = {taken(p, first + i)}" for i, p in enumerate(self.parameters[first:])]
            self.arguments.append(f"{declaration.split()[0]}{{{', '.join(fields)}}}")
            return
        kind_text, _, name = declaration.rpartition(" ")
        kind_text = kind_text.replace("const ", "").replace("&", "").strip()
        kind = KINDS[kind_text][0]
        if self.is_form:
            default = PYTHON_LITERALS.get(literal, literal) or None
            several = kind in ("axes", "tensors", "terms") and self.name in SEVERAL
            self.parameters.append(Parameter(name, kind, default, self.is_named, several))
            optional = "optional_" if OPTIONAL.match(kind_text) else ""
            self.parameters[-1].is_optional = bool(optional)
            self.arguments.append(f"c.{optional}{kind}({len(self.parameters) - 1})")
            return
        if not (name == "shape" and self.name in KEEPS_SHAPE):
            name = RENAMED.get(name, name)
        first_two = [p.name for p in self.parameters]
        if name == "a" and self.name not in NAMES and not self.parameters and kind == "tensor":
            name = "input"
        if name == "b" and first_two == ["input"] and kind == "tensor":
            name = "other"
        if name in first_two:
            raise SystemExit(f"{self.name} has two arguments {name} in Python: name them in NAMES")
        several = kind == "shape" or (kind in ("axes", "tensors") and self.name in SEVERAL)
        self.parameters.append(Parameter(name, kind, "None" if kind == "optional_size" else None, several=several))
        self.arguments.append(f"c.{kind}({len(self.parameters) - 1})")

    def rank(self):
        return len(self.parameters), [ORDER.index(p.kind) for p in self.parameters]

    def key(self):
        return [(p.name, p.kind, p.keyword_only) for p in self.parameters]


def argument_text(rest):
    """What stands between a `(` that is gone and its `)`."""
    depth = 0
    for i, letter in enumerate(rest):
        depth += letter == "("
        depth -= letter == ")"
        if depth < 0:
            return rest[:i]
    return rest


def takes_of(name):
    """The flags of call.h, of PyTorch's words that change nothing here."""
    is_factory = name in FACTORIES
    return (
        ({"takes_device", "takes_requires_grad"} if is_factory else set())
        | ({"takes_memory_format"} if name.endswith("_like") or name in TAKE_MEMORY_FORMAT else set())
        | ({"takes_device"} if name == "to" else set())
    )


def takes(name, header):
    """The arguments that every form of an operation takes besides its own: those that say where the result goes."""
    more = []
    if (header in OUT_HEADERS or name in OUT) and name not in NO_OUT and not name.endswith("_"):
        more.append(Parameter("out", "tensor", "None", keyword_only=True, annotation="Tensor"))
    if name in INPLACE:
        more.append(Parameter("inplace", "boolean", "False", keyword_only=True))
    return more + [p for p in PLACE if p.flag in takes_of(name)]


def function_overloads():
    """name → overloads, of the free functions; and what has no form in Python."""
    found, left_out = {}, []
    for header in HEADERS[:-1]:
        for _, text, statement in statements(header):
            if match := SAMPLER.match(statement):
                name, tensors = match["name"], [f"const Tensor& {t.strip()}" for t in match["arguments"].split(",")]
                tails = [[], ["RandomOptions"], ["const Shape& shape"], ["const Shape& shape", "TensorOptions options"]]
                forms = [("Tensor", name, tensors + tail) for tail in tails]
            elif match := DECLARATION.match(statement):
                forms = [(match["result"], match["name"], with_defaults(argument_text(match["rest"])))]
            else:
                continue
            for result, name, declared in forms:
                if name in NOT_HERE or name.startswith("operator"):
                    continue
                if result in WRITTEN_OUT:
                    MORE[name] = takes(name, header.stem)
                if name in REPLACED:
                    REPLACED_TEXTS.setdefault(name, text)
                    found.setdefault(name, [])
                    continue
                add(found, left_out, name, result, declared, f"ricci::ops::{name}", text)
    add_forms(found, left_out, lambda name: not name.endswith("_") and not name.startswith("new_"), ADDED)
    for overloads in found.values():
        overloads[:] = [o for o in overloads if not is_superfluous(o, overloads)]
    for target in ("add", "sub", "mul", "div"):
        out = found.pop(target + "_out")[0]
        call = "ricci::ops::" + target + "_out"
        overload = Overload(target, "const Tensor&", ["const Tensor& a", "const Tensor& b", "const Tensor& out"], call)
        overload.parameters[2].keyword_only = True
        overload.arguments = [overload.arguments[2], *overload.arguments[:2]]
        overload.same_as = 2
        found[target].append(overload)
    return found, left_out


def add_forms(found, left_out, is_wanted, added):
    """The forms of forms.h whose names are wanted; a helper there has no operation's name."""
    for _, own_text, statement in statements(FORMS):
        match = DECLARATION.match(statement)
        if match and match["name"] in {*found, *added} and is_wanted(match["name"]):
            declared = with_defaults(argument_text(match["rest"]))
            call = "ricci::python::forms::" + match["name"]
            text = own_text if match["name"] in added else REPLACED_TEXTS.get(match["name"], "")
            add(found, left_out, match["name"], match["result"], declared, call, text, is_form=True)


def is_superfluous(overload, overloads):
    """Whether a dtype is given by position where another overload takes it by name, or defaults say the same."""
    before, last = overload.key()[:-1], overload.parameters[-1]
    by_name = any(
        o.key()[: len(before)] == before
        and o.parameters[len(before) :]
        and o.parameters[len(before)].name == "dtype"
        and o.parameters[len(before)].keyword_only
        for o in overloads
    )
    return (last.kind == "dtype" and not last.keyword_only and by_name) or (
        overload.name,
        len(overload.parameters),
    ) in SHORTER_BY_DEFAULTS


def add(found, left_out, name, result, declared, call, text, is_form=False):
    if result not in RETURNS or any("..." in p for p in declared) or any("initializer_list" in p for p in declared):
        return
    if any("keepdim" in p and "auto" in p for p in declared):
        return  # of all axes: dim is None unless given
    if any(re.search("(Conv|ConvTranspose|Unfold|KlDiv|NanToNum|Repeat|Search)Options", p) for p in declared):
        return  # their options are arguments of another overload, or of a form
    if not is_form and ((name, len(declared)) in SAID_BY_FORMS or (name in TAKE_DTYPE and "DType dtype" in declared)):
        return
    try:
        overload = Overload(name, result, declared, call, text, is_form)
    except KeyError as missing:
        left_out.append(f"{name}({', '.join(declared)}): {missing}")
        return
    overloads = found.setdefault(name, [])
    if all(overload.key() != other.key() for other in overloads):
        overloads.append(overload)


def key_overloads():
    """name → overloads of the samplers that draw from a key: methods of Key."""
    found, left_out = {}, []
    for _, text, statement in statements(HEADERS[-1]):
        match = DECLARATION.match(statement)
        if match and match["name"] not in KEYS_OWN:
            declared = with_defaults(argument_text(match["rest"]))
            add(found, left_out, match["name"], match["result"], declared, f"ricci::ops::{match['name']}", text)
    assert not left_out, left_out
    return found


def method_overloads(functions):
    """(names of functions that are methods too, name → overloads of the other methods)."""
    text = (ROOT / "include/ricci/tensor.h").read_text()
    body = text[text.index("  // ── views ──") : text.index("  const Tensor& operator+=")]
    body = re.sub(r"//.*", "", body)
    while "{" in body:
        body = re.sub(r"\{[^{}]*\}", ";", body)
    shared, own, left_out = [], {}, []
    for statement in re.sub(r"\s+", " ", body).split(";"):
        match = METHOD.match(re.sub(r"^template <[^>]*> ", "", statement.strip()))
        if not match or match["name"] in BOUND_BY_HAND:
            continue
        name = match["name"]
        is_shared = name in functions and name not in OWN_METHODS and not name.endswith("_")
        if is_shared and all(o.parameters[0].kind == "tensor" for o in functions[name]):
            shared += [name] if name not in shared else []
            continue
        declared = ["const Tensor& self", *with_defaults(argument_text(match["rest"]))]
        add(own, left_out, name, match["result"], declared, "self." + name, "")
    add_forms(own, left_out, lambda name: name not in functions or name.endswith("_"), ADDED_METHODS)
    assert not left_out, left_out
    # In C++ a method costs every file that reads tensor.h a declaration (tools/check_methods.py); here it costs nothing.
    of_torch = set((ROOT / "tools/torch_methods.txt").read_text().split()) - check_methods.NO_METHOD.keys()
    for name in sorted(of_torch & functions.keys() - own.keys() - set(shared) - BOUND_BY_HAND):
        if all(o.parameters and o.parameters[0].kind == "tensor" for o in functions[name]):
            shared.append(name)
    return shared, own


def cpp(overload, number):
    """The function of an overload and the table of its parameters."""
    flags = (
        lambda p: ("has_default " if may_be_left_out(p) else "")
        + ("keyword_only " if p.keyword_only else "")
        + ("several" if p.several else "")
    )
    rows = [
        f'    {{"{p.name}", Kind::{p.kind}, {" | ".join(flags(p).split()) or "0"}}},\n' for p in overload.parameters
    ]
    names = [f"v{i}" for i in range(len(overload.arguments))]
    lines = [f"Parameter parameters_{number}[] = {{\n", *rows, "};\n", f"PyObject* call_{number}(Call& c) {{\n"]
    lines += [f"  const auto {n} = {with_default(a, overload)};\n" for n, a in zip(names, overload.arguments)]
    if overload.call.startswith("self."):
        call = f"static_cast<const Tensor&>({names[0]}){overload.call[4:]}({', '.join(names[1:])})"
    else:
        call = f"{overload.call}({', '.join(names)})"
    lines.append("  c.begin();\n")
    if overload.result == "const Tensor&":
        lines.append(f"  {call};\n  return c.end_same({getattr(overload, 'same_as', 0)});\n}}\n")
    else:
        lines.append(f"  return c.end({call});\n}}\n")
    return "".join(lines)


CPP_LITERALS = {"True": "true", "False": "false"}
PYTHON_LITERALS = {cpp: python for python, cpp in CPP_LITERALS.items()} | {"{}": "None"}


def default_in_cpp(parameter):
    if parameter.kind == "reduction":
        return "Reduction::" + parameter.default.strip('"')
    return CPP_LITERALS.get(parameter.default, parameter.default)


def taken(parameter, place):
    """`c.boolean(2, false)`: the argument, or the default if that is a value."""
    default = "" if parameter.default == "None" else ", " + default_in_cpp(parameter)
    return f"c.{parameter.kind}({place}{default})"


def may_be_left_out(parameter):
    """Whether Call gives C++ a value where it is left out; of None that is so where C++ has a value for it."""
    if parameter.default == "None":
        return parameter.is_optional or parameter.kind not in TAKEN_BY_VALUE
    return parameter.default is not None


def with_default(argument, overload):
    """`c.boolean(2)` → `c.boolean(2, false)` where the parameter has a default that is a value."""
    match = re.match(r"c\.(\w+)\((\d+)\)$", argument)
    if match is None:
        return argument
    parameter = overload.parameters[int(match[2])]
    if match[1].endswith("_options") or parameter.default in (None, "None"):
        return argument
    return f"c.{match[1]}({match[2]}, {default_in_cpp(parameter)})"


def merged(overloads):
    """One signature for all overloads; None where they do not say one thing. Its named arguments are those of all."""
    of_place = lambda o: [p for p in o.parameters if not p.keyword_only]
    longest = max((of_place(o) for o in overloads), key=len)
    parameters = {p.name: [] for p in longest}
    for o in overloads:
        if any(p.name != q.name for p, q in zip(of_place(o), longest)):
            return None
        for p in o.parameters:
            parameters.setdefault(p.name, []).append(p)
    merged_ones = []
    for name, forms in parameters.items():
        annotation = " | ".join(dict.fromkeys(p.annotation for p in forms))
        defaults = [p.default for p in forms if p.default is not None]
        default = defaults[0] if defaults else "None" if len(forms) < len(overloads) else None
        one = forms[-1]
        if default is None and not one.keyword_only and any(p.default for p in merged_ones if not p.keyword_only):
            return None
        merged_ones.append(Parameter(name, one.kind, default, one.keyword_only, one.several, annotation))
    return sorted(merged_ones, key=lambda p: p.keyword_only)


def signature(parameters):
    texts, star = [], False
    for p in parameters:
        if p.keyword_only and not star:
            texts.append("*")
            star = True
        texts.append(p.python())
    return f"({', '.join(texts)})"


PYTHON_RESULTS = {
    "Tensor": "Tensor",
    "const Tensor&": "Tensor",
    "bool": "bool",
    "std::vector<Tensor>": "tuple[Tensor, ...]",
    "OneOrSeveral": "Tensor | tuple[Tensor, ...]",
    "Rebound": "Tensor",
}


def python_result(overload):
    return PYTHON_RESULTS.get(overload.result) or list(RESULT_TYPES)[RESULT_TYPE_OF[overload.name]]


def signatures(overloads):
    """The signatures that Python shows: one where the overloads say one thing."""
    one = merged(overloads)
    results = {python_result(o) for o in overloads}
    if PYTHON_RESULTS["OneOrSeveral"] in results:  # of all overloads
        results -= {"Tensor"}

    def text(parameters, result):
        own = [p.name for p in parameters]
        is_written_out = not result.startswith(("tuple", "bool"))
        more = [p for p in more_of(overloads) if p.name not in own and (is_written_out or p.name != "out")]
        return signature([*parameters, *more]) + " -> " + result

    if one is not None and len(results) == 1:
        return [text(one, results.pop())]
    return list(dict.fromkeys(text(shown_of(o), python_result(o)) for o in overloads))


def shown_of(overload):
    """The parameters of one overload, with no default before a parameter by position that has none."""
    last = max((i for i, p in enumerate(overload.parameters) if not p.keyword_only and p.default is None), default=0)
    return [
        Parameter(p.name, p.kind, None if i < last and not p.keyword_only else p.default, p.keyword_only, p.several)
        for i, p in enumerate(overload.parameters)
    ]


def more_of(overloads):
    """What a name takes besides the arguments of its overloads."""
    is_key = any(p.kind == "key" for o in overloads for p in o.parameters)
    is_own = overloads[0].call.startswith("self.")
    name = overloads[0].name
    if is_key:
        return []
    return [p for p in PLACE if p.flag in takes_of(name)] if is_own else MORE.get(name, [])


def text_of(overloads):
    return next((o.text for o in overloads if o.text), "")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def flags(overloads):
    """What call.h calls what an operation takes besides its arguments."""
    return " | ".join(dict.fromkeys(p.flag or f"takes_{p.name}" for p in more_of(overloads))) or "0"


def write(folder, parts):
    functions, _ = function_overloads()
    shared, own = method_overloads(functions)
    chunks = [[] for _ in range(parts)]
    tables = [[] for _ in range(parts)]
    all_names = [(n, functions[n], "method" if n in shared else "function") for n in functions]
    all_names += [(n, own[n], "own") for n in own]
    keyed = key_overloads()
    all_names += [(n, keyed[n], "key") for n in keyed]
    number = 0
    for i, (name, overloads, where) in enumerate(all_names):
        overloads.sort(key=Overload.rank)
        rows = []
        for o in overloads:
            chunks[i % parts].append(cpp(o, number))
            rows.append(f"{{parameters_{number}, {len(o.parameters)}, call_{number}}}")
            number += 1
        chunks[i % parts].append(f"const Overload overloads_{i}[] = {{{', '.join(rows)}}};\n")
        shown = signatures(overloads)
        doc = "\n".join(name + s for s in shown) + ("\n\n" + text_of(overloads) + "." if text_of(overloads) else "")
        one = merged(overloads) or [] if len(shown) == 1 and len(overloads) > 1 else []
        if one:
            rows_shown = [
                f'{{"{p.name}", {quoted(p.default) if p.default else "nullptr"}, {str(p.keyword_only).lower()}}}'
                for p in one
            ]
            chunks[i % parts].append(f"Shown shown_{i}[] = {{{', '.join(rows_shown)}}};\n")
        facts = f"overloads_{i}, {len(rows)}, Where::{where}, {flags(overloads)}"
        facts += f", shown_{i}, {len(one)}" if one else ", nullptr, 0"
        facts += f", result_types + {RESULT_TYPE_OF[name]}" if name in RESULT_TYPE_OF else ""
        tables[i % parts].append(f'    {{"{name}", {quoted(doc)}, {facts}}},\n')
    types = ", ".join(f'{{"{name}", "{fields}"}}' for name, (fields, _) in RESULT_TYPES.items())
    for part in range(parts):
        (folder / f"operations_{part}.cpp").write_text(
            '// Made by tools/python_operations.py.\n#include "forms.h"\n#include "operations.h"\n'
            + "".join(f'#include "ricci/ops/{header.name}"\n' for header in HEADERS[:-1])
            + "namespace ricci::python {\n"
            + (f"ResultType result_types[] = {{{types}}};\n" if part == 0 else "")
            + "namespace {\n\n"
            + "".join(chunks[part])
            + "\n}  // namespace\n\nextern const OperationTable operations_"
            + str(part)
            + "[];\n"
            + f"const OperationTable operations_{part}[] = {{\n"
            + "".join(tables[part])
            + "    {}};\n"
            + "}  // namespace ricci::python\n"
        )
    lists = "".join(f"extern const OperationTable operations_{p}[];\n" for p in range(parts))
    names = ", ".join(f"operations_{p}" for p in range(parts))
    (folder / "operations.h").write_text(
        '// Made by tools/python_operations.py.\n#pragma once\n#include "call.h"\nnamespace ricci::python {\n'
        + lists
        + f"inline const OperationTable* const all_operations[] = {{{names}}};\n"
        + f"extern ResultType result_types[{len(RESULT_TYPES)}];\n}}\n"
    )


def share():
    """Of all names: how many have one signature."""
    functions, left_out = function_overloads()
    one = sum(len(signatures(o)) == 1 for o in functions.values())
    return one, len(functions), left_out


if __name__ == "__main__":
    if sys.argv[1:] == ["share"]:
        print(*share(), sep="\n")
        print(
            *(
                n + " " + " | ".join(signatures(o))
                for n, o in function_overloads()[0].items()
                if len(signatures(o)) > 1
            ),
            sep="\n",
        )
    else:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, int(sys.argv[2]))
