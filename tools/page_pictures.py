#!/usr/bin/env python3
# Draws the pictures of docs/24-pictures.md anew, docs/pictures/*.svg: `PYTHONPATH=build/release/python
# build/python/bin/python tools/page_pictures.py`. Needs the Python package, and Graphviz' `dot`.
import json
import subprocess
import tempfile
from html import escape
from pathlib import Path

import ricci as rc

PICTURES = Path(__file__).resolve().parent.parent / "docs/pictures"
COLORS = {"operation": "#4878a8", "write": "#4878a8", "call": "#d08050", "make plan": "#b0556b", "piece": "#5a9e6f",
          "user": "#8872a8"}  # fmt: skip


def draw_plan():
    x = rc.randn(400, 400)
    fast = rc.compile(lambda x: rc.sort(rc.tanh(x @ x) * x)[0].exp().cumsum(0) + x @ rc.sin(x))
    fast.explain(x).save(str(PICTURES / "plan.svg"))


def draw_program():
    def loop(x):
        return rc.while_loop(lambda s: s.sum() > 1.0, lambda s: rc.sin(s) * 0.5, x).sum()

    graph = rc.trace(loop)(rc.ones(20)).to_dot()
    drawn = subprocess.run(["dot", "-Tsvg"], input=graph, capture_output=True, text=True, check=True).stdout
    (PICTURES / "program.svg").write_text(drawn)


def draw_trace():
    """As chrome://tracing shows it: rows by thread, then by depth."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        rc.set_num_threads(2)
        x, fast = rc.randn(700, 700), rc.compile(lambda x: rc.sort(x)[0].sum())
        for _ in range(3):  # so that threads are awake
            rc.sin(x), fast(x)
        rc.profile.start(str(path))
        with rc.profile.span("step"):
            y = rc.sin(x) @ x
            fast(rc.tanh(y))
        rc.profile.stop()
        spans = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]
    spans.sort(key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    begin, end = min(e["ts"] for e in spans), max(e["ts"] + e["dur"] for e in spans)
    scale, row, rows, text = 860 / (end - begin), 18, 0, ""
    for tid in sorted({e["tid"] for e in spans}):
        open_until, deepest = [], 0
        for e in (e for e in spans if e["tid"] == tid):
            while open_until and open_until[-1] <= e["ts"]:
                open_until.pop()
            depth, left, wide = len(open_until), 20 + (e["ts"] - begin) * scale, max(0.5, e["dur"] * scale)
            open_until.append(e["ts"] + e["dur"])
            deepest = max(deepest, depth)
            top = 24 + (rows + depth) * row
            label = f"{e['name']}: {e['dur']:.1f} us"
            text += f'<g><title>{escape(label)}</title><rect x="{left:.2f}" y="{top}" width="{wide:.2f}" height="16" '
            text += f'fill="{COLORS[e["cat"]]}" stroke="white" stroke-width="0.5"/>'
            if wide > 7 * len(e["name"]):
                text += f'<text x="{left + 3:.2f}" y="{top + 12}" fill="white">{escape(e["name"])}</text>'
            text += "</g>\n"
        rows += deepest + 2
    (PICTURES / "trace.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{24 + rows * row}" font-family="monospace" '
        f'font-size="10">\n<rect width="100%" height="100%" fill="white"/>\n<text x="20" y="14">{end - begin:.0f} us, '
        f"two threads</text>\n{text}</svg>\n"
    )


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    draw_plan()
    draw_program()
    draw_trace()
