"""The heads of two neighbouring words (Martins et al. 2011)."""

from treebound.factors.family import Family
from treebound.factors.templates import TemplateSet, lines

#: arcs p -> l and h -> m, where m is the word after l; p and h may be the same word
HEAD_BIGRAM = Family(
    "head-bigram",
    5,
    TemplateSet(
        words=("p", "l", "h", "m"),
        parts=lines("""
            p.tag l.tag h.tag m.tag; p.coarse l.coarse h.coarse m.coarse
            p.tag l.tag h.tag; p.tag h.tag m.tag; p.coarse l.coarse h.coarse; p.coarse h.coarse m.coarse
            p.form h.tag m.tag; p.tag h.form m.tag; p.tag h.tag m.form; p.tag l.form h.tag
            p.tag l.tag h.form; p.form l.tag h.tag; l.form m.form; l.tag m.tag; l.form m.tag; l.tag m.form
        """),
        pair=("p", "h"),
        pairs=lines("p.tag h.tag; p.coarse h.coarse; p.form h.form; p.form h.tag; p.tag h.form"),
        side="l",
    ),
    "Martins, Smith, Figueiredo & Aguiar (2011)",
)
