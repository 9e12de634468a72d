#!/usr/bin/env python3
"""Times ricci_bench beside rivals: A B C A B C …, each process alone on its cores, and prints one table.

    tools/bench_against.py W12 --against torch,jax,torch_compile
    tools/bench_against.py W3/fwd_4096,W4 --against jax --rounds 9 --seconds 1
    tools/bench_against.py W4 --threads 2
    tools/bench_against.py W12 --adbench ba/ba10_n1197_m126327_p563734.txt --against jax
    tools/bench_against.py W1,W2 --rounds 0                      nothing is timed: do our variants agree?

Of each case: ours eager and its variants (as a program, compiled, a loop by hand), the rivals, how many times faster
than the best of them ours is (of eager by medians too), and the first call of the compiled function, which records and
compiles it. Every check of ours is held against every rival's, against eager's, and against ADBench's reference values.
Rivals (their side: bench/peers): torch, torch_compile and jax for most cases; drjit for W3, W12, W15, W16, W19; casadi,
whose generated C gcc compiles, for W14 and loops/ilqr; numba for W15; stan for density. The rival's Python is
$RICCI_BENCH_PYTHON, else .venv/bin/python, else python3; a rival that it lacks is skipped. Knows nothing of the workloads.
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
REFERENCE = ROOT / "data/adbench/reference_values.json"
# By name, the package whose presence is asked for.
RIVALS = {"torch": "torch", "torch_compile": "torch", "jax": "jax", "drjit": "drjit", "casadi": "casadi",
          "numba": "numba", "stan": "httpstan"}
VARIANTS = ("program", "compiled", "by_hand")

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


def find_python(*modules):
    """A Python that can import these and numpy, or None."""
    named = os.environ.get("RICCI_BENCH_PYTHON")
    asked = f"import importlib.util as u; exit(not all(map(u.find_spec, {('numpy', *modules)})))"
    for python in [named] if named else [str(ROOT / ".venv/bin/python"), "python3"]:
        if not shutil.which(python):
            continue
        if subprocess.run([python, "-c", asked], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def present(rivals, arguments):
    """{rival: its Python}; says what the others need."""
    found = {}
    for rival in rivals:
        python = find_python(RIVALS[rival])
        lacks = measure_command(python, rival, "$^", arguments) if python else f"[SKIP] needs the package {RIVALS[rival]}"
        if lacks:
            print(f"{lacks.strip()}: {rival} is left out")
        else:
            found[rival] = python
    return found


def base_of(case):
    """The case that this is a variant of, and which one: "eager" is the case itself."""
    base, _, last = case.rpartition("/")
    return (base, last) if last in VARIANTS else (case, "eager")


def names_of_ours(bench, arguments):
    """The cases that are asked for, with their variants."""
    listed = on_cores([bench, "--benchmark_list_tests", f"--benchmark_filter={pattern_of(arguments.cases)}"], arguments)
    names = [line.removesuffix("/real_time") for line in listed.splitlines()]
    return [name for name in names if base_of(name)[1] in ("eager", *arguments.variants)]


def exactly(names):
    return f"^({'|'.join(map(re.escape, names))})(/real_time)?$"


def time_ours(bench, names, arguments):
    """{case: {counter: ms}} of one process; without those that threw."""
    options = [f"--benchmark_filter={exactly(names)}", "--benchmark_format=json"]
    report = json.loads(on_cores([bench, *options, f"--benchmark_min_time={arguments.seconds}"], arguments))
    return {run["name"].removesuffix("/real_time"): run for run in report["benchmarks"] if "min_ms" in run}


def check_ours(bench, names, arguments):
    """{case: its line}; see bench/main.cpp."""
    lines = on_cores([bench, f"--checks={exactly(names)}"], arguments).splitlines()
    return {line["case"]: line for line in map(json.loads, lines)}


def measure_command(python, rival, pattern, arguments):
    """What bench/peers/measure.py prints."""
    command = [python, str(ROOT / "bench/peers/measure.py"), rival, pattern]
    return on_cores([*command, "--seconds", str(arguments.seconds)], arguments)


def measure_rival(rival, python, arguments):
    """{case: its line} of one process."""
    lines = measure_command(python, rival, pattern_of(arguments.cases), arguments).splitlines()
    return {line["case"]: line for line in map(json.loads, lines)}


def agree(ours, theirs, tolerance):
    """Every output: the same size, 2-norms within the tolerance, both sums within tolerance * 2-norm * sqrt(size)."""
    if len(ours) != len(theirs):
        return False
    for (size, *mine), (their_size, *other) in zip(ours, theirs):
        if size != their_size or None in mine or not all(map(math.isfinite, mine + other)):
            return False
        scale = tolerance * max(mine[1], other[1], 1e-30)
        sums_and_norm = [abs(a - b) for a, b in zip(mine, other)]  # a reference has no weighted sum
        if sums_and_norm.pop(1) > scale or max(sums_and_norm) > scale * math.sqrt(size):
            return False
    return True


def reference_of(line):
    """What ADBench gives, as a check, or None."""
    path, _, array = line.get("reference", "").rpartition("/")
    found = json.loads(REFERENCE.read_text()).get(path, {}).get(array)
    return found and [[found["size"], found["sum"], found["l2"]]]


def disagreements(checks, rivals):
    """{case: what its variants differ from}; `rivals`: {rival: {case: line}}."""
    found = {}
    for case, line in checks.items():
        base, variant = base_of(case)
        others = {rival: lines[base]["check"] for rival, lines in rivals.items() if "check" in lines.get(base, {})}
        others |= {"eager": checks[base]["check"]} if variant != "eager" and base in checks else {}
        others |= {"ADBench": reference_of(line)} if reference_of(line) else {}
        tolerance = lambda who: line.get("rival_tolerance", line["tolerance"]) if who in rivals else line["tolerance"]
        differs = [who for who, check in others.items() if not agree(line["check"], check, tolerance(who))]
        if "unsupported" in line:
            found.setdefault(base, []).append(f"{variant}: {line['unsupported'].splitlines()[0]}")
        elif differs:
            found.setdefault(base, []).append(f"{variant} DIFFERS from {', '.join(differs)}")
    return found


def figure(ms):
    """Three significant digits, never scientific; - where there is none."""
    if ms is None:
        return "-"
    return f"{ms:.{max(0, 2 - math.floor(math.log10(ms)))}f}" if 0 < ms < 100 else f"{ms:.0f}"


def table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for number, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def summarise(rounds, case, counter):
    """The least of all rounds, of medians the median; None if a round lacks the case."""
    times = [found[case][counter] for found in rounds if counter in found.get(case, {})]
    if not times or len(times) < len(rounds):
        return None
    return statistics.median(times) if counter == "median_ms" else min(times)


def ratio(theirs, ours):
    return theirs / ours if theirs and ours else None


def measure(bench, pythons, arguments):
    """Our cases by name, the rounds of ours and of each rival {case: line}, and what differs {case: words}."""
    names = names_of_ours(bench, arguments)
    if not names:
        sys.exit(f"no case matches {arguments.cases}")
    ours, theirs = [], {rival: [] for rival in pythons}
    for number in range(arguments.rounds):
        print(f"\rround {number + 1}/{arguments.rounds} ", end="", file=sys.stderr, flush=True)
        ours.append(time_ours(bench, names, arguments))
        for rival, python in pythons.items():
            theirs[rival].append(measure_rival(rival, python, arguments))
    print(file=sys.stderr, end="\n" if arguments.rounds else "")
    last = {rival: rounds[-1] for rival, rounds in theirs.items() if rounds}
    return names, ours, theirs, disagreements(check_ours(bench, names, arguments), last)


def compare(bench, pythons, arguments):
    """Times and prints; gives whether anything differs."""
    names, ours, theirs, wrong = measure(bench, pythons, arguments)
    bases = list(dict.fromkeys(base_of(name)[0] for name in names))
    present = {base_of(name)[1] for name in names}
    variants = [variant for variant in ("eager", *VARIANTS) if variant in present]
    by_variant = lambda base, variant: base if variant == "eager" else f"{base}/{variant}"
    counter, other_counter = ("median_ms", "min_ms") if arguments.median else ("min_ms", "median_ms")
    made = "compiled" if "compiled" in present else "program"  # what a loop by hand is the measure of

    if not arguments.rounds:
        table([["case", "check"], *([base, "; ".join(wrong.get(base, ["same"]))] for base in bases)])
        return bool(wrong)
    ratios = {variant: [] for variant in variants if variant != "by_hand"} if pythons else {}
    rows = [["case", *variants, *pythons, *(f"best / {variant}" for variant in ratios),
             *([f"by {'minima' if arguments.median else 'medians'}"] if ratios else []),
             *([f"{made} / by_hand"] if {made, "by_hand"} <= present else []),
             *(["first call"] if "compiled" in present else []), "check"]]
    for base in bases:
        mine = {variant: summarise(ours, by_variant(base, variant), counter) for variant in variants}
        other = {rival: summarise(rounds, base, counter) for rival, rounds in theirs.items()}
        best = min(filter(None, other.values()), default=None)
        row = [base, *map(figure, mine.values()), *map(figure, other.values())]
        for variant, found in ratios.items():
            row.append(figure(ratio(best, mine[variant])))
            found += [ratio(best, mine[variant])] if ratio(best, mine[variant]) else []
        if ratios:
            others = (summarise(rounds, base, other_counter) for rounds in theirs.values())
            row.append(figure(ratio(min(filter(None, others), default=None), summarise(ours, base, other_counter))))
        if {made, "by_hand"} <= present:
            row.append(figure(ratio(mine[made], mine["by_hand"])))
        if "compiled" in present:
            row.append(figure(summarise(ours, f"{base}/compiled", "first_ms")))
        unsupported = [f"{rival}: {rounds[-1][base]['unsupported'][:60]}" for rival, rounds in theirs.items()
                       if rounds and "unsupported" in rounds[-1].get(base, {})]
        rows.append([*row, "; ".join([*wrong.get(base, ["same"]), *unsupported])])
    table(rows)
    print(f"\nms a step, the {'median' if arguments.median else 'least'} of {arguments.rounds} interleaved rounds; threads and cores: {arguments.threads}")
    for variant, found in ratios.items():
        if found:
            mean = math.exp(statistics.fmean(map(math.log, found)))
            print(f"best / {variant}: geometric mean {mean:.2f}; above 1, ricci is faster")
    for rival, rounds in theirs.items():
        if rounds and rounds[-1]:
            print(f"{rival}: {next(iter(rounds[-1].values()))['version']}")
    return bool(wrong)


def words(allowed):
    def parse(text):
        found = text.split(",")
        if not set(found) <= set(allowed):
            raise argparse.ArgumentTypeError(f"{text}: choose among {', '.join(allowed)}, with commas between them")
        return found

    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", help="W1, W3/fwd_4096, several with commas")
    parser.add_argument("--against", type=words(RIVALS), default=[], help="rivals, with commas between them")
    parser.add_argument("--variants", type=words(VARIANTS), default=VARIANTS, help="of ours, beside eager; else all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="per case and round")
    parser.add_argument("--median", action="store_true", help="print medians, not the fastest steps")
    parser.add_argument("--threads", type=int, default=1, help="of all sides, on as many cores")
    parser.add_argument("--adbench", metavar="FILE", help="one more input of W12 or W14: a file in ba/ or hand/*/")
    parser.add_argument("--keep-memory", action="store_true", help="tell glibc, on all sides, to keep freed memory")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where ricci_bench is")
    arguments = parser.parse_args()
    if not 1 <= arguments.threads <= len(os.sched_getaffinity(0)):
        parser.error(f"--threads {arguments.threads}: this process may use {len(os.sched_getaffinity(0))} cores")
    if arguments.adbench:
        os.environ["RICCI_BENCH_ADBENCH"] = os.path.abspath(arguments.adbench)
    pythons = present(arguments.against, arguments)
    sys.exit(compare(find_bench(arguments.build), pythons, arguments))


if __name__ == "__main__":
    main()
