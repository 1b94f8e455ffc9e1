"""Treebanks of synthetic languages, for tests that need a trained model.

Every word has a tag. The tag decides the probabilities of the tags of its dependents on either side. Word forms are
repeated as in real texts. Trees are projective and have a single root.
The label of an arc depends on its direction and on the tags of its words. The label of an adverb also depends on its
form. The label of a preposition depends on the form of the noun below it, which the arc alone does not show.
"""

from __future__ import annotations

import numpy as np

from treebound.core.treebank import STRING_COLUMNS, Treebank
from treebound.core.vocabulary import Vocabulary

#: tag -> (left dependents, right dependents), each with the probability that it is generated
GRAMMAR = {
    "V": ([("N", 0.8), ("A", 0.3)], [("N", 0.7), ("P", 0.4), ("A", 0.2), ("V", 0.25), ("C", 0.25), (".", 0.3)]),
    "N": ([("D", 0.6), ("J", 0.4), ("J", 0.2)], [("P", 0.25), ("V", 0.1), ("C", 0.1)]),
    "P": ([("A", 0.1)], [("N", 0.95)]),
    "C": ([], [("N", 0.5), ("V", 0.5)]),
    "J": ([("A", 0.2)], []),
    "D": ([], []),
    "A": ([], []),
    ".": ([], []),
}


def synthetic_treebank(sentences: int, seed: int, max_words: int = 30) -> Treebank:
    """Return a treebank of random sentences with 1 to max_words words."""
    rng = np.random.default_rng(seed)
    vocab = {name: Vocabulary(["_"]) for name in STRING_COLUMNS}
    rows: dict[str, list[int]] = {name: [] for name in STRING_COLUMNS}
    heads: list[int] = []
    lengths: list[int] = []
    while len(lengths) < sentences:
        tags, head = _tree(rng, "V", 0)
        if len(tags) > max_words:
            continue
        lengths.append(len(tags))
        heads += [max(h, 0) for h in head]
        forms = [f"{tag.lower()}{min(int(rng.zipf(1.5)), 200)}" for tag in tags]
        for tag, form, label in zip(tags, forms, _labels(tags, head, forms), strict=True):
            texts = {"form": form, "lemma": form, "upos": tag, "xpos": tag, "deprel": label}
            for name in STRING_COLUMNS:
                rows[name].append(vocab[name].add(texts.get(name, "_")))
    columns = {name: np.array(values, np.int32) for name, values in rows.items()}
    meta = {
        "single_root": True,
        "tag": "upos",
        "coarse": "upos",
        "attributes": [],
        "punctuation": {"column": "upos", "tags": ["."]},
    }
    return Treebank("made-up", np.cumsum([0, *lengths]), columns, vocab, np.array(heads, np.int32), meta)


def _labels(tags: list[str], heads: list[int], forms: list[str]) -> list[str]:
    """Return the labels of a tree. Heads are counted from 1."""
    out = []
    for m, (tag, h) in enumerate(zip(tags, heads, strict=True), 1):
        label = "root" if h < 1 else f"{tags[h - 1]}{'<' if m < h else '>'}{tag}"
        nouns = [forms[i] for i, (t, head) in enumerate(zip(tags, heads, strict=True)) if t == "N" and head == m]
        deciding = forms[m - 1] if tag == "A" else nouns[0] if tag == "P" and nouns else "0"
        out.append(label + (":odd" if int(deciding[-1]) % 2 else ""))
    return out


def _tree(rng: np.random.Generator, tag: str, depth: int) -> tuple[list[str], list[int]]:
    """Generate a random subtree whose top word has this tag.

    Returns (tags, heads). Heads are counted from 1, and the head of the top word is -1.
    """
    left, right = GRAMMAR[tag]
    fading = 0.8**depth
    before = [_tree(rng, t, depth + 1) for t, chance in left if rng.random() < chance * fading]
    after = [_tree(rng, t, depth + 1) for t, chance in right if rng.random() < chance * fading]
    top = sum(len(tags) for tags, _ in before) + 1
    tags: list[str] = []
    heads: list[int] = []
    for below, its_heads in before:
        heads += [top if h == -1 else h + len(tags) for h in its_heads]
        tags += below
    heads.append(-1)
    tags.append(tag)
    for below, its_heads in after:
        heads += [top if h == -1 else h + len(tags) for h in its_heads]
        tags += below
    return tags, heads


CASES = ("Nom", "Acc", "Dat", "Gen")
ENDINGS = [f"{a}{b}{c}" for a in "aeiou" for b in "klmnrst" for c in "aeiou"]


#: case of a noun -> label of its arc
ARGUMENTS = {"Nom": "nsubj", "Acc": "obj", "Dat": "iobj", "Gen": "obl"}


def inflected_conllu(sentences: int, seed: int) -> str:
    """Return CoNLL-U of a language with free word order, rich FEATS and lemmas, without XPOS and with crossing arcs.

    Every clause has a verb and nouns of different cases. Adjectives agree with their nouns, wherever they are. The form
    of a word does not show its case, because endings are random. Only FEATS tell the heads of adjectives.
    """
    rng = np.random.default_rng(seed)

    def word(tag: str, feats: str) -> tuple[str, ...]:
        lemma = f"{tag.lower()}{min(int(rng.zipf(1.5)), 50)}"
        return lemma + ENDINGS[rng.integers(len(ENDINGS))], lemma, tag, feats

    blocks = []
    for _ in range(sentences):
        groups = []  # for each noun: (kind, case, columns) of its adjectives and of the noun itself
        cases = rng.permutation(CASES)[: rng.integers(2, 4)]
        for case in cases:
            number = ("Sing", "Plur")[rng.integers(2)]
            feats = f"Case={case}|Number={number}"
            group = [("adjective", case, word("ADJ", feats)) for _ in range(rng.integers(0, 3))]
            group.insert(rng.integers(len(group) + 1), ("noun", case, word("NOUN", feats)))
            groups.append(group)
        if rng.random() < 0.6 and groups[0][0][0] == "adjective":  # move the adjective away from its noun
            groups[-1].append(groups[0].pop(0))
        last = rng.random() < 0.5  # a verb between nouns would show where adjectives belong
        groups.insert(
            len(groups) if last else 0, [("verb", "", word("VERB", "Tense=" + ("Past", "Pres")[rng.integers(2)]))]
        )
        line = [entry for group in groups for entry in group] + [("point", "", (".", ".", "PUNCT", "_"))]
        place = {case or kind: i for i, (kind, case, _) in enumerate(line, 1) if kind != "adjective"}
        rows = []
        for i, (kind, case, (form, lemma, tag, feats)) in enumerate(line, 1):
            head = 0 if kind == "verb" else place[case] if kind == "adjective" else place["verb"]
            label = ARGUMENTS[case] if kind == "noun" else {"verb": "root", "adjective": "amod", "point": "punct"}[kind]
            rows.append(f"{i}\t{form}\t{lemma}\t{tag}\t_\t{feats}\t{head}\t{label}\t_\t_\n")
        blocks.append("".join(rows) + "\n")
    return "".join(blocks)
