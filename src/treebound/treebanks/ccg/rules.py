"""The combinatory rules of CCGbank in plain Python: the results of two adjacent constituents, or of one constituent.

Hockenmaier & Steedman (2007), sections 2.2 and 4.3-4.6. Type-changing rules, and binary rules that only punctuation
licenses, are data (`type_changing.txt`). Charts, translators and the checker are tested against this reference.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from treebound.treebanks.ccg.categories import Category, atom, bind, functor, match, parse

#: largest number of arguments that composition passes on: X/Y and ((Y/Z)/V)/W give ((X/Z)/V)/W with 3
DEGREE = 3
#: atomic categories of punctuation, which a neighbour absorbs
PUNCTUATION = frozenset(parse(text) for text in (",", ".", ";", ":", "LRB", "RRB", "``", "''", "--", "-"))
#: categories that conjoin: the conjunction, and the marks that replace it in lists
CONJUNCTIONS = frozenset(parse(text) for text in ("conj", ",", ";", ":", "--"))
_N = atom("N")


class Licence(NamedTuple):
    """A rule and its result.

    rule    `fa ba` application;
            `fc bc fx bx` (crossed) composition;
            `fs bs` (crossed) substitution;
            `conj` a conjunction with its right conjunct;
            `coord` a left conjunct with X[conj];
            `lp rp` punctuation left or right;
            `tr` type raising;
            `tc` listed type changing;
            `funny` conj N => N (section 7.4)
    result  the resulting category
    head    0 or 1: the child whose lexical head is the parent's
    """

    rule: str
    result: Category
    head: int


def _listed() -> tuple[dict[Category, list[Category]], dict[tuple[Category, Category], list[Category]]]:
    """Read the unary and binary rules of `type_changing.txt`."""
    unary: dict[Category, list[Category]] = {}
    binary: dict[tuple[Category, Category], list[Category]] = {}
    text = files(__package__).joinpath("type_changing.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            left, _, right = line.partition("=>")
            children = [parse(word) for word in left.split()]
            if len(children) == 1:
                unary.setdefault(children[0], []).append(parse(right.strip()))
            else:
                binary.setdefault((children[0], children[1]), []).append(parse(right.strip()))
    return unary, binary


#: listed type-changing rules: child -> results, (left, right) -> results
UNARY, BINARY = _listed()


def combine(left: Category, right: Category) -> list[Licence]:
    """Return all results of two adjacent categories. Time O(size).

    Application comes first, then composition, then the other rules.
    """
    licences = [
        *_application(left, right),
        *_composition(left, right),
        *_substitution(left, right),
        *_coordination(left, right),
        *_absorption(left, right),
        *(Licence("tc", result, int(left in PUNCTUATION)) for result in BINARY.get((left, right), ())),
    ]
    return list(dict.fromkeys(licences))


def unary(child: Category) -> list[Licence]:
    """Return the results of listed type changing for one category. Type raising needs a target: see `raised`."""
    return [Licence("tc", result, 0) for result in UNARY.get(child, ())]


def raised(child: Category, target: Category, forward: bool = True) -> Category:
    """Return the category X raised over the target T: T/(T\\X), or T\\(T/X) if not `forward`."""
    inner, outer = ("\\", "/") if forward else ("/", "\\")
    return functor(target, outer, functor(target, inner, child))


def is_raised(category: Category, child: Category) -> bool:
    """Return whether `category` is `child` type-raised over some target."""
    if not category.slash or not category.argument.slash or category.slash == category.argument.slash:
        return False
    return category.result is category.argument.result and match(category.argument.argument, child) is not None


def _head(functor_at: int, category: Category) -> int:
    """Return the head child of an application: the modified constituent, the noun of a determiner, else the functor.

    Section 4.4; `functor_at` is the index of the functor.
    """
    if category.is_modifier or (category.result.name == "NP" and category.argument.name == "N"):
        return 1 - functor_at
    return functor_at


def _application(left: Category, right: Category) -> list[Licence]:
    """Return the results of forward and backward application."""
    licences = []
    if left.slash == "/" and not left.conj:
        bound = match(left.argument, right)
        if bound is not None:
            licences.append(Licence("fa", _plain(bind(left.result, bound)), _head(0, left)))
    if right.slash == "\\" and not right.conj:
        bound = match(right.argument, left)
        if bound is not None:
            licences.append(Licence("ba", _plain(bind(right.result, bound)), _head(1, right)))
    return licences


def _plain(category: Category) -> Category:
    """Return NP for NP[nb], which only determiners have in their categories, and any other category unchanged."""
    return atom("NP") if category.name == "NP" and category.feature == "nb" else category


def _composition(left: Category, right: Category) -> list[Licence]:
    """Return the results of forward and backward composition."""
    licences = []
    if left.conj or right.conj:
        return []
    if left.slash == "/":
        for result, slash in _through(left, right):
            licences.append(Licence("fc" if slash == "/" else "fx", result, _head(0, left)))
    if right.slash == "\\":
        for result, slash in _through(right, left):
            licences.append(Licence("bc" if slash == "\\" else "bx", result, _head(1, right)))
    return licences


def _through(primary: Category, secondary: Category) -> list[tuple[Category, str]]:
    """Return X|Z1|..|Zd and the slash of Z1, composed from X|Y and Y|Z1|..|Zd, for every degree d."""
    results = []
    carried: list[tuple[str, Category]] = []
    inner = secondary
    while inner.slash and len(carried) < DEGREE:
        carried.append((inner.slash, inner.argument))
        inner = inner.result
        bound = match(primary.argument, inner)
        if bound is not None:
            result = bind(primary.result, bound)
            for slash, argument in reversed(carried):
                result = functor(result, slash, bind(argument, bound))
            results.append((result, carried[-1][0]))
    return results


def _substitution(left: Category, right: Category) -> list[Licence]:
    """Return the results of substitution: (X/Y)/Z and Y/Z, or Y/Z and (X\\Y)/Z, give X/Z (section 6.4)."""
    licences = []
    if left.slash == right.slash == "/" and not left.conj and not right.conj:
        for rule, at, primary, secondary in (("fs", 0, left, right), ("bs", 1, right, left)):
            inner = primary.result
            if (
                inner.slash == ("/" if rule == "fs" else "\\")
                and match(primary.argument, secondary.argument) is not None
            ):
                bound = match(inner.argument, secondary.result)
                if bound is not None:
                    result = functor(bind(inner.result, bound), "/", secondary.argument)
                    licences.append(Licence(rule, result, _head(at, inner)))
    return licences


def _coordination(left: Category, right: Category) -> list[Licence]:
    """Return the results of the coordination rules."""
    licences = []
    if left in CONJUNCTIONS and not right.conj and right not in PUNCTUATION:
        licences.append(Licence("conj", right.with_conj(), 1))
        if right is _N and left.name == "conj":
            licences.append(Licence("funny", right, 1))
    if right.conj and not left.conj:
        conjunct = right.with_conj(False)
        bound = match(left, conjunct)
        if bound is not None:
            licences.append(Licence("coord", _plain(bind(left, bound)), 0))
    return licences


def _absorption(left: Category, right: Category) -> list[Licence]:
    """Return the results of absorbing punctuation."""
    licences = []
    if left in PUNCTUATION:
        licences.append(Licence("lp", right, 1))
    if right in PUNCTUATION:
        licences.append(Licence("rp", left, 0))
    return licences
