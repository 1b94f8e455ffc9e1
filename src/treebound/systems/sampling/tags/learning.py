"""SampleRank over heads and tags together: both count as errors, and an update changes the features of both.

The schedule `sample` follows Figure 4 of the paper, as in `systems.sampling.training`: every sample is also compared
with the gold tree and tags, under the current weights. Samples are Gibbs steps, as in the paper.
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
    """Return the `options` of `Joint` from the candidate tags of each word, the predicted tag first.

    rows, tag  token rows and tag ids of the sentence under its predicted tags
    tags       candidate tags of each word, the predicted tag first
    coarse     fine tag -> the coarse tag that belongs to it

    Each tag has an id of its own. A tag that is predicted for no word of the sentence gets a new id
    below -1.
    """
    ids = {words[0]: int(tag[m]) for m, words in enumerate(tags, 1)}
    options = []
    for m, (own, *others) in enumerate(tags, 1):
        rows_of_word = [(rows[TAG, PAD + m], rows[COARSE, PAD + m], ids[own])]
        for t in others:
            known = hash_string(f"coarse={coarse[t]}") if t in coarse else rows[COARSE, PAD + m]
            rows_of_word.append((hash_string(f"tag={t}"), known, ids.setdefault(t, -2 - len(ids))))
        options.append(np.array(rows_of_word, np.int64))
    return options


class JointTraining(Training):
    """A model of trees and tags in training: `Training` with predicted tags and candidate tags.

    train     treebank with predicted tags in the column of its fine tag;
    right     gold tag of every word;
    tags      candidate tags of every word, the predicted tag first; the gold tag may be missing;
    coarse    fine tag -> the coarse tag that belongs to it;
    taggings  int32[W]: the index of each word's current tag among its candidates.
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
        #: for each word, the candidate to be learned: the gold tag, or the predicted tag if gold is no candidate
        targets = ((own.index(r) if r in own else 0) for own, r in zip(tags, right, strict=True))
        self.right = np.fromiter(targets, np.int32, len(right))
        self.taggings = np.zeros(len(right), np.int32)

    def learn(self, order: np.ndarray, show: Show) -> dict:
        """Train for one epoch as `Training.learn`, and record the share of gold tags."""
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
            sentence = joint.under(tagging).sentence
        except NoTreeError:  # as in `Training`
            return
        chain = Chain(joint, tagging, sentence.first_tree(rng) if heads[0] == UNKNOWN else self._arcs(sentence, heads))
        right = tuple(self.right[span].tolist()), self._arcs(sentence, self.gold[i][1:])
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
        """Update the weights if the gold state does not outscore the sample `now` by the cost of each of its errors.

        A state is a tag sequence with a tree; `right` is the gold state.
        """
        errors = _errors(now, right)
        if not errors:
            return
        behind = chain.lay(*right) - chain.lay(*now)
        chain.value = chain.lay(*now)
        if behind < self.spec.cost * errors:
            self._learn(chain, right, now, errors)
            self.counts["gold"] += 1

    def _learn(self, chain: Chain, better: State, worse: State, errors: int) -> None:
        """Update the weights from the worse tree and tag sequence towards the better tree and tag sequence.

        `errors` is the number of errors that the worse state has more.

        Local factors keep their scores until the next visit, unless the schedule is `sample`.
        """
        scorer, codes, joint, now, count = self.scoring.scorer, self.scoring.codes, chain.joint, chain.state, 0
        pairs = [(joint.under(tagging), arcs, sign) for (tagging, arcs), sign in ((better, 1.0), (worse, -1.0))]
        n = len(better[1])
        chosen = [
            {f: tagged.sentence.scores.selected(f, arcs) for f in ("arc", *self.spec.families)}
            for tagged, arcs, _ in pairs
        ]
        space = sum(scorer.room(parts, n) + room(codes, n) + n * len(TEMPLATES) for parts in chosen)
        slots, signs, rates = self.difference.reserve(space)
        names, mask = np.zeros(len(TEMPLATES), np.int64), len(self.scoring.reals) - 1
        for (tagged, arcs, sign), parts in zip(pairs, chosen, strict=True):
            arguments = sign, tagged.sentence.scores, tagged.rows, tagged.tag
            count = scorer.features(parts, *arguments, slots, signs, count, rates=rates)
            tagged.sentence.set_tree_unscored(arcs)
            ends = append(tagged.sentence.buffers.ints, tagged.sentence.view, sign, slots, signs, count)
            for w in range(1, n + 1):
                name_tags(tagged.rows, w, names)
                slots[ends : ends + len(names)], signs[ends : ends + len(names)] = names & mask, sign
                ends += len(names)
            count = ends
        if self.spec.schedule == "sample":
            self.learner.examples += 1
            joint.under.cache_clear()
        self.learner.update(slots, signs, rates, count, self.spec.cost * errors)
        chain.value = chain.lay(*now)


def _errors(state: State, right: State) -> int:
    """Return the number of wrong tags plus the number of wrong heads in `state`; `right` is the gold state."""
    return int(np.count_nonzero(np.array(state[0]) != right[0]) + np.count_nonzero(state[1] != right[1]))
