"""The inputs of every benchmark, by the same integer hash as ../inputs.h. Knows no rival; everything is numpy."""
import numpy as np


def uniform(shape, seed, low=-1.0, high=1.0):
    """float32, element i (row-major) = low + (high - low) * hash / 2^32 cut to 24 bits, computed in double."""
    x = np.arange(int(np.prod(shape)), dtype=np.uint32) * np.uint32(0x9E3779B9)
    x += np.uint32(seed * 0x85EBCA6B % 2**32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    u = (x >> np.uint32(8)).astype(np.float64) * 2.0**-24
    return (low + (high - low) * u).astype(np.float32).reshape(shape)


def dense(sizes, seed):
    """[W1, b1, W2, b2, ...]: layer l from seeds seed + 2 l and + 1, half-width 1 / sqrt(its inputs)."""
    net = []
    for l, (n, m) in enumerate(zip(sizes, sizes[1:])):
        width = n**-0.5
        net += [uniform((m, n), seed + 2 * l, -width, width), uniform((m,), seed + 2 * l + 1, -width, width)]
    return net


def one_hot_labels(count, classes):
    """[count, classes]: example i has class (7 i + 3) mod classes."""
    return np.eye(classes, dtype=np.float32)[(7 * np.arange(count) + 3) % classes]
