"""What the package offers beside questions: names, files that fail, Ctrl-C while opening, and what it writes."""

import contextlib
import json
import os
import pathlib
import pickle
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

import nsys_query as nq
import pytest


@pytest.fixture
def report(example):
    return nq.open(example)


@pytest.fixture
def large(example, tmp_path):
    """A report above 16 MiB, whose times are checked beside the first statement."""
    path = shutil.copy(example, tmp_path / "large.sqlite")
    os.chmod(path, 0o644)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE padding (x)")
        connection.execute("INSERT INTO padding VALUES (zeroblob(17 << 20))")
        connection.commit()
    return path


def broken(example, path):
    """A copy whose table of kernels has a damaged page: it opens, and cannot be read."""
    shutil.copy(example, path)
    os.chmod(path, 0o644)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        [[page]] = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_KERNEL'").fetchall()
        [[size]] = connection.execute("PRAGMA page_size").fetchall()
    with open(path, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xee" * size)
    return path


def test_the_version_is_that_of_the_program(nsq):
    assert nsq("--version").split()[1] == nq.__version__


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    for given in [str(tmp_path / "absent.sqlite"), tmp_path / "absent.nsys-rep", [tmp_path / "absent.sqlite"],
                  str(tmp_path / "rank*.sqlite")]:
        with pytest.raises(FileNotFoundError, match="no such file") as raised:
            nq.open(given)
        error = raised.value
        assert isinstance(error, nq.ReportNotFound) and isinstance(error, nq.ReportError) and error.help
        assert error.errno == 2 and error.strerror and error.filename == os.fspath(given[0] if isinstance(given, list) else given)
        assert "help: " in str(error)
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.filename, again.errno) == (str(error), error.filename, error.errno)
    (tmp_path / "text.sqlite").write_text("no report")
    with pytest.raises(nq.ReportError) as raised:
        nq.open(tmp_path / "text.sqlite")
    assert not isinstance(raised.value, FileNotFoundError)


def test_unknown_names_have_suggestions(report):
    for ask, near in [
        (lambda: report.run("top_kernel"), "did you mean 'top_kernels'"),
        (lambda: report.run("top_kernels", limt=1), "did you mean 'limit'"),
        (lambda: report.page("overveiw"), "did you mean 'overview'"),
        (lambda: report.describe("kernl"), "'kernel'"),
        (lambda: report.sql("SELECT durns FROM kernel"), "did you mean 'dur_ns'"),
        (lambda: report.sql("SELECT * FROM kernels"), "did you mean 'kernel'"),
        (lambda: report.answer("cs33"), "did you mean 'cs336'"),
        (lambda: report.run("top_kernels")["totl_ns"], "did you mean 'total_ns'"),
        (lambda: report.run("top_kernels")["total"], "did you mean 'total_ns'"),
        (lambda: report.overview()["finding"], "did you mean 'findings'"),
        (lambda: report.answer()["bb"], "did you mean 'b'"),
    ]:
        with pytest.raises((nq.Error, KeyError)) as raised:
            ask()
        assert near in str(raised.value).replace('\\"', '"'), str(raised.value)


def test_in_asks_for_names(report):
    table = report.run("top_kernels", limit=2)
    assert "calls" in table and "call" not in table
    assert table[0] in table and {} not in table and 0 not in table
    page = report.overview()
    assert "findings" in page and "finding" not in page and 0 not in page
    assert list(page) == list(page.tables) and len(page) == len(page.tables)
    assert "b" in report.answer() and "z" not in report.answer()


def test_what_can_be_asked(report, nsq):
    def rows(*args):
        return json.loads(nsq(*args, "-f", "json"))["rows"]

    for own, args in [
        (nq.relations(), ["list", "--relations"]),
        (nq.pages(), ["list", "--pages"]),
        (report.pages(), ["list", "--pages"]),
        (report.playbooks(), ["list", "--playbooks"]),
    ]:
        wanted = rows(*args)
        assert own["name"] == [row["name"] for row in wanted] and own["summary"] == [row["summary"] for row in wanted]
    present = report.relations()["name"]
    assert "kernel" in present and "openmp" not in " ".join(present) and set(present) < set(nq.relations()["name"])
    for name in present:
        report.sql(f"SELECT * FROM {name} LIMIT 1")
    tables = json.loads(nsq("schema", "fixtures/example.sqlite", "-f", "json"))
    wanted = next(table["rows"] for table in tables if table["table"] == "What can be asked")
    assert report.schema().to_dicts() == wanted
    several = nq.open(["fixtures/example.sqlite"] * 2).schema()
    assert len(several) == 2 * len(wanted) and set(several["report"]) == {"example.sqlite"}


def test_answers_are_those_of_the_program(report):
    def printed(form):
        given = ["answer", "fixtures/example.sqlite", "-p", "forward=forward", "-f", form, "--details"]
        done = subprocess.run([os.environ["NSQ"], *given], capture_output=True, text=True)
        # One part needs what only the user knows.
        assert done.returncode == 3
        return done.stdout

    answers = report.answer(forward="forward")
    document = json.loads(printed("json"))

    def without_options(parts):
        # The command has the options of the call, of which some are the program's alone.
        return json.loads(json.dumps(parts), object_hook=lambda it: {k: v for k, v in it.items() if k != "command"})

    assert without_options(answers.parts) == without_options(document["parts"])
    assert str(answers) == printed("text")
    assert [part["part"] for part in report.answer(parts=["b", "a"])] == ["a", "b"]
    assert report.answer(parts="b", time="0/50%")["b"] != report.answer(parts="b")["b"]
    with pytest.raises(nq.LimitReached):
        report.answer(timeout=0.0)


def test_pages_are_saved(report, nsq, tmp_path):
    timeline = report.timeline(time="10%/20%")
    assert "lanes" in " ".join(timeline).lower() or len(timeline) > 0
    nsq("timeline", "fixtures/example.sqlite", "--time", "10%/20%", "-o", str(tmp_path / "other.html"))
    timeline.save(tmp_path / "own.html")
    assert (tmp_path / "own.html").read_text() == (tmp_path / "other.html").read_text()
    report.overview().save(tmp_path / "own.txt")
    assert (tmp_path / "own.txt").read_text() == nsq("overview", "fixtures/example.sqlite")


def test_relations_are_written(report, nsq, tmp_path):
    def contents(path):
        with contextlib.closing(sqlite3.connect(path)) as connection:
            return list(connection.iterdump())

    for keywords, options in [({}, []), ({"time": "10%/50%", "device": 1}, ["--time", "10%/50%", "--device", "1"])]:
        own, other = tmp_path / "own.sqlite", tmp_path / "other.sqlite"
        report.materialize(own, overwrite=True, **keywords)
        nsq("materialize", "fixtures/example.sqlite", "-o", str(other), "--force", *options)
        assert contents(own) == contents(other)
    before = own.read_bytes()
    with pytest.raises(nq.UsageError, match="exists"):
        report.materialize(own)
    with pytest.raises(nq.UsageError, match="is the report"):
        nq.open(own).materialize(own, overwrite=True)
    with pytest.raises(nq.UsageError, match="one report"):
        nq.open(["fixtures/example.sqlite"] * 2).materialize(tmp_path / "two.sqlite")
    assert own.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["other.sqlite", "own.sqlite"]
    assert "kernel" in nq.open(own).relations()["name"]


def test_columns_of_relations_are_documented(report):
    def about(statement):
        return [(column.type, column.unit, bool(column.doc)) for column in report.sql(statement).columns]

    duration, size, unknown = ("duration", "ns", True), ("bytes", "bytes", True), ("any", None, False)
    for statement, wanted in [
        ("SELECT dur_ns, short_name, device_id FROM kernel", [duration, ("text", None, True), ("id", None, True)]),
        ("SELECT dur_ns AS x, k.dur_ns y FROM kernel AS k", [duration, duration]),
        ("SELECT size_bytes AS dur_ns FROM memcpy", [size]),
        ("SELECT sum(size_bytes) / 2 AS half, max(dur_ns) FROM memcpy", [unknown, unknown]),
        # The name says so, and no relation.
        ("SELECT sum(size_bytes) / 2 AS dur_ns FROM memcpy", [("duration", "ns", False)]),
        ("SELECT x FROM (SELECT dur_ns AS x FROM kernel)", [duration]),
        ("SELECT x FROM (SELECT dur_ns / 1e6 AS x FROM kernel)", [unknown]),
        ("WITH t(a, b) AS (SELECT dur_ns, size_bytes FROM all_memcpy) SELECT b, a FROM t", [size, duration]),
        ("WITH kernel AS (SELECT 1 AS stream_id) SELECT stream_id FROM kernel", [unknown]),
        ("SELECT dur_ns AS x FROM kernel UNION ALL SELECT dur_ns FROM memcpy", [duration]),
        ("SELECT dur_ns AS x FROM kernel UNION ALL SELECT size_bytes FROM memcpy", [unknown]),
        ("SELECT dur_ns AS x FROM kernel UNION ALL SELECT 7", [unknown]),
        ("SELECT dur_ns AS x FROM kernel, CUPTI_ACTIVITY_KIND_MEMCPY LIMIT 1", [duration]),
        ("SELECT m.bytes AS dur_ns, k.dur_ns AS x FROM kernel k JOIN CUPTI_ACTIVITY_KIND_MEMCPY m LIMIT 1",
         [("duration", "ns", False), duration]),
        ("SELECT (SELECT dur_ns FROM kernel LIMIT 1) AS x", [unknown]),
        ("SELECT (dur_ns) AS x, -dur_ns AS y, dur_ns + 0 AS z FROM kernel LIMIT 1", [unknown] * 3),
        ("SELECT DUR_NS AS x, \"dur_ns\" AS y FROM KERNEL LIMIT 1", [duration, duration]),
    ]:
        assert about(statement) == wanted, statement
    documented = {name: doc for name, *_, doc in report.sql("SELECT * FROM kernel LIMIT 1").columns}
    assert all(documented.values()) and documented["dur_ns"] == report.sql("SELECT dur_ns AS x FROM kernel").columns[0].doc
    # A parser would take long for these; SQLite does not.
    for deep in ["(" * 60 + "1" + ")" * 60, "(" * 12 + "1" + ")" * 12]:
        begin = time.monotonic()
        assert report.sql(f"SELECT {deep} AS x")["x"] == [1]
        assert time.monotonic() - begin < 5


def test_a_broken_report_of_a_folder_does_not_stop_the_others(example, tmp_path):
    for name in ["rank0.sqlite", "rank2.sqlite"]:
        shutil.copy(example, tmp_path / name)
    (tmp_path / "rank1.sqlite").write_text("no report")
    (tmp_path / "rank3.sqlite").write_bytes(pathlib.Path(example).read_bytes()[:100_000])
    broken(example, tmp_path / "rank4.sqlite")
    for given in [tmp_path, str(tmp_path / "rank*.sqlite")]:
        report = nq.open(given)
        names = [os.path.basename(path) for path in report.paths]
        assert names == ["rank0.sqlite", "rank2.sqlite", "rank4.sqlite"]
        assert [os.path.basename(failure.path) for failure in report.failures] == ["rank1.sqlite", "rank3.sqlite"]
        assert "is a text file, not a report" in report.failures[0].message and report.failures[0].help
        for table in [report.run("top_kernels"), report.sql("SELECT count(*) AS n, sum(dur_ns) AS ns FROM kernel")]:
            assert sorted(set(table["report"])) == ["rank0.sqlite", "rank2.sqlite"]
            assert [os.path.basename(failure.path) for failure in table.failures] == [
                "rank1.sqlite", "rank3.sqlite", "rank4.sqlite"]
            assert "failed: " in repr(table)
        assert len(report.run("gpu_time").failures) >= 2
    # A file that is named must be there, and one report that fails is an error.
    with pytest.raises(nq.ReportError, match="rank1"):
        nq.open([tmp_path / "rank0.sqlite", tmp_path / "rank1.sqlite"])
    with pytest.raises(nq.Error, match="rank4"):
        nq.open(tmp_path / "rank4.sqlite").run("top_kernels")
    for name in ["rank0.sqlite", "rank2.sqlite", "rank4.sqlite"]:
        os.remove(tmp_path / name)
    with pytest.raises(nq.ReportError, match="rank1"):
        nq.open(tmp_path)


def test_a_large_report_answers(large):
    report = nq.open(large)
    assert len(report.sql("SELECT short_name FROM kernel")) == 1304
    assert len(report.sql("SELECT short_name FROM kernel LIMIT 2")) == 2
    gaps = nq.open(large).run("gpu_gaps", gap_ms=0)
    assert len(gaps) > 0 and gaps.to_dicts() == nq.open("fixtures/example.sqlite").run("gpu_gaps", gap_ms=0).to_dicts()


def test_ctrl_c_stops_an_export(tmp_path, monkeypatch):
    nsys = tmp_path / "nsys"
    started = tmp_path / "started"
    nsys.write_text(f"#!/bin/sh\n[ \"$1\" = export ] || exit 0\necho $$ > {started}\nexec sleep 60\n")
    nsys.chmod(0o755)
    monkeypatch.setenv("NSQ_NSYS", str(nsys))
    monkeypatch.setenv("NSQ_CACHE", str(tmp_path / "cache"))
    capture = tmp_path / "run.nsys-rep"
    capture.write_bytes(b"NVIDIA Tegra Profiler Report" + bytes(1000))

    def press():
        until = time.monotonic() + 20
        while not (started.exists() and started.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=press).start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            nq.open(capture)
        assert time.monotonic() - begin < 30
    finally:
        signal.signal(signal.SIGINT, before)
    child = started.read_text().strip()
    assert subprocess.run(["kill", "-0", child], capture_output=True).returncode != 0, "nsys runs on"
    assert not [path for path in (tmp_path / "cache").rglob("*.sqlite")]


def test_the_extension_of_sqlite_is_in_the_package(example):
    path = nq.extension_path()
    assert pathlib.Path(path).name in ("nsq.so", "nsq.dylib")
    connection = sqlite3.connect(f"file:{example}?mode=ro", uri=True)
    if not hasattr(connection, "enable_load_extension"):
        pytest.skip("this Python loads no extensions into SQLite")
    connection.enable_load_extension(True)
    connection.load_extension(path)
    assert connection.execute("SELECT count(*) FROM top_kernels").fetchone() == (20,)
