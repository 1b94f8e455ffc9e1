"""Head rules: which child of a constituent is its head, and what its other children are called as dependents.

The rules are data (`penn_heads.txt`); a table for another treebank is another file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

#: tags of punctuation, which is a head only where there is nothing else
PUNCTUATION = frozenset(("``", "''", ":", ",", ".", "-LRB-", "-RRB-"))


@dataclass(frozen=True)
class Rule:
    """from_left: direction of search; priorities: sets of labels, most wanted first."""

    from_left: bool
    priorities: tuple[frozenset[str], ...]


@dataclass(frozen=True)
class HeadRules:
    """rules: constituent -> Rule, `*` for all others."""

    rules: dict[str, Rule]

    def head_child(self, label: str, children: Sequence[str]) -> int:
        """Index of the head among the labels of the children (at least one). Time O(priorities x children)."""
        rule = self.rules.get(label) or self.rules["*"]
        order = range(len(children)) if rule.from_left else range(len(children) - 1, -1, -1)
        for wanted in rule.priorities:
            for i in order:
                if children[i] in wanted:
                    return i
        return next((i for i in order if children[i] not in PUNCTUATION), order[0])


def parse_rules(text: str) -> HeadRules:
    """Rules from lines `constituent direction priorities`; # begins a comment line. Raises ValueError."""
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
    """One of the 12 dependency types of Penn2Malt (Hall, Nivre & Nilsson 2006, section 4.1), the root's ROOT apart.

    parent     constituent within which the dependency arises
    head       its head child
    child      the constituent of the dependent, with its function tags
    tag        part of speech of the dependent word

    The first that applies: P punctuation; SUB subject; PRD predicative complement; SBAR clause under a subordinating
    word; VC verb below an auxiliary; OBJ object (a bare noun phrase or clause below a verb, or marked as one);
    then by the parent: VMOD, NMOD, PMOD, AMOD; else DEP.
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
