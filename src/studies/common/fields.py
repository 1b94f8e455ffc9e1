"""Kinds of values that the settings of several stages and questions have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator

if TYPE_CHECKING:
    from studies.common.params import Params

STRICT = ConfigDict(extra="forbid")


class Section:
    """Base of the settings of a question: a section of params.yaml that is named as the question's folder."""

    def check(self, params: Params) -> None:
        """Raise ValueError where they do not go with the other parameters."""


def _keep(value: Any) -> int | str:
    """A number of heads that the pruner leaves each word, or "none" (no pruning)."""
    if value == "none" or (type(value) is int and 1 <= value <= 1_000_000):
        return value
    raise ValueError(f"expected a number of heads from 1, or none, not {value!r}")


Positive = Annotated[int, Field(ge=1, le=1_000_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Above = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Keep = Annotated[int | str, PlainValidator(_keep)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_+-]*$")]
#: a treebank of the catalogue; the name of an earlier release has a point
Corpus = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
Tags = Literal["gold", "predicted"]
Attribute = Literal["prefix", "suffix", "length", "feats", "lemma"]  # those that not every corpus has


def heads(k: Keep) -> int | None:
    """Heads of a word as the parser takes them."""
    return None if k == "none" else int(k)
