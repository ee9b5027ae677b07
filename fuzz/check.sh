#!/usr/bin/env bash
# The check of the fuzz targets: they compile. Running them is a command of its own, fuzz/run.sh.
# .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

command -v c++ >/dev/null || { echo 'skipped: the fuzz targets need a C++ compiler'; exit 0; }
# With the target folder of nsq, most dependencies are checked already.
cargo check --locked --quiet --manifest-path fuzz/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-$PWD/target}"
