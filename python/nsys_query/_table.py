"""Answers: tables of documented columns, and pages of several tables."""

from __future__ import annotations

import difflib
import html
import os
import shutil
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

from . import _native
from ._errors import UsageError

# The tables of nsq's HTML pages, inside a notebook.
_STYLE = """<style>
.nsq { --line: color-mix(in srgb, currentColor 18%, transparent); font: 14px/1.45 system-ui, sans-serif; }
.nsq h2 { font-size: 1.1em; margin: .4em 0 .2em; }
.nsq p { opacity: .7; margin: .2em 0; }
.nsq .scroll { overflow-x: auto; }
.nsq table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.nsq th, .nsq td { padding: .2em .7em; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
.nsq td:not(.n) { white-space: normal; overflow-wrap: anywhere; min-width: 12em; }
.nsq .n { text-align: right; }
.nsq th[title] { cursor: help; }
</style>"""


class Column(NamedTuple):
    """A column of a :class:`Table`."""

    name: str
    """Its name, which ends in the unit, as in ``total_ns``."""
    type: str
    """``int``, ``real``, ``text``, ``bool``, ``timestamp``, ``duration``, ``bytes``, ``percent``, ``id`` or ``any``."""
    unit: Optional[str]
    """The unit of its values, such as ``ns`` or ``bytes``; ``None``: none."""
    doc: str
    """What it means, in a sentence; empty for a column that a statement computes."""


class Failure(NamedTuple):
    """A report that failed while others answered."""

    path: str
    """The file."""
    message: str
    """What is wrong."""
    help: Optional[str]
    """What to do; ``None`` if there is nothing more to say."""


class Table:
    """Rows with documented columns, in the order of the query.

    Times are integers in nanoseconds, sizes are bytes; printed, they have units.

    >>> import nsys_query as nq
    >>> kernels = nq.open("fixtures/example.sqlite").run("top_kernels", limit=2, name="short")
    >>> len(kernels), kernels.columns[3].name, kernels.columns[3].unit
    (2, 'total_ns', 'ns')
    >>> kernels[0]["total_ns"]
    71904926
    >>> kernels["calls"]
    [170, 170]

    Libraries that speak Arrow read it without a copy: ``polars.DataFrame(t)``, ``pyarrow.table(t)``,
    ``duckdb.sql("FROM t")``. Unit, type and meaning of a column are in the metadata of its field.
    """

    __slots__ = ("_failures", "_rows")

    def __init__(self, rows: _native.Rows, failures: Sequence[Failure] = ()) -> None:
        self._rows = rows
        self._failures = failures

    @property
    def title(self) -> str:
        """The heading."""
        return self._rows.title

    @property
    def query(self) -> Optional[str]:
        """Name and version of the query, such as ``top_kernels@1``; ``None`` for a statement."""
        query = self._rows.query
        return None if query is None else f"{query[0]}@{query[1]}"

    @property
    def notes(self) -> List[str]:
        """What one must know about the rows, such as a scope that could not be applied, or why there are none."""
        return self._rows.notes

    @property
    def failures(self) -> List[Failure]:
        """The reports of a folder or pattern that have no rows here, because they could not be opened or read."""
        more = [Failure(os.fspath(path), message, help) for path, message, help in self._rows.failures]
        return [*self._failures, *more]

    @property
    def columns(self) -> List[Column]:
        """The columns, with units and meanings."""
        return [Column(*column) for column in self._rows.columns]

    @property
    def nbytes(self) -> int:
        """The memory of the values, in bytes."""
        return self._rows.nbytes

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def __contains__(self, key: object) -> bool:
        """Whether there is a column of this name, or a row like this dict."""
        if isinstance(key, str):
            return any(key == column[0] for column in self._rows.columns)
        return any(key == row for row in self)

    def __getitem__(self, key: Union[int, slice, str]) -> Any:
        """A row as a dict, rows as a list of dicts, or a column as a list of values."""
        names = [column[0] for column in self._rows.columns]
        if isinstance(key, str):
            if key not in names:
                raise KeyError(_unknown("column", key, names))
            return self._rows.column(names.index(key))
        if isinstance(key, slice):
            return [self[index] for index in range(*key.indices(len(self)))]
        index = key + len(self) if key < 0 else key
        if not 0 <= index < len(self):
            raise IndexError(f"no row {key}: there are {len(self)}")
        return dict(zip(names, self._rows.row(index)))

    def to_dicts(self) -> List[Dict[str, Any]]:
        """All rows as dicts."""
        return list(self)

    def to_arrow(self) -> Any:
        """The rows as a ``pyarrow.Table``, without a copy."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """The rows as a ``polars.DataFrame``, without a copy of numbers."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``; needs pyarrow.

        Integers stay integers: a column with nulls becomes ``Int64``, not ``float64``.
        """
        import pandas
        import pyarrow

        table = pyarrow.table(self)
        frame = table.to_pandas()
        for place, field in enumerate(table.schema):
            nulls = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}.get(field.type)
            if nulls is not None and table.column(place).null_count:
                frame.isetitem(place, table.column(place).to_pandas(types_mapper={field.type: nulls}.get))
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows for libraries that speak the Arrow PyCapsule interface."""
        # A consumer casts by itself: the interface lets a producer ignore the request.
        return self._rows.arrow_stream()

    def __arrow_c_schema__(self) -> Any:
        return self._rows.arrow_schema()

    def __repr__(self) -> str:
        most = min(20, self._rows.HEAD)
        lines = [self._rows.to_text(most, shutil.get_terminal_size((120, 24)).columns).rstrip("\n")]
        if len(self) > most:
            lines.append(f"… {len(self) - most:,} more rows")
        lines.extend(f"note: {note}" for note in self.notes)
        lines.extend(f"failed: {failure.message}" for failure in self.failures)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        most = min(50, self._rows.HEAD)
        parts = [f'<div class="nsq">{_STYLE}', self._rows.to_html(most)]
        if len(self) > most:
            parts.append(f"<p>… {len(self) - most:,} more rows</p>")
        parts.extend(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
        parts.extend(f"<p>failed: {html.escape(failure.message)}</p>" for failure in self.failures)
        return "\n".join([*parts, "</div>"])


class Page:
    """Several tables together, such as the overview.

    >>> import nsys_query as nq
    >>> page = nq.open("fixtures/example.sqlite").overview()
    >>> page["findings"][0]["finding"]
    'host_work'

    ``print(page)`` shows it as the program does; a notebook shows it with its charts.
    """

    def __init__(
        self,
        tables: Dict[str, Table],
        facts: Dict[str, Any],
        notes: List[str],
        failures: List[Failure],
        text: Optional[str],
        html: Optional[str],
    ) -> None:
        self.tables = tables
        """The tables, by the names that the page gives them."""
        self.facts = facts
        """What the page says beside its tables."""
        self.notes = notes
        """What reports lack, and what a reader must know."""
        self.failures = failures
        """The reports that failed or could not be opened; the others answer."""
        self.html = html
        """The page as an HTML document; ``None`` if it has no such layout."""
        self._text = text

    def __getitem__(self, name: str) -> Table:
        if name not in self.tables:
            raise KeyError(_unknown("table", name, list(self.tables)))
        return self.tables[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is a table of this name."""
        return name in self.tables

    def __iter__(self) -> Iterator[str]:
        """The names of the tables."""
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the page to a file: as an HTML document if the name ends in ``.html``, else as text."""
        is_html = os.fspath(path).lower().endswith((".html", ".htm"))
        if is_html and self.html is None:
            raise UsageError("this page has no HTML layout", "save it under a name that does not end in .html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html if is_html and self.html is not None else self.text)

    @property
    def text(self) -> str:
        """The page as text."""
        if self._text is not None:
            return self._text
        return "\n\n".join(repr(table) for table in self.tables.values() if table.columns)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        if self.html is None:
            return "\n".join(table._repr_html_() for table in self.tables.values() if table.columns)
        # A document of its own: its styles and scripts must not meet those of the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-popups"'
            ' style="width: 100%; height: 40rem; border: 0" title="nsq"></iframe>'
        )


class Answers:
    """The answers of a playbook, in sentences.

    >>> import nsys_query as nq
    >>> answers = nq.open("fixtures/example.sqlite").answer(parts="b")
    >>> answers["b"]["status"]
    'answered'

    ``print(answers)`` shows them as the program does.
    """

    def __init__(self, parts: List[Dict[str, Any]], text: str) -> None:
        self.parts = parts
        """The parts: ``part``, ``question``, ``status``, and ``answers``, each with its ``text``, ``facts`` and the rows
        behind it, or the ``reason`` why there is none."""
        self.text = text
        """All answers as text."""

    def __getitem__(self, name: str) -> Dict[str, Any]:
        for part in self.parts:
            if part["part"] == name:
                return part
        raise KeyError(_unknown("part", name, [part["part"] for part in self.parts]))

    def __contains__(self, name: object) -> bool:
        """Whether there is a part of this name."""
        return any(part["part"] == name for part in self.parts)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def _unknown(what: str, name: object, known: List[str]) -> str:
    """What is said about a name that does not exist."""
    near = difflib.get_close_matches(str(name), known) or [other for other in known if str(name) and str(name) in other][:3]
    guess = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    return f"no {what} {name!r}: {guess}the {what}s are {', '.join(known)}"
