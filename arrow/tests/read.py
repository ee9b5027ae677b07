"""The files of nsq-arrow, as DuckDB, Polars, pyarrow and PySpark read them: rows, sums and types equal those of nsq.

    read.py NSQ REPORT...

PySpark needs Java, and is left out, aloud, where one of them is missing.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import duckdb
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

NSQ = sys.argv[1]
REPORTS = sys.argv[2:]
QUERIES = ["top_kernels", "cuda_gpu_trace", "cuda_api_sum", "gpu_time", "nvtx_sum", "ranks"]
TYPES = {"text": "string", "real": "double", "percent": "double", "bool": "bool"}


def nsq(*words, code=0):
    done = subprocess.run([NSQ, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done


def spark_session():
    """PySpark on this machine, or nothing."""
    try:
        from pyspark.sql import SparkSession

        made = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        session = made.config("spark.sql.execution.arrow.pyspark.enabled", "true").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        return session
    except Exception as error:
        print(f"skipped: PySpark, because it does not start here: {str(error).splitlines()[0][:100]}")
        return None


SPARK = spark_session()


def readers(stem):
    """The table by every reader, as a list of rows each."""
    parquet, arrow, arrows = (stem.with_suffix(f".{kind}") for kind in ("parquet", "arrow", "arrows"))
    if SPARK:
        yield SPARK.read.parquet(str(parquet)).toArrow()
    yield pyarrow.parquet.read_table(parquet)
    yield duckdb.connect().sql(f"SELECT * FROM read_parquet('{parquet}')").to_arrow_table()
    yield polars.read_parquet(parquet).to_arrow()
    yield pyarrow.feather.read_table(arrow)
    yield polars.read_ipc(arrow).to_arrow()
    with pyarrow.ipc.open_stream(arrows) as stream:
        yield stream.read_all()


def same(expected, table, columns):
    names = [column["name"] for column in columns]
    assert table.column_names == names
    rows = [dict(zip(names, row)) for row in zip(*(column.to_pylist() for column in table.columns))] if table.num_rows else []
    assert len(rows) == len(expected), (len(rows), len(expected))
    kinds = {column["name"]: column["type"] for column in columns}
    for want, row in zip(expected, rows):
        for name in names:
            value = int(row[name]) if isinstance(row[name], bool) else row[name]
            assert value == want[name] or kinds[name] == "any" and str(value) == str(want[name]), (name, value, want)


def check_query(folder, words):
    document = json.loads(nsq(*words, "--format", "json").stdout)
    stem = folder / "rows"
    for kind in ("parquet", "arrow", "arrows"):
        nsq(*words, "-o", stem.with_suffix(f".{kind}"))
    for table in readers(stem):
        same(document["rows"], table, document["columns"])
    schema = pyarrow.parquet.read_schema(stem.with_suffix(".parquet"))
    facts = {key.decode(): text.decode() for key, text in schema.metadata.items()}
    if "query" in document:
        assert facts["query"] == f"{document['query']}@{document['version']}", facts
        assert len(facts["statement_sha256"]) == 64
    for field, column in zip(schema, document["columns"]):
        about = {key.decode(): text.decode() for key, text in field.metadata.items()}
        assert (about["type"], about.get("unit"), about.get("doc", "")) == (
            column["type"],
            column.get("unit"),
            column.get("doc", ""),
        ), about
        fits = TYPES.get(column["type"], "int64")
        assert column["type"] == "any" or str(field.type) in (fits, "double"), (field, column)
    return len(document["rows"])


def check_types(folder):
    """Values that fit no one type, over the border of a batch."""
    words = ["sql", REPORTS[0], """
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
        SELECT i, CASE i WHEN 70000 THEN 0.5 ELSE i END AS real_later, CASE i WHEN 140000 THEN 'a' ELSE i END AS text_later,
               NULL AS none, CASE WHEN i > 100000 THEN 9007199254740993 END AS late FROM n"""]
    for kind in ("parquet", "arrow", "arrows"):
        nsq(*words, "-o", folder / f"rows.{kind}")
    for table in readers(folder / "rows"):
        assert table.num_rows == 150001
        kinds = [str(kind).replace("large_", "").replace("string_view", "string") for kind in table.schema.types]
        assert kinds[:3] == ["int64", "double", "string"] and kinds[4] == "int64", kinds
        assert sum(table["i"].to_pylist()) == 150000 * 150001 // 2
        assert table["real_later"][70000].as_py() == 0.5 and table["text_later"][140000].as_py() == "a"
        assert table["text_later"][3].as_py() == "3" and table["late"][100001].as_py() == 9007199254740993
        assert table["none"].null_count == 150001 and table["late"].null_count == 100001
    assert pyarrow.parquet.ParquetFile(folder / "rows.parquet").num_row_groups == 3


def check_whole_or_not(folder):
    """What fails leaves nothing."""
    before = sorted(folder.iterdir())
    nsq("sql", REPORTS[0], "SELECT abs(-9223372036854775807 - 1)", "-o", folder / "none.parquet", code=1)
    nsq("run", REPORTS[0], "--query", "top_kernels", "--query", "gpu_time", "-o", folder / "none.parquet", code=2)
    assert sorted(folder.iterdir()) == before


def check_dataset(folder):
    dataset, plain = folder / "dataset", folder / "plain.sqlite"
    note = nsq("materialize", *REPORTS, "--job", "a/b", "--parquet", dataset).stderr
    nsq("materialize", *REPORTS, "--parquet", dataset, code=2)
    assert (dataset / "views.sql").read_text().count("CREATE OR REPLACE VIEW") > 10
    relations = sorted(path.name for path in dataset.iterdir() if path.is_dir())
    assert f"{len(relations)} relations of {len(REPORTS)} reports" in note, note
    rows = 0
    for place, report in enumerate(REPORTS):
        nsq("materialize", report, "-o", plain, "--force")
        sqlite = duckdb.connect()
        import sqlite3

        database = sqlite3.connect(plain)
        for (name,) in database.execute("SELECT DISTINCT relation FROM nsq_column"):
            columns = database.execute("SELECT name, type FROM nsq_column WHERE relation = ?", [name]).fetchall()
            number = [column for column, kind in columns if kind not in ("text", "bool", "percent", "real")]
            sums = ", ".join(f"coalesce(sum({column}), 0)" for column in number)
            select = f"SELECT count(*){', ' if sums else ''}{sums}"
            part = next(dataset.glob(f"{name}/job=*/rank={place}/part.parquet"))
            want = database.execute(f"{select.replace('sum(', 'total(')} FROM {name}").fetchone()
            got = sqlite.execute(f"{select} FROM read_parquet('{part}', hive_partitioning = false)").fetchone()
            assert all(abs(a - b) <= 1e-9 * abs(a) for a, b in zip(want, got)), (report, name, want, got)
            rows += want[0]
    counted = pyarrow.dataset.dataset(dataset / "gpu", partitioning="hive").to_table().to_pylist()
    assert {row["job"] for row in counted} == {"a/b"} and {row["rank"] for row in counted} <= set(range(len(REPORTS)))
    by_rank = duckdb.connect().execute(
        f"SELECT rank, job, count(*) FROM read_parquet('{dataset}/gpu/*/*/*.parquet', hive_partitioning = true) GROUP BY ALL"
    ).fetchall()
    assert by_rank and all(job == "a/b" for _, job, _ in by_rank), by_rank
    if SPARK:
        found = SPARK.read.parquet(str(dataset / "gpu")).groupBy("rank", "job").count().collect()
        assert sorted(map(tuple, found)) == sorted(by_rank), (found, by_rank)
    return len(relations), rows


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = 0
        for report in REPORTS:
            for query in QUERIES:
                if subprocess.run([NSQ, "run", report, "--query", query, "--format", "csv"], capture_output=True).returncode == 0:
                    rows += check_query(folder, ["run", report, "--query", query])
        if len(REPORTS) > 1:
            rows += check_query(folder, ["run", *REPORTS, "--query", "gpu_time"])
        assert rows > 0
        check_types(folder)
        check_whole_or_not(folder)
        relations, stored = check_dataset(folder)
        print(f"{rows} rows of queries and {stored} of {relations} relations are the same in all readers")


main()
