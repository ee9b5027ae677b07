"""Threads, the GIL, Ctrl-C and time limits."""

import os
import shutil
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import nsys_query as nq
import pytest

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n"
QUERIES = ["gpu_time", "top_kernels", "nvtx_gpu_proj_sum", "stream_gaps", "iterations"]


def test_eight_threads_ask_one_report_and_eight(example, tmp_path):
    one = nq.open(example)
    wanted = [one.run(query).to_dicts() for query in QUERIES]
    copies = [nq.open(shutil.copy(example, tmp_path / f"{index}.sqlite")) for index in range(8)]
    for reports in [[one] * 8, copies]:
        with ThreadPoolExecutor(8) as pool:
            asked = pool.map(lambda report: [report.run(query).to_dicts() for query in QUERIES], reports * 3)
            assert all(answer == wanted for answer in asked)


def test_other_threads_run_while_a_question_is_asked(example):
    report = nq.open(example)
    steps, is_done = [], threading.Event()

    def count():
        while not is_done.is_set():
            steps.append(time.monotonic())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.monotonic()
    with pytest.raises(nq.LimitReached):
        report.sql(ENDLESS, timeout=0.5)
    end = time.monotonic()
    is_done.set()
    counter.join()
    assert sum(begin < step < end for step in steps) > 20


def test_ctrl_c_stops_a_question(example):
    report = nq.open(example)
    # A shell lets its background jobs ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            report.sql(ENDLESS, timeout=60)
    finally:
        signal.signal(signal.SIGINT, before)
    # The report goes on answering.
    assert len(report.run("gpu_time")) == 2


def test_a_handler_of_ones_own_stops_a_question(example):
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Stop):
            nq.open(example).sql(ENDLESS, timeout=60)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_time_limits(example):
    report = nq.open(example)
    with pytest.raises(nq.LimitReached, match="0.2 s"):
        report.sql(ENDLESS, timeout=0.2)
    for none in [None, float("inf"), 1e15]:
        assert len(report.run("gpu_time", timeout=none)) == 2
    for wrong in [-1, float("nan")]:
        with pytest.raises(ValueError, match="seconds"):
            report.run("gpu_time", timeout=wrong)
