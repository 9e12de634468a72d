#!/usr/bin/env python3
# Holds the source to its layers: a folder of src/ includes only itself, folders above it in cmake/layers.txt and
# include/ricci; public headers include only each other and what every compiler brings; outside headers stay in the
# folder that owns them; three files ask which processor it is; every file opens with a comment whose first paragraph
# has at most ten lines; no line of C++ has more than 120 columns; CMake keeps nothing that it has found. Prints what is
# wrong, or OK. Knows nothing of the preprocessor: an #include counts even where an #if hides it.
import re

from findings import ROOT, report

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
STANDARD = re.compile(r"[a-z0-9_]+")  # the C++ standard library's headers have no extension
SYSTEM_HEADERS = {"arm_neon.h", "immintrin.h", "sleef.h", "sys/single_threaded.h"}  # public headers may
# What differs between processors, and where it may stand.
PROCESSOR = re.compile(r"\b(__(AVX|SSE|FMA|F16C|BMI|ARM|x86_64|aarch64|builtin_(cpu|ia32))\w*|_mm\d*_\w+|_Float16|__fp16"
                       r"|RICCI_PACK_BYTES|immintrin\.h|arm_neon\.h)")
# Keeps its result in the cache, where it outlives what is installed later.
FINDS = re.compile(r"^\s*(find_(?:program|library|path|file))\((?!.*\bNO_CACHE\b)")
KNOWS_PROCESSORS = ("include/ricci/primitive/machine.h", "include/ricci/dtype.h", "src/kernels/machine.h")
SOURCES = ("*.h", "*.cpp", "*.cmake", "CMakeLists.txt", "*.py")
FOLDERS = ("include", "src", "tests", "examples", "bench", "python", "tools", "cmake", "docs")
CPP_FOLDERS = ("include", "src", "tests", "examples", "bench", "python")
LONGEST_OPENING = 10
WIDEST_LINE = 120


def read_layers():
    """The folders in order, each with the outside headers that it alone may include."""
    lines = (ROOT / "cmake/layers.txt").read_text().splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return {folder: headers for folder, *headers in words}


def includes(path):
    """(line number, '"' or '<', header) of each #include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, *match.groups()


def public_header_finding(quote, header):
    if header.startswith("ricci/"):
        return None if (ROOT / "include" / header).exists() else f"there is no include/{header}"
    if quote == "<" and (STANDARD.fullmatch(header) or header in SYSTEM_HEADERS):
        return None
    return f"a public header includes {header}; it may include ricci/…, the standard library and {sorted(SYSTEM_HEADERS)}"


def layer_finding(folder, layers, quote, header):
    if header.startswith("ricci/"):
        return None if (ROOT / "include" / header).exists() else f"there is no include/{header}"
    if quote == "<":
        owner = next((name for name, outside in layers.items() if header.startswith(tuple(outside))), folder)
        return None if owner == folder else f"only src/{owner} may include <{header}>"
    order = list(layers)
    other = header.split("/")[0]
    if other not in order or not (ROOT / "src" / header).exists():
        return f'there is no src/{header}; includes are written from src/ or include/, as in "tensor/value.h"'
    if order.index(other) > order.index(folder):
        return f"src/{folder} includes {header}, but {other} comes after {folder} in cmake/layers.txt"
    return None


def include_findings(layers):
    for path in sorted((ROOT / "include/ricci").rglob("*.h")):
        for number, quote, header in includes(path):
            yield path, number, public_header_finding(quote, header)
    for path in sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".h", ".cpp")):
        folder = path.relative_to(ROOT / "src").parts[0]
        if folder not in layers:
            yield path, 1, f"src/{folder} is not in cmake/layers.txt"
            continue
        for number, quote, header in includes(path):
            yield path, number, layer_finding(folder, layers, quote, header)


def all_files(*patterns):
    """In the folders of the project, sorted."""
    return sorted(path for folder in FOLDERS for pattern in patterns for path in (ROOT / folder).rglob(pattern))


def cpp_lines():
    """(path, line number, line) of all C++."""
    for folder in CPP_FOLDERS:
        for path in sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cpp")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                yield path, number, line


def line_findings():
    for path, number, line in cpp_lines():
        match = PROCESSOR.search(line)
        if match and str(path.relative_to(ROOT)) not in KNOWS_PROCESSORS:
            yield path, number, f"{match[1]} depends on the processor; only {' and '.join(KNOWS_PROCESSORS)} do"
        if len(line) > WIDEST_LINE and not line.startswith("// expect: "):
            yield path, number, f"has {len(line)} columns; {WIDEST_LINE} at most"


def finding_findings():
    """What CMake would find once and keep."""
    for path in all_files("*.cmake", "CMakeLists.txt"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := FINDS.match(line):
                yield path, number, f"{match[1]} without NO_CACHE keeps what it finds, whatever is installed later"


def opening_finding(path):
    lines = path.read_text().splitlines()
    lines = lines[1:] if lines and lines[0].startswith("#!") else lines
    mark = "//" if path.suffix in (".h", ".cpp") else "#"
    if path.suffix == ".py" and lines and lines[0].startswith('"""'):
        return None
    inside = [line.startswith(mark) and line.strip() != mark for line in lines] + [False]
    length = inside.index(False)
    if length == 0:
        return "opens without a comment that says what lives here"
    return None if length <= LONGEST_OPENING else f"opens with {length} lines of comment; {LONGEST_OPENING} at most"


def opening_findings():
    for path in all_files(*SOURCES) + [ROOT / "CMakeLists.txt", ROOT / "dev", ROOT / ".ci/run"]:
        yield path, 1, opening_finding(path)


def main():
    report("check", [*include_findings(read_layers()), *line_findings(), *finding_findings(), *opening_findings()])


if __name__ == "__main__":
    main()
