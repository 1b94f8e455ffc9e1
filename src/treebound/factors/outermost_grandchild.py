"""An arc g -> h with the outermost modifier m of h on one side, or with no modifier there (Carreras 2007)."""

from treebound.factors.family import WORD_PAIR, WORD_TRIPLE, Family, fill
from treebound.factors.templates import TemplateSet, lines

OUTERMOST_GRANDCHILD = Family(
    "outermost-grandchild",
    2,
    TemplateSet(
        words=("g", "h", "m"),
        parts=lines(fill(WORD_TRIPLE, x="g", y="h", z="m")),
        pair=("g", "m"),
        pairs=lines(fill(WORD_PAIR, x="g", y="m")),
    ),
    "Carreras (2007), section 2",
)
