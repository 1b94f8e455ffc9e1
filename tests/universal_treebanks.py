"""Synthetic treebanks with tags and labels of Universal Dependencies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary

TAGS = {"V": "VERB", "N": "NOUN", "P": "ADP", "C": "CCONJ", "J": "ADJ", "D": "DET", "A": "ADV", ".": "PUNCT"}


#: (tag of the head, tag of the dependent) -> labels to the left and to the right
LABELS = {
    ("V", "N"): ("nsubj", "obj"),
    ("N", "N"): ("compound", "nmod"),
    ("V", "V"): ("advcl", "xcomp"),
    ("N", "V"): ("acl", "acl"),
}


OTHERS = {"A": "advmod", "D": "det", "J": "amod", ".": "punct", "P": "obl", "C": "cc", "V": "ccomp", "N": "obl"}


def universal(treebank: Treebank) -> Treebank:
    """Return the synthetic treebank with universal tags and labels.

    Words below a preposition make some trees invalid, as in real treebanks.
    """
    tags = treebank.strings("upos")
    labels, start = [], 0
    for length in treebank.lengths.tolist():
        heads = treebank.head[start : start + length]
        for m, h in enumerate(heads.tolist(), 1):
            own = tags[start + m - 1]
            head = tags[start + h - 1] if h else ""
            sides = LABELS.get((head, own))
            labels.append("root" if not h else sides[m > h] if sides else OTHERS[own])
        start += length
    columns, vocab = dict(treebank.columns), dict(treebank.vocab)
    for name, strings in (("upos", [TAGS[tag] for tag in tags]), ("deprel", labels)):
        vocab[name] = Vocabulary(["_"])
        columns[name] = np.array([vocab[name].add(string) for string in strings], np.int32)
    columns["xpos"], vocab["xpos"] = columns["upos"], vocab["upos"]
    return replace(treebank, columns=columns, vocab=vocab)


def written(treebank: Treebank, path: Path) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for i, sentence in enumerate(treebank):
            rows = zip(*(sentence.strings(name) for name in ("form", "lemma", "upos", "xpos", "feats")), strict=True)
            tails = zip(sentence.heads[1:].tolist(), sentence.strings("deprel"), strict=True)
            file.write(f"# sent_id = {i + 1}\n# text = {' '.join(sentence.strings('form'))}\n")
            for m, (row, (head, label)) in enumerate(zip(rows, tails, strict=True), 1):
                file.write("\t".join([str(m), *row, str(head), label, "_", "_"]) + "\n")
            file.write("\n")
    return path
