"""Heads, complements and adjuncts, and the categories that constituents have by themselves (sections 4.1, 4.3, 7.1)."""

from __future__ import annotations

from treebound.treebanks.ccg.categories import Category, functor, parse
from treebound.treebanks.ccg.penn.tags import VERBS, verb
from treebound.treebanks.ccg.penn.tree import Tree, labels

NP, N, PP, S_ADJ = parse("NP"), parse("N"), parse("PP"), parse("S[adj]\\NP")
PUNCTUATION = {",": ",", ".": ".", ":": ":", "-LRB-": "LRB", "-RRB-": "RRB", "``": "``", "''": "''"}
NOUNS = labels("NN NNS NNP NNPS")
DETERMINERS = labels("DT PRP$ WP$ PDT")
CLAUSES = labels("S SINV SQ SBARQ SBAR")
#: function tags of noun phrases and clauses below a verb that are adjuncts
_ADVERBIAL = labels("ADV BNF DIR EXT LOC MNR PRP TMP VOC")
#: function tags of prepositional phrases that are complements
_CLOSE = labels("CLR PUT PRD DTV")
_SUBORDINATORS = labels("whether if")

#: label -> (whether to search from the left, labels of heads in order of preference, with ranks separated by |)
_HEADS: dict[str, tuple[bool, str]] = {
    "NP": (False, "NOUN | NP | NN NNS NNP NNPS CD JJ JJR JJS PRP EX DT POS VBG RB | QP ADJP $ | WHNP PP S SBAR"),
    "NOUN": (False, "NN NNS NNP NNPS NOUN | CD JJ JJS JJR VBG VBN FW QP NP | $ RB SYM LS DT PRP UH IN"),
    "VP": (True, "TO MD VB VBD VBG VBN VBP VBZ | VP | ADJP NN NNS NP JJ PP"),
    "S": (False, "VP | TO MD | S SBAR SINV SQ SBARQ | ADJP NP PP ADVP UCP FRAG"),
    "SINV": (True, "VP MD VB VBD VBP VBZ | S SINV | ADJP PP NP"),
    "SQ": (True, "MD VB VBD VBP VBZ | VP SQ S | ADJP NP"),
    "SBARQ": (True, "WHNP WHADVP WHPP | SQ S SINV SBARQ FRAG"),
    "SBAR": (True, "WHNP WHPP WHADVP | IN DT | S SINV SQ SBAR FRAG | RB"),
    "PP": (True, "IN TO VBG VBN RP FW CC JJ RB | PP | ADVP NP"),
    "WHPP": (True, "IN TO FW | WHNP"),
    "WHNP": (True, "WDT WP WP$ WRB WHADVP | WHNP | DT IN NP NOUN NN NNS JJ"),
    "WHADVP": (True, "WRB | WHADVP IN RB JJ"),
    "ADJP": (False, "JJ JJR JJS VBN VBG ADJP | NN NNS NNP CD QP RB RBR RBS DT FW | $ NP PP IN S"),
    "ADVP": (False, "RB RBR RBS ADVP IN RP | JJ JJR JJS FW CD NN NNP TO DT | NP PP VBN"),
    "PRT": (True, "RP | RB IN"),
    "QP": (False, "$ | CD QP | NN NNS DT JJ JJR RB"),
    "UCP": (True, ""),
    "RRC": (True, "VP | ADJP | NP | PP | ADVP"),
    "CONJP": (True, "CC | RB IN"),
    "FRAG": (True, "S SBAR SINV VP NP PP ADJP ADVP"),
    "INTJ": (True, "UH"),
    "PRN": (True, "S SINV SBAR NP PP ADJP ADVP VP"),
}
_RANKS = {
    label: (from_left, [frozenset(rank.split()) for rank in text.split("|")])
    for label, (from_left, text) in _HEADS.items()
}


def head(node: Tree) -> int:
    """Return the index of the head child."""
    marked = [i for i, c in enumerate(node.children) if c.has("SHARED")]
    if marked:
        return marked[0]
    if is_possessive(node) or node.mark == "measure":
        return len(node.children) - 1
    if node.label == "NOUN" and any(c.label == "HYPH" for c in node.children):
        return max(i for i, c in enumerate(node.children) if c.label not in PUNCTUATION and c.label != "PRN")
    if node.label == "PP":
        return _preposition(node)
    from_left, ranks = _RANKS.get(node.label, (True, []))
    order = list(range(len(node.children)))
    if not from_left:
        order.reverse()
    for rank in ranks:
        for i in order:
            child = node.children[i]
            if child.label in rank and not _spurious(node, child):
                return i
    candidates = [i for i in order if node.children[i].label not in PUNCTUATION and not node.children[i].kind]
    return candidates[0] if candidates else order[0]


def _preposition(node: Tree) -> int:
    """Return the index of the head of a prepositional phrase: its first preposition.

    Without a preposition it is the first child that is no punctuation mark and no trace.
    """
    children = node.children
    index = next((i for i, c in enumerate(children) if c.is_leaf and c.label in ("IN", "TO", "VBG", "VBN", "FW")), -1)
    if index >= 0:
        return index
    return next((i for i, c in enumerate(children) if c.label not in PUNCTUATION and not c.is_trace), 0)


def _spurious(node: Tree, child: Tree) -> bool:
    """Return whether a child cannot be the head, for instance a subject, an adverbial noun phrase or a trace."""
    if child.is_trace or child.label in ("CC", "CONJP") or child.mark in ("range", "comparative", "superlative"):
        return True
    if node.has("QUOTED") and node.label == "S":
        return child.mark == "quoting" or child.has("SBJ")
    if child.mark == "quoting" and node.mark != "quoting" and node.label in CLAUSES and child.label in CLAUSES:
        return True
    if node.label == "NP" and child.label == "NP" and child is not node.children[0]:
        first = node.children[0]
        return first.label == "NP" and not is_possessive(first)
    if node.label in ("ADVP", "VP") and child.label == "NP":
        return len([c for c in node.children if c.label not in PUNCTUATION]) > 1 and node.label == "ADVP"
    return node.label in ("S", "SINV", "FRAG") and child.has("SBJ", "TPC", "TMP", "ADV", "LOC", "VOC")


def special(node: Tree) -> str:
    """Return `comparative` for "more than", `superlative` for "at least", or an empty string."""
    words = [c.word.lower() for c in node.children]
    if len(words) != 2 or not all(words):
        return ""
    if words[1] == "than" and node.children[0].label in ("JJR", "RBR", "JJ", "RB"):
        return "comparative"
    return "superlative" if words[0] in ("at", "no") and node.children[1].label in ("RBS", "JJS") else ""


def is_possessive(node: Tree) -> bool:
    """Return whether a noun phrase ends in 's."""
    return bool(node.children) and node.children[-1].label == "POS"


def feature(node: Tree) -> str:
    """Return the feature of a verb phrase, by the tag of its first verb (section 4.3.2)."""
    head_verb = verb(node)
    if head_verb is None:
        return "adj" if any(c.label in ("ADJP", "JJ") for c in node.children) else "dcl"
    if head_verb.label == "VBN":
        return "pt" if node.has("PERFECT") else "pss"
    return {"TO": "to", "VB": "b", "VBG": "ng"}.get(head_verb.label, "dcl")


def natural(node: Tree) -> Category:
    """Return the category that a constituent has as a complement or by itself (sections 4.3.1-2)."""
    label = node.label
    if node.is_trace:
        label, node = _of_trace(node)
    if node.mark == "group" or label == "UCP":
        return natural(
            next((c for c in node.children if c.label not in PUNCTUATION and c.label != "CC"), node.children[0])
        )
    if label == "VP" or (label in VERBS and node.is_leaf):
        return functor(
            parse(f"S[{feature(node) if label == 'VP' else feature(Tree('VP', children=[node]))}]"), "\\", NP
        )
    if label in ("S", "SINV", "SQ", "SBARQ", "SBAR"):
        return _clause(node)
    if label in ("NP", "WHNP", "PRP", "EX", "QP", "$", "WP") or label in DETERMINERS:
        return parse("NP[thr]") if _expletive(node) == "thr" else parse("NP[expl]") if _expletive(node) else NP
    if label in ("NOUN", "CD") or label in NOUNS:
        return N
    if label in ("ADJP", "ADVP", "JJ", "JJR", "JJS", "RB", "RBR", "RBS", "WHADJP", "PRT"):
        return S_ADJ
    if label in ("PP", "WHPP", "IN", "TO"):
        return PP
    if label == "FRAG":
        return _fragment(node)
    if label == "RRC":
        return natural(node.children[head(node)])
    if label in ("INTJ", "UH"):
        return parse("S[intj]")
    if label in ("PRN", "X", "LST", "CONJP"):
        inner = [c for c in node.children if c.label not in PUNCTUATION and not c.kind]
        return natural(inner[0]) if inner and inner[0].label not in ("X", "LS") else NP
    return NP


def _of_trace(node: Tree) -> tuple[str, Tree]:
    """Return the label that determines the category of a trace, and the node unchanged.

    SBAR becomes S, and a bare trace becomes NP.
    """
    return ("S" if node.label == "SBAR" else node.label if node.children else "NP"), node


def _expletive(node: Tree) -> str:
    """Return the feature of an expletive noun phrase: `thr` for "there", `expl` for "it", else an empty string."""
    words = node.words()
    if len(words) == 1 and words[0].label == "EX":
        return "thr"
    return "expl" if node.has("EXPL") else ""


def _fragment(node: Tree) -> Category:
    """Return the category of a fragment: S[frg], or the category of its only constituent."""
    inner = [c for c in node.children if c.label not in PUNCTUATION]
    return natural(inner[0]) if len(inner) == 1 and inner[0].children else parse("S[frg]")


def _clause(node: Tree) -> Category:
    """Return the category of a clause by itself."""
    inner = [c for c in node.children if c.label not in PUNCTUATION and not (c.is_leaf and c.kind)]
    if node.label == "SBARQ":
        return parse("S[wq]")
    if node.is_trace or not inner:
        return parse("S[dcl]")
    if node.label == "SQ" and node.children[head(node)].label != "VP":
        return parse("S[q]")
    if node.label == "SBAR":
        return _subordinate(node, inner)
    main = node.children[head(node)]
    if node.has("QUOTED") and natural(main).is_atom:
        return parse("S[dcl]")  # "where is it, he asked" is a statement about a question
    if main.label in ("S", "SINV", "SBAR", "SQ", "SBARQ"):
        return natural(main)
    category = natural(main) if main.label in ("VP", "ADJP", "NP", "PP", "ADVP", "UCP", "FRAG") or main.mark else None
    if node.label == "SINV":
        return parse("S[inv]") if main.is_leaf else parse("S[dcl]")
    has_subject = any(c.has("SBJ") and c is not main for c in node.children)
    if category is None:
        return parse("S[dcl]")
    if not has_subject:
        return category
    return category.result if category.slash and category.target.name == "S" else parse("S[adj]")


def _subordinate(node: Tree, inner: list[Tree]) -> Category:
    """Return the category of a subordinate clause by its first word."""
    first = inner[0]
    body = next((c for c in reversed(inner) if c.label in CLAUSES), None)
    if first.label in ("WHNP", "WHPP", "WHADVP", "WHADJP"):
        return NP if node.has("NOM") else parse("S[qem]")
    if first.label in CLAUSES:
        return natural(first)
    word = first.words()[0].word.lower() if first.words() else ""
    if word in _SUBORDINATORS:
        return parse("S[qem]")
    if word == "for":
        return parse("S[for]")
    if word == "that" and body is not None and natural(body) is parse("S[b]"):
        return parse("S[bem]")
    return parse("S[em]")


def complement(parent: Tree, main: Tree, child: Tree, on_left: bool) -> bool:
    """Return whether a child is a complement of the head of its parent (section 4.1); otherwise it is an adjunct."""
    label = parent.label
    if child.mark == "complement" or child.has("PRD"):
        return child.mark != "adjunct"
    if child.mark == "adjunct" or child.label in ("PRN", "INTJ", "CC", "PRT", "CONJP"):
        return False
    if label == "VP":
        return _verbal(child)
    if label in ("S", "SINV", "SQ"):
        if child.has("SBJ"):
            return True
        return (
            label != "S" and not on_left and (child.label in ("VP", "ADJP") or (child.label == "NP" and _verbal(child)))
        )
    if label in ("PP", "WHPP"):
        return (child.label == "NP") if on_left else main.is_leaf and child.label != "RB"
    if label in ("SBAR", "SBARQ"):
        return not on_left and child.label in (*CLAUSES, "VP", "NP", "FRAG", "ADJP", "PP")
    if label == "WHNP":
        return not on_left and main.label in ("WDT", "WP$", "WP", "WRB", "WHNP") and natural(child) is N
    if label == "ADJP":
        return (not on_left and child.label in ("PP", "S", "SBAR") and _first(child) not in ("than", "as")) or (
            on_left and child.label == "NP"
        )
    if label == "ADVP":
        return (not on_left and child.label in ("PP", "S") and _first(child) != "than") or (
            on_left and child.label == "NP"
        )
    if label == "NOUN":
        return (
            not on_left
            and child.label in ("PP", "SBAR")
            and child.children[0].label[:2] != "WH"
            and (child.label == "PP" or natural(child).target.feature in ("em", "dcl", "qem", "bem"))
        )
    return False


def _first(node: Tree) -> str:
    """Return the first word of a constituent, in lower case, or an empty string."""
    words = node.words()
    return words[0].word.lower() if words else ""


def _verbal(child: Tree) -> bool:
    """Return whether a child of a verb phrase is a complement of the verb."""
    if child.label == "PP":
        return child.has(*_CLOSE)
    if child.label in ("NP", "S", "SBAR", "SQ", "SBARQ", "SINV", "FRAG", "UCP", "X", "WHNP"):
        return not child.has(*_ADVERBIAL) or (child.label in ("S", "SBAR") and child.has("CLR"))
    return child.label in ("VP", "ADJP", "QP", "NOUN", "NN", "NNS", "JJ", "NNP", "CD", "DT", "PRP")
