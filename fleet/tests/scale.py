"""How long one question takes: on one machine, on clusters of 1, 2 and 3 executors on loopback, and by hand with a
Parquet file for each report and DuckDB. Needs the module duckdb for the last. Every way must give the same rows.

    scale.py NSQ NSQ_FLEET JOB [QUERY]

A table of seconds, and of the CPU seconds that all processes took, is printed as Markdown.
"""

import csv
import io
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from cluster import Cluster

NSQ, FLEET, JOB = sys.argv[1:4]
QUERY = sys.argv[4] if len(sys.argv) > 4 else "rank_balance"
# A query across reports that reads one query about a report can be asked by hand.
BY_HAND = {"rank_balance": "rank_measures"}


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(what, work, others=()):
    began, own, theirs = time.time(), cpu(), list(map(of, others))
    rows = work()
    seconds, client = time.time() - began, cpu() - own
    used = [after - before for after, before in zip(map(of, others), theirs)]
    scheduler = f"{used[0]:.1f}" if used else ""
    print(f"| {what} | {seconds:.1f} | {client + sum(used):.1f} | {scheduler} |", flush=True)
    return rows


def ask(program, *more):
    done = subprocess.run([program, "run", JOB, "--query", QUERY, "--format", "csv", *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return list(csv.reader(io.StringIO(done.stdout)))


def by_hand(folder):
    """xargs -P2 nsq run, then DuckDB over the files."""
    script = f'ls "$1"/*.sqlite | xargs -P2 -I@ sh -c \'"$0" run "$1" --query {BY_HAND[QUERY]} -o "$2/$(basename "$1").parquet"\' "$2" @ "$3"'
    subprocess.run(["bash", "-c", script, "-", JOB, NSQ, folder], check=True)
    statement = next(pathlib.Path("queries").glob(f"**/{QUERY}.sql")).read_text().split("*/", 1)[1]
    table = f"SELECT regexp_extract(filename, '[^/]*$') AS report, 0 AS side, * EXCLUDE (filename) FROM read_parquet('{folder}/*.parquet', filename = true)"
    code = f"""import duckdb
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql({f"CREATE TABLE {BY_HAND[QUERY]} AS {table}"!r})
print(len(duckdb.sql({statement!r}).fetchall()))"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return told.stdout.strip() or told.stderr[-500:]


def main():
    count = len(list(pathlib.Path(JOB).iterdir()))
    print(f"{QUERY}, {count} reports, {os.cpu_count()} cores\n\n| way | seconds | CPU seconds | of them the scheduler's |\n|---|--:|--:|--:|")
    expected = timed("`nsq run`, SQLite", lambda: ask(NSQ))
    assert timed("`nsq fleet run`", lambda: ask(FLEET)) == expected
    for executors in (1, 2, 3):
        cluster = Cluster(FLEET, [JOB], executors=executors)
        try:
            parts = [cluster.scheduler, *cluster.executors]
            far = lambda: ask(FLEET, "--cluster", cluster.url)
            assert timed(f"{executors} executors of one core", far, parts) == expected
            assert timed(f"{executors} executors, asked again", far, parts) == expected
        finally:
            cluster.stop()
    if QUERY in BY_HAND:
        with tempfile.TemporaryDirectory() as folder:
            rows = timed("`xargs -P2 nsq run`, then DuckDB", lambda: by_hand(folder))
            assert rows == str(len(expected) - 1), rows


main()
