"""Rows in Python: nsys_query beside pandas.read_sql on the same export.

    python python/benches/rows.py EXPORT

Each way runs three times in a process of its own, in turn; the fastest counts. "ask" is the question, "read" hands its
rows to a library that then sums a column. Memory is the largest of the process, less that after the imports.
"""

import json
import resource
import sqlite3
import subprocess
import sys
import time

RELATION = "SELECT start_ns, end_ns, device_id, stream_id, correlation_id, grid_x, short_name FROM kernel"
RAW = """
SELECT start, "end" AS end_ns, deviceId, streamId, correlationId, gridX, value AS short_name
FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON StringIds.id = shortName
"""
WAYS = ["pandas.read_sql", "polars", "pyarrow", "duckdb", "pandas"]


def measure(way: str, path: str) -> dict:
    import duckdb
    import pandas
    import polars
    import pyarrow.compute

    import nsys_query

    polars.DataFrame({"a": [1]}), duckdb.sql("SELECT 1").fetchall(), pandas.DataFrame({"a": pyarrow.array([1])})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    if way == "pandas.read_sql":
        frame = pandas.read_sql(RAW, sqlite3.connect(path))
        asked = time.perf_counter()
        total, rows = int(frame["end_ns"].sum()), len(frame)
    else:
        table = nsys_query.open(path).sql(RELATION)
        asked, rows = time.perf_counter(), len(table)
        if way == "polars":
            total = polars.DataFrame(table)["end_ns"].sum()
        elif way == "pyarrow":
            total = pyarrow.compute.sum(pyarrow.table(table)["end_ns"]).as_py()
        elif way == "duckdb":
            # DuckDB finds the variable `rows_` by its name.
            rows_ = table  # noqa: F841
            total = int(duckdb.sql("SELECT sum(end_ns) FROM rows_").fetchall()[0][0])
        else:
            total = int(table.to_pandas()["end_ns"].sum())
    done = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return dict(way=way, rows=rows, total=total, ask=asked - began, read=done - asked, mb=memory / 1024)


def main(path: str) -> None:
    best: dict = {}
    for _ in range(3):
        for way in WAYS:
            one = [sys.executable, __file__, path, way]
            found = json.loads(subprocess.run(one, check=True, capture_output=True, text=True).stdout)
            if way not in best or found["ask"] + found["read"] < best[way]["ask"] + best[way]["read"]:
                best[way] = found
    assert len({(found["rows"], found["total"]) for found in best.values()}) == 1, "the answers differ"
    base = best["pandas.read_sql"]
    whole = base["ask"] + base["read"]
    print(f"{base['rows']:,} rows\n")
    print("| way | ask s | read s | read_sql ÷ read | read_sql ÷ both | memory MB |")
    print("|---|---:|---:|---:|---:|---:|")
    for way, found in best.items():
        both = found["ask"] + found["read"]
        read = f"{whole / found['read']:.0f}" if way != "pandas.read_sql" else ""
        print(f"| {way} | {found['ask']:.2f} | {found['read']:.3f} | {read} | {whole / both:.1f} | {found['mb']:.0f} |")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[2], sys.argv[1])))
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
