"""The random programs of the C++ fuzz (tests/fuzz), written as Python by it, give the bits that C++ got."""

import os
import subprocess
from collections import Counter

import pytest

import ricci as rc

COUNT = int(os.environ.get("RICCI_FUZZ_PYTHON_PROGRAMS", 400))

# How a program is run; tests/fuzz/in_python_test.cpp has the same ways under the same names.
WAYS = {
    "eager": lambda f, x: f(x),
    "compiled": lambda f, x: rc.compile(f)(x),
    "grad": lambda f, x: rc.grad(lambda a: f(a).sum())(x),
    "vmap": lambda f, x: rc.vmap(f, randomness="different")(rc.stack([x, x * 2])),
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the text of tests/fuzz defines: its cases, and what they stand on."""
    fuzz = os.environ.get("RICCI_TEST_FUZZ", "")
    if not os.path.exists(fuzz):
        pytest.skip("needs test_fuzz, which ctest builds and names in RICCI_TEST_FUZZ")
    path = tmp_path_factory.mktemp("fuzz") / "programs.py"
    settings = {"RICCI_FUZZ_PYTHON": str(path), "RICCI_FUZZ_PYTHON_PROGRAMS": str(COUNT)}
    subprocess.run(
        [fuzz, "--gtest_filter=ProgramsInPython.*"], env=os.environ | settings, check=True, capture_output=True
    )
    scope = {}
    exec(compile(path.read_text(), path, "exec"), scope)
    return scope


@pytest.mark.parametrize("way", WAYS)
def test_programs_give_the_bits_of_cpp(printed, way):
    world, elements_of = printed["world"], printed["elements_of"]
    outcomes, different = Counter(), []
    for seed, program, argument, captured, wanted in printed["cases"]:
        world.__init__()
        world.captured = [make() for make in captured]
        rc.manual_seed(1)
        try:
            found = WAYS[way](program, argument())
        except (rc.Error, printed["Thrown"]) as error:
            outcomes["error"] += 1
            if wanted[way] is not None:
                different.append(f"seed {seed}: {error}")
            continue
        outcomes["value"] += 1
        if wanted[way] is None:
            different.append(f"seed {seed}: {found}, and C++ throws")
            continue
        same = wanted[way]()
        if (found.dtype, found.shape) != (same.dtype, same.shape) or elements_of(found) != elements_of(same):
            different.append(f"seed {seed}: {found}, in C++ {same}")
    assert not different, f"{len(different)} of {COUNT}:\n" + "\n".join(different)
    assert outcomes["value"] > COUNT / 5, "too few programs come to their end"
