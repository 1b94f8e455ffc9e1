"""CoNLL-U: the format of Universal Dependencies. https://universaldependencies.org/format.html"""

from treebound.treebanks.tabular import Layout

CONLLU = Layout(
    name="CoNLL-U",
    columns={"id": 0, "form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "head": 6, "deprel": 7},
    least=10,
    most=10,
    comments=True,
    extras=True,
    misc=9,
)
