"""Suspects of one sentence: where the best labelled tree differs from the annotation, and by what margin.

The annotated arcs are candidates beside those of the pruner, so that the annotated tree is among the trees that are
searched, as far as it belongs to the model's space. The margin of a word is exact: the score of the best labelled tree
less that of the best labelled tree in which the word has the annotated head and label. A projective model finds the
best projective tree with an annotated arc even if the arc crosses others in the annotation, and doubts one of them.
The second search starts with
the best known tree of that kind as the score to beat, which its first bound often proves to be the best.
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

#: dynamic programs of one search at most
CALLS = 2000
#: dynamic programs of all searches of a sentence of LENGTH words; a longer sentence has fewer, as each takes longer
BUDGET, LENGTH = 20_000, 30
#: a label that the model does not know has no features: every sum of its weights is 0
UNKNOWN = 0.0


class Tree(NamedTuple):
    """The best tree of a sentence. heads int32[n + 1]; labels: n + 1 strings, "" for the root."""

    heads: np.ndarray
    labels: list[str]


@dataclass(frozen=True)
class MinedSentence:
    """The suspects of one sentence and its best tree. words: the number of its words."""

    sentence: int
    words: int
    suspects: list[Suspect]
    tree: Tree


class _Rival(NamedTuple):
    """The best tree that has one annotated arc: its score, whether that is proved, and by how many heads it differs."""

    score: float
    proved: bool
    changes: int


class _Search(NamedTuple):
    """A sentence whose best tree is known.

    whole    whether no candidate of the pruner was left out
    rivals   the best tree with the annotated arc into a word, for all words whose head is another one
    """

    problem: Problem
    parse: Parse
    whole: bool
    rivals: dict[int, _Rival]


class Miner:
    """Finds the suspects of sentences.

    parser    of a model that has not seen the treebank
    treebank  the annotated sentences
    names     the id of each sentence
    numbers   the index of each sentence in the whole treebank, of which `treebank` may be a part
    """

    def __init__(self, parser: Parser, treebank: Treebank, names: list[str], numbers: np.ndarray):
        self.parser, self.treebank, self.names, self.numbers = parser, treebank, names, numbers
        self.space = parser.decoder.space
        self.table = parser.token_table(treebank)
        self.labels = parser.model.labelling.names
        self.known = {name: i for i, name in enumerate(self.labels)}

    def mine(self, i: int) -> MinedSentence:
        """Return the suspects of sentence i, by word, and its best tree."""
        sentence, annotated = self.treebank[i], self.treebank.heads(i)
        search = self._search(i, annotated)
        n, heads = sentence.n, search.parse.heads
        mods = np.arange(1, n + 1, dtype=np.int32)
        ours = self.parser.label_scores(self.table, i, annotated[1:], mods)
        best = self.parser.label_scores(self.table, i, heads[1:], mods)
        given = sentence.strings("deprel")
        chosen = [self.labels[k] for k in best.argmax(axis=1).tolist()] if best.shape[1] else given
        suspects = list(self._suspects(i, search, (ours, best), given, chosen))
        return MinedSentence(int(self.numbers[i]), n, suspects, Tree(heads, ["", *chosen]))

    def _suspects(
        self,
        i: int,
        search: _Search,
        scores: tuple[np.ndarray, np.ndarray],
        given: list[str],
        chosen: list[str],
    ) -> Iterator[Suspect]:
        """Yield the suspects of a sentence.

        scores         float64[n, labels]: of the labels on the annotated arcs and on those of the best tree
        given, chosen  the n annotated labels, and those of the best tree
        """
        annotated, heads, parse = self.treebank.heads(i), search.parse.heads, search.parse
        right = heads == annotated
        sentence, unit = self.treebank[i], search.problem.unit or 1.0
        forms, tags = sentence.strings("form"), sentence.strings("upos")
        doubted = [
            m
            for m in range(1, len(heads))
            if (not right[m] and m in search.rivals) or (right[m] and given[m - 1] != chosen[m - 1])
        ]
        marginals = self._marginals(search.problem, annotated) if doubted else np.empty(0)
        for m in doubted:
            label = given[m - 1]
            if not right[m]:
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
                proposed_label=chosen[m - 1],
                proposed_tag=tags[m - 1],
                margin=max(0.0, float(margin)) / unit,
                certified=bool(rival.proved and parse.certified and search.whole and label in self.known),
                marginal=float(marginals[m]),
                changes=rival.changes,
            )

    def _lost(self, scores: np.ndarray, label: str) -> float:
        """Return by how much the best label of an arc beats `label`; 0 where the model does not label."""
        if not len(scores):
            return 0.0
        number = self.known.get(label)
        return float(scores.max()) - (UNKNOWN if number is None else float(scores[number]))

    def _search(self, i: int, annotated: np.ndarray) -> _Search:
        """Find the best tree of sentence i, and the best tree with the annotated arc into every word that has another.

        Arcs of the annotation that no tree over the candidates contains, as an arc that crosses others, get a tree of
        their own: a star around the head.
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
        """Return `_Search.rivals`, and the words whose annotated arc is in no tree over the candidates."""
        wrong = [m for m in range(1, len(annotated)) if annotated[m] >= 0 and parse.heads[m] != annotated[m]]
        known: list[tuple[float, np.ndarray]] = []  # scores of trees, and the trees
        if wrong and in_space(annotated, self.space == "projective", problem.single_root):
            known.append((PartScore(problem).score(annotated), annotated))
        decoder, rivals, without = self._decoder(problem.n, len(wrong)), {}, []
        for m in wrong:
            alike = [entry for entry in known if entry[1][m] == annotated[m]]
            floor, tree = max(alike, key=lambda entry: entry[0], default=(-np.inf, annotated))
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
                    tree = rival.heads
                    known.append((rival.value, tree))
                elif score == -np.inf:  # the search ended before it met a tree: its bound is all that is known
                    score = min(rival.bound, parse.value)
            rivals[m] = _Rival(score, proved, max(1, int(np.count_nonzero(tree != parse.heads))))
        return rivals, without

    def _decoder(self, n: int, searches: int) -> Decoder:
        """Return the decoder for a sentence of n words and so many searches, none of which takes too long."""
        calls = BUDGET * (LENGTH / max(n, LENGTH)) ** 2 / max(1, searches)
        return BranchAndBound(space=self.space, max_dp_calls=max(1, min(CALLS, int(calls))))

    def _marginals(self, problem: Problem, annotated: np.ndarray) -> np.ndarray:
        """Return float64[n + 1]: the probability of the annotated arc into each word, nan where it is unknown."""
        out = np.full(len(annotated), np.nan)
        try:
            of_arcs = arc_marginals(problem, self.space)
        except TooLargeError:
            return out
        arcs = annotated[problem.mod] == problem.head
        out[problem.mod[arcs]] = of_arcs[arcs]
        return out


def _add_star(arcs: np.ndarray, head: int, m: int) -> None:
    """Add the arcs of a projective tree with one root that contains the arc from `head` to m."""
    n = len(arcs) - 1
    centre = head or m
    arcs[centre, [w for w in range(1, n + 1) if w != centre]] = True
    arcs[0, centre] = True
