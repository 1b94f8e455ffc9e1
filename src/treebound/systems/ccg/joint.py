"""The joint model of supertagger and parser, which adds the scores of a derivation under both models.

score(derivation) = f(derivation) + g(lexical categories). Here f is the score of the parser, and g is the score of the
chain, its emissions and transitions (Auli & Lopez 2011, section 4). All scores are multiples of `UNIT`. Sums of them in
floating point are exact in any order, so that proofs hold exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebound.checker.joint_proofs import Proof
from treebound.core.errors import InputError
from treebound.core.parse import Status
from treebound.kernels.chart.hypergraph import NEG_TEST, best_variables
from treebound.systems.ccg.chain import Lattice, best_sequence
from treebound.systems.ccg.charts import Packed
from treebound.systems.ccg.joint_kernels import compact

UNIT = 2.0**-20
LARGEST = 2.0**31  #: bound on all sums: 53 bits hold them with a factor of two to spare
STEPS = 7  #: largest number of edges per word: a leaf, a combination, two unary steps on each, one for the root


def rounded(scores: np.ndarray) -> np.ndarray:
    """Round scores to multiples of UNIT; scores of -inf remain -inf."""
    return np.asarray(np.round(scores / UNIT) * UNIT)


class Transitions(NamedTuple):
    """Transitions of a chain, shared by all sentences.

    score      float64[tags + 1, tags + 1], the rounded scores of transitions
    potential  exponentials of the rounded scores
    most       largest absolute value of the rounded scores
    """

    score: np.ndarray
    potential: np.ndarray
    most: float

    @classmethod
    def of(cls, scores: np.ndarray) -> Transitions:
        """Round transition scores and compute their exponentials."""
        score = rounded(scores)
        return cls(score, np.exp(score), float(np.abs(score).max()))


@dataclass(frozen=True)
class Analysis:
    """The result of a decoder of the joint model for a sentence.

    tags       int32[n], the variable (lexical category) of each word;
    edges      int32[I], the best edge of each item of the chart, from which `Packed.derivation` reads the derivation;
    value      joint score of the derivation;
    bound      proved upper bound on the joint score of every derivation of the chart, inf without a proof;
    status     `optimal`: no derivation of the chart scores more; `gap`; `limit`; `heuristic`: nothing is proved;
    rounds     number of iterations;
    nodes      number of nodes of a search;
    converged  for belief propagation, whether the beliefs settled; for the others, whether the derivation is proved;
    proof      the proof for a file, if requested;
    scores     float64[V], final scores of the variables, for output rules (`output`); None for belief propagation
    """

    tags: np.ndarray
    edges: np.ndarray
    value: float
    bound: float
    status: Status
    rounds: int
    nodes: int = 0
    converged: bool = False
    proof: Proof | None = None
    scores: np.ndarray | None = None


class Joint:
    """A chart that has a derivation, and the chain over its variables.

    packed       the chart with rounded scores and without edges that no derivation uses; V variables;
    choices      Lattice of the chart;
    emission     float64[V], the chain's rounded emission scores of the variables;
    transitions  the chain's rounded scores of transitions;
    possible     bool[V], True for emissions above -inf

    InputError if sums of scores could be too large to be exact; emissions of -inf are allowed.
    """

    def __init__(self, packed: Packed, choices: Lattice, emission: np.ndarray, transitions: Transitions):
        chart, largest = compact(packed.chart, UNIT)
        self.packed = Packed(packed.grammar, packed.sentence, chart)
        self.choices, self.emission, self.transitions = choices, rounded(emission), transitions
        self.possible, self.words = self.emission > -np.inf, len(choices.first) - 1
        self.word = np.repeat(np.arange(self.words), np.diff(choices.first))
        emitted = np.abs(self.emission[self.possible]).max(initial=0.0)
        if not (self.words + 1) * (STEPS * largest + emitted + transitions.most) <= LARGEST / 2:
            raise InputError("scores are too large to be added exactly", hint="train with a larger --l2")
        self.widest = float(LARGEST // (4 * self.words + 4))  #: largest absolute multiplier, a multiple of UNIT

    def read(self, edges: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the variables, int32[n], and the parser's score f of a derivation. O(n).

        `edges` int32[I] holds the best edge of each item. The derivation follows these edges from the goal down to the
        words.
        """
        tags = np.empty(self.words, np.int32)
        stack = np.empty(2 * self.words + 4, np.int32)
        parser_score, _ = best_variables(self.packed.chart.graph, len(self.emission), edges, tags, stack)
        return np.sort(tags), parser_score

    def edges_of(self, best: np.ndarray) -> list[int]:
        """Return the edges of a derivation, from the goal down to the words. O(n).

        `best` int32[I] holds the best edge of each item, and the derivation follows these edges.
        """
        graph = self.packed.chart.graph
        stack, edges = [len(graph.first) - 2], []
        while stack:
            e = int(best[stack.pop()])
            edges.append(e)
            stack += [int(tail) for tail in (graph.right[e], graph.left[e]) if tail]
        return edges

    def best_derivation(self, scores: np.ndarray) -> tuple[float, np.ndarray] | None:
        """Return the score and the variables, int32[n], of the best derivation; None without a derivation. O(E).

        The score is the parser's score f plus the `scores` of the derivation's variables.
        """
        value, _, edges = self.packed.best(scores)
        return None if value <= NEG_TEST else (value, self.read(edges)[0])

    def best_sequence(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the score and the variables, int32[n], of the best sequence of categories.

        The score is the chain's score g plus the `scores` of the variables; -inf if no sequence is possible.
        """
        tags = np.empty(self.words, np.int32)
        return best_sequence(self.emission + scores, self.choices, self.transitions.score, tags), tags

    def chain_score(self, tags: np.ndarray) -> float:
        """Return the chain's score g of variables int32[n]."""
        transition = self.transitions.score
        border = np.array([len(transition) - 1])
        path = np.concatenate([border, self.choices.tags[tags], border])
        return float(self.emission[tags].sum() + transition[path[:-1], path[1:]].sum())

    def analysis(self, tags: np.ndarray, bound: float, rounds: int, unproved: Status, nodes: int = 0) -> Analysis:
        """Return the best derivation with the categories `tags`.

        Its status is `optimal` if it reaches the bound, else `unproved`.
        """
        only = np.full(len(self.emission), -np.inf)
        only[tags] = 0.0
        value, _, edges = self.packed.best(only)
        value += self.chain_score(tags)
        proved = value >= bound
        return Analysis(tags, edges, value, bound, "optimal" if proved else unproved, rounds, nodes, proved)
