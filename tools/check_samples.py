#!/usr/bin/env python3
# Every function that the headers of operations declare has samples, at which the laws try it: a case in
# tests/data/values_of_torch.txt; if PyTorch lacks it, a closed form in tests/laws/closed_forms_test.cpp; if it draws
# random numbers, a line in tests/random/categories.h. Prints what is missing, or OK; the build of the laws fails where a
# function has none. `check_samples.py FILE` also writes FILE, a stamp for CMake.
import re
import sys
from pathlib import Path

from operation_index import operations

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests/data/values_of_torch.txt"
CLOSED_FORMS = ROOT / "tests/laws/closed_forms_test.cpp"
DRAWS = ROOT / "tests/random/categories.h"


def declared():
    """Name → header."""
    return {
        name: header.name
        for header in sorted((ROOT / "include/ricci/ops").glob("*.h"))
        for names in operations(header).values()
        for name in names
    }


def main():
    functions = declared()
    cases = set(re.findall(r"^case (\w+)", CASES.read_text(), re.M))
    closed_forms, draws = (set(re.findall(r'^      {"(\w+)"', f.read_text(), re.M)) for f in (CLOSED_FORMS, DRAWS))
    missing = [
        f"{header}: {name} has no samples: write a case of it in tools/torch_values*.py and "
        f"tests/laws/public_functions_of_*.cpp; if PyTorch lacks it, a closed form in "
        f"tests/laws/closed_forms_test.cpp; if it draws, a line in tests/random/categories.h"
        for name, header in functions.items()
        if name not in cases | closed_forms | draws
    ]
    if len(functions) < 400 or len(draws) < 20:
        missing.append(f"read only {len(functions)} functions and {len(draws)} draws: a file is laid out in a new way")
    print("\n".join(missing) if missing else "samples: OK")
    if missing:
        sys.exit(1)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).touch()


if __name__ == "__main__":
    main()
