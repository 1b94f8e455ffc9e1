"""Name -> thing, with an error that lists what there is. One per kind: decoders, factor families, corpora, learners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from treebound.core.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """Registration order is kept: it is the order of rows in tables and of cases in contract tests."""

    def __init__(self, kind: str):
        self.kind = kind
        self._items: dict[str, T] = {}

    def register(self, name: str, item: T) -> T:
        """Add `item`; a second registration of a name is an error."""
        if name in self._items:
            raise ValueError(f"{self.kind} {name!r} is registered twice")
        self._items[name] = item
        return item

    def __getitem__(self, name: str) -> T:
        try:
            return self._items[name]
        except KeyError:
            raise InputError(f"unknown {self.kind} {name!r}", hint="choose from " + ", ".join(self._items)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return name in self._items
