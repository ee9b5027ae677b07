"""What goes wrong in a cluster: the right answer or a clear error, and nothing left in the scratch folders.

    faults.py NSQ NSQ_FLEET [REPORTS]
"""

import contextlib
import csv
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from cluster import Cluster
from job import job

NSQ, FLEET = sys.argv[1:3]
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 24
QUERY = "stragglers"


def run(program, reports, *more):
    done = subprocess.run([program, "run", *map(str, reports), "--query", QUERY, "--format", "csv", *map(str, more)],
                          capture_output=True, text=True, timeout=240)
    return done.returncode, list(csv.reader(io.StringIO(done.stdout))), done.stderr


def sqlite(reports):
    code, rows, errors = run(NSQ, reports)
    assert code == 0 and len(rows) > 1, (code, errors)
    return rows


@contextlib.contextmanager
def cluster(*args, **more):
    """A cluster that leaves nothing in its scratch folders."""
    made = Cluster(FLEET, *args, **more)
    try:
        yield made
    except BaseException:
        print(made.logs(), file=sys.stderr)
        made.stop()
        raise
    left = made.stop()
    assert not left, left


def killed(reports, expected):
    """An executor is killed by its process id while it opens reports: the others answer, all of them."""
    with cluster([reports], executors=3, timeout=8) as made:
        victim = made.executors[0]
        kept = lambda: list(victim.scratch.glob("*/*.arrows"))

        def kill():
            limit = time.time() + 60
            while len(kept()) < 2 and time.time() < limit:
                time.sleep(0.002)
            os.kill(victim.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        code, rows, errors = run(FLEET, [reports], "--cluster", made.url)
        killer.join()
        assert victim.wait() == -signal.SIGKILL
        assert (code, rows) == (0, expected), (code, len(rows), errors)
        # The next executor in the same place removes what the killed one left.
        assert any(victim.scratch.iterdir())
        made.executors.remove(victim)
        again = made.start("executor", "--root", reports, "--scheduler", f"127.0.0.1:{made.port}", "--scratch", victim.scratch)
        again.scratch = victim.scratch
        made.executors.append(again)
        code, rows, errors = run(FLEET, [reports], "--cluster", made.url)
        assert (code, rows) == (0, expected), (code, len(rows), errors)
    print("an executor is killed: the answer is that of SQLite")


def corrupt(reports):
    """A corrupt report is tried on another executor, then named; the others are answered."""
    bad = sorted(reports.iterdir())[5]
    whole = bad.read_bytes()
    bad.write_bytes(whole[:4096] + bytes(range(256)) * (len(whole) // 256 - 16))
    others = [path for path in sorted(reports.iterdir()) if path != bad]
    expected = sqlite(others)
    with cluster([reports], executors=2, jobs=2) as made:
        code, rows, errors = run(FLEET, [reports], "--cluster", made.url)
        assert (code, rows) == (1, expected), (code, len(rows), errors)
        assert bad.name in errors and f"1 of {COUNT} reports failed" in errors and "last tried by" in errors, errors
        code, rows, errors = run(FLEET, [reports], "--cluster", made.url, "--strict")
        assert code == 1 and not rows and bad.name in errors, (code, rows, errors)
    bad.write_bytes(whole)
    print("a corrupt report: it is named, and the answer is that of the others")


def missing(reports):
    """A report that the client sees and no executor has, and one that goes away between two questions."""
    elsewhere = reports.parent / "elsewhere"
    shutil.copytree(reports, elsewhere)
    expected = sqlite([elsewhere])
    with cluster([elsewhere], executors=2, jobs=2) as made:
        code, rows, errors = run(FLEET, [reports], "--cluster", made.url)
        assert code == 1 and not rows and "outside of the folders" in errors, (code, rows, errors)
        code, rows, errors = run(FLEET, [elsewhere], "--cluster", made.url)
        assert (code, rows) == (0, expected), (code, errors)
        gone = sorted(elsewhere.iterdir())[3]
        paths = sorted(elsewhere.iterdir())
        gone.unlink()
        others = sqlite([path for path in paths if path != gone])
        code, rows, errors = run(FLEET, paths, "--cluster", made.url)
        assert (code, rows) == (1, others), (code, errors)
        assert f"{gone.name}: there is no such report" in errors, errors
    shutil.rmtree(elsewhere)
    print("a missing report: it is named, and the answer is that of the others")


def full_disk(reports, expected):
    """No space in the scratch folder of one executor, then of all."""
    small = reports.parent / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        print("skipped: a full disk, because no tmpfs can be mounted here")
        return
    try:
        with cluster([reports], executors=2, scratch=small) as made:
            code, rows, errors = run(FLEET, [reports], "--cluster", made.url)
            assert code != 0 and not rows, (code, len(rows), errors)
            assert "No space left" in errors or "os error 28" in errors, errors
        with cluster([reports], executors=1, scratch=small) as made:
            made.scratch = reports.parent / "large"
            made.scratch.mkdir()
            made.add(), made.add()
            code, rows, errors = run(FLEET, [reports], "--cluster", made.url)
            right = (code, rows) == (0, expected)
            assert right or (code != 0 and "No space left" in errors), (code, len(rows), errors)
            print(f"one executor with a full disk: {'the answer is that of SQLite' if right else 'a clear error'}")
        assert not list(small.rglob("*.arrows"))
    finally:
        subprocess.run(["umount", str(small)], check=True)
    print("a full disk: a clear error, and nothing is left")


def cancelled(reports, expected):
    """Ctrl-C: the client ends at once, and the cluster answers the next question."""
    with cluster([reports], executors=2) as made:
        words = [FLEET, "run", str(reports), "--query", QUERY, "--cluster", made.url]
        client = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        limit = time.time() + 60
        while not list(made.scratch.glob("executor*/*/*.arrows")) and time.time() < limit:
            time.sleep(0.002)
        asked = time.time()
        client.send_signal(signal.SIGINT)
        out, errors = client.communicate(timeout=30)
        assert client.returncode in (130, 0) and (client.returncode == 0 or not out), (client.returncode, errors)
        assert time.time() - asked < 10
        code, rows, errors = run(FLEET, [reports], "--cluster", made.url)
        assert (code, rows) == (0, expected), (code, errors)
    print(f"Ctrl-C: exit code {client.returncode}, and the cluster goes on")


def no_scheduler(reports):
    code, rows, errors = run(FLEET, [reports], "--cluster", "df://127.0.0.1:9")
    assert code != 0 and not rows and "nsq fleet scheduler" in errors, (code, errors)
    print("no scheduler: a clear error")


def main():
    with tempfile.TemporaryDirectory() as folder:
        reports = pathlib.Path(folder).resolve() / "job"
        reports.mkdir()
        job(reports, COUNT)
        expected = sqlite([reports])
        no_scheduler(reports)
        corrupt(reports)
        missing(reports)
        full_disk(reports, expected)
        cancelled(reports, expected)
        killed(reports, expected)


main()
