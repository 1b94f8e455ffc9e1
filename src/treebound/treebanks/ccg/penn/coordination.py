"""Preprocessing: grouping of conjuncts and conjunctions as constituents of their own (sections 4.5, 5.2, 7.4-7.5)."""

from __future__ import annotations

import itertools

from treebound.treebanks.ccg.penn.roles import NOUNS, PUNCTUATION, is_possessive
from treebound.treebanks.ccg.penn.tags import VERBS
from treebound.treebanks.ccg.penn.tree import Tree, labels

_CONJUNCTIONS = frozenset(("CC", "CONJP"))
_CORRELATIVES = frozenset(("both", "either", "neither", "not"))
_CLASSES = [
    labels("NP NN NNS NNP NNPS NOUN QP PRP CD DT NX"),
    labels("JJ JJR JJS ADJP VBN VBG"),
    labels("S SINV SQ SBARQ SBAR"),
    labels("ADVP RB RBR RBS"),
    frozenset(("PP", "IN", "TO")),
    frozenset(("WHNP", "WHPP", "WHADVP")),
]


def group(tree: Tree) -> None:
    """Insert a constituent marked `group` around the conjuncts of every coordination; the tree changes in place."""
    for node in list(tree.nodes()):
        if node.is_leaf or node.label in ("CONJP", "PRN") or node.mark == "group":
            continue
        if node.label == "UCP" or any(_is_conjunction(c) for c in node.children[1:]):
            _group_node(node)
        elif node.label in ("NP", "S", "VP") and len(node.children) > 2:
            _group_list(node)


def _is_conjunction(node: Tree) -> bool:
    """Return whether a constituent is a conjunction."""
    return node.label in _CONJUNCTIONS


def like(first: Tree, second: Tree) -> bool:
    """Return whether two constituents may be conjuncts of each other, by their labels."""
    if first.label == second.label:
        return True
    if first.label in VERBS and second.label in VERBS:
        return True
    if {first.label, second.label} <= {"VP", *VERBS}:
        return True
    return any(first.label in c and second.label in c for c in _CLASSES)


def _group_node(node: Tree) -> None:
    """Group the conjuncts around the last conjunction of a constituent."""
    children = node.children
    marks = [i for i, c in enumerate(children) if _is_conjunction(c)]
    if not marks:
        marks = [i for i, c in enumerate(children) if c.label in PUNCTUATION][:1] or [0]
    position = max(marks)
    if position == len(children) - 1 or position == 0:
        return
    last = position + 1
    while last < len(children) - 1 and (children[last].label in PUNCTUATION or _is_adverbial(children[last], children)):
        last += 1
    right = children[last]
    first = position - 1
    while first >= 0 and (children[first].label in PUNCTUATION or children[first].label == "HYPH"):
        first -= 1
    if first < 0:
        return
    if node.label != "UCP" and not like(children[first], right):
        candidates = [i for i in range(first, -1, -1) if like(children[i], right)]
        if not candidates or node.label in ("NOUN", "NP"):
            if node.label not in ("NP", "NOUN", "ADJP", "ADVP", "QP"):
                first = first if candidates == [] else candidates[0]
            elif not candidates:
                return
        else:
            first = candidates[0]
    if node.label in ("NP", "NOUN", "QP") and all(c.is_leaf for c in (children[first], right)):
        return  # `nouns.level` coordinates nouns
    begin = first
    while begin >= 2 and (children[begin - 1].label in (",", ":", *_CONJUNCTIONS)):
        before = begin - 1
        while before >= 0 and children[before].label in (",", ":", *_CONJUNCTIONS):
            before -= 1
        if before < 0 or not like(children[before], children[first]):
            break
        begin = before
    if begin and [leaf.word.lower() in _CORRELATIVES for leaf in children[begin - 1].words()] == [True]:
        begin -= 1
    end = len(children) - 1 if node.label in ("UCP",) else last
    if node.label in ("NP", "NOUN") and children[end].label in NOUNS:
        return
    _insert(node, begin, end)


def _is_adverbial(node: Tree, siblings: list[Tree]) -> bool:
    """Return whether a constituent is an adverb between a conjunction and its conjunct (section 5.2, footnote 12)."""
    return node.label in ("ADVP", "RB", "PRN") and not all(
        c.label in ("ADVP", "RB", "RBR", "CC", "CONJP", *PUNCTUATION) for c in siblings
    )


def _group_list(node: Tree) -> None:
    """Group appositives and lists without a conjunction.

    Noun phrases are joined by a comma (section 7.5), clauses and verb phrases by a comma, semicolon or colon.
    """
    children = node.children
    label = node.label
    if label == "NP":
        if children[0].label != "NP" or is_possessive(children[0]):
            return
        position = next(
            (
                i
                for i, c in enumerate(children)
                if i and c.label == "NP" and children[i - 1].label in (",", ":") and not c.has("TMP", "ADV")
            ),
            0,
        )
        if not position:
            return
        end = position
        while end + 2 < len(children) and children[end + 1].label in (",", ":") and children[end + 2].label == "NP":
            end += 2
        begin = position - 2
        if begin < 0 or children[begin].label != "NP":
            if all(c.label not in PUNCTUATION for c in children[: position - 1]):
                _wrap(node, 0, position - 1)
                _insert(node, 0, 2 + end - position)
            return
        _insert(node, begin, end)
        return
    same = [i for i, c in enumerate(children) if c.label == label]
    if (
        len(same) > 1
        and all(b - a == 2 and children[a + 1].label in (":", ",") for a, b in itertools.pairwise(same))
        and children[same[0]].mark != "quoting"
        and not any(children[i].has("TPC", "ADV", "PRP") or children[i].mark == "quoting" for i in same)
    ):
        _insert(node, same[0], same[-1])


def _wrap(node: Tree, begin: int, end: int) -> None:
    """Join the children begin .. end - 1 in a noun phrase if there are several."""
    if end - begin > 1:
        node.children[begin:end] = [Tree("NP", children=node.children[begin:end])]


def _insert(node: Tree, begin: int, end: int) -> None:
    """Group the children begin .. end, both included; if they are all children, the node itself becomes the group."""
    inside = node.children[begin : end + 1]
    conjuncts: list[Tree] = []
    for child in inside:
        if conjuncts and _is_prefix(conjuncts[-1], child, conjuncts, node):
            conjuncts[-1] = Tree(child.label, child.functions - {"SBJ"}, [conjuncts[-1], child])
        elif conjuncts and not _separates(conjuncts[-1]) and not _separates(child):
            label = "NOUN" if child.label in (*NOUNS, "HYPH") else child.label if child.children else node.label
            together = [*conjuncts[-1].children, child] if conjuncts[-1].mark == "joined" else [conjuncts[-1], child]
            conjuncts[-1] = Tree(label, child.functions - {"SBJ"}, together, mark="joined")
        else:
            conjuncts.append(child)
    if begin == 0 and end == len(node.children) - 1:
        node.mark, node.children = "group", conjuncts
    else:
        functions = node.functions & {"PERFECT"} | {"SHARED"}
        node.children[begin : end + 1] = [Tree(node.label, functions, conjuncts, mark="group")]


def _separates(node: Tree) -> bool:
    """Return whether a constituent is a conjunction, a punctuation mark, or a correlative such as "both"."""
    if node.label in PUNCTUATION or _is_conjunction(node):
        return True
    return [leaf.word.lower() in _CORRELATIVES for leaf in node.words()] == [True]


def _is_prefix(before: Tree, child: Tree, conjuncts: list[Tree], node: Tree) -> bool:
    """Return whether `before` is an adverb that belongs to `child`, the conjunct behind it."""
    if before.label not in ("ADVP", "RB", "PRN") or child.label in PUNCTUATION or _is_conjunction(child):
        return False
    return (
        len(conjuncts) > 1
        and (_is_conjunction(conjuncts[-2]) or conjuncts[-2].label == ",")
        and before.label != child.label
        and node.label not in ("ADVP",)
    )
