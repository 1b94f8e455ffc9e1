"""Shared operations of the translators: combining two constituents that may hold a gap, and categories of adjuncts.

Hockenmaier & Steedman (2007), sections 4.3.3, 6.2, 6.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from treebound.treebanks.ccg.categories import Category, functor, match, parse
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.ccg.rules import combine, raised


class Failure(Exception):
    """Raised for a construction that the translation does not cover; the argument names it."""


def gap(category: Category) -> Derivation:
    """Return a trace in place of a constituent of this category."""
    return Derivation(category, "gap")


def join(left: Derivation, right: Derivation, planned: Category, name: str) -> Derivation:
    """Combine two constituents into the planned category, which may lack arguments because of gaps below.

    If one of the two is a trace, the result is the other constituent, which still needs the argument. Otherwise the
    rules are tried with the constituents as they are, then with a complement type-raised over the function that takes
    it. Raise Failure(name) if no rule gives the planned category.
    """
    if left.rule == "gap":
        return right
    if right.rule == "gap":
        return left
    for first, second in _variants(left, right):
        for licence in combine(first.category, second.category):
            if licence.rule not in ("conj", "coord", "funny") and wants(licence.result, planned):
                return Derivation(licence.result, licence.rule, licence.head, (first, second))
    raise Failure(name)


def wants(category: Category, planned: Category) -> bool:
    """Return whether a category is the planned category, possibly with up to two missing arguments."""
    for i, result in enumerate(category.results()):
        if i > 2:
            break
        if match(result, planned) is not None:
            return True
    return False


def _variants(left: Derivation, right: Derivation) -> Iterator[tuple[Derivation, Derivation]]:
    """Yield the pair of constituents unchanged, then every pair in which one constituent is type-raised."""
    yield left, right
    # an argument to the left of a function that still needs an outer argument: NP (S\NP)/NP
    for result in right.category.results():
        if result.slash == "\\" and match(result.argument, left.category) is not None:
            yield _raise(left, result.result, True), right
    # an argument to the right of a function that still needs an outer argument: ((S\NP)/PP)/NP PP
    for result in left.category.results():
        if result.slash == "/" and match(result.argument, right.category) is not None:
            yield left, _raise(right, result.result, False)


def _raise(child: Derivation, target: Category, forward: bool) -> Derivation:
    """Return the child type-raised over a target category."""
    return Derivation(raised(child.category, target.bare(), forward), "tr", 0, (child,))


def topic(child: Derivation) -> Derivation:
    """Return a fronted constituent as a function over the clause that lacks it: S/(S/X)."""
    clause = parse("S")
    return Derivation(functor(clause, "/", functor(clause, "/", child.category)), "tc", 0, (child,))


def stripped(category: Category) -> Category:
    """Return X for an adjunct X|X of a constituent of this category.

    X is the category without outstanding arguments and without features.
    """
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
    """Return the category without features, except for predicative adjectives, whose modifiers keep them in CCGbank."""
    if category is parse("S[adj]\\NP"):
        return category
    return category.bare()
