"""What editors and type checkers read says what the module has: `ricci/_core.pyi`, made when it is built."""

import ast
import inspect
from pathlib import Path

import pytest

import ricci as rc
from ricci import _core

FOLDER = Path(_core.__file__).parent
STUB = ast.parse((FOLDER / "_core.pyi").read_text())


def names_in(body):
    assigned = {n.target.id for n in body if isinstance(n, ast.AnnAssign)}
    return assigned | {n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def class_in(name):
    return next(n for n in STUB.body if isinstance(n, ast.ClassDef) and n.name == name)


def forms_of(body, name):
    """The names of the arguments of each overload."""
    found = [n.args for n in body if isinstance(n, ast.FunctionDef) and n.name == name]
    return [[a.arg for a in f.posonlyargs + f.args + f.kwonlyargs] for f in found]


def test_it_has_the_names_of_the_module():
    assert names_in(STUB.body) == {n for n in vars(_core) if not n.startswith("__")}
    assert (FOLDER / "py.typed").exists()
    assert not (FOLDER / "_operations.pyi").exists()


@pytest.mark.parametrize("name", ["Tensor", "Key", "Generator", "Tape", "Program", "DType"])
def test_it_has_the_members_of_a_class(name):
    hidden = ("__doc__", "__module__", "__new__", "__array_priority__", "__getattribute__", "__weakref__")
    hidden += ("__slotnames__",)  # copyreg writes it there
    assert names_in(class_in(name).body) == set(vars(getattr(_core, name))) - set(hidden)


def test_arguments_are_those_of_the_docs():
    assert forms_of(STUB.body, "sum") == [["input", "dim", "keepdim", "dtype", "out"]]
    assert forms_of(class_in("Tensor").body, "sum") == [["self", "dim", "keepdim", "dtype", "out"]]
    assert forms_of(STUB.body, "vmap")[0] == list(inspect.signature(rc.func.vmap).parameters) + ["lanes", "max_groups"]
    for name in _core.operations:
        doc = getattr(_core, name).__doc__
        assert len(forms_of(STUB.body, name)) == sum(line.startswith(name + "(") for line in doc.split("\n"))


def test_each_name_in_an_annotation_is_known():
    known = names_in(STUB.body) | {"Any", "Sequence", "TensorLike", "Ints", "bytes", "dict", "list", "tuple"}
    known |= {"_bool", "_complex", "_float", "_int", "_str"}
    for n in ast.walk(STUB):
        if isinstance(n, ast.FunctionDef):
            of_arguments = [a.annotation for a in n.args.posonlyargs + n.args.args + n.args.kwonlyargs]
            for annotation in filter(None, [*of_arguments, n.returns]):
                assert {m.id for m in ast.walk(annotation) if isinstance(m, ast.Name)} <= known, n.name
