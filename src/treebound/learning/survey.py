"""What a treebank of one's own holds, and what is chosen by it: the tag column, attributes, advice.

Files say nothing about how they are to be used, where the catalogue does for its corpora. Attributes of words beside
form and tags are taken where they tell a parser something that it does not see otherwise, in enough words to learn
from:

feats           of the words with the same tag, not all have the same features: the share of words whose features are
                not the most frequent ones of their tag is at least ENOUGH
lemma           the share of words with a lemma that is not the form in small letters is at least ENOUGH
prefix, length  words are short, as where a character is a syllable: SHORT characters or fewer on average
suffix          always
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

ENOUGH = 0.05  #: share of words of which an attribute must tell something
TAGGED = 0.9  #: share of words that a tag column must fill to be the fine tag
UNSEEN = 0.05  #: share of dev's words with a value that training lacks, from which on it is said
SHORT = 2.5  #: characters a word, on average, up to which its first ones and its length are looked at
#: share of training's trees that have crossing arcs, and of heads that making them projective changes, from either of
#: which on crossing arcs are advised; of ten treebanks, those with 1.4 % and 6.4 % of such heads gained by it, and
#: those with 0.6 % and fewer lost
CROSSING, LIFTED = 0.15, 0.01
LONGEST = (
    150  #: words of the longest sentence whose best projective tree is looked for; longer ones count as projective
)
RELEASE = 1000  #: sentences after which the pages of a treebank in a file are released

#: the conventions of Universal Dependencies
PUNCTUATION = {"column": "upos", "tags": ["PUNCT"]}


@dataclass(frozen=True)
class Survey:
    """Counts over a treebank with heads.

    crossing  sentences with arcs that cross
    lifted    words that have another head once their tree is made projective, as it is for training
    several   sentences with more than one root
    """

    sentences: int
    words: int
    crossing: int
    lifted: int
    several: int


def survey(treebank: Treebank) -> Survey:
    """Of an annotated treebank."""
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
    """UAS in %, without punctuation, that projective trees cannot exceed."""
    counts, lost = scored_words(treebank), 0
    for i in range(len(treebank)):
        heads = treebank.heads(i)
        if not is_projective(heads):
            scored = counts[treebank.offsets[i] : treebank.offsets[i + 1]]
            lost += _lost(heads, scored, bool(treebank.meta.get("single_root", True)))
    return 100.0 - 100.0 * lost / max(1, int(counts.sum()))


def _lost(heads: np.ndarray, scored: np.ndarray, single_root: bool) -> int:
    """The heads that every projective tree gets wrong: those missed by the one with most right (Eisner's algorithm).

    IN heads int32[n + 1], scored bool[n]. O(n^3).
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
    """Share of words with a value other than `_`."""
    return _share(treebank, column, lambda value: value != "_")


def unseen(train: Treebank, dev: Treebank, column: str) -> float:
    """Share of dev's words with a value in this column that no word of training has."""
    known = set(train.values(column))
    return _share(dev, column, lambda value: value not in known)


def _share(treebank: Treebank, column: str, wanted: Callable[[str], bool]) -> float:
    flags = np.array([wanted(value) for value in treebank.vocab[column].strings], bool)
    return float(treebank.counts(column)[flags].sum() / treebank.words) if treebank.words else 0.0


def fine_tag(train: Treebank, dev: Treebank | None = None) -> str:
    """XPOS where nearly every word has one, and dev's ones are those of training; else UPOS."""
    known = dev is None or unseen(train, dev, "xpos") < UNSEEN
    return "xpos" if filled(train, "xpos") >= TAGGED and (known or not filled(train, "upos")) else "upos"


def told(treebank: Treebank, attribute: str, tag: str) -> float:
    """Share of words of which feats or lemma tells what form and tag do not: see above."""
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
    """Count the pairs of ids that words have in two columns."""
    pairs: Counter[tuple[int, int]] = Counter()
    for one, other in treebank.chunks(first, second):
        pairs.update(zip(one.tolist(), other.tolist(), strict=True))
    return pairs


def attributes(train: Treebank, tag: str) -> list[str]:
    """The attributes of words that a parser of such a treebank should see beside form and tags."""
    forms = train.vocab["form"].strings
    lengths = np.array([len(form) for form in forms], np.int64)
    characters = (train.counts("form") * lengths).sum() / max(1, train.words)
    chosen = ["suffix", *(("prefix", "length") if characters <= SHORT else ())]
    return chosen + [name for name in ("feats", "lemma") if told(train, name, tag) >= ENOUGH]


def describe(train: Treebank, dev: Treebank, reading: Reading | None = None) -> None:
    """Write into the meta of both what their files do not say."""
    reading = reading or Reading()
    tag = reading.tag or fine_tag(train, dev)
    coarse = "upos" if filled(train, "upos") else tag
    wanted = reading.attributes
    chosen = attributes(train, tag) if wanted == ("auto",) else [name for name in CHOICES if name in wanted]
    told = {"single_root": not reading.multi_root, "tag": tag, "coarse": coarse, "patterns": reading.patterns}
    for treebank in (train, dev):
        treebank.meta.update(told, punctuation=dict(PUNCTUATION), attributes=list(chosen))


def remarks(train: Treebank, dev: Treebank, *, projective: bool, k: int | str) -> list[str]:
    """A summary of the training file in one line, then a line for each thing that ought to be looked at.

    projective  trees are to be projective; k: heads that a pruner keeps, if there is one
    """
    ours, other, meta = survey(train), survey(dev), train.meta
    columns = ", ".join(f"{name} {100 * filled(train, name):.0f} %" for name in ("upos", "xpos", "feats", "lemma"))
    roots = f"{ours.several:,} with several roots, " if ours.several else ""
    chosen = ", ".join(meta["attributes"]) or "none"
    out = [
        f"{ours.sentences:,} sentences, {ours.words:,} words ({columns}), {roots}"
        f"{100 * ours.crossing / max(1, ours.sentences):.1f} % with crossing arcs; "
        f"tag {meta['tag']}, attributes {chosen}" + (f", k {k}" if k else "")
    ]
    attributes = [name for name in meta["attributes"] if name == "feats"]
    read = dict.fromkeys((meta["tag"], meta["coarse"], "xpos", *attributes, "deprel"))
    for column in read:
        share = unseen(train, dev, column)
        if share >= UNSEEN and filled(train, column):
            use = "upos is the tag" if meta["tag"] == "upos" and column == "xpos" else f"is {column} annotated alike?"
            out.append(f"warning: {100 * share:.0f} % of dev's words have {column} that training lacks; {use}")
    if not max(filled(train, meta["tag"]), filled(train, meta["coarse"])):
        out.append("warning: no word has a tag; tag the files first (train --system tagging, tag)")
    if projective and (ours.lifted >= LIFTED * ours.words or ours.crossing >= CROSSING * ours.sentences):
        trees, heads = 100 * other.crossing / max(1, other.sentences), 100 * ours.lifted / ours.words
        out.append(
            f"advice: train with --space non-projective: without crossing arcs, which {trees:.1f} % of dev's trees "
            f"have, dev UAS is {ceiling(dev):.2f} at most, and {heads:.1f} % of training's heads would be learnt wrong"
        )
    return out
