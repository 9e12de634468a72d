"""The examples in Python give what those in C++ give: private_digits the weights, to the bit."""

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
