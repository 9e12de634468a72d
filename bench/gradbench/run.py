#!/usr/bin/env python3
"""Asks ricci_gradbench, or another tool that speaks GradBench's protocol, for all evals, checks and times them.

    bench/gradbench/run.py                          all evals at GradBench's sizes: minutes
    bench/gradbench/run.py llsq,gmm --seconds 0.2
    bench/gradbench/run.py --small                  each eval once, small: seconds, no times
    bench/gradbench/run.py ode --tool "python3 bench/gradbench/jax_tool.py"

A table has the fastest run of each function in ms, and what goes before ("prepare": recording and compiling).
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

try:
    import numpy  # noqa: F401, what the inputs and the values are made with
except ImportError:
    print("[SKIP] needs numpy")
    sys.exit(0)

import recipes
import values

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTIONS = {
    "hello": ("square", "double"), "gmm": ("objective", "jacobian"), "ba": ("objective", "jacobian"),
    "ht": ("objective", "jacobian"), "lstm": ("objective", "jacobian"), "kmeans": ("cost", "dir"),
    "llsq": ("primal", "gradient"), "lse": ("primal", "gradient"), "ode": ("primal", "gradient"),
    "det": ("primal", "gradient"), "particle": ("ff", "fr", "rf", "rr"), "saddle": ("ff", "fr", "rf", "rr"),
}


class Tool:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.asked = 0

    def ask(self, **message):
        self.process.stdin.write(json.dumps({"id": self.asked, **message}) + "\n")
        self.process.stdin.flush()
        response = json.loads(self.process.stdout.readline())
        assert response["id"] == self.asked, "a response to another message"
        self.asked += 1
        return response

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def fastest(timings, name):
    found = [timing["nanoseconds"] for timing in timings if timing["name"] == name]
    return min(found) / 1e6 if found else None


def figure(ms):
    return "-" if ms is None else f"{ms:.4g}"


def evaluate(tool, name, function, input, description, seconds):
    """(finding or None, fastest run, first call)."""
    asked = input | {"min_runs": 1, "min_seconds": seconds} if isinstance(input, dict) else input
    response = tool.ask(kind="evaluate", module=name, function=function, input=asked, description=description)
    if not response["success"]:
        return response.get("error", "no success").splitlines()[0], None, None
    finding = None
    try:
        values.check(name, function, input, response["output"], description)
    except AssertionError as error:
        finding = str(error)
    timings = response.get("timings", [])
    return finding, fastest(timings, "evaluate"), fastest(timings, "prepare")


def check_protocol(tool):
    assert tool.ask(kind="start", eval="hello")["tool"]
    assert tool.ask(kind="define", module="no eval")["success"] is False
    assert not tool.ask(kind="evaluate", module="hello", function="none", input=1.0)["success"]
    assert set(tool.ask(kind="analysis", of=0, valid=True)) == {"id"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evals", nargs="?", default=",".join(FUNCTIONS), help="with commas between them")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.5, help="per function and input")
    parser.add_argument("--tool", default=str(ROOT / "build/release/bench/ricci_gradbench"))
    parser.add_argument("--adbench", type=pathlib.Path, default=recipes.adbench.FOLDER, help="a copy of ADBench's data")
    arguments = parser.parse_args()
    tool = Tool(shlex.split(arguments.tool))
    check_protocol(tool)
    wrong = 0
    print("| eval | input | function | ms | first call, ms | check |\n|---|---|---|---|---|---|")
    for name in arguments.evals.split(","):
        if not tool.ask(kind="define", module=name)["success"]:
            print(f"| {name} | | | - | - | undefined |", flush=True)
            continue
        for description, input in recipes.inputs(name, arguments.small, arguments.adbench):
            for function in FUNCTIONS[name]:
                seconds = 0 if arguments.small else arguments.seconds
                finding, run, first = evaluate(tool, name, function, input, description, seconds)
                wrong += finding is not None
                print(f"| {name} | {description} | {function} | {figure(run)} | {figure(first)} | {finding or 'right'} |",
                      flush=True)
    sys.exit(tool.close() or wrong > 0)


if __name__ == "__main__":
    main()
