"""What tools ask of the package: signatures, texts, pickles, notebooks' pictures, the version."""

import inspect
import pickle
import re
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

import ricci as rc


PLACE = str(Path(rc.__file__).parents[1])


@dataclass
class Line:
    slope: rc.Tensor

    def __call__(self, x):
        return self.slope * x


def loss(w, x):
    return (w * x).sum()


@rc.compile
def doubled(x):
    return x * 2


def functions(space, depth=0):
    for name in dir(space):
        value = getattr(space, name)
        if name.startswith("_") or isinstance(value, type):
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__.startswith("ricci.") and depth < 2:
                yield from functions(value, depth + 1)
        elif callable(value):
            yield f"{space.__name__}.{name}", value


def test_every_function_and_method_has_a_signature():
    seen = 0
    for name, function in functions(rc):
        assert isinstance(inspect.signature(function), inspect.Signature), name
        seen += 1
    for cls in (rc.Tensor, rc.Key, rc.Generator, rc.Program, rc.Tape):
        for name, member in vars(cls).items():
            if callable(member) and not isinstance(member, type) and name not in ("__new__", "__class__"):
                assert isinstance(inspect.signature(member), inspect.Signature), (cls, name)
                seen += 1
    assert seen > 1500


def test_signatures_name_arguments_and_defaults():
    assert list(inspect.signature(rc.sum).parameters) == ["input", "dim", "keepdim", "dtype", "out"]
    assert inspect.signature(rc.sum).parameters["keepdim"].default is False
    assert list(inspect.signature(rc.ones(2).sum).parameters) == ["dim", "keepdim", "dtype", "out"]
    assert list(inspect.signature(rc.vmap).parameters)[:3] == ["func", "in_dims", "out_dims"]
    assert inspect.signature(rc.vmap).parameters["randomness"].default == "error"
    assert list(inspect.signature(rc.Generator).parameters) == ["seed"]
    assert list(inspect.signature(rc.Generator(1).manual_seed).parameters) == ["seed"]
    assert list(inspect.signature(rc.ones(2).size).parameters) == ["dim"]
    for make in (rc.vmap, rc.grad, rc.compile, rc.jacrev, rc.hessian, rc.checkpoint):
        assert inspect.signature(make(loss)) == inspect.signature(loss)


def test_transformed_functions_show_how_they_were_made():
    for function, text in (
        (rc.vmap(rc.grad(loss), in_dims=(None, 0)), "vmap(grad(loss), in_dims=(None, 0))"),
        (rc.vmap(loss, in_dims={"x": 0}, randomness="same", chunk_size=3),
         "vmap(loss, in_dims={'x': 0}, randomness='same', chunk_size=3)"),
        (rc.vmap_with_index(loss, lanes="split"), "vmap_with_index(loss, lanes='split')"),
        (rc.value_and_grad(loss, argnums=(0, 1), has_aux=True), "value_and_grad(loss, argnums=(0, 1), has_aux=True)"),
        (rc.hessian(loss, argnums=1), "hessian(loss, argnums=1)"),
        (rc.jacfwd(rc.jacrev(loss), chunk_size=2), "jacfwd(jacrev(loss), chunk_size=2)"),
        (rc.compile(loss, check=True), "compile(loss, check=True)"),
        (rc.compile(rc.sin), "compile(sin)"),
        (rc.trace(loss), "trace(loss)"),
        (rc.checkpoint(loss), "checkpoint(loss)"),
        (rc.no_grad()(loss), "no_grad(loss)"),
        (rc.custom_jvp(rc.sin, rc.cos), "custom_jvp(sin, rule=<operation ricci.cos>)"),
    ):
        assert repr(function) == text
    assert repr(rc.vmap(Line(rc.tensor(2.0)))).startswith("vmap(Line(slope=")
    assert repr(rc.Generator(7)) == "Generator(seed=7)"


def test_transformed_functions_are_pickled():
    w, x = rc.tensor([1.0, 2.0]), rc.tensor([[3.0, 4.0], [5.0, 6.0]])
    for function, arguments in (
        (rc.compile(rc.vmap(rc.grad(loss), in_dims=(None, 0))), (w, x)),
        (rc.hessian(loss), (w, x[0])),
        (rc.vmap(rc.no_grad()(loss), in_dims=(None, 0)), (w, x)),
        (rc.checkpoint(rc.value_and_grad(loss)), (w, x[0])),
        (rc.compile(Line(w)), (x,)),
    ):
        again = pickle.loads(pickle.dumps(function))
        assert type(again) is type(function) and repr(again) == repr(function)
        assert repr(again(*arguments)) == repr(function(*arguments))


def test_a_function_that_is_transformed_where_it_is_defined_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    inner = pickle.loads(pickle.dumps(rc.vmap(doubled)))
    assert inner.__wrapped__ is doubled


def test_a_function_with_ragged_results_is_pickled():
    again = pickle.loads(pickle.dumps(rc.vmap(rc.nonzero, out_dims=rc.ragged)))
    assert repr(again) == "vmap(nonzero, out_dims=ricci.ragged)"
    assert again(rc.tensor([[1.0, 0.0], [2.0, 3.0]])).lengths().tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(rc.ragged)) is rc.ragged


def test_what_cannot_be_pickled_says_so():
    with pytest.raises(Exception, match="local object|lambda"):
        pickle.dumps(rc.compile(lambda x: x))


def test_programs_and_generators_are_pickled():
    captured = rc.tensor([5.0, 6.0])
    program = rc.trace(lambda x: (x * captured * 2).sum())(rc.ones(2))
    again = pickle.loads(pickle.dumps(program))
    assert str(again) == str(program) and again(rc.ones(2))[0].item() == 22
    generator = rc.Generator(7)
    rc.randn(3, generator=generator)
    again = pickle.loads(pickle.dumps(generator))
    assert again.seed() == 7 and rc.equal(rc.randn(3, generator=again), rc.randn(3, generator=generator))


def test_round_is_the_operation():
    x = rc.tensor([0.125, 2.5, -1.75])
    assert round(x).tolist() == [0.0, 2.0, -2.0] and rc.equal(round(x, 1), rc.round(x, decimals=1))
    assert rc.equal(round(x, None), round(x)) and round(rc.tensor(2.5)).item() == 2.0
    with pytest.raises(rc.TypeError, match="digits"):
        round(x, "a")


def test_the_version_is_that_of_the_project(source):
    text = (source / "CMakeLists.txt").read_text()
    assert rc.__version__ == re.search(r"project\(Ricci VERSION (\S+)", text)[1]
    assert f'version = "{rc.__version__}"' in (source / "pyproject.toml").read_text()


def test_an_import_loads_no_slow_modules():
    slow = {"dataclasses", "inspect", "typing", "numpy", "ricci.solvers", "ricci.distributions", "ricci.torch_func"}
    code = "import sys, ricci; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({PLACE!r}); {code}"],
                         capture_output=True, text=True, check=True)
    assert not slow & set(ran.stdout.split())


def test_a_star_imports_all_public_names():
    code = (
        "from ricci import *; found = set(globals()); import ricci;"
        "print(*sorted({n for n in dir(ricci) if n[0] != '_'} ^ {n for n in found if n[0] != '_'}));"
        "print(linear is ricci.linear, fft is ricci.fft, Ragged is ricci.Ragged, nn, solvers, sparse, linalg, debug)"
    )
    ran = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {PLACE!r}); del sys; {code}"],
                         capture_output=True, text=True, check=True)
    differences, found = ran.stdout.splitlines()
    assert differences == "" and found.startswith("True True True <")


def test_notebooks_show_tables():
    html = rc.tensor([[1.5, -2.0], [3.0, 1e9]])._repr_html_()
    assert html.startswith("<table><caption>ricci.float32 [2, 2]</caption>") and html.count("<td>") == 4
    assert "<td>1.5</td><td>-2</td>" in html and "<td>1e+09</td>" in html
    wide = rc.zeros(3, 1000)._repr_html_()
    assert wide.count("…") == 3 and wide.count("<td>") == 33
    assert rc.zeros(0)._repr_html_().count("<td>") == 0
    assert rc.tensor(True)._repr_html_().count("<td>True</td>") == 1
    assert rc.zeros(2, 2, 2)._repr_html_().startswith("<pre>")
    seen = []
    rc.vmap(lambda x: seen.append(x._repr_html_()) or x)(rc.ones(2))
    assert seen[0].startswith("<pre>Batched{") and "<" not in seen[0][5:-6]
