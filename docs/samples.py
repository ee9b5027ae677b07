#!/usr/bin/env python3
"""Writes the reports that the book's examples open into a folder: `docs/samples.py FOLDER`.

  fixtures/             a link to the project's fixtures: example.sqlite, trace.json.gz
  NAME.sqlite           each trace in fixtures/traces: small invented reports, whose headers draw the timeline
  before.sqlite, after.sqlite   the pair in fixtures/diff
  base-1.sqlite to base-3.sqlite   three runs of the program in fixtures/example.sqlite
  new-1.sqlite to new-3.sqlite     three runs after its data loading was fixed
  work.json             a PyTorch trace with shapes and types of inputs, Python calls and memory
  rules/                a folder of rules: which ranges of work.json do which work
  memory.sqlite         allocations through CUDA
"""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
SCHEMA = "3.25.0"


def load(trace, target):
    """The script of a trace as an export that has no empty tables, as nsys writes it."""
    target.unlink(missing_ok=True)
    report = sqlite3.connect(target, isolation_level=None)
    report.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    for script in ((FIXTURES / "schema" / f"{SCHEMA}.sql").read_text("utf-8"), trace):
        report.executescript(script)
    for (table,) in report.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if not report.execute(f'SELECT EXISTS (SELECT * FROM "{table}")').fetchone()[0]:
            report.execute(f'DROP TABLE "{table}"')
    report.close()


MEMORY = """
INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId, address, pc, bytes, memKind,
    memoryOperationType, correlationId) VALUES
    (1500, 281544719532032, 0, 1, 139637976727552, 0, 67108864, 2, 0, 11),
    (2500, 281544719532032, 0, 1, 139638043836416, 0, 33554432, 2, 0, 12),
    (8500, 281544719532032, 0, 1, 139637976727552, 0, 67108864, 2, 1, 13);
"""

RULES = """name: work
doc: The work of our ranges.
rules:
  - {match: '(^|:)ffn$', work: {kind: ffn, tokens: 4096, width: 1024, hidden: 4096, type: bf16}}
"""


def work_trace():
    """Two steps of large and small products in float32, an addition of large tensors, and many tiny kernels."""
    events, now, nth = [], 0.0, 0

    def span(category, name, start, dur, tid=1, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": dur, "args": args})

    def call(op, dims, kind, kernel, dur, gap=20.0):
        nonlocal now, nth
        nth += 1
        ids = {"External id": nth, "correlation": nth}
        span("cpu_op", op, now, 10.0, **{"External id": nth, "Input Dims": dims, "Input type": [kind] * len(dims)})
        span("cuda_runtime", "cudaLaunchKernel", now + 2.0, 3.0, **ids)
        where = {"device": 0, "stream": 7, "context": 1, "grid": [256, 1, 1], "block": [256, 1, 1]}
        span("kernel", kernel, now + 8.0, dur, tid=7, **ids, **where)
        now += dur + gap

    used = 2_000_000_000

    def memory(size):
        nonlocal used
        used += size
        kind = {"Device Type": 1, "Device Id": 0, "Addr": 1, "Bytes": size, "Total Allocated": used, "Total Reserved": 4 << 30}
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": now, "args": kind})

    for step in range(2):
        start = now
        memory(1 << 30)
        call("aten::mm", [[2048, 2048], [2048, 2048]], "float", "ampere_sgemm_128x128_nn", 900.0)
        call("aten::mm", [[256, 256], [256, 256]], "c10::BFloat16", "small_gemm_bf16", 40.0)
        call("aten::add", [[8192, 8192], [8192, 8192]], "c10::BFloat16", "vectorized_elementwise_kernel<add>", 180.0)
        for _ in range(12):
            call("aten::mul", [[64], [64]], "float", "vectorized_elementwise_kernel<mul>", 3.0, gap=4.0)
        memory(-(1 << 30))
        span("user_annotation", "ffn", start, 1000.0)
        span("python_function", "train.py(12): step", start, now - start)
        span("python_function", "nn.Module: FeedForward_0", start, 1000.0)
        span("user_annotation", f"ProfilerStep#{step}", start, now - start)
    gpu = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_030_600_704, "numSms": 132}
    return {"deviceProperties": [gpu | {"computeMajor": 9, "computeMinor": 0}], "traceEvents": events}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "fixtures"
    if not link.exists():
        link.symlink_to(FIXTURES)
    (folder / "work.json").write_text(json.dumps(work_trace()), "utf-8")
    (folder / "rules" / "names").mkdir(parents=True, exist_ok=True)
    (folder / "rules" / "names" / "work.yml").write_text(RULES, "utf-8")
    load(MEMORY, folder / "memory.sqlite")
    for trace in [*FIXTURES.glob("traces/*.sql"), *FIXTURES.glob("diff/*.sql")]:
        load(trace.read_text("utf-8"), folder / f"{trace.stem}.sqlite")
    for name, options in (("base", []), ("new", ["--prefetch"])):
        for run in ("1", "2", "3"):
            example = [sys.executable, FIXTURES / "make_example.py", folder / f"{name}-{run}.sqlite", "--run", run]
            subprocess.run(example + options, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
