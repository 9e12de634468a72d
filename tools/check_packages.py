#!/usr/bin/env python3
# Holds what packages say of the library against CMakeLists.txt: the version in pyproject.toml, vcpkg's port and Debian's
# changelog; the name of Debian's library, which follows the soname; and that each Debian package that the build needs
# stands in tools/packages.txt. Prints what is wrong, or OK.
import json
import re

from findings import ROOT, report


def text(path):
    return (ROOT / path).read_text()


def finding(path, is_right, said):
    line = next((n for n, line in enumerate(text(path).splitlines(), 1) if said in line), 1)
    return [] if is_right else [(ROOT / path, line, f"says {said or 'nothing'}; it must follow CMakeLists.txt and tools/packages.txt")]


def findings():
    version = re.search(r"project\(Ricci VERSION (\S+)", text("CMakeLists.txt"))[1]
    found = []
    for path, pattern in (("pyproject.toml", r'^version = "(.*)"'), ("debian/changelog", r"^ricci \((.*?)\)")):
        said = re.search(pattern, text(path), re.MULTILINE)[1]
        found += finding(path, said == version, said)
    port = json.loads(text("ports/ricci/vcpkg.json"))
    found += finding("ports/ricci/vcpkg.json", port["version"] == version, port["version"])
    needed = {"name", "version", "description", "license", "dependencies"}
    found += finding("ports/ricci/vcpkg.json", needed <= port.keys(), "")
    library = "libricci" + ".".join(version.split(".")[:2])
    packages = re.findall(r"^Package: (.*)", text("debian/control"), re.MULTILINE)
    found += finding("debian/control", library in packages, packages[0])
    listed = set(re.findall(r"^([a-z0-9.+-]+) ", text("tools/packages.txt"), re.MULTILINE))
    wanted = re.search(r"^Build-Depends:(.*?)^\S", text("debian/control"), re.MULTILINE | re.DOTALL)[1]
    of_debian = {"debhelper-compat", "dh-python", "python3-nanobind"}
    for name in re.findall(r"([a-z][a-z0-9.+-]+)(?: \([^)]*\))?(?: <[^>]*>)?(?:,|$)", wanted.replace("\n", " ").strip()):
        found += finding("debian/control", name in listed | of_debian, name)
    return found


if __name__ == "__main__":
    report("check_packages", findings())
