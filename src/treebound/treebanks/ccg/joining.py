"""What translators share: how two constituents combine when one may hold a gap, and what adjuncts modify.

Hockenmaier & Steedman (2007), sections 4.3.3, 6.2, 6.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from treebound.treebanks.ccg.categories import Category, functor, match, parse
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.ccg.rules import combine, raised


class Failure(Exception):
    """A construction that the translation does not cover; the argument names it."""


def gap(category: Category) -> Derivation:
    """A trace in the place of a constituent of this category."""
    return Derivation(category, "gap")


def join(left: Derivation, right: Derivation, planned: Category, name: str) -> Derivation:
    """The two as the planned category, or as that category still in want of what the gaps below stand for.

    A trace vanishes: its sister keeps the argument. Otherwise the rules are tried with the constituents as they are,
    then with a complement type-raised over what takes it. Raises Failure(name).
    """
    if left.rule == "gap":
        return right
    if right.rule == "gap":
        return left
    for one, other in _variants(left, right):
        for found in combine(one.category, other.category):
            if found.rule not in ("conj", "coord", "funny") and wants(found.result, planned):
                return Derivation(found.result, found.rule, found.head, (one, other))
    raise Failure(name)


def wants(category: Category, planned: Category) -> bool:
    """Whether a category is the planned one, up to two arguments that are still missing."""
    for i, result in enumerate(category.results()):
        if i > 2:
            break
        if match(result, planned) is not None:
            return True
    return False


def _variants(left: Derivation, right: Derivation) -> Iterator[tuple[Derivation, Derivation]]:
    yield left, right
    # an argument left of a function that has taken arguments beyond it: NP (S\NP)/NP
    for result in right.category.results():
        if result.slash == "\\" and match(result.argument, left.category) is not None:
            yield _raise(left, result.result, True), right
    # an argument right of a function that still wants a later one: ((S\NP)/PP)/NP PP
    for result in left.category.results():
        if result.slash == "/" and match(result.argument, right.category) is not None:
            yield left, _raise(right, result.result, False)


def _raise(child: Derivation, target: Category, forward: bool) -> Derivation:
    return Derivation(raised(child.category, target.bare(), forward), "tr", 0, (child,))


def topic(child: Derivation) -> Derivation:
    """A fronted constituent over the clause that misses it: S/(S/X)."""
    whole = parse("S")
    return Derivation(functor(whole, "/", functor(whole, "/", child.category)), "tc", 0, (child,))


def stripped(category: Category) -> Category:
    """What an adjunct of this category modifies: without the arguments to come, and without features."""
    while category.slash == "/" and not category.is_modifier:
        category = category.result
    if category.slash == "\\" and not category.is_modifier and category.result.slash == "\\":
        inner = category.result
        if inner.is_modifier and inner.target.name == "S" and inner.result.is_atom:
            category = inner.result
        elif not inner.is_modifier and category.argument.target.name == "NP":
            category = inner
    return _bare(category)


def _bare(category: Category) -> Category:
    """Without features; predicative adjectives keep theirs, which their modifiers share in CCGbank."""
    if category is parse("S[adj]\\NP"):
        return category
    return category.bare()
