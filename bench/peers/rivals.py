"""The rivals: what the workloads need of each, under one set of names. Knows no workload.

torch and jax share most workloads: `np` is the rival's array library, the transforms take the same arguments in both,
and where good style differs a workload branches on `family`. JAX has 64-bit types enabled; float32 inputs stay float32.
drjit, casadi, numba and stan have workloads of their own, in drjit_workloads.py and so on; `module` is the rival itself.
"""
import os
import shutil
import tempfile
from types import SimpleNamespace

import numpy


class Absent(Exception):
    """What the rival needs and this machine lacks."""


def threads():
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def flattened(tree):
    """The leaves of nested tuples and lists."""
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in flattened(part)]
    return [tree]


def torch(compiled):
    import torch

    torch.set_num_threads(threads())
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


def drjit():
    """Steps are frozen functions: what they trace is replayed at later calls."""
    import drjit as dr

    if not dr.has_backend(dr.JitBackend.LLVM):
        raise Absent("libLLVM (DRJIT_LIBLLVM_PATH names it)")
    from drjit.llvm import ad as types

    dr.set_thread_count(threads())

    def array(type):
        def make(values):
            made = type(values)
            dr.eval(made)
            return made

        return make

    def variable(value):
        """A copy of an array, to differentiate by."""
        own = type(value)(dr.detach(value))
        dr.enable_grad(own)
        return own

    def wait(outputs):
        dr.eval(outputs)
        dr.sync_thread()

    return SimpleNamespace(
        family="drjit", version=dr.__version__, module=dr, Float32=types.Float, Float64=types.Float64,
        UInt32=types.UInt32, UInt64=types.UInt64, Int32=types.Int,
        float32=array(types.Float), float64=array(types.Float64), variable=variable,
        generator=lambda count, stream: types.PCG32(count, initstate=stream),
        leaves=lambda tree: [leaf.numpy() for leaf in flattened(tree)],
        compile=dr.freeze,
        wait=wait,
    )


def casadi():
    """A step calls the C of a function, whose inputs and outputs lie in buffers: numbers by columns, the stored alone."""
    import casadi as ca

    import native

    if not shutil.which("gcc"):
        raise Absent("gcc, for the C that CasADi generates")

    class Generated:
        def __init__(self, function, inputs, shaped):
            """`shaped` gives the outputs their axes, for the check."""
            made = ca.CodeGenerator(f"{function.name()}.c")
            made.add(function)
            compiled = ca.external(function.name(), native.library(made.dump(), "gcc"))
            self.buffer, self.call = compiled.buffer()
            self.inputs, self.shaped = [numpy.ascontiguousarray(x, numpy.float64) for x in inputs], shaped
            self.outputs = [numpy.zeros(compiled.nnz_out(i)) for i in range(compiled.n_out())]
            for i, values in enumerate(self.inputs):
                self.buffer.set_arg(i, memoryview(values))
            for i, values in enumerate(self.outputs):
                self.buffer.set_res(i, memoryview(values))

        def __call__(self):
            self.call()
            return self.outputs

    def step(generated):
        return generated(), generated.shaped

    return SimpleNamespace(
        family="casadi", version=ca.__version__, module=ca,
        generated=lambda *arguments: (Generated(*arguments),), step=step,
        leaves=lambda found: found[1](found[0]),
        compile=lambda step: step,
        wait=lambda outputs: None,
    )


def numba():
    import numba

    numba.set_num_threads(threads())
    return SimpleNamespace(
        family="numba", version=numba.__version__, module=numba,
        leaves=flattened,
        compile=lambda step: step,
        wait=lambda outputs: None,
    )


def stan():
    """A model is C++ that stanc makes; a step calls Stan's gradient of the log density."""
    import ctypes
    import pathlib
    import subprocess

    import httpstan

    import native

    if not shutil.which("g++"):
        raise Absent("g++, for the C++ that stanc makes")
    package, here = pathlib.Path(httpstan.__file__).parent, pathlib.Path(__file__).parent
    headers = package / "include"
    version = [line.split()[2] for line in (headers / "stan/version.hpp").read_text().splitlines()
               if line.startswith(("#define STAN_MAJOR", "#define STAN_MINOR"))]

    def cplusplus(program):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "model.stan").write_text(program)
            asked = [package / "stanc", "--name", "model", "--print-cpp", "model.stan"]  # the C++ has the file's name
            return subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True).stdout

    def model(program, data):
        source = cplusplus(program) + (here / "stan_density.cpp").read_text()
        options = ("-std=c++17", "-w", "-D_REENTRANT", "-DBOOST_DISABLE_ASSERTS", f"-I{headers}", f"-L{package / 'lib'}",
                   "-Wl,--no-as-needed", "-ltbb", f"-Wl,-rpath,{package / 'lib'}")
        library = ctypes.CDLL(native.library(source, "g++", options))
        library.make_model.restype, library.value_and_gradient.restype = ctypes.c_void_p, ctypes.c_double
        made, pointer = ctypes.c_void_p(library.make_model(data.encode())), ctypes.POINTER(ctypes.c_double)

        def value_and_gradient(x):
            slope = numpy.empty_like(x)
            value = library.value_and_gradient(made, x.ctypes.data_as(pointer), slope.ctypes.data_as(pointer),
                                               ctypes.c_long(len(x)))
            return value, slope

        return value_and_gradient

    return SimpleNamespace(
        family="stan", version=".".join(version), model=model,
        leaves=flattened,
        compile=lambda step: step,
        wait=lambda outputs: None,
    )


BY_NAME = {"torch": lambda: torch(False), "torch_compile": lambda: torch(True), "jax": jax, "drjit": drjit,
           "casadi": casadi, "numba": numba, "stan": stan}
