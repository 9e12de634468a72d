#!/usr/bin/env python3
"""Writes bench/RESULTS.md and its pictures: the cases beside their rivals, GradBench's evals, the robot. Minutes.

    ./dev bench --report                          everything
    ./dev bench --report --cases W1,W12 --rounds 3
    ./dev bench --report --keep gradbench,robot   takes what the last report measured for these (build/report), or, where
                                                  that is gone, what the page says of them

Rivals are those that $RICCI_BENCH_PYTHON, .venv/bin/python or python3 can import; what is absent is said. Every case
stands in the page, lost ones too. Knows nothing of what is measured.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys

import bench_against as against

ROOT = against.ROOT
KEPT = ROOT / "build/report"
PAGE, PICTURE, SUMMARY, LOSSES = (ROOT / "bench" / name for name in ("RESULTS.md", "results.svg", "summary.svg", "losses.md"))
SECTIONS = ("cases", "gradbench", "robot")
# All but the largest sizes of W3, W12 and W16, single operations and layers.
CASES = ("W1,W2,W3/fwd_4096,W3/fwd_65536,W3/value_grad_4096,W3/value_grad_65536,W4,W7,W8,W9,W12/test_jacrev,W12/test_jacfwd,"
         "W12/ba1_jacrev,W13,W14,W15,W16/greeks_16384,W16/gamma_16384,W18,W19,arm,loops,density,lanes/while_loop,asked")


def line_of(path, start):
    return next((line.split(":", 1)[1].strip() for line in pathlib.Path(path).read_text().splitlines()
                 if line.startswith(start)), "unknown")


def first_line(*command):
    return (subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines() or ["unknown"])[0]


def machine():
    return {"date": datetime.date.today().isoformat(), "processor": line_of("/proc/cpuinfo", "model name"),
            "cores": os.cpu_count(), "system": platform.platform(), "compiler": first_line("c++", "--version"),
            "commit": first_line("git", "rev-parse", "--short", "HEAD")}


def load():
    return round(os.getloadavg()[0], 1)


def on_last_core(command):
    """What a command prints, on the last core with one thread. Ends the report if the command fails."""
    core = sorted(os.sched_getaffinity(0))[-1]
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    environment = dict(os.environ, RICCI_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", XLA_FLAGS=flags)
    done = subprocess.run(command, env=environment, preexec_fn=lambda: os.sched_setaffinity(0, {core}),
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def cases(arguments):
    """[{case, eager, compiled, by_hand, rivals, first, check}], in ms."""
    asked = argparse.Namespace(cases=arguments.cases, variants=("compiled", "by_hand"), rounds=arguments.rounds,
                               seconds=arguments.seconds, threads=1, keep_memory=False)
    pythons = against.present(against.RIVALS, asked)
    names, ours, theirs, wrong = against.measure(against.find_bench(ROOT / "build/release"), pythons, asked)
    least = lambda rounds, case: against.summarise(rounds, case, "min_ms")
    rows = []
    for base in dict.fromkeys(against.base_of(name)[0] for name in names):
        rivals = {rival: least(rounds, base) for rival, rounds in theirs.items()}
        rows.append({"case": base, "eager": least(ours, base), "compiled": least(ours, f"{base}/compiled"),
                     "by_hand": least(ours, f"{base}/by_hand"), "rivals": {r: ms for r, ms in rivals.items() if ms},
                     "first": against.summarise(ours, f"{base}/compiled", "first_ms"),
                     "check": "; ".join(wrong.get(base, ["same"]))})
    versions = [f"{rival} {next(iter(rounds[-1].values()))['version']}" for rival, rounds in theirs.items() if rounds[-1]]
    return {"rows": rows, "versions": versions, "rounds": arguments.rounds}


def gradbench(arguments):
    """The tables of bench/gradbench/run.py, ours and JAX's: rows of cells."""
    python = against.find_python("jax") or sys.executable
    run = [python, str(ROOT / "bench/gradbench/run.py"), "--seconds", str(arguments.seconds)]
    cells = lambda text: [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines()[2:]]
    ours = cells(on_last_core(run))
    others = against.find_python("jax")
    jax = cells(on_last_core([*run, "--tool", f"{others} {ROOT / 'bench/gradbench/jax_tool.py'}"])) if others else []
    return {"ours": ours, "jax": [row for row in jax if len(row) == 6]}


def robot(arguments):
    """The tables of examples/robot_dynamics and of bench/peers/robots.py."""
    lines = lambda command: [line for line in on_last_core(command).splitlines() if line.startswith("|")]
    python, robots = against.find_python("pinocchio"), ROOT / "data/robots"
    rivals = [python, str(ROOT / "bench/peers/robots.py"), str(robots / "arm.urdf"), "--values", str(robots / "arm_values.json")]
    return {"ours": lines([str(ROOT / "build/release/examples/robot_dynamics")]), "rivals": lines(rivals) if python else []}


def best(row):
    """Our least time, the best rival's name and time; None where there is none."""
    ours = min(filter(None, (row["eager"], row["compiled"])), default=None)
    rival = min(row["rivals"], key=row["rivals"].get, default=None)
    return ours, rival, row["rivals"].get(rival)


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(row) + " |" for row in rows)])


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def ratio_cell(ratio):
    return f"**{against.figure(ratio)}**" if ratio and ratio < 1 else against.figure(ratio)


def of_machine(measured):
    """When a section was measured, of which commit, and how busy the machine was."""
    where, (before, after) = measured["machine"], measured["load"]
    return (f"Measured on {where['date']} at commit {where['commit']}; the machine's load was {before} before and {after} "
            "after, of which 1 is the measurement.")


POWERS = range(-4, 5)  # of ten, on the logarithmic axis of ratios


def colour(ratio):
    return "#1f6fb4" if ratio >= 1 else "#c0392b"


def label(power):
    return f"1/{10**-power:,}" if power < 0 else f"{10**power:,}"


def along(ratio, start, length):
    """Where a ratio lies on an axis of that length."""
    return start + length * (min(max(math.log10(ratio), POWERS[0]), POWERS[-1]) - POWERS[0]) / (len(POWERS) - 1)


def svg(width, height, lines):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="white"/>',
                      *lines, "</svg>"]) + "\n"


def picture(points):
    """A row for each case: how many times as fast as the best rival."""
    step, left, top, width = 14, 260, 34, 560
    height = top + step * len(points) + 10
    lines = [f'<text x="{left}" y="12">how many times as fast as the fastest rival; left of 1 (red), the rival is faster</text>']
    for power in POWERS:
        x = along(10.0**power, left, width)
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 6}" y2="{height - 6}" '
                     f'stroke="{"black" if power == 0 else "#cccccc"}"/>')
        lines.append(f'<text x="{x:.1f}" y="{top - 9}" text-anchor="middle">{label(power)}</text>')
    for i, (name, ratio) in enumerate(points):
        x, y = along(ratio, left, width), top + step * i + 8
        lines.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{name}</text>')
        lines.append(f'<line x1="{along(1, left, width):.1f}" x2="{x:.1f}" y1="{y}" y2="{y}" '
                     f'stroke="{colour(ratio)}" stroke-width="3"/>')
        lines.append(f'<circle cx="{x:.1f}" cy="{y}" r="3.5" fill="{colour(ratio)}"/>')
    return svg(left + width + 60, height, lines)


def summary(points):
    """The same in little: a dot for each case, in the order of the ratios."""
    left, width, bottom, height = 60, 600, 214, 190
    lines = [f'<text x="{left}" y="14">how many times as fast as the fastest rival, a dot for each benchmark (blue: Ricci is faster)</text>']
    for power in POWERS:
        y = bottom - along(10.0**power, 0, height)
        lines.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" '
                     f'stroke="{"black" if power == 0 else "#cccccc"}"/>')
        lines.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{label(power)}</text>')
    for i, (_, ratio) in enumerate(points):
        x, y = left + width * (i + 0.5) / len(points), bottom - along(ratio, 0, height)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour(ratio)}"/>')
    return svg(left + width + 10, bottom + 10, lines)


def of_cases(measured):
    """The section's text, and the picture's points."""
    figure, rows, points = against.figure, [], []
    for row in measured["rows"]:
        ours, rival, ms = best(row)
        ratio = against.ratio(ms, ours)
        if ratio:
            points.append((row["case"], ratio))
        limit = against.ratio(row["by_hand"], row["compiled"])
        rows.append([row["case"], figure(row["eager"]), figure(row["compiled"]), figure(row["first"]),
                     f"{figure(ms)} {rival}" if rival else "-", ratio_cell(ratio),
                     f"{100 * limit:.0f} %" if limit else "-", row["check"][:60]])
    ratios = [ratio for _, ratio in points]
    lost = sum(ratio < 1 for ratio in ratios)
    said = "No rival was there." if not ratios else (
        f"{len(ratios)} cases have a rival. Ricci is faster than the fastest of them in {len(ratios) - lost} cases, slower "
        f"in {lost} (bold, red). In the geometric mean over all cases it is {geometric_mean(ratios):.1f} times as fast.")
    head = ["case", "eager", "compiled", "first call", "best rival", "rival / ours", "of the loop by hand", "check"]
    versions = ", ".join(measured["versions"]) or "none"
    rounds = measured["rounds"]
    text = f"""## Cases

{said} All times are milliseconds
a step, with one thread on one core: the least {f"of {rounds} rounds" if rounds > 1 else "of a round"}.
Rivals: {versions}. A case is measured beside the rivals that suit it. What each case computes: [README](README.md).
Why the red ones lose: [losses](losses.md). {of_machine(measured)}

| column | |
|---|---|
| eager, compiled | Ricci: operations run one by one; and the same function by `rc::compile`, in calls after the first |
| first call | of the compiled function: it is recorded, and its code is made |
| best rival | the fastest rival's time and name |
| rival / ours | its time over the better of eager and compiled: above 1 Ricci is faster, **bold** below 1 |
| of the loop by hand | the speed of compiled code, as a share of a loop written by hand for this machine; - where there is none |
| check | *same*: outputs of Ricci and of all rivals agree; else who differs, or why there is no compiled function |

![each case's ratio](results.svg)

{table(head, rows)}
"""
    return text, sorted(points, key=lambda point: point[1])


def of_gradbench(measured):
    number = lambda cell: float(cell) if cell not in ("-", "") else None
    jax = {tuple(row[:3]): number(row[3]) for row in measured["jax"]}
    rows, ratios = [], {row[0]: [] for row in measured["ours"]}
    for row in measured["ours"]:
        ours, first, other = number(row[3]), number(row[4]), jax.get(tuple(row[:3]))
        ratio = against.ratio(other, ours)
        ratios[row[0]] += [ratio] if ratio else []
        rows.append([*row[:3], *map(against.figure, (ours, first, other)), ratio_cell(ratio), row[5]])
    wrong = {row[0] for row in measured["ours"] if row[5] != "right"}
    means = [[name, str(sum(row[0] == name for row in rows)), "wrong" if name in wrong else "right",
              ratio_cell(geometric_mean(found)) if found else "-"] for name, found in ratios.items()]
    head = ["eval", "input", "function", "ms", "first call, ms", "JAX, ms", "JAX / ours", "check"]
    return f"""## GradBench

[GradBench](https://gradben.ch) asks programs for functions and derivatives by messages. Ricci's program,
[gradbench/](gradbench/README.md), answers all of GradBench's problems, which it calls evals. The program's page says what each eval
computes, and has times that others published. {len(ratios.keys() - wrong)} of 12 evals give the right values at all sizes, each held
against formulas in NumPy. JAX is asked for the evals that `gradbench/jax_tool.py` has.
{of_machine(measured)}

{table(["eval", "answers", "check", "JAX / ours, geometric mean"], means)}

Each answer: *ms* is a later call, compiled; *first call* also records the function and makes its code. det computes
shared minors once, so its times are not those of the recursion that GradBench describes.

{table(head, rows)}
"""


def of_robot(measured):
    rivals = "\n".join(measured["rivals"]) or "Pinocchio is not installed."
    return f"""## A robot

An arm of eight joints, its dynamics as plain functions (`examples/robot_dynamics.cpp`), compiled. Times of later calls are
microseconds a state: of one state, and by vmap of each of 16, 256 and 4,096. The derivatives are those of forward
dynamics by positions, speeds and torques: by `jacfwd` through forward dynamics, and by `jacfwd` of inverse dynamics with one solve. [Other robots](robots.md).
{of_machine(measured)}

{chr(10).join(measured["ours"])}

The same by others, whose values agree to 1e-9 (`peers/robots.py`): Pinocchio's own derivatives, called from Python, one
state at a time; JAX by `vmap`, its derivatives solved; CasADi's C with a loop over the states.

{rivals}
"""


def on_page(heading):
    """The section as it stands in the page."""
    _, found, rest = PAGE.read_text().partition(f"## {heading}\n")
    return found + rest.partition("\n## ")[0].rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.1, help="per case and round")
    parser.add_argument("--keep", type=against.words(SECTIONS), default=[], help="sections not to measure again")
    arguments = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    measured = {}
    for name, section in zip(SECTIONS, (cases, gradbench, robot)):
        file = KEPT / f"{name}.json"
        if name not in arguments.keep:
            print(f"== {name}", file=sys.stderr, flush=True)
            before, found = load(), section(arguments)
            file.write_text(json.dumps({"machine": machine(), "load": [before, load()], **found}, indent=1))
        if file.exists():
            measured[name] = json.loads(file.read_text())
    text, points = of_cases(measured["cases"])
    where = measured["cases"]["machine"]
    about = (f"Written by `./dev bench --report` on {where['date']}: {where['processor']}, {where['cores']} cores, "
             f"{where['system']}, {where['compiler']}. Each section says how busy the machine was: where other programs ran "
             "beside, times are too high and ratios rough.")
    PICTURE.write_text(picture(points))
    SUMMARY.write_text(summary(points))
    of_others = [of(measured[name]) if name in measured else on_page(heading)
                 for name, heading, of in (("gradbench", "GradBench", of_gradbench), ("robot", "A robot", of_robot))]
    PAGE.write_text("\n".join([f"# Results\n\n{about}\n", text, *of_others]))
    print(f"wrote {PAGE.relative_to(ROOT)} and its pictures")
    losses = LOSSES.read_text()
    unnamed = [name for name, ratio in points if ratio < 0.95 and f"`{name}`" not in losses]
    if unnamed:
        print(f"{LOSSES.relative_to(ROOT)} does not name {', '.join(unnamed)}")


if __name__ == "__main__":
    main()
