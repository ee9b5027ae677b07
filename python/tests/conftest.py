"""Where the tests find things: the repository is the working directory, and NSQ names the program."""

import os
import pathlib
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
os.chdir(REPOSITORY)


@pytest.fixture
def example():
    return "fixtures/example.sqlite"


@pytest.fixture
def nsq():
    """Runs the program and returns its output, or with ``fails`` its errors."""

    def run(*args, fails=False):
        done = subprocess.run([os.environ["NSQ"], *args], capture_output=True, text=True)
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    return run
