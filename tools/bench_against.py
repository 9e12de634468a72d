#!/usr/bin/env python3
"""Times ricci_bench beside a rival: A B A B …, each process alone on its cores, and prints one table of ratios.

    tools/bench_against.py W1 --against torch
    tools/bench_against.py W3/fwd_4096,W4 --against jax --rounds 9 --seconds 1
    tools/bench_against.py W4 --threads 2

Rivals: torch, torch_compile, jax (their side: bench/peers). The rival's Python is $RICCI_BENCH_PYTHON, else
.venv/bin/python, else python3; where it lacks the rival, only ours is timed. Knows nothing of the workloads.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOLERANCE = 1e-4  # float32 results of some hundred roundings, relative to the 2-norm

# glibc keeps freed memory: page faults otherwise decide the large cases.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "-1", "MALLOC_MMAP_THRESHOLD_": str(2**40), "MALLOC_TOP_PAD_": str(2**26)}


def pattern_of(cases):
    """W3 is all of W3, W3/fwd_4096 that case; commas join."""
    return f"^({'|'.join(map(re.escape, cases.split(',')))})(/|$)"


def on_cores(command, arguments):
    """Standard output of the command, run with so many threads on as many cores, the last that this process may use."""
    threads = str(arguments.threads)
    cores = sorted(os.sched_getaffinity(0))[-arguments.threads:]
    of_libraries = dict.fromkeys(("RICCI_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **of_libraries,
                       **(KEEP_MEMORY if arguments.keep_memory else {}))
    several = str(arguments.threads > 1).lower()
    flags = f"--xla_cpu_multi_thread_eigen={several} intra_op_parallelism_threads={threads}"
    environment["XLA_FLAGS"] = f"{environment.get('XLA_FLAGS', '')} {flags}".strip()
    pin = lambda: os.sched_setaffinity(0, cores)
    done = subprocess.run(command, env=environment, preexec_fn=pin, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def find_bench(build):
    for found in sorted(build.rglob("ricci_bench")):
        if os.access(found, os.X_OK) and found.is_file():
            return str(found)
    sys.exit(f"no ricci_bench under {build}: build it first, or name its folder with --build")


def find_python(rival):
    """A Python that can import the rival, or None."""
    named = os.environ.get("RICCI_BENCH_PYTHON")
    modules = ("numpy", rival.split("_")[0])
    asked = f"import importlib.util as u; exit(not all(map(u.find_spec, {modules})))"
    for python in [named] if named else [str(ROOT / ".venv/bin/python"), "python3"]:
        if not shutil.which(python):
            continue
        if subprocess.run([python, "-c", asked], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def time_ours(bench, pattern, arguments):
    """{case: (min_ms, median_ms)} of one process."""
    options = [f"--benchmark_filter={pattern}", "--benchmark_format=json", f"--benchmark_min_time={arguments.seconds}"]
    report = json.loads(on_cores([bench, *options], arguments))
    strip = lambda name: name.removesuffix("/real_time")
    return {strip(run["name"]): (run["min_ms"], run["median_ms"]) for run in report["benchmarks"] if "min_ms" in run}


def check_ours(bench, pattern, arguments):
    lines = on_cores([bench, f"--checks={pattern}"], arguments).splitlines()
    return {line["case"]: line["check"] for line in map(json.loads, lines)}


def measure_rival(python, pattern, arguments):
    """{case: its line} of one process; see bench/peers/measure.py."""
    command = [python, str(ROOT / "bench/peers/measure.py"), arguments.against, pattern]
    lines = on_cores([*command, "--seconds", str(arguments.seconds)], arguments).splitlines()
    return {line["case"]: line for line in map(json.loads, lines)}


def agree(ours, theirs):
    """Every output: the same size, 2-norms within TOLERANCE, both sums within TOLERANCE * 2-norm * sqrt(size)."""
    if len(ours) != len(theirs):
        return False
    for (size, *mine), (their_size, *other) in zip(ours, theirs):
        if size != their_size or None in mine or not all(map(math.isfinite, mine + other)):
            return False
        scale = TOLERANCE * max(mine[1], other[1], 1e-30)
        gaps = [abs(a - b) for a, b in zip(mine, other)]
        if gaps[1] > scale or max(gaps[0], gaps[2]) > scale * math.sqrt(size):
            return False
    return True


def figure(ms):
    """Three significant digits, never scientific."""
    return f"{ms:.{max(0, 2 - math.floor(math.log10(ms)))}f}" if 0 < ms < 100 else f"{ms:.0f}"


def table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def summarise(rounds, case):
    """The fastest step of all rounds and the median of their medians, or None if a round lacks the case."""
    times = [found[case] for found in rounds if case in found]
    if len(times) < len(rounds):
        return None
    return min(low for low, _ in times), statistics.median(middle for _, middle in times)


def compare(bench, python, pattern, arguments):
    ours, theirs, rival = [], [], {}
    for number in range(arguments.rounds):
        print(f"\rround {number + 1}/{arguments.rounds} ", end="", file=sys.stderr, flush=True)
        ours.append(time_ours(bench, pattern, arguments))
        if not ours[0]:
            sys.exit(f"\nno case matches {pattern}")
        if python:
            rival = measure_rival(python, pattern, arguments)
            timed = {case: line for case, line in rival.items() if "min_ms" in line}
            theirs.append({case: (line["min_ms"], line["median_ms"]) for case, line in timed.items()})
    print(file=sys.stderr)
    checks = check_ours(bench, pattern, arguments) if python else {}
    name = arguments.against
    rows = [["case", "ricci min", "median", *([f"{name} min", "median", f"{name} / ricci", "check"] if python else [])]]
    ratios, disagreements = [], 0
    for case in ours[0]:
        mine = summarise(ours, case)
        row = [case, *map(figure, mine)]
        other = summarise(theirs, case) if python else None
        if python and other is None:
            row += ["-", "-", "-", rival.get(case, {}).get("unsupported", "not measured")[:40]]
        elif python:
            same = agree(checks[case], rival[case]["check"])
            disagreements += not same
            ratios.append(other[0] / mine[0])
            row += [*map(figure, other), f"{ratios[-1]:.2f}", "same" if same else "DIFFERS"]
        rows.append(row)
    table(rows)
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"\nms a step, threads and cores: {arguments.threads}, {arguments.rounds} interleaved rounds; a ratio above 1: ricci is faster; "
              f"geometric mean {mean:.2f}; {next(iter(rival.values()))['version']}")
    return disagreements


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", help="W1, W3/fwd_4096, several with commas")
    parser.add_argument("--against", choices=["torch", "torch_compile", "jax"], default="torch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="per case and round")
    parser.add_argument("--threads", type=int, default=1, help="of both sides, on as many cores")
    parser.add_argument("--keep-memory", action="store_true", help="tell glibc, on both sides, to keep freed memory")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where ricci_bench is")
    arguments = parser.parse_args()
    if not 1 <= arguments.threads <= len(os.sched_getaffinity(0)):
        parser.error(f"--threads {arguments.threads}: this process may use {len(os.sched_getaffinity(0))} cores")
    pattern = pattern_of(arguments.cases)
    bench, python = find_bench(arguments.build), find_python(arguments.against)
    if not python:
        print(f"{arguments.against} is not installed (install it in .venv, or set RICCI_BENCH_PYTHON): ours alone")
    sys.exit(compare(bench, python, pattern, arguments) > 0)


if __name__ == "__main__":
    main()
