#!/usr/bin/env bash
# The checks of nsq-perfetto: lints, what runs leave, and traces decoded with Perfetto's own messages. They write only under
# target/. .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

step() { printf '\n== %s\n' "$*"; "$@"; }

# .ci/run has linted, built and tested all members at once, and sets NSQ_BUILT.
if [ -z "${NSQ_BUILT:-}" ]; then
  step cargo fmt --check -p nsq-perfetto
  step cargo clippy --locked -p nsq-perfetto --all-targets -- -D warnings
  step cargo build --locked -p nsys-query -p nsq-perfetto --bins
  step cargo test --quiet --locked -p nsq-perfetto
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/perfetto-venv
if ! "$venv/bin/python" -c 'import perfetto' 2>/dev/null; then
  if ! { python3 -m venv --clear "$venv" && timeout 200 "$venv/bin/pip" install --quiet 'perfetto>=0.59,<1'; }; then
    echo 'skipped: the traces are not decoded, because perfetto could not be installed from PyPI'
    exit 0
  fi
fi
shared=()
[ ! -d ../shared/data ] || shared=(../shared)
PYTHONDONTWRITEBYTECODE=1 step "$venv/bin/python" perfetto/tests/decode.py "$target/debug/nsq-perfetto" fixtures "${shared[@]}"
