#!/usr/bin/env bash
# Checks a query after a change of its file, in seconds: tests/query.sh NAME…
#
# The rules of the library, the goldens and the plan of each query, its schema, and its script against its answer. What a
# change of a relation does to the other queries is told by `cargo test --test golden`. With NSQ_BLESS=1, goldens, plan and lock
# are written again: read the difference.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { echo 'usage: tests/query.sh NAME…'; exit 2; }
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --locked --bin nsq --test golden
nsq=$target/debug/nsq
"$nsq" check queries --strict ${NSQ_BLESS:+--bless}
report=fixtures/example.sqlite
script=$(mktemp)
trap 'rm -f "$script"' EXIT
for query in "$@"; do
  cargo test --quiet --locked --test golden -- "$query::"
  "$nsq" show "$query" --json-schema >/dev/null
  # Not every query can be asked of this report.
  answer=$("$nsq" run "$report" --query "$query" --format csv 2>/dev/null) || continue
  "$nsq" show "$query" --sql --report "$report" >"$script"
  [ "$answer" = "$("$nsq" sql "$report" --file "$script" --format csv)" ] ||
    { echo "$query: the rows of its script are not those of its answer"; exit 1; }
done
