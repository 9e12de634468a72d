#!/usr/bin/env bash
# Builds and tests the library for each processor that this machine can be, and ends with a line for each: how many
# entries of ctest passed and failed.
#   tools/processors.sh                        all levels that the machine has, all tests; hours
#   tools/processors.sh x86-64-v3 x86-64-v2    these levels
#   tools/processors.sh x86-64-v3:laws         a part: the tests of tests/laws, and the build that they need
#   tools/processors.sh x86-64-v2:build        builds all, and runs nothing
# Levels: native (build/release), x86-64-v3 (AVX2 and FMA, build/v3), x86-64-v2 (neither, build/v2), aarch64 (64-bit ARM
# under qemu, build/aarch64; without a part, its laws). What stands behind -- goes to ctest: -- -R registers
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '== %s\n' "$*"; }

folder_of() {
  case $1 in
    native) echo build/release ;;
    x86-64-v3) echo build/v3 ;;
    x86-64-v2) echo build/v2 ;;
    aarch64) echo build/aarch64 ;;
    *) return 1 ;;
  esac
}

# lacks LEVEL: what the machine lacks to run it; empty: nothing.
lacks() {
  case $1 in
    x86-64-*) /lib64/ld-linux-x86-64.so.2 --help 2>/dev/null | grep -q "^  $1 (supported" || echo "such a processor" ;;
    aarch64)
      command -v aarch64-linux-gnu-g++ qemu-aarch64-static >/dev/null && [[ $(uname -m) == x86_64 ]] ||
        echo "g++-aarch64-linux-gnu and qemu-user-static"
      ;;
  esac
}

configure() {
  local folder
  folder=$(folder_of "$1")
  case $1 in
    native) cmake --preset release --log-level=WARNING ;;
    aarch64)
      [[ -e build/aarch64-sysroot/complete ]] || tools/aarch64_sysroot.sh build/aarch64-sysroot || return
      cmake --preset aarch64 --log-level=WARNING
      ;;
    *) cmake --preset release -B "$folder" "-DRICCI_MARCH=$1" --log-level=WARNING ;;
  esac
}

# build FOLDER PART: what the tests of the part need; everything where they are no folder of tests/.
build() {
  local targets=()
  if compgen -G "tests/$2/*_test.cpp" >/dev/null; then
    targets=("test_$2")
    ! grep -q '^RICCI_COMPILE:BOOL=ON' "$1/CMakeCache.txt" || targets+=(ricci_code)
  fi
  cmake --build "$1" "-j$(nproc)" ${targets[0]:+--target "${targets[@]}"}
}

declare -A passed=() failed=() notes=()
levels=()
status=0

# run LEVEL PART: adds to the counts of the level.
run() {
  local folder part=$2 labels=() summary
  folder=$(folder_of "$1")
  if ! configure "$1" || ! build "$folder" "$part"; then
    notes[$1]+=", ${part:-all} did not build"
    status=1
    return
  fi
  [[ $part != build ]] || return
  [[ -z $part ]] || labels=(-L "^$part\$")
  say "$(tools/processor.sh "$folder")"
  summary=$(ctest --test-dir "$folder" "-j$(nproc)" --output-on-failure "${labels[@]}" "${ctest_arguments[@]}" |
    tee /dev/stderr | sed -n 's/.* \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p')
  if [[ -z $summary ]]; then
    notes[$1]+=", ${part:-all} ran no tests"
    status=1
    return
  fi
  read -r bad all <<<"$summary"
  failed[$1]=$((failed[$1] + bad))
  passed[$1]=$((passed[$1] + all - bad))
}

wanted=()
while [[ $# -gt 0 && $1 != -- ]]; do
  wanted+=("$1")
  shift
done
ctest_arguments=("${@:2}")
[[ ${#wanted[@]} -gt 0 ]] || wanted=(native x86-64-v3 x86-64-v2 aarch64)

for each in "${wanted[@]}"; do
  level=${each%%:*} part=
  [[ $each != *:* ]] || part=${each#*:}
  if ! folder_of "$level" >/dev/null; then
    echo "tools/processors.sh: no level '$level'; levels are native, x86-64-v3, x86-64-v2, aarch64" >&2
    exit 2
  fi
  if [[ ! -v passed[$level] ]]; then
    levels+=("$level")
    passed[$level]=0 failed[$level]=0 notes[$level]=
  fi
  missing=$(lacks "$level")
  if [[ -n $missing ]]; then
    notes[$level]=", left out: needs $missing"
    continue
  fi
  [[ $level != aarch64 || -n $part ]] || part=laws
  say "$level ${part:-all}"
  run "$level" "$part"
done

for level in "${levels[@]}"; do
  say "$level: ${passed[$level]} passed, ${failed[$level]} failed${notes[$level]}"
  [[ ${failed[$level]} -eq 0 ]] || status=1
done
exit $status
