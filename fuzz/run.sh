#!/usr/bin/env bash
# Fuzzes all targets over the kept inputs: fuzz/run.sh [--keep] [MINUTES] [TARGET…]
#
# MINUTES, by default 5, are for all targets together, one after the other. Prints one line for each target:
# how many inputs ran, and how much code they covered at the start and at the end. Exits with 1 if a target
# found something; the inputs are then in fuzz/artifacts. --keep adds what was learnt to the kept inputs,
# minimised.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  printf 'error: %s\n  help: %s\n' "$2" "$3" >&2
  exit "$1"
}

keep=
if [ "${1:-}" = --keep ]; then
  keep=1
  shift
fi
minutes=${1:-5}
shift || true
[[ $minutes =~ ^[1-9][0-9]*$ ]] ||
  fail 2 "invalid number of minutes '$minutes'" 'fuzz/run.sh [--keep] [MINUTES] [TARGET…]'

command -v rustup >/dev/null || fail 1 'rustup is not installed' 'install it from https://rustup.rs'
command -v xz >/dev/null || fail 1 'xz is not installed' 'install the package xz-utils'
command -v c++ >/dev/null || fail 1 'there is no C++ compiler, which libFuzzer needs' 'install g++ or clang'
cargo +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal ||
  fail 1 'the nightly toolchain could not be installed' 'run: rustup toolchain install nightly'
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked ||
  fail 1 'cargo-fuzz could not be installed' 'run: cargo install cargo-fuzz --locked'

# Stack traces of allocations take a third of the time.
export ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}

all=$(cargo +nightly fuzz list)
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets <<<"$all"
for target in "${targets[@]}"; do
  grep -qx "$target" <<<"$all" || fail 2 "unknown target '$target'" "targets: ${all//$'\n'/, }"
done
for target in "${targets[@]}"; do cargo +nightly fuzz build "$target"; done

# The longest input of a target, in bytes. The others read a grammar from few bytes.
longest() {
  case $1 in
    report) echo 60000 ;;
    trace) echo 20000 ;;
    *) echo 4000 ;;
  esac
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
seconds=$((minutes * 60 / ${#targets[@]}))
failed=()
for target in "${targets[@]}"; do
  corpus=fuzz/corpus/$target
  mkdir -p "$corpus"
  [ ! -e "$corpus.tar.xz" ] || tar -xJf "$corpus.tar.xz" -C fuzz/corpus
  ended=0
  nice -n 10 cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -max_len="$(longest "$target")" \
    -timeout=120 -rss_limit_mb=4096 -malloc_limit_mb=2048 -print_funcs=0 -print_final_stats=1 \
    >"$log" 2>&1 || ended=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  first=$(grep -m1 INITED "$log" | grep -o 'cov: [0-9]*' || true)
  last=$(grep -o 'cov: [0-9]*' "$log" | tail -1 || true)
  echo "$target: ${runs:-no} inputs in $seconds s, ${first:-cov: ?} to ${last:-cov: ?}"
  if [ "$ended" -ne 0 ]; then
    failed+=("$target")
    tail -60 "$log"
  elif [ -n "$keep" ]; then
    cargo +nightly fuzz cmin "$target" -- -max_len="$(longest "$target")" -rss_limit_mb=4096 >"$log" 2>&1 ||
      { cat "$log"; exit 1; }
    # Equal inputs give an equal archive.
    tar -C fuzz/corpus --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c "$target" |
      xz -9e >"$corpus.tar.xz"
  fi
done
[ ${#failed[@]} -eq 0 ] || fail 1 "found something: ${failed[*]}" \
  'the lines above name the input; `cargo +nightly fuzz run TARGET INPUT` repeats it'
echo 'no findings'
