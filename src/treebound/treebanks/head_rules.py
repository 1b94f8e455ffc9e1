"""Head rules for constituent trees: choose the head child of a constituent, and label its other children.

The rules are data (`penn_heads.txt`). Another treebank needs another file of rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

#: tags of punctuation, which is a head only if a constituent has no other children
PUNCTUATION = frozenset(("``", "''", ":", ",", ".", "-LRB-", "-RRB-"))


@dataclass(frozen=True)
class Rule:
    """The head rule of a constituent: the direction of the search, and sets of labels in order of preference."""

    from_left: bool
    priorities: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class HeadRules:
    """A table of head rules: label of a constituent -> rule, with `*` for all other constituents."""

    rules: dict[str, Rule]

    def head_child(self, label: str, children: Sequence[str]) -> int:
        """Return the index of the head child from the labels of the children. Time O(priorities x children)."""
        rule = self.rules.get(label) or self.rules["*"]
        order = range(len(children)) if rule.from_left else range(len(children) - 1, -1, -1)
        for labels in rule.priorities:
            for i in order:
                if children[i] in labels:
                    return i
        return next((i for i in order if children[i] not in PUNCTUATION), order[0])


def parse_rules(text: str) -> HeadRules:
    """Parse head rules from lines `constituent direction priorities`. Raises ValueError.

    The direction is l or r. Braces enclose labels of equal priority. Lines that begin with # and a space are comments.
    """
    rules = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("# "):
            continue
        label, direction, *items = line.replace("{", " { ").replace("}", " } ").split()
        if direction not in ("l", "r") or label in rules:
            raise ValueError(f"not a head rule: {line}")
        priorities: list[frozenset[str]] = []
        group: list[str] | None = None
        for item in items:
            if item == "{":
                group = []
            elif item == "}":
                priorities.append(frozenset(group or ()))
                group = None
            elif group is None:
                priorities.append(frozenset((item,)))
            else:
                group.append(item)
        rules[label] = Rule(direction == "l", tuple(priorities))
    if "*" not in rules:
        raise ValueError("no rule for *, which stands for all other constituents")
    return HeadRules(rules)


PENN = parse_rules(files(__package__).joinpath("penn_heads.txt").read_text(encoding="utf-8"))

_CLAUSES = frozenset(("S", "SQ", "SINV", "SBAR", "SBARQ", "RRC"))
_NOMINAL = frozenset(("NP", "NX", "NAC", "WHNP"))
_ADJECTIVAL = frozenset(("ADJP", "ADVP", "QP", "WHADJP", "WHADVP"))
_ADVERBIAL = frozenset(("ADV", "BNF", "CLR", "DIR", "EXT", "LGS", "LOC", "MNR", "PRP", "PUT", "TMP", "VOC"))


def dependency_label(parent: str, head: str, child: str, functions: frozenset[str], tag: str) -> str:
    """Return the label of a dependency, one of the 12 types of Penn2Malt without ROOT.

    parent     label of the constituent that contains head and dependent
    head       label of its head child
    child      label of the child that contains the dependent
    functions  function tags of this child
    tag        part of speech of the dependent

    The label is the first type that applies: P punctuation; SUB subject; PRD predicative complement; SBAR clause with a
    subordinating word; VC verb with an auxiliary; OBJ object (a noun phrase or clause without adverbial function below
    a verb); by the parent VMOD, NMOD, PMOD or AMOD; else DEP.

    Source: Hall, Nivre & Nilsson (2006), section 4.1.
    """
    if tag in PUNCTUATION:
        return "P"
    if "SBJ" in functions:
        return "SUB"
    if "PRD" in functions:
        return "PRD"
    if parent == "SBAR" and child in _CLAUSES:
        return "SBAR"
    verbal = head[:2] == "VB" or head in ("MD", "TO", "VP")
    if child == "VP" and verbal and head != "VP":
        return "VC"
    if parent == "VP" and verbal and child in ("NP", "S", "SBAR", "SQ", "SINV", "SBARQ") and not functions & _ADVERBIAL:
        return "OBJ"
    if parent == "VP" or parent in _CLAUSES:
        return "VMOD"
    if parent in _NOMINAL:
        return "NMOD"
    if parent in ("PP", "WHPP"):
        return "PMOD"
    if parent in _ADJECTIVAL:
        return "AMOD"
    return "DEP"
