"""How a treebank is mined for annotation errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from treebound.support.settings import Checked, option

Kinds = tuple[Literal["head", "label"], ...]


@dataclass(frozen=True)
class Settings(Checked):
    """What is looked for, and how many models look for it.

    folds  parts of the treebank, each of which is parsed by a model that is trained on the others; without effect
           where there is a reference or a model
    kinds  annotations of trees that are doubted; none where tags alone are
    tags   column whose tags are doubted as well; "" for none
    """

    folds: Annotated[int, Field(ge=2, le=1000)] = option(
        5,
        "Number of folds. Each fold of TREEBANK is parsed by a model that is trained on the other folds. Without "
        "effect with --reference or --model.",
    )
    kinds: Kinds = option(
        ("head", "label"),
        "List doubtful heads (head), doubtful labels of words whose head is not doubted (label), or both, separated "
        "by commas.",
    )
    tags: Literal["", "upos", "xpos"] = option(
        "", "List doubtful tags of this column, too: upos or xpos. Needs no model of trees. [default: no tags]"
    )
