"""Head indices of categories: which parts of a lexical category have the same lexical head (sections 4.4, 6.1-6.2).

Five rules, from the form of a category alone. `own` is the word that carries the category.

1. The innermost result is headed by the word itself, unless rule 2 or 3 says otherwise.
2. Modifiers X|X, whatever further arguments they take: the two X have the same head, and so have their arguments one
   by one. X without features, or a predicative adjective; (S[dcl]\\S[dcl])\\NP of verbs that quote is none.
3. Determiners NP|N: the noun heads the noun phrase.
4. Control: the subject of a verb phrase among the arguments (S[to]\\NP, S[ng]\\NP ...) is the noun phrase that is
   taken last before it is met - the object - or else the word's own subject.
5. Extraction: what a clause lacks below a relative pronoun (NP\\NP)/(S[dcl]/NP), or below an interrogative
   determiner (S[wq]/(S[q]/NP))/N, is the noun.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from treebound.treebanks.ccg.categories import Category

OWN = 0


@dataclass(frozen=True, eq=False, slots=True)
class Indexed:
    """A category with a number for the head of every part; equal numbers are one head, `OWN` is the word itself."""

    category: Category
    head: int
    result: Indexed | None = None
    argument: Indexed | None = None


@cache
def indices(category: Category) -> Indexed:
    """The head indices of a lexical category. Time O(size squared)."""
    return _Indexing().lexical(category)


class _Indexing:
    def __init__(self) -> None:
        self._last = OWN

    def _fresh(self) -> int:
        self._last += 1
        return self._last

    def lexical(self, category: Category) -> Indexed:
        """The whole category: its core - modifier, determiner or the word's own result - then its arguments."""
        chain = list(category.results())
        core = next((i for i, part in enumerate(chain) if _is_core(part)), len(chain) - 1)
        here = self._core(chain[core])
        outer = chain[:core][::-1]  # from the innermost
        arguments = [self._open(part.argument) for part in outer]
        for at, part in enumerate(outer):
            argument = arguments[at]
            if part.argument.slash and part.argument.target.name == "S" and part.argument.argument.name in ("NP", "N"):
                shared = _understood(part.argument, here, arguments, at)
                if shared is not None and argument.argument is not None:
                    missing = Indexed(part.argument.argument, shared)
                    argument = Indexed(part.argument, argument.head, argument.result, missing)
            here = Indexed(part, OWN, here, argument)
        return here

    def _core(self, category: Category) -> Indexed:
        if not category.slash:
            return Indexed(category, OWN)
        if is_determiner(category):
            head = self._fresh()
            return Indexed(category, OWN, Indexed(category.result, head), Indexed(category.argument, head))
        inside = self._open(category.result)
        return Indexed(category, OWN, inside, inside)

    def _open(self, category: Category) -> Indexed:
        """A category of some other word: a head for the target, one for every argument; modifiers share the latter."""
        if not category.slash:
            return Indexed(category, self._fresh())
        result = self._open(category.result)
        if category.is_modifier and result.argument is not None:
            head = self._fresh()
            return Indexed(category, result.head, result, self._with_target(result, head))
        return Indexed(category, result.head, result, self._open(category.argument))

    def _with_target(self, indexed: Indexed, head: int) -> Indexed:
        result = None if indexed.result is None else self._with_target(indexed.result, head)
        return Indexed(indexed.category, head, result, indexed.argument)


def _understood(category: Category, before: Indexed, arguments: list[Indexed], at: int) -> int | None:
    """The head of what is understood as the subject of, or missing from, the verbal argument `at`; None if nothing is.

    before     what is left of the lexical category when the argument has been taken
    arguments  all arguments outside the core, from the innermost
    """
    outer = [a.head for a in arguments[at + 1 :] if a.category.name in ("NP", "N")]
    inner = [a.head for a in arguments[1:at] if a.category.name == "NP"]
    core = before
    while core.result is not None and not _is_core(core.category):
        core = core.result
    relative = core.category.target.name in ("NP", "N") and category.target.feature == "dcl"
    if category.slash == "/" and not relative:
        return outer[0] if outer and core.category.target.feature == "wq" else None
    if relative:  # who slept, the book that he bought; what he bought
        return outer[0] if outer else core.result.head if core.result is not None else OWN
    if outer or inner:
        return (outer or inner[-1:])[0]
    if core.result is not None:  # he left sleeping: the subject of what is modified
        verbal = core.result.argument is not None and core.category.is_modifier and core.category.target.name == "S"
        return core.result.argument.head if verbal and core.result.argument is not None else None
    subject = arguments[0] if at else None
    return subject.head if subject is not None and str(subject.category) == "NP" else None  # there, it: no head


def _is_core(category: Category) -> bool:
    return not category.slash or is_modifier(category) or is_determiner(category)


def is_modifier(category: Category) -> bool:
    """Rule 2: X|X without features, predicative adjectives apart."""
    return category.is_modifier and category.target.feature in ("", "X", "nb", "adj")


def is_determiner(category: Category) -> bool:
    """Rule 3: NP[nb]/N."""
    return bool(category.slash) and category.result.name == "NP" and category.argument.name == "N"


def text(category: Category) -> str:
    """The category with its indices as CCGbank writes them, `(S[dcl]\\NP_1)/NP_2`; the own head is not shown."""
    return _text(indices(category), True)


def _text(indexed: Indexed, outermost: bool = False) -> str:
    mark = "" if indexed.head == OWN else f"_{indexed.head}"
    if indexed.result is None or indexed.argument is None:
        return f"{indexed.category}{mark}"
    inside = f"{_text(indexed.result)}{indexed.category.slash}{_text(indexed.argument)}"
    return inside if outermost else f"({inside}){mark}"
