#!/usr/bin/env python3
# Holds the methods of Tensor to the free functions of include/ricci/ops: a function that is a method of torch.Tensor is
# one of ours, with every one of its overloads, and so is each in-place form `f_` of a function f. Prints what is
# missing, or OK. Reads declarations as text: what a template declares it counts by its number of arguments alone.
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULT = r"(?:std::\w+<[^;()]*?>|Tensor|bool|const Tensor&)"
FUNCTION = re.compile(
    r"(?:^|(?<=[;{})>]))\s*(?P<template>template <[^>]*>)?\s*(?:inline )?"
    rf"{RESULT} (?P<name>\w+)\((?P<parameters>[^;{{]*)\)\s*[;{{]"
)
METHOD = re.compile(
    rf"(?P<template>template <[^>]*>)?\s*{RESULT} (?P<name>\w+)\((?P<parameters>[^;{{]*?)\) const\s*[;{{]"
)

NO_METHOD = {
    "solve": "torch.Tensor.solve throws: it is gone from PyTorch",
    "triangular_solve": "PyTorch deprecates it; its arguments stand in another order",
}
# Their operations are functions alone. A method costs every file that reads tensor.h a declaration; those that users
# chain become methods together.
FUNCTIONS_ALONE = set(
    "activations.h arrangement.h bessel.h convolution.h decompositions.h distances.h fft.h incomplete.h losses.h "
    "padding.h pooling.h special.h statistics.h".split()
)
NO_IN_PLACE_FORM = {
    name: "a write keeps its target's shape, and other handles see the same tensor: assign the view to a name"
    for name in ("as_strided_", "detach_", "squeeze_", "t_", "transpose_", "unsqueeze_")
}


def plain(path):
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*|#[^\n]*", "", path.read_text()))


def types(parameters):
    """`const Axes& dims, bool keepdim` as ("const Axes&", "bool")."""
    found, depth, current = [], 0, ""
    for c in parameters + ",":
        depth += (c in "<({") - (c in ">)}")
        if c == "," and depth == 0:
            if current.strip():
                found.append(re.sub(r"(?<=[\w&>]) \w+$", "", current.strip()))
            current = ""
        else:
            current += c
    return tuple(found)


def declared(pattern, text):
    """{name: set of parameter types}; a template's are only counted."""
    found = {}
    for match in pattern.finditer(text):
        parameters = types(match["parameters"])
        is_template = match["template"] or any("auto" in p for p in parameters)
        found.setdefault(match["name"], set()).add(len(parameters) if is_template else parameters)
    return found


def without_first(overload):
    return overload - 1 if isinstance(overload, int) else overload[1:]


def has(methods, overload):
    counted = {m if isinstance(m, int) else len(m) for m in methods}
    return overload in (counted if isinstance(overload, int) else methods)


def findings():
    torch = set(" ".join((ROOT / "tools/torch_methods.txt").read_text().splitlines()[1:]).split())
    tensor = plain(ROOT / "include/ricci/tensor.h")
    methods = declared(METHOD, tensor[tensor.index("class Tensor {") :])
    functions = {}
    for header in sorted((ROOT / "include/ricci/ops").glob("*.h")):
        if header.name in FUNCTIONS_ALONE:
            continue
        for name, overloads in declared(FUNCTION, plain(header)).items():
            of_tensors = {o for o in overloads if isinstance(o, int) or (o and o[0] == "const Tensor&")}
            if of_tensors:
                functions.setdefault(name, set()).update(of_tensors)
    if len(functions) < 200 or len(methods) < 200:
        yield f"read only {len(functions)} functions and {len(methods)} methods: the headers are laid out in a new way"
    for name in sorted(torch & functions.keys() - NO_METHOD.keys()):
        for overload in functions[name]:
            rest = without_first(overload)
            if not has(methods.get(name, set()), rest):
                arguments = f"{rest} arguments" if isinstance(rest, int) else ", ".join(rest)
                yield f"Tensor has no method {name}({arguments})"
    for name in sorted(torch - methods.keys() - NO_IN_PLACE_FORM.keys()):
        if name.endswith("_") and (name[:-1] in functions or name[:-1] in methods):
            yield f"Tensor has no in-place form {name}"


if __name__ == "__main__":
    found = list(findings())
    print("\n".join(found) if found else "methods: OK")
    sys.exit(bool(found))
