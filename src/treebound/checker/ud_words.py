"""The columns of a sentence that the rules of Universal Dependencies read, and universal labels.

An unknown column (None) grants no exception and breaks no rule. Without FEATS, for instance, no word has the feature
ExtPos, and no word lacks the feature Typo.
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

    form        forms
    word_class  UPOS tags
    feats       column FEATS of CoNLL-U, or None
    misc        column MISC of CoNLL-U, or None
    lemma       lemmas, or None; the attribute may be absent
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
    """Properties of the words that do not depend on the tree; each field has n + 1 entries, and index 0 is the root.

    - `upos`: tag of the word
    - `external`: tag of the word for its head, which is the feature ExtPos, or `upos` if ExtPos is absent
    - `negation`: whether the word negates, which holds for an adverb or a particle with Polarity=Neg
    - `possessive`: whether the word has Poss=Yes
    - `typo`: whether the word has Typo=Yes; True also if no word of the sentence has features, since the treebank may
      have none
    - `no_feats`: whether FEATS is empty or unknown
    - `no_extpos`: whether FEATS is known and lacks ExtPos
    - `foreign`: whether the word has the tag X and FEATS is unknown or Foreign=Yes alone
    - `no_lemma`: whether the lemma is empty or unknown
    - `no_space`: whether MISC contains SpaceAfter=No
    - `outer`: whether MISC contains Subject=Outer
    """

    upos: tuple[str, ...]
    external: tuple[str, ...]
    negation: tuple[bool, ...]
    possessive: tuple[bool, ...]
    typo: tuple[bool, ...]
    no_feats: tuple[bool, ...]
    no_extpos: tuple[bool, ...]
    foreign: tuple[bool, ...]
    no_lemma: tuple[bool, ...]
    no_space: tuple[bool, ...]
    outer: tuple[bool, ...]

    @property
    def n(self) -> int:
        """Return the number of words."""
        return len(self.upos) - 1

    @classmethod
    def read(cls, sentence: Sentence) -> Self:
        """Read the facts from the columns of a sentence. Raises ValueError if columns differ in length."""
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
            no_feats=tuple(not f for f in feats),
            no_extpos=tuple(known and not f.get("ExtPos") for f in feats),
            foreign=tuple(
                tag == "X" and (not known or f == {"Foreign": "Yes"}) for f, tag in zip(feats, upos, strict=True)
            ),
            no_lemma=tuple(lemma in ("", "_") for lemma in lemmas or [""] * size),
            no_space=tuple(m.get("SpaceAfter") == "No" for m in misc),
            outer=tuple(m.get("Subject") == "Outer" for m in misc),
        )


def _attributes(text: str) -> dict[str, str]:
    """Return the attributes of a FEATS or MISC string. If an attribute is repeated, the last value counts."""
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
