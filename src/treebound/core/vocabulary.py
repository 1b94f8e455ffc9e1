"""A one-to-one mapping between strings and consecutive numbers."""

from __future__ import annotations

from collections.abc import Iterable


class Vocabulary:
    """Strings numbered in the order of first appearance. Lookup is O(1) in both directions."""

    __slots__ = ("_ids", "strings")

    def __init__(self, strings: Iterable[str] = ()):
        self.strings: list[str] = []
        self._ids: dict[str, int] = {}
        for s in strings:
            self.add(s)

    def add(self, string: str) -> int:
        """Return the number of `string`, which is appended if it is new."""
        i = self._ids.get(string)
        if i is None:
            i = self._ids[string] = len(self.strings)
            self.strings.append(string)
        return i

    def get(self, string: str, default: int = -1) -> int:
        """Return the number of `string`, or `default` if the string is unknown."""
        return self._ids.get(string, default)

    def __getitem__(self, i: int) -> str:
        return self.strings[i]

    def __len__(self) -> int:
        return len(self.strings)

    def __contains__(self, string: str) -> bool:
        return string in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.strings == other.strings
