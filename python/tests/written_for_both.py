"""What is written for either library, Ricci or PyTorch: forms of operations, and the programs of the page *From
torch.func*. Knows NumPy alone, so that tools/torch_answers.py runs it where PyTorch is and Ricci is not.
"""

import ast
import math
import re

import numpy as np

RNG = np.random.RandomState(1)  # whose numbers are the same in every NumPy
ARRAYS = {
    "x": RNG.standard_normal((3, 4)),
    "y": RNG.standard_normal((3, 4)),
    "s": RNG.standard_normal((3, 3)),
    "p": RNG.uniform(0.1, 0.9, (3, 4)),
    "i": np.array([[3, -5, 7], [2, 9, -4]]),
    "j": np.array([[2, 3, -1], [-5, 2, 3]]),
    "odd": np.array([1.0, math.nan, math.inf, -math.inf]),
    "w": np.array([1.0, 2.0, 0.5, 3.0]),
    "c": np.array([1, 3, -100]),
    "d": np.array([1, 3, 0]),
    "line": RNG.standard_normal((2, 3, 7)),
    "kernel": RNG.standard_normal((4, 3, 4)),
    "image": RNG.standard_normal((1, 2, 5, 6)),
    "filter": RNG.standard_normal((3, 2, 3, 2)),
    "m": RNG.standard_normal((2, 3, 4)),
    "n": RNG.standard_normal((4, 3, 5)),
    "up": np.array([1.0, 2.0, 2.0, 5.0]),
    "v": np.array([2.0, 0.0, 9.0]),
    "k": np.array([[0, 2, 1], [1, 0, 2], [2, 2, 0]]),
    "one": RNG.standard_normal((1, 3, 1, 2, 1)),
}
x, y, s, p, i, j, w = (ARRAYS[n] for n in "xyspijw")
SPD = s @ s.T + 3 * np.eye(3)
ARRAYS["spd"] = SPD


def log_softmax(a):
    return a - a.max(1, keepdims=True) - np.log(np.exp(a - a.max(1, keepdims=True)).sum(1, keepdims=True))


LOGS = log_softmax(x)
NLL = -LOGS[[0, 1, 2], [1, 3, 0]]
SMOOTH = -(LOGS * w).sum(1) / 4
LOGITS = (1 - p) * x + (1 + (w - 1) * p) * np.log1p(np.exp(-x))
HALF = np.array([0.5, 1.5, 2.5, -0.5, 1234.5678])

# What is written (op(…) is an operation of either library), and what it gives; None where PyTorch alone says.
FORMS = {
    "op('add')(x, y, alpha=2)": x + 2 * y,
    "op('add')(i, j, alpha=3)": i + 3 * j,
    "op('sub')(x, y, alpha=0.5)": x - y / 2,
    "x.add(y, alpha=3)": x + 3 * y,
    "x.clone().add_(y, alpha=2)": x + 2 * y,
    "x.clone().sub_(y, alpha=2)": x - 2 * y,
    "op('div')(x, y, rounding_mode=None)": x / y,
    "op('div')(x, y, rounding_mode='trunc')": np.trunc(x / y),
    "op('div')(x, y, rounding_mode='floor')": np.floor(x / y),
    "op('div')(i, j, rounding_mode='trunc')": np.trunc(i / j),
    "op('div')(i, j, rounding_mode='floor')": i // j,
    "x.clone().div_(y, rounding_mode='floor')": np.floor(x / y),
    "op('addcmul')(x, y, p, value=2)": x + 2 * y * p,
    "op('addcdiv')(x, y, p, value=2)": x + 2 * y / p,
    "x.clone().addcmul_(y, p, value=0.5)": x + y * p / 2,
    "x.clone().addcdiv_(y, p, value=0.5)": x + y / p / 2,
    "op('addmm')(x, s, y, beta=2, alpha=3)": 2 * x + 3 * s @ y,
    "x.clone().addmm_(s, y, beta=0.5, alpha=2)": x / 2 + 2 * s @ y,
    "op('addmm')(x * math.nan, s, y, beta=0)": s @ y,
    "op('addmv')(v, s, up[:3], beta=0.5, alpha=2)": ARRAYS["v"] / 2 + 2 * s @ [1, 2, 2],
    "op('addr')(x, v, w, beta=2, alpha=3)": 2 * x + 3 * np.outer([2, 0, 9], w),
    "op('addbmm')(s[:, :1], m[:, :, :3], m[:, :, 1:2], beta=-1)": None,
    "op('baddbmm')(m[:, :, :1], m[:, :, :3], m[:, :, 1:2], beta=2, alpha=0.5)": None,
    "op('index_add')(x, 0, k[0, :2], y[:2], alpha=2)": None,
    "op('round')(x, decimals=2)": np.round(x, 2),
    "op('nan_to_num')(odd, nan=7.0, posinf=8.0, neginf=-9.0)": [1, 7, 8, -9],
    "op('nan_to_num')(odd, 7.0)[:2]": [1, 7],
    "odd.clone().nan_to_num_(nan=1.0, posinf=2.0, neginf=3.0)": [1, 1, 2, 3],
    "op('gelu')(x, approximate='tanh')": x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "op('isclose')(odd, odd, equal_nan=True)": [True] * 4,
    "op('where')(x > 0)": list(np.where(x > 0)),
    "op('sum')(i, dim=1, dtype=float64)": i.sum(1),
    "op('sum')(i, dtype=float64)": i.sum(),
    "op('sum')(x, axis=1, keepdims=True)": x.sum(1, keepdims=True),
    "op('mean')(i, dtype=float64)": i.mean(),
    "op('mean')(i, dim=0, keepdim=True, dtype=float64)": i.mean(0, keepdims=True),
    "op('prod')(i, dtype=float64)": i.prod(),
    "op('prod')(i, dim=1, dtype=float64)": i.prod(1),
    "op('cumsum')(i, dim=1, dtype=float64)": i.cumsum(1),
    "op('cumprod')(i, dim=1, dtype=float64)": i.cumprod(1),
    "op('softmax')(i, dim=1, dtype=float64)": np.exp(log_softmax(i)),
    "op('log_softmax')(i, dim=1, dtype=float64)": log_softmax(i),
    "x.cumsum(0)": x.cumsum(0),
    "op('norm')(x, dtype=float64)": np.linalg.norm(x),
    "op('norm')(x, p='fro')": np.linalg.norm(x),
    "op('count_nonzero')(i > 2, dim=1)": (i > 2).sum(1),
    "(x > 0).count_nonzero()": (x > 0).sum(),
    "list(op('median')(y[:, :3], dim=1, keepdim=True))": None,
    "list(op('sort')(x, stable=True, dim=0))": [np.sort(x, 0), np.argsort(x, 0)],
    "op('argsort')(x, stable=True)": np.argsort(x),
    "list(op('topk')(x, 2, sorted=True))": [-np.sort(-x)[:, :2], np.argsort(-x)[:, :2]],
    "op('take_along_dim')(s, k)": s.ravel()[ARRAYS["k"].ravel()],
    "op('scatter')(s, 1, k[:, :1], value=5.0)": None,
    "op('one_hot')(d)": np.eye(4)[[1, 3, 0]],
    "op('searchsorted')(up, v, right=True)": [3, 0, 4],
    "op('searchsorted')(up, v, side='right')": [3, 0, 4],
    "op('searchsorted')(up, v, side='left')": [1, 0, 4],
    "op('cholesky')(spd, upper=True)": np.linalg.cholesky(SPD).T,
    "op('cholesky_solve')(s, op('cholesky')(spd, upper=True), upper=True)": np.linalg.solve(SPD, s),
    "list(op('eigh')(spd, UPLO='U'))[0]": np.linalg.eigvalsh(SPD),
    "op('eigvalsh')(s, UPLO='U')": np.linalg.eigvalsh(s, "U"),
    "op('solve')(s, s + 1, left=False)": np.linalg.solve(s.T, (s + 1).T).T,
    "op('solve_triangular')(s, s + 1, upper=True, left=False)": np.linalg.solve(np.triu(s).T, (s + 1).T).T,
    "op('solve_triangular')(s, s + 1, upper=False, unitriangular=True)": None,
    "op('tensordot')(m, n, dims=([1, 2], [1, 0]))": np.tensordot(ARRAYS["m"], ARRAYS["n"], ([1, 2], [1, 0])),
    "op('tensordot')(m, n, dims=([-1], [0]))": np.tensordot(ARRAYS["m"], ARRAYS["n"], ([-1], [0])),
    "op('squeeze')(one, dim=(0, 2))": ARRAYS["one"].squeeze((0, 2)),
    "op('squeeze')(one, (1, -1))": ARRAYS["one"].squeeze(-1),
    "op('diag')(s, diagonal=1)": np.diag(s, 1),
    "op('diag')(v, diagonal=-1)": np.diag([2.0, 0, 9], -1),
    "op('pad')(x, (1, 2), mode='constant', value=5.0)": np.pad(x, ((0, 0), (1, 2)), constant_values=5),
    "op('slice_scatter')(x, y[:2], end=2)": np.concatenate([y[:2], x[2:]]),
    "op('diagonal_scatter')(s, v)": s - np.diag(np.diag(s)) + np.diag([2.0, 0, 9]),
    "op('repeat_interleave')(s, 2)": np.repeat(s, 2),
    "op('roll')(s, shifts=1, dims=0)": np.roll(s, 1, 0),
    "op('flatten')(m, start_dim=1, end_dim=2)": ARRAYS["m"].reshape(2, 12),
    "list(op('split')(x, [1, 2], dim=0))": [x[:1], x[1:]],
    "list(x.split(split_size=2, dim=1))": [x[:, :2], x[:, 2:]],
    "list(op('tensor_split')(x, 2, dim=1))": [x[:, :2], x[:, 2:]],
    "list(op('meshgrid')(v, w, indexing='xy'))": list(np.meshgrid([2.0, 0, 9], w, indexing="xy")),
    "x.to(float64, copy=True)": x,
    "x.new_zeros((2, 3), dtype=int64)": np.zeros((2, 3)),
    "x.new_full((2,), 3, dtype=int64)": [3, 3],
    "op('full')(size=(2,), fill_value=3.0)": [3, 3],
    "op('conv1d')(line, kernel, padding='same')": None,
    "op('conv1d')(line, kernel, padding='valid')": None,
    "op('conv2d')(image, filter, padding='same', dilation=2)": None,
    "op('relu')(x, inplace=True)": np.maximum(x, 0),
    "op('leaky_relu')(x.clone(), 0.1, inplace=True)": np.where(x > 0, x, 0.1 * x),
    "op('nll_loss')(x, d, w)": -(x[[0, 1, 2], [1, 3, 0]] * w[[1, 3, 0]]).sum() / w[[1, 3, 0]].sum(),
    "op('nll_loss')(x, c, weight=w, ignore_index=-100)": -(x[[0, 1], [1, 3]] * w[[1, 3]]).sum() / w[[1, 3]].sum(),
    "op('cross_entropy')(x, d, weight=w, reduction='none')": NLL * w[[1, 3, 0]],
    "op('cross_entropy')(x, c, ignore_index=-100)": NLL[:2].mean(),
    "op('cross_entropy')(x, c, ignore_index=-100, reduction='sum')": NLL[:2].sum(),
    "op('cross_entropy')(x, d, ignore_index=3)": NLL[[0, 2]].mean(),
    "op('cross_entropy')(x, d, weight=w, label_smoothing=0.2, reduction='sum')": (
        0.8 * NLL * w[[1, 3, 0]] + 0.2 * SMOOTH
    ).sum(),
    "op('cross_entropy')(x, c, weight=w, ignore_index=-100, label_smoothing=0.2)": None,
    "op('cross_entropy')(x, p, weight=w, label_smoothing=0.2)": None,
    "op('binary_cross_entropy')(p, p, weight=w)": (-w * (p * np.log(p) + (1 - p) * np.log(1 - p))).mean(),
    "op('binary_cross_entropy_with_logits')(x, p, pos_weight=w)": LOGITS.mean(),
    "op('binary_cross_entropy_with_logits')(x, p, weight=w, pos_weight=w, reduction='sum')": (w * LOGITS).sum(),
    "op('kl_div')(x, p, reduction='batchmean')": (p * (np.log(p) - x)).sum() / 3,
    "op('kl_div')(x, y, reduction='sum', log_target=True)": (np.exp(y) * (y - x)).sum(),
    "op('kl_div')(x, p, log_target=False)": (p * (np.log(p) - x)).mean(),
    "op('scaled_dot_product_attention')(m, m, m, is_causal=True, scale=0.3)": None,
    "op('scaled_dot_product_attention')(m, m, m, s > 0)": None,
    "op('scaled_dot_product_attention')(query=m[None], key=m[None, :1], value=m[None, :1], enable_gqa=True)": None,
    "list(op('multi_head_attention_forward')(m, m, m, 4, 2, op('cat')([x, y, p, x]), op('cat')([w, w, w]), None, None,"
    " False, 0.0, op('cat')([x, y[:1]]), w))": None,
    "list(op('multi_head_attention_forward')(m, m, m, 4, 2, None, None, None, None, True, 0.0, op('cat')([x, y[:1]]),"
    " w, need_weights=False, use_separate_proj_weight=True, q_proj_weight=op('cat')([x, p[:1]]),"
    " k_proj_weight=op('cat')([y, p[:1]]), v_proj_weight=op('cat')([p, x[:1]])))[:1]": None,
    "op('embedding')(d, op('cat')([x, y[:1]]), padding_idx=1)": None,
    "op('embedding_bag')(k, s, mode='max')": None,
    "op('embedding_bag')(d, op('cat')([x, y[:1]]), k[0, :2], mode='sum', per_sample_weights=p[0, :3])": None,
    "op('embedding_bag')(d, op('cat')([x, y[:1]]), k[0, :2] * 3 // 2, include_last_offset=True, padding_idx=3)": None,
    "list(op('rnn_tanh')(m, s[None], [x, s, v, v], True, 1, 0.0, False, False, False))": None,
    "list(op('rnn_relu')(m, s[None], [x, s], False, 1, 0.0, False, False, False))": None,
    "list(op('gru')(m, op('cat')([s, s])[None, :2], [op('cat')([x, y, p]), op('cat')([s, s, s])], False, 1, 0.0, False,"
    " False, True))": None,
    "list(op('lstm')(m, [s[None], s[None]], [op('cat')([x, y, p, x]), op('cat')([s, s, s, s])], False, 1, 0.0, False,"
    " False, False))": None,
    "list(op('lstm_cell')(x, [s, s], op('cat')([x, y, p, x]), op('cat')([s, s, s, s])))": None,
    "op('gru_cell')(x, s, op('cat')([x, y, p]), op('cat')([s, s, s]))": None,
    "op('rnn_relu_cell')(x, s, x, s, b_ih=v, b_hh=v)": None,
    "op('rnn_tanh_cell')(x, s, x, s)": np.tanh(x @ x.T + s @ s.T),
    "op('ctc_loss')(op('log_softmax')(m, dim=-1), k[:, :1] + 1, k[2] * 0 + 2, k[2] * 0 + 1, blank=0, reduction='sum',"
    " zero_infinity=True)": None,
    "op('interpolate')(image, size=7)": None,
    "op('interpolate')(image, None, (1.5, 2.0), 'bicubic', align_corners=False)": None,
    "op('interpolate')(image, scale_factor=1.5, mode='bilinear', recompute_scale_factor=True, antialias=True)": None,
    "op('upsample_nearest')(image, scale_factor=2)": ARRAYS["image"].repeat(2, 2).repeat(2, 3),
    "op('upsample_bilinear')(image, size=(3, 4))": None,
    "op('grid_sample')(image, m[:1, :, None, :2], padding_mode='border', align_corners=True)": None,
    "op('affine_grid')(m[:, :2, :3], (2, 1, 3, 4), align_corners=False)": None,
    "op('pixel_shuffle')(op('cat')([image, image], 1), 2)": None,
    "op('pixel_unshuffle')(image[:, :, :4], 2)": None,
    "op('channel_shuffle')(op('cat')([image, image], 1), groups=2)": None,
    "op('diff')(v, 0, 0, v)": [2, 0, 9],
    "op('diff')(x, n=0, append=x)": x,
    "list(op('chunk')(x, 2))": [x[:2], x[2:]],
    "i.double()": i,
    "x.float()": x,
    "x.half()": None,
    "x.bfloat16().float()": None,
    "x.long()": x.astype("int64"),
    "x.int()": None,
    "x.short()": None,
    "x.char()": None,
    "p.byte()": None,
    "i.bool()": None,
    "x.cdouble().real": x,
    "x.cfloat().real": None,
    "i.type_as(x)": i,
    "i.to(x)": i,
    "x.to('cpu')": x,
    "x.to('cpu', int64)": x.astype("int64"),
    "x.to(device='cpu', dtype=int64)": x.astype("int64"),
    "x.to(lib.device('cpu'), copy=True)": x,
    "x.to(int64, memory_format=lib.preserve_format)": x.astype("int64"),
    "x.double(memory_format=lib.preserve_format)": x,
    "x.cpu()": x,
    "x.data": x,
    "op('zeros')(2, device='cpu', requires_grad=False)": [0, 0],
    "op('full')((2,), 3.0, device=lib.device('cpu'), layout=lib.strided, pin_memory=False)": [3, 3],
    "op('ones_like')(x, memory_format=lib.preserve_format, device=x.device)": np.ones((3, 4)),
    "op('arange')(3, dtype=float64, device='cpu')": [0, 1, 2],
    "lib.tensor([1, 2], device='cpu', requires_grad=False)": [1, 2],
    "x.new_zeros(2, device='cpu', requires_grad=False)": [0, 0],
    "x.new_tensor([1, 2])": [1, 2],
    "x.new_tensor([1, 2], dtype=int64, device='cpu')": [1, 2],
    "x.clone(memory_format=lib.contiguous_format)": x,
    "x.t().contiguous(memory_format=lib.contiguous_format)": x.T,
    "x.clone().unsqueeze_(0)": x[None],
    "one.clone().squeeze_()": ARRAYS["one"].squeeze(),
    "one.clone().squeeze_(0)": ARRAYS["one"].squeeze(0),
    "one.clone().squeeze_((0, 2))": ARRAYS["one"].squeeze((0, 2)),
    "x.clone().transpose_(0, 1)": x.T,
    "x.clone().t_()": x.T,
    "x.clone().detach_()": x,
    "m.unflatten(2, (2, 2))": ARRAYS["m"].reshape(2, 3, 2, 2),
    "op('unflatten')(m, -1, (-1, 2))": ARRAYS["m"].reshape(2, 3, 2, 2),
    "m.ravel()": ARRAYS["m"].ravel(),
    "op('argwhere')(x > 0)": np.argwhere(x > 0),
    "list((x > 0).nonzero(as_tuple=True))": list(np.nonzero(x > 0)),
    "op('nonzero')(x > 0, as_tuple=False)": np.argwhere(x > 0),
    "op('block_diag')(x, v, s)": None,
    "op('cartesian_prod')(v, w)": None,
    "list(op('broadcast_tensors')(v, s))": [np.broadcast_to([2.0, 0, 9], (3, 3)), s],
    "op('einsum')(x, [0, 1], y, [0, 1], [0])": (x * y).sum(1),
    "op('einsum')(x, [30, 2], y, [30, 2])": (x * y).sum(),
    "op('einsum')(s, [0, 1], x, [1, 2])": s @ x,
    "op('einsum')(m, [..., 1], w, [1], [...])": ARRAYS["m"] @ w,
    "op('einsum')('ij,ij->i', [x, y])": (x * y).sum(1),
    "op('pad')(x, (1, 2), 'constant', 5.0)": np.pad(x, ((0, 0), (1, 2)), constant_values=5),
    "op('pad')(line, (1, 2), 'reflect')": np.pad(ARRAYS["line"], ((0, 0), (0, 0), (1, 2)), "reflect"),
    "op('pad')(line, (1, 2), 'replicate', None)": np.pad(ARRAYS["line"], ((0, 0), (0, 0), (1, 2)), "edge"),
    "op('max_pool1d')(line, 2, ceil_mode=True)": None,
    "op('max_pool2d')(image, 2, ceil_mode=True)": None,
    "op('max_pool2d')(image, 3, stride=2, padding=1, ceil_mode=True)": None,
    "op('max_pool3d')(image, kernel_size=2, ceil_mode=True)": None,
    "list(op('max_pool1d')(line, 3, return_indices=True))": None,
    "list(op('max_pool2d')(image, 2, 2, 0, 1, True, True))": None,
    "list(op('adaptive_max_pool2d')(image, (2, 3), True))": None,
    "list(op('unique')(k, return_inverse=True, return_counts=True))": None,
    "list(op('unique')(k, True, True))": None,
    "list(op('unique_consecutive')(k, return_inverse=True, return_counts=True))": None,
    "list(op('unique_consecutive')(k[:0], return_counts=True))": None,
    "list(op('gradient')(x, spacing=2.0, dim=1))": [np.gradient(x, 2.0, axis=1)],
    "list(op('gradient')(x, spacing=[2.0, 0.5]))": list(np.gradient(x, 2.0, 0.5)),
    "list(op('gradient')(x, spacing=(v.cumsum(0) + up[:3], w.cumsum(0)), edge_order=2))": None,
    "list(op('gradient')(m, spacing=[1.0, 3.0], dim=(2, 0)))": None,
    **{f"lib.linalg.norm({form})": None for form in (
        "x", "v, 3", "x, 'nuc'", "x, 'fro', keepdim=True", "x, 1", "x, -2.0", "m, dim=(0, 1)", "m, 2, (1, 2), True",
        "x, dim=1", "m, math.inf, 0", "m, keepdim=True", "x, dtype=float64", "m, 'fro', dim=(-1, 0)",
    )},
    "lib.linalg.svd(x).Vh.abs()": None,
    "lib.linalg.svd(x, full_matrices=False).Vh.abs()": None,
    "lib.linalg.diagonal(m, offset=1)": np.diagonal(ARRAYS["m"], 1, 1, 2),
    "lib.linalg.cross(s, s + 1)": np.cross(s, s + 1),
    "lib.linalg.cond(s)": np.linalg.cond(s),
    "lib.linalg.cond(s, 'fro')": np.linalg.cond(s, "fro"),
    "lib.linalg.lstsq(x.t(), y.t()).solution": np.linalg.lstsq(x.T, y.T, None)[0],
    "list(lib.linalg.lstsq(x.t(), y.t()))[1:]": None,
    "lib.linalg.vander(v)": None,
    "lib.special.expit(x)": 1 / (1 + np.exp(-x)),
    "lib.special.gammaln(p)": None,
    "lib.special.psi(p)": None,
    "lib.special.gammainc(p, w)": None,
    "lib.special.gammaincc(p, w)": None,
    "lib.special.multigammaln(p + 2, 2)": None,
    "lib.special.softmax(x, dim=1)": np.exp(LOGS),
    "lib.fft.fft(x).real": np.fft.fft(x).real,
    "lib.fft.rfft(x, 6).imag": np.fft.rfft(x, 6).imag,
    "lib.fft.fftfreq(4, d=0.5, dtype=float64)": np.fft.fftfreq(4, 0.5),
    "lib.nn.functional.unfold(image, 2, 1, 0, 2)": None,
    "lib.nn.functional.relu_(x.clone())": np.maximum(x, 0),
    "lib.nn.functional.threshold_(x.clone(), 0.1, 2.0)": np.where(x > 0.1, x, 2),
    "lib.nn.functional.rrelu(x, 0.1, 0.3)": np.where(x > 0, x, 0.2 * x),
    "lib.nn.functional.upsample_nearest(image, scale_factor=2)": ARRAYS["image"].repeat(2, 2).repeat(2, 3),
    "lib.nn.functional.triplet_margin_with_distance_loss(x, y, p, swap=True)": None,
    "lib.nn.functional.dropout2d(image, 0.5, False)": ARRAYS["image"],
}


def value_of(form, library, namespaces, tensor):
    def op(name):
        return next(getattr(n, name) for n in namespaces if hasattr(n, name))

    scope = {name: tensor(a.copy()) for name, a in ARRAYS.items()}
    words = {"op": op, "lib": library, "math": math, "float64": library.float64, "int64": library.int64}
    return eval(form, scope | words)


# Operations with several results: their arguments after a matrix, and the names of the results.
NAMED_RESULTS = [
    ("max", (0,), "values indices"),
    ("min", (1, True), "values indices"),
    ("sort", (), "values indices"),
    ("topk", (2,), "values indices"),
    ("median", (0,), "values indices"),
    ("nanmedian", (0,), "values indices"),
    ("kthvalue", (2,), "values indices"),
    ("aminmax", (), "min max"),
    ("var_mean", (), "var mean"),
    ("std_mean", (), "std mean"),
    ("histogram", (4,), "hist bin_edges"),
    ("slogdet", (), "sign logabsdet"),
    ("eigh", (), "eigenvalues eigenvectors"),
    ("svd", (), "U S Vh"),
]


def programs_of(page):
    """The pairs of programs, PyTorch's and ours, of a page's text."""
    return re.findall(r"^```torch\n(.*?)^```\n+```python\n(.*?)^```$", page, re.M | re.S)


def is_random(program):
    """Whether the program of PyTorch draws, so that two libraries share shapes alone."""
    return "randn" in program or "nn.Linear" in program


def names_set_by(program):
    return {n.id for n in ast.walk(ast.parse(program)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def arrays_in(value):
    """The tensors of either library, as arrays."""
    if isinstance(value, dict):
        return [a for key in sorted(value) for a in arrays_in(value[key])]
    if isinstance(value, (tuple, list)):
        return [a for part in value for a in arrays_in(part)]
    return [np.asarray(value.detach())] if hasattr(value, "detach") else []
