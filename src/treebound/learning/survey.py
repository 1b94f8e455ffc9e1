"""Survey of a user's own treebank: choice of the tag column and of attributes, and advice on training.

Treebound's catalogue states how the columns of each of its corpora are used. For any other treebank, this module
decides. An attribute of words beside form and tags is chosen if it tells a parser something new for enough words to
learn from:

- `feats` is chosen if at least a share ENOUGH of words have features that are not the most frequent features of their
  tag.
- `lemma` is chosen if at least a share ENOUGH of words have a lemma that differs from the lower-cased form.
- `prefix` and `length` are chosen if words are short, with SHORT characters or fewer on average, for instance where a
  character is a syllable.
- `suffix` is always chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treebound.core.spool import release
from treebound.core.treebank import Treebank
from treebound.kernels.arcs.numbering import index_arcs
from treebound.kernels.chart.backbones import eisner_graph
from treebound.kernels.chart.hypergraph import best_arcs, inside
from treebound.learning.reading import CHOICES, Reading
from treebound.metrics.attachment import scored_words
from treebound.treebanks.projectivise import is_projective, projectivise

ENOUGH = 0.05  #: share of words for which an attribute must be informative
TAGGED = 0.9  #: share of words that must have an XPOS tag for `xpos` to be the fine tag
UNSEEN = 0.05  #: share of dev's words with a value that training lacks, from which on a warning is given
SHARED = 0.5  #: share of dev's sentences that training has, too, above which a warning is given
SHORT = 2.5  #: mean length of words in characters up to which prefix and length are chosen
#: Non-projective parsing is advised from this share of training trees with crossing arcs on, or from this share of
#: heads on that change when the trees are made projective. Of ten treebanks, those with 1.4 % and 6.4 % of such heads
#: gained by non-projective parsing, and those with 0.6 % and fewer lost.
CROSSING, LIFTED = 0.15, 0.01
#: length in words up to which the best projective tree is computed; longer sentences count as projective
LONGEST = 150
RELEASE = 1000  #: number of sentences after which the memory pages of a treebank in a file are released

#: the conventions of Universal Dependencies
PUNCTUATION = {"column": "upos", "tags": ["PUNCT"]}


@dataclass(frozen=True)
class Survey:
    """Counts over a treebank with heads.

    crossing  number of sentences with crossing arcs
    lifted    number of words whose head changes when their tree is made projective for training
    several   number of sentences with more than one root
    """

    sentences: int
    words: int
    crossing: int
    lifted: int
    several: int


def survey(treebank: Treebank) -> Survey:
    """Return the counts of an annotated treebank."""
    crossing = lifted = several = 0
    for i in range(len(treebank)):
        if i % RELEASE == 0:
            release()
        heads = treebank.heads(i)
        roots = int(np.count_nonzero(heads == 0))
        several += roots > 1
        if roots and not is_projective(heads):
            crossing += 1
            lifted += int(np.count_nonzero(projectivise(heads)[0] != heads))
    return Survey(len(treebank), treebank.words, crossing, lifted, several)


def ceiling(treebank: Treebank) -> float:
    """Return the highest UAS (in %, without punctuation) that projective trees can reach."""
    counts, lost = scored_words(treebank), 0
    for i in range(len(treebank)):
        heads = treebank.heads(i)
        if not is_projective(heads):
            scored = counts[treebank.offsets[i] : treebank.offsets[i + 1]]
            lost += _lost(heads, scored, bool(treebank.meta.get("single_root", True)))
    return 100.0 - 100.0 * lost / max(1, int(counts.sum()))


def _lost(heads: np.ndarray, scored: np.ndarray, single_root: bool) -> int:
    """Return the number of scored words with a wrong head in the projective tree that has the fewest such words.

    heads int32[n + 1], scored bool[n]. Takes O(n^3) time (Eisner's algorithm). Returns 0 for more than LONGEST words.
    """
    n = len(heads) - 1
    if n > LONGEST:
        return 0
    allowed = np.ones((n + 1, n + 1), np.bool_)
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    index = index_arcs(n, allowed)
    graph = eisner_graph(index, n, single_root, 2**31)
    right = (heads[index.mod] == index.head) & scored[index.mod - 1]
    value = np.empty(len(graph.first) + 1)
    best = np.empty(len(graph.first) + 1, np.int32)
    inside(graph, np.append(right.astype(np.float64), 0.0), value, best)
    arcs = np.empty(n, np.int32)
    best_arcs(graph, len(index.head), best, arcs, np.empty(2 * n + 8, np.int32))
    return int(np.count_nonzero(scored) - np.count_nonzero(right[arcs]))


def filled(treebank: Treebank, column: str) -> float:
    """Return the share of words with a value other than `_` in a column."""
    return _share(treebank, column, lambda value: value != "_")


def unseen(train: Treebank, dev: Treebank, column: str) -> float:
    """Return the share of dev's words whose value in this column occurs nowhere in training."""
    known = set(train.values(column))
    return _share(dev, column, lambda value: value not in known)


def _share(treebank: Treebank, column: str, accepted: Callable[[str], bool]) -> float:
    """Return the share of words whose value in a column is accepted by the function `accepted`."""
    flags = np.array([accepted(value) for value in treebank.vocab[column].strings], bool)
    return float(treebank.counts(column)[flags].sum() / treebank.words) if treebank.words else 0.0


def fine_tag(train: Treebank, dev: Treebank | None = None) -> str:
    """Return the column of the fine tags: `xpos` or `upos`.

    It is `xpos` if nearly every word of training has one and dev uses the same tags, and otherwise `upos`.
    """
    known = dev is None or unseen(train, dev, "xpos") < UNSEEN
    return "xpos" if filled(train, "xpos") >= TAGGED and (known or not filled(train, "upos")) else "upos"


def informative_share(treebank: Treebank, attribute: str, tag: str) -> float:
    """Return the share of words for which `feats` or `lemma` adds information to form and tag.

    The docstring of the module defines this share for `feats` and for `lemma`.
    """
    if attribute == "lemma":
        pairs = _pairs(treebank, "lemma", "form")
        lemmas, forms = treebank.vocab["lemma"].strings, treebank.vocab["form"].strings
        others = (n for (a, b), n in pairs.items() if lemmas[a] != "_" and lemmas[a].lower() != forms[b].lower())
        return sum(others) / max(1, treebank.words)
    pairs = _pairs(treebank, tag, attribute)
    most: dict[int, int] = {}
    for (of_tag, _), n in pairs.items():
        most[of_tag] = max(most.get(of_tag, 0), n)
    return 1.0 - sum(most.values()) / max(1, treebank.words)


def _pairs(treebank: Treebank, first: str, second: str) -> Counter[tuple[int, int]]:
    """Return the number of words for each pair of ids in the columns `first` and `second`."""
    pairs: Counter[tuple[int, int]] = Counter()
    for first_ids, second_ids in treebank.chunks(first, second):
        pairs.update(zip(first_ids.tolist(), second_ids.tolist(), strict=True))
    return pairs


def attributes(train: Treebank, tag: str) -> list[str]:
    """Return the attributes of words that a parser of this treebank should use beside form and tags."""
    forms = train.vocab["form"].strings
    lengths = np.array([len(form) for form in forms], np.int64)
    characters = (train.counts("form") * lengths).sum() / max(1, train.words)
    chosen = ["suffix", *(("prefix", "length") if characters <= SHORT else ())]
    return chosen + [name for name in ("feats", "lemma") if informative_share(train, name, tag) >= ENOUGH]


def describe(train: Treebank, dev: Treebank, reading: Reading | None = None) -> None:
    """Store in the meta of both treebanks how their columns are used, which their files do not state.

    reading  options of the user; the survey decides each point that the options leave open
    """
    reading = reading or Reading()
    tag = reading.tag or fine_tag(train, dev)
    coarse = "upos" if filled(train, "upos") else tag
    requested = reading.attributes
    chosen = attributes(train, tag) if requested == ("auto",) else [name for name in CHOICES if name in requested]
    entries = {"single_root": not reading.multi_root, "tag": tag, "coarse": coarse, "patterns": reading.patterns}
    for treebank in (train, dev):
        treebank.meta.update(entries, punctuation=dict(PUNCTUATION), attributes=list(chosen))


def remarks(train: Treebank, dev: Treebank, *, projective: bool, k: int | str) -> list[str]:
    """Return a summary of the training file in one line, and one line for each warning or piece of advice.

    projective  whether the trees to predict are projective
    k           number of candidate heads of the pruner; empty or 0 if there is no pruner
    """
    counts, dev_trees, meta = survey(train), survey(dev), train.meta
    columns = ", ".join(f"{name} {100 * filled(train, name):.0f} %" for name in ("upos", "xpos", "feats", "lemma"))
    roots = f"{counts.several:,} with several roots, " if counts.several else ""
    chosen = ", ".join(meta["attributes"]) or "none"
    out = [
        f"{counts.sentences:,} sentences, {counts.words:,} words ({columns}), {roots}"
        f"{100 * counts.crossing / max(1, counts.sentences):.1f} % with crossing arcs; "
        f"tag {meta['tag']}, attributes {chosen}" + (f", k {k}" if k else "")
    ]
    attributes = [name for name in meta["attributes"] if name == "feats"]
    read = dict.fromkeys((meta["tag"], meta["coarse"], "xpos", *attributes, "deprel"))
    for column in read:
        share = unseen(train, dev, column)
        if share >= UNSEEN and filled(train, column):
            use = "upos is the tag" if meta["tag"] == "upos" and column == "xpos" else f"is {column} annotated alike?"
            out.append(f"warning: {100 * share:.0f} % of dev's words have {column} that training lacks; {use}")
    judged = Counter(tuple(sentence.strings("form")) for sentence in dev)
    shared = sum(judged.pop(tuple(sentence.strings("form")), 0) for sentence in train)
    if shared > SHARED * len(dev):
        out.append(
            f"warning: {shared:,} of dev's {len(dev):,} sentences are in training, too: the best epoch is chosen by "
            "sentences that the model knows"
        )
    if not max(filled(train, meta["tag"]), filled(train, meta["coarse"])):
        out.append("warning: no word has a tag; tag the files first (train --system tagging, tag)")
    if projective and (counts.lifted >= LIFTED * counts.words or counts.crossing >= CROSSING * counts.sentences):
        trees, heads = 100 * dev_trees.crossing / max(1, dev_trees.sentences), 100 * counts.lifted / counts.words
        out.append(
            f"advice: train with --space non-projective; {trees:.1f} % of dev's trees have crossing arcs. "
            f"Without crossing arcs, dev UAS is {ceiling(dev):.2f} at most, and {heads:.1f} % of training's heads "
            "would be learnt wrong"
        )
    return out
