"""Comparison of all decoders of the joint model on the same charts, iteration by iteration, with the proved optimum."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from treebound.systems.ccg.belief_propagation import analysis, decode, rounds
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Packed
from treebound.systems.ccg.decoding import Adaptive, Decoded, Supertagged
from treebound.systems.ccg.dual_decomposition import Best, Step, scores_left, steps
from treebound.systems.ccg.evaluation import Difference, Ratio, Scores, evaluate, jackknife
from treebound.systems.ccg.integration import ITERATIONS
from treebound.systems.ccg.joint import Joint
from treebound.systems.ccg.joint_search import search
from treebound.systems.ccg.output import Output, least_risk, viterbi
from treebound.treebanks.ccg.derivation import Derivation

#: the decoders; `dd-published` is dual decomposition with the step sizes of the paper
DECODERS = ("parser", "bp", "dd", "dd-published", "exact")
OUTPUTS: tuple[Output, ...] = ("viterbi", "least-risk")


class Outcome(NamedTuple):
    """The joint score of a derivation and the counts for its evaluation.

    value   joint score
    counts  nine numbers: right, predicted and gold labelled dependencies; right, predicted and gold unlabelled
            dependencies; words with the right category; words; 1 if all labelled dependencies are right, else 0
    """

    value: float
    counts: tuple[int, ...]


#: maps int32[I], the best edges of the items, to the outcome of their derivation
Judge = Callable[[np.ndarray], Outcome]


class Course(NamedTuple):
    """The outcomes of a decoder over its iterations.

    outcomes  (first iteration, outcome), with a new entry whenever the outcome changes
    settled   iteration at which the decoder converged or proved its outcome; 0 if it did neither
    """

    outcomes: list[tuple[int, Outcome]]
    settled: int

    def at(self, iterations: int) -> Outcome:
        """Return the outcome after a number of iterations. A decoder without iterations (0) has only one outcome."""
        return [outcome for begin, outcome in self.outcomes if begin <= max(1, iterations)][-1]


class Outputs(NamedTuple):
    """The outcomes of a decoder under both output rules (`output`)."""

    viterbi: Course
    least_risk: Course

    def by(self, output: Output) -> Course:
        """Return the outcomes under an output rule."""
        return self.viterbi if output == "viterbi" else self.least_risk


class Studied(NamedTuple):
    """The outcomes of all decoders for a sentence that has a derivation.

    edges     number of edges of the chart
    decoders  name in DECODERS -> outcomes; `parser` ignores the supertagger's scores, `exact` is the search
    proved    whether the search proved the optimum; `nodes` and `cpu_s` also refer to the search
    """

    sentence: int
    words: int
    edges: int
    decoders: dict[str, Outputs]
    proved: bool
    nodes: int
    cpu_s: float

    @property
    def optimum(self) -> Outcome:
        """Return the search's derivation, which is the optimum if `proved`."""
        return self.decoders["exact"].viterbi.at(0)


def scores(outcomes: Sequence[Outcome], sentences: int) -> Scores:
    """Return the scores over outcomes of sentences that have a derivation.

    `sentences` is the number of all sentences, with and without a derivation.
    """
    total = np.array([outcome.counts for outcome in outcomes] or [(0,) * 9]).sum(axis=0).tolist()
    tags = total[6], total[7]
    return Scores(Ratio(*total[:3]), Ratio(*total[3:6]), tags, total[8], len(outcomes), sentences)


def difference(a: Sequence[Outcome], b: Sequence[Outcome]) -> Difference:
    """Return the difference of two labelled F-scores over the same sentences, with its 95 % interval."""
    return jackknife(np.array([[outcome.counts[:3] for outcome in pair] for pair in zip(a, b, strict=True)]))


def _counts(scored: Scores) -> tuple[int, ...]:
    """Return the counts of an Outcome from the scores of one sentence."""
    both = scored.labelled, scored.unlabelled
    return (*(n for ratio in both for n in (ratio.right, ratio.predicted, ratio.gold)), *scored.supertags, scored.exact)


class Study(Adaptive):
    """Adaptive supertagging that also runs all decoders on each chart and appends the outcomes to `studied`.

    gold   derivations of the sentences
    most   largest number of iterations of belief propagation and dual decomposition
    shown  iteration after which outputs are no longer evaluated, except the best derivation of dual decomposition;
           both decoders continue until they converge
    nodes  largest number of nodes of the search
    """

    def __init__(self, *arguments: Any, gold: Sequence[Derivation], most: int, shown: int, nodes: int = 1000):
        super().__init__(*arguments)
        self.gold, self.most, self.shown, self.nodes = gold, most, shown, nodes
        self.studied: list[Studied] = []

    def _best(self, tagged: Supertagged, s: int, choices: Lattice, packed: Packed) -> tuple[float, Derivation, None]:
        """Run all decoders on a chart and return the score and derivation of the search."""
        joint, strings = self._joint(tagged, s, choices, packed), tagged.strings(s)
        outcomes: dict[tuple[int, ...], Outcome] = {}

        def outcome(best: np.ndarray) -> Outcome:
            key = tuple(joint.edges_of(best))
            if key not in outcomes:
                (tags, parser_score), derivation = joint.read(best), joint.packed.derivation(best, strings)
                counts = _counts(evaluate([self.gold[s]], [Decoded((derivation,), True, parser_score, 0, 0.0, 0)]))
                outcomes[key] = Outcome(parser_score + joint.chain_score(tags), counts)
            return outcomes[key]

        started = time.process_time()
        result = search(joint, ITERATIONS["exact"], self.nodes)
        seconds = time.process_time() - started
        assert result is not None  # weights are finite
        best = result[0]
        assert best.scores is not None
        zeros = np.zeros(len(joint.emission))
        decoders = {
            "parser": _single(outcome(viterbi(joint.packed, zeros)), outcome(least_risk(joint.packed, zeros))),
            "bp": self._propagation(joint, outcome),
            "dd": self._decomposition(joint, outcome, "polyak"),
            "dd-published": self._decomposition(joint, outcome, "published"),
            "exact": _single(outcome(best.edges), outcome(least_risk(joint.packed, best.scores))),
        }
        proof = best.status == "optimal", best.nodes, seconds
        self.studied.append(Studied(s, joint.words, len(packed.chart.rule), decoders, *proof))
        return best.value, joint.packed.derivation(best.edges, strings), None

    def _propagation(self, joint: Joint, outcome: Judge) -> Outputs:
        """Return the outcomes of belief propagation under both output rules.

        outcome  function from int32[I], the best edges of the items, to the Outcome of their derivation
        """
        first: dict[Output, Course] = {rule: Course([], 0) for rule in OUTPUTS}
        for rule, course in first.items():
            _add(course.outcomes, 1, outcome(decode(joint, 1, rule).edges))
        settled = 0
        for beliefs in rounds(joint, self.most):
            settled = beliefs.rounds if beliefs.converged else 0
            if 1 < beliefs.rounds <= self.shown:
                for rule, course in first.items():
                    _add(course.outcomes, beliefs.rounds, outcome(analysis(joint, beliefs, rule).edges))
        return Outputs(*(first[rule]._replace(settled=settled) for rule in OUTPUTS))

    def _decomposition(self, joint: Joint, outcome: Judge, step: Step) -> Outputs:
        """Run dual decomposition once and return the outcomes under both output rules.

        The function `outcome` maps int32[I], the best edges of the items, to the Outcome of their derivation.

        The outcome of `viterbi` is the best derivation seen so far. The outcome of `least-risk` uses the multipliers of
        the least bound so far.
        """
        best, start, settled, value, bound = Best(), np.zeros(len(joint.emission)), 0, -np.inf, np.inf
        best_outcomes, risk_outcomes = list[tuple[int, Outcome]](), list[tuple[int, Outcome]]()
        for dual in steps(joint, joint.possible, start, best, self.most, step):
            if best.value > value:
                value = best.value
                _add(
                    best_outcomes, dual.rounds, outcome(joint.analysis(best.tags, dual.bound, dual.rounds, "gap").edges)
                )
            if dual.bound < bound and dual.rounds <= self.shown:
                bound = dual.bound
                variable_scores = scores_left(joint.possible, dual.multipliers)
                _add(risk_outcomes, dual.rounds, outcome(least_risk(joint.packed, variable_scores)))
            settled = dual.rounds if dual.bound <= best.value else 0
        return Outputs(Course(best_outcomes, settled), Course(risk_outcomes, settled))


def _single(viterbi: Outcome, least_risk: Outcome) -> Outputs:
    """Return the outcomes of a decoder without iterations."""
    return Outputs(Course([(1, viterbi)], 0), Course([(1, least_risk)], 0))


def _add(course: list[tuple[int, Outcome]], begin: int, outcome: Outcome) -> None:
    """Append (first iteration, outcome) to a course unless the outcome equals the last outcome of the course."""
    if not course or course[-1][1] != outcome:
        course.append((begin, outcome))
