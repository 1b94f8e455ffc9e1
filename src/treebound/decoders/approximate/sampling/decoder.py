"""Decoders that sample: good trees under any factors, in as much time as is given, without a proof."""

from __future__ import annotations

import time
import zlib
from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np

from treebound.core.errors import InputError
from treebound.core.parse import Parse, Status
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.approximate.charted import deviation, some_tree
from treebound.decoders.approximate.sampling.buffers import Buffers, buffers_of
from treebound.decoders.approximate.sampling.chains import GIBBS, GREEDY, MANY, WALK, Found, Plan, search
from treebound.decoders.approximate.sampling.starts import Starts, starts_of
from treebound.decoders.base import TOLERANCE, CheckedDecoder, without_infinities
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.factors import FAMILIES
from treebound.features.tree_score import PartScore
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, Hypergraph

#: of a word's best arc: less likely ones are proposed as if they were as likely, or walks would go in circles for long
LEAST_SHARE = 0.005
HEURISTIC: Status = "heuristic"


@dataclass(kw_only=True, eq=False)
class Sampling(CheckedDecoder):
    """Runs from trees that are drawn by the scores of arcs, each of which ends in a tree that no move makes better.

    seed      equal seeds give equal trees, whatever else is decoded and by how many workers
    bound     also the bound of one dynamic program, which proves how much better a tree could be: status "gap", or
              "optimal" where it is the score of the tree
    scale     trees are drawn from exp(scale * score of arcs)
    The first limit ends the search of a sentence:
    patience  enough once so many runs in a row found nothing better
    restarts  at most so many runs; None: 25 and 5 a word
    moves     at most so many arcs are scored, but for the end of a run; None: no limit
    seconds   of wall time; None: no limit. What is found then depends on the machine
    Scores count in standard deviations of the scores of arcs here, so that their size does not matter. Status
    "heuristic"; "infeasible" where that is proved, "limit" where no tree was met that is allowed.
    """

    space: Space = "projective"
    seed: int = 1
    bound: bool = False
    scale: float = 0.2
    patience: int = 16
    restarts: int | None = None
    moves: int | None = None
    seconds: float | None = None

    exact = False
    supports = frozenset(FAMILIES)

    def __post_init__(self) -> None:
        if self.space not in ("projective", "non-projective"):
            raise InputError(f"unknown space {self.space!r}", hint="choose projective or non-projective")
        for name in ("scale", "patience", "restarts", "moves", "seconds"):
            value = getattr(self, name)
            if value is not None and not 0 < value < np.inf:
                raise InputError(f"{name} = {value!r}", hint="give a positive number")

    @property
    @abstractmethod
    def chain(self) -> Plan:
        """What a run does from the tree that is drawn; temperatures in standard deviations of scores."""

    def _decode(self, problem: Problem) -> Parse:
        """O(n d) a run about, d the number of modifiers; one inside pass of the first-order chart."""
        started = time.perf_counter()
        given, least = without_infinities(problem)
        index, sd = index_of(given).arcs, deviation(given)
        log = np.where(given.arc > NEG_TEST, np.maximum(given.arc, NEG / 2) * (self.scale / sd), NEG)
        starts = starts_of(index, log, problem.single_root, self.space == "projective")
        if starts is None:
            return Parse(heads_of(index, np.zeros(0, np.int32)), -np.inf, -np.inf, "infeasible", {"dp_calls": 1})
        runs = 25 + 5 * problem.n if self.restarts is None else self.restarts
        found = Found(*(np.zeros(size, np.int64) for size in (1, problem.n, 3, runs)))._replace(
            value=np.full(1, -np.inf)
        )
        self._search(buffers_of(given, shares(log, given)), starts, sd, seed_of(problem, self.seed), found)
        if found.value[0] < least:
            return some_tree(problem, self.space)  # every tree that was met has something forbidden
        heads = heads_of(index, found.arcs)
        work = {"dp_calls": 1, "restarts": int(found.counts[1]), "moves": int(found.counts[2])}
        value, bound, status = PartScore(problem).score(heads), np.inf, HEURISTIC
        if self.bound:
            bound = max(value, BranchAndBound(space=self.space, max_dp_calls=1).decode(problem).bound)
            within = 0.0 if problem.unit else TOLERANCE * max(1.0, abs(value))
            status = "optimal" if bound <= value + within else "gap"
            work["dp_calls"] += 1
        return Parse(heads, value, bound, status, work, {"decode": time.perf_counter() - started})

    def _search(self, buffers: Buffers, starts: tuple[Hypergraph, Starts], sd: float, seed: int, found: Found) -> None:
        """Runs until the budget is used up."""
        started, chain = time.perf_counter(), self.chain
        plan = chain._replace(restarts=len(found.seen), hot=chain.hot * sd, cold=chain.cold * sd)
        rng = np.array([seed], np.uint64)
        if self.seconds is None:
            search(*buffers, *starts, plan, rng, found)
            return
        for _ in range(plan.restarts):
            search(*buffers, *starts, plan._replace(restarts=1), rng, found)
            if time.perf_counter() - started >= self.seconds:
                return


def shares(log: np.ndarray, problem: Problem) -> np.ndarray:
    """float64[A]: weight of each arc against the best one into its word, at least LEAST_SHARE; 0 where forbidden."""
    most = np.full(problem.n + 1, NEG)
    np.maximum.at(most, problem.mod, log)
    share = np.exp(np.maximum(log - most[problem.mod], np.log(LEAST_SHARE)))
    return np.where(log > NEG_TEST, share, 0.0)


def seed_of(problem: Problem, seed: int) -> int:
    """64 bits from the seed and what the problem is, so that a sentence is sampled alike wherever it stands."""
    digest = zlib.crc32(problem.arc.tobytes(), zlib.crc32(problem.mod.tobytes(), problem.n))
    return (digest << 32 | zlib.crc32(str(seed).encode())) & (2**64 - 1)


class Greedy(Sampling):
    """Randomised greedy ascent: every run climbs from the tree that it draws. Options as of `Sampling`."""

    name = "greedy"
    cite = "Zhang, Lei, Jaakkola, Barzilay & Globerson (2014), Greed is good if randomized, section 3"

    @property
    def chain(self) -> Plan:
        """No chain, but the climb that ends every run."""
        return Plan(GREEDY, 0, self.patience, self.moves or MANY, 0, 1.0, 1.0, 1)


@dataclass(kw_only=True, eq=False)
class Gibbs(Sampling):
    """Annealed Gibbs sampling, one head at a time and rotations, then a climb. Options as of `Sampling`, and

    sweeps     steps of a run, in words
    hot, cold  first and last temperature
    """

    patience: int = 8
    sweeps: int = 10
    hot: float = 2.0
    cold: float = 0.2

    name = "gibbs"
    cite = "Zhang, Lei, Barzilay, Jaakkola & Globerson (2014), section 3.2.1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.cold <= self.hot:
            raise InputError(f"temperatures from {self.hot} to {self.cold}", hint="let them fall, above 0")
        if self.sweeps < 0:
            raise InputError(f"sweeps = {self.sweeps}", hint="give at least 0")

    @property
    def chain(self) -> Plan:
        """Single heads and rotations."""
        return Plan(GIBBS, 0, self.patience, self.moves or MANY, self.sweeps, self.hot, self.cold, 1)


@dataclass(kw_only=True, eq=False)
class RandomWalk(Gibbs):
    """Annealed Metropolis-Hastings sampling over crossing trees, then a climb. Options as of `Gibbs`, and

    words  K: so many words get new heads together, by random walks under the scores of arcs
    """

    space: Space = field(default="non-projective", init=False)
    words: int = 4

    name = "random-walk"
    cite = "Zhang, Lei, Barzilay, Jaakkola & Globerson (2014), section 3.2.2; Wilson (1996)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.words < 1:
            raise InputError(f"words = {self.words}", hint="give at least 1")

    @property
    def chain(self) -> Plan:
        """Walks of several words."""
        return super().chain._replace(method=WALK, words=self.words)
