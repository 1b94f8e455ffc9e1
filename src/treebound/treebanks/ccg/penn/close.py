"""Find prepositional complements by verb and preposition, for treebanks that do not mark complements with -CLR.

This command makes the list of pairs from a treebank that marks complements:

    python -m treebound.treebanks.ccg.penn.close TREES.mrg ... > src/treebound/treebanks/ccg/penn/close_pairs.txt

`close_pairs.txt` lists the pairs whose prepositional phrases are marked at least half of the time in the Penn Treebank
sample. A pair with `*` as the verb covers all verbs. For such a pair, at least half of the phrases with its preposition
and without an adverbial tag are marked, and there are at least ten such phrases.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from treebound.treebanks import brackets
from treebound.treebanks.ccg.penn.tree import Tree, from_node

_MARKED = ("CLR", "PUT", "DTV", "PRD")
_ADVERBIAL = ("ADV", "BNF", "DIR", "EXT", "LOC", "MNR", "PRP", "TMP", "LGS")
#: share of marked prepositional phrases below which a treebank counts as unmarked
RARE = 0.02


@cache
def pairs() -> frozenset[tuple[str, str]]:
    """Return the pairs (verb, preposition) of `close_pairs.txt`; a verb is the result of `stem`, or `*`."""
    text = files(__package__).joinpath("close_pairs.txt").read_text(encoding="utf-8")
    return frozenset((verb, preposition) for verb, preposition in map(str.split, text.splitlines()))


def mark(tree: Tree) -> None:
    """Mark the prepositional phrases that are complements by the pairs; the tree changes in place."""
    known = pairs()
    for verb, phrase, preposition in _phrases(tree):
        if not phrase.has(*_MARKED, *_ADVERBIAL) and ((verb, preposition) in known or ("*", preposition) in known):
            phrase.functions |= {"CLR"}


def stem(verb: str) -> str:
    """Return a verb form without its ending; most forms of most verbs have the same stem."""
    verb = verb.lower()
    for ending in ("ing", "ied", "ies", "ed", "es", "e", "s"):
        if verb.endswith(ending) and len(verb) - len(ending) >= 3:
            return verb[: -len(ending)]
    return verb


def _phrases(tree: Tree) -> Iterator[tuple[str, Tree, str]]:
    """Yield (stem of the verb, prepositional phrase, preposition) for every prepositional phrase beside a verb."""
    for node in tree.nodes():
        verb = next((c for c in node.children if c.is_leaf and c.label[:2] == "VB"), None)
        for child in node.children if node.label == "VP" and verb is not None else ():
            if child.label == "PP" and child.children and child.children[0].word:
                yield stem(verb.word if verb is not None else ""), child, child.children[0].word.lower()


def learn(trees: Iterable[Tree]) -> list[tuple[str, str]]:
    """Return the sorted pairs of a treebank that marks complements."""
    marked, every = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for tree in trees:
        for verb, phrase, preposition in _phrases(tree):
            counted = [(verb, preposition)] if phrase.has(*_ADVERBIAL) else [(verb, preposition), ("*", preposition)]
            every.update(counted)
            if phrase.has(*_MARKED):
                marked.update(counted)
    return sorted(pair for pair in marked if 2 * marked[pair] >= every[pair] and (pair[0] != "*" or every[pair] >= 10))


def main(paths: list[str]) -> None:
    """Read bracketed files and write their pairs to standard output."""
    nodes = (node for path in paths for node in brackets.parse(Path(path).read_text(encoding="utf-8"), traces=True))
    for verb, preposition in learn(from_node(node) for node in nodes if isinstance(node, brackets.Node)):
        print(verb, preposition)


if __name__ == "__main__":
    main(sys.argv[1:])
