#!/usr/bin/env bash
# The checks of nsq-fleet: lints, and every query across reports on both engines. They write only under target/ and the
# folder of temporary files. .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

step() { printf '\n== %s\n' "$*"; "$@"; }

step cargo fmt --check -p nsq-fleet
step cargo clippy --locked -p nsq-fleet --all-targets -- -D warnings
# With the root package, whose library the checks of other members build too.
step cargo build --locked -p nsys-query -p nsq-arrow -p nsq-fleet --bins

target=${CARGO_TARGET_DIR:-$PWD/target}
PYTHONDONTWRITEBYTECODE=1 step python3 fleet/tests/equal.py "$target/debug/nsq" "$target/debug/nsq-fleet"
