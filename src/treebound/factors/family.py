"""Define a factor family: its name, its feature templates, and the code by which the kernels list its parts."""

from __future__ import annotations

from dataclasses import dataclass

from treebound.factors.templates import TemplateSet


@dataclass(frozen=True)
class Family:
    """A factor family, with its feature templates.

    Attributes
    ----------
    name : str
        Key of the family in `Problem.parts`.
    code : int
        Number that identifies the family in the kernels of `treebound.kernels.arcs.parts`, which list its parts.
    templates : TemplateSet
        Feature templates of the family.
    cite : str
        Publication that introduced the family.
    rate : float
        Learning rate of the family's weights, relative to other families. A head has many more triples of modifiers
        than arcs. At the same rate, the many features of triples would receive most of an update step and overfit
        single sentences (decision 013).
    """

    name: str
    code: int
    templates: TemplateSet
    cite: str
    rate: float = 1.0


#: templates over the two outer words (x, y) of a second-order part; the same for siblings and for grandchildren
WORD_PAIR = """
    {x}.form {y}.form; {x}.form {y}.tag; {x}.tag {y}.form; {x}.tag {y}.tag; {x}.coarse {y}.coarse; {x}.lower {y}.lower
    {x}.form {x}.tag {y}.tag; {x}.tag {y}.form {y}.tag; {x}.form {y}.coarse; {x}.coarse {y}.form
    {x}.tag {x+1}.tag {y}.tag; {x-1}.tag {x}.tag {y}.tag; {x}.tag {y-1}.tag {y}.tag; {x}.tag {y}.tag {y+1}.tag
    {x}.tag {x+1}.tag {y-1}.tag {y}.tag; {x-1}.tag {x}.tag {y}.tag {y+1}.tag
    {x-1}.tag {x}.tag {y-1}.tag {y}.tag; {x}.tag {x+1}.tag {y}.tag {y+1}.tag
"""

#: templates over all three words (x, y, z) of a second-order part
WORD_TRIPLE = """
    {x}.tag {y}.tag {z}.tag; {x}.coarse {y}.coarse {z}.coarse
    {x}.form {y}.tag {z}.tag; {x}.tag {y}.form {z}.tag; {x}.tag {y}.tag {z}.form
    {x}.form {y}.coarse {z}.coarse; {x}.coarse {y}.form {z}.coarse; {x}.coarse {y}.coarse {z}.form
"""

#: templates over the outer two words (x, y) of a third-order part
SHORT_PAIR = """
    {x}.tag {y}.tag; {x}.coarse {y}.coarse; {x}.form {y}.form; {x}.form {y}.tag; {x}.tag {y}.form
"""

#: templates over all four words (w, x, y, z) of a third-order part
WORD_QUADRUPLE = """
    {w}.tag {x}.tag {y}.tag {z}.tag; {w}.coarse {x}.coarse {y}.coarse {z}.coarse
    {w}.form {x}.coarse {y}.coarse {z}.coarse; {w}.coarse {x}.form {y}.coarse {z}.coarse
    {w}.coarse {x}.coarse {y}.form {z}.coarse; {w}.coarse {x}.coarse {y}.coarse {z}.form
"""


def fill(block: str, **names: str) -> str:
    """Replace the placeholders in a block of templates by position names: with x="h", ``{x-1}`` becomes ``h-1``."""
    for key, name in names.items():
        block = block.replace("{" + key, "{" + name)
    return block.replace("{", "").replace("}", "")
