#!/usr/bin/env bash
# Builds the wheel: the package, and the program nsq. Prints its path.
#
#   python/build.sh [PROFILE]        PROFILE: dist (default, as released) or release (fast to build)
#
# With ZIG=x86_64 or ZIG=aarch64, it is for every Linux of that kind with glibc 2.17 or later. Writes only under target/.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-dist}
target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/wheel-venv
wheels=$target/wheels/$profile

if ! "$venv/bin/python" -c 'import wheel, ziglang' 2>/dev/null; then
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet 'maturin>=1.9,<2' 'wheel>=0.45,<1' cargo-zigbuild ziglang
fi
export PATH="$venv/bin:$PATH"
# The same commit gives the same bytes.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

rm -rf "$wheels"
if [ -n "${ZIG:-}" ]; then
  triple=$ZIG-unknown-linux-gnu
  cargo zigbuild --locked --profile "$profile" --bin nsq --target "$triple.2.17" >&2
  maturin build --locked --profile "$profile" --zig --target "$triple" --compatibility manylinux2014 \
    --manifest-path python/Cargo.toml --out "$wheels/package" >&2
  program=$target/$triple/$profile/nsq
else
  cargo build --locked --profile "$profile" --bin nsq >&2
  maturin build --locked --profile "$profile" --manifest-path python/Cargo.toml --out "$wheels/package" >&2
  program=$target/$profile/nsq
fi

# maturin packs a program or a module. Wheels may hold both.
wheel unpack --dest "$wheels/unpacked" "$wheels"/package/*.whl >&2
folder=$(echo "$wheels"/unpacked/*)
scripts=$folder/$(basename "$folder").data/scripts
mkdir -p "$scripts"
cp "$program" "$scripts/nsq"
wheel pack --dest-dir "$wheels" "$folder" >&2
rm -r "$wheels/package" "$wheels/unpacked"
echo "$wheels"/*.whl
