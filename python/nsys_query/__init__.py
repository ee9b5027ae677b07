"""Answers questions about NVIDIA Nsight Systems profiles with versioned SQL.

>>> import nsys_query as nq
>>> report = nq.open("fixtures/example.sqlite")
>>> report.run("top_kernels", limit=1, name="short")[0]["kernel_name"]
'nvjet_tst_256x128_64x4_1x2_h_bz_coopB_NTN'

``report.overview()`` shows what to look at first, ``report.queries()`` what can be asked.
"""

from ._errors import Error, LacksData, LimitReached, ReportError, SqlError, UnknownName, UsageError
from ._report import Report, describe, diff, queries
from ._report import open_report as open
from ._table import Column, Page, Table

__all__ = [
    "Column",
    "Error",
    "LacksData",
    "LimitReached",
    "Page",
    "Report",
    "ReportError",
    "SqlError",
    "Table",
    "UnknownName",
    "UsageError",
    "describe",
    "diff",
    "open",
    "queries",
]
