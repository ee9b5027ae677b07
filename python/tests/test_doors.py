"""The program, the package and the MCP server answer alike: rows, notes and failures.

The Rust library, which the package and the server ask, is compared with the program in ``tests/suite/one_door.rs``.
"""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess

import nsys_query as nq
import pytest


@pytest.fixture
def damaged(tmp_path, example):
    """A report that opens, and fails when its kernels are read."""
    path = tmp_path / "damaged.sqlite"
    shutil.copy(example, path)
    path.chmod(0o600)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 'late'")
    connection.close()
    return str(path)


@pytest.fixture
def server(example):
    """Asks a tool of the MCP server, and returns its text and whether that is an error."""
    program = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"), "debug/nsq-mcp")
    if not program.exists():
        pytest.skip(f"{program} is not built")
    process = subprocess.Popen(
        [program, "--root", os.path.dirname(os.path.abspath(example))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )

    def send(**message):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()

    def ask(method, params):
        send(id=1, method=method, params=params)
        while True:
            answer = json.loads(process.stdout.readline())
            if answer.get("id") == 1:
                return answer["result"]

    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doors", "version": "1"}}
    ask("initialize", about)
    send(method="notifications/initialized")

    def tool(name, **arguments):
        result = ask("tools/call", {"name": name, "arguments": {"report": os.path.basename(example), **arguments}})
        return result["content"][0]["text"], bool(result.get("isError"))

    yield tool
    process.kill()
    process.wait()


def program(*words):
    """Rows, notes and errors of the program."""
    def run(*more):
        return subprocess.run([os.environ["NSQ"], *words, *more], capture_output=True, text=True)

    out, said = run("-f", "json").stdout, run().stderr.splitlines()
    results = json.loads(out) if out else []
    # One result is an object, several are a list.
    results = results if isinstance(results, list) else [results]
    rows = [list(row.values()) for result in results for row in result["rows"]]
    begin = lambda start: [line[len(start):] for line in said if line.startswith(start)]  # noqa: E731
    return rows, begin("note: "), begin("error: ")


def package(ask):
    """The same, of the package."""
    try:
        table = ask()
    except nq.Error as error:
        return [], [], [str(error).splitlines()[0]]
    return [list(row.values()) for row in table], table.notes, [failure.message.splitlines()[0] for failure in table.failures]


# Words of the program; query, parameters and scope of the package and the server; the number of notes and of failures.
QUESTIONS = [
    (["-q", "top_kernels", "-p", "limit=3"], ("top_kernels", {"limit": 3}, {}), 0, 0),
    (["-q", "top_kernels", "-p", "limit=0"], ("top_kernels", {"limit": 0}, {}), 1, 0),
    (["-q", "nvtx_sum", "--device", "0"], ("nvtx_sum", {}, {"device": [0]}), 1, 0),
    (["-q", "top_kernels", "--time", "90s/"], ("top_kernels", {}, {"time": "90s/"}), 1, 0),
    (["-q", "top_kernels", "--device", "9"], ("top_kernels", {}, {"device": [9]}), 0, 1),
    (["-q", "top_kernels", "-p", "limit=3", "--gpu", "1"], ("top_kernels", {"limit": 3}, {"gpu": [1]}), 0, 0),
    (["-q", "top_kernels", "--gpu", "9"], ("top_kernels", {}, {"gpu": [9]}), 0, 1),
    (["-q", "top_kernels", "--nvtx", "nowhere"], ("top_kernels", {}, {"nvtx": ["nowhere"]}), None, None),
    (["-q", "mpi_event_sum"], ("mpi_event_sum", {}, {}), 0, 1),
    (["-q", "topkernels"], ("topkernels", {}, {}), 0, 1),
    (["-q", "top_kernels", "-p", "limit=many"], ("top_kernels", {"limit": "many"}, {}), 0, 1),
    (["-q", "top_kernels", "-p", "most=3"], ("top_kernels", {"most": 3}, {}), 0, 1),
]


@pytest.mark.parametrize(("words", "asked", "notes", "failures"), QUESTIONS)
def test_one_report(example, server, words, asked, notes, failures):
    query, params, scope = asked
    rows, noted, failed = program("run", example, *words)
    assert notes is None or (len(noted), len(failed)) == (notes, failures)
    assert package(lambda: nq.open(example).run(query, params, **scope)) == (rows, noted, failed)
    scope = {name + "s" if name in ("gpu", "device") else name: value for name, value in scope.items()}
    text, is_error = server("run_query", query=query, params=params, limit=1000, scope=scope)
    assert is_error == bool(failed), text
    if is_error:
        # The server says what to do with its tools instead of options.
        return
    answer = json.loads(text)
    assert len(answer["rows"]) == len(rows)
    assert len(answer.get("notes", [])) == len(noted), (answer.get("notes"), noted)


def test_reports_of_which_one_fails(example, damaged):
    rows, noted, failed = program("run", example, damaged, "-q", "top_kernels", "-p", "limit=3")
    names = [os.path.basename(path) for path in (example, damaged)]
    rows = [[os.path.basename(report), *cells] for report, *cells in rows]
    got, notes, failures = package(lambda: nq.open([example, damaged]).run("top_kernels", {"limit": 3}))
    assert (got, failures) == (rows, failed)
    assert {row[0] for row in got} == {names[0]} and len(failed) == 1 and notes == []
    assert any("1 of 2 reports failed" in note for note in noted)


def test_pages(example, damaged):
    whole = nq.open(example).page("overview", device=[0])
    _, noted, failed = program("page", "overview", example, "--device", "0")
    assert whole.notes == noted and len(noted) > 0 and not failed and not whole.failures
    job = nq.open([example, damaged]).page("job")
    _, _, failed = program("page", "job", example, damaged)
    assert [failure.message.splitlines()[0] for failure in job.failures] == failed and len(failed) == 1
