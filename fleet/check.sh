#!/usr/bin/env bash
# The checks of nsq-fleet: lints, every query across reports on both engines, and reports in object stores. They write
# only under target/ and the folder of temporary files. .ci/run calls this.
#
# `fleet/check.sh cluster` builds nsq-fleet with Ballista, which takes 13 CPU minutes the first time, and compares all three
# engines; then the faults of a cluster, and what a hostile client may not read.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

features=(--features nsq-fleet/stores)
[ "${1:-}" != cluster ] || features=(--features nsq-fleet/stores,nsq-fleet/cluster)

step() { printf '\n== %s\n' "$*"; "$@"; }

# .ci/run has linted and built all members at once, and sets NSQ_BUILT.
if [ -z "${NSQ_BUILT:-}" ] || [ "${1:-}" = cluster ]; then
  step cargo fmt --check -p nsq-fleet
  step cargo clippy --locked -p nsq-fleet "${features[@]}" --all-targets -- -D warnings
  step cargo build --locked -p nsys-query -p nsq-arrow -p nsq-fleet "${features[@]}" --bins
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
PYTHONDONTWRITEBYTECODE=1 step python3 fleet/tests/equal.py "$target/debug/nsq" "$target/debug/nsq-fleet"
PYTHONDONTWRITEBYTECODE=1 step python3 fleet/tests/stores.py "$target/debug/nsq" "$target/debug/nsq-fleet"
if [ -z "${NSQ_BUILT:-}" ] || [ "${1:-}" = cluster ]; then
  step cargo test --quiet --locked -p nsq-fleet "${features[@]}"
fi
if [ "${1:-}" = cluster ]; then
  PYTHONDONTWRITEBYTECODE=1 step python3 fleet/tests/faults.py "$target/debug/nsq" "$target/debug/nsq-fleet"
fi
