"""Every pair of modifiers of one head, on either side (Qian & Liu 2013); no dynamic program scores this family."""

from treebound.factors.family import WORD_PAIR, WORD_TRIPLE, Family, fill
from treebound.factors.templates import TemplateSet, lines

SIBLING = Family(
    "sibling",
    4,
    TemplateSet(
        words=("h", "s", "m"),
        parts=lines(fill(WORD_TRIPLE, x="h", y="s", z="m")),
        pair=("s", "m"),
        pairs=lines(fill(WORD_PAIR, x="s", y="m")),
    ),
    "Qian & Liu (2013), section 4.3",
)
