#!/usr/bin/env bash
# Builds what a release consists of, into target/release-files (or the folder given). The same commit, compiler and C
# library give the same bytes.
#
#   nsq-VERSION-x86_64-linux.tar.xz   nsq with all its parts, its extension of SQLite, manual pages, completions, the chapters of the
#                                     book, licences
#   nsq_VERSION_amd64.deb             the same as a Debian package
#   nsq-VERSION.cdx.json              software bill of materials (CycloneDX)
#   nsq.rb, recipe.yaml               recipes for Homebrew and conda-forge, with the checksums of this release
#   SHA256SUMS
#
# NSQ_FEATURES=cluster (or cluster,stores) adds what is left out of nsq: the files are then named nsq-cluster-VERSION…, and
# there is no package.
#
# The program is linked statically: it needs no C library. The extension needs one as new as that of this machine, and is left out for
# musl, which has no libraries that are loaded. NSQ_TARGET names another target than Linux on x86_64, whose
# program must run on this machine, because it writes its manual pages and completions. On macOS, GNU's coreutils and
# tar must come first on PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never LC_ALL=C TZ=UTC
umask 022
out=$(realpath -m "${1:-target/release-files}")
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
triple=${NSQ_TARGET:-x86_64-unknown-linux-gnu}
# The platform in the archive's name, and Debian's word for it, if there is a package.
architecture=
case $triple in
  x86_64-unknown-linux-gnu) platform=x86_64-linux architecture=amd64 ;;
  aarch64-unknown-linux-gnu) platform=aarch64-linux architecture=arm64 ;;
  *-unknown-linux-musl) platform=${triple%%-*}-linux-musl ;;
  *-apple-darwin) platform=${triple%%-*}-macos ;;
  *) echo "no recipe for $triple" >&2; exit 2 ;;
esac
static='-C target-feature=+crt-static'
case $triple in *-apple-darwin) static= ;; esac
version=$(cargo metadata --locked --no-deps --format-version 1 |
  python3 -c 'import json, sys; print(next(p["version"] for p in json.load(sys.stdin)["packages"] if p["name"] == "nsys-query"))')
# Times of files: that of the commit, or of the changelog outside a repository.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
# The features beyond those of every release, and the name of the files.
features=
product=nsq
if [ -n "${NSQ_FEATURES:-}" ]; then
  features=nsq-complete/${NSQ_FEATURES//,/,nsq-complete/}
  product=nsq-${NSQ_FEATURES%%,*}
fi
# Where the files of the release will be, for the recipes.
url=${NSQ_RELEASE_URL:-https://example.invalid/nsq/v$version}

# Paths of this machine do not get into the program.
remap="--remap-path-prefix=$PWD=nsq --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
CFLAGS="-ffile-prefix-map=$PWD=nsq -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=cargo -ffile-prefix-map=$target=target" \
  RUSTFLAGS="$static $remap" \
  cargo build --locked --release --target "$triple" -p nsq-complete -p nsq-man --bins ${features:+--features "$features"}
built=$target/$triple/release
extension=
case $triple in
  *-unknown-linux-musl) ;;
  *)
    CFLAGS="-ffile-prefix-map=$PWD=nsq -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=cargo -ffile-prefix-map=$target=target" \
      RUSTFLAGS="$remap" \
      cargo build --locked --release --target "$triple" --target-dir "$target/extension" -p nsq-sqlite --lib
    extension=$(ls "$target/extension/$triple/release"/libnsq_sqlite.{so,dylib} 2>/dev/null || true)
    ;;
esac

rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The tree of the archive.
name=$product-$version-$platform
tree=$work/$name
mkdir -p "$tree"/{bin,share/man/man1,share/bash-completion/completions,share/zsh/site-functions,share/fish/vendor_completions.d,share/doc/nsq}
install -m 755 "$built/nsq" "$tree/bin/nsq"
[ -z "$extension" ] || install -D -m 644 "$extension" "$tree/lib/nsq/nsq.${extension##*.}"
"$built/nsq-man" "$tree/share/man/man1" >/dev/null
"$built/nsq" completions bash >"$tree/share/bash-completion/completions/nsq"
"$built/nsq" completions zsh >"$tree/share/zsh/site-functions/_nsq"
"$built/nsq" completions fish >"$tree/share/fish/vendor_completions.d/nsq.fish"
install -m 644 README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$tree/share/doc/nsq/"
# What README.md links to, and the report that its first command opens.
mkdir -p "$tree/share/doc/nsq/docs" "$tree/share/doc/nsq/queries" "$tree/share/doc/nsq/fixtures"
install -m 644 fixtures/example.sqlite "$tree/share/doc/nsq/fixtures/"
cp -r docs/src "$tree/share/doc/nsq/docs/src"
install -m 644 queries/README.md "$tree/share/doc/nsq/queries/"

# An archive with nothing of this machine in it: order, times and owners are fixed.
pack() { tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -C "$1" -cf - "${@:2}"; }
pack "$work" "$name" | xz -9 -T1 >"$out/$name.tar.xz"

# The Debian package: the same tree under /usr.
debian_package() {
  local deb=$work/deb
  mkdir -p "$deb/DEBIAN" "$deb/usr"
  cp -a "$tree/." "$deb/usr/"
  gzip -9n "$deb"/usr/share/man/man1/*.1
  mv "$deb/usr/share/zsh/site-functions" "$deb/usr/share/zsh/vendor-completions"
  cat "$deb"/usr/share/doc/nsq/LICENSE-* >"$deb/usr/share/doc/nsq/copyright"
  cat >"$deb/DEBIAN/control" <<CONTROL
Package: nsq
Version: $version
Architecture: $architecture
Maintainer: nsq maintainers <nsq@example.invalid>
Section: devel
Priority: optional
Installed-Size: $(du -ks --apparent-size "$deb/usr" | cut -f1)
Description: answers questions about NVIDIA Nsight Systems reports
 Versioned SQL queries join kernels, copies, API calls and NVTX ranges of an
 exported report; nsq runs them and says what to fix first.
CONTROL
  find "$deb" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz -z9 --threads-max=1 --build "$deb" "$out/nsq_${version}_$architecture.deb" >/dev/null
}
[ -z "$architecture" ] || [ -n "$features" ] || debian_package

python3 release/sbom.py "$version" "$triple" "$features" >"$out/$product-$version.cdx.json"

# Recipes name the archive and its checksum.
if [ "$platform" = x86_64-linux ] && [ -z "$features" ]; then
  sum=$(sha256sum "$out/$name.tar.xz" | cut -d' ' -f1)
  for recipe in release/nsq.rb release/recipe.yaml; do
    sed -e "s/@VERSION@/$version/g" -e "s/@SHA256@/$sum/g" -e "s|@URL@|$url|g" "$recipe" >"$out/$(basename "$recipe")"
  done
fi

(cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" SHA256SUMS)
cat "$out/SHA256SUMS"
