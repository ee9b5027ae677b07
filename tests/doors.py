#!/usr/bin/env python3
"""Asks every query, and a statement with a look-up for each row, through every door, of reports padded above 16 MiB.

    target/python-venv/bin/python tests/doors.py REPORT…

The answer of `nsq run` to the report as it is must be that of the program, the Python package, the MCP server and the
fleet engine to the padded copy. Rows and exit codes are compared; the table that is printed counts the outcomes. The
Rust library is the door of the Python package. NSQ_DOORS_QUERIES names some queries instead of all. Needs
the programs of a `cargo build --workspace`, and the wheel.
"""

import collections
import concurrent.futures
import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import nsys_query as nq

BIN = pathlib.Path(__file__).parents[1] / os.environ.get("CARGO_TARGET_DIR", "target") / "debug"
STATEMENT = ("SELECT start_ns, (SELECT count(*) FROM memset WHERE memset.start_ns < cuda_call.start_ns) AS n "
             "FROM cuda_call ORDER BY start_ns, call_id LIMIT 2000")
# They tell facts of the file itself, such as its size.
OF_THE_FILE = {"report_info"}


def program(*words):
    done = subprocess.run([str(BIN / words[0]), *map(str, words[1:])], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def rows_of(document):
    return [list(row.values()) for row in json.loads(document)["rows"]]


def by_program(report, query):
    words = ["sql", report, STATEMENT] if query == "sql" else ["run", report, "-q", query]
    code, out, error = program("nsq", *words, "-f", "json")
    return code, rows_of(out) if code == 0 else error


def by_fleet(report, query):
    code, out, error = program("nsq-fleet", "run", report, "-q", query, "-f", "json")
    return code, rows_of(out) if code == 0 else error


def by_python(report, query):
    try:
        table = report.sql(STATEMENT) if query == "sql" else report.run(query)
        return 0, [list(row.values()) for row in table]
    except nq.Error as error:
        codes = {nq.LacksData: 3, nq.UsageError: 2}
        return codes.get(type(error), 1), str(error)


class Server:
    def __init__(self, root):
        command = [str(BIN / "nsq"), "mcp", "--root", str(root)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doors", "version": "1"}}
        self.id = 0
        self.ask("initialize", about)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.id:
                return answer["result"]

    def rows(self, report, query):
        tool, what = ("run_sql", {"sql": STATEMENT}) if query == "sql" else ("run_query", {"query": query})
        rows = []
        while True:
            arguments = {"report": report.name, **what, "limit": 1000, "offset": len(rows), "whole_text": True}
            result = self.ask("tools/call", {"name": tool, "arguments": arguments})
            text = result["content"][0]["text"]
            if result.get("isError"):
                return 3 if " needs " in text and " has none" in text else 1, text
            answer = json.loads(text)
            rows += answer["rows"]
            if "next_offset" not in answer:
                return 0, rows


def same(a, b, door):
    """Whether the rows `a` of the program are those of a door."""
    if door == "fleet" and a and b and len(b[0]) == len(a[0]) + 1:
        # The rows of each report begin with its name.
        b = [row[1:] for row in b]
    if door == "mcp":
        # It asks queries for more rows than they show by themselves.
        b = b[:len(a)]

    def cell(a, b):
        if door == "mcp" and isinstance(a, str):
            # It writes control characters out, and cuts long texts.
            return isinstance(b, str)
        if isinstance(a, float) or isinstance(b, float):
            # MCP rounds.
            tolerance = {"rel_tol": 1e-4, "abs_tol": 0.01} if door == "mcp" else {"rel_tol": 1e-9}
            return a is not None and b is not None and math.isclose(a, b, **tolerance)
        return a == b
    return len(a) == len(b) and all(len(x) == len(y) and all(map(cell, x, y)) for x, y in zip(a, b))


def main(reports):
    queries = [line.split(",")[1] for line in program("nsq", "list", "--all", "-f", "csv", "--no-header")[1].splitlines()]
    queries = os.environ.get("NSQ_DOORS_QUERIES", "").split() or queries
    outcomes, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for original in map(pathlib.Path, reports):
            padded = pathlib.Path(folder) / original.name
            shutil.copy(original, padded)
            padded.chmod(0o600)
            with sqlite3.connect(padded) as connection:
                connection.execute("CREATE TABLE padding (bytes)")
                connection.execute("INSERT INTO padding VALUES (zeroblob(17 << 20))")
            connection.close()
            server, opened = Server(folder), nq.open(padded)

            def ask(query):
                return query, {
                    "nsq run": by_program(padded, query),
                    **({} if query == "sql" else {"fleet": by_fleet(padded, query)}),
                }, by_program(original, query)

            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                asked = list(pool.map(ask, [*queries, "sql"]))
            for query, doors, (code, wanted) in asked:
                doors["python"] = by_python(opened, query)
                doors["mcp"] = server.rows(padded, query)
                for door, (got, rows) in doors.items():
                    if "cannot run on DataFusion" in str(rows):
                        outcomes[door, "is refused with advice"] += 1
                        continue
                    # MCP tells errors by text.
                    is_same = got == code if door != "mcp" else (got == 0) == (code == 0)
                    if code == 0 and got == 0 and query not in OF_THE_FILE:
                        is_same &= same(wanted, rows, door)
                    outcomes[door, code if is_same else "differs"] += 1
                    if not is_same or "ROLLBACK" in str(rows):
                        differences += 1
                        print(f"{original.name} {query} {door}: {got} instead of {code}: {str(rows)[:300]}")
            server.process.kill()
    for (door, code), count in sorted(outcomes.items(), key=str):
        print(f"{door:8} exit code {code}: {count}")
    print(f"{len(reports)} reports, {len(queries)} queries and a statement, {differences} differ")
    return 1 if differences else 0


sys.exit(main(sys.argv[1:]))
