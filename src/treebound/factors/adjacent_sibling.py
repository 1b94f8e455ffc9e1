"""A modifier and the next modifier towards the head on the same side, or none (McDonald & Pereira 2006)."""

from treebound.factors.family import WORD_PAIR, WORD_TRIPLE, Family, fill
from treebound.factors.templates import TemplateSet, lines

ADJACENT_SIBLING = Family(
    "adjacent-sibling",
    1,
    TemplateSet(
        words=("h", "s", "m"),
        parts=lines(fill(WORD_TRIPLE, x="h", y="s", z="m")),
        pair=("s", "m"),
        pairs=lines(fill(WORD_PAIR, x="s", y="m")),
    ),
    "McDonald & Pereira (2006), section 2.2; Carreras (2007), section 2",
)
