"""What a decoder must offer."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from treebound.core.parse import Parse
from treebound.core.problem import Problem


@runtime_checkable
class Decoder(Protocol):
    """A decoder declares what it supports and refuses the rest by name; it never changes the request.

    name      as registered
    space     the trees it searches
    exact     True if status `optimal` is a proof (limits may still give `limit`)
    supports  factor families that it scores
    cite      author (year), section
    """

    name: str
    space: Literal["projective", "non-projective"]
    exact: bool
    supports: frozenset[str]
    cite: str

    def decode(self, problem: Problem) -> Parse:
        """Best tree of `problem`. Raises UnsupportedError for families outside `supports`."""
        ...
