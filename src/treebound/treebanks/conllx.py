"""Layouts of CoNLL-X (Buchholz & Marsi 2006, section 2) and CoNLL 2008 (Surdeanu et al. 2008, section 3.1).

In CoNLL-X, CPOSTAG is read as `upos` and POSTAG as `xpos`. The columns PHEAD and PDEPREL are not read, but they are
kept when a document is written. In CoNLL 2008, the gold columns are read, with GPOS as both tags. The format has no
column FEATS.
"""

from treebound.treebanks.tabular import Layout

CONLLX = Layout(
    name="CoNLL-X",
    columns={"id": 0, "form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "head": 6, "deprel": 7},
    least=10,
    most=10,
)

CONLL08 = Layout(
    name="CoNLL 2008",
    columns={"id": 0, "form": 1, "lemma": 2, "upos": 3, "xpos": 3, "head": 8, "deprel": 9},
    least=11,
    most=1000,
)
