"""Argument clusters (section 6.4.1): pay them 5 cents today and him ten tomorrow.

What stands behind the verb in the first conjunct, and all of the others, is type-raised and composed into functions
over the verb, which are coordinated; the verb comes last. Gapping (section 6.4.2) has no such analysis and is refused.
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
    """Whether a later conjunct lacks the verb that it has in common with the first. Raises Failure of gapping."""
    conjuncts = [c for c in node.children if c.children]
    gapped = [c for c in conjuncts[1:] if any(part.copy for part in c.children) and not _has_head(c)]
    if gapped and (node.label != "VP" or conjuncts[0] is not node.children[0]):
        raise Failure(f"gapping of {node.label}")
    return bool(gapped)


def _has_head(node: Tree) -> bool:
    """Whether a conjunct has a verb, or the participle that an auxiliary is shared with, of its own."""
    if node.label in ("S", "VP"):
        return any(c.label in VERBS or c.label == "VP" for c in node.children)
    return True


def build(assignment: Assignment, node: Tree, category: Category) -> Derivation:
    """The derivation of a coordination of argument clusters. Raises Failure."""
    first = node.children[0]
    later = [c for c in node.children[1:] if c.children]
    size = max(sum(part.label not in PUNCTUATION for part in c.children) for c in later)
    behind = [i for i in range(head(first) + 1, len(first.children)) if first.children[i].label not in PUNCTUATION]
    if len(behind) < size or any(part.label in PUNCTUATION for part in first.children[behind[-size] :]):
        raise Failure("argument clusters of different forms")
    at = behind[-size]
    pieces, verb = _pieces(assignment, first, first.children[at:], category)
    cluster = _composed(pieces)
    h = head(first)
    verbal = assignment.around(first, verb, first.children[:h], first.children[h], first.children[h + 1 : at])
    parts: list[Derivation | Tree] = [cluster]
    for child in node.children[1:]:
        if child.children:
            parts.append(_composed(_pieces(assignment, first, child.children, category, first.children[at:])[0]))
        else:
            parts.append(child)
    return join(verbal, assignment.conjoin(parts), category, "argument cluster")


def _pieces(
    assignment: Assignment, first: Tree, parts: list[Tree], category: Category, like: list[Tree] | None = None
) -> tuple[list[Derivation], Category]:
    """The parts as functions over what takes them, from the last to the first; and what takes the first."""
    found: list[Derivation] = []
    main = first.children[head(first)]
    for i in reversed(range(len(parts))):
        part = parts[i]
        model = like[i] if like is not None and i < len(like) else part
        if part.label in PUNCTUATION:
            raise Failure("argument clusters of different forms")
        if complement(first, main, model, False):
            wanted = natural(model)
            taking = functor(category, "/", wanted)
            target = category.bare()
            own = assignment.child(part, wanted)
            found.insert(0, Derivation(raised(own.category, target, forward=False), "tr", 0, (own,)))
            category = taking
        else:
            basis = stripped(category)
            found.insert(0, assignment.child(part, functor(basis, "\\", basis)))
    return found, category


def _composed(pieces: list[Derivation]) -> Derivation:
    result = pieces[0]
    for piece in pieces[1:]:
        wanted = functor(piece.category.result, "\\", result.category.argument)
        result = join(result, piece, wanted, "argument cluster")
    return result
