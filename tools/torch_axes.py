#!/usr/bin/env python3
"""Writes tests/ops/axes_of_torch.txt: what PyTorch makes of an axis of small tensors, 0-dim and empty ones among them.

Each line is `operation shape: answer…`, one answer for every axis from -rank-1 to rank (a 0-dim tensor counts as rank 1):
the shapes of the results, joined by `+`, or `error`. tests/ops/axes_test.cpp holds our operations against it.

    python3 tools/torch_axes.py > tests/ops/axes_of_torch.txt   # needs PyTorch
"""
import sys
import torch

SHAPES = [(), (0,), (1,), (3,), (0, 3), (2, 0), (2, 0, 3)]


def size_along(x, d):
    rank = max(x.dim(), 1)
    if not -rank <= d < rank:
        return 1
    return x.shape[d] if x.dim() else 1


def few(x, d):
    """The first place along an axis, if there is one."""
    return torch.zeros(min(size_along(x, d), 1), dtype=torch.int64)


def few_of_each(x, d):
    shape = list(x.shape)
    if -x.dim() <= d < x.dim():
        shape[d] = min(shape[d], 1)
    return torch.zeros(shape, dtype=torch.int64)


def part(x, d):
    """x where `few` looks."""
    return torch.ones(few_of_each(x, d).shape)


def without(x, d):
    shape = list(x.shape)
    if -x.dim() <= d < x.dim():
        del shape[d]
    return torch.ones(shape)


def slice_along(x, d):
    return torch.ops.aten.slice.Tensor(x, d, 0, 1, 1)


OPERATIONS = {
    "sum": lambda x, d: x.sum(d),
    "sum_keepdim": lambda x, d: x.sum(d, True),
    "mean": lambda x, d: x.mean(d),
    "prod": lambda x, d: x.prod(d),
    "prod_keepdim": lambda x, d: x.prod(d, True),
    "amax": lambda x, d: x.amax(d),
    "amin": lambda x, d: x.amin(d),
    "max": lambda x, d: x.max(d),
    "min_keepdim": lambda x, d: x.min(d, True),
    "argmax": lambda x, d: x.argmax(d),
    "argmin_keepdim": lambda x, d: x.argmin(d, True),
    "any": lambda x, d: x.any(d),
    "all": lambda x, d: x.all(d),
    "var": lambda x, d: x.var(d),
    "std_keepdim": lambda x, d: x.std(d, keepdim=True),
    "norm": lambda x, d: torch.linalg.vector_norm(x, 2, d),
    "norm_inf": lambda x, d: torch.linalg.vector_norm(x, float("inf"), d),
    "logsumexp": lambda x, d: x.logsumexp(d),
    "softmax": lambda x, d: x.softmax(d),
    "log_softmax": lambda x, d: x.log_softmax(d),
    "cumsum": lambda x, d: x.cumsum(d),
    "cumprod": lambda x, d: x.cumprod(d),
    "logcumsumexp": lambda x, d: x.logcumsumexp(d),
    "sort": lambda x, d: x.sort(d),
    "argsort": lambda x, d: x.argsort(d),
    "topk": lambda x, d: x.topk(1, d),
    "median": lambda x, d: x.median(d),
    "transpose": lambda x, d: x.transpose(d, 0),
    "movedim": lambda x, d: x.movedim(d, 0),
    "slice": slice_along,
    "select": lambda x, d: x.select(d, 0),
    "narrow": lambda x, d: x.narrow(d, 0, size_along(x, d)),
    "diagonal": lambda x, d: x.diagonal(0, d, 0),
    "unfold": lambda x, d: x.unfold(d, 1, 1),
    "unfold_nothing": lambda x, d: x.unfold(d, 0, 1),
    "squeeze": lambda x, d: x.squeeze(d),
    "unsqueeze": lambda x, d: x.unsqueeze(d),
    "flatten": lambda x, d: x.flatten(d, -1),
    "flatten_to": lambda x, d: x.flatten(0, d),
    "unbind": lambda x, d: x.unbind(d),
    "split": lambda x, d: x.split(2, d),
    "split_sizes": lambda x, d: x.split([size_along(x, d)], d),
    "chunk": lambda x, d: x.chunk(2, d),
    "tensor_split": lambda x, d: x.tensor_split(2, d),
    "tensor_split_at": lambda x, d: x.tensor_split([1], d),
    "cat": lambda x, d: torch.cat([x, x], d),
    "stack": lambda x, d: torch.stack([x, x], d),
    "repeat_interleave": lambda x, d: x.repeat_interleave(2, d),
    "flip": lambda x, d: x.flip(d),
    "roll": lambda x, d: x.roll(1, d),
    "diag_embed": lambda x, d: torch.diag_embed(x, 0, d, 0),
    "slice_scatter": lambda x, d: torch.slice_scatter(x, slice_along(x, d), d, 0, 1, 1),
    "select_scatter": lambda x, d: torch.select_scatter(x, without(x, d), d, 0),
    "diagonal_scatter": lambda x, d: torch.diagonal_scatter(x, torch.ones(x.diagonal(0, d, 0).shape), 0, d, 0),
    "cross": lambda x, d: torch.linalg.cross(x, x, dim=d),
    "index_select": lambda x, d: x.index_select(d, few(x, d)),
    "index_select_by_number": lambda x, d: x.index_select(d, torch.tensor(0)),
    "index_add": lambda x, d: x.index_add(d, few(x, d), part(x, d)),
    "index_add_number": lambda x, d: x.index_add(d, torch.tensor(0), torch.tensor(1.0)),
    "index_fill": lambda x, d: x.index_fill(d, few(x, d), 2),
    "index_fill_by_number": lambda x, d: x.index_fill(d, torch.tensor(0), 2),
    "gather": lambda x, d: x.gather(d, few_of_each(x, d)),
    "gather_one": lambda x, d: x.gather(d, torch.tensor([0])),
    "gather_number": lambda x, d: x.gather(d, torch.tensor(0)),
    "take_along_dim": lambda x, d: x.take_along_dim(few_of_each(x, d), d),
    "scatter": lambda x, d: x.scatter(d, few_of_each(x, d), part(x, d)),
    "scatter_one": lambda x, d: x.scatter(d, torch.tensor([0]), torch.tensor([1.0])),
    "scatter_number": lambda x, d: x.scatter(d, torch.tensor(0), torch.tensor(1.0)),
    "scatter_add": lambda x, d: x.scatter_add(d, few_of_each(x, d), part(x, d)),
}


def text(shape):
    return "[" + ",".join(str(n) for n in shape) + "]"


def answer(f, x, d):
    try:
        result = f(x, d)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return "error"
    results = [result] if isinstance(result, torch.Tensor) else list(result)
    return "+".join(text(r.shape) for r in results) or "nothing"


def main():
    print(f"# What PyTorch {torch.__version__.split('+')[0]} makes of an axis; written by tools/torch_axes.py, which says how to read it.")
    for name, f in OPERATIONS.items():
        for shape in SHAPES:
            x = torch.arange(1, 1 + torch.Size(shape).numel()).reshape(shape) / 4
            rank = max(len(shape), 1)
            print(f"{name} {text(shape)}:", *(answer(f, x, d) for d in range(-rank - 1, rank + 1)))


if __name__ == "__main__":
    sys.exit(main())
