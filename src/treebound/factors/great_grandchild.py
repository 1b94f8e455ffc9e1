"""Every chain of three arcs a -> g -> h -> m (Qian & Liu 2013)."""

from treebound.factors.family import SHORT_PAIR, WORD_QUADRUPLE, Family, fill
from treebound.factors.templates import TemplateSet, lines

GREAT_GRANDCHILD = Family(
    "great-grandchild",
    6,
    TemplateSet(
        words=("a", "g", "h", "m"),
        parts=lines(fill(WORD_QUADRUPLE, w="a", x="g", y="h", z="m")),
        pair=("a", "m"),
        pairs=lines(fill(SHORT_PAIR, x="a", y="m")),
        side="h",
    ),
    "Qian & Liu (2013), section 4.3",
    rate=0.1,
)
