"""Rankings of the words of a treebank by suspicion: the ranking of `treebound mine` and its alternatives.

W is the number of words in the treebank.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from treebound.core.limits import TooLargeError
from treebound.core.treebank import Treebank
from treebound.decoders.confidence import arc_marginals
from treebound.decoders.kbest import kbest
from treebound.mining.mine import BLOCK
from treebound.mining.parts import Part
from treebound.mining.sentences import CALLS
from treebound.mining.suspects import Suspect
from treebound.mining.variation import variation_scores
from treebound.support.workers import blocks, spread
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser

OURS, MARGIN, MARGINAL, LIST = "margin / sqrt(changes)", "margin", "marginal probability", "k-best disagreement"
ENTROPY, VARIATION, RANDOM = "entropy of the head", "variation n-grams", "random"
#: rankings of heads, in the order of tables
HEADS = (OURS, MARGIN, MARGINAL, LIST, ENTROPY, VARIATION, RANDOM)
#: rankings of labels
LABELS = (MARGIN, VARIATION, RANDOM)
UNLISTED = -np.inf  #: score of a word that a ranking does not list


class _Judge(NamedTuple):
    """The parser and the sentences with which a worker process scores heads.

    suspected  bool[sentences]: True for sentences in which some head is a suspect
    trees      length of the k-best lists
    """

    parser: Parser
    treebank: Treebank
    suspected: np.ndarray
    trees: int


class Doubts(NamedTuple):
    """Three scores of doubt about the head of every word, each float64[W] for W words; higher is more doubtful.

    The scores of a word come from a model that was not trained on its sentence.

    improbable  1 minus the probability of the annotated arc
    entropy     entropy of the distribution of the word's head, in nats
    absent      number of the k best trees that lack the annotated arc; 0 in sentences without a suspected head
    """

    improbable: np.ndarray
    entropy: np.ndarray
    absent: np.ndarray


def of_heads(treebank: Treebank, suspects: Sequence[Suspect], doubts: Doubts, seed: int) -> dict[str, np.ndarray]:
    """Return the rankings of heads: name -> float64[W], higher for more suspicious words."""
    heads = [suspect for suspect in suspects if suspect.kind == "head"]
    return {
        OURS: _of_suspects(treebank, heads, [suspect.doubt for suspect in heads]),
        MARGIN: _of_suspects(treebank, heads, [suspect.margin for suspect in heads]),
        MARGINAL: doubts.improbable,
        LIST: np.where(doubts.absent > 0, doubts.absent, UNLISTED),
        ENTROPY: doubts.entropy,
        VARIATION: _variation(treebank),
        RANDOM: np.random.default_rng(seed).random(treebank.words),
    }


def of_labels(treebank: Treebank, suspects: Sequence[Suspect], seed: int) -> dict[str, np.ndarray]:
    """Return the rankings of labels: name -> float64[W], higher for more suspicious words.

    `treebound mine` lists a label as a suspect only if the head of the word is no suspect.
    """
    labels = [suspect for suspect in suspects if suspect.kind == "label"]
    return {
        MARGIN: _of_suspects(treebank, labels, [suspect.margin for suspect in labels]),
        VARIATION: _variation(treebank),
        RANDOM: np.random.default_rng(seed).random(treebank.words),
    }


def place(treebank: Treebank, suspect: Suspect) -> int:
    """Return the index of a suspect's word among all words of the treebank."""
    return int(treebank.offsets[suspect.sentence]) + suspect.word - 1


def _of_suspects(treebank: Treebank, suspects: Sequence[Suspect], scores: Sequence[float]) -> np.ndarray:
    """Return float64[W]: the scores of suspects at their words, and `UNLISTED` at all other words."""
    out = np.full(treebank.words, UNLISTED)
    out[[place(treebank, suspect) for suspect in suspects]] = scores
    return out


def _variation(treebank: Treebank) -> np.ndarray:
    """Return float64[W]: the variation score of each word's arc, or `UNLISTED` if the score is 0."""
    scores = variation_scores(treebank)
    return np.where(scores > 0, scores, UNLISTED)


def doubts(
    treebank: Treebank,
    models: Sequence[tuple[Part, Path]],
    suspects: Sequence[Suspect],
    trees: int,
    workers: int = 1,
) -> Doubts:
    """Score the head of every word with the models by which `treebound mine` judged the treebank.

    models  parts of the treebank, each with the file of its model
    trees   length of the k-best lists, which are computed only for sentences with a suspected head
    """
    out = Doubts(*(np.zeros(treebank.words) for _ in Doubts._fields))
    suspected = np.zeros(len(treebank), bool)
    suspected[[suspect.sentence for suspect in suspects if suspect.kind == "head"]] = True
    for part, path in models:
        parser = Parser(Model.load(path), max_dp_calls=CALLS)
        judge = _Judge(parser, treebank.select(part.sentences), suspected[part.sentences], trees)
        ranges = blocks(len(part.sentences), BLOCK)
        scored = (scores for block in spread(_doubts, judge, ranges, workers=workers, short=True) for scores in block)
        for i, scores in zip(part.sentences.tolist(), scored, strict=True):
            for whole, values in zip(out, scores, strict=True):
                whole[treebank.offsets[i] : treebank.offsets[i + 1]] = values
    return out


def _doubts(judge: _Judge, sentences: range) -> list[Doubts]:
    """Score the head of every word in a range of sentences, in a worker process."""
    table = judge.parser.token_table(judge.treebank)
    return [_of_sentence(judge, table, i) for i in sentences]


def _of_sentence(judge: _Judge, table: object, i: int) -> Doubts:
    """Score the head of every word of sentence `i`. Annotated arcs are added to the candidate arcs of the pruner.

    table  result of `Parser.token_table` for the treebank"""
    parser, annotated = judge.parser, judge.treebank.heads(i)
    n = len(annotated) - 1
    arcs = np.zeros((n + 1, n + 1), np.bool_)
    arcs[annotated[1:], np.arange(1, n + 1)] = True
    problem, _ = parser.problem_with(table, i, arcs)  # type: ignore[arg-type]
    is_annotated = annotated[problem.mod] == problem.head
    improbable, entropy, absent = np.ones(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    try:
        marginals = np.clip(np.nan_to_num(arc_marginals(problem, parser.decoder.space)), 0.0, 1.0)
    except TooLargeError:
        marginals = np.full(problem.arcs, 0.5)
    improbable[problem.mod[is_annotated]] = 1 - marginals[is_annotated]
    np.add.at(entropy, problem.mod, -marginals * np.log(np.maximum(marginals, 1e-300)))
    if judge.suspected[i]:
        result = kbest(copy.copy(parser.decoder), problem, judge.trees)
        for parse in result.parses:
            absent += parse.heads != annotated
    return Doubts(improbable[1:], entropy[1:], absent[1:])
