"""Printing and checking inside functions, from Python."""

import pytest

import ricci as rc


@pytest.fixture
def lines():
    found = []
    before = rc.debug.set_sink(found.append)
    yield found
    rc.debug.set_sink(before)


def f(x):
    rc.debug.print("x = {}", x)
    return rc.sin(x) * x


def test_a_line_has_the_values_in_its_fields(lines):
    x = rc.tensor([1.0, 2.0])
    rc.debug.print("{}, {y} and {{}} {}", x, "text {}", y=3)
    rc.debug.print("nothing")
    assert lines == ["[1, 2], 3 and {} text {}", "nothing"]


def test_lines_go_to_pythons_print_where_there_is_no_sink(capsys):
    rc.vmap(f)(rc.tensor([1.0, 2.0]))
    assert capsys.readouterr().out == "x = 1  (example 0)\nx = 2  (example 1)\n"


def test_compiled_and_recorded_functions_print_what_the_function_prints(lines):
    def run(g, x):
        lines.clear()
        g(x)
        return list(lines)

    def steps(x):
        def step(c):
            rc.debug.print("step {c}", c=c)
            return c * 2

        return rc.while_loop(lambda c: c < 4, step, x)

    x = rc.tensor([0.5, 3.0, 1.0])
    for g in (f, steps):
        for nest in (rc.vmap(g), rc.vmap(rc.grad(g)), rc.grad(lambda x: rc.vmap(g)(x).sum()), lambda x: rc.map(g, x)):
            expected = run(nest, x)
            assert len(expected) >= 3
            compiled, program = rc.compile(nest), rc.trace(nest)(x)
            assert run(compiled, x) == expected
            assert run(compiled, x) == expected
            assert run(program, x) == expected


def test_what_a_sink_raises_goes_to_the_caller():
    class Full(Exception):
        pass

    def sink(line):
        raise Full(line)

    before = rc.debug.set_sink(sink)
    try:
        for g in (f, rc.compile(f)):
            with pytest.raises(Full, match="x = 1"):
                g(rc.tensor(1.0))
    finally:
        rc.debug.set_sink(before)


def test_an_error_of_the_sink_ends_a_compiled_loop_where_it_ends_the_loop():
    def loop(x):
        def step(i, y):
            rc.debug.print("{}: {}", i, y)
            return rc.sin(y) + 1

        return rc.fori_loop(0, 5, step, x)

    compiled = rc.compile(loop)
    compiled(rc.tensor(1.0))
    for g in (loop, compiled):
        calls = []

        def sink(line, calls=calls):
            calls.append(line)
            if len(calls) == 2:
                raise rc.ValueError("full")

        before = rc.debug.set_sink(sink)
        try:
            with pytest.raises(rc.ValueError, match="full"):
                g(rc.tensor(1.0))
        finally:
            rc.debug.set_sink(before)
        assert len(calls) == 2


@pytest.mark.parametrize(
    "args, named",
    [(("{}",), {}), (("{} {}", 1), {}), (("x", 1), {}), (("{", 1), {}), (("{x}",), {}), (("x",), {"x": 1}), (("{:3}", 1), {})],
)
def test_a_wrong_format_is_refused_at_once(lines, args, named):
    with pytest.raises(rc.ValueError, match="print: the format"):
        rc.debug.print(*args, **named)
    assert not lines


def test_check_finite_names_the_element_the_example_and_the_cotangent():
    def root(x):
        return rc.sqrt(rc.debug.check_finite(x, "x")).sum()

    assert rc.vmap(root)(rc.ones(2, 2)).tolist() == [2, 2]
    bad = rc.tensor([[1.0, 1.0], [1.0, float("nan")]])
    for g in (rc.vmap(root), rc.compile(rc.vmap(root))):
        with pytest.raises(rc.ValueError, match=r"check_finite: x is nan at \[1\] in example 1"):
            g(bad)
    with pytest.raises(rc.ValueError, match=r"check_finite: the cotangent of x is inf at \[1\]"):
        rc.grad(root)(rc.tensor([1.0, 0.0]))
    with pytest.raises(TypeError):
        rc.debug.set_sink(3)
