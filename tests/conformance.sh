#!/usr/bin/env bash
# Holds nsq against what NVIDIA's own tools printed, for every report that nsq has.
#
# A report that goes missing, or loses an argument, is a failure. departures.tsv counts every difference
# that is meant.
set -euo pipefail
cd "$(dirname "$0")/.."
nsq=${1:-target/release/nsq}

# NVIDIA stopped at a missing helper table before it saw that these exports hold no CUDA data at all.
no_cuda='^(mpi_2ranks_2023\.4|nvtx_rich_2022\.4|nvtx_rich_2023\.4) cuda_gpu_trace: undecided:'

out=$(../shared/tools/conformance.py --nsq "$nsq" --departures tests/departures.tsv -v || true)
if ! printf '%s\n' "$out" | grep -q '^conformance: [0-9]* of [0-9]* equal'; then
  printf '%s\n' "$out"
  echo 'conformance: the reference tool did not come to its end'
  exit 1
fi
left=$(printf '%s\n' "$out" | grep -E ': (fails|differs|undecided): |no such difference any more' |
  grep -vE "$no_cuda" || true)
printf '%s\n' "$out" | grep -vE ': (fails|differs|undecided): '
if [ -n "$left" ]; then
  printf '%s\n' "$left"
  echo 'conformance: differences that nobody meant'
  exit 1
fi
