"""What every decoder of the joint model finds in the same charts, iteration by iteration, beside the proved optimum."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from treebound.systems.ccg.belief_propagation import analysis, decode, rounds
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Packed
from treebound.systems.ccg.decoding import Adaptive, Found, Supertagged
from treebound.systems.ccg.dual_decomposition import Best, steps
from treebound.systems.ccg.evaluation import Difference, Ratio, Scores, evaluate, jackknife
from treebound.systems.ccg.integration import ITERATIONS
from treebound.systems.ccg.joint import Joint
from treebound.systems.ccg.joint_search import search
from treebound.treebanks.ccg.derivation import Derivation, to_text


class Outcome(NamedTuple):
    """A derivation: its joint score, and how much of it is right.

    counts  labelled dependencies that are right, found, gold; the same of unlabelled ones; right categories, words;
            1 where all labelled dependencies are right
    """

    value: float
    counts: tuple[int, ...]


class Course(NamedTuple):
    """Outcomes of a decoder, each from an iteration on; the iteration that settled it, 0: none did."""

    outcomes: list[tuple[int, Outcome]]
    settled: int

    def at(self, iterations: int) -> Outcome:
        """What is given back after so many iterations, of 1 or more."""
        return [outcome for begin, outcome in self.outcomes if begin <= iterations][-1]


class Studied(NamedTuple):
    """A sentence that has a derivation.

    edges    of its chart
    parser   what the parser alone takes, without the supertagger; exact: of the search
    proved   whether that is the optimum; nodes, cpu_s: of the search
    """

    sentence: int
    words: int
    edges: int
    parser: Outcome
    bp: Course
    dd: Course
    exact: Outcome
    proved: bool
    nodes: int
    cpu_s: float


def scores(outcomes: Sequence[Outcome], sentences: int) -> Scores:
    """Of the outcomes of sentences that have a derivation, among so many."""
    total = np.array([outcome.counts for outcome in outcomes] or [(0,) * 9]).sum(axis=0).tolist()
    tags = total[6], total[7]
    return Scores(Ratio(*total[:3]), Ratio(*total[3:6]), tags, total[8], len(outcomes), sentences)


def difference(a: Sequence[Outcome], b: Sequence[Outcome]) -> Difference:
    """Labelled F-score of some sentences' outcomes less that of others, with its 95 % interval."""
    return jackknife(np.array([[one.counts[:3] for one in pair] for pair in zip(a, b, strict=True)]))


def _counts(of: Scores) -> tuple[int, ...]:
    both = of.labelled, of.unlabelled
    return (*(n for ratio in both for n in (ratio.right, ratio.found, ratio.gold)), *of.supertags, of.exact)


class Study(Adaptive):
    """Adaptive supertagging that fills `studied` beside.

    gold   derivations of the sentences; most: iterations of both approximate decoders
    shown  iterations after which belief propagation does not decode any more, but goes on until its beliefs settle
    nodes  of the search, at most
    """

    def __init__(self, *how: Any, gold: Sequence[Derivation], most: int, shown: int, nodes: int = 1000):
        super().__init__(*how)
        self.gold, self.most, self.shown, self.nodes = gold, most, shown, nodes
        self.studied: list[Studied] = []

    def _best(self, tagged: Supertagged, s: int, choices: Lattice, packed: Packed) -> tuple[float, Derivation, None]:
        joint, strings = self._joint(tagged, s, choices, packed), tagged.strings(s)
        known: dict[str, tuple[int, ...]] = {}

        def outcome(value: float, edges: np.ndarray) -> Outcome:
            derivation = joint.packed.derivation(edges, strings)
            key = to_text(derivation)
            if key not in known:
                known[key] = _counts(evaluate([self.gold[s]], [Found((derivation,), True, value, 0, 0.0, 0)]))
            return Outcome(value, known[key])

        started = time.process_time()
        result = search(joint, ITERATIONS["exact"], self.nodes)
        seconds = time.process_time() - started
        assert result is not None  # weights are finite
        best, alone = result[0], joint.packed.best()[2]
        tags, own = joint.read(alone)
        self.studied.append(
            Studied(
                sentence=s,
                words=joint.words,
                edges=len(packed.chart.rule),
                parser=outcome(own + joint.chain_score(tags), alone),
                bp=self._propagation(joint, outcome),
                dd=self._decomposition(joint, outcome),
                exact=outcome(best.value, best.edges),
                proved=best.status == "optimal",
                nodes=best.nodes,
                cpu_s=seconds,
            )
        )
        return best.value, joint.packed.derivation(best.edges, strings), None

    def _propagation(self, joint: Joint, outcome: Callable[[float, np.ndarray], Outcome]) -> Course:
        first = decode(joint, 1)
        course, settled = [(1, outcome(first.value, first.edges))], 0
        for beliefs in rounds(joint, self.most):
            settled = beliefs.rounds if beliefs.converged else 0
            if 1 < beliefs.rounds <= self.shown:
                found = analysis(joint, beliefs)
                _add(course, beliefs.rounds, outcome(found.value, found.edges))
        return Course(course, settled)

    def _decomposition(self, joint: Joint, outcome: Callable[[float, np.ndarray], Outcome]) -> Course:
        best, course, settled, value = Best(), list[tuple[int, Outcome]](), 0, -np.inf
        for dual in steps(joint, joint.possible, np.zeros(len(joint.emission)), best, self.most):
            if best.value > value:
                value = best.value
                found = joint.analysis(best.tags, dual.bound, dual.rounds, "gap")
                _add(course, dual.rounds, outcome(found.value, found.edges))
            settled = dual.rounds if dual.bound <= best.value else 0
        return Course(course, settled)


def _add(course: list[tuple[int, Outcome]], begin: int, outcome: Outcome) -> None:
    """Unless it is what was found before."""
    if not course or course[-1][1] != outcome:
        course.append((begin, outcome))
