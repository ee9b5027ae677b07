#!/usr/bin/env bash
# The checks of the manual pages: every verb has one, and man can read it. They write only under target/.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never
# .ci/run has linted and built all members at once, and sets NSQ_BUILT.
if [ -z "${NSQ_BUILT:-}" ]; then
  cargo fmt --check -p nsq-man
  cargo clippy --locked -p nsys-query -p nsq-man --bins -- -D warnings
  cargo build --locked -p nsys-query -p nsq-man --bins
fi
target=${CARGO_TARGET_DIR:-$PWD/target}
pages=$target/man
rm -rf "$pages"
"$target/debug/nsq-man" "$pages"
verbs=$("$target/debug/nsq" --help | awk '/^Examples:/ {exit} /^  [a-z]/ {print $1}' | grep -vx nsq)
[ "$(wc -w <<<"$verbs")" -ge 17 ] || { echo "nsq --help lists too few verbs: $verbs"; exit 1; }
for verb in $verbs; do
  [ -s "$pages/nsq-$verb.1" ] || { echo "no manual page for nsq $verb"; exit 1; }
done
grep -q 'SYNOPSIS' "$pages/nsq.1"
if command -v groff >/dev/null; then
  for page in "$pages"/*.1; do
    warnings=$(groff -Kutf8 -man -Tutf8 -z "$page" 2>&1) || { echo "$page: $warnings"; exit 1; }
    [ -z "$warnings" ] || { echo "$page: $warnings"; exit 1; }
  done
else
  echo 'no groff here: the format of the manual pages is not checked'
fi
echo "$(ls "$pages" | wc -l) manual pages in $pages"
