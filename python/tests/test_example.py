"""The examples in Python give what those in C++ give: private_digits the weights, to the bit."""

import re
import subprocess
import sys

import numpy as np
import pytest

import ricci as rc


def lines(text):
    """What it prints without its times."""
    return [line for line in text.splitlines() if line.startswith(("test accuracy", "epsilon"))]


def test_the_demo_gives_the_bits_of_the_cpp_one(source, tmp_path):
    program = source / "build/release/examples/private_digits"
    if not program.exists():
        pytest.skip("needs ./dev demo")
    arguments = ["--quick", "--seed", "3", "--save"]
    run = lambda *command: subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cpp = run(program, *arguments, tmp_path / "cpp.npz")
    python = run(sys.executable, source / "examples/python/private_digits.py", *arguments, tmp_path / "python.npz")
    assert lines(python) == lines(cpp) and len(lines(cpp)) == 2
    ours, theirs = rc.load(str(tmp_path / "python.npz")), rc.load(str(tmp_path / "cpp.npz"))
    assert ours.keys() == theirs.keys() and len(ours) == 4
    for name in ours:
        assert np.asarray(ours[name]).tobytes() == np.asarray(theirs[name]).tobytes()


def test_the_pose_graph_is_solved_as_in_cpp(source):
    program = source / "build/release/examples/pose_graph"
    if not program.exists():
        pytest.skip("needs the examples")
    distances = lambda *command: [
        line
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        if line.endswith(" m")
    ]
    assert distances(sys.executable, source / "examples/python/pose_graph.py") == distances(program)


def test_the_eight_schools_have_the_posterior_of_the_cpp_ones(source):
    program = source / "build/release/examples/eight_schools"
    if not program.exists():
        pytest.skip("needs the examples")

    def posterior(*command):
        text = subprocess.run([*command, "--quick"], capture_output=True, text=True, check=True).stdout
        return [[float(word) for word in re.findall(r"-?\d+\.\d", line)] for line in text.splitlines()[:8]]

    ours, theirs = posterior(sys.executable, source / "examples/python/eight_schools.py"), posterior(program)
    assert np.abs(np.array(ours) - np.array(theirs)).max() < 0.25 and np.shape(ours) == (8, 2)


@pytest.mark.parametrize(
    "name, rtol, atol",
    [
        ("heat_network", 0.2, 0),  # two digits are printed, of numbers near 1e-3
        ("pendulum_control", 0, 0.002),  # three digits behind the point
    ],
)
def test_it_gives_what_the_cpp_one_gives(source, name, rtol, atol):
    program = source / "build/release/examples" / name
    if not program.exists():
        pytest.skip("needs the examples")
    run = lambda *command: subprocess.run([*command, "--quick"], capture_output=True, text=True, check=True).stdout
    numbers = lambda text: [float(word) for word in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text)]
    ours, theirs = numbers(run(sys.executable, source / f"examples/python/{name}.py")), numbers(run(program))
    assert len(ours) == len(theirs) > 0 and np.allclose(ours, theirs, rtol=rtol, atol=atol)
