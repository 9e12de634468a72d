"""Modules that are also the operation of their name: `rc.fft(x)` is `rc.fft.fft(x)`."""

import sys
import types


class _Space(types.ModuleType):
    def __call__(self, *args, **named):
        return self._operation(*args, **named)


def is_also(module, operation):
    """From now on the module of this name can be called."""
    space = sys.modules[module]
    space.__class__, space._operation = _Space, operation
