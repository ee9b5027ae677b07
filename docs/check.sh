#!/usr/bin/env bash
# The checks of the book: it builds, every chapter is in its table of contents, and every link leads somewhere. They
# write only under target/. `cargo test --test suite readme` runs the book's commands. .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
bash -n docs/build.sh
docs/build.sh "$target/book" || {
  [ $? = 3 ] || exit 1
  echo 'skipped: the book is not built, because there is no mdbook'
  exit 0
}
docs/links.py "$target/book"
