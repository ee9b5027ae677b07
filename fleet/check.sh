#!/usr/bin/env bash
# The checks of nsq-fleet: lints, and every query across reports on both engines. They write only under target/ and the
# folder of temporary files. .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

step() { printf '\n== %s\n' "$*"; "$@"; }

# .ci/run has linted and built all members at once, and sets NSQ_BUILT.
if [ -z "${NSQ_BUILT:-}" ]; then
  step cargo fmt --check -p nsq-fleet
  step cargo clippy --locked -p nsq-fleet --all-targets -- -D warnings
  step cargo build --locked -p nsys-query -p nsq-arrow -p nsq-fleet --bins
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
PYTHONDONTWRITEBYTECODE=1 step python3 fleet/tests/equal.py "$target/debug/nsq" "$target/debug/nsq-fleet"
