#!/usr/bin/env bash
# Tests the files that release/build.sh made, as their users would: the archive in an empty root folder, the package by
# its list, the checksums.
#
#   release/test.sh [FOLDER [OTHER]]     default: target/release-files
#
# OTHER is what another build of the same commit made, which must be the same bytes. NSQ_ROOTS names root folders of
# other systems, such as Alpine's, in which the program must give the same answers too. Entering a root folder needs
# root; without it, that part is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
files=$(realpath "${1:-target/release-files}")
example=$PWD/fixtures/example.sqlite
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$files" && sha256sum --check --quiet SHA256SUMS)
tar xf "$files"/nsq-*-x86_64-linux.tar.xz -C "$work" --strip-components=1
for program in "$work"/bin/*; do
  # ldd succeeds for static programs that are position-independent.
  if ldd "$program" 2>/dev/null | grep '=>'; then
    echo "$program needs these libraries"
    exit 1
  fi
done

if [ -n "${2:-}" ]; then
  cmp "$files/SHA256SUMS" "$2/SHA256SUMS"
  echo 'two builds, the same bytes'
fi

# The same answers as from a build for everyday work, where there is nothing but the program, and in other systems.
answer() { "$@" overview "${report:-$example}" --format json | sed 's/"path":"[^"]*"//'; }
wanted=$(answer "${NSQ:-${CARGO_TARGET_DIR:-target}/debug/nsq}")
read -ra roots <<<"${NSQ_ROOTS:-}"
if [ "$(id -u)" = 0 ]; then
  mkdir "$work/empty"
  for root in "$work/empty" "${roots[@]}"; do
    inside=$(mktemp -d "$root/nsq.XXXXXX")
    cp "$work/bin/nsq" "$example" "$inside/"
    in=/$(basename "$inside")
    found=$(report=$in/example.sqlite answer chroot "$root" "$in/nsq")
    [ "$wanted" = "$found" ] || { echo "the overview in the root folder $root differs"; exit 1; }
    # Every part, with nothing installed beside it: Parquet, Perfetto, a whole job, an agent.
    nsq() { chroot "$root" "$in/nsq" "$@"; }
    nsq run "$in/example.sqlite" -q top_kernels -o "$in/kernels.parquet"
    nsq export --perfetto "$in/example.sqlite" -o "$in/trace.pftrace.gz"
    nsq fleet run "$in/example.sqlite" --query gpu_time -o "$in/gpus.csv"
    for written in kernels.parquet trace.pftrace.gz gpus.csv; do
      [ -s "$inside/$written" ] || { echo "no $written in the root folder $root"; exit 1; }
    done
    hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'
    printf '%s\n' "$hello" | nsq mcp --root "$in" | grep -q '"serverInfo"' || { echo "no answer of nsq mcp in $root"; exit 1; }
    rm -r "$inside"
    echo "$root: the same answer, and every part works"
  done
else
  echo 'skipped: other root folders, which need root'
fi

if command -v sqlite3 >/dev/null; then
  loaded=$(sqlite3 -readonly "$example" -cmd ".load $work/lib/nsq/nsq" 'SELECT count(*) FROM top_kernels')
  [ "$loaded" = 20 ] || { echo "the extension of SQLite answers $loaded"; exit 1; }
else
  echo 'skipped: the extension, which needs a sqlite3 shell'
fi

pages=$(find "$work/share/man/man1" -name 'nsq*.1' | wc -l)
[ "$pages" -ge 20 ] || { echo "only $pages manual pages"; exit 1; }
for shell in bash-completion/completions/nsq zsh/site-functions/_nsq fish/vendor_completions.d/nsq.fish; do
  [ -s "$work/share/$shell" ] || { echo "no completions in share/$shell"; exit 1; }
done
if command -v dpkg-deb >/dev/null; then
  dpkg-deb --contents "$files"/nsq_*_amd64.deb >"$work/contents"
  for path in ./usr/bin/nsq ./usr/lib/nsq/nsq.so ./usr/share/man/man1/nsq.1.gz ./usr/share/doc/nsq/copyright; do
    grep -q " $path\$" "$work/contents" || { echo "the package lacks $path"; exit 1; }
  done
fi
echo "$pages manual pages; all files are as they should be"
