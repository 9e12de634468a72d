"""The names of arguments are PyTorch's."""

import re

import pytest
from conftest import ANSWERS_OF_TORCH

import ricci as rc

# Names of ours that also stand for others: python/src/call.cpp.
ALSO = {
    "input": {"x", "a", "x1", "A", "B", "tensor"},
    "other": {"x2"},
    "dim": {"axis"},
    "keepdim": {"keepdims"},
    "input2": {"L"},
    "split_size_or_sections": {"split_size"},
    "indices_or_sections": {"sections", "indices"},
    "low": {"from"},
    "high": {"to"},
    "rate": {"lambd"},
    "variance": {"var"},
}
# What is accepted and not shown; names that only PyTorch's own code has.
NOWHERE = {"layout", "pin_memory", "args", "kwargs", "_stacklevel", "cudnn_enabled"}
# What remains, and why.
LACKS = {
    "gather": ({"sparse_grad"}, "gradients are dense"),
    "scatter": ({"reduce"}, "scatter_add adds"),
    "scatter_": ({"reduce"}, "scatter_add_ adds"),
    "index": ({"el", "end", "start", "substr"}, "of Python's lists and texts"),
    "multi_head_attention_forward": ({"static_k", "static_v"}, "keys that are projected already: write the products"),
    "triangular_solve": ({"M", "X"}, "one result, not a pair with A"),
    "slogdet": ({"logabsdet", "sign"}, "names of out's parts"),
    "eigh": ({"eigvals", "eigvecs"}, "names of out's parts"),
    "svd": (
        {"S", "U", "V", "Vh", "some", "compute_uv", "driver"},
        "torch.linalg.svd",
    ),
    "svdvals": ({"driver"}, "LAPACK's gesdd"),
    "lu": ({"L", "P", "U", "pivot"}, "names of out's parts; with pivots, as PyTorch on a processor"),
    "lu_factor": ({"LU", "pivot", "pivots"}, "as lu"),
    "lu_factor_ex": ({"LU", "check_errors", "info", "pivot", "pivots"}, "as lu; lu_factor checks"),
    "lu_unpack": ({"L", "P", "U", "unpack_data", "unpack_pivots"}, "names of out's parts; all are given"),
    "lu_solve": ({"LU_data", "LU_pivots", "input"}, "torch.linalg.lu_solve, not the older torch.lu_solve"),
    "ldl_factor": ({"LD", "pivots"}, "names of out's parts"),
    "ldl_factor_ex": ({"LD", "check_errors", "info", "pivots"}, "as ldl_factor, which checks"),
    "inv_ex": ({"check_errors", "info", "inverse"}, "names of out's parts; inv checks"),
    "solve_ex": ({"check_errors", "info", "left", "result"}, "names of out's parts; solve checks"),
    "cholesky_ex": ({"L", "check_errors", "info"}, "names of out's parts; cholesky checks"),
    "qr": ({"Q", "R", "some"}, "names of out's parts; torch.linalg.qr"),
    "geqrf": ({"tau"}, "names of out's parts"),
    "ormqr": ({"input2", "input3"}, "tau and other, as the manual calls them"),
    "eig": ({"e", "eigenvalues", "eigenvectors", "self", "v"}, "names of out's parts"),
    "svd_lowrank": ({"M"}, "subtract it first"),
    "pinv": ({"atol", "hermitian", "rcond"}, "rtol alone"),
    "matrix_rank": ({"atol", "hermitian", "symmetric", "tol"}, "rtol alone"),
    "lstsq": (
        {"b", "driver", "input", "rank", "rcond", "residuals", "singular_values", "solution"},
        "the solution alone, by QR",
    ),
    "vander": ({"increasing"}, "torch.linalg.vander"),
    "max": ({"max", "max_values"}, "names of out's parts"),
    "min": ({"min", "min_indices"}, "names of out's parts"),
    "fractional_max_pool2d_with_indices": ({"output_ratio", "_random_samples"}, "sizes alone; random_samples"),
    "fractional_max_pool3d_with_indices": ({"output_ratio", "_random_samples"}, "sizes alone; random_samples"),
    "cdist": ({"compute_mode"}, "it is chosen"),
    "linear_cross_entropy": ({"options"}, "its options have names"),
    "isin": (
        {"assume_unique", "element", "test_element", "invert", "out"},
        "uniqueness does not matter; numbers have the names of Tensors; write ~isin(…)",
    ),
    "norm": ({"ord"}, "torch.linalg.norm is another function"),
    "normal": ({"input"}, "mean and std have their names"),
    "view": ({"dtype"}, "elements are not read as others"),
    "stft": ({"align_to_window", "return_complex"}, "always complex; frames are centred or not"),
    "istft": ({"return_complex"}, "real where onesided, else complex"),
    "frexp": ({"exponent", "mantissa"}, "names of out's parts"),
    "bucketize": ({"out_int32"}, "int64"),
    "hamming_window": ({"alpha", "beta"}, "those of general_hamming_window"),
    "tensor_split": ({"tensor_indices_or_sections"}, "a list of ints"),
    "repeat_interleave": ({"output_size"}, "repeats are one number in Python"),
    "solve": ({"input"}, "torch.linalg.solve, not the old torch.solve"),
    "rrelu": ({"generator"}, "it draws where training is True, from the default generator"),
    "softmin": ({"dtype"}, "convert the input"),
    "vector_norm": ({"dtype"}, "convert the input"),
    "gumbel_softmax": ({"eps"}, "it has no use in PyTorch"),
    "atleast_1d": ({"tensors"}, "of one Tensor"),
    "atleast_2d": ({"tensors"}, "of one Tensor"),
    "atleast_3d": ({"tensors"}, "of one Tensor"),
    "tril_indices": ({"dtype"}, "int64"),
    "triu_indices": ({"dtype"}, "int64"),
    "ldexp": ({"i"}, "the name of C++"),
    "polar": ({"A", "H", "U"}, "the old torch.linalg.polar"),
    "aminmax": ({"max", "min"}, "names of out's parts"),
    "var_mean": ({"out0", "out1", "unbiased"}, "names of out's parts; correction is the newer name"),
    "std_mean": ({"out0", "out1", "unbiased"}, "names of out's parts; correction is the newer name"),
    "nansum": ({"dtype"}, "convert the input"),
    "nanmean": ({"dtype"}, "convert the input"),
    "nanmedian": ({"keepdim"}, "unsqueeze the result"),
    "histogram": ({"bin_edges", "hist"}, "names of out's parts"),
    "trapezoid": ({"dx"}, "x may be a number"),
    "cumulative_trapezoid": ({"dx"}, "x may be a number"),
}
# Names of one kind, by the operations that lack them.
for lacked, reason, names in [
    ("out", "it is drawn, looked up or viewed; only C++ has out there", "clone index embedding linear poisson binomial"),
    ("out", "as above", "rand_like randn_like randint_like repeat_interleave roll diag_embed slice_scatter"),
    ("out", "as above", "select_scatter diagonal_scatter avg_pool2d binary_cross_entropy_with_logits"),
    ("out", "as above", "masked_scatter tril_indices triu_indices dist normalize bincount"),
    ("out_dtype", "convert the result", "mm bmm addmm baddbmm"),
    ("out", "only C++ has it there", "celu put avg_pool1d avg_pool3d adaptive_avg_pool1d"),
    (
        "return_indices",
        "they are given always",
        "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool1d_with_indices "
        "adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices fractional_max_pool2d_with_indices "
        "fractional_max_pool3d_with_indices",
    ),
    ("out", "as above", "pixel_shuffle pixel_unshuffle channel_shuffle"),
    (
        "indices max_norm norm_type scale_grad_by_freq sparse",
        "rows as they are (renorm bounds a table between two steps), dense gradients",
        "embedding embedding_bag",
    ),
    ("batch_sizes data", "of packed sequences", "rnn_tanh rnn_relu gru lstm"),
    ("b", "the name of C++", "add eq ne lt le gt ge"),
    ("train", "the name of C++; it is training", "dropout feature_dropout alpha_dropout feature_alpha_dropout"),
    ("values indices", "names of out's parts", "sort topk median nanmedian kthvalue cummax cummin mode"),
    ("out", "it is made anew", "hann_window hamming_window blackman_window bartlett_window kaiser_window"),
    ("input", "it is self", "view_as reshape_as expand_as"),
]:
    for name in names.split():
        known, why = LACKS.get(name, (set(), reason))
        LACKS[name] = (known | set(lacked.split()), why)


SPACES = {"linalg": rc.linalg, "special": rc.special, "fft": rc.fft, "nn.functional": rc.nn.functional}
NOT_IN_SPACES = {"nn.functional": {"conv_tbc"}}  # of PyTorch's own use, with time in front


def names_there(name):
    """The names that any of PyTorch's functions of this name takes; none where there is no such function."""
    found = set(ANSWERS_OF_TORCH["arguments"].get(name, "").split())
    if "size_average" in found:
        found -= {"size_average", "reduce"}  # old names of reduction
    return found - NOWHERE


def names_here(name):
    doc = getattr(rc._core, name).__doc__.split("\n\n")[0]
    own = set(re.findall(r"(\w+): ", doc))
    return own | {also for n in own for also in ALSO.get(n, ())}


@pytest.mark.parametrize("name", [n for n in rc._core.operations if not n.endswith("_")])
def test_the_names_are_those_of_pytorch(name):
    missing = names_there(name) - names_here(name)
    assert missing == LACKS.get(name, (set(), ""))[0] & names_there(name)
    assert missing == LACKS.get(name, (set(), ""))[0], "LACKS says more than is missing"


@pytest.mark.parametrize("space", SPACES)
def test_the_spaces_of_names_are_those_of_pytorch(space):
    wanted = set(ANSWERS_OF_TORCH["spaces"][space].split())
    assert len(wanted) > 15
    assert {n for n in wanted if not callable(getattr(SPACES[space], n, None))} == NOT_IN_SPACES.get(space, set())
    assert all(getattr(SPACES[space], n).__doc__ for n in wanted - NOT_IN_SPACES.get(space, set()))


def test_the_space_fft_is_the_operation_too():
    x = rc.tensor([1.0, 2.0])
    assert rc.fft(x).tolist() == rc.fft.fft(x).tolist() == rc.vmap(rc.fft)(rc.stack([x, x]))[0].tolist()
    import ricci.fft as fft
    import ricci.nn.functional as F

    assert fft is rc.fft and F.relu is rc.relu


def test_other_names_are_taken():
    x = rc.ones(2, 3)
    assert rc.sum(x, axis=0).shape == (3,) and rc.sum(a=x, dim=0, keepdims=True).shape == (1, 3)
    assert rc.add(x1=x, x2=x).sum().item() == 12 and len(x.split(split_size=1)) == 2
    assert 0 <= rc.empty(3).uniform_(**{"from": 0, "to": 1}).max().item() < 1


def test_functions_that_pytorch_has_as_methods_are_methods():
    x = rc.tensor([[3.0, 1.0], [2.0, 5.0]])
    assert x.cummax(1)[0].tolist() == rc.cummax(x, 1)[0].tolist() == [[3, 3], [2, 5]]
    assert x.quantile(0.5).item() == 2.5 and x.kthvalue(k=1, dim=1)[0].tolist() == [1, 2]
    assert x.diff().tolist() == [[-2], [3]] and x.logit(eps=0.1).shape == x.qr()[0].shape == (2, 2)
    assert not hasattr(x, "triangular_solve"), "PyTorch deprecates it"
