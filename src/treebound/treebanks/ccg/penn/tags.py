"""Preprocessing, first step: correction of tags and labels that are wrong or missing (section 5.1)."""

from __future__ import annotations

from treebound.treebanks.ccg.penn.tree import Tree, labels

HAVE = labels("have has had having 've 'd 's of")
BE = labels("be is are was were been being 's 're 'm am get gets got getting gotten become")
_LABELS = {
    "ADVP|PRT": "PRT",
    "PRT|ADVP": "PRT",
    "NAC": "NP",
    "NX": "NOUN",
    "NML": "NOUN",
    "WHADJP": "WHNP",
    "MDP": "VP",
}
#: tags of CRAFT for affixes inside words, symbols and others, and the Penn tags that replace them
_TAGS = {"AFX": "JJ", "ADD": "NNP", "GW": "NN", "XX": "NN", "NFP": ":", "PRP$": "PRP$", "WP$": "WP$"}


def fix(tree: Tree) -> None:
    """Correct labels and tags by verb forms and context; the tree changes in place."""
    for node in tree.nodes():
        if node.is_leaf:
            node.label = _TAGS.get(node.label, node.label)
            if node.word == "%" and not node.kind:
                node.label = "NN"
        else:
            node.label = _LABELS.get(node.label, node.label)
            _fix_hyphens(node)
            if node.label == "UCP" and not any(c.label in ("CC", "CONJP", ",", ":") for c in node.children):
                node.label = "NOUN"
            if node.label == "VP":
                _fix_verb_phrase(node)
    for node in tree.nodes():
        _fix_reduced(node)
        for clause in node.children:
            if clause.label == "S" and (node.label == "SBAR" or node is tree):
                _fix_participle(clause)
        if node is tree and node.label == "S":
            _fix_participle(node)
        if node.label in ("S", "SINV") and any(c.has("SBJ") and not c.is_trace for c in node.children):
            _fix_finite(node)


def _fix_hyphens(node: Tree) -> None:
    """Relabel the parts of a word that is split at its hyphens from phrases to nouns (CRAFT)."""
    if node.label in ("ADJP", "NOUN") and any(c.label == "HYPH" for c in node.children):
        for child in node.children:
            if child.label == "NP" and not any(c.label in ("DT", "PRP$", "NP") for c in child.children):
                child.label = "NOUN"


def verb(node: Tree) -> Tree | None:
    """Return the head verb of a verb phrase: its first verb, in the phrase itself or in its first verb phrase."""
    while True:
        nested = None
        for child in node.children:
            if child.is_leaf and child.label in VERBS:
                return child
            if child.label == "VP" and nested is None:
                nested = child
        if nested is None:
            return None
        node = nested


VERBS = labels("MD TO VB VBD VBG VBN VBP VBZ")


def _fix_verb_phrase(node: Tree) -> None:
    """Correct finite tags below an auxiliary: a participle below "have" and "be", a bare form below modals and "to"."""
    first = next((c for c in node.children if c.is_leaf and c.label in VERBS), None)
    if first is None:
        return
    for child in node.children:
        if child.label != "VP":
            continue
        inner = verb(child)
        if inner is None:
            continue
        word = first.word.lower()
        if first.label in ("MD", "TO") and inner.label in ("VBP", "VBD", "VBZ", "NN"):
            inner.label = "VB"
        elif word in HAVE | BE and inner.label == "VBD":
            inner.label = "VBN"


def _fix_reduced(node: Tree) -> None:
    """Correct past tenses without a subject to participles: (NP (NP men) (VP (VBD asked)))."""
    null = node.label == "S" and any(c.has("SBJ") and c.is_trace and c.trace().kind == "*" for c in node.children)
    reduced = node.label == "NP" and len(node.children) > 1
    for phrase in node.children if null or reduced else ():
        for child in phrase.children if phrase.label == "VP" else ():
            if child.is_leaf and child.label == "VBD":
                child.label = "VBN"


def _fix_participle(node: Tree) -> None:
    """Correct participles of main clauses, and of clauses below a complementiser, to past tenses.

    An example is (SBAR that (S they (VP (VBN worried)))).
    """
    phrase = next((c for c in node.children if c.label == "VP"), None)
    first = next((c for c in phrase.children if c.is_leaf and c.label in VERBS), None) if phrase is not None else None
    if phrase is None or first is None or first.label != "VBN":
        return
    passive = any(c.label == "NP" and c.is_trace and c.trace().kind == "*" for c in phrase.children)
    if not passive and any(c.has("SBJ") and c.words() for c in node.children):
        first.label = "VBD"


def _fix_finite(node: Tree) -> None:
    """Correct the tag of a bare verb form (VB) to a finite one (VBP) in a clause with a subject."""
    phrase = next((c for c in node.children if c.label == "VP"), None)
    head = None if phrase is None else verb(phrase)
    if head is not None and head.label == "VB" and node.mark != "small" and head.word.lower() != "be":
        head.label = "VBP" if any(c.has("SBJ") for c in node.children) and not node.has("NOM") else head.label
