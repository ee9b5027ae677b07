#!/usr/bin/env bash
# The checks of nsq-arrow: lints, and its files read with DuckDB, Polars and pyarrow. They write only under target/.
# .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

step() { printf '\n== %s\n' "$*"; "$@"; }

# .ci/run has linted and built all members at once, and sets NSQ_BUILT.
if [ -z "${NSQ_BUILT:-}" ]; then
  step cargo fmt --check -p nsq-arrow
  step cargo clippy --locked -p nsq-arrow --all-targets -- -D warnings
  step cargo build --locked -p nsys-query -p nsq-arrow --bins
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
# The environment of the Python package has what is needed.
venv=$target/python-venv
if ! "$venv/bin/python" -c 'import duckdb, polars, pyarrow' 2>/dev/null; then
  venv=$target/arrow-venv
fi
if ! "$venv/bin/python" -c 'import duckdb, polars, pyarrow' 2>/dev/null; then
  if ! { python3 -m venv --clear "$venv" && timeout 300 "$venv/bin/pip" install --quiet duckdb polars pyarrow; }; then
    echo 'skipped: the files are not read, because DuckDB, Polars and pyarrow could not be installed from PyPI'
    exit 0
  fi
fi
reports=(fixtures/example.sqlite)
exports=../shared/data/exports
[ ! -d "$exports" ] || reports+=("$exports/rtx3090x2_ddp_nccl_2026.3.sqlite" "$exports/a100_mpi_2pids.sqlite")
# Through nsq, which finds nsq-arrow beside it.
PYTHONDONTWRITEBYTECODE=1 step "$venv/bin/python" arrow/tests/read.py "$target/debug/nsq" "${reports[@]}"
