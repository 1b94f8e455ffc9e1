"""The columns of a sentence that the rules of Universal Dependencies read, and the labels that a rule knows.

A column that is unknown (None) grants no exception and breaks no rule: without FEATS, for instance, no word has the
feature ExtPos, and no word lacks the feature Typo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, Self

#: tag of the artificial root; no word has it
ROOT_TAG = "<ROOT>"


class Sentence(Protocol):
    """The known columns of a sentence; index 0 stands for the root and holds an empty string.

    form, word_class  forms and UPOS tags
    feats, misc       the columns FEATS and MISC of CoNLL-U; None where they are unknown
    lemma             lemmas; None where they are unknown. This attribute may be absent
    """

    @property
    def form(self) -> Sequence[str]: ...

    @property
    def word_class(self) -> Sequence[str]: ...

    @property
    def feats(self) -> Sequence[str] | None: ...

    @property
    def misc(self) -> Sequence[str] | None: ...


@dataclass(frozen=True)
class WordFacts:
    """The properties of the words that no tree changes; every field has n + 1 entries, index 0 is the root.

    upos         tag of the word
    external     tag that the word has towards its head: the feature ExtPos, or `upos` where ExtPos is absent
    negation     whether the word negates: an adverb or a particle with Polarity=Neg
    possessive   whether the word has Poss=Yes
    typo         whether the word has Typo=Yes, or no word of the sentence has features: then the treebank may have none
    bare         whether FEATS is empty or unknown
    unheaded     whether FEATS is known and lacks ExtPos
    foreign      whether the word has the tag X and no feature but Foreign=Yes, or FEATS is unknown
    lemmaless    whether the lemma is empty or unknown
    no_space     whether MISC says SpaceAfter=No
    outer        whether MISC says Subject=Outer
    """

    upos: tuple[str, ...]
    external: tuple[str, ...]
    negation: tuple[bool, ...]
    possessive: tuple[bool, ...]
    typo: tuple[bool, ...]
    bare: tuple[bool, ...]
    unheaded: tuple[bool, ...]
    foreign: tuple[bool, ...]
    lemmaless: tuple[bool, ...]
    no_space: tuple[bool, ...]
    outer: tuple[bool, ...]

    @property
    def n(self) -> int:
        """Number of words."""
        return len(self.upos) - 1

    @classmethod
    def read(cls, sentence: Sentence) -> Self:
        """Read the facts from a sentence's columns. Raises ValueError where columns differ in length."""
        size, lemmas = len(sentence.form), getattr(sentence, "lemma", None)
        for column in (sentence.word_class, sentence.feats, sentence.misc, lemmas):
            if column is not None and len(column) != size:
                raise ValueError(f"a column has {len(column)} entries, the forms have {size}")
        upos = (ROOT_TAG, *sentence.word_class[1:])
        feats = [_attributes(text) for text in sentence.feats or [""] * size]
        misc = [_attributes(text) for text in sentence.misc or [""] * size]
        known = sentence.feats is not None
        return cls(
            upos=upos,
            external=tuple(f.get("ExtPos") or tag for f, tag in zip(feats, upos, strict=True)),
            negation=tuple(
                tag in ("PART", "ADV") and f.get("Polarity") == "Neg" for f, tag in zip(feats, upos, strict=True)
            ),
            possessive=tuple(f.get("Poss") == "Yes" for f in feats),
            typo=tuple(not any(feats) or f.get("Typo") == "Yes" for f in feats),
            bare=tuple(not f for f in feats),
            unheaded=tuple(known and not f.get("ExtPos") for f in feats),
            foreign=tuple(
                tag == "X" and (not known or f == {"Foreign": "Yes"}) for f, tag in zip(feats, upos, strict=True)
            ),
            lemmaless=tuple(lemma in ("", "_") for lemma in lemmas or [""] * size),
            no_space=tuple(m.get("SpaceAfter") == "No" for m in misc),
            outer=tuple(m.get("Subject") == "Outer" for m in misc),
        )


def _attributes(text: str) -> dict[str, str]:
    """Return the attributes of a FEATS or MISC string; the last value counts where an attribute is repeated."""
    if text in ("", "_"):
        return {}
    parts = [part.split("=", 1) for part in text.split("|")]
    return {part[0]: part[1] if len(part) == 2 else "" for part in parts}


@lru_cache(10_000)
def universal(label: str) -> str:
    """Return the universal part of a label.

    Examples
    --------
    >>> universal("nsubj:pass")
    'nsubj'
    """
    return label.split(":", 1)[0]
