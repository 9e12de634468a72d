"""torch.fft's names. The module is also the operation of its name: `rc.fft(x)` is `rc.fft.fft(x)`."""

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
from ._spaces import is_also

is_also(__name__, fft)
