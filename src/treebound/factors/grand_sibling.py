"""An arc g -> h with two adjacent modifiers of h, or with h's first modifier on a side (Koo & Collins 2010)."""

from treebound.factors.family import SHORT_PAIR, WORD_QUADRUPLE, Family, fill
from treebound.factors.templates import TemplateSet, lines

GRAND_SIBLING = Family(
    "grand-sibling",
    9,
    TemplateSet(
        words=("g", "h", "s", "m"),
        parts=lines(fill(WORD_QUADRUPLE, w="g", x="h", y="s", z="m"))
        + lines("g.tag s.tag m.tag; g.coarse s.coarse m.coarse; g.form s.tag m.tag; g.tag s.tag m.form"),
        pair=("g", "m"),
        pairs=lines(fill(SHORT_PAIR, x="g", y="m")),
        side="h",
    ),
    "Koo & Collins (2010), Model 1",
)
