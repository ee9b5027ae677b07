"""Runs the sessions of the book's chapter on SQLite tools, and compares what they print.

sessions.py NSQ EXTENSION FOLDER: FOLDER is where the tests may write. NSQ_BLESS=1 writes the chapter anew.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

_, EXTENSION, FOLDER = sys.argv[1:4]
CHAPTER = pathlib.Path("docs/src/sqlite.md")
PROMPT = "sqlite> "
END = "the end of an answer"


def shell(block):
    """A transcript of the shell, with what it prints now."""
    command, *lines = block.split("\n")
    inputs = [line[len(PROMPT) :] for line in lines if line.startswith(PROMPT)]
    # What the chapter calls nsq lies where it was built.
    script = "".join(f"{line.replace('.load nsq', f'.load {EXTENSION}')}\n.print {END}\n" for line in inputs)
    ran = subprocess.run([*command.split()[1:], "-batch"], input=script, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and not ran.stderr, f"{command}: {ran.stderr}"
    answers = ran.stdout.split(f"{END}\n")
    return "\n".join([command, *(f"{PROMPT}{line}\n{answer}".rstrip("\n") for line, answer in zip(inputs, answers))])


def python(code):
    """What a program prints, with a Python that loads extensions; None where there is none."""
    folder = pathlib.Path(FOLDER, "modules")
    folder.mkdir(exist_ok=True)
    (folder / "nsys_query.py").write_text(f"def extension_path():\n    return {EXTENSION!r}\n", encoding="utf-8")
    for program in ["python3", "/usr/bin/python3"]:
        able = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
        if shutil.which(program) and not subprocess.run([program, "-c", able], capture_output=True, check=False).returncode:
            environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
            ran = subprocess.run([program, "-c", code], capture_output=True, text=True, env=environment, check=False)
            assert ran.returncode == 0, ran.stderr
            return ran.stdout.rstrip("\n")
    return None


def main():
    text = CHAPTER.read_text(encoding="utf-8")
    count = 0

    def session(found):
        nonlocal count
        count += 1
        return f"```text\n{shell(found[1])}\n```"

    def program(found):
        nonlocal count
        printed = python(found[1])
        if printed is None:
            print("skipped: no Python here loads extensions")
            return found[0]
        count += 1
        return f"```python\n{found[1]}\n```\n\n```text\n{printed}\n```"

    printed = text
    if shutil.which("sqlite3"):
        printed = re.sub(r"```text\n(\$ sqlite3 .*?)\n```", session, printed, flags=re.DOTALL)
    else:
        print("skipped: no sqlite3 shell here")
    printed = re.sub(r"```python\n(.*?)\n```\n\n```text\n.*?\n```", program, printed, flags=re.DOTALL)
    if os.environ.get("NSQ_BLESS"):
        CHAPTER.write_text(printed, encoding="utf-8")
        text = printed
    for shows, prints in zip(text.split("\n"), printed.split("\n")):
        assert shows == prints, f"{CHAPTER}:\n  shows  {shows}\n  prints {prints}\nNSQ_BLESS=1 sqlite/check.sh writes it anew"
    assert len(text) == len(printed)
    print(f"{count} sessions print what {CHAPTER} shows")


main()
