#!/usr/bin/env bash
# aarch64_sysroot.sh FOLDER: unpacks Debian's arm64 builds of the libraries that tools/packages.txt names, and of what
# they need, into FOLDER, for cross builds and for qemu. Nothing is installed, and it needs no root: apt keeps its lists
# and archives in FOLDER too. What is unpacked already stays; remove FOLDER to begin anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(realpath -m "${1:?usage: tools/aarch64_sysroot.sh FOLDER}")
apt=$folder/.apt
if [[ -e $folder/complete ]]; then exit 0; fi

mkdir -p "$apt"/{lists/partial,archives/partial}
touch "$apt/status"  # as if nothing were installed
cat >"$apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
END
export APT_CONFIG=$apt/apt.conf

mapfile -t names < <(grep -v '^#' tools/packages.txt | awk '$2 == "build" && $1 ~ /-dev$/ { print $1 }')
apt-get update -qq
apt-get install -qq -y --download-only --no-install-recommends "${names[@]}" >"$apt/log"
for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$folder"; done
find "$folder" -type l -lname '/*' | while read -r link; do  # they mean this root
  ln -sfnr "$folder$(readlink "$link")" "$link"
done
touch "$folder/complete"
