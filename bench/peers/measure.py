"""Times one rival: a JSON line per case, with the first, the fastest and the median step and the check figures of
../main.cpp.

    python measure.py torch '^W3/' --seconds 0.5         rivals: those of rivals.py

A step includes dropping the outputs of the step before. Threads and cores are the caller's business.
"""
import argparse
import json
import re
import time

import numpy as np

from rivals import BY_NAME, Absent
from workloads import cases


def figures(output):
    """In float64: size, sum, 2-norm, and the sum weighted by ((i mod 101) - 50) / 50."""
    x = np.asarray(output, dtype=np.float64).ravel()
    weights = np.resize((np.arange(101) - 50) / 50, x.size)
    return [x.size, float(x.sum()), float(np.sqrt(x @ x)), float(x @ weights)]


def measure(rival, step, leaves, inputs, seconds):
    def once():
        start = time.perf_counter()
        outputs = step(*inputs)
        rival.wait(outputs)
        return time.perf_counter() - start, outputs

    first, outputs = once()
    for _ in range(2):  # torch.compile may change its mind once
        _, outputs = once()
    times, spent = [], 0.0
    while spent < seconds or len(times) < 3:
        took, outputs = once()
        times.append(took)
        spent += took
    times.sort()
    return {"first_ms": first * 1e3, "min_ms": times[0] * 1e3, "median_ms": times[len(times) // 2] * 1e3,
            "check": [figures(leaf) for leaf in leaves(outputs)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rival", choices=list(BY_NAME))
    parser.add_argument("pattern", help="regular expression searched for in case names")
    parser.add_argument("--seconds", type=float, default=0.5, help="per case")
    arguments = parser.parse_args()
    try:
        rival = BY_NAME[arguments.rival]()
    except Absent as absent:
        print(f"[SKIP] needs {absent}")
        return
    for name, (step, make_inputs) in cases(rival).items():
        if not re.search(arguments.pattern, name):
            continue
        line = {"case": name, "version": rival.version}
        try:
            compiled = step if getattr(step, "is_compiled", False) else rival.compile(step)
            leaves = getattr(step, "leaves", rival.leaves)
            line |= measure(rival, compiled, leaves, make_inputs(), arguments.seconds)
        except Exception as error:  # what a rival cannot do costs one line, not the run
            line["unsupported"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
