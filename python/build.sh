#!/usr/bin/env bash
# Builds the wheel: the package, and the program nsq with all its parts. Prints its path.
#
#   python/build.sh [PROFILE]        PROFILE: dist (default, as released) or release (fast to build)
#
# On Linux, zig links it for every system of the same kind with glibc 2.17 or later, such as RHEL 8 and Ubuntu 20.04, and
# the wheel says so. ZIG=x86_64 or ZIG=aarch64 chooses the kind. ZIG=no links with the C library of this machine: the wheel
# is then for systems that are as new. NSQ_PROGRAM names another package whose program nsq is packed: nsys-query has fewer
# parts and is built sooner. Writes only under target/.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-dist}
target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/wheel-venv
wheels=$target/wheels/$profile
program_of=${NSQ_PROGRAM:-nsq-complete}
# The oldest glibc: what `manylinux2014` means.
glibc=2.17

if ! "$venv/bin/python" -c 'import wheel, ziglang' 2>/dev/null; then
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet 'maturin>=1.9,<2' 'wheel>=0.45,<1' cargo-zigbuild ziglang
fi
export PATH="$venv/bin:$PATH"
# The same commit gives the same bytes.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

case $(uname -s)-$(uname -m) in
  Linux-x86_64 | Linux-aarch64) zig=${ZIG:-$(uname -m)} ;;
  *) zig=${ZIG:-no} ;;
esac
rm -rf "$wheels"
if [ "$zig" != no ]; then
  triple=$zig-unknown-linux-gnu
  cargo zigbuild --locked --profile "$profile" -p "$program_of" --bin nsq --target "$triple.$glibc" >&2
  maturin build --locked --profile "$profile" --zig --target "$triple" --compatibility manylinux2014 \
    --manifest-path python/Cargo.toml --out "$wheels/package" >&2
  program=$target/$triple/$profile/nsq
else
  cargo build --locked --profile "$profile" -p "$program_of" --bin nsq >&2
  maturin build --locked --profile "$profile" --manifest-path python/Cargo.toml --out "$wheels/package" >&2
  program=$target/$profile/nsq
fi

# maturin packs a program or a module. Wheels may hold both.
wheel unpack --dest "$wheels/unpacked" "$wheels"/package/*.whl >&2
folder=$(echo "$wheels"/unpacked/*)
scripts=$folder/$(basename "$folder").data/scripts
mkdir -p "$scripts"
cp "$program" "$scripts/nsq"
if [ "$zig" != no ]; then
  # The tag is about the module and the program: neither may need a newer glibc.
  python/glibc.sh "$glibc" "$scripts/nsq" "$folder"/nsys_query/_native*.so >&2
fi
wheel pack --dest-dir "$wheels" "$folder" >&2
rm -r "$wheels/package" "$wheels/unpacked"
echo "$wheels"/*.whl
