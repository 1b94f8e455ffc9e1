"""Settings of mining: which annotations are checked, and the number of folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from treebound.support.settings import Checked, option

Kinds = tuple[Literal["head", "label"], ...]


@dataclass(frozen=True)
class Settings(Checked):
    """Settings of mining: the kinds of annotation that are checked, and the number of folds.

    folds  number of folds of the treebank. Each fold is parsed by a model that is trained on the other folds. Ignored
           with a reference or a model
    kinds  annotations of trees that are checked: "head", "label" or both. Empty to check tags only
    tags   column of the tags that are checked in addition: "upos", "xpos" or "" for none
    """

    folds: Annotated[int, Field(ge=2, le=1000)] = option(
        5,
        "Number of folds of TREEBANK. Each fold is parsed by a model that is trained on the other folds. Ignored with "
        "--reference or --model.",
    )
    kinds: Kinds = option(
        ("head", "label"),
        "Kinds of suspects to list, separated by commas: head lists doubtful heads; label lists doubtful labels of "
        "words whose head is not doubtful.",
    )
    tags: Literal["", "upos", "xpos"] = option(
        "",
        "List doubtful tags of this column as well: upos or xpos. Tags are checked by a tagger, not by the parsing "
        "models. [default: no tags]",
    )
