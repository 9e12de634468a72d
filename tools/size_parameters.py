#!/usr/bin/env python3
# The parameters of operations that are whole numbers, one `operation parameter type` a line, of include/ricci/ops/*.h and
# keys.h: `size_parameters.py FILE` writes them to FILE. A test holds each of them to sizes of recorded programs.
import re
import sys
from pathlib import Path

from operation_index import FUNCTION, SAMPLER, parameters_of, statements

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"\b(Size|Sizes|ConvPadding|Shape|Axes|Bound|std::int64_t|WholeNumber|\w+Options)\b")
NO_NUMBERS = {"TensorOptions", "LikeOptions", "IntegerOptions", "RandomOptions", "TriangularOptions"}
NO_NUMBERS |= {"SolveTriangularOptions", "LuSolveOptions", "LdlOptions", "OrmqrOptions"}
NO_NUMBERS |= {"RreluOptions", "GumbelOptions", "HistogramOptions", "GradientOptions"}
NO_NUMBERS |= {"SearchOptions", "WindowOptions"}
NO_NUMBERS |= {"AttentionOptions", "MultiHeadAttentionOptions", "RecurrentOptions", "GridSampleOptions"}
OF_A_LOSS = re.compile(r"(Loss|CrossEntropy|KlDiv)Options$")


def lines():
    headers = [*sorted((ROOT / "include/ricci/ops").glob("*.h")), ROOT / "include/ricci/keys.h"]
    for header in headers:
        for _, _, statement in statements(header):
            match = SAMPLER.match(statement) or FUNCTION.match(statement)
            if not match or match["name"].startswith("operator"):
                continue
            if SAMPLER.match(statement):
                yield f"{match['name']} shape Shape"
                continue
            for parameter in parameters_of(match["arguments"]):
                number = NUMBER.search(parameter)
                if number and number[1] not in NO_NUMBERS and not OF_A_LOSS.search(number[1]):
                    yield f"{match['name']} {re.split(r'[ &*]+', parameter)[-1]} {number[1]}"


if __name__ == "__main__":
    found = sorted(set(lines()))
    if len(found) < 100:
        sys.exit(f"read only {len(found)} parameters: the headers are laid out in a new way")
    Path(sys.argv[1]).write_text("".join(f"{line}\n" for line in found))
