#!/usr/bin/env bash
# The checks of the server: lints, Rust tests, and tests with the client of the MCP Python SDK. They write
# only under target/. .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

step() { printf '\n== %s\n' "$*"; "$@"; }

# .ci/run has linted, built and tested all members at once, and sets NSQ_BUILT.
# The root package too: the tests need the program nsq, and its library is built only once so.
packages=(--locked -p nsys-query -p nsq-mcp)
if [ -z "${NSQ_BUILT:-}" ]; then
  step cargo fmt --check -p nsq-mcp
  step cargo clippy --locked -p nsq-mcp --all-targets -- -D warnings
  step cargo build "${packages[@]}" --bins
  step cargo test "${packages[@]}" --lib
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/mcp-venv
if ! "$venv/bin/python" -c 'import mcp' 2>/dev/null; then
  if ! { python3 -m venv --clear "$venv" && timeout 200 "$venv/bin/pip" install --quiet 'mcp>=2,<3'; }; then
    echo 'skipped: the tests with the MCP Python SDK, which could not be installed from PyPI'
    exit 0
  fi
fi
NSQ=$target/debug/nsq PYTHONDONTWRITEBYTECODE=1 step "$venv/bin/python" mcp/tests/client.py
