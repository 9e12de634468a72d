"""ADBench's input files, as ../adbench.h reads them; arrays are numpy float64. Knows no rival."""
import os
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "data/adbench"


def file_of_user(kind):
    """The file that RICCI_BENCH_ADBENCH names, if it lies in a folder `kind` or in one inside such a folder; or None."""
    named = os.environ.get("RICCI_BENCH_ADBENCH")
    file = named and pathlib.Path(named).absolute()
    return file if file and kind in (file.parent.name, file.parent.parent.name) else None


class Numbers:
    def __init__(self, path):
        self.all, self.at = np.array(pathlib.Path(path).read_text().split(), dtype=np.float64), 0

    def take(self, *shape):
        count = int(np.prod(shape))
        self.at += count
        return self.all[self.at - count : self.at].reshape(shape)


def read_bundle_adjustment(path):
    """n, m, p and the camera [11], point [3], weight, feature [2] that all observations have."""
    numbers = Numbers(path)
    n, m, p = numbers.take(3).astype(int)
    return n, m, p, numbers.take(11), numbers.take(3), numbers.take(1)[0], numbers.take(2)


def read_lstm(path):
    """main [2 layers, 4 bits], extra [3, bits], state [2 layers, bits], sequence [characters, bits]."""
    numbers = Numbers(path)
    layers, characters, bits = numbers.take(3).astype(int)
    return (numbers.take(2 * layers, 4 * bits), numbers.take(3, bits), numbers.take(2 * layers, bits),
            numbers.take(characters, bits))


def is_complicated(path):
    return "complicated" in str(path)


def read_hand_model(path):
    """parents (bones), relative and inverse [bones, 4, 4], vertices [V, 4], weights [V, bones], triangles [T, 3]."""
    folder = path.parent / "model"
    if not folder.exists():
        folder = path.parent.parent / ("model_big" if path.parent.name.endswith("big") else "model_small")
    rows = lambda name: [line.rstrip(":").split(":") for line in (folder / name).read_text().split("\n") if line]
    bones, skin = rows("bones.txt"), rows("vertices.txt")
    matrices = np.array([bone[2:34] for bone in bones], dtype=np.float64).reshape(-1, 2, 4, 4)
    vertices = np.array([[*row[:3], 1] for row in skin], dtype=np.float64)
    weights = np.zeros((len(skin), len(bones)))
    for v, row in enumerate(skin):
        for pair in range(int(row[8])):
            weights[v, int(row[9 + 2 * pair])] = float(row[10 + 2 * pair])
    triangles = np.array([row[:3] for row in rows("triangles.txt")], dtype=np.int64)
    return [int(bone[1]) for bone in bones], matrices[:, 0], matrices[:, 1], vertices, weights, triangles


def read_hand(path):
    """correspondences [N], points [N, 3], places [N, 2] or None, theta [26]."""
    numbers = Numbers(path)
    count, angles = numbers.take(2).astype(int)
    table = numbers.take(count, 4)
    places = numbers.take(count, 2) if is_complicated(path) else None
    return table[:, 0].astype(np.int64), table[:, 1:].copy(), places, numbers.take(angles)
