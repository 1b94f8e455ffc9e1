"""Conventions of a training treebank that its models store: the use of its columns, and the number of roots."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from treebound.core.treebank import Treebank
from treebound.learning.storage import Attributes, Entry

#: largest number of values of a column that a model stores; a column with more values is an open class and not stored
MOST_VALUES = 20_000


@checked(config=ConfigDict(extra="forbid"))
class Punctuation:
    """A rule for punctuation: UAS leaves out each word that has one of `tags` in the column `column`."""

    column: Annotated[str, Field(pattern="^(gold )?(form|lemma|upos|xpos|feats|deprel)$")]
    tags: list[str]


@checked(config=ConfigDict(extra="forbid"))
class Conventions:
    """The part of a treebank's meta that model files store.

    Attributes
    ----------
    single_root
        Whether every sentence has a single root.
    tag, coarse
        Columns of the fine and of the coarse tags.
    attributes
        Attributes of words that features may use.
    punctuation
        Rule for the words that UAS leaves out; None if UAS counts all words.
    values
        Column -> the values of the training treebank, `_` included. Input with other values causes a warning.
    """

    single_root: bool
    tag: Literal["xpos", "upos"]
    coarse: Literal["upos", "xpos", "tag2"]
    attributes: Attributes
    punctuation: Punctuation | None = None
    values: dict[Literal["upos", "xpos", "feats"], list[Entry]] | None = None

    def as_meta(self) -> dict[str, Any]:
        """Return the conventions in the form of `Treebank.meta`, without fields that are None."""
        meta = asdict(self) | {"attributes": list(self.attributes)}
        return {name: value for name, value in meta.items() if value is not None}


def conventions(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a training treebank's meta that a model file stores, with defaults for missing entries."""
    defaults = {"single_root": True, "tag": "xpos", "coarse": "upos", "attributes": []}
    known = (*defaults, "punctuation", "values")
    return {name: value for name, value in (defaults | meta).items() if name in known and value is not None}


def training_meta(train: Treebank) -> dict[str, Any]:
    """Return the meta of a training treebank, with the values of the columns that its models use.

    A column with more than MOST_VALUES values is left out. O(words).
    """
    meta = train.meta
    used = {meta.get("tag", "xpos"), meta.get("coarse", "upos"), *meta.get("attributes", ())}
    values = {}
    for column in ("upos", "xpos", "feats"):
        observed = train.values(column)
        if column in used and len(observed) <= MOST_VALUES:
            values[column] = sorted(observed)
    return meta | {"values": values}


def under(meta: dict[str, Any], treebank: Treebank) -> Treebank:
    """Return `treebank` with the conventions of a model for the use of columns: `tag`, `coarse` and `attributes`.

    meta  the meta of the model
    """
    return replace(treebank, meta=treebank.meta | {name: meta[name] for name in ("tag", "coarse", "attributes")})
