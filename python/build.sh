#!/usr/bin/env bash
# Builds the wheel: the package, the program nsq with all its parts, and nsq as an extension of SQLite. Prints its path.
#
#   python/build.sh           as released: optimised, for every system of this kind
#   python/build.sh built     of what `cargo build --workspace` built, to test it here; compiles nothing
#
# On Linux, zig links it for every system of the same kind with glibc 2.17 or later, such as RHEL 8 and Ubuntu 20.04, and
# the wheel says so. ZIG=x86_64 or ZIG=aarch64 chooses the kind. ZIG=no links with the C library of this machine: the wheel
# is then for systems that are as new. Writes only under target/.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-release}
target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/wheel-venv
wheels=$target/wheels/$kind
# The oldest glibc: what `manylinux2014` means.
glibc=2.17

tools=('maturin>=1.9,<2' 'wheel>=0.45,<1')
[ "$kind" = built ] || tools+=(cargo-zigbuild ziglang)
if ! { "$venv/bin/maturin" --version && "$venv/bin/wheel" version && { [ "$kind" = built ] || "$venv/bin/cargo-zigbuild" --version; }; } >/dev/null 2>&1; then
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install --quiet "${tools[@]}"
fi
export PATH="$venv/bin:$PATH"
# The same commit gives the same bytes.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

case $(uname -s)-$(uname -m) in
  Linux-x86_64 | Linux-aarch64) zig=${ZIG:-$(uname -m)} ;;
  *) zig=${ZIG:-no} ;;
esac
rm -rf "$wheels"
if [ "$kind" = built ]; then
  package=$wheels/unpacked/package
  mkdir -p "$package"
  maturin pep517 write-dist-info --metadata-directory "$package" --manifest-path python/Cargo.toml --locked >&2
  cp -r python/nsys_query "$package/"
  cp "$target/debug/libnsys_query_python.so" "$package/nsys_query/_native.abi3.so"
  program=$target/debug/nsq
  extension=$target/debug/libnsq_sqlite
elif [ "$zig" != no ]; then
  triple=$zig-unknown-linux-gnu
  cargo zigbuild --locked --release -p nsq-complete --bin nsq --target "$triple.$glibc" >&2
  cargo zigbuild --locked --release -p nsq-sqlite --lib --target "$triple.$glibc" >&2
  maturin build --locked --release --zig --target "$triple" --compatibility manylinux2014 \
    --manifest-path python/Cargo.toml --out "$wheels/package" >&2
  program=$target/$triple/release/nsq
  extension=$target/$triple/release/libnsq_sqlite
else
  cargo build --locked --release -p nsq-complete --bin nsq >&2
  cargo build --locked --release -p nsq-sqlite --lib >&2
  maturin build --locked --release --manifest-path python/Cargo.toml --out "$wheels/package" >&2
  program=$target/release/nsq
  extension=$target/release/libnsq_sqlite
fi

# maturin packs a program or a module. Wheels may hold both.
[ "$kind" = built ] || wheel unpack --dest "$wheels/unpacked" "$wheels"/package/*.whl >&2
folder=$(echo "$wheels"/unpacked/*)
info=$(basename "$folder"/*.dist-info)
scripts=$folder/${info%.dist-info}.data/scripts
mkdir -p "$scripts"
cp "$program" "$scripts/nsq"
for ending in so dylib; do
  [ ! -e "$extension.$ending" ] || cp "$extension.$ending" "$folder/nsys_query/nsq.$ending"
done
# Without what only a debugger reads, which would double the wheel.
[ "$kind" != built ] || strip --strip-debug "$folder"/nsys_query/*.so 2>/dev/null || true
if [ "$kind" != built ] && [ "$zig" != no ]; then
  # The tag is about the module and the program: neither may need a newer glibc.
  python/glibc.sh "$glibc" "$scripts/nsq" "$folder"/nsys_query/*.so >&2
fi
wheel pack --dest-dir "$wheels" "$folder" >&2
rm -rf "$wheels/package" "$wheels/unpacked"
echo "$wheels"/*.whl
