#!/usr/bin/env bash
# The profile by which `make pgo` and `make wheel` compile: bench/profile.sh FOLDER
#
# It is FOLDER/runs.profdata, of the runs in training.py by a core in FOLDER that counts them.
# `maturin build --pgo` would install all packages anew for that, and other versions than the lock's.
set -euo pipefail
folder=$1 bin=.venv/bin

# The first llvm-profdata that reads what this rustc writes: formats change with versions of LLVM.
find_profdata() {
	rm -rf "$folder/probe"
	mkdir -p "$folder/probe"
	echo 'fn main() {}' | rustc -Cprofile-generate="$folder/probe/raw" -o "$folder/probe/main" -
	"$folder/probe/main"
	for profdata in "$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-profdata \
		$(compgen -c llvm-profdata | sort -ru); do
		"$profdata" merge -o "$folder/probe/all" "$folder/probe/raw" 2>/dev/null && return
	done
	echo "no llvm-profdata here reads the profiles of $(rustc --version)" >&2
	echo "hint: apt install llvm-19, or rustup component add llvm-tools" >&2
	exit 1
}

find_profdata
rm -rf "$folder"/{wheel,site,raw}
env -u RUSTFLAGS "$RUSTFLAGS_KEY=-Cprofile-generate=$folder/raw" \
	"$bin/maturin" build --release --quiet --target-dir "$folder" --out "$folder/wheel"
"$bin/python" -m zipfile -e "$folder"/wheel/*.whl "$folder/site"
# What build scripts have counted is not wanted.
rm -rf "$folder/raw"
PYTHONPATH=$folder/site "$bin/python" bench/training.py
"$profdata" merge -o "$folder/runs.profdata" "$folder/raw"
