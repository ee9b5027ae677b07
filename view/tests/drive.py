"""Drives `nsq timeline` in a terminal: drive.py NSQ REPORT.

Each key changes what is on the screen, `q` ends the program with 0, and the terminal is as before. Without a terminal, text
is printed.
"""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

NSQ, REPORT = sys.argv[1:]
ENTER_SCREEN, LEAVE_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"


def read(terminal, until, seconds=60):
    """What is written up to some bytes."""
    seen, end = b"", time.monotonic() + seconds
    while until not in seen:
        assert time.monotonic() < end, (until, seen[-2000:])
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(terminal, 1 << 16)
            except OSError:
                break
    assert until in seen, (until, seen[-2000:])
    return seen


def open_terminal():
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    return terminal, inside


def press_keys(terminal, child):
    first = read(terminal, b"? keys")
    assert ENTER_SCREEN in first and "stream 7".encode() in first
    # Only cells that change are written: a word that stays is not seen again.
    for keys, shown in [
        (b"?", b"Keys"),
        (b"x", b"NVTX"),
        (b"/no such name\r", b"nothing found"),
        (b"\x1b", b"steps"),
        (b"/allreduce\r", b"Names"),
        (b"\r", b"launched"),
        (b"m", b"measured"),
        (b"f", b"Findings"),
    ]:
        # An escape alone is told from the start of a key by what does not follow.
        time.sleep(0.3)
        os.write(terminal, keys)
        read(terminal, shown)
    os.write(terminal, b"q")
    time.sleep(0.3)
    os.write(terminal, b"q")
    rest = read(terminal, LEAVE_SCREEN)
    assert child.wait(timeout=20) == 0, (child.returncode, child.stderr.read(), rest)


def main():
    terminal, inside = open_terminal()
    before = termios.tcgetattr(inside)
    environment = os.environ | {"TERM": "xterm-256color"}
    child = subprocess.Popen([NSQ, "timeline", REPORT], stdin=inside, stdout=inside, stderr=subprocess.PIPE, env=environment)
    try:
        press_keys(terminal, child)
    finally:
        child.kill()
    assert termios.tcgetattr(inside)[:4] == before[:4], "the terminal has other modes than before"

    # A terminal that is closed ends the program.
    terminal, inside = open_terminal()
    child = subprocess.Popen([NSQ, "timeline", REPORT], stdin=inside, stdout=inside, stderr=subprocess.DEVNULL, env=environment)
    os.close(inside)
    read(terminal, b"? keys")
    os.close(terminal)
    try:
        child.wait(timeout=20)
    finally:
        child.kill()

    piped = subprocess.run([NSQ, "timeline", REPORT], capture_output=True, stdin=subprocess.DEVNULL)
    assert piped.returncode == 0 and b"slices on" in piped.stdout and ENTER_SCREEN not in piped.stdout
    print("keys change the screen, and the terminal is left as it was")


main()
