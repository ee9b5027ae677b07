#!/usr/bin/env bash
# The checks of the extension: it is loaded into SQLite as programs load it, and its answers are compared with nsq's. They write only
# under target/. .ci/run calls this. NSQ_TEST_SQLITE names another SQLite than the system's, as a shared library.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

step() { printf '\n== %s\n' "$*"; "$@"; }

# .ci/run has linted, built and tested all members at once, and sets NSQ_BUILT.
if [ -z "${NSQ_BUILT:-}" ]; then
  step cargo fmt --check -p nsq-sqlite
  step cargo clippy --locked -p nsq-sqlite --all-targets -- -D warnings
  step cargo build --locked -p nsys-query -p nsq-sqlite --bins --lib
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
extension=$target/debug/libnsq_sqlite
for ending in so dylib; do
  [ ! -e "$extension.$ending" ] || extension=$extension.$ending
done
mkdir -p "$target/sqlite-tests"
shared=()
[ ! -d ../shared/data ] || shared=(../shared)
export PYTHONDONTWRITEBYTECODE=1
step python3 sqlite/tests/extension.py "$target/debug/nsq" "$extension" "$target/sqlite-tests" "${shared[@]}"
step python3 sqlite/tests/sessions.py "$target/debug/nsq" "$extension" "$target/sqlite-tests"
