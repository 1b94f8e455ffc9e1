"""Suspects of one sentence: words whose annotation differs from the best labelled tree, with their margins.

The annotated arcs are added to the pruner's candidate arcs, so that the annotated tree can be found if it belongs to
the model's space. The margin of a word is the difference between the scores of two trees: the best labelled tree, and
the best labelled tree in which the word has the annotated head and label. The margin is exact unless a search reaches
its limit (`Suspect.certified`).

The search for the second tree starts with the best known tree that has the annotated arc as its incumbent. Its first
bound often proves that this tree is the best. If annotated arcs cross, no projective tree contains all of them. A
projective model then searches for the best projective tree with each annotated arc that its best tree lacks, and at
least one crossing arc is a suspect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebound.core.limits import TooLargeError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.core.treebank import Treebank
from treebound.decoders.confidence import arc_marginals
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.kbest import best_above, forbid
from treebound.features.tree_score import PartScore
from treebound.mining.suspects import Suspect
from treebound.systems.graph.parser import Parser
from treebound.treebanks.projectivise import in_space

#: largest number of dynamic-program calls of one search
CALLS = 2000
#: number of dynamic-program calls of all searches of a sentence with up to LENGTH words. A longer sentence gets fewer
#: calls, because each call takes longer
BUDGET, LENGTH = 20_000, 30
#: score of a label that the model does not know: it has no features
UNKNOWN = 0.0


class Tree(NamedTuple):
    """The best tree of a sentence: heads as int32[n + 1], and n + 1 labels, "" for the root."""

    heads: np.ndarray
    labels: list[str]


@dataclass(frozen=True)
class MinedSentence:
    """The suspects of one sentence, its number of words and its best tree."""

    sentence: int
    words: int
    suspects: list[Suspect]
    tree: Tree


class _Rival(NamedTuple):
    """The best tree that contains a given annotated arc.

    score    score of the tree
    proved   whether the search has proved that no tree with this arc scores more
    changes  number of words whose heads differ from the best tree of the sentence
    """

    score: float
    proved: bool
    changes: int


class _Search(NamedTuple):
    """The result of searching one sentence.

    problem  the scored problem, including the annotated arcs
    parse    the best tree
    whole    whether all candidates of the pruner are in the problem
    rivals   word -> the best tree with the annotated arc into it, for all words whose annotated head differs from the
             best tree
    """

    problem: Problem
    parse: Parse
    whole: bool
    rivals: dict[int, _Rival]


class Miner:
    """A finder of the suspects among the heads and labels of sentences.

    parser    parser of a model that was not trained on these sentences
    treebank  the annotated sentences, which may be a part of a larger treebank
    names     the id of each sentence
    numbers   the index of each sentence in the larger treebank
    """

    def __init__(self, parser: Parser, treebank: Treebank, names: list[str], numbers: np.ndarray):
        self.parser, self.treebank, self.names, self.numbers = parser, treebank, names, numbers
        self.space = parser.decoder.space
        self.table = parser.token_table(treebank)
        self.labels = parser.model.labelling.names
        self.known = {name: i for i, name in enumerate(self.labels)}

    def mine(self, i: int) -> MinedSentence:
        """Return the suspects of sentence i, in the order of words, and its best tree."""
        sentence, annotated = self.treebank[i], self.treebank.heads(i)
        search = self._search(i, annotated)
        n, heads = sentence.n, search.parse.heads
        mods = np.arange(1, n + 1, dtype=np.int32)
        annotated_scores = self.parser.label_scores(self.table, i, annotated[1:], mods)
        best_scores = self.parser.label_scores(self.table, i, heads[1:], mods)
        labels = sentence.strings("deprel")
        best_labels = [self.labels[k] for k in best_scores.argmax(axis=1).tolist()] if best_scores.shape[1] else labels
        suspects = list(self._suspects(i, search, (annotated_scores, best_scores), labels, best_labels))
        return MinedSentence(int(self.numbers[i]), n, suspects, Tree(heads, ["", *best_labels]))

    def _suspects(
        self,
        i: int,
        search: _Search,
        scores: tuple[np.ndarray, np.ndarray],
        labels: list[str],
        best_labels: list[str],
    ) -> Iterator[Suspect]:
        """Yield the suspects of a sentence.

        scores       float64[n, L]: scores of L labels on the annotated arcs, and on the arcs of the best tree
        labels       the n annotated labels
        best_labels  the n labels of the best tree
        """
        annotated, heads, parse = self.treebank.heads(i), search.parse.heads, search.parse
        head_agrees = heads == annotated
        sentence, unit = self.treebank[i], search.problem.unit or 1.0
        forms, tags = sentence.strings("form"), sentence.strings("upos")
        doubtful = [
            m
            for m in range(1, len(heads))
            if (not head_agrees[m] and m in search.rivals) or (head_agrees[m] and labels[m - 1] != best_labels[m - 1])
        ]
        marginals = self._marginals(search.problem, annotated) if doubtful else np.empty(0)
        for m in doubtful:
            label = labels[m - 1]
            if not head_agrees[m]:
                kind, rival = "head", search.rivals[m]
                margin = parse.value - rival.score + self._lost(scores[0][m - 1], label)
            else:
                kind, rival = "label", _Rival(parse.value, True, 1)
                margin = self._lost(scores[1][m - 1], label)
            yield Suspect(
                sentence=int(self.numbers[i]),
                sent_id=self.names[i],
                word=m,
                form=forms[m - 1],
                kind=kind,  # type: ignore[arg-type]
                head=int(annotated[m]),
                label=label,
                tag=tags[m - 1],
                proposed_head=int(heads[m]),
                proposed_label=best_labels[m - 1],
                proposed_tag=tags[m - 1],
                margin=max(0.0, float(margin)) / unit,
                certified=bool(rival.proved and parse.certified and search.whole and label in self.known),
                marginal=float(marginals[m]),
                changes=rival.changes,
            )

    def _lost(self, scores: np.ndarray, label: str) -> float:
        """Return the score of an arc's best label minus the score of `label`, or 0 if the model has no labels."""
        if not len(scores):
            return 0.0
        number = self.known.get(label)
        return float(scores.max()) - (UNKNOWN if number is None else float(scores[number]))

    def _search(self, i: int, annotated: np.ndarray) -> _Search:
        """Find the best tree of sentence i, and the best tree with each annotated arc that the best tree lacks.

        An annotated arc, for instance a crossing arc, may be in no tree over the candidate arcs. Then the arcs of a
        star are added to the candidates. A star is a tree that contains the annotated arc: all other words depend on
        the head of the arc, or on its dependent if the head is the root.
        """
        n = len(annotated) - 1
        arcs = np.zeros((n + 1, n + 1), np.bool_)
        words = 1 + np.flatnonzero(annotated[1:] >= 0)
        arcs[annotated[words], words] = True
        while True:
            problem, whole = self.parser.problem_with(self.table, i, arcs)
            parse = self._decoder(n, 1).decode(problem)
            if parse.status == "infeasible":
                _add_star(arcs, 0, int(np.argmax(annotated == 0)) or 1)
                continue
            rivals, without = self._rivals(problem, parse, annotated)
            if not without:
                return _Search(problem, parse, whole, rivals)
            for m in without:
                _add_star(arcs, int(annotated[m]), m)

    def _rivals(self, problem: Problem, parse: Parse, annotated: np.ndarray) -> tuple[dict[int, _Rival], list[int]]:
        """Return `_Search.rivals`, and the words whose annotated arc is in no tree over the candidate arcs."""
        disagreeing = [m for m in range(1, len(annotated)) if annotated[m] >= 0 and parse.heads[m] != annotated[m]]
        known_trees: list[tuple[float, np.ndarray]] = []  # score and heads of each tree
        if disagreeing and in_space(annotated, self.space == "projective", problem.single_root):
            known_trees.append((PartScore(problem).score(annotated), annotated))
        decoder, rivals, without = self._decoder(problem.n, len(disagreeing)), {}, []
        for m in disagreeing:
            with_arc = [entry for entry in known_trees if entry[1][m] == annotated[m]]
            floor, best_tree = max(with_arc, key=lambda entry: entry[0], default=(-np.inf, annotated))
            others = (problem.mod == m) & (problem.head != annotated[m])
            rival = best_above(decoder, forbid(problem, others), floor)
            if rival is None or rival.status == "infeasible":
                if floor == -np.inf:
                    without.append(m)
                    continue
                score, proved = floor, True  # no other tree with the annotated arc scores more
            else:
                score, proved = max(floor, rival.value), rival.certified
                if rival.value > floor:
                    best_tree = rival.heads
                    known_trees.append((rival.value, best_tree))
                elif score == -np.inf:  # the search ended without a tree, so that only its bound is known
                    score = min(rival.bound, parse.value)
            rivals[m] = _Rival(score, proved, max(1, int(np.count_nonzero(best_tree != parse.heads))))
        return rivals, without

    def _decoder(self, n: int, searches: int) -> Decoder:
        """Return the decoder for a sentence of n words, with a limit that divides the budget among all searches."""
        calls = BUDGET * (LENGTH / max(n, LENGTH)) ** 2 / max(1, searches)
        return BranchAndBound(space=self.space, max_dp_calls=max(1, min(CALLS, int(calls))))

    def _marginals(self, problem: Problem, annotated: np.ndarray) -> np.ndarray:
        """Return float64[n + 1]: the marginal of the annotated arc into each word, nan if it is unknown."""
        out = np.full(len(annotated), np.nan)
        try:
            of_arcs = arc_marginals(problem, self.space)
        except TooLargeError:
            return out
        arcs = annotated[problem.mod] == problem.head
        out[problem.mod[arcs]] = of_arcs[arcs]
        return out


def _add_star(arcs: np.ndarray, head: int, m: int) -> None:
    """Set the arcs of a star in `arcs` bool[n + 1, n + 1] to True: a tree that contains the arc from `head` to m.

    The star is projective and has one root.
    """
    n = len(arcs) - 1
    centre = head or m
    arcs[centre, [w for w in range(1, n + 1) if w != centre]] = True
    arcs[0, centre] = True
