#!/usr/bin/env bash
# The tests that try random captures, damaged copies, kills and faults of the system, at full depth: tests/deep.sh [EIGHTHS]
#
# `cargo test` tries an eighth of them, and asks old export versions a quarter of the queries. 8, the default, tries
# all; more goes on with seeds that no run has tried.
set -euo pipefail
cd "$(dirname "$0")/.."
export NSQ_TEST_DEPTH=${1:-8}
cargo test --locked --test golden -- export_version
exec cargo test --locked --test random --test suite -- \
  fuzz projection kill a_fault_of_the_system a_trace_and_an_export
