"""Ricci as a package of Conan: `conan create .`. What the library is linked with comes from the distribution, as in
`./dev setup`; the packages are those that tools/packages.txt lists for `build`."""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

# Of tools/packages.txt: those that only the tests, benchmarks and examples are built with.
ONLY_FOR_PROGRAMS = ("libgtest-dev", "libbenchmark-dev", "libcli11-dev", "libtinyxml2-dev")


class Ricci(ConanFile):
    name = "ricci"
    description = "Tensors with composable function transforms"
    license = "Apache-2.0 AND BSD-3-Clause"
    topics = ("tensors", "automatic-differentiation", "jit", "c++20")
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"march": ["ANY"], "compile": [True, False]}
    default_options = {"march": "none", "compile": True}  # none: for any processor of the architecture
    exports = "tools/packages.txt"  # beside the recipe: it is read before there are sources
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "third_party/*", "tools/*"

    def set_version(self):
        text = load(self, Path(self.recipe_folder) / "CMakeLists.txt")
        self.version = re.search(r"project\(Ricci VERSION (\S+)", text)[1]

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Ricci is for Linux")
        check_min_cppstd(self, 20)

    def system_requirements(self):
        listed = load(self, Path(self.recipe_folder) / "tools/packages.txt")
        needed = re.findall(r"^(\S+) +build ", listed, re.MULTILINE)
        Apt(self).install([name for name in needed if name not in ONLY_FOR_PROGRAMS], check=True)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        march = str(self.options.march)
        toolchain.cache_variables |= {
            "RICCI_TESTS": False,
            "RICCI_BENCH": False,
            "RICCI_EXAMPLES": False,
            "RICCI_MPI": "OFF",
            "RICCI_STATIC": False,
            "RICCI_COMPILE": bool(self.options.compile),
            "RICCI_MARCH": "" if march == "none" else march,
        }
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        for folder in (".", "third_party/ducc0"):
            copy(self, "LICENSE", Path(self.source_folder) / folder, Path(self.package_folder) / "licenses" / folder)

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the library brings RicciConfig.cmake
        self.cpp_info.builddirs = ["lib/cmake/Ricci"]
        self.cpp_info.libs = ["ricci"]
