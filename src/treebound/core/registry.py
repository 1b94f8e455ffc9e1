"""Registries of named items, such as decoders, factor families and systems.

An unknown name is an error whose message lists all names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from treebound.core.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """A mapping from names to items of one kind, in the order of registration.

    The order determines the rows of tables and the cases of contract tests.
    """

    def __init__(self, kind: str):
        self.kind = kind
        self._items: dict[str, T] = {}

    def register(self, name: str, item: T) -> T:
        """Add and return `item`. Raises ValueError if the name is already registered."""
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
