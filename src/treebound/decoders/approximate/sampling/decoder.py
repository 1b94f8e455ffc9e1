"""Decode by sampling: good trees under any factors within a given budget, without a proof."""

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
from treebound.decoders.approximate.sampling.chains import GIBBS, GREEDY, MANY, WALK, ChainResult, Plan, search
from treebound.decoders.approximate.sampling.starts import Starts, starts_of
from treebound.decoders.base import TOLERANCE, CheckedDecoder, without_infinities
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.factors import FAMILIES
from treebound.features.tree_score import PartScore
from treebound.kernels.arcs.numbering import heads_of
from treebound.kernels.arcs.problem_index import index_of
from treebound.kernels.chart.hypergraph import NEG, NEG_TEST, Hypergraph

#: smallest share of an arc relative to its word's best arc; with smaller shares, random walks would cycle for long
LEAST_SHARE = 0.005
HEURISTIC: Status = "heuristic"


@dataclass(kw_only=True, eq=False)
class Sampling(CheckedDecoder):
    """Base class of decoders that start at random trees, drawn by arc scores, and end at trees that no move improves.

    A run leads from one random tree to one such end. A search makes several runs and returns the best tree of all.
    Scores are divided by the standard deviation of the arcs' scores, so that their size does not matter. The status is
    "heuristic". It is "infeasible" if it is proved that there is no tree, and "limit" if no allowed tree was met. The
    first limit of `patience`, `restarts`, `moves` and `seconds` that is reached ends the search of a sentence.

    Parameters
    ----------
    space : "projective" or "non-projective"
        Set of trees.
    seed : int
        Random seed. The tree of a sentence depends on the seed, but not on other sentences or the number of workers.
    bound : bool
        Whether to compute the bound of one dynamic program. It limits how much better a tree can be: the status is then
        "gap", or "optimal" if the bound equals the score of the tree.
    scale : float
        Trees are drawn with probability proportional to exp(scale * score of arcs).
    patience : int
        Number of runs in a row without a better tree that ends the search.
    restarts : int or None
        Maximum number of runs. None means 25 plus 5 for each word.
    moves : int or None
        Number of scored arcs at which the search ends. The last run may exceed it a little. None means no limit.
    seconds : float or None
        Limit of wall-clock time. None means no limit. With a limit, the tree depends on the speed of the machine.
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
        """Return the plan of the search; its temperatures are in standard deviations of the arcs' scores."""

    def _decode(self, problem: Problem) -> Parse:
        """Decode by repeated runs. O(edges of the first-order chart), plus about O(n d) for each run.

        d is the number of modifiers of a word.
        """
        started = time.perf_counter()
        finite, least = without_infinities(problem)
        index, sd = index_of(finite).arcs, deviation(finite)
        log = np.where(finite.arc > NEG_TEST, np.maximum(finite.arc, NEG / 2) * (self.scale / sd), NEG)
        starts = starts_of(index, log, problem.single_root, self.space == "projective")
        if starts is None:
            return Parse(heads_of(index, np.zeros(0, np.int32)), -np.inf, -np.inf, "infeasible", {"dp_calls": 1})
        runs = 25 + 5 * problem.n if self.restarts is None else self.restarts
        result = ChainResult(*(np.zeros(size, np.int64) for size in (1, problem.n, 3, runs)))._replace(
            value=np.full(1, -np.inf)
        )
        self._search(buffers_of(finite, shares(log, finite)), starts, sd, seed_of(problem, self.seed), result)
        if result.value[0] < least:
            return some_tree(problem, self.space)  # every tree that was met is forbidden
        heads = heads_of(index, result.arcs)
        work = {"dp_calls": 1, "restarts": int(result.counts[1]), "moves": int(result.counts[2])}
        value, bound, status = PartScore(problem).score(heads), np.inf, HEURISTIC
        if self.bound:
            bound = max(value, BranchAndBound(space=self.space, max_dp_calls=1).decode(problem).bound)
            within = 0.0 if problem.unit else TOLERANCE * max(1.0, abs(value))
            status = "optimal" if bound <= value + within else "gap"
            work["dp_calls"] += 1
        return Parse(heads, value, bound, status, work, {"decode": time.perf_counter() - started})

    def _search(
        self, buffers: Buffers, starts: tuple[Hypergraph, Starts], sd: float, seed: int, result: ChainResult
    ) -> None:
        """Repeat runs until a limit is reached; each run updates `result`."""
        started, chain = time.perf_counter(), self.chain
        plan = chain._replace(restarts=len(result.seen), hot=chain.hot * sd, cold=chain.cold * sd)
        rng = np.array([seed], np.uint64)
        if self.seconds is None:
            search(*buffers, *starts, plan, rng, result)
            return
        for _ in range(plan.restarts):
            search(*buffers, *starts, plan._replace(restarts=1), rng, result)
            if time.perf_counter() - started >= self.seconds:
                return


def shares(log: np.ndarray, problem: Problem) -> np.ndarray:
    """Return float64[A]: the weight of each arc divided by the weight of the best arc into the same word.

    The result is at least LEAST_SHARE for allowed arcs, and 0 for forbidden arcs.

    log  float64[A]: logarithm of the weight of each arc
    """
    best_into = np.full(problem.n + 1, NEG)
    np.maximum.at(best_into, problem.mod, log)
    share = np.exp(np.maximum(log - best_into[problem.mod], np.log(LEAST_SHARE)))
    return np.where(log > NEG_TEST, share, 0.0)


def seed_of(problem: Problem, seed: int) -> int:
    """Return a seed of 64 bits made from `seed` and the problem: equal sentences get equal samples."""
    digest = zlib.crc32(problem.arc.tobytes(), zlib.crc32(problem.mod.tobytes(), problem.n))
    return (digest << 32 | zlib.crc32(str(seed).encode())) & (2**64 - 1)


class Greedy(Sampling):
    """Decoder by randomised greedy ascent: every run climbs from a random tree. `Sampling` lists the options."""

    name = "greedy"
    cite = "Zhang, Lei, Jaakkola, Barzilay & Globerson (2014), section 3"

    @property
    def chain(self) -> Plan:
        """Return a plan without chain steps, so that each run consists of the greedy ascent (climb) alone."""
        return Plan(GREEDY, 0, self.patience, self.moves or MANY, 0, 1.0, 1.0, 1)


@dataclass(kw_only=True, eq=False)
class Gibbs(Sampling):
    """Decoder by annealed Gibbs sampling, followed by a climb.

    A step draws a new head for a word, or draws whether a word and its head are exchanged (rotation).

    `Sampling` lists the other options.

    Parameters
    ----------
    sweeps : int
        Number of steps of a run, per word of the sentence.
    hot, cold : float
        First and last temperature of a run, in standard deviations of the arcs' scores.
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
            raise InputError(f"temperatures from {self.hot} to {self.cold}", hint="let them fall: hot >= cold > 0")
        if self.sweeps < 0:
            raise InputError(f"sweeps = {self.sweeps}", hint="give at least 0")

    @property
    def chain(self) -> Plan:
        """Return a plan of Gibbs sampling: steps draw single heads, or exchange a word with its head."""
        return Plan(GIBBS, 0, self.patience, self.moves or MANY, self.sweeps, self.hot, self.cold, 1)


@dataclass(kw_only=True, eq=False)
class RandomWalk(Gibbs):
    """Decoder by annealed Metropolis-Hastings sampling of non-projective trees, followed by a climb.

    `Gibbs` and `Sampling` list the other options.

    Parameters
    ----------
    words : int
        Number of words that get new heads together, by random walks under the scores of arcs.
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
        """Return a plan of random walks, each of which draws the heads of several words together."""
        return super().chain._replace(method=WALK, words=self.words)
