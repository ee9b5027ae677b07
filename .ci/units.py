#!/usr/bin/env python3
"""What the commands of .ci/run compile, and how often: .ci/units.py

Fails if a package is compiled more than once for the commands of README.md and the build of all programs, because they ask
for other features of it, and names the features that crates/features lacks. Reads cargo's unit graph, which a stable cargo
prints with RUSTC_BOOTSTRAP=1.
"""

import collections
import json
import os
import subprocess
import sys

ALL = ["--workspace", "--exclude", "nsq-complete", "--features", "nsq-fleet/stores", "--lib", "--bins", "--tests", "--examples"]
COMMANDS = {
    "cargo run": ["build", "--bin", "nsq"],
    "cargo test": ["test"],
    "build of all": ["build", *ALL],
    "tests of all": ["test", *ALL],
}


def units(command):
    """The units of a command: by what is compiled, and how."""
    call = ["cargo", *command, "--locked", "--unit-graph", "-Zunstable-options"]
    graph = json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, env={**os.environ, "RUSTC_BOOTSTRAP": "1"}).stdout)
    keys = {}

    def key(index):
        if index not in keys:
            unit = graph["units"][index]
            profile = {name: value for name, value in unit["profile"].items() if name != "name"}
            what = (unit["pkg_id"], unit["target"]["name"], unit["target"]["kind"], unit["mode"], sorted(unit["features"]))
            below = sorted(key(dependency["index"]) for dependency in unit["dependencies"])
            keys[index] = json.dumps([what, unit["platform"], profile, hash(tuple(below))])
        return keys[index]

    return {key(index): unit for index, unit in enumerate(graph["units"])}


def main():
    sys.setrecursionlimit(100_000)
    found = {name: units(command) for name, command in COMMANDS.items()}
    for name, some in found.items():
        modes = collections.Counter(unit["mode"] for unit in some.values())
        print(f"{name:13} {len(some):4} units, {modes['build'] + modes['test']} compiled")
    everything = {key: unit for some in found.values() for key, unit in some.items()}
    print(f"{'together':13} {len(everything):4} units")
    features = collections.defaultdict(set)
    for unit in everything.values():
        if unit["mode"] == "build":
            features[unit["pkg_id"].split("/")[-1], unit["target"]["name"]].add(tuple(unit["features"]))
    differ = {what: sets for what, sets in features.items() if len(sets) > 1}
    for (package, target), sets in sorted(differ.items()):
        lacks = [" ".join(sorted(set().union(*sets) - set(some))) for some in sets]
        print(f"{package} ({target}) is compiled {len(sets)} times, one without: {'; '.join(filter(None, lacks))}")
    sys.exit(bool(differ) and "add the missing features to crates/features/Cargo.toml")


if __name__ == "__main__":
    main()
