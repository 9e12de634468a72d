"""Cases of the operations that stand in attention.h, embedding.h, recurrent.h and resampling.h, for
tools/torch_values.py."""
import torch
import torch.nn.functional as F
from torch_inputs import classes, x

INF = float("inf")
whole = lambda *numbers: torch.tensor(numbers)


def attention():
    f = F.scaled_dot_product_attention
    qkv = lambda: (x(2, 3, 4), x(2, 5, 4), x(2, 5, 3))
    seen = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 1, 1, 1]]).bool()
    hidden_row = torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]).bool()
    yield "scaled_dot_product_attention", f, qkv
    yield "scaled_dot_product_attention causal", lambda q, k, v: f(q, k, v, is_causal=True), qkv
    yield "scaled_dot_product_attention scale", lambda q, k, v: f(q, k, v, scale=0.3), qkv
    yield "scaled_dot_product_attention seen", lambda q, k, v, m: f(q, k, v, attn_mask=m), lambda: (*qkv(), seen)
    yield (
        "scaled_dot_product_attention sees none kink",
        lambda q, k, v, m: f(q, k, v, attn_mask=m),
        lambda: (*qkv(), hidden_row),
    )
    yield "scaled_dot_product_attention mask", lambda q, k, v, m: f(q, k, v, attn_mask=m), lambda: (*qkv(), x(3, 5))
    yield (
        "scaled_dot_product_attention mask of each",
        lambda q, k, v, m: f(q, k, v, attn_mask=m),
        lambda: (x(2, 2, 3, 4), x(2, 2, 5, 4), x(2, 2, 5, 3), x(2, 1, 1, 5)),
    )
    yield (
        "scaled_dot_product_attention broadcast",
        f,
        lambda: (x(2, 1, 3, 4), x(3, 5, 4), x(1, 3, 5, 2)),
    )
    yield (
        "scaled_dot_product_attention gqa",
        lambda q, k, v: f(q, k, v, is_causal=True, enable_gqa=True),
        lambda: (x(2, 4, 3, 2), x(2, 2, 3, 2), x(2, 2, 3, 2)),
    )
    yield (
        "scaled_dot_product_attention gqa mask",
        lambda q, k, v, m: f(q, k, v, attn_mask=m, enable_gqa=True),
        lambda: (x(4, 3, 2), x(2, 5, 2), x(2, 5, 3), x(4, 3, 5)),
    )

    def forward(q, k, v, w, b, u, c, **options):
        defaults = dict(
            embed_dim_to_check=4, num_heads=2, in_proj_weight=w, in_proj_bias=b, bias_k=None, bias_v=None,
            add_zero_attn=False, dropout_p=0.0, out_proj_weight=u, out_proj_bias=c,
        )  # fmt: skip
        y, weights = F.multi_head_attention_forward(q, k, v, **(defaults | options))
        return y if weights is None else (y, weights)

    parts = lambda: (x(3, 2, 4), x(5, 2, 4), x(5, 2, 4), x(12, 4), x(12), x(4, 4), x(4))
    padding = torch.tensor([[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]]).bool()
    yield "multi_head_attention_forward", forward, parts
    yield (
        "multi_head_attention_forward unaveraged",
        lambda *a: forward(*a, average_attn_weights=False),
        parts,
    )
    yield (
        "multi_head_attention_forward without weights",
        lambda *a: forward(*a[:-2], attn_mask=a[-2], key_padding_mask=a[-1], need_weights=False),
        lambda: (*parts(), seen.logical_not(), padding),
    )
    yield (
        "multi_head_attention_forward mask of heads",
        lambda *a: forward(*a[:-1], attn_mask=a[-1]),
        lambda: (*parts(), x(4, 3, 5)),
    )
    yield (
        "multi_head_attention_forward more keys",
        lambda *a: forward(*a[:-2], bias_k=a[-2], bias_v=a[-1], add_zero_attn=True, key_padding_mask=padding),
        lambda: (*parts(), x(1, 1, 4), x(1, 1, 4)),
    )
    yield (
        "multi_head_attention_forward separate",
        lambda q, k, v, a, b, c, d: forward(
            q, k, v, None, None, d, None, use_separate_proj_weight=True, q_proj_weight=a, k_proj_weight=b, v_proj_weight=c
        ),
        lambda: (x(3, 2, 4), x(5, 2, 3), x(5, 2, 2), x(4, 4), x(4, 3), x(4, 2), x(4, 4)),
    )
    causal = torch.ones(3, 3).triu(1).bool()
    yield (
        "multi_head_attention_forward causal of one",
        lambda q, w, b, u, c: forward(q, q, q, w, b, u, c, attn_mask=causal, is_causal=True, need_weights=False),
        lambda: (x(3, 4), x(12, 4), x(12), x(4, 4), x(4)),
    )


def embeddings():
    bag = F.embedding_bag
    yield "embedding padding kink", lambda i, w: F.embedding(i, w, padding_idx=1), lambda: (whole([0, 1], [3, 1]), x(4, 3))
    yield "embedding padding from the back kink", lambda i, w: F.embedding(i, w, padding_idx=-1), lambda: (whole(0, 3), x(4, 3))
    rows = lambda: (whole([0, 2, 2], [3, 1, 0]), x(4, 3))
    begins = whole(0, 2, 2, 5)
    long = lambda: (whole(0, 2, 3, 3, 1, 2), x(4, 3), begins)
    for mode in ("sum", "mean", "max"):
        yield f"embedding_bag {mode}", lambda i, w, mode=mode: bag(i, w, mode=mode), rows
        yield f"embedding_bag {mode} offsets", lambda i, w, o, mode=mode: bag(i, w, o, mode=mode), long
        yield f"embedding_bag {mode} padding", lambda i, w, o, mode=mode: bag(i, w, o, mode=mode, padding_idx=3), long
    yield (
        "embedding_bag weights",
        lambda i, w, o, s: bag(i, w, o, mode="sum", per_sample_weights=s),
        lambda: (*long(), x(6)),
    )
    yield (
        "embedding_bag last offset",
        lambda i, w: bag(i, w, whole(0, 2, 6), include_last_offset=True),
        lambda: long()[:2],
    )


def on_one(f, dim, a, h, *weights):
    """f of an input and states to which the axis of examples is lent: PyTorch's functions have no form without."""
    lent = lambda t: tuple(map(lent, t)) if isinstance(t, tuple) else t.unsqueeze(dim)
    back = lambda t: tuple(map(back, t)) if isinstance(t, tuple) else t.squeeze(dim)
    return back(f(lent(a), lent(h), *weights))


def recurrent():
    cells = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
    for name, gates in cells.items():
        is_lstm = name == "lstm"
        cell, layer = getattr(torch, f"{name}_cell"), getattr(torch, name)
        states = lambda *shape, n=2 if is_lstm else 1: tuple(x(*shape) for _ in range(n))

        def on(f, n=2 if is_lstm else 1):
            """f of the input, the state or states, and the rest."""
            return (lambda a, h, c, *w: f(a, (h, c), *w)) if n == 2 else f

        weights = lambda i, h, g=gates: (x(g * h, i), x(g * h, h), x(g * h), x(g * h))
        yield f"{name}_cell", on(cell), lambda s=states, w=weights: (x(2, 3), *s(2, 4), *w(3, 4))
        yield (
            f"{name}_cell bare",
            on(lambda a, h, *w, cell=cell: on_one(cell, 0, a, h, *w)),
            lambda s=states, w=weights: (x(3), *s(4), *w(3, 4)[:2]),
        )

        def run(a, h, *params, layer=layer, layers=1, biases=True, both=False, first=False):
            return layer(a, h, params, biases, layers, 0.0, False, both, first)

        yield name, on(run), lambda s=states, w=weights: (x(3, 2, 3), *s(1, 2, 4), *w(3, 4))
        yield (
            f"{name} bare",
            on(lambda a, h, *w, run=run: on_one(lambda *b: run(*b, biases=False), 1, a, h, *w)),
            lambda s=states, w=weights: (x(3, 2), *s(1, 2), *w(2, 2)[:2]),
        )
        yield (
            f"{name} layers both ways",
            on(lambda *a, run=run: run(*a, layers=2, both=True, first=True)),
            lambda s=states, w=weights: (x(1, 3, 2), *s(4, 1, 2), *w(2, 2), *w(2, 2), *w(4, 2), *w(4, 2)),
        )
    yield (
        "lstm projected",
        lambda a, h, c, *w: torch.lstm(a, (h, c), w, True, 1, 0.0, False, False, False),
        lambda: (x(3, 2, 3), x(1, 2, 2), x(1, 2, 4), x(16, 3), x(16, 2), x(16), x(16), x(2, 4)),
    )


def ctc():
    def loss(a, *rest, **options):
        return F.ctc_loss(a.log_softmax(-1), *rest, **options)

    padded = lambda: (x(6, 3, 4), whole([1, 2, 2], [3, 0, 0], [1, 1, 0]), whole(6, 3, 5), whole(3, 1, 2))
    yield "ctc_loss", loss, padded
    yield "ctc_loss none", lambda *a: loss(*a, reduction="none"), padded
    yield (
        "ctc_loss sum blank",
        lambda *a: loss(*a, blank=2, reduction="sum"),
        lambda: (x(5, 2, 3), whole([0, 1], [1, 1]), whole(5, 4), whole(2, 2)),
    )
    yield (
        "ctc_loss reads lengths",
        lambda *a: loss(*a, reduction="none"),
        lambda: (x(6, 3, 4), whole(1, 2, 2, 3, 1, 1), whole(6, 3, 5), whole(3, 1, 2)),
    )
    yield "ctc_loss of one", loss, lambda: (x(5, 4), whole(1, 3), torch.tensor(5), torch.tensor(2))
    yield "ctc_loss of none", lambda *a: loss(*a, reduction="none"), lambda: (
        x(4, 2, 3),
        whole([1, 2], [1, 2]),
        whole(4, 4),
        whole(0, 2),
    )
    yield (
        "ctc_loss zero_infinity kink",
        lambda *a: loss(*a, zero_infinity=True, reduction="none"),
        lambda: (x(3, 2, 3), whole([1, 1, 2], [1, 2, 1]), whole(3, 3), whole(3, 3)),
    )


def resampling():
    f = F.interpolate
    line, plane, space = (lambda: (x(1, 2, 4),)), (lambda: (x(1, 2, 3, 4),)), (lambda: (x(1, 1, 2, 3, 2),))
    for mode in ("nearest", "nearest-exact", "area", "linear"):
        name = f"interpolate {mode.replace('-', ' ')}"
        yield f"{name} line", lambda a, mode=mode: f(a, size=7, mode=mode), line
    for mode in ("nearest", "nearest-exact", "area", "bilinear", "bicubic"):
        name = f"interpolate {mode.replace('-', ' ')}"
        yield f"{name} plane", lambda a, mode=mode: f(a, size=(5, 3), mode=mode), plane
        yield f"{name} factor", lambda a, mode=mode: f(a, scale_factor=(1.7, 0.6), mode=mode), plane
    for mode in ("nearest", "nearest-exact", "area", "trilinear"):
        name = f"interpolate {mode.replace('-', ' ')}"
        yield f"{name} space", lambda a, mode=mode: f(a, size=(3, 2, 4), mode=mode), space
    for mode, inputs in (("linear", line), ("bilinear", plane), ("bicubic", plane), ("trilinear", space)):
        yield f"interpolate {mode} corners", lambda a, mode=mode: f(a, scale_factor=2, mode=mode, align_corners=True), inputs
    for mode in ("bilinear", "bicubic"):
        yield (
            f"interpolate {mode} recomputed",
            lambda a, mode=mode: f(a, scale_factor=1.7, mode=mode, recompute_scale_factor=True),
            plane,
        )
        yield (
            f"interpolate {mode} antialias",
            lambda a, mode=mode: f(a, size=(3, 9), mode=mode, antialias=True),
            lambda: (x(1, 2, 8, 7),),
        )
        yield (
            f"interpolate {mode} antialias corners",
            lambda a, mode=mode: f(a, size=(3, 4), mode=mode, antialias=True, align_corners=True),
            lambda: (x(1, 1, 8, 7),),
        )
    yield "upsample_nearest", lambda a: f(a, scale_factor=2, mode="nearest"), plane
    yield (
        "upsample_bilinear",
        lambda a: f(a, size=(5, 6), mode="bilinear", align_corners=True),
        plane,
    )
    image, body = (lambda: (x(2, 2, 3, 4), x(2, 3, 2, 2) * 0.8)), (lambda: (x(1, 2, 3, 2, 4), x(1, 2, 1, 3, 3) * 0.8))
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (False, True) if mode == "bilinear" else (padding == "border",):
                name = f"grid_sample {mode} {padding}{' corners' if corners else ''}"
                g = lambda a, b, o=dict(mode=mode, padding_mode=padding, align_corners=corners): F.grid_sample(a, b, **o)
                yield name, g, image
                if mode != "bicubic" and corners == (padding == "border"):
                    yield f"{name} space", g, body
    yield "affine_grid", lambda a: F.affine_grid(a, (2, 1, 3, 4), align_corners=False), lambda: (x(2, 2, 3),)
    yield "affine_grid corners", lambda a: F.affine_grid(a, (2, 1, 3, 1), align_corners=True), lambda: (x(2, 2, 3),)
    yield "affine_grid space", lambda a: F.affine_grid(a, (1, 1, 2, 3, 4), align_corners=False), lambda: (x(1, 3, 4),)
    yield "pixel_shuffle", lambda a: F.pixel_shuffle(a, 2), lambda: (x(2, 8, 2, 3),)
    yield "pixel_unshuffle", lambda a: F.pixel_unshuffle(a, 2), lambda: (x(2, 2, 4, 6),)
    yield "channel_shuffle", lambda a: F.channel_shuffle(a, 2), lambda: (x(2, 6, 2, 2),)


FAMILIES = [attention, embeddings, recurrent, ctc, resampling]
