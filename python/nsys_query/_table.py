"""Answers: tables of documented columns, and pages of several tables."""

from __future__ import annotations

import html
import shutil
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union

from . import _native

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
    """What it means, in a sentence; empty for a column of a statement."""


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

    __slots__ = ("_rows",)

    def __init__(self, rows: _native.Rows) -> None:
        self._rows = rows

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

    def __getitem__(self, key: Union[int, slice, str]) -> Any:
        """A row as a dict, rows as a list of dicts, or a column as a list of values."""
        names = [column[0] for column in self._rows.columns]
        if isinstance(key, str):
            if key not in names:
                raise KeyError(f"no column {key!r}: the columns are {', '.join(names)}")
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
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        most = min(50, self._rows.HEAD)
        parts = [f'<div class="nsq">{_STYLE}', self._rows.to_html(most)]
        if len(self) > most:
            parts.append(f"<p>… {len(self) - most:,} more rows</p>")
        parts.extend(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
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
        self, tables: Dict[str, Table], facts: Dict[str, Any], notes: List[str], text: Optional[str], html: Optional[str]
    ) -> None:
        self.tables = tables
        """The tables, by the names that the page gives them."""
        self.facts = facts
        """What the page says beside its tables."""
        self.notes = notes
        """What reports lack."""
        self.html = html
        """The page as an HTML document; ``None`` if it has no such layout."""
        self._text = text

    def __getitem__(self, name: str) -> Table:
        if name not in self.tables:
            raise KeyError(f"no table {name!r}: the tables are {', '.join(self.tables)}")
        return self.tables[name]

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
