"""What the docs of operations show is Python, and a call that gives each shown default is taken."""

import ast
import subprocess
import sys

import ricci as rc

SIGNATURES = [
    (name, line.rpartition(" -> ")[0])
    for name in rc._core.operations
    for line in getattr(rc._core, name).__doc__.split("\n\n")[0].split("\n")
]
# Some argument for each annotation, the first that it holds.
ARGUMENTS = {
    "Sequence[TensorLike | Sequence[int]]": [rc.ones(3, 3), [0, 1]],
    "device | str": "cpu",
    "Sequence[TensorLike]": [rc.ones(3, 3), rc.ones(3, 3)],
    "TensorLike": rc.ones(3, 3),
    "tuple[Ints, Ints]": ((0,), (0,)),
    "int": 1,
    "Ints": (1,),  # a bare int may begin a list given one by one
    "float": 0.5,
    "str": "mean",
    "bool": True,
    "DType": rc.float32,
    "Tensor": rc.ones(3, 3),
    "Key": rc.Key(0),
}
REFUSALS = ("no form takes", "lacks its argument", "has no argument", "takes at most", "is missing")


def argument_for(parameter):
    annotation = ast.unparse(parameter.annotation)
    return next((a for words, a in ARGUMENTS.items() if words in annotation), rc.ones(3, 3))


def calls(name, text):
    """(what is tried, the call) for each default: given by name, with all arguments that have none."""
    parameters = ast.parse(f"def {text}: pass").body[0].args
    by_place = parameters.posonlyargs + parameters.args
    defaults = dict(zip([p.arg for p in by_place][len(by_place) - len(parameters.defaults) :], parameters.defaults))
    defaults |= {p.arg: d for p, d in zip(parameters.kwonlyargs, parameters.kw_defaults) if d is not None}
    needed = {p.arg: argument_for(p) for p in by_place + parameters.kwonlyargs if p.arg not in defaults}
    defaults = {n: ast.literal_eval(d) for n, d in defaults.items()}
    function = getattr(rc._core, name)
    for n, value in defaults.items():
        yield f"{name}({n}={value!r})", lambda n=n, value=value: function(**needed, **{n: value})
    yield f"{name} with all defaults", lambda: function(**needed, **defaults)
    places = [needed[p.arg] if p.arg in needed else defaults[p.arg] for p in by_place]
    if "out" not in needed:
        more = {p.arg: needed[p.arg] for p in parameters.kwonlyargs if p.arg in needed}
        yield f"{name} with all defaults by position", lambda: function(*places, **more)


def print_refusals():
    for name, text in SIGNATURES:
        for tried, call in calls(name, text):
            try:
                call()
            except rc.TypeError as error:
                if any(words in str(error) for words in REFUSALS):
                    print(f"{tried}: {error}")
            except (rc.Error, MemoryError):
                pass  # these arguments are no good for it, and it was called


def test_shown_signatures_are_python():
    for _, text in SIGNATURES:
        ast.parse(f"def {text}: pass")


def test_shown_defaults_are_taken():
    # In a process of its own, which a crash may end.
    ran = subprocess.run([sys.executable, "-B", __file__], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_none_for_a_number_that_is_left_out():
    x = rc.tensor([[3.0, 4.0], [6.0, 8.0]])
    wanted = rc.rms_norm(x, (2,)).tolist()
    assert rc.rms_norm(x, (2,), None, None).tolist() == rc.rms_norm(x, (2,), eps=None).tolist() == wanted


def test_a_shown_default_is_the_default():
    x = rc.tensor([[1.0, 5.0], [2.0, 3.0]])
    assert rc.argmax(x, dim=None).item() == rc.argmax(x, None, False).item() == 1
    assert rc.prod(x, keepdim=False).item() == 30
    assert rc.one_hot(rc.tensor([0, 1]), num_classes=None).shape == (2, 2)
    images = rc.arange(16.0).reshape(1, 1, 4, 4)
    for pool in (rc.max_pool2d, rc.avg_pool2d):
        assert pool(images, 2, padding=0).tolist() == pool(images, 2, stride=None).tolist() == pool(images, 2).tolist()
        assert pool(images, 2, padding=1).shape == (1, 1, 3, 3)
        assert pool(images, 2, 1).shape == (1, 1, 3, 3)


if __name__ == "__main__":
    print_refusals()
