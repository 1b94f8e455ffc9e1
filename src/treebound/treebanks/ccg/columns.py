"""Derivations as columns of a treebank, without loss, so that all tools for treebanks work on derivations.

- DEPREL holds the lexical category of a word.
- HEAD holds the head of the word. The largest constituent whose lexical head is this word is combined with another
  constituent, and the lexical head of the result is the head of the word.
- FEATS holds the steps that follow the word, separated by `|`. A category X alone is a unary step to X. `X<` and `X>`
  combine the last two constituents into a constituent of category X. Its head is the head of the left constituent for
  `X<`, and the head of the right constituent for `X>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from treebound.core.treebank import Treebank
from treebound.treebanks.ccg.categories import Category, parse
from treebound.treebanks.ccg.derivation import Derivation, licence

NO_STEP = "_"


def heads_of(derivation: Derivation) -> list[int]:
    """Return the head of every word, numbered from 1, with 0 for the head of the sentence. O(n)."""
    heads: list[int] = []
    open_heads: list[int] = []  # lexical heads of the constituents without a parent so far
    for node in reversed(list(_right_first(derivation))):
        if not node.children:
            heads.append(0)
            open_heads.append(len(heads))
        elif len(node.children) == 2:
            right, left = open_heads.pop(), open_heads.pop()
            head, dependent = (left, right) if node.head == 0 else (right, left)
            heads[dependent - 1] = head
            open_heads.append(head)
    return heads


def steps_of(derivation: Derivation) -> list[str]:
    """Return the value of FEATS for every word. O(n)."""
    steps: list[list[str]] = []
    for node in reversed(list(_right_first(derivation))):
        if not node.children:
            steps.append([])
        else:
            steps[-1].append(f"{node.category}{'' if len(node.children) == 1 else '<>'[node.head]}")
    return ["|".join(of_word) or NO_STEP for of_word in steps]


def _right_first(derivation: Derivation) -> list[Derivation]:
    """Return all constituents, parents before children, right before left; reversed, children come before parents."""
    stack, order = [derivation], []
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.children)
    return order


@cache
def _licence(children: tuple[Category, ...], category: Category) -> str:
    """Return the result of `derivation.licence`, the rule that makes a category from its children, from a cache."""
    return licence(children, category)


def derivation_of(words: Sequence[tuple[str, str, str, str]]) -> Derivation:
    """Return the derivation over words (form, tag, category, steps).

    O(n), apart from a search for the rule of each step that has not occurred before. ValueError says what is wrong with
    the steps.
    """
    constituents: list[Derivation] = []
    for form, tag, category, steps in words:
        constituents.append(Derivation(parse(category), word=form, tag=tag))
        for step in steps.split("|") if steps != NO_STEP else ():
            binary = step[-1:] in ("<", ">")
            count, head = (2, int(step[-1] == ">")) if binary else (1, 0)
            result = parse(step[:-1] if binary else step)
            if len(constituents) < count:
                raise ValueError(f"step {step!r} combines constituents that do not exist")
            children = tuple(constituents[-count:])
            del constituents[-count:]
            rule = _licence(tuple(child.category for child in children), result)
            constituents.append(Derivation(result, rule, head, children))
    if len(constituents) != 1:
        raise ValueError(f"the steps leave {len(constituents)} constituents, not one")
    return constituents[0]


def derivations_of(treebank: Treebank, tag: str = "xpos") -> list[Derivation]:
    """Return the derivations of all sentences. ValueError names the first sentence without one."""
    derivations = []
    for i, sentence in enumerate(treebank, 1):
        columns = (sentence.strings(name) for name in ("form", tag, "deprel", "feats"))
        try:
            derivations.append(derivation_of(list(zip(*columns, strict=True))))
        except ValueError as error:
            raise ValueError(f"sentence {i}: {error}") from None
    return derivations
