"""The number of modifiers of a word (Martins, Smith & Xing 2009)."""

from treebound.factors.family import Family
from treebound.factors.templates import TemplateSet, lines

#: the variant of a template is the number of modifiers
VALENCY = Family(
    "valency",
    10,
    TemplateSet(
        words=("h",),
        parts=lines("""
            h.form; h.lower; h.tag; h.coarse; h.lemma; h.form h.tag; h.suffix h.tag; h.feats; h.tag h.feats
            h-1.tag h.tag; h.tag h+1.tag; h-1.tag h.tag h+1.tag; h-1.coarse h.form; h.form h+1.coarse
            h-2.tag h-1.tag h.tag; h.tag h+1.tag h+2.tag
        """),
    ),
    "Martins, Smith & Xing (2009); Qian & Liu (2013), section 5.1",
)
