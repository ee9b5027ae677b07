#!/usr/bin/env python3
"""Prints the software bill of materials of nsq as CycloneDX 1.5: `release/sbom.py VERSION [TARGET [FEATURES]]`.

Its components are the crates that the programs of a release contain for that target: those behind build scripts,
procedural macros and tests are not in the programs, and not in the list.
"""

import json
import subprocess
import sys

PROGRAMS = ["nsq-complete"]


def metadata(triple, features):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", triple]
    command += ["--features", features] if features else []
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def shipped(graph, packages):
    """IDs of the packages that the programs link, with the IDs of what each links itself."""
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    pending = [package["id"] for package in packages.values() if package["name"] in PROGRAMS]
    links = {}
    while pending:
        node = pending.pop()
        if node in links:
            continue
        links[node] = [
            dependency["pkg"]
            for dependency in nodes[node]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            and not any("proc-macro" in target["kind"] for target in packages[dependency["pkg"]]["targets"])
        ]
        pending.extend(links[node])
    return links


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package):
    entry = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package.get("license"):
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def main():
    version = sys.argv[1]
    triple = sys.argv[2] if len(sys.argv) > 2 else "x86_64-unknown-linux-gnu"
    graph = metadata(triple, sys.argv[3] if len(sys.argv) > 3 else "")
    packages = {package["id"]: package for package in graph["packages"]}
    links = shipped(graph, packages)
    of = lambda node: purl(packages[node])
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "nsq", "name": "nsq", "version": version}},
        "components": sorted((component(packages[node]) for node in links), key=lambda entry: entry["bom-ref"]),
        "dependencies": sorted(
            ({"ref": of(node), "dependsOn": sorted(map(of, linked))} for node, linked in links.items()),
            key=lambda entry: entry["ref"],
        ),
    }
    json.dump(document, sys.stdout, indent=1)
    print()


main()
