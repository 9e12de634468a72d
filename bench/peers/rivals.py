"""The rivals: what the workloads need of each, under one set of names. Knows no workload.

`np` is the rival's array library; the transforms take the same arguments in both. Where good style differs a workload
branches on `family`. JAX has 64-bit types enabled; float32 inputs stay float32.
"""
import os
from types import SimpleNamespace


def torch(compiled):
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    f = torch.func

    def value_and_grad(function):
        def both(*arguments):
            gradient, value = f.grad_and_value(function)(*arguments)
            return value, gradient

        return both

    return SimpleNamespace(
        family="torch", version=torch.__version__, np=torch, float64=torch.float64,
        grad=f.grad, value_and_grad=value_and_grad, vmap=f.vmap, jvp=f.jvp,
        jacfwd=f.jacfwd, jacrev=f.jacrev, hessian=f.hessian,
        relu=torch.relu, logsumexp=torch.logsumexp, split=torch.split,
        square_norms=lambda rows: rows.norm(dim=1) ** 2,
        cross=torch.linalg.cross, softplus=torch.nn.functional.softplus,
        cholesky_solve=lambda b, l: torch.cholesky_solve(b[:, None], l)[:, 0],
        key=lambda: torch.zeros(1), normal=lambda key, shape: torch.randn(shape),
        array=torch.from_numpy,
        leaves=lambda tree: [leaf.detach().numpy() for leaf in torch.utils._pytree.tree_leaves(tree)],
        compile=torch.compile if compiled else lambda step: step,
        wait=lambda outputs: None,
    )


def jax():
    os.environ["JAX_PLATFORMS"] = "cpu"
    import itertools

    import jax
    import numpy

    jax.config.update("jax_enable_x64", True)
    return SimpleNamespace(
        family="jax", version=jax.__version__, np=jax.numpy, float64=jax.numpy.float64,
        while_loop=jax.lax.while_loop, fori_loop=jax.lax.fori_loop, scan=jax.lax.scan, custom_root=jax.lax.custom_root,
        cond=jax.lax.cond, sigmoid=jax.nn.sigmoid,
        grad=jax.grad, value_and_grad=jax.value_and_grad, vmap=jax.vmap, jvp=jax.jvp,
        jacfwd=jax.jacfwd, jacrev=jax.jacrev, hessian=jax.hessian,
        relu=jax.nn.relu, logsumexp=jax.nn.logsumexp,
        split=lambda x, sizes: jax.numpy.split(x, list(itertools.accumulate(sizes))[:-1]),
        square_norms=lambda rows: (rows * rows).sum(1),
        cross=jax.numpy.cross, softplus=jax.nn.softplus,
        cholesky_solve=lambda b, l: jax.scipy.linalg.cho_solve((l, True), b),
        key=lambda: jax.random.key(7), normal=lambda key, shape: jax.random.normal(key, shape, jax.numpy.float32),
        array=jax.numpy.asarray,
        leaves=lambda tree: [numpy.asarray(leaf) for leaf in jax.tree.leaves(tree)],
        compile=jax.jit,
        wait=jax.block_until_ready,
    )


BY_NAME = {"torch": lambda: torch(False), "torch_compile": lambda: torch(True), "jax": jax}
