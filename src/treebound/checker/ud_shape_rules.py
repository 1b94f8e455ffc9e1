"""The validator's rules about gaps, crossing arcs and words that were split by mistake (`goeswith`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from treebound.checker.ud_domains import Domains
from treebound.checker.ud_words import WordFacts, universal


def _fixed_gap(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks `fixed-gap`, the rule that only punctuation may be inside a fixed expression."""

    def interrupts(x: int, h: int) -> bool:
        return domains.always(
            x, lambda _, head, label: universal(label) != "punct" and (head != h or universal(label) != "fixed")
        )

    return domains.some(
        lambda m, h, label: universal(label) == "fixed" and h > 0 and any(interrupts(x, h) for x in range(h + 1, m))
    )


def _goeswith_gap(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `goeswith-gap`.

    The rule says that parts of a split word are adjacent, and that the first part is the head.
    """

    def is_bad(m: int, h: int, label: str) -> bool:
        if universal(label) != "goeswith" or h == 0:
            return False
        return m < h or any(not domains.may_be_child(x, h, {"goeswith"}) for x in range(h + 1, m))

    return domains.some(is_bad)


def _goeswith_space(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `goeswith-nospace`.

    The rule says that a space follows every part of a split word but the last.
    """

    def is_bad(m: int, h: int, label: str) -> bool:
        if universal(label) != "goeswith" or h == 0:
            return False
        if h < m and words.no_space[h]:
            return True
        later = range(m + 1, len(domains.pairs))
        return words.no_space[m] and (h > m or any(domains.is_child(x, h, {"goeswith"}) for x in later))

    return domains.some(is_bad)


def _goeswith_typo(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `goeswith-missing-typo`.

    The rule says that the first part of a split word has Typo=Yes.
    """
    return domains.some(lambda m, h, label: universal(label) == "goeswith" and h > 0 and not words.typo[h])


def _goeswith_column(is_empty: Callable[[WordFacts, int], bool]) -> Callable[[WordFacts, Domains, bool], bool]:
    """Return the rule that `is_empty` holds for all parts of a split word except the first."""

    def rule(words: WordFacts, domains: Domains, _: bool) -> bool:
        return any(not is_empty(words, m) and domains.labelled(m, {"goeswith"}) for m in domains.words)

    return rule


def _punctuation_in_gap(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks `punct-is-nonproj`, the rule that arcs of punctuation are projective.

    All words between a punctuation mark and its head must be descendants of the head.
    """
    return domains.some(
        lambda m, h, label: (
            universal(label) == "punct"
            and h > 0
            and any(domains.never_below(x, h) for x in range(min(h, m) + 1, max(h, m)))
        )
    )


def _punctuation_makes_gap(words: WordFacts, domains: Domains, _: bool) -> bool:
    """Decide whether every tree breaks the rule `punct-causes-nonproj`.

    The rule says that punctuation makes no other arc non-projective. An arc breaks the rule if it spans
    the punctuation, does not span the head of the punctuation, and starts at a word that is no ancestor of the
    punctuation.
    """

    def spans(m: int, h: int, x: int, y: int) -> bool:
        """Return whether the arc from y to x spans m but not the head h of m, and y is in no tree an ancestor of m."""
        low, high = min(x, y), max(x, y)
        near = h < low if h < m else high < h
        return low < m < high and near and y > 0 and domains.never_below(h, y)

    def is_spanned(m: int, h: int) -> bool:
        return any(x != m and domains.always(x, lambda word, head, _: spans(m, h, word, head)) for x in domains.words)

    return domains.some(lambda m, h, label: universal(label) == "punct" and is_spanned(m, h))


#: rules by id, in the form of `ud_rules.RULES`
SHAPE_RULES: Mapping[str, Callable[[WordFacts, Domains, bool], bool]] = {
    "fixed-gap": _fixed_gap,
    "goeswith-gap": _goeswith_gap,
    "goeswith-nospace": _goeswith_space,
    "goeswith-missing-typo": _goeswith_typo,
    "goeswith-lemma": _goeswith_column(lambda words, m: words.no_lemma[m]),
    "goeswith-upos": _goeswith_column(lambda words, m: words.upos[m] == "X"),
    "goeswith-feats": _goeswith_column(lambda words, m: words.no_feats[m]),
    "punct-causes-nonproj": _punctuation_makes_gap,
    "punct-is-nonproj": _punctuation_in_gap,
}
