#!/usr/bin/env python3
"""SciPy's SuperLU on the matrices that `sparse_solves --write FOLDER` wrote: processor time of a factorisation, which
includes the analysis, and of a solve. The least and, in brackets, the median. ../sparse.md has the figures.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 bench/peers/sparse_solves.py FOLDER grid_100 circuit_10000
"""

import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu


def milliseconds(work, rounds=3):
    times = []
    for _ in range(rounds):
        begin = time.thread_time()
        work()
        times.append(1e3 * (time.thread_time() - begin))
    times.sort()
    return f"{times[0]:.3g} ({times[rounds // 2]:.3g})"


folder, *names = sys.argv[1:]
for name in names:
    file = np.load(f"{folder}/{name}.npz")
    n = len(file["crow"]) - 1
    a = sp.csr_matrix((file["values"], file["col"], file["crow"]), shape=(n, n)).tocsc()
    b = np.cos(np.arange(n))

    def factored():
        return splu(a, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    factor = factored()
    print(f"{name}: factor {milliseconds(factored)}, solve {milliseconds(lambda: factor.solve(b), 9)}", flush=True)
