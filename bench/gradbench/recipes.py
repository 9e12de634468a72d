"""The inputs of GradBench's evals by its recipes: seed 31337, its sizes. Also small ones of each, for the tests.

`inputs(eval, small, folder)` gives pairs of a description and an input. ADBench's files (ba, ht, lstm) are those below
`folder`, data/adbench if none is named: the project keeps some of them. Knows nothing of the values.
"""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import adbench

SEED = 31337


def gmm(small, folder):
    sizes = [(2, 5), (3, 4)] if small else [(d, k) for d in (2, 10, 20, 32, 64) for k in (5, 10, 25, 50, 100)]
    n = 20 if small else 1000
    for d, k in sorted(sizes, key=lambda size: size[0] * size[1]):
        rng = np.random.default_rng(SEED)
        yield f"{d}_{k}_{n}", {
            "d": d, "k": k, "n": n, "x": rng.normal(size=(n, d)).tolist(), "m": 1 if small else 0, "gamma": 1.0,
            "mu": rng.uniform(size=(k, d)).tolist(), "q": rng.normal(size=(k, d)).tolist(),
            "l": rng.normal(size=(k, d * (d - 1) // 2)).tolist(), "alpha": rng.normal(size=k).tolist()}


def files(folder, start):
    number = lambda file: int(file.name.split("_")[0].removeprefix(start))
    return sorted(folder.glob(f"{start}*.txt"), key=number)


def ba(small, folder):
    for file in [folder / "ba/test.txt"] if small else files(folder / "ba", "ba"):
        n, m, p, camera, point, weight, feature = adbench.read_bundle_adjustment(file)
        yield file.stem, {"n": int(n), "m": int(m), "p": int(p), "cam": camera.tolist(), "x": point.tolist(),
                          "w": float(weight), "feat": feature.tolist()}


def ht(small, folder):
    for kind in ("simple_small", "simple_big", "complicated_small", "complicated_big"):
        for file in files(folder / "hand" / kind, "hand"):
            correspondences, points, places, theta = adbench.read_hand(file)
            parents, relative, inverse, vertices, weights, triangles = adbench.read_hand_model(file)
            model = {"bone_count": len(parents), "bone_names": [str(i) for i in range(len(parents))], "parents": parents,
                     "base_relatives": relative.tolist(), "inverse_base_absolutes": inverse.tolist(),
                     "base_positions": vertices.tolist(), "weights": weights.tolist(), "triangles": triangles.tolist(),
                     "is_mirrored": False}
            yield f"{kind}/{file.stem}", {
                "theta": theta.tolist(), "us": [] if places is None else places.tolist(),
                "data": {"model": model, "correspondences": correspondences.tolist(), "points": points.tolist()}}


def lstm(small, folder):
    """A text is random here, as are the weights in GradBench: the project keeps one of its files."""
    for layers, characters in [(2, 6)] if small else [(l, c) for l in (2, 4, 6) for c in (1024, 4096, 8192)]:
        rng, bits = np.random.default_rng(SEED), 14
        yield f"l{layers}_c{characters}", {
            "main_params": rng.random((2 * layers, 4 * bits)).tolist(), "extra_params": rng.random((3, bits)).tolist(),
            "state": rng.random((2 * layers, bits)).tolist(),
            "sequence": rng.integers(0, 2, (characters, bits)).tolist()}


def kmeans(small, folder):
    rng = np.random.default_rng(SEED)
    for k in (3,) if small else (10, 100, 1000):
        for n in (20,) if small else (1000, 10000):
            for d in (2,) if small else (8, 16):
                points = rng.random((n, d)).tolist()
                yield f"k={k},n={n},d={d}", {"points": points, "centroids": points[-k:]}


def random_vectors(sizes):
    old = np.random.RandomState(SEED)  # numpy.random.seed's generator
    for size in sizes:
        yield size, old.rand(size).tolist()


def llsq(small, folder):
    m = 5 if small else 128
    ns = (2, 16) if small else (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8196, 16392)
    for n, (_, x) in zip(ns, random_vectors([m] * len(ns))):
        yield f"n={n},m={m}", {"x": x, "n": n}


def lse(small, folder):
    for n, x in random_vectors([7] if small else [2500 * 2**i for i in range(10)]):
        yield f"n={n}", {"x": x}


def ode(small, folder):
    sizes = [(4, 2)] if small else sorted(((n, s) for n in (1000, 10000, 100000) for s in (1, 10, 100)),
                                          key=lambda size: size[0] * size[1])
    for (n, s), (_, x) in zip(sizes, random_vectors([n for n, _ in sizes])):
        yield f"n={n},s={s}", {"x": x, "s": s}


def det(small, folder):
    for (_, a), ell in zip(random_vectors([ell * ell for ell in range(5, 12)]), range(5, 6 if small else 12)):
        yield f"{ell}", {"A": a, "ell": ell}


RECIPES = {
    "hello": lambda small, folder: [("3", 3.0), ("-0.5", -0.5)],
    "gmm": gmm, "ba": ba, "ht": ht, "lstm": lstm, "kmeans": kmeans, "llsq": llsq, "lse": lse, "ode": ode, "det": det,
    "particle": lambda small, folder: [("w=0", {"w": 0.0})],
    "saddle": lambda small, folder: [("start=1", {"start": [1.0, 1.0]})],
}


def inputs(name, small, folder=adbench.FOLDER):
    return RECIPES[name](small, folder)
