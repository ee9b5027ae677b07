#!/usr/bin/env bash
# The checks of the release that take seconds: the scripts parse, the bill of materials names what is linked, and no
# recipe lacks a placeholder that release/build.sh fills in. `release/test.sh` tests what build.sh has built.
set -euo pipefail
cd "$(dirname "$0")/.."
bash -n release/build.sh release/test.sh
bom=$(python3 release/sbom.py 0.0.0)
python3 - "$bom" <<'PYTHON'
import json, sys

document = json.loads(sys.argv[1])
names = {entry["name"] for entry in document["components"]}
for linked in ["nsys-query", "nsq-mcp", "nsq-perfetto", "rusqlite", "libsqlite3-sys", "clap", "rmcp", "prost"]:
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
