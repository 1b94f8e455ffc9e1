"""Every chain of two arcs g -> h -> m (Koo & Collins 2010, Model 0)."""

from treebound.factors.family import WORD_PAIR, WORD_TRIPLE, Family, fill
from treebound.factors.templates import TemplateSet, lines

GRANDCHILD = Family(
    "grandchild",
    3,
    TemplateSet(
        words=("g", "h", "m"),
        parts=lines(fill(WORD_TRIPLE, x="g", y="h", z="m")),
        pair=("g", "m"),
        pairs=lines(fill(WORD_PAIR, x="g", y="m")),
    ),
    "Koo & Collins (2010), section 3; Qian & Liu (2013), section 4.3",
)
