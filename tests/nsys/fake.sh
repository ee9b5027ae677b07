#!/bin/sh
# A fake nsys. The line `do: …` of the capture selects what it does. It exports the file $FAKE_EXPORT,
# and appends a line to $FAKE_LOG for each export.
version=$(cat "$(dirname "$0")/version" 2>/dev/null || echo 2023.4.4.54-1v0)
if [ "$1" = --version ]; then
  echo "NVIDIA Nsight Systems version $version"
  exit 0
fi
echo "$version" >> "$FAKE_LOG"
out=
while [ $# -gt 1 ]; do
  [ "$1" = --output ] && out=$2
  shift
done
half() { head -c 20000 "$FAKE_EXPORT" > "$out"; }
case $(sed -n 's/^do: //p' "$1") in
  export) cp "$FAKE_EXPORT" "$out" ;;
  slowly) half; sleep 0.4; cp "$FAKE_EXPORT" "$out" ;;
  hang) half; echo $$ > "$FAKE_LOG.pid"; sleep 600 & wait ;;
  sleep) half; echo $$ > "$FAKE_LOG.pid"; exec sleep 600 ;;
  garbage) echo garbage > "$out" ;;
  half) half ;;
  hole) cp "$FAKE_EXPORT" "$out"; dd if=/dev/zero of="$out" bs=4096 seek=3 count=2 conv=notrunc 2>/dev/null ;;
  zeros) head -c 20000 /dev/zero > "$out" ;;
  nothing) ;;
  tables) printf '' > "$out" ;;
  journal) cp "$FAKE_EXPORT" "$out"; echo unfinished > "$out-journal" ;;
  crash) half; kill -SEGV $$ ;;
  shout) head -c 3000000 /dev/zero | tr '\0' 'x' >&2; printf '\nno room\033[31m\n' >&2; exit 9 ;;
  full) half; printf 'Dynamic exception type\n\nExportation error: database or disk is full\n' >&2; exit 1 ;;
  new) case $version in
         2026*) cp "$FAKE_EXPORT" "$out" ;;
         *) half; echo 'Report was created in Nsight Systems version (2026.2.1). Please update your Nsight Systems.' >&2; exit 1 ;;
       esac ;;
  append) cp "$FAKE_EXPORT" "$out"; echo more >> "$1" ;;
  *) echo 'Exportation error: Cannot read from stream.' >&2; exit 1 ;;
esac
