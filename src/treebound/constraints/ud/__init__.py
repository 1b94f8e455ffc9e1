"""The rules of the validator of Universal Dependencies that concern heads, labels and tags.

The rules are the ones of levels 2 and 3 of `udvalidate` (udtools 0.2.9), with the same ids. Each rule returns the facts
about words that break it, so that a search for trees can exclude all trees with these facts at once.
"""

from treebound.constraints.ud.base import UdRule, not_applied
from treebound.constraints.ud.coverage import Coverage, covered
from treebound.constraints.ud.labels import unknown_labels, unknown_tags
from treebound.constraints.ud.rule_sets import RULES, STRUCTURE, RuleSet, load, rule_sets
from treebound.constraints.ud.screen import Screen
from treebound.constraints.ud.violations import Fact, LabelledTree, Rule, Violation, violations

__all__ = [
    "RULES",
    "STRUCTURE",
    "Coverage",
    "Fact",
    "LabelledTree",
    "Rule",
    "RuleSet",
    "Screen",
    "UdRule",
    "Violation",
    "covered",
    "load",
    "not_applied",
    "rule_sets",
    "unknown_labels",
    "unknown_tags",
    "violations",
]
