"""Tables that say in words which parsers a page compares, and how the experiments differ from the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from studies.site.show import NOTHING
from studies.zhang_2014.comparison.tables import EXACT, FULL, LISTS, TURBO

#: name of a parser that samples, as in the tables -> what the parser is
PARSERS = {
    FULL: "samples; all global features and the factors of the Turbo parser; chooses labels together with arcs",
    TURBO: "samples; only the factors of the Turbo parser",
    "sampling shared": "samples; only factors that branch and bound scores, too",
    "sampling small": "samples; all global features, but only sibling and grandchild factors; a short training",
    **{
        f"{FULL}, best of {k}": f"does not search: takes the {k} trees that are best under the scores of a dynamic "
        f"program, and returns the tree that {FULL} scores highest"
        for k in LISTS
    },
    f"{FULL}-published": "trained as in the paper: without labels, and from the last sample of a chain",
    f"{FULL}-neighbour": f"as {FULL}-published, but training compares only successive samples",
    f"{FULL}-gold": f"as {FULL}-published, but training compares samples only with the gold tree",
    f"{FULL}-crossing": f"the factors and features of {FULL}; arcs may cross, and random walks search, as in the paper",
    f"{TURBO}-crossing": f"the factors of {TURBO}; arcs may cross, and random walks search, as in the paper",
    "sampling second-crossing": "the factors of second-order-crossing; arcs may cross, and random walks search",
    "second-order-crossing": "second-order factors; arcs may cross; searched exactly, up to a limit",
    "sampling samplerank": "trained by the algorithm in Figure 4 of the paper, with fewer factors",
    "sampling samplerank-neighbour": "as sampling samplerank, but training compares only successive samples",
    "sampling samplerank-gold": "as sampling samplerank, but training compares samples only with the gold tree",
    EXACT: "all factors of exact search; projective trees; searched exactly",
    "carreras": "the second-order baseline of Carreras (2007); projective trees; searched exactly by a dynamic program",
}
#: aspect of all samplers -> (the paper, this project)
SAMPLERS = {
    "scores in training": ("new scores after every update", "computed once for the whole chain of a sentence"),
    "learning": (
        "compares every sample with the gold tree and with the sample before it",
        "greedy search finds a tree under scores in which every wrong head has a bonus; the gold tree must score more",
    ),
    "proposals": ("random walks", "Gibbs steps, and rotations, which place a word above its head"),
    "right branching": ("a feature with a real number", "each tenth of the range has a weight of its own"),
    "factors": ("the factors of the Turbo parser, up to the third order", "no sibling-grandchild factor"),
    "temperature": (
        "samples follow the log-linear model of the scores",
        "0.1 by default, so that samples have high scores more often",
    ),
    "reranking": ("lists of trees of another parser", "lists of the model that samples, so that only search differs"),
}
#: aspect of the models `samplerank` -> (the paper, this project)
SAMPLERANK = {
    "samplerank: factors": (NOTHING, "siblings and grandparents are the only factors beside arcs and global features"),
    "samplerank: parameter C": (NOTHING, "0.01, not tuned"),
    "samplerank: pruner": (NOTHING, "a first-order model with a learner of its own"),
    "samplerank: roots": (NOTHING, "samples have a single root if all trees of the treebank have one"),
    "samplerank: epochs": ("50, 100 or 150", "the best of 50 epochs on dev"),
}
#: aspect of choosing tags -> (the paper, this project)
TAGS = {
    "candidates": (
        "a tag that was right at least 0.003 times as often as the predicted tag, among words with this prediction",
        "at most three tags a word, which lower the score of the best tag sequence only a little",
    ),
    "proposals": (
        "a Gibbs step draws the head and the tag of a word together",
        "the ten likeliest taggings of a sentence, each with the tree that greedy hill climbing finds",
    ),
    "scores": (
        "one model with features of up to five tags in a row",
        "a parser of given tags and a tagger, weighted by a log-linear model",
    ),
    "learning": (
        "SampleRank over errors of heads and tags",
        "weights that minimise the expected errors of parsers and taggers on held-out sentences",
    ),
}


def parsers(names: Iterable[str]) -> pd.DataFrame:
    """Return a description of each parser of a page that has one. Rows: parsers, in the order of PARSERS.

    names  names of the parsers in the tables of the page
    """
    present = set(names)
    rows = {name: text for name, text in PARSERS.items() if name in present}
    return pd.DataFrame({"what it is": list(rows.values())}, index=pd.Index(list(rows), name="parser"))


def differences(names: Sequence[str]) -> pd.DataFrame:
    """Return how the samplers of a page differ from the paper. Rows: aspects. Columns: the paper, this project.

    names  names of the parsers of the page; aspects of models that the page does not have are left out
    """
    extra = SAMPLERANK if any(name.startswith("sampling samplerank") for name in names) else {}
    return _contrast(SAMPLERS | extra if any(name.startswith("sampling") for name in names) else {})


def tags(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how tags are chosen in the paper and here. Empty if the page has no corrected tags.

    rows  `tag_correction.tables.tag_correction`
    """
    return _contrast(TAGS if len(rows) else {})


def _contrast(aspects: dict[str, tuple[str, str]]) -> pd.DataFrame:
    """Return a table with one row per aspect, and the columns of the paper and of this project."""
    index = pd.Index(list(aspects), name="aspect")
    return pd.DataFrame(list(aspects.values()), index=index, columns=["the paper", "this project"])
