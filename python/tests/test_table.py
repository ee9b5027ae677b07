"""Tables, as Python and as other libraries read them."""

import gc
import html

import duckdb
import nsys_query as nq
import pandas
import polars
import pyarrow
import pytest

MIXED = """
SELECT column1 AS whole_or_real, column2 AS number_or_text, column3 AS mean_ns, column4 AS none, column5 AS some
FROM (VALUES (1, 1, 2, NULL, NULL), (2.5, 'a', 3, NULL, 9007199254740993), (NULL, 2.5, 3.5, NULL, 3))
"""


@pytest.fixture
def report(example):
    return nq.open(example)


def test_rows_and_columns(report):
    table = report.run("top_kernels", limit=3)
    assert (len(table), table.query, table.title) == (3, "top_kernels@1", "Kernels by GPU time")
    assert table[0] == table[-3] == next(iter(table)) == table.to_dicts()[0]
    assert table[1:] == table.to_dicts()[1:]
    assert [row["calls"] for row in table] == table["calls"]
    calls = next(column for column in table.columns if column.name == "calls")
    assert (calls.type, calls.unit) == ("int", "count") and calls.doc.startswith("Number of")
    with pytest.raises(IndexError, match="there are 3"):
        table[3]
    with pytest.raises(KeyError, match="total_ns"):
        table["total"]


def test_no_rows(report):
    table = report.run("top_kernels", limit=0)
    assert len(table) == 0 and list(table) == [] and table["calls"] == []
    frame = polars.DataFrame(table)
    assert frame.schema["calls"] == polars.Int64 and frame.schema["kernel_name"] == polars.String
    nothing = report.run("api_errors", device=0)
    assert isinstance(repr(nothing), str)


def test_types_hold_all_values(report):
    table = report.sql(MIXED)
    assert table["whole_or_real"] == [1.0, 2.5, None]
    assert table["number_or_text"] == ["1", "a", "2.5"]
    assert table["mean_ns"] == [2.0, 3.0, 3.5]
    assert table["none"] == [None] * 3
    # 2^53 + 1 has no float64.
    assert table["some"] == [None, 9007199254740993, 3]
    assert pyarrow.table(table).to_pydict() == {name: table[name] for name in pyarrow.table(table).column_names}
    assert polars.DataFrame(table).to_dict(as_series=False)["some"] == table["some"]
    assert table.to_pandas()["some"].tolist()[1:] == table["some"][1:]


def test_batches_join(report):
    """A value that changes the type of a column after whole batches of other values."""
    rows = 200_000
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) "
    for last, wanted in [("0.5", 0.5), ("'x'", "x"), ("NULL", None), ("7", 7)]:
        table = report.sql(numbers + f"SELECT iif(i = {rows}, {last}, i) AS value FROM n ORDER BY i")
        kind = str if wanted == "x" else float if wanted == 0.5 else int
        assert table["value"][: rows - 1] == [kind(i) for i in range(1, rows)]
        assert table["value"][-1] == table[-1]["value"] == wanted
        assert polars.DataFrame(table)["value"].to_list() == table["value"]


def test_libraries_read_it(report):
    table = trace = report.run("cuda_gpu_trace")
    total = sum(table["dur_ns"])
    assert pyarrow.table(table).column("dur_ns").to_pylist() == table["dur_ns"]
    assert polars.DataFrame(table)["dur_ns"].sum() == total
    assert table.to_polars().equals(polars.DataFrame(table))
    assert duckdb.sql("SELECT sum(dur_ns), count(*) FROM trace").fetchall() == [(total, len(trace))]
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and int(frame["dur_ns"].sum()) == total
    for column in table.columns:
        own = table[column.name]
        assert [None if pandas.isna(value) else value for value in frame[column.name]] == own, column.name
    field = pyarrow.table(table).schema.field("dur_ns")
    assert field.metadata[b"unit"] == b"ns" and field.metadata[b"type"] == b"duration" and field.metadata[b"doc"]


def test_shared_memory_outlives_the_table(report):
    table = report.run("cuda_gpu_trace")
    wanted = table["dur_ns"]
    arrow, again = pyarrow.table(table), pyarrow.table(table)
    address = arrow.column("dur_ns").chunk(0).buffers()[1].address
    # No copy: both have the same memory.
    assert again.column("dur_ns").chunk(0).buffers()[1].address == address
    del table, again
    gc.collect()
    assert arrow.column("dur_ns").to_pylist() == wanted
    assert pyarrow.schema(report.run("gpu_time")).field("busy_ns").type == pyarrow.int64()


def test_people_read_it(report):
    table = report.run("cuda_gpu_trace")
    assert repr(table).endswith(f"… {len(table) - 20:,} more rows")
    assert "--wide" not in repr(table) and "not shown: " in repr(table)
    assert table._repr_html_().count("<tr>") == 51
    hostile = report.sql("SELECT '<script>alert(1)</script>' AS name, '\x1b[31mred' AS code")
    assert "<script>" not in hostile._repr_html_() and "\x1b" not in repr(hostile)
    assert "<script>alert(1)</script>" in html.unescape(hostile._repr_html_())
