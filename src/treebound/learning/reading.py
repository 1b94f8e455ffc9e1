"""Options that state how a user's own treebank is read, for the command line and for lists of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treebound.support.settings import Checked, SettingError, option

#: attributes that may be chosen, in the order in which models list them
CHOICES = ("suffix", "prefix", "length", "feats", "lemma")


@dataclass(frozen=True)
class Reading(Checked):
    """Options that state how a user's own treebank is read.

    They are for treebanks outside treebound's catalogue of corpora, which states how each of its corpora is read.
    """

    tag: Literal["", "xpos", "upos"] = option(
        "",
        "Column of the fine tags: xpos or upos. [default: xpos if nearly all words of TRAIN have one and DEV uses the "
        "same tags, else upos]",
    )
    attributes: tuple[str, ...] = option(
        ("auto",),
        "Attributes of words that features use beside form and tags: some of suffix,prefix,length,feats,lemma, or "
        "none. The value auto chooses suffix, and each other attribute that is informative in TRAIN. Leave out an "
        "attribute that the text to parse will lack.",
    )
    multi_root: bool = option(False, "Allow sentences to have several roots. [default: one root]")
    encoding: str = option(
        "utf-8", "Encoding of TRAIN and DEV, by its name in Python, such as cp1252, utf-16 or gb18030."
    )
    patterns: str = option(
        "",
        "Hand-crafted patterns that add features: the name of a shipped file, such as en_ud, or the path of your own "
        "file. [default: none]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.attributes if self.attributes not in (("auto",), ("none",)) else ():
            if name not in CHOICES:
                hint = f"choose from {', '.join(CHOICES)}; or give auto or none alone"
                raise SettingError("attributes", f"unknown attribute {name!r}", hint)
