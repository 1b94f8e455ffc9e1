"""CCG categories: atoms with a feature, functions, and how two of them are matched.

Notation of CCGbank (Hockenmaier & Steedman 2007, section 2.1): result first, `(S[dcl]\\NP)/NP`; `X[conj]` is the right
part of a coordination that still waits for its left one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_TOKEN = re.compile(r"\[conj\]|[()/\\]|[^()/\\\[\]\s]+(?:\[(?!conj\])[a-zA-Z]+\])?")
#: features that say something about the sort of a noun phrase and never stand in the way of a combination
_SILENT = frozenset(("", "nb", "X"))


class Category:
    """An atom (`name`, `feature`) or a function (`result`, `slash`, `argument`); `conj` marks `X[conj]`.

    Categories are interned: equal ones are the same object, so == and hash cost nothing. Made by `atom`, `functor`,
    `parse` and the methods here, never directly.
    """

    __slots__ = ("_text", "argument", "conj", "feature", "name", "result", "slash")
    name: str
    feature: str
    result: Category
    slash: str
    argument: Category
    conj: bool
    _text: str

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __lt__(self, other: Category) -> bool:
        return self._text < other._text

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return parse, (self._text,)

    @property
    def is_atom(self) -> bool:
        """No function."""
        return not self.slash

    @property
    def arity(self) -> int:
        """Number of arguments: 2 of (S\\NP)/NP."""
        return sum(1 for _ in self.arguments())

    @property
    def target(self) -> Category:
        """The innermost result: S[dcl] of (S[dcl]\\NP)/NP."""
        here = self
        while here.slash:
            here = here.result
        return here

    @property
    def is_modifier(self) -> bool:
        """X/X or X\\X, features and all."""
        return bool(self.slash) and self.result is self.argument

    def arguments(self) -> Iterator[tuple[str, Category]]:
        """(slash, argument) from the outermost to the innermost, in the order in which they are met."""
        here = self
        while here.slash:
            yield here.slash, here.argument
            here = here.result

    def results(self) -> Iterator[Category]:
        """The category without its last 0, 1, 2 ... arguments: (S\\NP)/NP, S\\NP, S."""
        here = self
        yield here
        while here.slash:
            here = here.result
            yield here

    def with_conj(self, conj: bool = True) -> Category:
        """X[conj] of X; X of X[conj] with conj=False."""
        if self.slash:
            return functor(self.result, self.slash, self.argument, conj)
        return atom(self.name, self.feature, conj)

    def bare(self) -> Category:
        """Without features: S\\NP of S[dcl]\\NP. What modifiers are made of (section 4.3.3)."""
        return self.with_features(lambda name, feature: "")

    def with_features(self, rename: Callable[[str, str], str]) -> Category:
        """Every atom's feature replaced by `rename(name, feature)`."""
        if self.slash:
            return functor(
                self.result.with_features(rename), self.slash, self.argument.with_features(rename), self.conj
            )
        return atom(self.name, rename(self.name, self.feature), self.conj)


_ATOMS: dict[tuple[str, str, bool], Category] = {}
_FUNCTORS: dict[tuple[Category, str, Category, bool], Category] = {}
_PARSED: dict[str, Category] = {}


def atom(name: str, feature: str = "", conj: bool = False) -> Category:
    """An atomic category, `atom("S", "dcl")` for instance."""
    key = (name, feature, conj)
    found = _ATOMS.get(key)
    if found is None:
        found = Category()
        found.name, found.feature, found.slash, found.conj = name, feature, "", conj
        found._text = name + (f"[{feature}]" if feature else "") + ("[conj]" if conj else "")
        found = _ATOMS.setdefault(key, found)
    return found


def functor(result: Category, slash: str, argument: Category, conj: bool = False) -> Category:
    """The function from `argument`, to the right (/) or to the left (\\), to `result`."""
    key = (result, slash, argument, conj)
    found = _FUNCTORS.get(key)
    if found is None:
        found = Category()
        found.result, found.slash, found.argument, found.conj = result, slash, argument, conj
        found.name = found.feature = ""
        found._text = f"{_bracketed(result)}{slash}{_bracketed(argument)}" + ("[conj]" if conj else "")
        found = _FUNCTORS.setdefault(key, found)
    return found


def _bracketed(category: Category) -> str:
    return f"({category})" if category.slash else str(category)


def parse(text: str) -> Category:
    """The category of a text; a chain without brackets is read from the left. Raises ValueError. Time O(len(text))."""
    found = _PARSED.get(text)
    if found is None:
        tokens = _TOKEN.findall(text)
        if "".join(tokens) != text.strip() or not tokens:
            raise ValueError(f"not a category: {text!r}")
        try:
            found, end = _chain(tokens, 0)
        except (IndexError, ValueError):
            raise ValueError(f"not a category: {text!r}") from None
        if end != len(tokens):
            raise ValueError(f"not a category: {text!r}")
        _PARSED[text] = found
    return found


def _chain(tokens: list[str], i: int) -> tuple[Category, int]:
    left, i = _piece(tokens, i)
    while i < len(tokens) and tokens[i] in "/\\":
        slash = tokens[i]
        right, i = _piece(tokens, i + 1)
        left = functor(left, slash, right)
    if i < len(tokens) and tokens[i] == "[conj]":
        left, i = left.with_conj(), i + 1
    return left, i


def _piece(tokens: list[str], i: int) -> tuple[Category, int]:
    token = tokens[i]
    if token == "(":
        inside, i = _chain(tokens, i + 1)
        if tokens[i] != ")":
            raise ValueError
        return inside, i + 1
    if token in ("/", "\\", ")", "[conj]"):
        raise ValueError
    name, _, feature = token.partition("[")
    return atom(name, feature.rstrip("]")), i + 1


def match(wanted: Category, given: Category) -> dict[str, str] | None:
    """How two categories agree: what the open features of an atom's name stand for, or None if they do not agree.

    A feature agrees with itself and with no feature; `nb` and `X` count as none. All open features of one name in a
    category are one variable, so that {"S": "dcl"} is the answer to (S\\NP, S[dcl]\\NP). Time O(size).
    """
    if wanted is given:
        return {}
    bound: dict[str, str] = {}
    return bound if _match(wanted, given, bound) else None


def _match(wanted: Category, given: Category, bound: dict[str, str]) -> bool:
    if wanted.conj or given.conj or wanted.slash != given.slash:
        return False
    if wanted.slash:
        return _match(wanted.result, given.result, bound) and _match(wanted.argument, given.argument, bound)
    if wanted.name != given.name:
        return False
    one, other = wanted.feature, given.feature
    if one == other:
        return True
    if one in _SILENT and other in _SILENT:
        return True
    if one in _SILENT or other in _SILENT:
        return bound.setdefault(wanted.name, one if other in _SILENT else other) == (one if other in _SILENT else other)
    return False


def bind(category: Category, bound: dict[str, str]) -> Category:
    """The category with its open features of S and N replaced by what they stand for; NP carries none over."""
    if not any(bound.get(name) for name in ("S", "N")):
        return category
    return category.with_features(
        lambda name, feature: bound.get(name) or feature if name != "NP" and feature in _SILENT else feature
    )
