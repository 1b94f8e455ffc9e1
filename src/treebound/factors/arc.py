"""Single arcs, with unigram, bigram, surrounding and in-between features (McDonald et al. 2005)."""

from treebound.factors.family import Family
from treebound.factors.templates import TemplateSet, lines

#: features of one word of the arc, memoised per word
HEAD = lines("""
    h.form; h.tag; h.form h.tag; h.coarse; h.lower; h.prefix; h.suffix; h.suffix h.tag; h.length h.tag; h.feats; h.lemma
    h-1.tag h.tag; h.tag h+1.tag; h-1.tag h.tag h+1.tag; h-1.form h.tag; h.tag h+1.form
""")
MODIFIER = tuple(t.replace("h.", "m.").replace("h-", "m-").replace("h+", "m+") for t in HEAD)

BIGRAM = lines("""
    h.form h.tag m.form m.tag; h.tag m.form m.tag; h.form m.form m.tag; h.form h.tag m.tag; h.form h.tag m.form
    h.form m.form; h.tag m.tag; h.form m.tag; h.tag m.form; h.coarse m.coarse; h.lower m.lower
    h.coarse m.form; h.form m.coarse; h.lower h.coarse m.coarse; h.coarse m.lower m.coarse
    h.suffix m.suffix; h.suffix h.tag m.tag; h.tag m.suffix m.tag; h.suffix m.tag; h.tag m.suffix
    h.prefix m.prefix; h.prefix m.tag; h.tag m.prefix; h.length h.tag m.length m.tag
    h.feats m.feats; h.tag h.feats m.tag m.feats; h.tag m.tag m.feats; h.tag h.feats m.tag
    h.lemma m.lemma; h.lemma m.tag; h.tag m.lemma; h.lemma h.tag m.lemma m.tag
""")

SURROUNDING = lines("""
    h.tag h+1.tag m-1.tag m.tag; h-1.tag h.tag m-1.tag m.tag; h.tag h+1.tag m.tag m+1.tag; h-1.tag h.tag m.tag m+1.tag
    h.tag h+1.tag m.tag; h-1.tag h.tag m.tag; h.tag m-1.tag m.tag; h.tag m.tag m+1.tag
    h-1.tag h.tag h+1.tag m.tag; h.tag m-1.tag m.tag m+1.tag; h-1.tag h.tag h+1.tag m-1.tag m.tag m+1.tag
    h.coarse h+1.coarse m-1.coarse m.coarse; h-1.coarse h.coarse m-1.coarse m.coarse
    h.coarse h+1.coarse m.coarse m+1.coarse; h-1.coarse h.coarse m.coarse m+1.coarse
    h.tag h+1.tag h+2.tag m.tag; h.tag m-2.tag m-1.tag m.tag; h.tag m.tag m+1.tag m+2.tag; h-2.tag h-1.tag h.tag m.tag
    h.form m-1.tag m.tag; h.form m.tag m+1.tag; h.tag h+1.tag m.form; h-1.tag h.tag m.form
    h.form h+1.form m.tag; h.tag m-1.form m.tag; h.tag m.tag m+1.form; h-1.form h.tag m.tag
""")

#: features of h, m and a word b between h and m, for every distinct tag of such words
BETWEEN = lines("h.tag b.tag m.tag; h.coarse b.coarse m.coarse")

ARC = Family(
    "arc",
    0,
    TemplateSet(words=("h", "m"), pairs=BIGRAM + SURROUNDING),
    "McDonald, Crammer & Pereira (2005), section 3",
)
