"""Translation of a Penn tree into a CCG derivation: the whole algorithm (section 6.6)."""

from __future__ import annotations

from collections import Counter

from treebound.treebanks.brackets import Node
from treebound.treebanks.ccg.check import Translation, checked
from treebound.treebanks.ccg.joining import Failure
from treebound.treebanks.ccg.penn import clauses, close, coordination, nouns, tags
from treebound.treebanks.ccg.penn.assign import Assignment
from treebound.treebanks.ccg.penn.roles import natural
from treebound.treebanks.ccg.penn.tree import Tree, clean, from_node


def translate(node: Node, unmarked: bool = False) -> Translation:
    """Return the derivation of a bracketed tree with traces. Quotation marks are left out. Time O(words x depth).

    node      a tree that `brackets.parse(text, traces=True)` returned
    unmarked  the treebank does not mark prepositional complements (-CLR): find them by verb and preposition

    A derivation is returned only if `check.faults` finds no fault in it.
    """
    counts: Counter[str] = Counter()
    tree = clean(from_node(node))
    if unmarked:
        close.mark(tree)
    words = [leaf.word for leaf in tree.words()]
    if not words:
        return Translation(None, "no words but quotation marks", counts)
    if any(child.copy for child in tree.nodes()):
        counts["gapping or argument cluster"] += 1
    try:
        derivation = Assignment(counts).build(prepare(tree, counts), natural(tree))
    except Failure as error:
        return Translation(None, str(error), counts)
    return checked(derivation, words, counts)


def prepare(tree: Tree, counts: Counter[str]) -> Tree:
    """Run all steps of preprocessing (section 5) on a tree, which changes in place, and return it."""
    tags.fix(tree)
    clauses.prepare(tree, counts)
    coordination.group(tree)
    nouns.level(tree)
    return tree
