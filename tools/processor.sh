#!/usr/bin/env bash
# One line: this machine's processor, and the instructions that a build folder's library is for, as
# include/ricci/primitive/machine.h has them.
#   tools/processor.sh build/release
set -euo pipefail
root=$(dirname "${BASH_SOURCE[0]}")/..
of_cache() { sed -n "s/^$1:[A-Z]*=//p" "$2/CMakeCache.txt"; }

march=$(of_cache RICCI_MARCH "$1")
compiler=$(of_cache CMAKE_CXX_COMPILER "$1")
isa=$(echo RICCI_ISA | "${compiler:-c++}" ${march:+"-march=$march"} -std=c++20 "-I$root/include" \
  -include ricci/primitive/machine.h -E -P -x c++ - | tail -n 1)
case $isa in
  avx512) isa="AVX-512" ;;
  avx2) isa="AVX2 and FMA" ;;
  baseline) isa="SSE2" ;;
  neon) isa="NEON" ;;
esac
model=$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -n 1)
echo "processor: ${model:-unknown}; $1 is built for $isa"
