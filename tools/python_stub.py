"""Writes what editors and type checkers read of the Python package: `python_stub.py FILE` imports the module that was
built, `ricci._core`, and writes its names, signatures and docs as a stub file. Nothing is said twice: operations and
functions carry their signatures in their docs. Start with `module`.
"""

import inspect
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

HEADER = '''"""Made by tools/python_stub.py of the module that was built."""

import builtins
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from typing import Any, NamedTuple, Sequence, overload

TensorLike = Tensor | _float | _int | _bool | _complex
Ints = _int | Sequence[_int]

'''
# Operations, element types and methods have the names of Python's own types.
OWN_TYPE = re.compile(r"(?<=: |\| |> )(bool|complex|float|int|str)\b|(?<=\[)(bool|complex|float|int|str)\b")
LEFT_OUT = {"__module__", "__doc__", "__new__", "__weakref__", "__dict__", "__getattribute__", "__array_priority__"}


def header(name, rest, decorators=(), indent=""):
    rest = OWN_TYPE.sub(lambda m: "_" + m[0], rest.replace("ricci._core.", "").replace("ricci.Tensor", "Tensor"))
    rest = re.sub(r"\bobject\b", "Any", re.sub(r"\\\d+", "...", rest))
    return "".join(f"{indent}{d}\n" for d in decorators) + f"{indent}def {name}{rest}:"


def body(doc, indent):
    """The doc as a string, or `...`."""
    if not isinstance(doc, str):  # nanobind gives a class without one a descriptor
        return " ...\n"
    quoted = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'\n{indent}    """{quoted}{" " if quoted.endswith(chr(34)) else ""}"""\n'


def without_idle_defaults(rest):
    """An argument before one that must be given must be given too: its default goes."""
    inside, _, result = rest[1:].rpartition(") -> ")
    parameters = re.split(r", (?![^\[]*\])", inside)
    by_place = parameters.index("*") if "*" in parameters else len(parameters)
    needed = max((i for i in range(by_place) if "=" not in parameters[i]), default=0)
    kept = [p.partition(" = ")[0] if i < needed else p for i, p in enumerate(parameters)]
    return f"({', '.join(kept)}) -> {result}"


def of_operation(name, operation, indent=""):
    """One signature, or several overloads; in a class the first argument is self."""
    lines = operation.__doc__.split("\n")
    called = operation.__doc__[: operation.__doc__.index("(")]
    rests = [line.removeprefix(called) for line in lines if line.startswith(called + "(")]
    rests = [without_idle_defaults(rest) for rest in rests]
    doc = "\n".join(line for line in lines if not line.startswith(called + "(")).strip()
    if indent:
        rests = [re.sub(r"^\(\w+: [^,)]*", "(self", rest) for rest in rests]
    return several(name, [(rest, doc if doc and rest is rests[-1] else None) for rest in rests], indent)


def of_function(name, function, indent=""):
    """The same of what nanobind has bound."""
    forms = [(s[0].split("\n")[-1].partition("(")[2], s[1]) for s in function.__nb_signature__]
    return several(name, [("(" + rest, doc) for rest, doc in forms], indent)


def several(name, forms, indent):
    decorators = ["@overload"] if len(forms) > 1 else []
    return "".join(header(name, rest, decorators, indent) + body(doc, indent) for rest, doc in forms)


def of_class(name, cls):
    if hasattr(cls, "_fields"):
        return f"class {name}(NamedTuple):\n" + "".join(f"    {field}: Tensor\n" for field in cls._fields)
    bases = [("" if b.__module__.startswith("ricci") else "builtins.") + b.__name__ for b in cls.__bases__]
    text = f"class {name}({', '.join(bases)}):"
    text += body(cls.__doc__, "") if isinstance(cls.__doc__, str) else "\n"
    members = ""
    for member, value in vars(cls).items():
        kind = type(value).__name__
        if member in LEFT_OUT:
            continue
        if kind == "Operation":
            members += of_operation(member, value, "    ")
        elif kind == "nb_method":
            members += of_function(member, value, "    ")
        elif kind in ("property", "getset_descriptor"):
            members += header(member, "(self) -> Any", ["@property"], "    ") + body(value.__doc__, "    ")
        elif kind == "method_descriptor":
            members += header(member, f"{inspect.signature(value)} -> Any", [], "    ") + body(value.__doc__, "    ")
        elif kind == "wrapper_descriptor":
            members += header(member, "(self, *args: Any, **kwargs: Any) -> Any", [], "    ") + body(None, "    ")
    return text + (members or "    ...\n")


def names_of(module):
    classes, rest = "", ""
    for name, value in vars(module).items():
        if name.startswith("__"):
            continue
        if isinstance(value, type):
            classes += of_class(name, value) + "\n"
        elif type(value).__name__ == "Operation":
            rest += of_operation(name, value)
        elif type(value).__name__ == "nb_func":
            rest += of_function(name, value)
        elif isinstance(value, ModuleType):
            classes += f"class {name}:\n" + textwrap.indent(names_of(value), "    ")
        else:
            rest += f"{name}: {type(value).__name__}\n"
    return classes + rest


def module(core):
    return HEADER + names_of(core)


if __name__ == "__main__":
    import ricci._core

    Path(sys.argv[1]).write_text(module(ricci._core))
