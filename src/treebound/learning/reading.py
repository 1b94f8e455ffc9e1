"""How a treebank of one's own is read, as settings that the command line and lists of models have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treebound.support.settings import Checked, SettingError, option

#: attributes that may be chosen, in the order in which they are named
CHOICES = ("suffix", "prefix", "length", "feats", "lemma")


@dataclass(frozen=True)
class Reading(Checked):
    """How a treebank of one's own is read: what the catalogue says of its corpora."""

    tag: Literal["", "xpos", "upos"] = option(
        "",
        "Column of the fine tags: xpos or upos. [default: xpos where TRAIN fills it and DEV has the same ones, else "
        "upos]",
    )
    attributes: tuple[str, ...] = option(
        ("auto",),
        "What is seen of words beside form and tags: some of suffix,prefix,length,feats,lemma, or none; auto: suffix, "
        "and those of which TRAIN holds enough. Name fewer where input will lack them.",
    )
    multi_root: bool = option(False, "Sentences may have several roots. [default: one]")
    encoding: str = option("utf-8", "Encoding of TRAIN and DEV, by its name in Python: cp1252, utf-16, gb18030 ...")
    patterns: str = option("", "Hand-crafted patterns: a shipped file, as en_ud, or your own. [default: none]")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.attributes if self.attributes not in (("auto",), ("none",)) else ():
            if name not in CHOICES:
                hint = f"choose from {', '.join(CHOICES)}; or auto or none alone"
                raise SettingError("attributes", f"unknown attribute {name!r}", hint)
