#!/usr/bin/env python3
"""Writes PyTorch's answers that our tests are held against, one table to standard output.

    python3 tools/torch_answers.py axes > tests/ops/axes_of_torch.txt            # needs PyTorch
    python3 tools/torch_answers.py calls > tests/ops/calls_of_torch.txt
    python3 tools/torch_answers.py promotion > tests/ops/promotion_of_torch.txt
    python3 tools/torch_answers.py python > python/tests/answers_of_torch.json

axes: lines `operation shape: answer…`, one answer for every axis from -rank-1 to rank (a 0-dim tensor counts as rank 1):
the shapes of the results, joined by `+`, or `error`.
calls: lines `call: shapes`, of tensors of ones n (0-dim), e ([0]), v ([3]), m ([2,3]), o ([0,3]), z ([2,0]) and of zeros
as indices i (0-dim), j ([0]), k ([2]).
promotion: lines `left: type…`, the type of the result for each right operand of the heading, in its order. `f32[1]` has
an axis, `f32[]` has none, `float` is a number.
python: JSON. `arguments`: the names of arguments of each public function; `spaces`: the names of the public functions in torch's spaces of names; `forms`, `results`: what the forms and the
operations with several results of python/tests/written_for_both.py give; `programs`: the programs of the page *From
torch.func* with the tensors that they leave, of those that draw the shapes alone.
"""
import contextlib
import inspect
import io
import json
import re
import sys
from pathlib import Path

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


def axes():
    for name, f in OPERATIONS.items():
        for shape in SHAPES:
            x = torch.arange(1, 1 + torch.Size(shape).numel()).reshape(shape) / 4
            rank = max(len(shape), 1)
            print(f"{name} {text(shape)}:", *(answer(f, x, d) for d in range(-rank - 1, rank + 1)))


CALLS = """
take(n, i) take(v, k) take(m, j) take(n, k) take(e, j) take(e, i)
masked_select(n, n > 0) masked_select(n, n < 0) masked_select(v, n > 0) masked_select(m, v > 0) masked_select(e, e > 0)
masked_select(n, v > 0) masked_fill(n, n > 0, 2) masked_fill(e, n > 0, 2) masked_fill(n, v > 0, 2)
nonzero(n) nonzero(0 * n) nonzero(e) nonzero(o) nonzero(m)
unique(n) unique(e) unique(o)
one_hot(i, 3) one_hot(j, 3) one_hot(k, 3)
searchsorted(v, n) searchsorted(v, v) searchsorted(v, m) searchsorted(e, v) searchsorted(e, n) searchsorted(v, e)
searchsorted(m, n) searchsorted(m, v) searchsorted(m, m) searchsorted(n, n) searchsorted(n, v)
embedding(i, m) embedding(j, m) embedding(k, m) embedding(k, v) embedding(k, o) embedding(j, o)
flatten(n) flatten(e) flatten(o) squeeze(n) squeeze(o) t(n) t(v) t(o) diag(n) diag(v) diag(e) diag(m) diag(o)
diagonal(n) diagonal(v) diagonal(o) diag_embed(n) diag_embed(e) trace(n) trace(v) trace(m) trace(o) trace(z)
tril(n) tril(v) tril(o) triu(m) roll(n, 1) roll(e, 1) roll(o, 1)
repeat(n, 2) repeat(v, 2) repeat(e, 2) repeat(m, 2) tile(n, 2) tile(v, 2) tile(m, 2) tile(o, 2)
unbind(n) unbind(e) unbind(o) chunk(n, 2) chunk(e, 2) chunk(v, 5) split(n, 2) split(e, 2) split(v, 2)
tensor_split(n, 2) tensor_split(e, 2) tensor_split(v, 5)
cat(n, n) cat(e, e) cat(e, v) cat(e, m) cat(m, e) cat(n, v) cat(o, m) cat(z, m) stack(n, n) stack(e, e) stack(e, v)
meshgrid(n, v) meshgrid(e, v) meshgrid(v, v) meshgrid(m, v)
sum(n) sum(e) mean(e) prod(e) amax(n) amax(e) max(e) argmax(n) argmax(e) argmin(o) any(e) all(o) var(n) norm(e) median(n)
median(e) logsumexp(e) logsumexp(n) count_nonzero(n) count_nonzero(e) sort(n) sort(e) argsort(n) argsort(o)
dot(e, e) dot(n, n) dot(v, e) outer(n, v) outer(e, v) outer(v, e) inner(n, v) inner(v, v) inner(m, v) inner(e, e) inner(m, n)
kron(n, n) kron(n, m) kron(e, v) kron(m, v) matmul(n, v) matmul(m, v) matmul(o, v) matmul(z, e) matmul(z, o) matmul(o, z)
matmul(v, m) mm(z, o) mv(o, v) mv(z, e) addmm(n, z, o) addmm(v, z, o) tensordot(n, n, 0) tensordot(v, m, 0) tensordot(m, v, 1)
linear(v, m) linear(m, m) linear(m, v) linear(v, v) linear(n, v) linear(n, m) linear(o, m) linear(m, o) linear(z, z) linear(m, n)
linear(m, m, n) linear(m, v, n) linear(m, m, v)
softmax(n, 0) softmax(e, 0) cumsum(n, 0) cumsum(e, 0)
mse_loss(n, n) mse_loss(e, e) mse_loss(v, n) l1_loss(v, m) huber_loss(m, v)
binary_cross_entropy(n, n) binary_cross_entropy(v, n) binary_cross_entropy(m, v) binary_cross_entropy(e, e)
binary_cross_entropy_with_logits(n, n) binary_cross_entropy_with_logits(v, n) binary_cross_entropy_with_logits(m, v)
cross_entropy(v, i) cross_entropy(m, k) cross_entropy(o, j) cross_entropy(m, m) cross_entropy(n, i) cross_entropy(m, i)
nll_loss(v, i) nll_loss(m, k) nll_loss(o, j) nll_loss(n, i)
where(n > 0, v, m) where(v > 0, n, n) where(e > 0, v, n) where(e > 0, n, n) clamp(e, n, n) clamp(n, v, n) lerp(n, v, n)
einsum("->", n) einsum("i->", e) einsum("i,i->", e, e) einsum("i,j->ij", e, v) einsum(",i->i", n, v) einsum("ii", o)
einsum("ij,jk", z, o) einsum("i,i", v, e) einsum("...", n) einsum("...i", v) einsum("i", n) einsum("i...->...", n) einsum("i,i->i", v, u)
einsum("ij,ij->j", m, r) einsum("ij,j->i", r, v) einsum("ii->i", r) einsum("ii,i->i", w, v) einsum("i,i->i", u, e) einsum("i,ij->j", u, m)
cross(v, v) cross(m, m) cross(o, o) cross(n, n) cross(e, e) cross(z, z)
layer_norm(v, 3) layer_norm(o, 3) layer_norm(n, 1) group_norm(m, 3) group_norm(o, 3) group_norm(v, 1)
"""


def call_names():
    """The calls, each with its arguments."""
    import re
    return re.findall(r"\w+\((?:[^()]|\([^()]*\))*\)", CALLS)


def calls():
    import torch.nn.functional as F
    ones = {name: torch.ones(shape) for name, shape in
            {"n": (), "e": 0, "v": 3, "m": (2, 3), "o": (0, 3), "z": (2, 0), "u": 1, "r": (1, 3), "w": (1, 1)}.items()}
    zeros = {name: torch.zeros(shape, dtype=torch.int64) for name, shape in {"i": (), "j": 0, "k": 2}.items()}

    class Functions(dict):
        def __missing__(self, name):
            if name in ("cat", "stack", "meshgrid"):
                return lambda *tensors: getattr(torch, name)(list(tensors))
            if name in ("repeat", "tile", "amax"):
                return getattr(torch.Tensor, name)
            if name == "logsumexp":
                return lambda x: x.logsumexp(tuple(range(x.dim())))
            if name in ("cross", "norm"):
                return getattr(torch.linalg, name)
            if name == "layer_norm":
                return lambda x, n: F.layer_norm(x, (n,))
            if name in ("embedding", "one_hot"):
                return getattr(F, name)  # torch.embedding takes the weight first
            return getattr(torch, name, None) or getattr(F, name)

    for call in call_names():
        print(f"{call}: {answer(lambda x, d: eval(call, Functions(ones | zeros)), None, None)}")


DTYPES = {"bool": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
          "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
          "c64": torch.complex64, "c128": torch.complex128}


def operands():
    yield from ((f"{name}[1]", torch.zeros(1, dtype=dtype)) for name, dtype in DTYPES.items())
    yield from ((f"{name}[]", torch.zeros((), dtype=dtype)) for name, dtype in DTYPES.items())
    yield from {"true": True, "int": 1, "float": 1.0, "complex": 1j}.items()


def promotion():
    names = {dtype: name for name, dtype in DTYPES.items()}
    for halves in ("complex32", "bcomplex32"):  # we have no complex type of two halves
        if hasattr(torch, halves):
            names[getattr(torch, halves)] = "c64"
    print("right:", *(name for name, _ in operands()))
    for left, x in operands():
        if isinstance(x, torch.Tensor):
            print(f"{left}:", *(names[torch.result_type(x, y)] for _, y in operands()))


# --- For the Python package

# Of TorchScript's overloads for lists and numbers.
OF_TORCHSCRIPT = re.compile(
    r"(Dimname|t\[\]|bool\[\]|str\[\]|\[\]\(a!\)|AnyEnum|\.int_list|(Scalar|int|float|bool|complex|Device) a\b)"
)
SPACES = {torch: "", torch.linalg: "linalg_", torch.nn.functional: "", torch.fft: "fft_"}


def names_of_schemas(name):
    for schema in torch._C._jit_get_schemas_for_operator("aten::" + name):
        if not OF_TORCHSCRIPT.search(str(schema)):
            yield {"input" if a.name == "self" else a.name for a in schema.arguments}


def names_of_arguments(name):
    """Of all functions of this name; of the method where there is no function."""
    found = set()
    for space, prefix in SPACES.items():
        function = getattr(space, name, None)
        if inspect.isfunction(function):
            found |= set(inspect.signature(function).parameters)
        elif function is not None:
            found |= set().union(*names_of_schemas(prefix + name))
    return found or set().union(*names_of_schemas(name))


def is_function(name, value):
    return callable(value) and not isinstance(value, type) and name.islower() and name[0] != "_" and name[-1] != "_"


def is_public(space, name):
    """Whether it is a function of this space: not what its module has imported, nor what only PyTorch calls."""
    value = getattr(space, name)
    inner = ("assert_", "has_torch_function", "handle_torch_function", "boolean_dispatch", "scaled_mm", "scaled_addmm", "scaled_grouped_mm")
    inner += ("native_", "grouped_mm")
    own = getattr(value, "__module__", None) not in ("typing", "collections.abc")
    return callable(value) and not isinstance(value, type) and name[0].islower() and own and not name.startswith(inner)


def as_json(value, with_elements=True):
    if isinstance(value, (tuple, list)):
        return [as_json(part) for part in value]
    x = value.detach()
    answer = {"dtype": str(x.dtype).removeprefix("torch."), "shape": list(x.shape)}
    return answer | {"elements": x.tolist()} if with_elements else answer


def form_answers(both):
    for form in both.FORMS:
        # Where both have a name, the newer one is meant: torch.solve says only that it is gone.
        namespaces = [torch.linalg, torch.nn.functional, torch]
        if any(f"'{n}'" in form for n in ("norm", "tensordot", "diagonal", "round")):
            namespaces.reverse()
        yield form, as_json(both.value_of(form, torch, namespaces, torch.from_numpy))


def result_answers(both):
    for name, arguments, _ in both.NAMED_RESULTS:
        result = (getattr(torch.linalg, name, None) or getattr(torch, name))(torch.from_numpy(both.SPD), *arguments)
        if hasattr(result, "__match_args__"):
            yield name, list(result.__match_args__)


def program_answers(both, page):
    scope = {}
    for program, _ in both.programs_of(page):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(program, "page", "exec"), scope)
        values = {}
        for name in sorted(both.names_set_by(program) & scope.keys()):
            # Through arrays, as the test sees ours.
            arrays = [torch.from_numpy(a.copy()) for a in both.arrays_in(scope[name])]
            values[name] = [as_json(a, not both.is_random(program)) for a in arrays]
        yield {"program": program, "values": {name: value for name, value in values.items() if value}}


def answers_for_python():
    root = Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(root / "python/tests"))
    import written_for_both as both
    page = (root / "docs/14-from-torch-func-in-python.md").read_text()
    public = {n for space in [*SPACES, torch.Tensor] for n in dir(space) if is_function(n, getattr(space, n))}
    arguments = {name: " ".join(sorted(names_of_arguments(name))) for name in sorted(public)}
    lines = lambda pairs: "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in pairs) + "\n}"
    print(f'{{"torch": {json.dumps(torch.__version__.split("+")[0])}, "written by": "tools/torch_answers.py python",')
    spaces = {"linalg": torch.linalg, "special": torch.special, "fft": torch.fft, "nn.functional": torch.nn.functional}
    names = lambda space: " ".join(n for n in sorted(dir(space)) if is_public(space, n))
    print('"spaces":', lines((name, names(space)) for name, space in spaces.items()) + ",")
    print('"arguments":', lines((k, v) for k, v in arguments.items() if v) + ",")
    print('"forms":', lines(form_answers(both)) + ",")
    print('"results":', lines(result_answers(both)) + ",")
    print('"programs": [\n ', ",\n  ".join(json.dumps(p) for p in program_answers(both, page)) + "\n]}")


if __name__ == "__main__":
    if sys.argv[1] == "python":
        answers_for_python()
        sys.exit()
    table = {"axes": axes, "calls": calls, "promotion": promotion}[sys.argv[1]]
    print(f"# PyTorch {torch.__version__.split('+')[0]}; written and explained by tools/torch_answers.py.")
    table()
