"""Head indices of categories: which parts of a lexical category have the same lexical head (sections 4.4, 6.1-6.2).

There are five rules, which look at the form of a category only. The word itself is the word that has the category.

1. The innermost result is headed by the word itself, except under rules 2 and 3.
2. In modifiers X|X, with any further arguments, the two X have the same head, and their arguments have pairwise the
   same heads. X has no features, or is a predicative adjective. The category (S[dcl]\\S[dcl])\\NP of verbs that
   introduce a quotation is not a modifier.
3. In determiners NP|N, the noun heads the noun phrase.
4. Control: a verb phrase among the arguments (S[to]\\NP, S[ng]\\NP ...) has as subject the noun phrase that is taken
   last before it, the object. Without an object it is the word's own subject.
5. Extraction: the argument that a clause lacks is the noun, below a relative pronoun (NP\\NP)/(S[dcl]/NP) and below an
   interrogative determiner (S[wq]/(S[q]/NP))/N.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from treebound.treebanks.ccg.categories import Category

OWN = 0


@dataclass(frozen=True, eq=False, slots=True)
class Indexed:
    """A category with a number for the head of every part.

    Parts with equal numbers have the same head. The number `OWN` stands for the word that has the category.
    """

    category: Category
    head: int
    result: Indexed | None = None
    argument: Indexed | None = None


@cache
def indices(category: Category) -> Indexed:
    """Return the head indices of a lexical category. Time O(size squared)."""
    return _Indexing().lexical(category)


class _Indexing:
    """The numbering of the heads of one lexical category."""

    def __init__(self) -> None:
        self._last = OWN

    def _fresh(self) -> int:
        """Return a new head number."""
        self._last += 1
        return self._last

    def lexical(self, category: Category) -> Indexed:
        """Index the whole category.

        Its core (modifier, determiner or the word's own result) comes first, then its arguments.
        """
        chain = list(category.results())
        core = next((i for i, part in enumerate(chain) if _is_core(part)), len(chain) - 1)
        indexed = self._core(chain[core])
        outer = chain[:core][::-1]  # from the innermost
        arguments = [self._open(part.argument) for part in outer]
        for position, part in enumerate(outer):
            argument = arguments[position]
            if part.argument.slash and part.argument.target.name == "S" and part.argument.argument.name in ("NP", "N"):
                shared = _understood(part.argument, indexed, arguments, position)
                if shared is not None and argument.argument is not None:
                    missing = Indexed(part.argument.argument, shared)
                    argument = Indexed(part.argument, argument.head, argument.result, missing)
            indexed = Indexed(part, OWN, indexed, argument)
        return indexed

    def _core(self, category: Category) -> Indexed:
        """Index the core of a category: an atom, a modifier or a determiner."""
        if not category.slash:
            return Indexed(category, OWN)
        if is_determiner(category):
            head = self._fresh()
            return Indexed(category, OWN, Indexed(category.result, head), Indexed(category.argument, head))
        inside = self._open(category.result)
        return Indexed(category, OWN, inside, inside)

    def _open(self, category: Category) -> Indexed:
        """Index a category whose head is another word: new heads for the target and for every argument.

        In a modifier, the targets of the two parts have different heads. Their arguments have pairwise the same heads.
        """
        if not category.slash:
            return Indexed(category, self._fresh())
        result = self._open(category.result)
        if category.is_modifier and result.argument is not None:
            head = self._fresh()
            return Indexed(category, result.head, result, self._with_target(result, head))
        return Indexed(category, result.head, result, self._open(category.argument))

    def _with_target(self, indexed: Indexed, head: int) -> Indexed:
        """Return the indexed category with `head` as the head of its target."""
        result = None if indexed.result is None else self._with_target(indexed.result, head)
        return Indexed(indexed.category, head, result, indexed.argument)


def _understood(category: Category, before: Indexed, arguments: list[Indexed], position: int) -> int | None:
    """Return the head of the subject or argument that a verbal argument lacks (rules 4 and 5), else None.

    category   the verbal argument
    before     the lexical category that remains when the argument has been taken
    arguments  all arguments outside the core, from the innermost
    position   index of the verbal argument among them
    """
    outer = [a.head for a in arguments[position + 1 :] if a.category.name in ("NP", "N")]
    inner = [a.head for a in arguments[1:position] if a.category.name == "NP"]
    core = before
    while core.result is not None and not _is_core(core.category):
        core = core.result
    relative = core.category.target.name in ("NP", "N") and category.target.feature == "dcl"
    if category.slash == "/" and not relative:
        return outer[0] if outer and core.category.target.feature == "wq" else None
    if relative:  # "who slept", "the book that he bought", "what he bought"
        return outer[0] if outer else core.result.head if core.result is not None else OWN
    if outer or inner:
        return (outer or inner[-1:])[0]
    if core.result is not None:  # "he left sleeping": the subject of the modified verb phrase
        verbal = core.result.argument is not None and core.category.is_modifier and core.category.target.name == "S"
        return core.result.argument.head if verbal and core.result.argument is not None else None
    subject = arguments[0] if position else None
    # the expletive subjects "there" and "it" have no head
    return subject.head if subject is not None and str(subject.category) == "NP" else None


def _is_core(category: Category) -> bool:
    """Return whether the category is a core: an atom, a modifier or a determiner."""
    return not category.slash or is_modifier(category) or is_determiner(category)


def is_modifier(category: Category) -> bool:
    """Return whether rule 2 applies: X|X without features, or with a predicative adjective as X."""
    return category.is_modifier and category.target.feature in ("", "X", "nb", "adj")


def is_determiner(category: Category) -> bool:
    """Return whether rule 3 applies: a noun phrase that takes a noun, for instance NP[nb]/N."""
    return bool(category.slash) and category.result.name == "NP" and category.argument.name == "N"


def text(category: Category) -> str:
    """Return the category with its indices in CCGbank's notation, `(S[dcl]\\NP_1)/NP_2`; the own head is not shown."""
    return _text(indices(category), True)


def _text(indexed: Indexed, outermost: bool = False) -> str:
    """Return the text of an indexed category, in brackets unless it is the outermost one."""
    mark = "" if indexed.head == OWN else f"_{indexed.head}"
    if indexed.result is None or indexed.argument is None:
        return f"{indexed.category}{mark}"
    inside = f"{_text(indexed.result)}{indexed.category.slash}{_text(indexed.argument)}"
    return inside if outermost else f"({inside}){mark}"
