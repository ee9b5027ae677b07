"""nsq-fleet on generated jobs: the same rows as nsq run for every query across reports, and what faults do.

    equal.py NSQ NSQ_FLEET [REPORTS]
"""

import csv
import glob
import io
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

NSQ, FLEET = sys.argv[1:3]
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 64
SCHEMA = pathlib.Path("fixtures/schema/3.25.0.sql").read_text()
OPERATIONS = ["AllReduce", "AllGather", "ReduceScatter", "Broadcast"]
KERNEL = (
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid,"
    " demangledName, shortName, mangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread,"
    " staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, tensorSizeMinusOneElements)"
    " VALUES (?, ?, 0, 1, ?, ?, ?, ?6, ?6, ?6, 24, 1, 1, 512, 1, 1, 96, 0, 0, 0, 0, 0, '')"
)


def write(path, rank, ranks, shared):
    """A report: `shared` says when each collective may begin on every rank, and when all have ended it."""
    own = random.Random(1000 + rank)
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    names = [(1, "cudaLaunchKernelExC_v11060"), (2, "cudaLaunchKernel_v7000"), (10, "gemm_bf16"), (11, "softmax")]
    names += [(20 + place, f"ncclDevKernel_{name}_Sum_bf16_RING_LL(x)") for place, name in enumerate(OPERATIONS)]
    database.executemany("INSERT INTO StringIds (id, value) VALUES (?, ?)", names)
    process = 1 << 48 | (1000 + rank) << 24
    offset, drift = own.randrange(0, 7_200_000_000_000), own.uniform(-5e-5, 5e-5)
    clock = lambda at: int(at * (1 + drift)) + offset
    calls, kernels, ranges = [], [], []
    groups = {1: ranks, 2: min(8, ranks - rank // 8 * 8)}
    for group, members in groups.items():
        made = f'{{"NCCL communicator ID":{group * 1000 + (rank // 8 if group == 2 else 0)},"No. of ranks":{members},'
        made += f'"Rank":{rank if group == 1 else rank % 8},"CUDA device":0}}'
        ranges.append((clock(1000 * group), clock(1000 * group + 500), "ncclCommInitRank", process | 1, made))
    for n, (group, operation, size, begins, end) in enumerate(shared):
        at = begins[rank]
        identity = group * 1000 + (rank // 8 if group == 2 else 0)
        sent = f'{{"NCCL communicator ID":{identity},"Message size [bytes]":{size},"Reduction operation":"Sum"}}'
        busy = own.randrange(5_000, 60_000)
        kernels.append((clock(at - 70_000), clock(at - 70_000 + busy), 7, 2 * n + 1, process, 10 + n % 2))
        calls.append((clock(at - 80_000), clock(at - 79_000), process | 1, 2 * n + 1, 2))
        if n % 37 == 36 and rank % 5 == 4:
            size += 4
        ranges.append((clock(at - 12_000), clock(at - 4_000), f"nccl{operation}", process | 1, sent))
        calls.append((clock(at - 9_000), clock(at - 6_000), process | 1, 2 * n + 2, 1))
        ends = clock(end + own.randrange(0, 900))
        kernels.append((clock(at), ends, 16, 2 * n + 2, process, 20 + OPERATIONS.index(operation)))
        if n % 10 == 9:
            ranges.append((clock(shared[n - 9][3][rank] - 90_000), ends, f"step {n // 10}", process | 1, None))
    if rank % 16 == 7:
        kernels = kernels[:-6]
    database.executemany(KERNEL, kernels)
    database.executemany(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)"
        " VALUES (?, ?, 0, ?, ?, ?, 0)", calls)
    database.executemany(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, jsonText) VALUES (?, ?, 59, ?, ?, 1, ?)",
        ranges)
    database.commit()
    database.close()


def job(folder, ranks, collectives=120):
    chance, now, shared = random.Random(7), 1_000_000, []
    for n in range(collectives):
        begins = [now + chance.randrange(0, 40_000) + (60_000 if rank == 3 else 0) for rank in range(ranks)]
        end = max(begins) + chance.randrange(20_000, 90_000)
        operation = OPERATIONS[n % len(OPERATIONS)]
        shared.append((1 + n % 3 // 2, operation, 1 << 16 << n % 5, begins, end))
        now = end + 150_000
    for rank in range(ranks):
        write(folder / f"rank{rank:04}.sqlite", rank, ranks, shared)


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        reports, scratch = folder / "job", folder / "scratch"
        reports.mkdir(), scratch.mkdir()
        job(reports, COUNT)
        empty = lambda: not list(scratch.iterdir()) or list(scratch.iterdir())
        total = 0
        for query in queries():
            sqlite, _ = ask(NSQ, [reports], query)
            fusion, _ = ask(FLEET, [reports], query, "--scratch", scratch)
            assert len(sqlite) > 1 or query in WITHOUT_ROWS, query
            if sqlite != fusion:
                wrong = [pair for pair in zip(sqlite, fusion) if pair[0] != pair[1]]
                raise AssertionError((query, len(sqlite), len(fusion), len(wrong), wrong[:3]))
            assert empty() is True, empty()
            total += len(sqlite) - 1
            print(f"{query}: {len(sqlite) - 1} rows are the same")
        # A query about one report: its rows one after the other.
        some = sorted(reports.iterdir())[:3]
        for query in ("top_kernels", "ranks", "collectives"):
            assert ask(NSQ, some, query)[0] == ask(FLEET, some, query)[0], query

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
