"""Every three modifiers of one head, on either side (Qian & Liu 2013)."""

from treebound.factors.family import SHORT_PAIR, WORD_QUADRUPLE, Family, fill
from treebound.factors.templates import TemplateSet, lines

#: x, y and z are the modifiers from left to right
TRI_SIBLING = Family(
    "tri-sibling",
    7,
    TemplateSet(
        words=("h", "x", "y", "z"),
        parts=lines(fill(WORD_QUADRUPLE, w="h", x="x", y="y", z="z")) + lines("x.tag y.tag z.tag"),
        pair=("x", "z"),
        pairs=lines(fill(SHORT_PAIR, x="x", y="z")),
        side="h",
    ),
    "Qian & Liu (2013), section 4.3; Koo & Collins (2010), Model 2, has the adjacent ones",
    rate=0.02,
)
