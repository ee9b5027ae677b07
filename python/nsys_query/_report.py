"""Reports, and the questions to them."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._errors import ReportError, UsageError
from ._table import Answers, Failure, Page, Table

Path = Union[str, "os.PathLike[str]"]
Texts = Union[str, Sequence[str]]
Numbers = Union[int, Sequence[int]]
Iteration = Union[str, Tuple[str, int], Sequence[str]]

# "step 3" and "step 2..5", as the command line joins them.
_INSTANCES = re.compile(r"(.*\S) (\d+(?:\.\.\d+)?)")


class Manual(str):
    """A manual page, which shows itself as it is printed."""

    def __repr__(self) -> str:
        return str(self)


class Report:
    """One report, or several that are asked together. :func:`nsys_query.open` opens it.

    Any number of threads can ask it at the same time. A question releases the GIL, and Ctrl-C stops it. After a fork,
    the child can go on asking. A pickled report is opened again from its path.
    """

    def __init__(self, paths: Sequence[Path], queries: Sequence[Path] = ()) -> None:
        self._given = ([os.fspath(path) for path in paths], [os.fspath(folder) for folder in queries])
        if not self._given[0]:
            raise UsageError("no report given", "give a path, a list of paths, a folder or a pattern such as 'rank*.sqlite'")
        self._library = _native.Library(self._given[1])
        self._reports: List[_native.Report] = []
        self.paths: List[str] = []
        """The files that are asked, in this order."""
        self.notes: List[str] = []
        """Files that were skipped, and why."""
        self.failures: List[Failure] = []
        """The reports of a folder or pattern that could not be opened. The others are asked."""
        first: Optional[ReportError] = None
        for given in self._given[0]:
            found, notes = _native.report_paths([given])
            self.notes += notes
            for path in map(os.fspath, found):
                try:
                    self._reports.append(_native.Report(self._library, path))
                    self.paths.append(path)
                except ReportError as error:
                    # A file that the caller names must be there.
                    if path == given:
                        raise
                    first = first or error
                    self.failures.append(Failure(path, error.message, error.help))
        if first is not None and not self._reports:
            raise first

    def __repr__(self) -> str:
        return f"nsys_query.open({', '.join(map(repr, self.paths))})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Report, self._given

    def run(
        self,
        query: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        iter: Optional[Iteration] = None,
        nvtx: Optional[Texts] = None,
        exclude: Optional[Texts] = None,
        window: Optional[Texts] = None,
        steady: bool = False,
        time: Optional[str] = None,
        gpu: Optional[Numbers] = None,
        device: Optional[Numbers] = None,
        stream: Optional[Numbers] = None,
        process: Optional[Numbers] = None,
        thread: Optional[Texts] = None,
        attribute: Optional[str] = None,
        keep_names: bool = False,
        classes: Optional[str] = None,
        timeout: Optional[float] = None,
        max_rows: Optional[int] = None,
        **more: Any,
    ) -> Table:
        """Asks a query by its name, or ``name@version``. :meth:`queries` lists them, :meth:`describe` explains one.

        Parameters of the query are keywords, or in ``params`` if a keyword below has the same name. The other keywords
        say which part of the report is asked, as the options of the program do:

        - ``iter``: iterations, ``"step"``, ``"step 3"``, ``"step 2..5"`` or ``("step", 3)``, counted from 0
        - ``nvtx``, ``exclude``: NVTX ranges whose work counts, or does not: ``NAME[@DOMAIN][/INDEX]``
        - ``window``: NVTX ranges that events must overlap in time
        - ``time``: since the start of the capture, ``"1.5s/2s"``, ``"12ms/"`` or ``"/80%"``
        - ``steady``: only steps after the warm-up; the query ``steps`` lists them
        - ``gpu``: GPU numbers, as every answer shows them
        - ``device``, ``stream``, ``process``: CUDA device ordinals, streams and process IDs
        - ``thread``: names (globs) or IDs of threads: their ranges and calls, and the work that they launched
        - ``attribute``: which launches belong to a range, ``"thread"``, ``"process"`` or ``"capture"``
        - ``keep_names``: keep the numbers in range names
        - ``classes``: the class map of GPU operations, a name or a file
        - ``timeout`` in seconds and ``max_rows``: limits that raise :class:`LimitReached`

        Rows of several reports begin with the column ``report``, unless the query compares reports. A report that
        cannot be read does not stop the others: it is among the ``failures`` of the table.

        >>> import nsys_query as nq
        >>> report = nq.open("fixtures/example.sqlite")
        >>> report.run("gpu_time", iter="step 3", device=0)["busy_ns"]
        [13861895]
        """
        how = _how(locals())
        return Table(_native.ask(self._library, self._reports, query, False, _params(params, more), how), self.failures)

    def sql(
        self,
        statement: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        iter: Optional[Iteration] = None,
        nvtx: Optional[Texts] = None,
        exclude: Optional[Texts] = None,
        window: Optional[Texts] = None,
        steady: bool = False,
        time: Optional[str] = None,
        gpu: Optional[Numbers] = None,
        device: Optional[Numbers] = None,
        stream: Optional[Numbers] = None,
        process: Optional[Numbers] = None,
        thread: Optional[Texts] = None,
        attribute: Optional[str] = None,
        keep_names: bool = False,
        classes: Optional[str] = None,
        timeout: Optional[float] = None,
        max_rows: Optional[int] = None,
    ) -> Table:
        """Asks a SELECT over the relations, such as ``kernel``; reports are read-only.

        ``params`` are values for ``:name`` in the statement. The keywords are those of :meth:`run`. A column of a
        relation keeps its type, unit and meaning, also under another name. The unit of a computed column comes from
        the end of its name, such as ``_ns``.

        >>> import nsys_query as nq
        >>> report = nq.open("fixtures/example.sqlite")
        >>> report.sql("SELECT count(*) AS n FROM kernel WHERE dur_ns > :least", {"least": 1_000_000})["n"]
        [54]
        """
        how = _how(locals())
        values = list((params or {}).items())
        return Table(_native.ask(self._library, self._reports, statement, True, values, how), self.failures)

    def page(
        self,
        name: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        iter: Optional[Iteration] = None,
        nvtx: Optional[Texts] = None,
        exclude: Optional[Texts] = None,
        window: Optional[Texts] = None,
        steady: bool = False,
        time: Optional[str] = None,
        gpu: Optional[Numbers] = None,
        device: Optional[Numbers] = None,
        stream: Optional[Numbers] = None,
        process: Optional[Numbers] = None,
        thread: Optional[Texts] = None,
        attribute: Optional[str] = None,
        keep_names: bool = False,
        classes: Optional[str] = None,
        timeout: Optional[float] = None,
        **more: Any,
    ) -> Page:
        """Asks a page: several queries together. The keywords are those of :meth:`run`."""
        how = _how(locals())
        page = _page(self._library, self._reports, name, None, None, _params(params, more), how)
        page.failures[:0] = self.failures
        return page

    def overview(self, **scope: Any) -> Page:
        """What the report holds, how its GPUs spent their time, and what to fix first.

        The keywords are those of :meth:`run`.
        """
        return self.page("overview", **scope)

    def queries(self, words: str = "") -> Table:
        """The queries that the report has the data for, the best match for the words first.

        Columns: ``domain``, ``name``, ``summary``, ``version`` and ``tags``, all text.
        """
        names = self._reports[0].answerable()
        for report in self._reports[1:]:
            known = set(report.answerable())
            names = [name for name in names if name in known]
        return Table(self._library.find(words, names))

    def describe(self, name: str) -> Manual:
        """The manual page of a query, relation or page: purpose, parameters, columns with units, limits."""
        return Manual(self._library.manual(name))

    def relations(self) -> Table:
        """The relations that the report has data for, which :meth:`sql` reads.

        Columns: ``domain``, ``name``, ``summary``, ``present_if`` and ``columns``, all text.
        """
        names = self._reports[0].relations()
        for report in self._reports[1:]:
            known = set(report.relations())
            names = [name for name in names if name in known]
        return Table(self._library.relations(names))

    def pages(self) -> Table:
        """The pages that :meth:`page` asks. Columns: ``domain``, ``name``, ``summary``, ``version`` and ``queries``."""
        return Table(self._library.pages())

    def playbooks(self) -> Table:
        """The playbooks that :meth:`answer` asks.

        Columns: ``domain``, ``name``, ``summary``, ``version`` and ``files``.
        """
        return Table(self._library.playbooks())

    def schema(self) -> Table:
        """Every query, whether the report has the data for it, and what would record the missing data.

        Columns: ``query``, ``can_run``, ``record_with`` and ``missing``, all text. Rows of several reports begin with the
        column ``report``. What was captured is in the query ``report_info``.

        >>> import nsys_query as nq
        >>> schema = nq.open("fixtures/example.sqlite").schema()
        >>> schema[0]["can_run"], schema[-1]["can_run"]
        ('yes', 'no')
        """
        return Table(_native.schema(self._reports), self.failures)

    def timeline(self, params: Optional[Mapping[str, Any]] = None, **scope: Any) -> Page:
        """The capture over time, as a page to zoom and search: ``report.timeline(time="1s/1.2s").save("t.html")``.

        The keywords are those of :meth:`page`.
        """
        return self.page("timeline", params, **scope)

    def materialize(
        self,
        path: Path,
        *,
        overwrite: bool = False,
        iter: Optional[Iteration] = None,
        nvtx: Optional[Texts] = None,
        exclude: Optional[Texts] = None,
        window: Optional[Texts] = None,
        steady: bool = False,
        time: Optional[str] = None,
        gpu: Optional[Numbers] = None,
        device: Optional[Numbers] = None,
        stream: Optional[Numbers] = None,
        process: Optional[Numbers] = None,
        thread: Optional[Texts] = None,
        attribute: Optional[str] = None,
        keep_names: bool = False,
    ) -> List[str]:
        """Writes the relations of the report to a SQLite file for ``sqlite3``, DuckDB or nsq; returns notes.

        The file is written whole or not at all. Captured environments and command lines are left out. The keywords
        are those of :meth:`run`.
        """
        if len(self._reports) != 1:
            raise UsageError("a SQLite file holds one report", "open the reports one by one")
        if os.path.exists(path) and not overwrite:
            raise UsageError(f"{os.fspath(path)} already exists", "give another name, or overwrite=True")
        return self._reports[0].materialize(os.fspath(path), _how(locals()))

    def answer(
        self,
        playbook: str = "cs336",
        params: Optional[Mapping[str, Any]] = None,
        *,
        parts: Optional[Texts] = None,
        files: Optional[Mapping[str, Path]] = None,
        iter: Optional[Iteration] = None,
        exclude: Optional[Texts] = None,
        time: Optional[str] = None,
        gpu: Optional[Numbers] = None,
        device: Optional[Numbers] = None,
        process: Optional[Numbers] = None,
        thread: Optional[Texts] = None,
        timeout: Optional[float] = None,
        **more: Any,
    ) -> Answers:
        """Answers the questions of a playbook in sentences, for one report or for two where a question compares.

        ``parts`` are the questions to answer, all by default. Parameters of the playbook, and names of ranges for its
        patterns, are keywords or in ``params``; ``files`` are its CSV files. The other keywords are those of :meth:`run`.
        """
        nvtx = window = stream = None
        keep_names = False
        how = _how(locals())
        named = [(name, os.fspath(path)) for name, path in (files or {}).items()]
        given = _params(params, more)
        answered = _native.answer(self._library, self._reports, playbook, _listed(parts), given, named, how)
        return Answers(json.loads(answered[0]), answered[1])


def open_report(report: Union[Path, Sequence[Path]], *, queries: Union[Path, Sequence[Path]] = ()) -> Report:
    """Opens a report: a SQLite export of nsys, a ``.nsys-rep``, or a PyTorch trace.

    A ``.nsys-rep`` is exported with your own ``nsys``, a trace is imported, both once: they are kept in nsq's cache
    folder. Ctrl-C stops it. A list, a folder or a pattern such as ``"rank*.sqlite"`` gives several reports, which are
    asked together. Reports of a folder or pattern are in the order of the numbers in their names; if one cannot be
    opened, it is among the ``failures``. ``queries`` are folders with queries of your own.

    A missing file raises :class:`ReportNotFound`, which is also a ``FileNotFoundError``.

    >>> import nsys_query as nq
    >>> report = nq.open("fixtures/example.sqlite")
    >>> report.run("report_info")[0]["fact"]
    'nsys version'
    """
    return Report(_listed(report), _listed(queries))


def diff(
    before: Union[Report, Path, Sequence[Path]],
    after: Union[Report, Path, Sequence[Path]],
    params: Optional[Mapping[str, Any]] = None,
    *,
    iter: Optional[str] = None,
    nvtx: Optional[Texts] = None,
    exclude: Optional[Texts] = None,
    window: Optional[Texts] = None,
    steady: bool = False,
    time: Optional[str] = None,
    gpu: Optional[Numbers] = None,
    device: Optional[Numbers] = None,
    stream: Optional[Numbers] = None,
    process: Optional[Numbers] = None,
    thread: Optional[Texts] = None,
    attribute: Optional[str] = None,
    keep_names: bool = False,
    classes: Optional[str] = None,
    timeout: Optional[float] = None,
    **more: Any,
) -> Page:
    """Compares reports before a change with reports after it. Several of a side are runs of the same program.
    Queries of your own come from the folders that ``before`` was opened with.

    ``iter`` names the iterations, and leaves out nothing; the other keywords are those of :meth:`Report.run`. Table
    ``verdict`` has the result, ``whole`` the time per iteration, ``rows`` all kernels, classes, ranges, collectives,
    copies and calls, with a noise bound each.

    >>> import nsys_query as nq
    >>> nq.diff("fixtures/example.sqlite", "fixtures/example.sqlite")["whole"][0]["verdict"]
    'within noise'
    """
    sides = [side if isinstance(side, Report) else open_report(side) for side in (before, after)]
    named = iter
    iter = None
    how = _how(locals())
    reports = sides[0]._reports + sides[1]._reports
    count = len(sides[0]._reports)
    return _page(sides[0]._library, reports, "diff", count, named, _params(params, more), how)


def queries(words: str = "") -> Table:
    """All queries, or those about the words, the best match first.

    Columns: ``domain``, ``name``, ``summary``, ``version`` and ``tags``, all text.
    """
    return Table(_native.Library([]).find(words, None))


def describe(name: str) -> Manual:
    """The manual page of a query, relation or page: purpose, parameters, columns with units, limits."""
    return Manual(_native.Library([]).manual(name))


def relations() -> Table:
    """All relations, with a summary and the names of their columns."""
    return Table(_native.Library([]).relations(None))


def pages() -> Table:
    """All pages."""
    return Table(_native.Library([]).pages())


def playbooks() -> Table:
    """All playbooks."""
    return Table(_native.Library([]).playbooks())


def _page(
    library: _native.Library,
    reports: List[_native.Report],
    name: str,
    before: Optional[int],
    iterations: Optional[str],
    params: List[Tuple[str, Any]],
    how: Dict[str, Any],
) -> Page:
    answered = _native.ask_page(library, reports, name, before, iterations, params, how)
    tables, facts, notes, failed, text, html = answered
    failures = [Failure(os.fspath(path), message, help) for path, message, help in failed]
    return Page({name: Table(rows) for name, rows in tables}, json.loads(facts), notes, failures, text, html)


def _params(params: Optional[Mapping[str, Any]], more: Mapping[str, Any]) -> List[Tuple[str, Any]]:
    """The parameters of a query or page. One that is None keeps its default."""
    return [(name, value) for name, value in {**(params or {}), **more}.items() if value is not None]


def _how(given: Mapping[str, Any]) -> Dict[str, Any]:
    """The scope and the limits, from the keywords of a call."""
    how = {name: given.get(name) for name in ("time", "attribute", "classes", "timeout", "max_rows")}
    listed = ("gpu", "device", "stream", "process", "thread", "nvtx", "exclude", "window")
    how.update({name: _listed(given[name]) for name in listed})
    return {**how, "keep_names": given["keep_names"], "steady": bool(given.get("steady")), "iter": _iterations(given["iter"])}


def _iterations(given: Any) -> List[str]:
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int):
        return [f"{given[0]}/{given[1]}"]
    texts = []
    for text in _listed(given):
        match = _INSTANCES.fullmatch(text)
        texts.append(f"{match[1]}/{match[2]}" if match else text)
    return texts


def _listed(given: Any) -> List[Any]:
    if given is None:
        return []
    return [given] if isinstance(given, (str, int, os.PathLike)) else list(given)
