"""What Python's tools ask of functions: their signatures (`inspect`, editors), how they are pickled, and how transformed
functions print. The module calls this where it is asked, and imports it then."""

import __future__

import inspect
import re
import sys

from . import _core

# ── signatures ──

_ANY = inspect.signature(lambda *args, **kwargs: None)


def signature_of(function):
    """The signature of a function of the module. One of several forms takes any arguments; its doc lists the forms."""
    if not function.__module__.startswith("ricci"):
        raise AttributeError("__signature__")  # the class of functions serves all modules that nanobind binds
    if isinstance(function, _core.Operation):
        forms = [(line, ()) for line in function.__doc__.split("\n\n")[0].split("\n")]
    else:
        forms = [(form[0].split("\n")[-1].removeprefix("def "), form[2] or ()) for form in function.__nb_signature__]
    if len(forms) > 1:
        return _ANY
    text, defaults = forms[0]
    text = re.sub(r"\\(\d+)", r"_defaults[\1]", text)
    names = {"_defaults": defaults}
    written = compile(f"def {text}: pass", "<signature>", "exec", __future__.annotations.compiler_flag)
    exec(written, names)
    signature = inspect.signature(names[text[: text.index("(")]])
    if type(function).__name__ == "nb_bound_method":
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    return signature


# ── transformed functions ──


def _found(module, name):
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def named(module, name):
    """What a module calls so."""
    __import__(module)
    return _found(module, name)


def made(name, function, options):
    """What the transform of this name makes of a function."""
    make = getattr(sys.modules["ricci"], name)
    return (make() if isinstance(make, type) else make)(function, **options)


def reduced(transformed, name, function, options):
    """For pickle. A function that was transformed where it was defined, `@rc.compile`, is found by its name."""
    module, qualified = getattr(function, "__module__", None), getattr(function, "__qualname__", "<locals>")
    if _found(module, qualified) is transformed:
        return named, (module, qualified)
    return made, (name, function, options)


def program_of(text, captured):
    """What a pickled Program is made of again."""
    return _core.parse_program(text, captured)


def generator_at(state):
    """What a pickled Generator is made of again."""
    return _core.Generator().set_state(state)


def shown(name, function, options):
    """`vmap(grad(loss), in_dims=(None, 0, 0))`"""
    text = getattr(function, "__qualname__", None)
    is_transformed = hasattr(function, "__wrapped__") and type(function).__module__ == _core.__name__
    if text is None or is_transformed:
        text = repr(function)
    return f"{name}({', '.join([text, *(f'{option}={value!r}' for option, value in options.items())])})"
