"""A trace of what a program does and when, to look at in chrome://tracing or ui.perfetto.dev.

    rc.profile.start("trace.json")
    train()
    rc.profile.stop()
"""

from ._core import _profile

start, stop, span = _profile.start, _profile.stop, _profile.span
