#!/usr/bin/env python3
"""Writes the reports that the book's examples open into a folder: `docs/samples.py FOLDER`.

  fixtures/             a link to the project's fixtures: example.sqlite, trace.json.gz
  NAME.sqlite           each trace in fixtures/traces: small invented reports, whose headers draw the timeline
  before.sqlite, after.sqlite   the pair in fixtures/diff
  base-1.sqlite to base-3.sqlite   three runs of the program in fixtures/example.sqlite
  new-1.sqlite to new-3.sqlite     three runs after its data loading was fixed
"""

import sqlite3
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
SCHEMA = "3.25.0"


def load(trace, target):
    """A trace as an export that has no empty tables, as nsys writes it."""
    target.unlink(missing_ok=True)
    report = sqlite3.connect(target, isolation_level=None)
    report.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    for script in (FIXTURES / "schema" / f"{SCHEMA}.sql", trace):
        report.executescript(script.read_text("utf-8"))
    for (table,) in report.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if not report.execute(f'SELECT EXISTS (SELECT * FROM "{table}")').fetchone()[0]:
            report.execute(f'DROP TABLE "{table}"')
    report.close()


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "fixtures"
    if not link.exists():
        link.symlink_to(FIXTURES)
    for trace in [*FIXTURES.glob("traces/*.sql"), *FIXTURES.glob("diff/*.sql")]:
        load(trace, folder / f"{trace.stem}.sqlite")
    for name, options in (("base", []), ("new", ["--prefetch"])):
        for run in ("1", "2", "3"):
            example = [sys.executable, FIXTURES / "make_example.py", folder / f"{name}-{run}.sqlite", "--run", run]
            subprocess.run(example + options, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
