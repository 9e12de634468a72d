"""Inputs of the cases of tools/torch_values.py. A dtype that is not said is float64; numbers are uniform where a name
says no more."""
import math

import torch


def x(*shape):
    return torch.rand(shape, dtype=torch.float64) * 4 - 2


def positive(*shape):
    return torch.rand(shape, dtype=torch.float64) * 2 + 0.25


def unit(*shape):
    return torch.rand(shape, dtype=torch.float64) * 0.9 + 0.05


def sign(*shape):
    return torch.randint(0, 2, shape).to(torch.float64) * 2 - 1


def classes(count, *shape):
    return torch.randint(0, count, shape)


def z(*shape):
    return torch.complex(x(*shape), x(*shape))


def at(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def whole(*numbers):
    return torch.tensor(numbers)


def apart(*shape):
    """Numbers in random order, at least 0.1 apart: extremes and orders have no kink near them."""
    count = math.prod(shape)
    return ((torch.randperm(count).double() - count / 2) * 0.25 + torch.rand(count).double() * 0.1).reshape(shape)
