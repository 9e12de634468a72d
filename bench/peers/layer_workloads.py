"""The layers of ../layers.cpp for PyTorch; QR for all rivals."""
import functools

from inputs import uniform


def layers(r):
    groups = (fourier, attention, factors, resampling, convolutions, pooling, embedding, reductions) if r.family == "torch" else (factors,)
    return {f"layers/{name}": case for group in groups for name, case in group(r).items()}


def of(r, *shapes):
    """Makes inputs of these shapes, from seeds 95, 96, …"""
    return lambda: tuple(r.array(uniform(shape, 95 + i)) for i, shape in enumerate(shapes))


def gradient_of(f):
    """The cotangents of all inputs of f but the last one, which is that of its output."""
    import torch

    def step(*x):
        inputs = [each.detach().requires_grad_() for each in x[:-1]]
        return torch.autograd.grad(f(*inputs), inputs, x[-1])

    return step


def channels_last(f):
    return lambda x, *more: f(x.permute(0, 3, 1, 2), *more)


def fourier(r):
    import torch

    real = torch.view_as_real
    complex_of = lambda *shape: lambda: (torch.complex(*of(r, shape, shape)()),)
    fft = lambda x: real(torch.fft.fft(x))
    rfft = lambda x: real(torch.fft.rfft(x))
    return {
        "fft_256x1024": (fft, complex_of(256, 1024)),
        "fft_1024x64": (fft, complex_of(1024, 64)),
        "fft_256x256": (fft, complex_of(256, 256)),
        "fft_256x1000": (fft, complex_of(256, 1000)),
        "fft_64x4096": (fft, complex_of(64, 4096)),
        "fft_4096": (fft, complex_of(4096)),
        "fft_1048576": (fft, complex_of(1048576)),
        "fft_of_columns": (lambda x: real(torch.fft.fft(x, dim=0)), complex_of(1024, 256)),
        "fft2_16x256x256": (lambda x: real(torch.fft.fft2(x)), complex_of(16, 256, 256)),
        "ifft_256x1024": (lambda x: real(torch.fft.ifft(x)), complex_of(256, 1024)),
        "rfft_256x1024": (rfft, of(r, (256, 1024))),
        "rfft_1024x64": (rfft, of(r, (1024, 64))),
        "rfft_65536": (rfft, of(r, (65536,))),
        "rfft2_16x256x256": (lambda x: real(torch.fft.rfft2(x)), of(r, (16, 256, 256))),
        "irfft_256x1024": (torch.fft.irfft, complex_of(256, 513)),
        "grad_of_rfft_256x1024": (gradient_of(rfft), of(r, (256, 1024), (256, 513, 2))),
    }


def attention(r):
    import torch

    attend = torch.nn.functional.scaled_dot_product_attention
    causal = functools.partial(attend, is_causal=True)
    grouped = functools.partial(attend, is_causal=True, enable_gqa=True)
    by_time = lambda *x: causal(*(each.transpose(1, 2) for each in x))
    heads, shared, times, many, one = (4, 8, 256, 64), (4, 2, 256, 64), (4, 256, 8, 64), (32, 8, 64, 64), (1, 1, 2048, 64)
    return {
        "attention": (attend, of(r, heads, heads, heads)),
        "attention_causal": (causal, of(r, heads, heads, heads)),
        "attention_grouped": (grouped, of(r, heads, shared, shared)),
        "attention_by_time": (by_time, of(r, times, times, times)),
        "attention_short": (attend, of(r, many, many, many)),
        "attention_long": (causal, of(r, one, one, one)),
        "grad_of_attention": (gradient_of(attend), of(r, heads, heads, heads, heads)),
        "grad_of_attention_causal": (gradient_of(causal), of(r, heads, heads, heads, heads)),
        "grad_of_attention_grouped": (gradient_of(grouped), of(r, heads, shared, shared, heads)),
        "grad_of_attention_long": (gradient_of(causal), of(r, one, one, one, one)),
    }


def factors(r):
    qr = lambda x: tuple(r.np.linalg.qr(x))
    return {f"qr_{'x'.join(map(str, shape))}": (qr, of(r, shape))
            for shape in ((4096, 64), (64, 64), (1024, 1024), (64, 4096), (256, 64, 64), (1024, 16, 16))}


def resampling(r):
    import torch

    resized = lambda mode, *size: lambda x: torch.nn.functional.interpolate(x, size, mode=mode)
    images, last, large = (4, 16, 64, 64), (4, 64, 64, 16), (4, 16, 128, 128)
    images_read, grid = (8, 16, 64, 64), (8, 64, 64, 2)
    colours, grey, fine = (8, 3, 64, 64), (4, 1, 256, 256), (4, 256, 256, 2)
    read = functools.partial(torch.nn.functional.grid_sample, align_corners=False)
    read_at = lambda x, places: read(x, places)
    read_cubically = lambda x, places: read(x, places, mode="bicubic")
    return {
        "interpolate_nearest": (resized("nearest", 128, 128), of(r, images)),
        "interpolate_nearest_down": (resized("nearest", 64, 64), of(r, large)),
        "interpolate_bilinear": (resized("bilinear", 128, 128), of(r, images)),
        "interpolate_bilinear_down": (resized("bilinear", 56, 56), of(r, large)),
        "interpolate_bicubic": (resized("bicubic", 128, 128), of(r, images)),
        "interpolate_bilinear_channels_last": (channels_last(resized("bilinear", 128, 128)), of(r, last)),
        "interpolate_linear": (resized("linear", 1024), of(r, (16, 64, 512))),
        "interpolate_trilinear": (resized("trilinear", 32, 64, 64), of(r, (2, 8, 16, 32, 32))),
        "grid_sample": (read_at, of(r, images_read, grid)),
        "grid_sample_colours": (read_at, of(r, colours, grid)),
        "grid_sample_bicubic": (read_cubically, of(r, grey, fine)),
        "grad_of_grid_sample": (gradient_of(read_at), of(r, images_read, grid, images_read)),
        "grad_of_grid_sample_colours": (gradient_of(read_at), of(r, colours, grid, colours)),
        "grad_of_grid_sample_bicubic": (gradient_of(read_cubically), of(r, grey, fine, grey)),
        "grad_of_interpolate_bilinear": (gradient_of(resized("bilinear", 128, 128)), of(r, images, large)),
        "grad_of_interpolate_bicubic": (gradient_of(resized("bicubic", 128, 128)), of(r, images, large)),
    }


def convolutions(r):
    import torch

    f = torch.nn.functional
    upsampled = lambda x, w: f.conv_transpose2d(x, w, stride=2, padding=1)
    images, last = (32, 64, 28, 28), (32, 28, 28, 64)
    return {
        "conv_transpose2d_4x4_stride_2": (upsampled, of(r, images, (64, 32, 4, 4))),
        "conv_transpose2d_2x2_stride_2": (lambda x, w: f.conv_transpose2d(x, w, stride=2), of(r, images, (64, 64, 2, 2))),
        "conv_transpose2d_3x3": (lambda x, w: f.conv_transpose2d(x, w, padding=1), of(r, images, (64, 64, 3, 3))),
        "conv_transpose2d_channels_last": (channels_last(upsampled), of(r, last, (64, 32, 4, 4))),
        "grad_of_conv_transpose2d": (gradient_of(upsampled), of(r, images, (64, 32, 4, 4), (32, 32, 56, 56))),
        "conv3d": (lambda x, w: f.conv3d(x, w, padding=1), of(r, (4, 32, 16, 28, 28), (32, 32, 3, 3, 3))),
        "unfold_3": (lambda x: f.unfold(x, 3, padding=1), of(r, images)),
    }


def pooling(r):
    import torch

    f = torch.nn.functional
    pooled = lambda x: f.max_pool2d(x, 3, 2, 1)
    averaged = lambda x: f.avg_pool2d(x, 2)
    lines, images, large, halves = (32, 64, 1024), (32, 64, 56, 56), (16, 64, 112, 112), (16, 64, 56, 56)
    small, last, volumes, quarter = (32, 512, 7, 7), (32, 56, 56, 64), (4, 32, 16, 28, 28), (32, 64, 28, 28)
    return {
        "max_pool1d_2": (lambda x: f.max_pool1d(x, 2), of(r, lines)),
        "max_pool1d_3_stride_2": (lambda x: f.max_pool1d(x, 3, 2), of(r, lines)),
        "max_pool2d_2": (lambda x: f.max_pool2d(x, 2), of(r, images)),
        "max_pool2d_3_stride_2": (pooled, of(r, large)),
        "max_pool2d_3_stride_2_channels_last": (channels_last(pooled), of(r, last)),
        "max_pool3d_2": (lambda x: f.max_pool3d(x, 2), of(r, volumes)),
        "avg_pool1d_2": (lambda x: f.avg_pool1d(x, 2), of(r, lines)),
        "avg_pool1d_3_stride_2": (lambda x: f.avg_pool1d(x, 3, 2), of(r, lines)),
        "avg_pool2d_2": (averaged, of(r, images)),
        "avg_pool2d_3_padded": (lambda x: f.avg_pool2d(x, 3, 1, 1), of(r, images)),
        "avg_pool2d_7": (lambda x: f.avg_pool2d(x, 7), of(r, small)),
        "avg_pool2d_2_channels_last": (channels_last(averaged), of(r, last)),
        "avg_pool3d_2": (lambda x: f.avg_pool3d(x, 2), of(r, volumes)),
        "adaptive_avg_pool1d_8": (lambda x: f.adaptive_avg_pool1d(x, 8), of(r, lines)),
        "adaptive_avg_pool2d_1": (lambda x: f.adaptive_avg_pool2d(x, 1), of(r, images)),
        "adaptive_avg_pool2d_7": (lambda x: f.adaptive_avg_pool2d(x, 7), of(r, (32, 256, 15, 15))),
        "adaptive_avg_pool2d_1_channels_last": (channels_last(lambda x: f.adaptive_avg_pool2d(x, 1)), of(r, last)),
        "adaptive_avg_pool3d_2": (lambda x: f.adaptive_avg_pool3d(x, 2), of(r, volumes)),
        "adaptive_max_pool1d_8": (lambda x: f.adaptive_max_pool1d(x, 8), of(r, lines)),
        "adaptive_max_pool2d_7": (lambda x: f.adaptive_max_pool2d(x, 7), of(r, images)),
        "adaptive_max_pool3d_2": (lambda x: f.adaptive_max_pool3d(x, 2), of(r, volumes)),
        "grad_of_max_pool2d": (gradient_of(pooled), of(r, large, halves)),
        "grad_of_avg_pool2d": (gradient_of(averaged), of(r, images, quarter)),
        "grad_of_adaptive_avg_pool2d": (gradient_of(lambda x: f.adaptive_avg_pool2d(x, 7)), of(r, images, (32, 64, 7, 7))),
    }


def embedding(r):
    import torch

    index = functools.cache(lambda: torch.from_numpy(uniform((4096, 20), 95, 0, 100000).astype("int64")))
    begins = torch.arange(0, 81920, 20)
    bag = torch.nn.functional.embedding_bag
    bagged = lambda mode: lambda table: bag(index(), table, mode=mode)
    weighted = lambda table, weights: bag(index(), table, mode="sum", per_sample_weights=weights)
    begun = lambda table: bag(index().flatten(), table, begins, mode="sum")
    of_table = lambda *shapes: lambda: tuple(
        r.array(uniform(shape, 96 + i)) for i, shape in enumerate(((100000, 64), *shapes))
    )
    return {
        "embedding_bag": (bagged("sum"), of_table()),
        "embedding_bag_mean": (bagged("mean"), of_table()),
        "embedding_bag_weighted": (weighted, of_table((4096, 20))),
        "embedding_bag_with_offsets": (begun, of_table()),
        "grad_of_embedding_bag": (gradient_of(bagged("sum")), of_table((4096, 64))),
        "grad_of_embedding_bag_mean": (gradient_of(bagged("mean")), of_table((4096, 64))),
        "grad_of_embedding_bag_weighted": (gradient_of(weighted), of_table((4096, 20), (4096, 64))),
    }


def reductions(r):
    import torch

    square, many, table = (1024, 1024), (1 << 20,), (100000,)

    def scattered(x, shape, dim, reduction):
        index = functools.cache(lambda: torch.from_numpy(uniform(shape, 95, 0, x[dim]).astype("int64")))
        step = lambda to, values: to.scatter_reduce(dim, index(), values, reduction)
        return step, lambda: (r.array(uniform(x, 96)), r.array(uniform(shape, 97)))

    running = lambda dim: (lambda x: torch.cummax(x, dim)[0], of(r, square))
    return {
        "scatter_reduce_sum_in_rows": scattered(square, square, 1, "sum"),
        "scatter_reduce_sum_in_columns": scattered(square, square, 0, "sum"),
        "scatter_reduce_sum_of_list": scattered(table, many, 0, "sum"),
        "scatter_reduce_amax_in_rows": scattered(square, square, 1, "amax"),
        "scatter_reduce_amax_in_columns": scattered(square, square, 0, "amax"),
        "scatter_reduce_amax_of_list": scattered(table, many, 0, "amax"),
        "cummax_of_rows": running(1),
        "cummax_of_columns": running(0),
        "cummax_of_rising_rows": (lambda x: torch.cummax(x + torch.arange(1024, dtype=torch.float32), 1)[0],
                                  of(r, square)),
    }
