"""Reports in object stores: the same rows as from files, and what faults of a store do. A small server on loopback
answers as S3 and as a plain HTTP server do.

    stores.py NSQ NSQ_FLEET [REPORTS]

If nsq-fleet is built with the feature `cluster` too, the executors fetch the reports as well.
"""

import contextlib
import csv
import http.server
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from cluster import Cluster
from job import job

NSQ, FLEET = sys.argv[1:3]
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 6
QUERY = "rank_balance"
KEY, SECRET = "nsq-test-key", "nsq-test-secret"


class Store(http.server.BaseHTTPRequestHandler):
    """The files below `root`, each at /NAME. `?list-type=2` lists them as S3 does."""

    protocol_version = "HTTP/1.1"
    root, breaks, slow, asked = pathlib.Path(), {}, 0.0, []

    def log_message(self, *_):
        pass

    def reply(self, code, body=b"", headers=(), sent=None):
        """Answers; `sent` is how much of the body, if the connection is to end before its end."""
        self.send_response(code)
        for name, value in [*headers, ("Content-Length", len(body))]:
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:sent])
        self.close_connection = self.close_connection or sent is not None

    def do_PROPFIND(self):
        self.reply(405)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        asked = urllib.parse.parse_qs(url.query)
        name = urllib.parse.unquote(url.path).lstrip("/")
        Store.asked.append((self.command, name))
        if "list-type" in asked:
            return self.list(name, asked.get("prefix", [""])[0])
        file = self.root / name
        if ".." in name or not file.is_file():
            return self.reply(404)
        body, code, about = file.read_bytes(), 200, file.stat()
        changed = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(about.st_mtime))
        headers = [("Last-Modified", changed), ("ETag", f'"{about.st_mtime_ns:x}"'), ("Accept-Ranges", "bytes")]
        if span := self.headers.get("Range"):
            first, _, last = span.removeprefix("bytes=").partition("-")
            first, last = int(first), int(last) if last else len(body) - 1
            headers.append(("Content-Range", f"bytes {first}-{last}/{len(body)}"))
            body, code = body[first : last + 1], 206
        sent = None
        if self.command == "GET":
            time.sleep(self.slow)
            if self.breaks.get(name, 0) > 0:
                self.breaks[name] -= 1
                sent = len(body) // 2
        return self.reply(code, body, headers, sent)

    def list(self, bucket, prefix):
        found = "".join(
            f"<Contents><Key>{path.relative_to(self.root / bucket).as_posix()}</Key><LastModified>2026-01-01T00:00:00.000Z"
            f'</LastModified><ETag>"1"</ETag><Size>{path.stat().st_size}</Size><StorageClass>STANDARD</StorageClass></Contents>'
            for path in sorted((self.root / bucket).rglob("*"))
            if path.is_file() and path.relative_to(self.root / bucket).as_posix().startswith(prefix)
        )
        count = found.count("<Key>")
        self.reply(200, f"""<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>{bucket}</Name><Prefix>{prefix}</Prefix>
<KeyCount>{count}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{found}</ListBucketResult>""".encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that was stopped ends its connection."""


@contextlib.contextmanager
def serving(root):
    Store.root = root
    server = Server(("127.0.0.1", 0), Store)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    os.environ |= {
        "AWS_ENDPOINT": url, "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
    }
    try:
        yield url
    finally:
        server.shutdown()


def run(program, reports, *more, query=QUERY):
    done = subprocess.run([program, "run", *map(str, reports), "--query", query, "--format", "csv", *map(str, more)],
                          capture_output=True, text=True, timeout=120)
    return done.returncode, list(csv.reader(io.StringIO(done.stdout))), done.stderr


def rows(program, reports, *more, query=QUERY):
    code, found, errors = run(program, reports, *more, query=query)
    assert code == 0 and len(found) > 1, (program, reports, code, errors)
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        bucket, scratch, local = folder / "traces", folder / "scratch", folder / "traces/my job"
        local.mkdir(parents=True), scratch.mkdir()
        job(local, COUNT)
        (bucket / "other").mkdir()
        (bucket / "other/secret.sqlite").write_bytes((local / "rank0000.sqlite").read_bytes())
        # No reports, or not the ones to read.
        (local / "config.json").write_text("{}"), (local / "rank0000.nsys-rep").write_text("not asked")
        names = [f"rank{rank:04}.sqlite" for rank in range(COUNT)]
        files = [local / name for name in names]
        left = lambda: [path.name for path in scratch.iterdir()]
        own = ["--scratch", scratch]
        with serving(folder) as server:
            below = lambda url, files=files: [[cell.replace(str(local), url) for cell in row] for row in rows(NSQ, files)]
            in_folder, job_url = ["s3://traces/my job"], "s3://traces/my%20job"
            expected = below(job_url)
            assert rows(FLEET, in_folder, *own) == expected and not left()
            assert rows(FLEET, [f"{job_url}/{name}" for name in names], *own) == expected and not left()
            by_http = f"{server}/traces/my%20job"
            assert rows(FLEET, [f"{by_http}/{name}" for name in names], *own) == below(by_http) and not left()
            assert not any(name.endswith(("config.json", ".nsys-rep")) for kind, name in Store.asked if kind == "GET")
            # Each report is named by its URL, and fetched once for a question of several queries.
            Store.asked.clear()
            of_each = rows(FLEET, in_folder, *own, query="top_kernels")
            assert {row[0] for row in of_each[1:]} == {f"{job_url}/{name}" for name in names}, of_each[:3]
            Store.asked.clear()
            rows(FLEET, in_folder, *own, query="stragglers")
            fetched = [name for kind, name in Store.asked if kind == "GET" and name.endswith(".sqlite")]
            assert sorted(fetched) == sorted(f"traces/my job/{name}" for name in names), fetched

            # What breaks off is continued.
            Store.breaks[f"traces/my job/{names[1]}"] = 2
            assert rows(FLEET, in_folder, *own) == expected and not left()
            assert Store.breaks[f"traces/my job/{names[1]}"] == 0
            # A report that is gone, and one that is none: named by URL, and the others answer.
            others = [path for path in files if path != files[2]]
            whole = files[2].read_bytes()
            for content in (None, b"no report" * 1000):
                files[2].unlink() if content is None else files[2].write_bytes(content)
                urls = [f"{job_url}/{name}" for name in names]
                code, found, errors = run(FLEET, urls, *own)
                assert code == 1 and found == below(job_url, others), (code, errors)
                assert urls[2] in errors and str(scratch) not in errors, errors
                assert SECRET not in errors and not left(), (errors, left())
            files[2].write_bytes(whole)
            for bad, said in [
                ("s3://traces/nothing", "no report lies there"),
                (f"{server}/traces/my%20job", "does not list"),
                ("s3://", "s3://"),
                (f"{by_http}/{names[0]}?X-Amz-Signature={SECRET}", "a query"),
                (by_http.replace("//", f"//me:{SECRET}@") + f"/{names[0]}", "credentials"),
            ]:
                code, found, errors = run(FLEET, [bad])
                assert code in (1, 2) and said in errors and not found and "help: " in errors, (bad, code, errors)
                assert SECRET not in errors, errors
            # A full disk, and Ctrl-C.
            limited = f"trap '' XFSZ; ulimit -f 1; exec '{FLEET}' run 's3://traces/my job' --query {QUERY} --scratch '{scratch}'"
            done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True)
            assert done.returncode == 1 and not done.stdout and "File too large" in done.stderr and not left(), done
            Store.slow = 30
            child = subprocess.Popen([FLEET, "run", *in_folder, "--query", QUERY, *map(str, own)], stderr=subprocess.PIPE,
                                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            started = time.time()
            while not any(scratch.glob("*/fetched-*")) and time.time() - started < 30:
                time.sleep(0.01)
            child.send_signal(signal.SIGINT)
            assert child.wait(timeout=10) == 130 and not left(), (child.returncode, child.stderr.read(), left())
            Store.slow = 0
            print(f"{len(expected) - 1} rows of {COUNT} reports in a store are the same, and faults leave nothing")

            if "--executor-timeout" not in subprocess.run([FLEET, "scheduler", "--help"], capture_output=True, text=True).stdout:
                print("skipped: executors that fetch, because this nsq-fleet is built without the feature cluster")
                return
            cluster = Cluster(FLEET, ["s3://traces/my job"], executors=2)
            try:
                far = ["--cluster", cluster.url]
                assert rows(FLEET, in_folder, *far) == expected
                for outside in [
                    "s3://traces/other/secret.sqlite", "s3://other/my%20job/rank0000.sqlite", f"{server}/traces/other/secret.sqlite",
                    "s3://traces/my%20job/%2e%2e%2fother/secret.sqlite", "s3://traces/my%20job/..%2fother/secret.sqlite",
                    "s3://traces/my%20jobs/rank0000.sqlite", str(files[0]),
                ]:
                    code, found, errors = run(FLEET, [outside], *far)
                    assert code == 1 and not found and "outside of the folders" in errors, (outside, code, errors)
            finally:
                left_over = cluster.stop()
            assert not left_over, left_over
            print("executors fetch what lies below their roots, and nothing else")


main()
