"""Decodes traces with Perfetto's own messages, and compares them with the raw tables of the exports.

Usage: decode.py PROGRAM FIXTURES [SHARED]
"""

import gzip
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

PROGRAM = sys.argv[1]


def write(output, *arguments):
    command = [PROGRAM, *map(str, arguments), "-o", str(output)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, f"{command}: {ran.stderr}"
    return ran.stderr


class Decoded:
    """Tracks, and their slices as (start, end, category, name)."""

    def __init__(self, path):
        raw = Path(path).read_bytes()
        trace = Trace.FromString(gzip.decompress(raw) if Path(path).suffix == ".gz" else raw)
        self.tracks, self.counters = {}, defaultdict(list)
        self.slices, self.flows = defaultdict(list), defaultdict(list)
        names, categories, events = {}, {}, defaultdict(list)
        assert trace.packet[0].sequence_flags & 1, "the first packet clears the state"
        for place, packet in enumerate(trace.packet):
            names.update({name.iid: name.name for name in packet.interned_data.event_names})
            categories.update({one.iid: one.name for one in packet.interned_data.event_categories})
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                assert track.uuid not in self.tracks and track.uuid != 0
                assert track.name or track.HasField("process") or track.HasField("thread"), "a track without a name"
                assert track.parent_uuid == 0 or track.parent_uuid in self.tracks, "parents come first"
                self.tracks[track.uuid] = track
            if packet.HasField("track_event"):
                event = packet.track_event
                assert event.track_uuid in self.tracks, "a track is described before its events"
                assert packet.trusted_packet_sequence_id != 0 and packet.sequence_flags & 2
                if event.type == TrackEvent.TYPE_COUNTER:
                    kind = event.WhichOneof("counter_value_field")
                    self.counters[event.track_uuid].append((packet.timestamp, getattr(event, kind)))
                    continue
                events[event.track_uuid].append((packet.timestamp, place, event))
        for uuid, found in events.items():
            # As a reader does: by time, and in the order of the file where times are equal.
            found.sort(key=lambda item: item[:2])
            opened = []
            for at, _, event in found:
                if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                    (category,) = event.category_iids
                    opened.append((at, categories[category], names[event.name_iid], list(event.flow_ids)))
                    continue
                assert event.type == TrackEvent.TYPE_SLICE_END and opened, "an end without a begin"
                start, category, name, flows = opened.pop()
                self.slices[uuid].append((start, at, category, name))
                for flow in flows:
                    self.flows[flow].append((start, category))
            assert not opened, "a slice does not end"

    def of(self, *categories):
        return [one for found in self.slices.values() for one in found if one[2] in categories]


def rows(connection, statement):
    """Rows of a statement; none if the export lacks the table."""
    try:
        return connection.execute(statement).fetchall()
    except sqlite3.OperationalError as error:
        assert "no such table" in str(error), error
        return []


def text(connection):
    return dict(rows(connection, "SELECT id, value FROM StringIds"))


def compare(export, folder):
    """All slices of a report, against SQL on its raw tables."""
    output = folder / "trace.pftrace.gz"
    said = write(output, export)
    decoded, connection = Decoded(output), sqlite3.connect(f"file:{export}?mode=ro", uri=True)
    names = text(connection)
    what = Path(export).name

    kernels = rows(connection, "SELECT start, end, shortName FROM CUPTI_ACTIVITY_KIND_KERNEL")
    wanted = Counter((start, end, names[name]) for start, end, name in kernels)
    assert Counter((start, end, name) for start, end, _, name in decoded.of("kernel")) == wanted, what
    for kind, table in ("memcpy", "MEMCPY"), ("memset", "MEMSET"):
        wanted = Counter(rows(connection, f"SELECT start, end FROM CUPTI_ACTIVITY_KIND_{table}"))
        assert Counter(one[:2] for one in decoded.of(kind)) == wanted, (what, kind)
    calls = rows(connection, "SELECT start, end, correlationId, globalTid >> 24 FROM CUPTI_ACTIVITY_KIND_RUNTIME")
    assert Counter(one[:2] for one in decoded.of("runtime", "driver")) == Counter(call[:2] for call in calls), what
    ranges = rows(connection, "SELECT start, end FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND end IS NOT NULL")
    assert Counter(one[:2] for one in decoded.of("range")) == Counter(ranges), what
    os_calls = rows(connection, "SELECT start, end FROM OSRT_API")
    assert Counter(one[:2] for one in decoded.of("os")) == Counter(os_calls), what

    # A flow for each call with an operation of the same correlation ID and process.
    launched = set()
    for table in "KERNEL", "MEMCPY", "MEMSET":
        launched.update(rows(connection, f"SELECT correlationId, globalPid >> 24 FROM CUPTI_ACTIVITY_KIND_{table}"))
    with_work = sum((correlation, process) in launched for _, _, correlation, process in calls)
    ends = [flow for flow, found in decoded.flows.items() if len(found) == 2]
    assert len(ends) == len(decoded.flows) == with_work, (what, len(ends), len(decoded.flows), with_work)
    for flow, found in decoded.flows.items():
        (call_at, call), (op_at, op) = sorted(found, key=lambda end: end[1] not in ("runtime", "driver"))
        assert call in ("runtime", "driver") and op in ("kernel", "memcpy", "memset"), (what, flow, found)

    # The operations that run at each time, from the raw tables.
    running = Counter()
    for kind in "kernel", "memcpy", "memset":
        for start, end, *_ in decoded.of(kind):
            running[start] += 1
            running[end] -= 1
    by_name = {decoded.tracks[uuid].name: uuid for uuid in decoded.counters}
    gpus = [uuid for uuid in decoded.counters if decoded.tracks[uuid].name == "operations running"]
    if len(gpus) == 1 and not rows(connection, "SELECT 1 FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE LIMIT 1"):
        level, wanted = 0, []
        for at in sorted(running):
            level += running[at]
            wanted.append((at, level))
        assert decoded.counters[gpus[0]] == wanted, what
        assert decoded.counters[by_name["operations waiting"]][-1][1] == 0, what
    count = sum(map(len, decoded.slices.values()))
    values = sum(map(len, decoded.counters.values()))
    wanted = f"{count} slices and {values} counter values on {len(decoded.tracks)} tracks, {with_work} flows\n"
    assert said == wanted, (said, wanted)
    print(f"{what}: {wanted}", end="")
    conclusions(decoded, what)
    return decoded


def memory(export, folder):
    """Allocations of an export, which has none, as a counter of each kind of memory."""
    path = folder / "memory.sqlite"
    path.write_bytes(Path(export).read_bytes())
    connection = sqlite3.connect(path)
    (process, device) = connection.execute("SELECT globalPid, deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1").fetchone()
    connection.execute("DROP TABLE IF EXISTS CUDA_GPU_MEMORY_USAGE_EVENTS")
    connection.execute(
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER,"
        " address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, name TEXT, correlationId INTEGER)"
    )
    for at, address, size, kind, is_release in (
        (1000, 1, 4096, 2, 0),
        (2000, 2, 512, 2, 0),
        (3000, 1, 4096, 2, 1),
        # Allocated before the capture: nothing is known to become free.
        (4000, 3, 9999, 2, 1),
        # The same address again, and two events at one time.
        (5000, 1, 100, 2, 0),
        (5000, 2, 512, 2, 1),
        (6000, 9, 64, 1, 0),
    ):
        values = (at, process, device, 1, address, 0, size, kind, is_release)
        connection.execute("INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0)", values)
    connection.commit()
    connection.close()
    write(folder / "memory.pftrace", path)
    decoded = Decoded(folder / "memory.pftrace")
    found = {decoded.tracks[uuid].name: (decoded.tracks[uuid].counter.unit, values) for uuid, values in decoded.counters.items()}
    size_bytes = 3
    assert found["memory in use: device"] == (size_bytes, [(1000, 4096), (2000, 4608), (3000, 512), (4000, 512), (5000, 100)]), found
    assert found["memory in use: pinned"] == (size_bytes, [(6000, 64)]), found


def metrics(export, folder):
    """Samples of a metric: each value begins where the time that it describes does."""
    path = folder / "metrics.sqlite"
    path.write_bytes(Path(export).read_bytes())
    connection = sqlite3.connect(path)
    for table in "GPU_METRICS", "TARGET_INFO_GPU_METRICS":
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(
        "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT)"
    )
    connection.execute("CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER)")
    connection.execute("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (1280, 5, 'made', 3, 'SMs Active [Throughput %]')")
    samples = [(100_000 * (1 + place), place) for place in range(20)]
    connection.executemany("INSERT INTO GPU_METRICS VALUES (?, 1280, 3, ?)", samples)
    connection.commit()
    connection.close()
    write(folder / "metrics.pftrace", path)
    decoded = Decoded(folder / "metrics.pftrace")
    (found,) = (values for uuid, values in decoded.counters.items() if "(" in decoded.tracks[uuid].name)
    assert found == [(at - 100_000, value) for at, value in samples], found


def conclusions(decoded, what):
    """The parts of the critical path follow each other, steps have names, and findings are numbered from 1."""
    paths = {}
    for uuid, found in decoded.slices.items():
        if found[0][2] == "critical path":
            found.sort()
            assert all(one[1] <= other[0] for one, other in zip(found, found[1:])), (what, "parts overlap")
            paths[decoded.tracks[uuid].parent_uuid] = sum(end - start for start, end, *_ in found)
    numbers = {decoded.tracks[uuid].name.split(":")[0] for uuid, found in decoded.slices.items() if found[0][2] == "finding"}
    assert numbers == {f"finding {place + 1}" for place in range(len(numbers))}, (what, numbers)
    steps = decoded.of("step")
    assert all(name for *_, name in steps), what
    print(f"{what}: {len(steps)} steps, {len(numbers)} findings, critical paths of {sorted(paths.values())} ns")


def ranks(export, folder):
    """Two ranks of one report, as two reports with different clocks: the trace puts them on one clock again."""
    apart = 1_234_567_890
    (first, _), (second, _) = rows(
        sqlite3.connect(export),
        "SELECT globalPid >> 24, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1 ORDER BY 1",
    )
    paths = folder / "rank0.sqlite", folder / "rank1.sqlite"
    for path, other, shift in (paths[0], second, 0), (paths[1], first, apart):
        path.write_bytes(Path(export).read_bytes())
        connection = sqlite3.connect(path)
        for table, process in (
            ("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"),
            ("CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid"),
            ("CUPTI_ACTIVITY_KIND_MEMSET", "globalPid"),
            ("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"),
            ("NVTX_EVENTS", "globalTid"),
        ):
            connection.execute(f"DELETE FROM {table} WHERE {process} >> 24 = {other}")
            connection.execute(f"UPDATE {table} SET start = start + {shift}, end = end + {shift}")
        connection.commit()
        connection.close()
    write(folder / "ranks.pftrace.gz", *paths)
    write(folder / "whole.pftrace.gz", export)
    got, wanted = (Decoded(folder / f"{name}.pftrace.gz").of("kernel") for name in ("ranks", "whole"))
    assert Counter(one[3] for one in got) == Counter(one[3] for one in wanted)

    def off(shift):
        """The largest distance between the kernels of both traces, which may begin at different times."""
        return max(abs(a[0] - b[0] - shift) for a, b in zip(sorted(got), sorted(wanted)))

    # The trace begins at the earlier clock's 0.
    best = min(off(shift) for shift in (0, apart))
    assert best < 100_000, best
    print(f"two clocks {apart / 1e9:.3f} s apart: kernels are at most {best / 1000:.1f} µs from where they were")


def main():
    fixtures, shared = Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        example = fixtures / "example.sqlite"
        whole = compare(example, folder)
        # Compressed or not, the trace is the same; a second run gives the same bytes.
        write(folder / "plain.pftrace", example)
        packed = gzip.decompress((folder / "trace.pftrace.gz").read_bytes())
        assert (folder / "plain.pftrace").read_bytes() == packed
        memory(example, folder)
        metrics(example, folder)
        write(folder / "bare.pftrace", example, "--no-findings")
        assert not Decoded(folder / "bare.pftrace").of("finding", "critical path")
        # A part has the kernels that overlap it.
        kernels = sorted(whole.of("kernel"))
        first = min(start for found in whole.slices.values() for start, *_ in found)
        from_ns, to_ns = kernels[len(kernels) // 3][0], kernels[len(kernels) // 2][0]
        write(folder / "part.pftrace", example, "--time", f"{from_ns}ns/{to_ns}ns")
        wanted = [one for one in kernels if one[0] < to_ns and one[1] >= from_ns]
        assert sorted(Decoded(folder / "part.pftrace").of("kernel")) == wanted and first < from_ns
        # Two reports are two sets of processes.
        twice = folder / "copy.sqlite"
        twice.write_bytes(example.read_bytes())
        write(folder / "two.pftrace", example, twice)
        two = Decoded(folder / "two.pftrace")
        assert len(two.of("kernel")) == 2 * len(kernels)
        pids = [track.process.pid for track in two.tracks.values() if track.HasField("process")]
        assert len(pids) == len(set(pids)) > 1
        # A failed run leaves nothing.
        before = sorted(folder.iterdir())
        failed = subprocess.run([PROGRAM, str(fixtures / "README.md"), "-o", str(folder / "no.pftrace")], capture_output=True)
        assert failed.returncode == 1 and sorted(folder.iterdir()) == before, failed
        same = subprocess.run([PROGRAM, str(twice), "-o", str(twice)], capture_output=True, text=True)
        assert same.returncode == 2 and "never overwrites a report" in same.stderr, same
        if shared is None:
            print("skipped: no shared data beside the checkout")
            return
        for inside in "exports/a100_opt_nvtx_2026.3.sqlite", "exports/a100_gpt2.7b_nvtx.sqlite":
            compare(shared / "data" / inside, folder)
        ranks(shared / "data/exports/rtx3090x2_ddp_nccl_2026.3.sqlite", folder)


main()
