"""Convolutions, pooling and padding for tools/torch_values.py."""
import torch
import torch.nn.functional as F
from torch_inputs import x, z


def windows():
    yield from convolutions()
    yield from maxima()
    yield from means()
    yield from paddings()


def whole(*shape):
    return torch.randint(-9, 10, shape)


def convolutions():
    yield "conv1d same", lambda a, w: F.conv1d(a, w, padding="same"), lambda: (x(2, 2, 5), x(3, 2, 2))
    yield "conv1d whole", lambda a, w: F.conv1d(a, w, stride=2, padding=1), lambda: (whole(1, 2, 5), whole(2, 2, 3))
    yield (
        "conv2d same",
        lambda a, w, b: F.conv2d(a, w, b, padding="same", dilation=(1, 2), groups=2),
        lambda: (x(2, 2, 3, 4), x(2, 1, 2, 3), x(2)),
    )
    yield "conv2d valid", lambda a, w: F.conv2d(a, w, padding="valid"), lambda: (x(2, 3, 4), x(1, 2, 2, 2))
    yield "conv2d whole", lambda a, w: F.conv2d(a, w), lambda: (whole(1, 2, 3, 4), whole(2, 2, 2, 2))
    yield "conv3d", lambda a, w: F.conv3d(a, w), lambda: (x(2, 2, 2, 3, 3), x(3, 2, 2, 2, 1))
    yield "conv3d of one", lambda a, w, b: F.conv3d(a, w, b), lambda: (x(1, 2, 2, 3), x(2, 1, 1, 2, 2), x(2))
    yield (
        "conv3d options",
        lambda a, w, b: F.conv3d(a, w, b, (2, 1, 1), (1, 0, 1), (1, 2, 1), 2),
        lambda: (x(1, 2, 3, 3, 2), x(2, 1, 2, 2, 2), x(2)),
    )
    yield "conv3d same", lambda a, w: F.conv3d(a, w, padding="same"), lambda: (x(1, 1, 2, 3, 2), x(1, 1, 2, 3, 2))
    yield "conv_transpose1d", lambda a, w: F.conv_transpose1d(a, w), lambda: (x(2, 2, 3), x(2, 3, 2))
    yield (
        "conv_transpose1d options",
        lambda a, w, b: F.conv_transpose1d(a, w, b, 3, 1, 2, 2, 2),
        lambda: (x(4, 3), x(4, 2, 3), x(4)),
    )
    yield (
        "conv_transpose1d wide output_padding",
        lambda a, w: F.conv_transpose1d(a, w, dilation=3, output_padding=2),
        lambda: (x(1, 1, 3), x(1, 2, 2)),
    )
    yield "conv_transpose2d", lambda a, w: F.conv_transpose2d(a, w), lambda: (x(2, 2, 2, 3), x(2, 3, 2, 2))
    yield "conv_transpose2d bias", lambda a, w, b: F.conv_transpose2d(a, w, b), lambda: (x(2, 2, 3), x(2, 3, 2, 1), x(3))
    yield (
        "conv_transpose2d options",
        lambda a, w: F.conv_transpose2d(a, w, None, (2, 1), (1, 0), (1, 0), 2, (1, 2)),
        lambda: (x(2, 4, 2, 3), x(4, 1, 3, 2)),
    )
    yield "conv_transpose2d complex", lambda a, w: F.conv_transpose2d(a, w, stride=2), lambda: (z(1, 2, 2, 2), z(2, 1, 2, 1))
    yield "conv_transpose3d", lambda a, w: F.conv_transpose3d(a, w), lambda: (x(1, 2, 2, 2, 1), x(2, 2, 1, 2, 2))
    yield (
        "conv_transpose3d options",
        lambda a, w, b: F.conv_transpose3d(a, w, b, 2, (0, 1, 0), (1, 0, 1), 2, (1, 1, 2)),
        lambda: (x(1, 2, 2, 2, 2), x(2, 1, 2, 2, 2), x(2)),
    )
    yield "unfold windows", lambda a: F.unfold(a, 2), lambda: (x(2, 2, 3, 4),)
    yield "unfold options", lambda a: F.unfold(a, (2, 3), (1, 2), (0, 2), (2, 1)), lambda: (x(2, 4, 3),)
    yield "unfold complex", lambda a: F.unfold(a, 2, padding=1, stride=2), lambda: (z(1, 2, 2),)
    yield "fold", lambda a: F.fold(a, (3, 4), 2), lambda: (x(2, 8, 6),)
    yield "fold options", lambda a: F.fold(a, (4, 3), (2, 3), (1, 2), (0, 2), (2, 1)), lambda: (x(12, 6),)


def with_indices(pool, *arguments, **options):
    return lambda a: pool(a, *arguments, **options, return_indices=True)


def unpooled(places):
    return torch.tensor(places)


def maxima():
    yield "max_pool1d", lambda a: F.max_pool1d(a, 2), lambda: (x(2, 3, 5),)
    yield "max_pool1d options", lambda a: F.max_pool1d(a, 3, 2, 1, 2), lambda: (x(2, 7),)
    yield "max_pool1d ceil", lambda a: F.max_pool1d(a, 2, 2, 0, 1, True), lambda: (x(2, 5),)
    yield "max_pool1d_with_indices", with_indices(F.max_pool1d, 3, 1, 1), lambda: (x(1, 2, 4),)
    yield "max_pool1d_with_indices kernel", with_indices(F.max_pool1d, 2), lambda: (x(2, 5),)
    yield "max_pool2d ceil", lambda a: F.max_pool2d(a, 3, 2, (1, 0), 1, True), lambda: (x(1, 4, 6),)
    yield "max_pool2d ceil wide", lambda a: F.max_pool2d(a, (4, 3), (2, 3), 0, 1, True), lambda: (x(1, 3, 4),)
    yield "max_pool2d whole", lambda a: F.max_pool2d(a, 2), lambda: (whole(1, 4, 4),)
    yield "max_pool2d_with_indices", with_indices(F.max_pool2d, 2), lambda: (x(1, 2, 4, 5),)
    yield (
        "max_pool2d_with_indices options",
        with_indices(F.max_pool2d, 2, (2, 1), (0, 1), (1, 2), ceil_mode=True),
        lambda: (x(2, 5, 4),),
    )
    yield "max_pool3d", lambda a: F.max_pool3d(a, 2), lambda: (x(1, 2, 2, 4, 5),)
    yield "max_pool3d stride", lambda a: F.max_pool3d(a, 2, 1), lambda: (x(2, 2, 3, 3),)
    yield "max_pool3d padding", lambda a: F.max_pool3d(a, (1, 2, 3), (1, 2, 1), (0, 1, 1)), lambda: (x(1, 2, 3, 3),)
    yield "max_pool3d dilation", lambda a: F.max_pool3d(a, 2, 1, 0, (1, 2, 1)), lambda: (x(1, 2, 3, 3),)
    yield "max_pool3d ceil", lambda a: F.max_pool3d(a, 2, 2, 0, 1, True), lambda: (x(1, 3, 2, 3),)
    yield "max_pool3d_with_indices", with_indices(F.max_pool3d, 2), lambda: (x(1, 2, 4, 4),)
    yield (
        "max_pool3d_with_indices options",
        with_indices(F.max_pool3d, 2, 1, 1, 1, ceil_mode=True),
        lambda: (x(1, 1, 2, 3, 2),),
    )
    yield "max_unpool1d", lambda a, i: F.max_unpool1d(a, i, 2), lambda: (x(2, 2), unpooled([[1, 2], [0, 3]]))
    yield (
        "max_unpool1d options",
        lambda a, i: F.max_unpool1d(a, i, 3, 2, 1),
        lambda: (x(1, 2, 2), unpooled([[[1, 2], [0, 2]]])),
    )
    yield (
        "max_unpool1d output_size",
        lambda a, i: F.max_unpool1d(a, i, 2, 2, 0, (5,)),
        lambda: (x(2, 2), unpooled([[1, 4], [0, 3]])),
    )
    yield (
        "max_unpool2d",
        lambda a, i: F.max_unpool2d(a, i, 2),
        lambda: (x(2, 1, 2), unpooled([[[5, 2]], [[0, 7]]])),
    )
    yield (
        "max_unpool2d options",
        lambda a, i: F.max_unpool2d(a, i, (2, 3), (2, 1), (0, 1)),
        lambda: (x(1, 1, 2, 2), unpooled([[[[3, 0], [4, 7]]]])),
    )
    yield (
        "max_unpool2d output_size",
        lambda a, i: F.max_unpool2d(a, i, 2, None, 0, (3, 5)),
        lambda: (x(1, 1, 2), unpooled([[[14, 3]]])),
    )
    yield (
        "max_unpool3d",
        lambda a, i: F.max_unpool3d(a, i, 2),
        lambda: (x(1, 1, 1, 2), unpooled([[[[15, 2]]]])),
    )
    yield (
        "max_unpool3d options",
        lambda a, i: F.max_unpool3d(a, i, (1, 2, 2), (1, 2, 1), (0, 0, 0)),
        lambda: (x(1, 2, 1, 2), unpooled([[[[5, 2]], [[7, 11]]]])),
    )
    yield (
        "max_unpool3d output_size",
        lambda a, i: F.max_unpool3d(a, i, 2, None, 0, (3, 2, 4)),
        lambda: (x(1, 1, 1, 2), unpooled([[[[23, 2]]]])),
    )
    yield "adaptive_max_pool1d", lambda a: F.adaptive_max_pool1d(a, 3), lambda: (x(2, 2, 5),)
    yield "adaptive_max_pool2d", lambda a: F.adaptive_max_pool2d(a, (3, 2)), lambda: (x(2, 2, 5, 4),)
    yield "adaptive_max_pool2d more", lambda a: F.adaptive_max_pool2d(a, 3), lambda: (x(1, 2, 3),)
    yield "adaptive_max_pool3d", lambda a: F.adaptive_max_pool3d(a, (2, 1, 3)), lambda: (x(2, 3, 2, 4),)
    yield "adaptive_max_pool1d_with_indices", with_indices(F.adaptive_max_pool1d, 3), lambda: (x(2, 4),)
    yield "adaptive_max_pool2d_with_indices", with_indices(F.adaptive_max_pool2d, 2), lambda: (x(1, 2, 3, 5),)
    yield "adaptive_max_pool3d_with_indices", with_indices(F.adaptive_max_pool3d, (2, 2, 1)), lambda: (x(1, 3, 2, 4),)

    def fractional(pool, *arguments, indices=False):
        return lambda a, u: pool(a, *arguments, _random_samples=u, return_indices=indices)

    unit = lambda *shape: torch.rand(shape, dtype=torch.float64)
    yield "fractional_max_pool2d", fractional(F.fractional_max_pool2d, 2, (3, 4)), lambda: (x(2, 2, 6, 7), unit(2, 2, 2))
    yield "fractional_max_pool2d of one", fractional(F.fractional_max_pool2d, (2, 1), 2), lambda: (x(3, 5, 6), unit(1, 3, 2))
    yield "fractional_max_pool3d", fractional(F.fractional_max_pool3d, 2, (2, 3, 1)), lambda: (x(1, 2, 4, 6, 5), unit(1, 2, 3))
    yield (
        "fractional_max_pool2d_with_indices",
        fractional(F.fractional_max_pool2d, 2, 3, indices=True),
        lambda: (x(1, 2, 7, 6), unit(1, 2, 2)),
    )
    yield (
        "fractional_max_pool3d_with_indices",
        fractional(F.fractional_max_pool3d, (1, 2, 3), (2, 2, 2), indices=True),
        lambda: (x(2, 4, 5, 6), unit(1, 2, 3)),
    )


def means():
    yield "avg_pool1d", lambda a: F.avg_pool1d(a, 2), lambda: (x(2, 2, 5),)
    yield "avg_pool1d stride", lambda a: F.avg_pool1d(a, 2, 1), lambda: (x(2, 5),)
    yield "avg_pool1d padding", lambda a: F.avg_pool1d(a, 3, 2, 1), lambda: (x(2, 5),)
    yield "avg_pool1d options", lambda a: F.avg_pool1d(a, 3, 2, 1, True, False), lambda: (x(2, 6),)
    yield "avg_pool2d ceil", lambda a: F.avg_pool2d(a, 3, 2, 1, True), lambda: (x(1, 4, 6),)
    yield "avg_pool2d inside", lambda a: F.avg_pool2d(a, 3, 1, 1, False, False), lambda: (x(1, 3, 4),)
    yield "avg_pool2d ceil inside", lambda a: F.avg_pool2d(a, (2, 3), (2, 2), (1, 1), True, False), lambda: (x(1, 4, 4),)
    yield "avg_pool2d divisor", lambda a: F.avg_pool2d(a, 2, 1, 1, True, False, 3), lambda: (x(1, 3, 3),)
    yield "avg_pool2d wide", lambda a: F.avg_pool2d(a, 4, 1, 2, False, False), lambda: (x(1, 3, 3),)
    yield "avg_pool2d wide divisor", lambda a: F.avg_pool2d(a, 3, divisor_override=-2), lambda: (x(2, 3, 3),)
    yield "avg_pool2d whole", lambda a: F.avg_pool2d(a, 2), lambda: (whole(1, 4, 4),)
    yield "avg_pool3d", lambda a: F.avg_pool3d(a, 2), lambda: (x(1, 2, 2, 4, 5),)
    yield "avg_pool3d stride", lambda a: F.avg_pool3d(a, 2, 1), lambda: (x(2, 2, 3, 3),)
    yield "avg_pool3d padding", lambda a: F.avg_pool3d(a, (1, 2, 3), (1, 2, 1), (0, 1, 1)), lambda: (x(1, 2, 3, 3),)
    yield "avg_pool3d inside", lambda a: F.avg_pool3d(a, 2, 2, 1, True, False), lambda: (x(1, 3, 2, 3),)
    yield "avg_pool3d divisor", lambda a: F.avg_pool3d(a, 2, 2, 1, True, True, 5), lambda: (x(1, 3, 2, 3),)
    positive = lambda *shape: torch.rand(shape, dtype=torch.float64) + 0.25
    yield "lp_pool1d", lambda a: F.lp_pool1d(a, 2, 3), lambda: (x(2, 2, 6),)
    yield "lp_pool1d options", lambda a: F.lp_pool1d(a, 3.5, 2, 2, True), lambda: (positive(2, 5),)
    yield "lp_pool2d", lambda a: F.lp_pool2d(a, 2, (2, 3)), lambda: (x(2, 4, 6),)
    yield "lp_pool2d options", lambda a: F.lp_pool2d(a, 1.5, 2, (2, 1), True), lambda: (positive(1, 5, 4),)
    yield "lp_pool2d inf", lambda a: F.lp_pool2d(a, float("inf"), 2), lambda: (x(1, 4, 4),)
    yield "lp_pool2d least", lambda a: F.lp_pool2d(a, float("-inf"), 2), lambda: (x(1, 4, 4),)
    yield "lp_pool2d kink", lambda a: F.lp_pool2d(a, 2, 2), lambda: (torch.zeros(1, 2, 4).double(),)
    yield "lp_pool3d", lambda a: F.lp_pool3d(a, 2, 2), lambda: (x(1, 2, 2, 4),)
    yield "lp_pool3d options", lambda a: F.lp_pool3d(a, 3, 2, 1, True), lambda: (positive(1, 2, 3, 2),)
    yield "adaptive_avg_pool1d", lambda a: F.adaptive_avg_pool1d(a, 3), lambda: (x(2, 2, 5),)
    yield "adaptive_avg_pool3d", lambda a: F.adaptive_avg_pool3d(a, (2, 1, 3)), lambda: (x(2, 3, 2, 4),)
    yield "adaptive_avg_pool3d more", lambda a: F.adaptive_avg_pool3d(a, 3), lambda: (x(1, 1, 2, 4, 5),)


def paddings():
    for mode in ("reflect", "replicate", "circular"):
        yield f"pad {mode}", lambda a, m=mode: F.pad(a, (2, 1), m), lambda: (x(2, 4),)
        yield f"pad {mode} of planes", lambda a, m=mode: F.pad(a, (1, 2, 2, 0), m), lambda: (x(2, 3, 4),)
        yield f"pad {mode} of volumes", lambda a, m=mode: F.pad(a, (1, 1, 0, 1, 1, 0), m), lambda: (x(1, 2, 2, 3),)
        yield f"pad {mode} cut", lambda a, m=mode: F.pad(a, (2, -1), m), lambda: (x(2, 5),)
    yield "pad circular complex", lambda a: F.pad(a, (1, 2), "circular"), lambda: (z(2, 3),)
    yield "pad constant", lambda a: F.pad(a, (1, 2), "constant", 7.0), lambda: (x(2, 3),)
    yield "pad constant zero", lambda a: F.pad(a, (1, 2), "constant"), lambda: (x(2, 3),)
