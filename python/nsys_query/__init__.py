"""Answers questions about NVIDIA Nsight Systems profiles with versioned SQL.

>>> import nsys_query as nq
>>> report = nq.open("fixtures/example.sqlite")
>>> report.run("top_kernels", limit=1, name="short")[0]["kernel_name"]
'nvjet_tst_256x128_64x4_1x2_h_bz_coopB_NTN'

``report.overview()`` shows what to look at first, ``report.queries()`` what can be asked.
"""

from ._extension import extension_path
from ._errors import Error, LacksData, LimitReached, ReportError, ReportNotFound, SqlError, UnknownName, UsageError
from ._native import __version__
from ._report import Report, describe, diff, pages, playbooks, queries, relations
from ._report import open_report as open
from ._table import Answers, Column, Failure, Page, Table

__all__ = [
    "Answers",
    "Column",
    "Error",
    "Failure",
    "LacksData",
    "LimitReached",
    "Page",
    "Report",
    "ReportError",
    "ReportNotFound",
    "SqlError",
    "Table",
    "UnknownName",
    "UsageError",
    "__version__",
    "describe",
    "diff",
    "extension_path",
    "open",
    "pages",
    "playbooks",
    "queries",
    "relations",
]
