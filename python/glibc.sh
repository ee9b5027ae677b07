#!/usr/bin/env bash
# Fails if a program or library needs a glibc newer than a version, and prints what each needs.
#
#   python/glibc.sh 2.17 FILE...
set -euo pipefail
most=$1
shift
for file in "$@"; do
  needs=$(objdump -T "$file" | grep -o 'GLIBC_[0-9][0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -1)
  echo "$(basename "$file"): needs glibc $needs"
  if [ -z "$needs" ] || [ "$(printf '%s\n%s\n' "$needs" "$most" | sort -V | tail -1)" != "$most" ]; then
    echo "error: $file needs glibc $needs, and the wheel says $most" >&2
    exit 1
  fi
done
