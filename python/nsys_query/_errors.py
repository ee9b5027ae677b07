"""The exceptions of nsys_query. Their texts are those of the program ``nsq``."""

from __future__ import annotations

import errno
import os
from typing import Optional


class Error(Exception):
    """A question could not be answered.

    ``help`` says what to do; ``None`` if there is nothing more to say.
    """

    def __init__(self, message: str, help: Optional[str] = None) -> None:
        super().__init__(message, help)
        self.message = message
        self.help = help

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message}\n  help: {self.help}"


class LacksData(Error):
    """The report lacks the data: it was not captured. Every other error is a failure."""


class ReportError(Error):
    """The file cannot be used as a report."""


class ReportNotFound(ReportError, FileNotFoundError):
    """There is no such file."""

    def __init__(self, message: str, help: Optional[str] = None, filename: Optional["os.PathLike[str]"] = None) -> None:
        super().__init__(message, help)
        self.errno = errno.ENOENT
        self.strerror = os.strerror(errno.ENOENT)
        self.filename = None if filename is None else os.fspath(filename)


class UnknownName(Error, LookupError):
    """There is no query, parameter, class map or page of this name."""


class UsageError(Error, ValueError):
    """A value or a scope is invalid."""


class SqlError(Error):
    """SQLite refused a statement."""


class LimitReached(Error):
    """A limit of the call was reached, such as ``timeout`` or ``max_rows``."""
