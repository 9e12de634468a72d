"""torch.fft's names. The module is also the operation of its name: `rc.fft(x)` is `rc.fft.fft(x)`."""

import sys
import types

from ._core import (  # noqa: F401
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
)


class _ModuleAndOperation(types.ModuleType):
    def __call__(self, *args, **named):
        return fft(*args, **named)


sys.modules[__name__].__class__ = _ModuleAndOperation
