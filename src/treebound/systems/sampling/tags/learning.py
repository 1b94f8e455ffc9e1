"""SampleRank over heads and tags together: errors are those of either, and so are the features of an update.

The schedule `sample` is that of the paper's Figure 4, as in `systems.sampling.training`: every sample is compared with
the gold tree and tags as well, and scores are those of the weights of the moment. Samples are Gibbs steps, as in the
paper.
"""

from __future__ import annotations

import numpy as np

from treebound.core.hashing import hash_string
from treebound.core.treebank import Treebank
from treebound.features.tokens import PAD
from treebound.learning.loop import Show
from treebound.learning.pruner import Pruner
from treebound.systems.sampling.globals.catalogue import append, room
from treebound.systems.sampling.sentence import allowed_arcs
from treebound.systems.sampling.settings import Settings
from treebound.systems.sampling.tags.features import TAG, TEMPLATES, name_tags
from treebound.systems.sampling.tags.joint import COARSE, Chain, Joint, NoTreeError, State
from treebound.systems.sampling.training import UNKNOWN, Training


def options_of(rows: np.ndarray, tag: np.ndarray, tags: list[tuple[str, ...]], coarse: dict[str, str]) -> list:
    """What `Joint` takes of the candidates of each word, the one that comes in first; coarse as in `Candidates`.

    Tags have ids of their own, by which distinct ones are counted: those that no word comes in with, ids below -1.
    """
    ids = {words[0]: int(tag[m]) for m, words in enumerate(tags, 1)}
    found = []
    for m, (own, *others) in enumerate(tags, 1):
        made = [(rows[TAG, PAD + m], rows[COARSE, PAD + m], ids[own])]
        for t in others:
            known = hash_string(f"coarse={coarse[t]}") if t in coarse else rows[COARSE, PAD + m]
            made.append((hash_string(f"tag={t}"), known, ids.setdefault(t, -2 - len(ids))))
        found.append(np.array(made, np.int64))
    return found


class JointTraining(Training):
    """A model of trees and tags in training: `Training` with predicted tags, and the right ones to be found.

    train     with predicted tags in the column of its fine tag
    right     the right tag of every word
    tags      of every word its candidates, the predicted one first; the right tag among them or not
    coarse    tag -> the coarse tag that goes with it
    taggings  int32[W]: the candidate that each word's chain stands at
    """

    def __init__(
        self,
        spec: Settings,
        train: Treebank,
        right: list[str],
        tags: list[tuple[str, ...]],
        coarse: dict[str, str],
        pruner: Pruner,
    ):
        super().__init__(spec, train, pruner)
        self.tags, self.coarse = tags, coarse
        #: of each word the candidate that is to be found: where the right tag is none, the one that came in
        found = ((own.index(r) if r in own else 0) for own, r in zip(tags, right, strict=True))
        self.right = np.fromiter(found, np.int32, len(right))
        self.taggings = np.zeros(len(right), np.int32)

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """As `Training.learn`, with the share of right tags."""
        record = super().learn(order, show)
        return record | {"tag_accuracy": float((self.taggings == self.right).mean())}

    def _visit_samples(self, i: int) -> None:
        self._visit(i)

    def _visit(self, i: int) -> None:
        spec, span = self.spec, slice(self.offsets[i], self.offsets[i + 1])
        rows, tag = self.table.sentence(i)
        allowed = allowed_arcs(self.scoring, self.pruner, rows, tag, spec.training_k)
        allowed[self.gold[i][1:], np.arange(1, len(tag))] = True
        joint = Joint(self.scoring, rows, tag, allowed, options_of(rows, tag, self.tags[span], self.coarse))
        by_sample = spec.schedule == "sample"
        rng, heads = self._random(i if by_sample else 0), self.chains[span]
        tagging = tuple(self.taggings[span].tolist())
        try:
            made = joint.under(tagging).sentence
        except NoTreeError:  # as in `Training`
            return
        chain = Chain(joint, tagging, made.first_tree(rng) if heads[0] == UNKNOWN else self._arcs(made, heads))
        right = tuple(self.right[span].tolist()), self._arcs(made, self.gold[i][1:])
        before = chain.state
        for _ in range(spec.samples or spec.sweeps * len(heads)):
            gain = chain.step(spec.temperature, rng)
            now = chain.state
            less = _errors(before, right) - _errors(now, right)
            if less and gain * np.sign(less) < spec.cost * abs(less) and spec.constraints != "gold":
                self._learn(chain, *((now, before) if less > 0 else (before, now)), abs(less))
                self.counts["neighbour"] += 1
            if by_sample and spec.constraints != "neighbour":
                self._compare_with_gold(chain, now, right)
            before = now
        tagging, arcs = before
        heads[:], self.taggings[span] = chain.made.sentence.problem.head[arcs], tagging
        self.counts["wrong"] += int((arcs != right[1]).sum())
        if (errors := _errors(before, right)) and spec.constraints != "neighbour" and not by_sample:
            self._learn(chain, right, before, errors)
            self.counts["gold"] += 1

    def _compare_with_gold(self, chain: Chain, now: State, right: State) -> None:
        """Learn from a sample that does not score COST less than the gold tree and tags for each of its errors."""
        errors = _errors(now, right)
        if not errors:
            return
        behind = chain.lay(*right) - chain.lay(*now)
        chain.value = chain.lay(*now)
        if behind < self.spec.cost * errors:
            self._learn(chain, right, now, errors)
            self.counts["gold"] += 1

    def _learn(self, chain: Chain, better: State, worse: State, errors: int) -> None:
        """Step from one tree and tagging towards another.

        Local factors keep their scores until the next visit, unless the schedule is `sample`.
        """
        scorer, codes, joint, now, count = self.scoring.scorer, self.scoring.codes, chain.joint, chain.state, 0
        pairs = [(joint.under(tagging), arcs, sign) for (tagging, arcs), sign in ((better, 1.0), (worse, -1.0))]
        n = len(better[1])
        chosen = [
            {f: made.sentence.scores.selected(f, arcs) for f in ("arc", *self.spec.families)} for made, arcs, _ in pairs
        ]
        space = sum(scorer.room(parts, n) + room(codes, n) + n * len(TEMPLATES) for parts in chosen)
        slots, signs, rates = self.difference.reserve(space)
        names, mask = np.zeros(len(TEMPLATES), np.int64), len(self.scoring.reals) - 1
        for (made, arcs, sign), parts in zip(pairs, chosen, strict=True):
            given = sign, made.sentence.scores, made.rows, made.tag
            count = scorer.features(parts, *given, slots, signs, count, rates=rates)
            made.sentence.lay_only(arcs)
            ends = append(made.sentence.buffers.ints, made.sentence.view, sign, slots, signs, count)
            for w in range(1, n + 1):
                name_tags(made.rows, w, names)
                slots[ends : ends + len(names)], signs[ends : ends + len(names)] = names & mask, sign
                ends += len(names)
            count = ends
        if self.spec.schedule == "sample":
            self.learner.examples += 1
            joint.under.cache_clear()
        self.learner.update(slots, signs, rates, count, self.spec.cost * errors)
        chain.value = chain.lay(*now)


def _errors(state: State, right: State) -> int:
    """Words with a wrong tag and words with a wrong head."""
    return int(np.count_nonzero(np.array(state[0]) != right[0]) + np.count_nonzero(state[1] != right[1]))
