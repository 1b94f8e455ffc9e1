"""Preprocessing: traces, fronted quotations, small clauses, auxiliaries (sections 5.3, 6.1, 6.2, 6.5)."""

from __future__ import annotations

from collections import Counter

from treebound.treebanks.ccg.penn.roles import CLAUSES, PUNCTUATION, complement, head
from treebound.treebanks.ccg.penn.tags import HAVE, VERBS
from treebound.treebanks.ccg.penn.tree import Tree, clean, labels

#: null elements that have no influence on categories
_IGNORED = frozenset(("*U*", "*?*", "*NOT*", "*PPA*", "*ICH*", "*EXP*"))
_OPENERS = labels("such rather instead together along because away due prior thanks contrary ahead apart aside")
_ADVERBS = labels("about over under around just even only")
_SMALL = labels("NP ADJP PP ADVP VP UCP")


def prepare(tree: Tree, counts: Counter[str]) -> Tree:
    """Run all steps of this module, in their order; the tree changes in place."""
    _mark_expletives(tree)
    _mark_extraposed(tree)
    _drop_null_elements(tree)
    _quotations(tree, counts)
    _perfects(tree)
    _multiword_prepositions(tree)
    _small_clauses(tree)
    _traces_of_adjuncts(tree)
    return clean(tree)


def _mark_expletives(tree: Tree) -> None:
    """Mark expletive noun phrases and remove their traces; antecedents of the traces become complements."""
    for node in tree.nodes():
        if node.label == "NP" and any(t.kind == "*EXP*" for c in node.children for t in c.nodes()):
            node.functions |= {"EXPL"}
            node.children = [c for c in node.children if not c.is_trace]
            while len(node.children) == 1 and node.children[0].children:
                node.children = node.children[0].children
    expletives = {node.index for node in tree.nodes() if node.kind == "*EXP*"}
    for node in tree.nodes():
        if node.index and node.index in expletives:
            node.mark = node.mark or "complement"


def _mark_extraposed(tree: Tree) -> None:
    """Mark the antecedent of an *ICH* trace as an adjunct at its surface position (section 6.5)."""
    moved = {node.index for node in tree.nodes() if node.kind == "*ICH*" and node.index}
    for node in tree.nodes():
        if node.children and node.index in moved:
            node.mark = "adjunct"


def _drop_null_elements(tree: Tree) -> None:
    """Remove null elements that leave no gap.

    NULLWH marks a clause that loses a null relative pronoun, STRANDED a prepositional phrase that loses its object.
    """
    for node in tree.nodes():
        children = []
        for child in node.children:
            if child.is_trace:
                kind = child.trace().kind
                if kind in _IGNORED or (kind == "0" and child.label[:2] != "WH"):
                    continue
                if kind == "0":
                    node.functions |= {"NULLWH"}
                    continue
                if kind == "*":
                    if node.label == "PP":
                        node.functions |= {"STRANDED"}
                    continue
            children.append(child)
        node.children = children
    clean(tree)


def _quotations(tree: Tree, counts: Counter[str]) -> None:
    """Make a fronted or interrupted quotation the head, modified by the quoting clause (S[dcl]\\S[dcl])."""
    for node in tree.nodes():
        if node.label not in ("S", "SINV", "SQ"):
            continue
        fronted = next((c for c in node.children if c.index and c.label in CLAUSES and not c.has("SBJ")), None)
        others = [c for c in node.children if c is not fronted]
        if fronted is not None and _remove(others, fronted.index):
            counts["*T* of quotations"] += 1
            first = node.children.index(fronted)
            inner = node.children[first + 1 :]
            final = [inner.pop()] if inner[-1].label == "." else []
            comma: list[Tree] = []
            while inner and inner[0].label in PUNCTUATION:
                comma.append(inner.pop(0))
            quoting = Tree("S", children=inner, mark="quoting")
            node.children = [*node.children[:first], fronted, *comma, quoting, *final]
            node.functions |= {"QUOTED"}
            node.label = "S"
        elif node.label == "SINV":
            _fronted_predicate(node)
    # a quotation around a parenthetical: (S The firm (PRN , he said *T*-1 ,) grew)-1
    for node in tree.nodes():
        if node.label == "PRN":
            subject = next((i for i, c in enumerate(node.children) if c.has("SBJ")), -1)
            verb = next((i for i, c in enumerate(node.children) if c.label == "VP"), -1)
            if subject >= 0 and verb >= 0:
                begin, end = min(subject, verb), max(subject, verb) + 1
                node.children[begin:end] = [Tree("S", children=node.children[begin:end])]
            for clause in node.children:
                if clause.label in ("S", "SINV", "SQ") and _remove([clause], 0):
                    clause.mark = "quoting"
                    counts["*T* of quotations"] += 1


def _fronted_predicate(node: Tree) -> None:
    """Make a fronted predicate a complement of the verb, as in "Behind the scenes is a plan".

    The verb then takes its predicate to the left and its subject to the right.
    """
    for child in node.children:
        if not child.index or child.is_leaf:
            continue
        for inner in node.nodes():
            others = [
                c
                for c in inner.children
                if not (c.is_trace and c.trace().kind == "*T*" and c.trace().index == child.index)
            ]
            if len(others) < len(inner.children):
                inner.children = others
                child.mark = "complement"
                return


def _remove(nodes: list[Tree], index: int) -> bool:
    """Remove the first trace of a moved clause (*T*) that has this index; return whether there was one.

    Index 0 stands for any index.
    """
    for top in nodes:
        for node in top.nodes():
            for child in node.children:
                trace = child.trace() if child.is_trace else None
                if trace is not None and trace.kind == "*T*" and child.label in CLAUSES:
                    if index and trace.index != index:
                        continue
                    node.children = [c for c in node.children if c is not child]
                    _mark_path(top, node)
                    return True
    return False


def _mark_path(top: Tree, end: Tree) -> None:
    """Mark the nodes on the path from clause `top` to `end`, the verb that has lost its quotation, as `quoting`."""
    for node in top.nodes():
        if any(inner is end for inner in node.nodes()):
            node.mark = "quoting"


def _perfects(tree: Tree) -> None:
    """Mark verb phrases below a form of "have" with PERFECT: their participles are not passive (section 6.1)."""
    for node in tree.nodes():
        if node.label != "VP":
            continue
        first = next((c for c in node.children if c.is_leaf and c.label in VERBS), None)
        perfect = first is not None and first.word.lower() in HAVE
        inherits = first is None and node.has("PERFECT")
        if perfect or inherits:
            for child in node.children:
                if child.label == "VP" or (child.label == "UCP"):
                    child.functions |= {"PERFECT"}
    for node in tree.nodes():  # inverted clauses: (SINV Had (NP he) (VP known))
        first = next((c for c in node.children if c.is_leaf and c.label in VERBS), None)
        if node.label in ("SINV", "SQ") and first is not None and first.word.lower() in HAVE:
            for child in node.children:
                if child.label == "VP":
                    child.functions |= {"PERFECT"}


def _small_clauses(tree: Tree) -> None:
    """Attach the parts of a small clause to its governor, as complements (section 5.3).

    The same happens to the parts of a clause below a raising verb.
    """
    for node in tree.nodes():
        if node.label not in ("VP", "PP", "SBAR"):
            continue
        if node.label == "SBAR" and not (
            node.children[0].is_leaf and node.children[0].word.lower() in ("with", "for", "without")
        ):
            continue
        children: list[Tree] = []
        for child in node.children:
            inner = [c for c in child.children if c.label not in PUNCTUATION]
            if (
                child.label == "S"
                and not child.has("ADV", "PRP", "TMP", "TPC", "MNR", "LOC")
                and (node.label == "PP" or not child.has("NOM"))
                and any(c.has("SBJ") for c in inner)
                and not _finite(child)
            ):
                for part in child.children:
                    phrase = part.label in (*_SMALL, *CLAUSES) and not part.is_leaf and part.mark != "adjunct"
                    if phrase and (part.has("SBJ", "PRD") or part.label == "VP"):
                        part.mark = "complement"
                        part.functions -= {"SBJ"}
                    children.append(part)
            else:
                children.append(child)
        node.children = children


def _multiword_prepositions(tree: Tree) -> None:
    """Split "because of", "such as", "rather than": the first word takes a prepositional phrase (section 5.2)."""
    for node in tree.nodes():
        children = node.children
        if node.label != "PP" or len(children) < 3 or not (children[0].is_leaf and children[1].is_leaf):
            continue
        first, second = children[:2]
        opens = first.label in ("IN", "VBG", "JJ") or first.word.lower() in _OPENERS
        if second.label in ("IN", "TO") and opens and first.word.lower() not in _ADVERBS:
            node.children = [first, Tree("PP", children=children[1:], mark="complement")]


def _finite(node: Tree) -> bool:
    """Return whether the verb of a clause is finite; a bare verb form is not finite unless it is a subjunctive."""
    from treebound.treebanks.ccg.penn.roles import feature

    main = node.children[head(node)]
    if main.label == "S":
        return _finite(main)
    return (
        main.label == "VP"
        and feature(main) in ("dcl", "b")
        and not (feature(main) == "b" and node.mark != "subjunctive" and not node.has("SUBJ"))
    )


def _traces_of_adjuncts(tree: Tree) -> None:
    """Remove the traces of adjuncts (section 6.2.4); the remaining traces are gaps of complements."""
    for node in tree.nodes():
        if not node.children or node.is_leaf:
            continue
        children = []
        for child in node.children:
            if child.is_trace and child.trace().kind in ("*T*", "*RNR*") and not child.has("SBJ"):
                main = node.children[head(node)]
                if child.label in ("ADVP", "PP", "SBAR") and not child.has("PRD", "PUT", "CLR", "DTV"):
                    continue
                if child is not main and not complement(
                    node, main, child, node.children.index(child) < node.children.index(main)
                ):
                    continue
            children.append(child)
        if children:
            node.children = children
    clean(tree)
    for node in tree.nodes():  # a preposition that a gap strands is a complement of its verb
        if node.label == "VP":
            for child in node.children:
                if child.label == "PP" and any(
                    c.is_trace and c.trace().kind in ("*T*", "*RNR*") for c in child.children
                ):
                    child.functions |= {"CLR"}
