"""The validator's rules about heads, labels and tags, in a checker that shares no code with a solver.

A rule is applied to domains: the (head, label) pairs that every word may still have. `surely_broken` returns whether
every tree with arcs from the domains breaks the rule. The answer is exact if every word has one pair. Source: the rules
of levels 2 and 3 of the validator of Universal Dependencies (udtools 0.2.9), which uses the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from treebound.checker.ud_domains import ArcTest, Domains, Pair
from treebound.checker.ud_shape_rules import SHAPE_RULES
from treebound.checker.ud_words import Sentence, WordFacts, universal
from treebound.core.spaces import Space

__all__ = ["RULES", "Rule", "Sentence", "broken_rules", "surely_broken"]

#: facts about words, domains, whether all trees of the space are projective -> whether every tree breaks the rule
Rule = Callable[[WordFacts, Domains, bool], bool]

_LABELS = """
    acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed

    flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp
"""
#: universal labels
LABELS = frozenset(_LABELS.split())
LABEL_FORMAT = re.compile(r"[a-z]+(:[a-z]+)?")


@dataclass(frozen=True)
class TagRule:
    """The tags that a dependent with a certain label may have.

    - `tags`: tags, or prefixes of tags if `whole` is False
    - `allowed`: whether the dependent must have one of the tags, or must have none of them
    - `whole`: whether tags are compared as a whole, or by prefix
    """

    tags: tuple[str, ...]
    allowed: bool = True
    whole: bool = False

    def is_broken_by(self, tag: str) -> bool:
        """Return whether a tag breaks the rule."""
        return (tag in self.tags if self.whole else tag.startswith(self.tags)) != self.allowed


TAG_RULES = {
    "det": TagRule(("DET", "PRON")),
    "nummod": TagRule(("NUM", "NOUN", "SYM"), whole=True),
    "advmod": TagRule(("ADV", "ADJ", "CCONJ", "DET", "PART", "SYM")),
    "expl": TagRule(("PRON", "DET", "PART"), whole=True),
    "aux": TagRule(("AUX",)),
    "cop": TagRule(("AUX", "PRON", "DET", "SYM")),
    "case": TagRule(("PROPN", "ADJ", "PRON", "DET", "NUM", "AUX"), allowed=False),
    "mark": TagRule(("NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "AUX", "INTJ"), allowed=False),
    "cc": TagRule(("NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "VERB", "AUX", "INTJ"), allowed=False),
    "punct": TagRule(("PUNCT",), whole=True),
}

#: rule -> (labels of a function word, labels that its dependents may have)
LEAVES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    rule: (frozenset(labels.split()), frozenset(allowed.split()))
    for rule, labels, allowed in (
        ("leaf-mark-case", "mark case", "advmod obl goeswith fixed reparandum conj cc punct"),
        ("leaf-aux-cop", "aux cop", "goeswith fixed reparandum conj cc punct"),
        (
            "leaf-det",
            "det",
            "det case advmod obl clf goeswith fixed flat compound reparandum discourse parataxis conj cc punct",
        ),
        ("leaf-clf", "clf", "advmod obl goeswith fixed reparandum conj cc punct"),
        ("leaf-cc", "cc", "goeswith fixed reparandum conj punct"),
        ("leaf-fixed", "fixed", "goeswith reparandum conj punct"),
        ("leaf-goeswith", "goeswith", ""),
        ("leaf-punct", "punct", "punct"),
    )
}
#: labels of dependents that a determiner may have if it is possessive
OF_POSSESSIVES = frozenset({"appos", "acl", "nmod"})
NOMINAL_TAGS = frozenset({"NOUN", "PROPN", "PRON"})
NOMINAL_LABELS = frozenset({"nsubj", "obj", "iobj", "obl", "vocative", "dislocated", "expl", "nmod"})
CLAUSE_LABELS = frozenset({"cop", "nsubj", "csubj"})
ORPHANS_HEADS = frozenset({"conj", "parataxis", "root", "csubj", "ccomp", "advcl", "acl", "reparandum"})


def surely_broken(
    rule_id: str, sentence: Sentence, domains: Sequence[Collection[Pair]], space: Space = "non-projective"
) -> bool:
    """Return whether every tree with arcs from the domains breaks a rule of the validator.

    True is certain. False proves nothing, unless every word has one pair and the pairs form a tree: then the tree
    keeps the rule. The result is also True if a word has no pair, because there is no tree.

    Parameters
    ----------
    rule_id
        The id of the rule in the validator; one of `RULES`.
    sentence
        Columns of the sentence, with n + 1 entries.
    domains
        For every word 1..n the (head, label) pairs that it may still have; the collection at index 0 is not read.
    space
        "projective" allows the rule to assume projective trees; with the default, the answer holds for all trees.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        For an unknown rule, columns of different lengths, or domains of another length.

    Notes
    -----
    O(number of pairs) for rules about single arcs; up to O(n**2 + pairs) with ancestors, for rules about gaps.

    Examples
    --------
    >>> from treebound.constraints.rows import Words
    >>> words = Words.of(["she", "herself", "sings"], ["PRON", "PRON", "VERB"])
    >>> subject, root = {(3, "nsubj"), (3, "csubj")}, {(0, "root")}
    >>> surely_broken("too-many-subjects", words, [set(), subject, subject, root])
    True
    >>> surely_broken("too-many-subjects", words, [set(), subject, subject | {(3, "obj")}, root])
    False
    """
    if rule_id not in RULES:
        raise ValueError(f"unknown rule {rule_id!r}")
    facts = WordFacts.read(sentence)
    if len(domains) != facts.n + 1:
        raise ValueError(f"{len(domains)} domains for {facts.n} words (expected n + 1)")
    return RULES[rule_id](facts, Domains(domains), space == "projective")


def broken_rules(
    rules: Iterable[str], facts: WordFacts, heads: Sequence[int], labels: Sequence[str], projective: bool
) -> list[str]:
    """Return the rules that one tree breaks, given by n + 1 heads and n + 1 labels. The rules must be known."""
    domains = Domains([(), *([pair] for pair in zip(heads[1:], labels[1:], strict=True))])
    return [rule for rule in rules if RULES[rule](facts, domains, projective)]


def _tag_rule(label: str, words: WordFacts, domains: Domains, _: bool) -> bool:
    """Return whether some word always breaks the rule about the tags of a label."""
    rule = TAG_RULES[label]
    wrong = [rule.is_broken_by(tag) for tag in words.external]
    broken = (m for m in domains.words if wrong[m] and domains.labelled(m, {label}))
    # the tag of a word that was split depends on its parts, which are not known here
    return any(label != "advmod" or not domains.may_have_child(m, {"goeswith"}) for m in broken)


def _punctuation_is_punct(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `upos-rel-punct`.

    The rule says that a word with the tag PUNCT has the label `punct` or `root`.
    """
    return any(
        words.external[m] == "PUNCT"
        and all(not universal(label).startswith(("punct", "root")) for _, label in domains.pairs[m])
        for m in domains.words
    )


def _fixed_names(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `rel-upos-fixed`.

    The rule says that neither end of an arc `fixed` may be a proper noun.
    """
    name = [tag == "PROPN" for tag in words.external]
    return domains.some(lambda m, h, label: universal(label) == "fixed" and (name[m] or name[h]))


def _fixed_heads(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `fixed-without-extpos`.

    The rule says that the head of an arc `fixed` has the feature ExtPos.
    """
    return domains.some(lambda m, h, label: universal(label) == "fixed" and h > 0 and words.no_extpos[h])


def _foreign_words(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `flat-foreign-upos-feats`.

    The rule says that both ends of `flat:foreign` are foreign words.
    """
    return domains.some(lambda m, h, label: label == "flat:foreign" and not (words.foreign[m] and words.foreign[h]))


def _root_label(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `0-is-not-root`.

    The rule says that the label of an arc from the root must be `root`.
    """
    return domains.some(lambda _, h, label: h == 0 and universal(label) != "root") or not any(
        h == 0 and universal(label) == "root" for m in domains.words for h, label in domains.pairs[m]
    )


def _is_inner_subject(words: WordFacts, m: int, label: str) -> bool:
    """Return whether a label makes a word the subject of its own clause, and not an outer subject."""
    return "subj" in universal(label) and label not in ("nsubj:outer", "csubj:outer") and not words.outer[m]


def _one_child(is_meant: Callable[[WordFacts, int, str], bool], words: WordFacts, domains: Domains, _: bool) -> bool:
    """Return whether in every tree some word has at least two dependents for which `is_meant` holds.

    A dependent is counted only if it has a single possible head.
    """
    heads: set[int] = set()
    for m in domains.words:
        pairs = domains.pairs[m]
        if not all(is_meant(words, m, label) for _, label in pairs):
            continue
        possible = {h for h, _ in pairs}
        if len(possible) > 1 or 0 in possible:
            continue
        if possible <= heads:
            return True
        heads |= possible
    return False


def _nominal_obliques(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks `obl-should-be-nmod`, the rule that an oblique does not depend on a nominal."""

    def is_nominal(h: int) -> bool:
        return (
            words.upos[h] in NOMINAL_TAGS
            and domains.labelled(h, NOMINAL_LABELS)
            and not domains.may_have_child(h, CLAUSE_LABELS)
        )

    return _some_by_head(domains, {"obl"}, is_nominal)


def _orphans_head(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `orphan-parent`.

    The rule says that the head of an orphan has a label of ORPHANS_HEADS. The validator stops with an error if
    the head is the root; such a tree breaks `0-is-not-root`, but not this rule.
    """
    return _some_by_head(domains, {"orphan"}, lambda h: h > 0 and domains.unlabelled(h, ORPHANS_HEADS))


def _some_by_head(domains: Domains, labels: Collection[str], is_bad: Callable[[int], bool]) -> bool:
    """Return whether there is a word whose possible arcs all have one of `labels` and a head for which `is_bad` holds.

    `is_bad` is called once for each head.
    """
    judged: dict[int, bool] = {}
    for m in domains.words:
        if domains.labelled(m, labels):
            heads = {h for h, _ in domains.pairs[m]}
            judged.update({h: is_bad(h) for h in heads - judged.keys()})
            if all(judged[h] for h in heads):
                return True
    return False


def _leaf(rule: str, words: WordFacts, domains: Domains, projective: bool) -> bool:
    """Decide whether every tree breaks a rule `leaf-*`, which restricts the dependents of a function word."""
    labels, allowed = LEAVES[rule]
    function_words = {m for m in domains.words if domains.labelled(m, labels)}
    if not function_words:
        return False

    def is_bad(m: int, h: int, label: str) -> bool:
        child = universal(label)
        if h not in function_words or child in allowed:
            return False
        if child == "advmod" and words.negation[m] and rule != "leaf-punct":
            return False
        if rule == "leaf-det" and words.possessive[h] and child in OF_POSSESSIVES:
            return False
        # punctuation may depend on a word that is itself attached non-projectively
        return child != "punct" or projective or domains.always_projective(h)

    return domains.some(is_bad)


def _of_arcs(test: ArcTest) -> Rule:
    """Return a rule that is broken if there is a word whose possible arcs all pass `test`."""
    return lambda words, domains, projective: domains.some(test)


def _right_to_left(label: str) -> Rule:
    """Return the rule that every arc with the universal label `label` goes from left to right."""
    return _of_arcs(lambda m, h, name: m < h and universal(name) == label)


RULES: Mapping[str, Rule] = {
    "invalid-deprel": _of_arcs(lambda m, h, label: not LABEL_FORMAT.fullmatch(label)),
    "unknown-udeprel": _of_arcs(
        lambda m, h, label: bool(LABEL_FORMAT.fullmatch(label)) and universal(label) not in LABELS
    ),
    "0-is-not-root": _root_label,
    "root-is-not-0": _of_arcs(lambda m, h, label: h != 0 and universal(label) == "root"),
    **{f"rel-upos-{label}": partial(_tag_rule, label) for label in TAG_RULES},
    "rel-upos-fixed": _fixed_names,
    "fixed-without-extpos": _fixed_heads,
    "flat-foreign-upos-feats": _foreign_words,
    "upos-rel-punct": _punctuation_is_punct,
    **{f"right-to-left-{label}": _right_to_left(label) for label in ("conj", "fixed", "flat", "goeswith", "appos")},
    "too-many-subjects": partial(_one_child, _is_inner_subject),
    "too-many-objects": partial(_one_child, lambda words, m, label: universal(label) == "obj"),
    "obl-should-be-nmod": _nominal_obliques,
    "orphan-parent": _orphans_head,
    **{rule: partial(_leaf, rule) for rule in LEAVES},
    **SHAPE_RULES,
}
