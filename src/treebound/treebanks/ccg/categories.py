"""CCG categories: atoms with a feature, functions, and matching of two categories.

The notation is CCGbank's (Hockenmaier & Steedman 2007, section 2.1), with the result first: `(S[dcl]\\NP)/NP`.
`X[conj]` is the right part of a coordination that still needs its left part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_TOKEN = re.compile(r"\[conj\]|[()/\\]|[^()/\\\[\]\s]+(?:\[(?!conj\])[a-zA-Z]+\])?")
#: features that never prevent a combination: they are empty, or mark the kind of a noun phrase
_SILENT = frozenset(("", "nb", "X"))


class Category:
    """An atom (`name`, `feature`) or a function (`result`, `slash`, `argument`); `conj` marks `X[conj]`.

    Categories are interned: equal categories are the same object, so that == and hash are cheap. Create them by `atom`,
    `functor`, `parse` and the methods below, never directly.
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
        """Return whether the category is an atom, not a function."""
        return not self.slash

    @property
    def arity(self) -> int:
        """Return the number of arguments: 2 for (S\\NP)/NP."""
        return sum(1 for _ in self.arguments())

    @property
    def target(self) -> Category:
        """Return the innermost result: S[dcl] for (S[dcl]\\NP)/NP."""
        result = self
        while result.slash:
            result = result.result
        return result

    @property
    def is_modifier(self) -> bool:
        """Return whether the category is X/X or X\\X with equal features on both sides."""
        return bool(self.slash) and self.result is self.argument

    def arguments(self) -> Iterator[tuple[str, Category]]:
        """Yield (slash, argument) from the outermost to the innermost argument, the order in which they are taken."""
        category = self
        while category.slash:
            yield category.slash, category.argument
            category = category.result

    def results(self) -> Iterator[Category]:
        """Yield the category without its outermost 0, 1, 2 ... arguments: (S\\NP)/NP, S\\NP, S."""
        result = self
        yield result
        while result.slash:
            result = result.result
            yield result

    def with_conj(self, conj: bool = True) -> Category:
        """Return X[conj] for X, or X for X[conj] with conj=False."""
        if self.slash:
            return functor(self.result, self.slash, self.argument, conj)
        return atom(self.name, self.feature, conj)

    def bare(self) -> Category:
        """Return the category without features: S\\NP for S[dcl]\\NP. Modifiers are built from it (section 4.3.3)."""
        return self.with_features(lambda name, feature: "")

    def with_features(self, rename: Callable[[str, str], str]) -> Category:
        """Return the category with each atom's feature replaced by `rename(name, feature)`."""
        if self.slash:
            return functor(
                self.result.with_features(rename), self.slash, self.argument.with_features(rename), self.conj
            )
        return atom(self.name, rename(self.name, self.feature), self.conj)


_ATOMS: dict[tuple[str, str, bool], Category] = {}
_FUNCTORS: dict[tuple[Category, str, Category, bool], Category] = {}
_PARSED: dict[str, Category] = {}


def atom(name: str, feature: str = "", conj: bool = False) -> Category:
    """Return an atomic category, for instance `atom("S", "dcl")`."""
    key = (name, feature, conj)
    category = _ATOMS.get(key)
    if category is None:
        category = Category()
        category.name, category.feature, category.slash, category.conj = name, feature, "", conj
        category._text = name + (f"[{feature}]" if feature else "") + ("[conj]" if conj else "")
        category = _ATOMS.setdefault(key, category)
    return category


def functor(result: Category, slash: str, argument: Category, conj: bool = False) -> Category:
    """Return the function from `argument`, to the right (/) or to the left (\\), to `result`."""
    key = (result, slash, argument, conj)
    category = _FUNCTORS.get(key)
    if category is None:
        category = Category()
        category.result, category.slash, category.argument, category.conj = result, slash, argument, conj
        category.name = category.feature = ""
        category._text = f"{_bracketed(result)}{slash}{_bracketed(argument)}" + ("[conj]" if conj else "")
        category = _FUNCTORS.setdefault(key, category)
    return category


def _bracketed(category: Category) -> str:
    """Return the text of a category, in brackets if it is a function."""
    return f"({category})" if category.slash else str(category)


def parse(text: str) -> Category:
    """Return the category of a text, with slashes read from the left. Raise ValueError. Time O(len(text))."""
    category = _PARSED.get(text)
    if category is None:
        tokens = _TOKEN.findall(text)
        if "".join(tokens) != text.strip() or not tokens:
            raise ValueError(f"not a category: {text!r}")
        try:
            category, end = _chain(tokens, 0)
        except (IndexError, ValueError):
            raise ValueError(f"not a category: {text!r}") from None
        if end != len(tokens):
            raise ValueError(f"not a category: {text!r}")
        _PARSED[text] = category
    return category


def _chain(tokens: list[str], i: int) -> tuple[Category, int]:
    """Read pieces joined by slashes from token i; return the category and the next token's index."""
    left, i = _piece(tokens, i)
    while i < len(tokens) and tokens[i] in "/\\":
        slash = tokens[i]
        right, i = _piece(tokens, i + 1)
        left = functor(left, slash, right)
    if i < len(tokens) and tokens[i] == "[conj]":
        left, i = left.with_conj(), i + 1
    return left, i


def _piece(tokens: list[str], i: int) -> tuple[Category, int]:
    """Read an atom or a category in brackets from token i; return the category and the next token's index."""
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


def match(first: Category, second: Category) -> dict[str, str] | None:
    """Return the values that two categories assign to their open features, or None if they do not agree.

    Two features agree if they are equal, or if one of them is open: missing, `nb` or `X`. All open features of atoms
    with the same name are a single variable: (S\\NP, S[dcl]\\NP) gives {"S": "dcl"}. Time O(size).
    """
    if first is second:
        return {}
    bound: dict[str, str] = {}
    return bound if _match(first, second, bound) else None


def _match(first: Category, second: Category, bound: dict[str, str]) -> bool:
    """Return whether two categories agree, and add the values of open features to `bound`."""
    if first.conj or second.conj or first.slash != second.slash:
        return False
    if first.slash:
        return _match(first.result, second.result, bound) and _match(first.argument, second.argument, bound)
    if first.name != second.name:
        return False
    ours, theirs = first.feature, second.feature
    if ours == theirs:
        return True
    if ours in _SILENT and theirs in _SILENT:
        return True
    if ours in _SILENT or theirs in _SILENT:
        return bound.setdefault(first.name, ours if theirs in _SILENT else theirs) == (
            ours if theirs in _SILENT else theirs
        )
    return False


def bind(category: Category, bound: dict[str, str]) -> Category:
    """Return the category with the open features of S and N replaced by their values; NP passes on no features."""
    if not any(bound.get(name) for name in ("S", "N")):
        return category
    return category.with_features(
        lambda name, feature: bound.get(name) or feature if name != "NP" and feature in _SILENT else feature
    )
