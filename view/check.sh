#!/usr/bin/env bash
# The checks of the view in the terminal: lints, tests in memory, and a run in a terminal of its own. They write only under
# target/. .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

step() { printf '\n== %s\n' "$*"; "$@"; }

# .ci/run has linted, built and tested all members at once, and sets NSQ_BUILT.
if [ -z "${NSQ_BUILT:-}" ]; then
  step cargo fmt --check -p nsq-view
  step cargo clippy --locked -p nsq-view --all-targets -- -D warnings
  step cargo build --locked -p nsys-query -p nsq-view --bins
  # The root package too: its library is built only once so.
  step cargo test --quiet --locked -p nsys-query -p nsq-view --lib
fi
target=${CARGO_TARGET_DIR:-$PWD/target}
PYTHONDONTWRITEBYTECODE=1 step python3 view/tests/drive.py "$target/debug/nsq" fixtures/example.sqlite
