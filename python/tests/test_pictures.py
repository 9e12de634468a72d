"""Pictures of programs and plans, and traces: each is read by who will read it, as XML, HTML, JSON or Graphviz."""

import json
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import ricci as rc


def loops(x):
    def step(s):
        return rc.sin(s) * 2.0

    return rc.while_loop(lambda s: s.sum() > 100.0, step, x @ x).sum()


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.rows, self.words = [], 0, []

    def handle_starttag(self, tag, attrs):
        if tag != "br":
            self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_a_plan_is_drawn_as_xml(tmp_path):
    explanation = rc.compile(lambda x: rc.sort(x @ x)[0].exp().cumsum(0)).explain(rc.ones(30, 30))
    explanation.save(str(tmp_path / "plan.svg"))
    root = ElementTree.parse(tmp_path / "plan.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(t.startswith("matmul f32[30,30]: ") and "5.4e+04 operations" in t for t in titles)
    bars = list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:]
    assert sum(float(b.get("width")) for b in bars) == pytest.approx(760, rel=1e-4)
    assert ElementTree.fromstring(explanation._repr_html_()) is not None
    for path in ("plan.png", str(tmp_path / "nowhere" / "plan.svg")):
        with pytest.raises(rc.ValueError, match="save"):
            explanation.save(path)


def test_a_program_is_drawn_as_a_graph(tmp_path):
    program = rc.trace(loops)(rc.ones(3, 3))
    text = program.to_dot()
    assert text.count("subgraph cluster_") == 2 and 'label="in while_loop"' in text
    assert text.count("return") == 3  # of the program, the condition and the body
    if dot := shutil.which("dot"):
        (tmp_path / "program.dot").write_text(text)
        subprocess.run([dot, "-Tsvg", "-o", "/dev/null", str(tmp_path / "program.dot")], check=True)


def test_a_program_is_a_table_in_html():
    page = Balanced()
    page.feed(rc.trace(loops)(rc.ones(3, 3)).to_html())
    assert not page.open and page.rows >= 6
    words = " ".join(page.words)
    assert "program(a: f32[s0,s0])" in words and "while_loop" in words and "sin" in words


def test_a_trace_is_json_with_nested_spans(tmp_path):
    path = tmp_path / "trace.json"
    x = rc.randn(1000, 1000)
    fast = rc.compile(lambda x: rc.sort(x).values.sum())
    rc.profile.start(str(path))
    with pytest.raises(rc.ValueError, match="a profile runs"):
        rc.profile.start(str(path))
    with rc.profile.span('my "part" \n'):
        y = rc.sin(x).add_(1)
        rc.vmap(rc.grad(lambda row: (row * row).sum()))(y)
        fast(x)
    rc.profile.stop()
    rc.cos(x)
    events = json.loads(path.read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    by_name = {e["name"]: e for e in spans}
    mine = by_name['my "part" \n']
    assert {"sin", "add", "mul", "sum"} <= set(by_name) and "cos" not in by_name
    assert any(e["cat"] == "call" and e["name"].startswith("compiled (test_pictures.py:") for e in spans)
    assert any(e["cat"] == "make plan" for e in spans)
    for e in spans:
        assert mine["ts"] <= e["ts"] and e["ts"] + e["dur"] <= mine["ts"] + mine["dur"] + 0.002
    with pytest.raises(rc.ValueError, match="no profile runs"):
        rc.profile.stop()
    with pytest.raises(rc.ValueError, match="cannot be written"):
        rc.profile.start(str(tmp_path / "nowhere" / "trace.json"))


def test_a_trace_has_the_pieces_of_each_thread(tmp_path):
    """Which thread takes a piece is left to chance, so the program runs until the second one has taken one. That it
    never does would be a fault: a call is cut for as many threads as are asked for, whatever the processors."""
    path = tmp_path / "trace.json"
    code = f"""
import ricci as rc
rc.set_num_threads(2)
x = rc.ones(4_000_000)
rc.profile.start({str(path)!r})
for _ in range(20):
    rc.sin(x)
"""  # written where the program ends
    for _ in range(30):
        subprocess.run([sys.executable, "-c", code], check=True)
        pieces = [e for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == "piece"]
        threads = {e["tid"] for e in pieces}
        if len(threads) == 2:
            break
    assert len(threads) == 2 and {e["name"] for e in pieces} == {"sin"}
