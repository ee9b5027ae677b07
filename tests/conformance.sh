#!/usr/bin/env bash
# Compares nsq with the output of NVIDIA's own tools, for every NVIDIA report that nsq has.
#
# A missing report or a missing argument is a failure. departures.tsv lists and counts the intended
# differences.
set -euo pipefail
cd "$(dirname "$0")/.."
nsq=${1:-${CARGO_TARGET_DIR:-target}/debug/nsq}

# NVIDIA's tool stopped at a missing helper table of these exports, which have no CUDA data at all.
no_cuda='^(mpi_2ranks_2023\.4|nvtx_rich_2022\.4|nvtx_rich_2023\.4) cuda_gpu_trace: undecided:'

out=$(../shared/tools/conformance.py --nsq "$nsq" --departures tests/departures.tsv -v || true)
if ! printf '%s\n' "$out" | grep -q '^conformance: [0-9]* of [0-9]* equal'; then
  printf '%s\n' "$out"
  echo 'conformance: the reference tool did not finish'
  exit 1
fi
left=$(printf '%s\n' "$out" | grep -E ': (fails|differs|undecided): |no such difference any more' |
  grep -vE "$no_cuda" || true)
printf '%s\n' "$out" | grep -vE ': (fails|differs|undecided): '
if [ -n "$left" ]; then
  printf '%s\n' "$left"
  echo 'conformance: unexpected differences'
  exit 1
fi
