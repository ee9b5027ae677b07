#!/usr/bin/env bash
# Holds nsq against what NVIDIA's own tools printed, for every report that nsq has.
# Reports that it does not have yet are left out; departures.tsv counts every difference that is meant.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=../shared/tools/conformance.py
out=$("$tool" --departures tests/departures.tsv -v || true)
printf '%s\n' "$out" | grep -v 'no query named\|takes no argument' | tail -60
# The reference tool counts a report that does not exist as a failure: those alone are forgiven.
if printf '%s\n' "$out" | grep -E ': (fails|differs): ' | grep -qv 'no query named\|takes no argument'; then
  echo 'conformance: differences that nobody meant'
  exit 1
fi
if printf '%s\n' "$out" | grep -q 'no such difference any more'; then
  echo 'conformance: departures.tsv counts differences that are gone'
  exit 1
fi
