"""Derivations as columns of a treebank: nothing is lost, and whatever takes a treebank takes derivations.

DEPREL holds the lexical category of a word, HEAD the word whose constituent takes that of this one (by the heads of the
derivation), FEATS the steps that are made once the word is read, separated by `|`: a category X alone is a unary step
to X; `X<` and `X>` combine the last two constituents to X, whose head is the left or the right one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from treebound.core.treebank import Treebank
from treebound.treebanks.ccg.categories import Category, parse
from treebound.treebanks.ccg.derivation import Derivation, licence

NO_STEP = "_"


def heads_of(derivation: Derivation) -> list[int]:
    """The head of every word, from 1; 0 for the head of all. O(n)."""
    heads: list[int] = []
    made: list[int] = []  # lexical heads of the constituents that are not taken yet
    for node in reversed(list(_right_first(derivation))):
        if not node.children:
            heads.append(0)
            made.append(len(heads))
        elif len(node.children) == 2:
            right, left = made.pop(), made.pop()
            head, other = (left, right) if node.head == 0 else (right, left)
            heads[other - 1] = head
            made.append(head)
    return heads


def steps_of(derivation: Derivation) -> list[str]:
    """The value of FEATS of every word. O(n)."""
    steps: list[list[str]] = []
    for node in reversed(list(_right_first(derivation))):
        if not node.children:
            steps.append([])
        else:
            steps[-1].append(f"{node.category}{'' if len(node.children) == 1 else '<>'[node.head]}")
    return ["|".join(of_word) or NO_STEP for of_word in steps]


def _right_first(derivation: Derivation) -> list[Derivation]:
    """All constituents, parents before children, right before left: backwards, children come before parents."""
    stack, found = [derivation], []
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(node.children)
    return found


@cache
def _licence(children: tuple[Category, ...], category: Category) -> str:
    return licence(children, category)


def derivation_of(words: Sequence[tuple[str, str, str, str]]) -> Derivation:
    """The derivation over words (form, tag, category, steps). ValueError says what is wrong. O(n) for known steps."""
    made: list[Derivation] = []
    for form, tag, category, steps in words:
        made.append(Derivation(parse(category), word=form, tag=tag))
        for step in steps.split("|") if steps != NO_STEP else ():
            binary = step[-1:] in ("<", ">")
            count, head = (2, int(step[-1] == ">")) if binary else (1, 0)
            result = parse(step[:-1] if binary else step)
            if len(made) < count:
                raise ValueError(f"step {step!r} combines constituents that are not there")
            children = tuple(made[-count:])
            del made[-count:]
            rule = _licence(tuple(child.category for child in children), result)
            made.append(Derivation(result, rule, head, children))
    if len(made) != 1:
        raise ValueError(f"the steps leave {len(made)} constituents, not one")
    return made[0]


def derivations_of(treebank: Treebank, tag: str = "xpos") -> list[Derivation]:
    """The derivations of all sentences. ValueError names the first one that has none."""
    found = []
    for i, sentence in enumerate(treebank, 1):
        columns = (sentence.strings(name) for name in ("form", tag, "deprel", "feats"))
        try:
            found.append(derivation_of(list(zip(*columns, strict=True))))
        except ValueError as error:
            raise ValueError(f"sentence {i}: {error}") from None
    return found
