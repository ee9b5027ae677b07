"""Answers, scopes and errors are those of the program."""

import json
import os
import pathlib
import pickle
import shutil

import nsys_query as nq
import pytest

QUERIES = ["top_kernels", "gpu_time", "cuda_gpu_trace", "iterations", "report_info", "findings", "kernel_stats"]


OWN = """/*---
name: own
version: 1
title: Own
summary: Number of kernels.
why: To test.
kind: sum
tags: [gpu]
reads: [kernel]
columns:
  - {name: n, type: int, unit: count, doc: "Number of kernels."}
limits: None.
---*/
SELECT count(*) AS n
FROM kernel
"""


def rows(nsq, *args):
    return json.loads(nsq("run", *args, "-f", "json"))["rows"]


@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_those_of_the_program(query, example, nsq):
    table = nq.open(example).run(query)
    wanted = rows(nsq, example, "-q", query)
    assert len(table) == len(wanted) > 0
    for own, other in zip(table, wanted):
        assert list(own) == list(other)
        assert own == other, query


def test_scopes_are_those_of_the_program(example, nsq):
    report = nq.open(example)
    for keywords, options in [
        (dict(iter="step 3"), ["--iter", "step", "3"]),
        (dict(iter=("step", 3)), ["--iter", "step", "3"]),
        (dict(iter="step 2..4"), ["--iter", "step", "2..4"]),
        (dict(iter=["step/1", "step/4"]), ["--iter", "step/1", "--iter", "step/4"]),
        (dict(nvtx="step*/3", attribute="process"), ["--nvtx", "step*/3", "--attribute", "process"]),
        (dict(time="10%/50%", device=1), ["--time", "10%/50%", "--device", "1"]),
        (dict(device=[0, 1], exclude="step*/0"), ["--device", "0,1", "--exclude", "step*/0"]),
    ]:
        own = report.run("gpu_time", **keywords).to_dicts()
        assert own == rows(nsq, example, "-q", "gpu_time", *options), keywords
    assert report.run("gpu_time", iter="step 3").to_dicts() != report.run("gpu_time").to_dicts()
    assert report.run("class_sum", classes="class_summary/llama2").to_dicts() == rows(
        nsq, example, "-q", "class_sum", "--classes", "class_summary/llama2"
    )


def test_parameters(example, nsq):
    report = nq.open(example)
    wanted = rows(nsq, example, "-q", "top_kernels", "-p", "limit=3", "-p", "name=short")
    assert report.run("top_kernels", limit=3, name="short").to_dicts() == wanted
    assert report.run("top_kernels", {"limit": 3, "name": "short"}).to_dicts() == wanted
    assert report.run("top_kernels@1", limit=3, name="short").to_dicts() == wanted
    flags = report.page("kernels", gaps=True, gap_top=2)
    assert len(flags["pairs"]) > 0


def test_values_of_statements(example):
    report = nq.open(example)
    statement = "SELECT :a AS a, :b AS b, :c AS c, :d AS d, :e AS e"
    values = dict(a=2**62, b=1.5, c="it's; -- x", d=None, e=True)
    assert report.sql(statement, values)[0] == {**values, "e": 1}
    with pytest.raises(nq.SqlError, match="no value"):
        report.sql("SELECT :a AS a")
    with pytest.raises(nq.UsageError, match="no parameter 'b'"):
        report.sql("SELECT :a AS a", {"a": 1, "b": 2})
    with pytest.raises(TypeError, match="list"):
        report.sql("SELECT :a AS a", {"a": []})
    with pytest.raises(OverflowError):
        report.sql("SELECT :a AS a", {"a": 2**64})


def test_errors_have_the_texts_of_the_program(example, nsq, tmp_path):
    report = nq.open(example)
    other = tmp_path / "not.sqlite"
    other.write_text("not a database")
    cases = [
        (nq.UnknownName, lambda: report.run("top_kernel"), ["run", example, "-q", "top_kernel"]),
        (nq.UnknownName, lambda: report.run("top_kernels", n=1), ["run", example, "-q", "top_kernels", "-p", "n=1"]),
        (nq.UsageError, lambda: report.run("gpu_time", device=9), ["run", example, "-q", "gpu_time", "--device", "9"]),
        (nq.UsageError, lambda: report.run("gpu_time", time="x"), ["run", example, "-q", "gpu_time", "--time", "x"]),
        (nq.LacksData, lambda: report.run("openmp_sum"), ["run", example, "-q", "openmp_sum"]),
        (nq.ReportError, lambda: nq.open(other), ["run", str(other), "-q", "gpu_time"]),
        (nq.ReportError, lambda: nq.open("absent.sqlite"), ["run", "absent.sqlite", "-q", "gpu_time"]),
    ]
    for kind, ask, args in cases:
        with pytest.raises(kind) as raised:
            ask()
        assert nsq(*args, fails=True).strip() == f"error: {raised.value}".strip()
        assert isinstance(raised.value, nq.Error) and raised.value.help
    for ask in [lambda: report.sql("DELETE FROM kernel"), lambda: report.sql("ATTACH 'x' AS y"), lambda: report.sql("")]:
        with pytest.raises(nq.Error):
            ask()
    with pytest.raises(nq.LimitReached):
        report.run("cuda_gpu_trace", max_rows=1)
    with pytest.raises(ValueError, match="attribute"):
        report.run("gpu_time", attribute="nothing")


def test_several_reports(example, tmp_path):
    for rank in [10, 2]:
        shutil.copy(example, tmp_path / f"rank{rank}.sqlite")
    paths = [str(tmp_path / name) for name in ["rank2.sqlite", "rank10.sqlite"]]
    for given in [str(tmp_path / "rank*.sqlite"), tmp_path, paths]:
        ranks = nq.open(given)
        assert ranks.paths == paths
        table = ranks.run("gpu_time")
        assert table["report"] == ["rank2.sqlite"] * 2 + ["rank10.sqlite"] * 2
        assert ranks.sql("SELECT count(*) AS n FROM kernel")["n"] == [1304, 1304]
    assert len(ranks.page("job").tables) > 3
    with pytest.raises(nq.UsageError, match="no report"):
        nq.open([])


def test_the_library(example, nsq):
    report = nq.open(example)
    assert str(report.describe("top_kernels")) == nsq("show", "top_kernels")
    assert nq.describe("kernel") == nsq("show", "kernel")
    answerable = report.queries()["name"]
    assert "top_kernels" in answerable and "openmp_sum" not in answerable
    assert "openmp_sum" in nq.queries()["name"]
    assert report.queries("kernel gaps")["name"][0] == nq.queries("kernel gaps")["name"][0]


def test_queries_of_ones_own(example, tmp_path):
    (tmp_path / "own.sql").write_text(OWN)
    report = nq.open(example, queries=tmp_path)
    assert report.run("own")["n"] == [1304]
    assert pickle.loads(pickle.dumps(report)).run("own")["n"] == [1304]


def test_diff_and_pages(example, nsq):
    page = nq.diff(example, example)
    assert page.text == nsq("diff", example, example)
    assert page["whole"]["verdict"][0] == "within noise"
    with pytest.raises(nq.UsageError, match="absent"):
        nq.diff(example, example, iter="absent")
    overview = nq.open(example).overview(iter="step/3")
    assert str(overview) == nsq("overview", example, "--iter", "step/3")
    assert "<iframe" in overview._repr_html_()
    with pytest.raises(KeyError, match="findings"):
        overview["nothing"]


def test_a_forked_child_can_ask(example):
    report = nq.open(example)
    wanted = report.run("gpu_time").to_dicts()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if report.run("gpu_time").to_dicts() == wanted else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert report.run("gpu_time").to_dicts() == wanted


def test_nothing_is_written_beside_a_report(example, tmp_path):
    copy = pathlib.Path(shutil.copy(example, tmp_path))
    before = copy.read_bytes()
    nq.open(copy).overview()
    assert [path.name for path in tmp_path.iterdir()] == [copy.name]
    assert copy.read_bytes() == before
