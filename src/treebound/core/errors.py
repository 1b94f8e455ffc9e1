"""Errors whose cause the user can correct.

The command line prints such an error as one line and exits with status 1.
"""

from __future__ import annotations

from pathlib import Path


class TreeboundError(Exception):
    """Base class of all expected errors, with a message of the form ``[file:line: ]reason; what to do``."""

    def __init__(self, reason: str, *, path: str | Path | None = None, line: int | None = None, hint: str = ""):
        self.reason, self.path, self.line, self.hint = reason, path, line, hint
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{where}{reason}" + (f"; {hint}" if hint else ""))

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows: the message of the command line, without a stack trace."""
        return [f"{type(self).__name__}: {self}"]


class InputError(TreeboundError):
    """A malformed treebank, parameter, array or parsed file, or a request that cannot be served."""


class FetchError(TreeboundError):
    """A corpus that cannot be obtained: no mirror, no network, or a wrong checksum."""


class ModelError(TreeboundError):
    """A model file that is truncated, damaged, of another format or of another version."""


class UnsupportedError(InputError):
    """A request for factor families or a tree space that the decoder does not support."""
