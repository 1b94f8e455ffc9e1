"""Argument clusters (section 6.4.1), as in "pay them 5 cents today and him ten tomorrow".

In the first conjunct, the constituents behind the verb are type-raised and composed to a function over the verb. In the
other conjuncts, this is done with all constituents. These functions are coordinated, and the result takes the verb.
Gapping (section 6.4.2) has no such analysis and raises Failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treebound.treebanks.ccg.categories import Category, functor
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.ccg.joining import Failure, join, stripped
from treebound.treebanks.ccg.penn.roles import PUNCTUATION, complement, head, natural
from treebound.treebanks.ccg.penn.tags import VERBS
from treebound.treebanks.ccg.penn.tree import Tree
from treebound.treebanks.ccg.rules import raised

if TYPE_CHECKING:
    from treebound.treebanks.ccg.penn.assign import Assignment


def is_gapped(node: Tree) -> bool:
    """Return whether a later conjunct lacks the verb that it shares with the first. Raise Failure for gapping."""
    conjuncts = [c for c in node.children if c.children]
    gapped = [c for c in conjuncts[1:] if any(part.copy for part in c.children) and not _has_head(c)]
    if gapped and (node.label != "VP" or conjuncts[0] is not node.children[0]):
        raise Failure(f"gapping of {node.label}")
    return bool(gapped)


def _has_head(node: Tree) -> bool:
    """Return whether a conjunct has a verb of its own, or a participle whose auxiliary is shared."""
    if node.label in ("S", "VP"):
        return any(c.label in VERBS or c.label == "VP" for c in node.children)
    return True


def build(assignment: Assignment, node: Tree, category: Category) -> Derivation:
    """Return the derivation of a coordination of argument clusters. Raise Failure."""
    first = node.children[0]
    later = [c for c in node.children[1:] if c.children]
    size = max(sum(part.label not in PUNCTUATION for part in c.children) for c in later)
    behind = [i for i in range(head(first) + 1, len(first.children)) if first.children[i].label not in PUNCTUATION]
    if len(behind) < size or any(part.label in PUNCTUATION for part in first.children[behind[-size] :]):
        raise Failure("argument clusters of different forms")
    begin = behind[-size]
    pieces, verb = _pieces(assignment, first, first.children[begin:], category)
    cluster = _composed(pieces)
    head_index = head(first)
    verbal = assignment.around(
        first, verb, first.children[:head_index], first.children[head_index], first.children[head_index + 1 : begin]
    )
    parts: list[Derivation | Tree] = [cluster]
    for child in node.children[1:]:
        if child.children:
            parts.append(_composed(_pieces(assignment, first, child.children, category, first.children[begin:])[0]))
        else:
            parts.append(child)
    return join(verbal, assignment.conjoin(parts), category, "argument cluster")


def _pieces(
    assignment: Assignment, first: Tree, parts: list[Tree], category: Category, patterns: list[Tree] | None = None
) -> tuple[list[Derivation], Category]:
    """Return (parts of a cluster as functions over the verb, category of a verb that takes all these parts).

    patterns  the parts of the first conjunct, which determine whether the parts are complements or adjuncts
    """
    pieces: list[Derivation] = []
    main = first.children[head(first)]
    for i in reversed(range(len(parts))):
        part = parts[i]
        model = patterns[i] if patterns is not None and i < len(patterns) else part
        if part.label in PUNCTUATION:
            raise Failure("argument clusters of different forms")
        if complement(first, main, model, False):
            own_category = natural(model)
            taking = functor(category, "/", own_category)
            target = category.bare()
            own = assignment.child(part, own_category)
            pieces.insert(0, Derivation(raised(own.category, target, forward=False), "tr", 0, (own,)))
            category = taking
        else:
            basis = stripped(category)
            pieces.insert(0, assignment.child(part, functor(basis, "\\", basis)))
    return pieces, category


def _composed(pieces: list[Derivation]) -> Derivation:
    """Return the composition of the parts of a cluster."""
    result = pieces[0]
    for piece in pieces[1:]:
        cluster_category = functor(piece.category.result, "\\", result.category.argument)
        result = join(result, piece, cluster_category, "argument cluster")
    return result
