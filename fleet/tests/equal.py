"""Every query across reports on a generated job: the same rows from nsq run on SQLite, from nsq-fleet on DataFusion,
and from a scheduler with three executors. Then what faults do to one machine; faults.py has those of a cluster.

    equal.py NSQ NSQ_FLEET [REPORTS]
"""

import contextlib
import csv
import glob
import io
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from cluster import Cluster
from job import job

NSQ, FLEET = sys.argv[1:3]
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 64


def ask(program, reports, query, *more, code=0):
    done = subprocess.run([program, "run", *map(str, reports), "--query", query, "--format", "csv", *map(str, more)],
                          capture_output=True, text=True)
    assert done.returncode == code, (program, query, done.returncode, done.stderr[-2000:])
    return list(csv.reader(io.StringIO(done.stdout))), done.stderr


# The job has no sends and receives: both engines must run these, and find nothing.
WITHOUT_ROWS = {"pipeline_bubbles", "point_to_point_waits", "link_use"}


def queries():
    """Every query across reports of queries/ranks."""
    for path in sorted(glob.glob("queries/ranks/*.sql")):
        if "\nacross: true\n" in pathlib.Path(path).read_text():
            yield pathlib.Path(path).stem


def same(query, engine, sqlite, other):
    if sqlite != other:
        wrong = [pair for pair in zip(sqlite, other) if pair[0] != pair[1]]
        raise AssertionError((query, engine, len(sqlite), len(other), len(wrong), wrong[:3]))


@contextlib.contextmanager
def stopped(cluster):
    """The cluster; it is ended in any case, and must leave nothing in its scratch folders."""
    try:
        yield cluster
    except BaseException:
        print(cluster.logs(), file=sys.stderr)
        cluster.stop()
        raise
    left = cluster.stop()
    assert not left, left


def has_cluster():
    """Whether this nsq-fleet is built with the feature `cluster`."""
    told = subprocess.run([FLEET, "scheduler", "--help"], capture_output=True, text=True)
    return "--executor-timeout" in told.stdout


def main():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as made:
        folder = pathlib.Path(folder)
        reports, scratch = folder / "job", folder / "scratch"
        reports.mkdir(), scratch.mkdir()
        job(reports, COUNT)
        empty = lambda: not list(scratch.iterdir()) or list(scratch.iterdir())
        total = 0
        cluster = made.enter_context(stopped(Cluster(FLEET, [reports]))) if has_cluster() else None
        if not cluster:
            print("skipped: the rows of a cluster, because this nsq-fleet is built without it")
        for query in queries():
            sqlite, _ = ask(NSQ, [reports], query)
            fusion, _ = ask(FLEET, [reports], query, "--scratch", scratch)
            assert len(sqlite) > 1 or query in WITHOUT_ROWS, query
            same(query, "DataFusion", sqlite, fusion)
            if cluster:
                same(query, "Ballista", sqlite, ask(FLEET, [reports], query, "--cluster", cluster.url)[0])
            assert empty() is True, empty()
            total += len(sqlite) - 1
            print(f"{query}: {len(sqlite) - 1} rows are the same", flush=True)
        # A query about one report: its rows one after the other.
        some = sorted(reports.iterdir())[:3]
        scope = ["--iter", "step", "2..5"]
        for query, more in [("top_kernels", ["--param", "limit=3"]), ("ranks", []), ("collectives", scope), ("stragglers", scope)]:
            sqlite = ask(NSQ, some, query, *more)[0]
            assert len(sqlite) > 1, query
            same(query, "DataFusion", sqlite, ask(FLEET, some, query, *more)[0])
            if cluster:
                same(query, "Ballista", sqlite, ask(FLEET, some, query, *more, "--cluster", cluster.url)[0])
        narrow, whole = ask(FLEET, some, "collectives", *scope)[0], ask(FLEET, some, "collectives")[0]
        assert 1 < len(narrow) < len(whole), (len(narrow), len(whole))
        made.close()

        # A corrupt report is named, and the others are answered as if it were not there; a missing one is an error.
        corrupt = reports / "rank0005.sqlite"
        whole = corrupt.read_bytes()
        corrupt.write_bytes(whole[:4096] + bytes(range(256)) * (len(whole) // 256 - 16))
        others = [path for path in sorted(reports.iterdir()) if path != corrupt]
        rows, errors = ask(FLEET, [reports], "stragglers", "--scratch", scratch, code=1)
        assert rows == ask(NSQ, others, "stragglers")[0] and len(rows) > 1
        assert "rank0005.sqlite" in errors and f"1 of {COUNT} reports failed" in errors, errors
        rows, errors = ask(FLEET, [reports], "stragglers", "--scratch", scratch, "--strict", code=1)
        assert rows == [] and "rank0005.sqlite" in errors
        missing = subprocess.run([FLEET, "run", reports / "rank9999.sqlite", "--query", "stragglers"], capture_output=True, text=True)
        assert missing.returncode in (1, 2) and "rank9999" in missing.stderr and not missing.stdout, missing
        assert empty() is True, empty()
        corrupt.write_bytes(whole)

        # A replaced file keeps its permissions, and a link stays a link.
        answer, link = folder / "answer.csv", folder / "link.csv"
        answer.write_text("before")
        answer.chmod(0o640)
        link.symlink_to(answer.name)
        subprocess.run([FLEET, "run", reports, "--query", "stragglers", "-o", link], check=True, capture_output=True)
        assert link.is_symlink() and answer.stat().st_mode & 0o777 == 0o640 and answer.read_text() != "before"

        # A full disk: an error that names the file, and nothing left.
        done = subprocess.run(["bash", "-c", f"trap '' XFSZ; ulimit -f 1; exec '{FLEET}' run '{reports}' --query stragglers --scratch '{scratch}'"],
                              capture_output=True, text=True)
        assert done.returncode == 1 and not done.stdout and "File too large" in done.stderr, done
        assert empty() is True, empty()

        # Ctrl-C ends the work, and removes the scratch.
        child = subprocess.Popen([FLEET, "run", str(reports), "--query", "stragglers", "--scratch", str(scratch)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started = time.time()
        while empty() is True and child.poll() is None and time.time() - started < 60:
            time.sleep(0.005)
        child.send_signal(signal.SIGINT)
        child.wait(timeout=60)
        assert child.returncode in (130, 0), (child.returncode, child.stderr.read())
        assert empty() is True, empty()
        print(f"{total} rows of {COUNT} reports are the same, and faults leave nothing")


main()
