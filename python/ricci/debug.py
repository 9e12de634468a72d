"""Looking into functions while they run: in transforms, loops, recorded programs and compiled functions.

    rc.debug.print("loss = {}", loss)      # loss = 0.25  (example 3)
    y = rc.debug.check_finite(f(x), "y")
"""

from string import Formatter

from ._core import _debug
from ._core import ValueError as _ValueError

_sink = None


def check_finite(x, name):
    """A copy of the Tensor x. ValueError `check_finite: NAME is nan at [1,2] in example 3` where an element of x is NaN
    or infinite; and where, on the way back of a derivative, an element of x's cotangent is.

        y = rc.debug.check_finite(f(x), "y")
    """
    return _debug.check_finite(x, name)


def print(format, /, *values, **named):
    """Prints a line: the format with a value in place of each `{}` or `{name}`; `{{` and `}}` are braces.

    Under vmap each example prints its own line, which says which example it is. Derivatives print the values without
    tangents, once, where the function runs forward. Loops print at each step; a branch prints for the examples that
    take it. Recorded programs and compiled functions print at each call, in the order of the function. Values that are
    no Tensors are printed as str() has them. Lines go to Python's print, or where set_sink says.
    """
    text, fields, positional = "", [], iter(values)
    try:
        unread = set(named)
        for literal, name, spec, conversion in Formatter().parse(format):
            text += literal.replace("{", "{{").replace("}", "}}")
            if name is not None:
                if spec or conversion:
                    raise KeyError(name)
                text += "{}"
                fields.append(named[name] if name else next(positional))
                unread.discard(name)
        if unread:
            raise KeyError(unread)
    except (KeyError, StopIteration, ValueError):
        raise _ValueError(
            f"print: the format {format!r} does not fit the values; a value stands for each {{}}, a value given by "
            "name for {name}, and {{ and }} are braces"
        ) from None
    _debug.print(text, fields + list(positional))  # which refuses values without a field


def set_sink(sink=None):
    """From now on each line is given to `sink`, without a newline; None: to Python's print. Gives the sink there was.

    A sink is called on the thread that prints. What it raises goes to whoever called the function that prints.
    """
    global _sink
    if sink is not None and not callable(sink):
        raise TypeError(f"set_sink: the sink must be a function or None, not {type(sink).__name__}")
    _debug.set_sink(sink)
    before, _sink = _sink, sink
    return before
