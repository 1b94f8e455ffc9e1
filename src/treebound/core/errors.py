"""Errors that a user can do something about. The command line prints them as one line and exits with 1."""

from __future__ import annotations

from pathlib import Path


class TreeboundError(Exception):
    """Base of all expected errors: ``[file:line: ]reason; what to do``."""

    def __init__(self, reason: str, *, path: str | Path | None = None, line: int | None = None, hint: str = ""):
        self.reason, self.path, self.line, self.hint = reason, path, line, hint
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{where}{reason}" + (f"; {hint}" if hint else ""))

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows: the message, as on the command line, and no stack of internals."""
        return [f"{type(self).__name__}: {self}"]


class InputError(TreeboundError):
    """A malformed treebank, parameter, array or parsed file, or a request that cannot be served."""


class FetchError(TreeboundError):
    """A corpus that cannot be had: no mirror, no network, wrong checksum."""


class ModelError(TreeboundError):
    """A model file that is truncated, foreign, damaged or of another version."""


class UnsupportedError(InputError):
    """A decoder was asked for factor families or a tree space that it does not support."""
