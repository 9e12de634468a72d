"""torch.nn.functional's names."""

from .. import _core
from .._core import (  # noqa: F401
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    affine_grid,
    alpha_dropout,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    batch_norm,
    bilinear,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    celu,
    channel_shuffle,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cosine_embedding_loss,
    cosine_similarity,
    cross_entropy,
    ctc_loss,
    dropout,
    elu,
    embedding,
    embedding_bag,
    feature_alpha_dropout,
    fold,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    gaussian_nll_loss,
    gelu,
    glu,
    grid_sample,
    group_norm,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hinge_embedding_loss,
    huber_loss,
    instance_norm,
    interpolate,
    kl_div,
    l1_loss,
    layer_norm,
    leaky_relu,
    linear,
    linear_cross_entropy,
    local_response_norm,
    log_softmax,
    logsigmoid,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    margin_ranking_loss,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
    mish,
    mse_loss,
    multi_head_attention_forward,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    normalize,
    one_hot,
    pad,
    pairwise_distance,
    pdist,
    pixel_shuffle,
    pixel_unshuffle,
    poisson_nll_loss,
    prelu,
    relu,
    relu6,
    relu_,
    rms_norm,
    scaled_dot_product_attention,
    selu,
    sigmoid,
    silu,
    smooth_l1_loss,
    soft_margin_loss,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    triplet_margin_loss,
    upsample_bilinear,
    upsample_nearest,
)
from .._core import interpolate as upsample  # noqa: F401


def _of_channels(name, axes):
    """dropout of whole channels; an input without examples has the channels first."""

    def drop(input, p=0.5, training=True, inplace=False):
        if input.ndim != axes + 1:
            return _core.feature_dropout(input, p, training, inplace=inplace)
        dropped = _core.feature_dropout(input.unsqueeze(0), p, training).squeeze(0)
        return input.copy_(dropped) if inplace else dropped

    drop.__name__ = drop.__qualname__ = name
    drop.__doc__ = f"torch.nn.functional.{name}: zeros for whole channels of {axes} axes, each with probability p."
    return drop


dropout1d = _of_channels("dropout1d", 1)
dropout3d = _of_channels("dropout3d", 3)
dropout2d = _core.feature_dropout


def _in_place(name):
    """`relu_` of `relu`."""
    operation = getattr(_core, name)

    def write(input, *args, **named):
        return operation(input, *args, inplace=True, **named)

    write.__name__ = write.__qualname__ = name + "_"
    write.__doc__ = f"{name}, written to the input."
    return write


celu_, elu_, hardtanh_, leaky_relu_ = map(_in_place, ("celu", "elu", "hardtanh", "leaky_relu"))
relu_, selu_, threshold_ = map(_in_place, ("relu", "selu", "threshold"))


def rrelu(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    """A leaky ReLU whose slopes are drawn between lower and upper in training, and are their mean else."""
    return _core.rrelu(input, lower=lower, upper=upper, training=training, inplace=inplace)


def rrelu_(input, lower=1 / 8, upper=1 / 3, training=False):
    """rrelu, written to the input."""
    return rrelu(input, lower, upper, training, True)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """Samples of classes by the Gumbel trick, softened; `eps` has no use, as in PyTorch."""
    return _core.gumbel_softmax(logits, tau=tau, hard=hard, dim=dim)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of images as columns."""
    return _core.unfold(input, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), with a distance d of one's own."""
    d = _core.pairwise_distance if distance_function is None else distance_function
    near, far = d(anchor, positive), d(anchor, negative)
    if swap:
        far = _core.minimum(far, d(positive, negative))
    loss = _core.clamp_min(near - far + margin, 0)
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise _core.ValueError(
            f'triplet_margin_with_distance_loss: reduction is "{reduction}"; it must be "none", "mean" or "sum"'
        )
    return loss.mean() if reduction == "mean" else loss.sum()
