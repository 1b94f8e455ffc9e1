"""Search for the best labelled tree that keeps a set of rules, by branching on the facts of broken rules.

The rules concern whole labelled trees, so that no dynamic program can enforce them. The search starts with a relaxation
without rules: the best tree under each arc's best label. If that tree breaks a rule, one of the facts of the violation
has to change. Each fact is a statement about the arc into one word. It divides the labelled trees in two regions: trees
whose arc and label make the fact true, and the others. Open regions are searched best first. The relaxation bounds
every region, so that the first tree that keeps all rules is the best valid tree.

Riedel & Clarke (2006, section 3) had the idea to add a constraint only if the best tree breaks it. Here, the bound of a
region comes from branch and bound over non-local factors instead of an integer program.
"""

from __future__ import annotations

import copy
import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from treebound.constraints.rows import Words
from treebound.constraints.ud.violations import Fact, LabelledTree, Rule, Violation, violations
from treebound.core.certificate import Certificate
from treebound.core.parse import Parse, Status
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.core.spaces import Space
from treebound.core.validity import Region, Split, ValidityProof
from treebound.decoders.exact.branch_and_bound.record import certificate

MOST_REGIONS = 2000  #: limit of regions in a search
#: limit of work over all regions of a sentence: dynamic programs times the square of the number of words
MOST_WORK = 200_000_000
#: number of regions in which any valid tree is searched after a limit was reached. The deepest region comes first, and
#: each region takes one dynamic program
MOST_DIVES = 500


@dataclass(frozen=True)
class LabelScores:
    """The scores of the labelled arcs of a problem.

    problem  arcs and parts; the scores `problem.arc` are ignored
    table    float64[A, L]: score of each arc with each label, including the arc's own score; -inf forbids the pair
    names    the L labels
    """

    problem: Problem
    table: np.ndarray
    names: tuple[str, ...]


@dataclass(frozen=True)
class ValidRecord:
    """The record of a search, stored in `Parse.record`. A search without a valid tree always stores its regions."""

    proof: ValidityProof

    @property
    def conflict(self) -> tuple[str, ...]:
        """Return the sorted ids of the rules that close regions.

        If no tree is valid, these rules together exclude all trees.
        """
        return tuple(sorted({region.rule for region in self.proof.regions} - {""}))


#: the labelled arcs that a region allows: word -> bool[K, L], True for each allowed pair of one of the word's K
#: candidate arcs and one of the L labels. A word that is not a key has no restriction
Changes = dict[int, np.ndarray]


@dataclass(frozen=True)
class _Node:
    """An open region, which may hold a better valid tree.

    The best tree of the region's relaxation breaks a rule, or is not proved to be optimal.

    place      index of the region in the proof
    changes    labelled arcs that the region allows, by word
    parse      the best tree of the relaxation
    violation  a rule that the tree breaks; None if the tree is valid
    """

    place: int
    changes: Changes
    parse: Parse
    violation: Violation | None


class _Bounded(NamedTuple):
    """The relaxation of a region: its best tree with labels, and the proof of its bound if proofs are recorded."""

    parse: Parse
    proof: Certificate | None


class ValidDecoder:
    """A decoder whose trees keep a set of rules.

    It is a `treebound.core.protocols.Decoder`, so that it also finds k best trees and margins.

    Parameters
    ----------
    decoder : Decoder
        Searches the relaxation. If it is exact, trees are proved to be the best valid ones.
    scores : LabelScores
        The labelled arcs of one sentence. The decoder is for this sentence only.
    words : Words
        The sentence as rules see it. Unknown columns FEATS, MISC and LEMMA count as empty.
    rules : sequence of Rule
        Rules that the trees keep.
    most_regions : int, default MOST_REGIONS
        Limit of regions. A sentence that reaches it gets status `limit`.
    """

    cite = "Riedel & Clarke (2006), section 3; Qian & Liu (2013), section 3"

    def __init__(
        self,
        decoder: Decoder,
        scores: LabelScores,
        words: Words,
        rules: Sequence[Rule],
        most_regions: int = MOST_REGIONS,
    ):
        self.decoder, self.scores, self.rules = decoder, scores, rules
        self.words = words.with_empty_columns()
        self.most_regions = most_regions
        self.name, self.space, self.exact = f"valid-{decoder.name}", decoder.space, decoder.exact
        self.supports = decoder.supports
        self.record = bool(getattr(decoder, "record", False))
        self._causes = [(rule, rule.causes(scores.names)) for rule in rules]

    def decode(self, problem: Problem, relaxed: Parse | None = None) -> Parse:
        """Return the best valid tree without the arcs that `problem` forbids; its labels are numbers of `names`.

        relaxed  the labelled parse of the problem by `decoder` under the best label of each arc, if it is known

        Status `infeasible` means a proof that no tree of the candidate arcs keeps the rules. The search decodes the
        relaxation once for each region. Most sentences have one region, but the worst case is exponential.
        """
        return _Search(self, np.isneginf(problem.arc), -np.inf).run(relaxed)[0]

    def decode_above(self, problem: Problem, floor: float) -> Parse | None:
        """Return the best valid tree, None if it is proved that no valid tree scores more than `floor`."""
        parse, below = _Search(self, np.isneginf(problem.arc), floor).run()
        return None if below and parse.status == "infeasible" else parse

    def violation(self, parse: Parse) -> Violation | None:
        """Return the violation with the fewest facts in a labelled tree, None if the tree keeps all rules."""
        names = self.scores.names
        labels = ("", *(names[number] for number in parse.labels[1:].tolist()))  # type: ignore[index]
        tree, present = LabelledTree(self.words, parse.heads, labels, names, self.space), frozenset(labels)
        rules = (rule for rule, causes in self._causes if not present.isdisjoint(causes))
        return min(violations(rules, tree), key=lambda broken: len(broken.facts), default=None)


class OnlyTree:
    """A decoder for problems with one candidate arc into each word. It returns the only tree of such a problem."""

    name, exact, cite = "only-tree", True, "trivial"
    supports = frozenset({"arc"})

    def __init__(self, heads: np.ndarray, space: Space):
        self.heads, self.space = heads, space

    def decode(self, problem: Problem) -> Parse:
        """Return the tree, or status `infeasible` if one of its arcs is forbidden."""
        value = float(problem.arc.sum())
        if value == -np.inf:
            return Parse(np.where(np.arange(problem.n + 1) == 0, -1, 0), value, value, "infeasible")
        return Parse(self.heads, value, value, "optimal")


class _Search:
    """A search for the best valid tree of a sentence.

    forbidden  bool[A]: arcs that no tree may use
    floor      the search ignores trees that do not score more than this number
    """

    def __init__(self, decoder: ValidDecoder, forbidden: np.ndarray, floor: float):
        self.decoder, self.floor, self.scores = decoder, floor, decoder.scores
        self.table = np.where(forbidden[:, None], -np.inf, self.scores.table)
        self.label = self.table.argmax(axis=1)
        self.arc = self.table[np.arange(len(self.table)), self.label]
        self.regions: list[Region] = []
        self.best: Parse | None = None
        self.below = False  # whether a region was closed by `floor`
        self.limited = False  # whether a limit was reached; the search then accepts any valid tree, without a proof
        self.oracle = decoder.decoder
        self.single = isinstance(decoder.decoder, OnlyTree)  # this search is itself a search for the labels of a tree
        self.root: Parse | None = None  # the best tree without rules
        self.work: dict[str, int] = {"regions": 0}
        # (-bound, -depth, place, node): the highest bound first, and for equal bounds the deeper region first
        self.open: list[tuple[float, int, int, _Node]] = []
        problem = self.scores.problem
        self.into = [np.flatnonzero(problem.mod == m) for m in range(problem.n + 1)]
        self.pairs_of_fact: dict[Fact, np.ndarray] = {}

    def run(self, relaxed: Parse | None = None) -> tuple[Parse, bool]:
        """Return the best valid tree, and whether regions were closed because they cannot beat `floor`."""
        self._bound_region(self._region(-1, True), {}, 0, relaxed)
        dives, given_up = 0, -np.inf  # given_up: the highest bound of a region that was neither divided nor closed
        while self.open:
            self._check_limits()
            if not self.limited:
                bound, depth, _, node = heapq.heappop(self.open)
            elif self.best is None and dives < MOST_DIVES:
                dives += 1
                deepest = min(range(len(self.open)), key=lambda i: (self.open[i][1], self.open[i][0]))
                bound, depth, _, node = self.open.pop(deepest)
                heapq.heapify(self.open)
            else:
                return self._unproved(max(given_up, -self.open[0][0])), self.below
            if self.best is not None and self.best.value >= -bound:
                break  # no open region has a higher bound: the certificates of the relaxations close them
            if node.violation is None:  # the relaxation is not solved to optimality, and no tree shows how to divide it
                given_up = max(given_up, -bound)
                continue
            self._branch(node, -depth)
        if given_up > (-np.inf if self.best is None else self.best.value):
            return self._unproved(given_up), self.below
        if self.best is None:
            none = self._no_tree(-np.inf, "infeasible")
            return replace(none, record=ValidRecord(ValidityProof(self.regions))), self.below
        proved = replace(self.best, bound=self.best.value, status="optimal", work=self.work, record=self._record())
        return proved, self.below

    def _check_limits(self) -> None:
        """Set `limited` if a limit is reached.

        The number of regions or their total work may reach a limit. An unproved relaxation of the next region counts as
        a limit, too. From then on, each relaxation may use one dynamic program only.
        """
        spent = self.work["regions"] >= self.decoder.most_regions
        spent |= self.work.get("dp_calls", 0) * self.scores.problem.n**2 >= MOST_WORK
        if self.limited or not (spent or any(not item[3].parse.certified for item in self.open[:1])):
            return
        self.limited = True
        options = getattr(self.oracle, "options", None)
        if hasattr(options, "max_dp_calls"):
            self.oracle = copy.copy(self.oracle)
            self.oracle.options = options._replace(max_dp_calls=1)  # type: ignore[attr-defined, union-attr]
        if self.best is None and self.root is not None and not self.single:
            self.best = self._relabelled(self.root)

    def _relabelled(self, parse: Parse) -> Parse | None:
        """Return a labelled tree with its best valid labels; None if no valid labelling scores more than `floor`."""
        assert parse.labels is not None
        problem = self.scores.problem
        arcs = np.flatnonzero(parse.heads[problem.mod] == problem.head)
        arcs = arcs[np.argsort(problem.mod[arcs])]
        only = Problem(problem.n, problem.head[arcs], problem.mod[arcs], np.zeros(problem.n), single_root=False)
        scores = LabelScores(only, self.table[arcs], self.scores.names)
        decoder = self.decoder
        chosen = ValidDecoder(OnlyTree(parse.heads, decoder.space), scores, decoder.words, decoder.rules).decode(only)
        if chosen.labels is None:
            return None
        value = parse.value - float(self.table[arcs, parse.labels[1:]].sum()) + chosen.value
        return replace(parse, labels=chosen.labels, value=value, record=None) if value > self.floor else None

    def _unproved(self, bound: float) -> Parse:
        """Return the best valid tree so far, with its best valid labels and a bound on all valid trees.

        Without a valid tree, return no tree.
        """
        best = self.best if self.best is None or self.single else self._relabelled(self.best)
        if best is not None:
            bound = max(bound, best.value)
            return replace(best, bound=bound, status="limit", work=self.work, record=self._record())
        return self._no_tree(bound, "limit")

    def _no_tree(self, bound: float, status: Status) -> Parse:
        """Return a parse without a tree, with the given bound and status."""
        heads = np.zeros(self.scores.problem.n + 1, np.int32)
        heads[0] = -1
        return Parse(heads, -np.inf, bound, status, self.work)

    def _record(self) -> ValidRecord | None:
        """Return the regions as a record, None if no proof was requested.

        The certificate of an open region proves its bound.
        """
        return ValidRecord(ValidityProof(self.regions)) if self.decoder.record else None

    def _region(self, parent: int, inside: bool) -> int:
        """Add a region to the proof and return its index.

        parent  index of the region that is divided
        inside  whether the fact that divides the parent is true in the new region
        """
        self.regions.append(Region(parent, inside))
        return len(self.regions) - 1

    def _describe(self, place: int, **facts: Any) -> None:
        """Record in the proof how a region is divided or closed."""
        self.regions[place] = replace(self.regions[place], **facts)

    def _bound_region(self, place: int, changes: Changes, depth: int, known: Parse | None = None) -> None:
        """Bound the region with index `place` in the proof by its relaxation.

        `changes` are the labelled arcs that the region allows, by word, where they differ from the candidates. `depth`
        counts the violations that led to the region, and breaks ties. `known` is the parse of the relaxation if it is
        known.

        The tree of the relaxation is stored if it is valid and better than the best tree so far. The region stays open
        if it may hold a better tree.
        """
        relaxed = self._decode_relaxation(changes) if known is None else _Bounded(known, self._proof(known))
        parse = relaxed.parse
        if place == 0 and parse.value > -np.inf:
            self.root = parse
        self._describe(place, bound=relaxed.proof)
        self.work["regions"] += 1
        for name in ("dp_calls", "nodes"):
            self.work[name] = self.work.get(name, 0) + (parse.work.get(name, 0) if known is None else 0)
        bound = parse.value if parse.certified else parse.bound
        if parse.status == "infeasible":
            return
        if bound <= self.floor:
            self.below = True
            return
        violation = None if parse.value == -np.inf else self.decoder.violation(parse)
        if violation is None and parse.value > max(self.floor, self.best.value if self.best else -np.inf):
            self.best = replace(parse, record=None)
        if violation is not None or bound > parse.value:
            heapq.heappush(self.open, (-bound, -depth, place, _Node(place, changes, parse, violation)))

    def _decode_relaxation(self, changes: Changes) -> _Bounded:
        """Return the best tree of a region's relaxation, which ignores the rules."""
        arc, label = self.arc.copy(), self.label.copy()
        for word, allowed in changes.items():
            rows = self.into[word]
            table = np.where(allowed, self.table[rows], -np.inf)
            label[rows] = table.argmax(axis=1)
            arc[rows] = table[np.arange(len(rows)), label[rows]]
        problem = self.scores.problem.with_arc(arc)
        parse = self.oracle.decode(problem)
        proof = self._proof(parse)
        if parse.value == -np.inf:
            return _Bounded(replace(parse, record=None), proof)
        labels = np.full(problem.n + 1, -1, np.int32)
        chosen = parse.heads[problem.mod] == problem.head
        labels[problem.mod[chosen]] = label[chosen]
        return _Bounded(replace(parse, labels=labels, record=None), proof)

    def _proof(self, parse: Parse) -> Certificate | None:
        """Return the proof of a relaxation's bound; None if proofs are not recorded."""
        return certificate(parse.record) if self.decoder.record and parse.record is not None else None

    def _branch(self, node: _Node, depth: int) -> None:
        """Divide a region by the facts of its tree's violation.

        Region i holds the trees in which fact i is the first fact that is not true. The trees in which all facts are
        true break the rule, so that no region is left for them.
        """
        assert node.violation is not None
        place, changes = node.place, node.changes
        for word, satisfying in self._facts_by_word(node.violation.facts):
            allowed = changes.get(word, ~np.isneginf(self.table[self.into[word]]))
            true, false = allowed & satisfying, allowed & ~satisfying
            if not false.any():
                continue  # the fact is true in the whole region
            heads = self.scores.problem.head[self.into[word]]
            pairs = frozenset((int(heads[i]), int(label)) for i, label in zip(*np.nonzero(true), strict=True))
            self._describe(place, split=Split(word, pairs), bound=None)
            self._bound_region(self._region(place, False), {**changes, word: false}, depth + 1)
            place, changes = self._region(place, True), {**changes, word: true}
        self._describe(place, rule=node.violation.rule, bound=None)

    def _facts_by_word(self, facts: Iterable[Fact]) -> list[tuple[int, np.ndarray]]:
        """Return (word, bool[K, L]) for each word of the facts, the words with the fewest pairs first.

        An entry is True if the pair of one of the K arcs into the word and one of the L labels makes all facts about
        the word true.
        """
        by_word: dict[int, np.ndarray] = {}
        for fact in facts:
            satisfying = self._pairs_of_fact(fact)
            by_word[fact.word] = by_word[fact.word] & satisfying if fact.word in by_word else satisfying
        # facts that require an arc come before facts that exclude an arc: after them, fewer arcs remain to be excluded
        return sorted(by_word.items(), key=lambda item: int(item[1].sum()))

    def _pairs_of_fact(self, fact: Fact) -> np.ndarray:
        """Return bool[K, L]: the pairs of an arc into the fact's word and a label that make the fact true."""
        if fact not in self.pairs_of_fact:
            heads = self.scores.problem.head[self.into[fact.word]]
            head_matches = np.array([fact.heads is None or int(h) in fact.heads for h in heads], np.bool_)
            label_matches = np.array(
                [fact.labels is None or name in fact.labels for name in self.scores.names], np.bool_
            )
            self.pairs_of_fact[fact] = (head_matches[:, None] & label_matches) == fact.holds
        return self.pairs_of_fact[fact]
