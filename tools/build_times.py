#!/usr/bin/env python3
# Where the time of a build goes: `build_times.py [LOG]` prints the 25 slowest steps of the log that ninja keeps
# (build/release/.ninja_log) and the sums of the library, the tests and so on. `build_times.py check` refuses a file
# that takes more than 30 seconds of processor time. That time is what tools/compile.sh noted beside each object. A step
# without a note has only its time on the clock, marked with *, which depends on what else the machine did: it is shown,
# never refused. A file that ccache knew takes next to nothing, so the sums are those of a build without a filled cache.
import re
import sys
from collections import defaultdict
from pathlib import Path

from findings import ROOT, report

LOG = ROOT / "build/release/.ninja_log"
MOST_SECONDS = 30
SHOWN = 25
CPU_TIME = re.compile(r"(\d+)m([\d.]+)s")


def processor_seconds(output):
    """What compile.sh noted of the step that makes `output`; None if there is no note."""
    note = output.with_name(output.name + ".times")
    if not note.exists():
        return None
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in CPU_TIME.findall(note.read_text()))


def steps(log):
    """{output: (seconds, whether they are processor time)} of each step's last run."""
    found = {}
    for line in log.read_text().splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, _ = line.split("\t")
        seconds = processor_seconds(log.parent / output)
        found[output] = ((int(end) - int(start)) / 1000, False) if seconds is None else (seconds, True)
    return {output: step for output, step in found.items() if not output.startswith("/")}  # those are named twice


def part_of(output):
    """`library`, or the folder of the tree that the step belongs to."""
    if output.startswith("CMakeFiles/ricci_"):
        return "library"
    return output.split("/")[0] if "/" in output else "links"


def short(output):
    return re.sub(r"CMakeFiles/\w+\.dir/", "", output).removesuffix(".o")


def show(log):
    times = steps(log)
    for output, (seconds, is_processor_time) in sorted(times.items(), key=lambda step: -step[1][0])[:SHOWN]:
        print(f"{seconds:8.1f} s{' ' if is_processor_time else '*'} {short(output)}")
    sums = defaultdict(lambda: [0, 0.0])
    for output, (seconds, _) in times.items():
        for part in (part_of(output), "all"):
            sums[part][0] += 1
            sums[part][1] += seconds
    print()
    for part, (count, seconds) in sorted(sums.items(), key=lambda one: -one[1][1]):
        print(f"{seconds:8.1f} s  {part} ({count} steps)")


def findings(log):
    for output, (seconds, is_processor_time) in steps(log).items() if log.exists() else ():
        if is_processor_time and seconds > MOST_SECONDS:
            yield log, 1, f"{short(output)} takes {seconds:.0f} s to compile; {MOST_SECONDS} s is the most"


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        report("build times", findings(LOG))
    else:
        show(Path(sys.argv[1]) if sys.argv[1:] else LOG)
