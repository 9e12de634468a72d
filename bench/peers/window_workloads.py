"""Convolutions and pooling of ../windows.cpp for PyTorch."""
from inputs import uniform


def windows(r):
    if r.family != "torch":
        return {}
    f = r.np.nn.functional
    image = lambda count, channels, size: (count, channels, size, size)
    upsampled = lambda x, w: f.conv_transpose2d(x, w, stride=2, padding=1)
    pooled = lambda x: f.max_pool2d(x, 3, 2, 1)
    of = lambda *shapes: lambda: tuple(r.array(uniform(shape, 95 + i)) for i, shape in enumerate(shapes))
    grad = lambda function: r.grad(lambda x, *more: function(x, *more).sum())
    cases = {
        "conv_transpose2d_4x4_stride_2": (upsampled, of(image(32, 64, 28), (64, 32, 4, 4))),
        "conv_transpose2d_2x2_stride_2": (
            lambda x, w: f.conv_transpose2d(x, w, stride=2),
            of(image(32, 64, 28), (64, 64, 2, 2)),
        ),
        "conv_transpose2d_3x3": (
            lambda x, w: f.conv_transpose2d(x, w, padding=1),
            of(image(32, 64, 28), (64, 64, 3, 3)),
        ),
        "grad_of_conv_transpose2d": (grad(upsampled), of(image(32, 64, 28), (64, 32, 4, 4))),
        "conv3d": (lambda x, w: f.conv3d(x, w, padding=1), of((4, 32, 16, 28, 28), (32, 32, 3, 3, 3))),
        "max_pool1d_3_stride_2": (lambda x: f.max_pool1d(x, 3, 2), of((32, 64, 1024))),
        "max_pool2d_2": (lambda x: f.max_pool2d(x, 2), of(image(32, 64, 56))),
        "max_pool2d_3_stride_2": (pooled, of(image(16, 64, 112))),
        "grad_of_max_pool2d": (grad(pooled), of(image(16, 64, 112))),
        "avg_pool2d_2": (lambda x: f.avg_pool2d(x, 2), of(image(32, 64, 56))),
        "avg_pool2d_7": (lambda x: f.avg_pool2d(x, 7), of(image(32, 512, 7))),
        "adaptive_avg_pool2d_1": (lambda x: f.adaptive_avg_pool2d(x, 1), of(image(32, 64, 56))),
        "adaptive_avg_pool2d_7": (lambda x: f.adaptive_avg_pool2d(x, 7), of(image(32, 256, 15))),
        "adaptive_max_pool2d_7": (lambda x: f.adaptive_max_pool2d(x, 7), of(image(32, 64, 56))),
        "unfold_3": (lambda x: f.unfold(x, 3, padding=1), of(image(32, 64, 28))),
    }
    return {f"windows/{name}": case for name, case in cases.items()}
