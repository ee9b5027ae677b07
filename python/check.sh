#!/usr/bin/env bash
# The checks of the Python package: lints, the wheel in a fresh environment, types, doctests, tests, the notebook.
# They write only under target/. .ci/run calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

step() { printf '\n== %s\n' "$*"; "$@"; }

# .ci/run has linted and built all members at once, and sets NSQ_BUILT.
if [ -z "${NSQ_BUILT:-}" ]; then
  step cargo fmt --check -p nsys-query-python
  step cargo clippy --locked -p nsys-query-python --all-targets -- -D warnings
  step cargo build --locked -p nsys-query -p nsys-query-python -p nsq-mcp --lib --bins
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target/python-venv
needs=(pytest mypy polars pandas pyarrow duckdb matplotlib nbclient nbformat ipykernel)
if ! "$venv/bin/python" -c 'import pytest, mypy, polars, pandas, pyarrow, duckdb, matplotlib, nbclient, ipykernel' 2>/dev/null; then
  if ! { python3 -m venv --clear "$venv" && timeout 400 "$venv/bin/pip" install --quiet "${needs[@]}"; }; then
    echo 'skipped: the tests of the Python package, whose tools could not be installed from PyPI'
    exit 0
  fi
fi
wheel=$(python/build.sh built)
step "$venv/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
export NSQ=$venv/bin/nsq PYTHONDONTWRITEBYTECODE=1
step "$NSQ" --version
step "$venv/bin/mypy" --strict --config-file python/pyproject.toml --cache-dir "$target/mypy" python/nsys_query
step "$venv/bin/python" -m pytest --quiet -p no:cacheprovider --doctest-modules --pyargs nsys_query python/tests
