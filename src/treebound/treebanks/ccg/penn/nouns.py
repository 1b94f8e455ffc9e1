"""Preprocessing: the noun level, coordinated nouns, quantities, money and dates (sections 5.2, 7.3-7.4)."""

from __future__ import annotations

from treebound.treebanks.ccg.penn.roles import NOUNS, PUNCTUATION, is_possessive
from treebound.treebanks.ccg.penn.tree import Tree, labels

_NOMINAL = NOUNS | labels(
    "NOUN CD JJ JJR JJS VBG VBN ADJP QP $ FW NP UCP SYM HYPH LS RB UH IN POS # X PRP VB VBD VBP VBZ RP TO NN-TTL"
)
_BEFORE = labels("DT PRP$ WP$ PDT WDT")
MONTHS = labels(
    "Jan. Feb. March April May June July Aug. Sept. Oct. Nov. Dec. January February August September October November "
    "December"
)


def level(tree: Tree) -> None:
    """Insert a constituent NOUN between every noun phrase and its bare nouns; the tree changes in place."""
    for node in list(tree.nodes()):
        if node.label == "QP":
            _quantity(node)
        if node.label == "ADJP":
            _money(node)
        if node.label in ("NP", "WHNP") and node.mark != "group":
            _noun_phrase(node)
        elif node.label == "NOUN":
            _noun(node)


def _noun_phrase(node: Tree) -> None:
    """Insert a constituent NOUN into one noun phrase, around the nouns and their modifiers behind the determiner."""
    children = node.children
    if is_possessive(node) and len(children) > 2:
        node.children = [Tree("NP", children=children[:-1]), children[-1]]
        _noun_phrase(node.children[0])
        return
    if is_possessive(node) or (len(children) == 1 and not _is_bare(children[0])):
        return
    if not any(_is_bare(c) for c in children) or (
        children[0].label in ("NP", "WHNP") and not is_possessive(children[0])
    ):
        return
    nouns = [i for i, c in enumerate(children) if c.label in NOUNS or c.label in ("NOUN", "$")]
    if not nouns:
        nouns = [i for i, c in enumerate(children) if c.label in _NOMINAL]
    if not nouns:
        return
    last = nouns[-1]
    begin = 0
    for i, child in enumerate(children[: last + 1]):
        if child.label in _BEFORE or is_possessive(child) or (child.label == "CC" and not i):
            begin = i + 1
    if begin > last:
        return
    while begin < last and (children[begin].label in PUNCTUATION or (children[begin].label == "ADVP" and begin == 0)):
        begin += 1
    while begin == 0 and begin < last and children[begin].label == "RB" and children[begin + 1].label in ("DT",):
        begin += 1
    end = last
    while end + 1 < len(children) and (
        children[end + 1].label in ("CD", "S", "PP", "SBAR", *NOUNS)
        or (children[end + 1].label in PUNCTUATION and end + 2 < len(children) and children[end + 2].label == "CD")
    ):
        end += 1
    after = children[end + 1 :]
    if len(after) == 2 and after[0].label == "CC" and after[1].label in ("RB", "RBR", "JJR"):  # "a week or so"
        end = len(children) - 1
    noun = Tree("NOUN", children=children[begin : end + 1])
    for child in noun.children:
        if child.label == "S":
            child.mark = child.mark or "complement"
    _noun(noun)
    node.children = [*children[:begin], noun, *children[end + 1 :]]


def _is_bare(node: Tree) -> bool:
    """Return whether a constituent can be part of a NOUN: a nominal word, a quantity or a NOUN."""
    return (node.is_leaf and node.label in (_NOMINAL - {"PRP"})) or node.label in ("NOUN", "QP", "$")


def _noun(node: Tree) -> None:
    """Analyse a constituent NOUN: a date, a sum of money, or nouns joined by a conjunction (section 7.4).

    If the nouns on both sides of the conjunction are heads, they become conjuncts. Other nouns stay modifiers of the
    head.
    """
    _date(node)
    _money(node)
    children = node.children
    for position, child in enumerate(children):
        if child.label != "CC" or not 0 < position < len(children) - 1:
            continue
        left, right = children[position - 1], children[position + 1 :]
        if left.label == "," and position > 1:
            left = children[position - 2]
        heads = [c for c in right if c.label in NOUNS or c.label == "NOUN"]
        if not heads and all(c.label in ("RB", "JJR", "RBR", "JJ", "ADVP") for c in right):  # "a week or so"
            node.children[position:] = [Tree("ADVP", children=children[position:])]
            return
        if not heads or heads[-1] is not right[-1]:
            continue
        same = left.label in NOUNS and (left.label in ("NNS", "NNPS") or len(right) == 1 or right[0].label[:2] == "JJ")
        if same and _is_list(children[:position]):
            _conjoin(node, position)
            return
        if same:
            first = Tree("NOUN", children=children[:position])
            second = Tree("NOUN", children=right)
            for part in (first, second):
                _noun(part)
            node.children = [first, child, second]
            node.mark = "group"
            return


def _is_list(children: list[Tree]) -> bool:
    """Return whether the children are a list of nouns with a comma."""
    return any(c.label == "," for c in children) and all(
        c.label in NOUNS or c.label in (",", "JJ", "NOUN", "ADJP") for c in children
    )


def _conjoin(node: Tree, position: int) -> None:
    """Group the nouns of a list: N , N , conj N."""
    parts: list[Tree] = []
    current: list[Tree] = []
    for child in node.children:
        if child.label in (",", "CC"):
            if current:
                parts.append(current[0] if len(current) == 1 else Tree("NOUN", children=current))
                current = []
            parts.append(child)
        else:
            current.append(child)
    if current:
        parts.append(current[0] if len(current) == 1 else Tree("NOUN", children=current))
    node.children, node.mark = parts, "group"


def _date(node: Tree) -> None:
    """Make a date such as "Nov. 29" a constituent in which the month takes the day as its argument."""
    children = node.children
    for i in range(len(children) - 1):
        if children[i].word in MONTHS and children[i + 1].label == "CD":
            node.children[i : i + 2] = [Tree("NOUN", children=[children[i], children[i + 1]], mark="measure")]
            if len(node.children) == 1:
                node.children, node.mark = node.children[0].children, "measure"
            return


def _money(node: Tree) -> None:
    """Make a sum such as "$ 5 million" a constituent in which the currency sign takes the number as its argument."""
    children = node.children
    sign = next((i for i, c in enumerate(children) if c.label in ("$", "#") and c.is_leaf), -1)
    if sign < 0 or sign + 1 == len(children) or node.mark == "measure":
        return
    end = sign + 1
    while end < len(children) and children[end].label in ("CD", "QP"):
        end += 1
    if end == sign + 1:
        return
    numbers = children[sign + 1 : end]
    measure = Tree(
        "NOUN",
        children=[children[sign], numbers[0] if len(numbers) == 1 else Tree("NOUN", children=numbers)],
        mark="measure",
    )
    if end - sign == len(children):
        node.children, node.mark = measure.children, "measure"
    else:
        node.children[sign:end] = [measure]


def _quantity(node: Tree) -> None:
    """Group "more than", "at least", "up to" ... before numbers, and sums with a currency sign (section 5.2)."""
    children = node.children
    if len(children) > 2 and children[-2].label == "CC" and children[-1].label in ("RB", "RBR", "JJR"):  # "or more"
        node.children[-2:] = [Tree("ADVP", children=children[-2:])]
        children = node.children
    sign = next((i for i, c in enumerate(children) if c.word in ("$", "#", "C$", "US$", "A$", "HK$")), -1)
    if sign >= 0 and sign + 1 < len(children) and all(c.label == "CD" for c in children[sign + 1 :]):
        numbers = children[sign + 1 :]
        amount = numbers[0] if len(numbers) == 1 else Tree("NOUN", children=numbers)
        node.children[sign:] = [Tree("NOUN", children=[children[sign], amount], mark="measure")]
        if len(node.children) == 1:
            node.label, node.children, node.mark = "NOUN", node.children[0].children, "measure"
            return
    position = next((i for i, c in enumerate(node.children) if c.label == "TO" and i), -1)
    if 0 < position < len(node.children) - 1 and any(c.label in ("CD", "QP", *NOUNS) for c in node.children[:position]):
        after = node.children[position + 1 :]
        second = after[0] if len(after) == 1 else Tree("QP", children=after)
        node.children[position:] = [Tree("QP", children=[node.children[position], second], mark="range")]
    words = [c.word.lower() for c in node.children]
    for i, word in enumerate(words[:-2]):
        following = words[i + 1]
        if following == "than" and node.children[i].label in ("JJR", "RBR", "RB", "JJ"):
            node.children[i : i + 2] = [Tree("ADJP", children=node.children[i : i + 2], mark="comparative")]
            return
        if word in ("at", "no") and following in ("least", "most", "worst", "best"):
            node.children[i : i + 2] = [Tree("ADVP", children=node.children[i : i + 2], mark="superlative")]
            return
