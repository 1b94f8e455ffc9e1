"""The combinatory rules of CCGbank, in plain Python: what two neighbours, or one constituent, may become.

Hockenmaier & Steedman (2007), sections 2.2 and 4.3-4.6. Type changing, and the binary rules that only punctuation
licenses, are data (`type_changing.txt`). Charts, translators and the checker are held against this reference.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from treebound.treebanks.ccg.categories import Category, atom, bind, functor, match, parse

#: longest chain of arguments that composition carries along: X/Y and ((Y/Z)/V)/W give ((X/Z)/V)/W with 3
DEGREE = 3
#: atomic categories that are absorbed by a neighbour
PUNCTUATION = frozenset(parse(text) for text in (",", ".", ";", ":", "LRB", "RRB", "``", "''", "--", "-"))
#: what conjoins: the conjunction proper and the marks that stand for it in lists
CONJUNCTIONS = frozenset(parse(text) for text in ("conj", ",", ";", ":", "--"))
_N = atom("N")


class Licence(NamedTuple):
    """A rule and what it makes.

    rule    `fa ba` application, `fc bc fx bx` (crossed) composition, `fs bs` (crossed) substitution, `conj` a
            conjunction with its right conjunct, `coord` a left conjunct with X[conj], `lp rp` punctuation left or
            right, `tr` type raising, `tc` listed type changing, `funny` conj N => N (section 7.4)
    result  the category made
    head    0 or 1: the child whose lexical head is the parent's
    """

    rule: str
    result: Category
    head: int


def _listed() -> tuple[dict[Category, list[Category]], dict[tuple[Category, Category], list[Category]]]:
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


#: listed type changing: child -> results, (left, right) -> results
UNARY, BINARY = _listed()


def combine(left: Category, right: Category) -> list[Licence]:
    """Everything that two neighbours may become; application first, then composition, the rest last. Time O(size)."""
    found = [
        *_application(left, right),
        *_composition(left, right),
        *_substitution(left, right),
        *_coordination(left, right),
        *_absorption(left, right),
        *(Licence("tc", result, int(left in PUNCTUATION)) for result in BINARY.get((left, right), ())),
    ]
    return list(dict.fromkeys(found))


def unary(child: Category) -> list[Licence]:
    """What one constituent may become by listed type changing; type raising asks for a target: `raised`."""
    return [Licence("tc", result, 0) for result in UNARY.get(child, ())]


def raised(child: Category, target: Category, forward: bool = True) -> Category:
    """T/(T\\X) of X and T, or T\\(T/X)."""
    inner, outer = ("\\", "/") if forward else ("/", "\\")
    return functor(target, outer, functor(target, inner, child))


def is_raised(category: Category, child: Category) -> bool:
    """Whether `category` is `child` type-raised over some target."""
    if not category.slash or not category.argument.slash or category.slash == category.argument.slash:
        return False
    return category.result is category.argument.result and match(category.argument.argument, child) is not None


def _head(functor_at: int, category: Category) -> int:
    """A modifier's head is what it modifies, a determiner's its noun (section 4.4)."""
    if category.is_modifier or (category.result.name == "NP" and category.argument.name == "N"):
        return 1 - functor_at
    return functor_at


def _application(left: Category, right: Category) -> list[Licence]:
    found = []
    if left.slash == "/" and not left.conj:
        bound = match(left.argument, right)
        if bound is not None:
            found.append(Licence("fa", _plain(bind(left.result, bound)), _head(0, left)))
    if right.slash == "\\" and not right.conj:
        bound = match(right.argument, left)
        if bound is not None:
            found.append(Licence("ba", _plain(bind(right.result, bound)), _head(1, right)))
    return found


def _plain(category: Category) -> Category:
    """NP[nb] is a category of determiners only: what they make is an NP."""
    return atom("NP") if category.name == "NP" and category.feature == "nb" else category


def _composition(left: Category, right: Category) -> list[Licence]:
    found = []
    if left.conj or right.conj:
        return []
    if left.slash == "/":
        for result, slash in _through(left, right):
            found.append(Licence("fc" if slash == "/" else "fx", result, _head(0, left)))
    if right.slash == "\\":
        for result, slash in _through(right, left):
            found.append(Licence("bc" if slash == "\\" else "bx", result, _head(1, right)))
    return found


def _through(primary: Category, secondary: Category) -> list[tuple[Category, str]]:
    """X|Z1|..|Zd of X|Y and Y|Z1|..|Zd for every degree d, with the slash of Z1."""
    found = []
    carried: list[tuple[str, Category]] = []
    here = secondary
    while here.slash and len(carried) < DEGREE:
        carried.append((here.slash, here.argument))
        here = here.result
        bound = match(primary.argument, here)
        if bound is not None:
            result = bind(primary.result, bound)
            for slash, argument in reversed(carried):
                result = functor(result, slash, bind(argument, bound))
            found.append((result, carried[-1][0]))
    return found


def _substitution(left: Category, right: Category) -> list[Licence]:
    """(X/Y)/Z and Y/Z give X/Z; Y/Z and (X\\Y)/Z give X/Z (section 6.4)."""
    found = []
    if left.slash == right.slash == "/" and not left.conj and not right.conj:
        for rule, at, main, other in (("fs", 0, left, right), ("bs", 1, right, left)):
            inner = main.result
            if inner.slash == ("/" if rule == "fs" else "\\") and match(main.argument, other.argument) is not None:
                bound = match(inner.argument, other.result)
                if bound is not None:
                    result = functor(bind(inner.result, bound), "/", other.argument)
                    found.append(Licence(rule, result, _head(at, inner)))
    return found


def _coordination(left: Category, right: Category) -> list[Licence]:
    found = []
    if left in CONJUNCTIONS and not right.conj and right not in PUNCTUATION:
        found.append(Licence("conj", right.with_conj(), 1))
        if right is _N and left.name == "conj":
            found.append(Licence("funny", right, 1))
    if right.conj and not left.conj:
        bare = right.with_conj(False)
        bound = match(left, bare)
        if bound is not None:
            found.append(Licence("coord", _plain(bind(left, bound)), 0))
    return found


def _absorption(left: Category, right: Category) -> list[Licence]:
    found = []
    if left in PUNCTUATION:
        found.append(Licence("lp", right, 1))
    if right in PUNCTUATION:
        found.append(Licence("rp", left, 0))
    return found
