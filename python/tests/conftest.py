"""What all tests of the Python package share."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import ricci as rc

# What PyTorch says to test data of ours: names of arguments, values. Written by tools/torch_answers.py python.
ANSWERS_OF_TORCH = json.loads((Path(__file__).parent / "answers_of_torch.json").read_text())
SOURCE = Path(os.environ.get("RICCI_SOURCE", Path(__file__).resolve().parents[2]))
# Where processors have no fused multiply-add, compiled functions run operation by operation (page 23).
needs_machine_code = pytest.mark.skipif(
    "for baseline" in rc.build_info(), reason="needs a library for processors with fused multiply-add"
)


@pytest.fixture
def source():
    """The folder of the project; skips where the tests run without it."""
    if not (SOURCE / "include/ricci").exists():
        pytest.skip("needs the project's source")
    return SOURCE


def expect(found, wanted, rtol=1e-5, atol=1e-6):
    """A Tensor, or a list of them, holds these values."""
    if isinstance(found, (list, tuple)):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted):
            expect(f, w, rtol, atol)
    else:
        wanted = np.asarray(wanted)
        assert tuple(found.shape) == wanted.shape
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=atol)


def array_of(answer):
    """A tensor of PyTorch as the answers write it."""
    return np.array(answer["elements"], answer["dtype"]).reshape(answer["shape"])
