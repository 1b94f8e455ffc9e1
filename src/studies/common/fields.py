"""Define types of values that the settings of several stages and questions use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator

if TYPE_CHECKING:
    from studies.common.params import Params

STRICT = ConfigDict(extra="forbid")


class Section:
    """The base class of the settings of a question, that is, of a folder `studies/<paper>/<question>`.

    The section of params.yaml with the name of this folder holds the settings.
    """

    def check(self, params: Params) -> None:
        """Raise ValueError if the settings contradict other parameters."""


def _keep(value: Any) -> int | str:
    """Return a valid number of candidate heads per word ("none" means no pruning), or raise ValueError."""
    if value == "none" or (type(value) is int and 1 <= value <= 1_000_000):
        return value
    raise ValueError(f"expected a number of heads (1 or more) or none, not {value!r}")


Positive = Annotated[int, Field(ge=1, le=1_000_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Above = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
Keep = Annotated[int | str, PlainValidator(_keep)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_+-]*$")]
#: type of the name of a treebank in the catalogue; unlike `Name`, it allows the dot in names of earlier releases
Corpus = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]
Tags = Literal["gold", "predicted"]
Attribute = Literal["prefix", "suffix", "length", "feats", "lemma"]  # attributes of words that some corpora lack


def heads(k: Keep) -> int | None:
    """Convert a number of candidate heads to the form that the parser takes: "none" (no pruning) becomes None."""
    return None if k == "none" else int(k)
