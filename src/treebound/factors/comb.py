"""A head with a run of four to eight consecutive words as modifiers (Qian & Liu 2013)."""

from treebound.factors.family import Family
from treebound.factors.templates import TemplateSet, lines

#: f and l are the nearest and the farthest word of the run; c stands for the run, so c.tag is the sequence of its tags
COMB = Family(
    "comb",
    8,
    TemplateSet(
        words=("h", "f", "l", "c"),
        parts=lines("""
            c.tag; h.tag c.tag; h.form c.tag; h.lower c.tag; h.coarse c.coarse; h.tag c.coarse; h.form c.coarse
            h.lemma c.tag; h.tag c.form; h.tag f.form l.form; h.tag f.tag l.tag; h.tag f.coarse l.form
        """),
        pair=("f", "l"),
        side="h",
    ),
    "Qian & Liu (2013), section 4.3",
)
