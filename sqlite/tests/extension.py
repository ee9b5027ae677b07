"""Loads the extension into SQLite as programs do, and compares its answers with those of nsq.

extension.py NSQ EXTENSION FOLDER [SHARED]: FOLDER is where the tests may write, SHARED has real exports.
"""

import json
import math
import os
import pathlib
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from host import INTERRUPT, Connection, Failed, library

NSQ, EXTENSION, FOLDER = sys.argv[1:4]
SHARED = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
EXAMPLE = "fixtures/example.sqlite"
TURN = int(os.environ.get("NSQ_TEST_TURN", 0))
LIB = library()


def nsq(*arguments):
    return subprocess.run([NSQ, *arguments], capture_output=True, text=True, check=False)


def answer(report, *arguments):
    """The rows of nsq; None if it fails."""
    ran = nsq("run", report, "-f", "ndjson", *arguments)
    return None if ran.returncode else [json.loads(line) for line in ran.stdout.splitlines()]


def same(left, right):
    """Whether two cells are equal. Sums of floating point numbers differ in the last digit between versions of SQLite."""
    if isinstance(left, float) or isinstance(right, float):
        return left is not None and right is not None and math.isclose(left, right, rel_tol=1e-12)
    return left == right


def same_rows(wanted, columns, rows):
    cells = lambda row: [row[column] for column in columns]
    return len(wanted) == len(rows) and all(
        list(want) == columns and all(map(same, cells(want), row)) for want, row in zip(wanted, rows)
    )


def listed(connection, kind):
    return [name for (name,) in connection.rows(f"SELECT name FROM nsq_list WHERE kind = '{kind}' ORDER BY name")]


def queries_equal(report, names):
    """Each query has the rows of `nsq run`, and fails where it fails."""
    connection = Connection(LIB, f"file:{os.path.abspath(report)}?mode=ro", EXTENSION)
    with ThreadPoolExecutor(2) as pool:
        wanted = list(pool.map(lambda name: answer(report, "--query", name), names))
    answered = 0
    for name, want in zip(names, wanted):
        try:
            columns, rows = connection.ask(f'SELECT * FROM "{name}"')
        except Failed as error:
            assert want is None, f"{report}: {name}: {error}"
            continue
        assert want is not None, f"{report}: nsq refuses {name}, and the extension answers"
        assert same_rows(want, columns, rows), f"{report}: {name} differs:\n{want[:2]}\n{columns}\n{rows[:2]}"
        answered += 1
    connection.close()
    print(f"{report}: {answered} of {len(names)} queries have equal answers; the others fail in both")
    assert answered > len(names) // 8


def doubtful_report_equal(report):
    """Where a table has text instead of a number, each query answers or fails as for nsq."""
    path = pathlib.Path(FOLDER, "doubtful.sqlite")
    path.write_bytes(pathlib.Path(report).read_bytes())
    with sqlite3.connect(path) as doubtful:
        doubtful.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 'abc' WHERE rowid = 4")
    doubtful.close()
    queries_equal(str(path), ["cuda_api_sum", "memory_bound_ops", "tensor_core_use", "gpu_time"])


def relations_equal(report):
    """Each relation has as many rows as for nsq, and a few have the same rows."""
    connection = Connection(LIB, report, EXTENSION)
    names = listed(connection, "relation")
    wanted = {}
    # Each text of the report alone: nsq shows a statement that reads all of them other texts.
    others = [name for name in names if name != "string"]
    for some in [["string"], *(others[first : first + 10] for first in range(0, len(others), 10))]:
        counted = (f"SELECT '{name}' AS name, count(*) AS count FROM \"{name}\"" for name in some)
        ran = nsq("sql", report, " UNION ALL ".join(counted), "-f", "ndjson")
        assert ran.returncode == 0, ran.stderr
        wanted.update((row["name"], row["count"]) for row in map(json.loads, ran.stdout.splitlines()))
    for name in names:
        count = connection.value(f'SELECT count(*) FROM "{name}"')
        assert count == wanted[name], f"{name}: {count} rows, and {wanted[name]} for nsq"
    for statement in [
        "SELECT * FROM kernel ORDER BY kernel_id",
        "SELECT kernel_id, dur_ns FROM kernel WHERE dur_ns > 1000000 AND stream_id = 7 ORDER BY kernel_id",
        "SELECT class, count(*) AS kernels, sum(dur_ns) AS dur_ns, median(dur_ns) AS median_ns FROM"
        " (SELECT op_class(kernel_name) AS class, dur_ns FROM kernel) GROUP BY class ORDER BY class",
        "SELECT api_name, count(*) AS kernels, sum(kernel.dur_ns) AS dur_ns FROM kernel"
        " JOIN launch ON launch.op_kind = 'kernel' AND launch.op_id = kernel.kernel_id"
        " JOIN cuda_call ON cuda_call.call_id = launch.call_id GROUP BY api_name ORDER BY api_name",
        # A relation that must be asked with values, for one pair and for those of another table.
        "SELECT gpu_id, busy_ns, idle_ns FROM gpu_window WHERE start_ns = 0 AND end_ns = 100000000 ORDER BY gpu_id",
        "SELECT kernel_id, gpu_window.gpu_id, busy_ns FROM (SELECT * FROM kernel ORDER BY dur_ns DESC LIMIT 5) AS longest"
        " JOIN gpu_window USING (start_ns, end_ns) ORDER BY kernel_id, gpu_window.gpu_id",
        "SELECT * FROM src_target_gpu ORDER BY 1",
        "SELECT range_name, sum(dur_ns) AS dur_ns FROM nvtx_range WHERE range_name GLOB 'step*' GROUP BY 1 ORDER BY 1",
    ]:
        ran = nsq("sql", report, statement, "-f", "ndjson")
        assert ran.returncode == 0, f"{statement}\n{ran.stderr}"
        columns, rows = connection.ask(statement)
        assert rows, statement
        assert same_rows([json.loads(line) for line in ran.stdout.splitlines()], columns, rows), statement
    connection.close()
    print(f"{report}: {len(names)} relations have as many rows as for nsq")


def parameters_and_scope(report):
    connection = Connection(LIB, report, EXTENSION)
    ask = connection.ask
    for given, arguments in [
        ("top_kernels WHERE \"limit\" = 3", ["--query", "top_kernels", "-p", "limit=3"]),
        ("top_kernels(NULL, 'short')", ["--query", "top_kernels", "-p", "name=short"]),
        ("range_time('step*')", ["--query", "range_time", "-p", "ranges=step*"]),
    ]:
        wanted = answer(report, *arguments)
        assert wanted is not None and same_rows(wanted, *ask(f"SELECT * FROM {given}")), given
    for options, arguments in [
        (["steady"], ["--steady"]),
        (["device=0", "iter=step/2..4"], ["--device", "0", "--iter", "step/2..4"]),
        (["--time=/50%"], ["--time", "/50%"]),
        (["whole"], []),
    ]:
        given = ", ".join(f"'{option}'" for option in options)
        connection.value(f"SELECT nsq_scope({given})")
        wanted = answer(report, "--query", "top_kernels", *arguments)
        assert wanted and same_rows(wanted, *ask("SELECT * FROM top_kernels")), options
    assert connection.value("SELECT nsq_scope()") == ""
    # A parameter from another table: the query is asked for each of its values.
    columns, rows = ask(
        "SELECT v.column1, t.kernel_name FROM (VALUES (1), (2)) AS v, top_kernels AS t WHERE t.\"limit\" = v.column1"
    )
    assert [row[0] for row in rows] == [1, 2, 2], rows
    # A join that looks rows up, from either side, also with other types.
    both = connection.value("SELECT count(*) FROM kernel JOIN launch ON op_kind = 'kernel' AND op_id = kernel_id")
    assert both == connection.value("SELECT count(*) FROM kernel"), both
    assert connection.value("SELECT count(*) FROM gpu WHERE gpu_id = '0'") == 1
    assert connection.value("SELECT count(*) FROM (SELECT '0' AS id) JOIN gpu ON gpu_id = id") == 1
    assert connection.value("SELECT count(*) FROM (SELECT 0.0 AS id) JOIN gpu ON gpu_id = id") == 1
    assert connection.value("SELECT count(*) FROM (SELECT NULL AS id) JOIN gpu ON gpu_id = id") == 0
    connection.close()


def loaded_by_a_statement(report):
    """SQLite has a function sqrt of its own, which it does not replace while this statement runs."""
    connection = Connection(LIB, report, EXTENSION, statement=True)
    longest = connection.value("SELECT max(dur_ns) FROM kernel")
    assert connection.value("SELECT max_ns FROM top_kernels ORDER BY max_ns DESC") == longest
    assert connection.value("SELECT sqrt(median(dur_ns)) FROM kernel") > 0
    connection.close()


def refuses(connection, statement, *words):
    try:
        connection.ask(statement)
    except Failed as error:
        assert all(word in str(error) for word in words), f"{statement}: {error}"
    else:
        raise AssertionError(f"{statement} is answered")


def errors(report):
    connection = Connection(LIB, report, EXTENSION)
    refuses(connection, "SELECT nsq_scope('colour=red')", "unknown option 'colour'", "device=0")
    refuses(connection, "SELECT nsq_scope('device=x')", "expected an integer")
    refuses(connection, "SELECT * FROM top_kernels WHERE \"limit\" = 'many'", "limit", "many", "help:")
    refuses(connection, "SELECT * FROM attention_flops", "attention_flops", "help:")
    connection.value("SELECT nsq_scope('device=99')")
    refuses(connection, "SELECT * FROM top_kernels", "99")
    connection.close()
    memory = Connection(LIB, ":memory:", EXTENSION, flags=6)
    assert memory.value("SELECT median(value) FROM json_each('[1, 2, 9]')") == 2
    assert memory.value("SELECT op_class('ncclDevKernel_AllReduce')") == "communication"
    refuses(memory, "SELECT * FROM kernel", "in memory", "help: open an export")
    memory.close()
    plain = os.path.join(FOLDER, "plain.sqlite")
    pathlib.Path(plain).unlink(missing_ok=True)
    other = Connection(LIB, plain, EXTENSION, flags=6)
    other.ask("CREATE TABLE kernel (x)")
    other.ask("INSERT INTO kernel VALUES (1)")
    # A table of the file wins.
    assert other.value("SELECT x FROM kernel") == 1
    refuses(other, "SELECT * FROM top_kernels", "plain.sqlite")
    other.close()


def interrupted(report):
    """Ctrl-C ends a query that runs, and the connection goes on."""
    connection = Connection(LIB, report, EXTENSION)
    timer = threading.Timer(0.5, connection.interrupt)
    timer.start()
    began = time.monotonic()
    try:
        connection.ask("SELECT * FROM endless")
    except Failed as error:
        assert error.code == INTERRUPT, error
    else:
        raise AssertionError("an endless query ended")
    # Far below the minutes after which a test is ended: the time itself is not what is tested.
    assert time.monotonic() - began < 60
    timer.join()
    # A handler that ends a statement after a time, as Datasette sets one.
    until = time.monotonic() + 0.5
    connection.limit(lambda: time.monotonic() > until)
    refuses(connection, "SELECT * FROM endless", "interrupted")
    connection.limit(None)
    assert connection.value("SELECT count(*) FROM kernel") > 0
    # A statement that needs no more rows ends, too.
    connection.ask("SELECT * FROM kernel", most=1)
    connection.close()


def opened_and_closed(report):
    """Memory is freed, also of statements that are given up."""
    used = []
    for turn in range(60):
        connection = Connection(LIB, report, EXTENSION)
        connection.ask("SELECT * FROM top_kernels", most=1)
        connection.ask("SELECT count(*) FROM gpu_gap JOIN gpu USING (gpu_id)")
        connection.close()
        if turn in (9, 59):
            used.append((LIB.sqlite3_memory_used(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
    (before, rss_before), (after, rss_after) = used
    assert after <= before, f"SQLite's memory grew from {before} to {after} bytes"
    assert rss_after - rss_before < 60_000, f"memory grew from {rss_before} to {rss_after} kB"


def two_at_once(report):
    """Two connections, each on a thread of its own, with scopes of their own."""
    counts = {}

    def count(scope):
        connection = Connection(LIB, report, EXTENSION)
        connection.value(f"SELECT nsq_scope('{scope}')")
        counts[scope] = [connection.value("SELECT count(*) FROM kernel") for _ in range(5)]
        connection.close()

    threads = [threading.Thread(target=count, args=(scope,)) for scope in ("whole", "steady")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(set(each)) == 1 for each in counts.values()), counts
    assert counts["steady"][0] < counts["whole"][0], counts


def nothing_is_written(report):
    copy = pathlib.Path(FOLDER, "copy")
    copy.mkdir(exist_ok=True)
    file = copy / "report.sqlite"
    file.unlink(missing_ok=True)
    file.write_bytes(pathlib.Path(report).read_bytes())
    for uri, flags in [(f"file:{file}", 2), (f"file:{file}?mode=ro", 1), (f"file:{file}?immutable=1", 1)]:
        connection = Connection(LIB, uri, EXTENSION, flags=flags | 0x40)
        assert connection.value("SELECT count(*) FROM top_kernels") > 0, uri
        connection.close()
    assert [path.name for path in copy.iterdir()] == [file.name]
    assert file.read_bytes() == pathlib.Path(report).read_bytes()


def main():
    if LIB is None:
        print("skipped: no SQLite as a shared library here")
        return
    print(f"SQLite {LIB.sqlite3_libversion().decode()}")
    connection = Connection(LIB, EXAMPLE, EXTENSION)
    names = listed(connection, "query")
    connection.close()
    queries_equal(EXAMPLE, names)
    if SHARED:
        exports = sorted((SHARED / "data" / "exports").glob("*.sqlite"), key=lambda path: path.stat().st_size)
        small = exports[: len(exports) // 2]
        queries_equal(str(small[TURN % len(small)]), names[TURN % 4 :: 4])
    doubtful_report_equal(EXAMPLE)
    relations_equal(EXAMPLE)
    parameters_and_scope(EXAMPLE)
    errors(EXAMPLE)
    opened_and_closed(EXAMPLE)
    two_at_once(EXAMPLE)
    loaded_by_a_statement(EXAMPLE)
    nothing_is_written(EXAMPLE)
    os.environ["NSQ_PATH"] = "sqlite/tests/queries"
    interrupted(EXAMPLE)
    print("passed")


main()
