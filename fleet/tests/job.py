"""Generated jobs: each report a rank, with its own clock, collectives that wait for one another, and copies of what
goes wrong: a late rank, a size that differs, kernels that are missing.

    job.py FOLDER RANKS [COLLECTIVES]
"""

import pathlib
import random
import sqlite3
import sys

SCHEMA = (pathlib.Path(__file__).parents[2] / "fixtures/schema/3.25.0.sql").read_text()
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


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    job(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:]))
