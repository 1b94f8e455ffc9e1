"""What a model must know of the treebank that it was trained on: how its columns are used, which trees it has."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from treebound.core.treebank import Treebank
from treebound.learning.storage import Attributes, Entry

MOST_VALUES = 20_000  #: a column with more values than this is open, and tells nothing by them


@checked(config=ConfigDict(extra="forbid"))
class Punctuation:
    """Words with these tags in this column are left out of UAS."""

    column: Annotated[str, Field(pattern="^(gold )?(form|lemma|upos|xpos|feats|deprel)$")]
    tags: list[str]


@checked(config=ConfigDict(extra="forbid"))
class Conventions:
    """Those of a treebank's meta that stand in model files.

    values  column -> the values that it has in the training treebank, `_` included: input with others is warned about
    """

    single_root: bool
    tag: Literal["xpos", "upos"]
    coarse: Literal["upos", "xpos", "tag2"]
    attributes: Attributes
    punctuation: Punctuation | None = None
    values: dict[Literal["upos", "xpos", "feats"], list[Entry]] | None = None

    def as_meta(self) -> dict[str, Any]:
        """As `Treebank.meta` has them."""
        meta = asdict(self) | {"attributes": list(self.attributes)}
        return {name: value for name, value in meta.items() if value is not None}


def conventions(meta: dict[str, Any]) -> dict[str, Any]:
    """What a model file holds of the meta of its training treebank."""
    defaults = {"single_root": True, "tag": "xpos", "coarse": "upos", "attributes": []}
    known = (*defaults, "punctuation", "values")
    return {name: value for name, value in (defaults | meta).items() if name in known and value is not None}


def meta_of(train: Treebank) -> dict[str, Any]:
    """Return the meta of a training treebank with the values of the columns that a model of it looks at. O(words)."""
    meta = train.meta
    used = {meta.get("tag", "xpos"), meta.get("coarse", "upos"), *meta.get("attributes", ())}
    values = {}
    for column in ("upos", "xpos", "feats"):
        found = train.values(column)
        if column in used and len(found) <= MOST_VALUES:
            values[column] = sorted(found)
    return meta | {"values": values}


def under(meta: dict[str, Any], treebank: Treebank) -> Treebank:
    """A treebank whose columns are used as the model's were."""
    return replace(treebank, meta=treebank.meta | {name: meta[name] for name in ("tag", "coarse", "attributes")})
