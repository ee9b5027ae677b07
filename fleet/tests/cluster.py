"""A scheduler and executors on loopback, each a process."""

import contextlib
import pathlib
import signal
import subprocess
import tempfile
import time


class Cluster:
    """Executors that read the roots and keep what reports contribute in a scratch folder each."""

    def __init__(self, fleet, roots, executors=3, jobs=1, scratch=None, more=(), timeout=20):
        self.fleet, self.roots, self.jobs, self.more = str(fleet), [str(root) for root in roots], jobs, list(more)
        self.folder = tempfile.TemporaryDirectory()
        self.scratch = pathlib.Path(scratch or self.folder.name)
        self.scheduler = self.start("scheduler", "--port", "0", "--executor-timeout", timeout)
        self.port = int(self.scheduler.said.rsplit(":", 1)[1])
        self.url = f"df://127.0.0.1:{self.port}"
        self.executors = []
        for _ in range(executors):
            self.add()

    def start(self, *words):
        log = open(pathlib.Path(self.folder.name) / f"log-{words[0]}-{time.time_ns()}", "w")
        process = subprocess.Popen([self.fleet, *map(str, words)], stdout=subprocess.PIPE, stderr=log, text=True)
        process.log = log.name
        process.said = process.stdout.readline().strip()
        assert process.said.startswith("nsq fleet"), (words, pathlib.Path(log.name).read_text())
        return process

    def add(self, roots=None):
        own = self.scratch / f"executor{len(self.executors)}"
        own.mkdir(exist_ok=True)
        words = [word for root in roots or self.roots for word in ("--root", root)]
        words += ["--scheduler", f"127.0.0.1:{self.port}", "--jobs", self.jobs, "--scratch", own]
        executor = self.start("executor", *words, *self.more)
        executor.scratch = own
        self.executors.append(executor)
        return executor

    def logs(self):
        """The last lines that each part has logged."""
        parts = [self.scheduler, *self.executors]
        return "\n".join(pathlib.Path(part.log).read_text()[-3000:] for part in parts)

    def stop(self):
        """Ends all parts as Ctrl-C does. Returns what the scratch folders still hold."""
        for part in [*self.executors, self.scheduler]:
            with contextlib.suppress(ProcessLookupError):
                part.send_signal(signal.SIGINT)
        for part in [*self.executors, self.scheduler]:
            part.wait(timeout=30)
        left = [path for executor in self.executors for path in executor.scratch.rglob("*")]
        self.folder.cleanup()
        return left
