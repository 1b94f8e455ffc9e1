"""Training: first the supertagger, then the log-linear model of derivations, both by L-BFGS.

The likelihood is that of the gold derivation among all of a chart (Clark & Curran 2007, section 5.1), whose lexical
categories are the gold ones and those within the supertagger's beam, or that of one that has not seen it (`jackknife`).
The beam of each sentence is the first one under which its chart keeps within the limit. Where no chart contains a
derivation, as it is not in normal form, that of its lexical categories which shares most with it is learnt instead.
Sentences that have none, and those whose charts are over the limit with every beam, are left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from treebound.core.errors import InputError
from treebound.core.treebank import Treebank
from treebound.learning.checkpoint import key_of
from treebound.learning.conventions import conventions, meta_of
from treebound.learning.loop import Progress
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Charts, sentence_of
from treebound.systems.ccg.decoding import Supertagged
from treebound.systems.ccg.gold import UnreachableError, count_features, gold_chart
from treebound.systems.ccg.grammar import Grammar
from treebound.systems.ccg.jackknife import Jackknifed, jackknifed
from treebound.systems.ccg.joint_training import Example, JointTraining
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.optimise import Kept, fit
from treebound.systems.ccg.oracle import nearest
from treebound.systems.ccg.rule_features import Sentence
from treebound.systems.ccg.settings import Settings, levels
from treebound.systems.ccg.supertagger import Supertagger, train_supertagger
from treebound.systems.ccg.words import Words, words_of
from treebound.treebanks.ccg.columns import derivations_of
from treebound.treebanks.ccg.derivation import Derivation

Tagged = Supertagged | Jackknifed
SHOWN = 100  #: sentences after which it is told how far an evaluation is


def key_for(settings: Settings, train: Treebank) -> str:
    """Identifies a training; the dev treebank has no part in it."""
    return key_of(settings.as_dict(), [train])


def train_model(
    settings: Settings, train: Treebank, *, checkpoint: Path | None = None, progress: Progress | None = None
) -> CCGModel:
    """The model of a treebank whose columns hold derivations (`treebound.treebanks.ccg.columns`).

    InputError where they hold none, or none that the charts can contain.
    """
    meta, key = conventions(meta_of(train)), key_for(settings, train)
    derivations = read_derivations(train, meta["tag"])
    words = words_of(train, meta["tag"])
    cutoff, kept, tag_history = min(cutoff for _, cutoff in levels(settings.beams)), list[Path](), list[dict]()

    def learn(treebank: Treebank, fold: int | None = None) -> Supertagger:
        """A supertagger of all sentences, or of those of the other folds."""
        if checkpoint:
            kept.append(checkpoint.with_name(checkpoint.name + (".tags" if fold is None else f".tags.{fold}")))
        tagger, history = train_supertagger(
            words_of(treebank, meta["tag"]),
            treebank.strings("deprel"),
            bits=settings.tag_bits,
            cutoff=cutoff,
            l2=settings.tag_l2,
            iterations=settings.tag_iterations,
            kept=(kept[-1], key) if checkpoint else None,
            progress=progress and partial(_of_fold, progress, fold),
        )
        tag_history.extend({"part": "supertagger", **record} for record in (history if fold is None else ()))
        return tagger

    tagger = learn(train)
    tagged = jackknifed(train, words, tagger, settings.training_folds, learn)
    grammar = Grammar.read_off(derivations, tagger.categories, settings.rules == "all")
    seen = grammar.stated()
    task = Task.prepare(settings, grammar, tagger, words, derivations, progress, tagged)
    if not task.sentences:
        reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(task.left_out.items()))
        raise InputError(f"no derivation can be learnt from ({reasons})", hint="look at --training-beams and -limit")
    weights, history = task.fit(settings, Kept(checkpoint, key) if checkpoint else None, progress)
    jointly = checkpoint.with_name(checkpoint.name + ".joint") if checkpoint else None
    joint_history: list[dict] = []
    if settings.joint_epochs:
        training = JointTraining(task.charts, tagger, words, weights, task.examples())
        weights, tagger, joint_history = training.fit(settings, Kept(jointly, key) if jointly else None, progress)
    for path in (checkpoint, jointly, *kept):
        if path is not None:
            path.unlink(missing_ok=True)
    records = tag_history + [
        {"part": "parser", "sentences": len(task.sentences), "rebuilt": task.rebuilt, **r} for r in history
    ]
    records += [{"part": "joint", **record} for record in joint_history]
    return CCGModel(settings, meta, tagger, seen, weights, records, dict(sorted(task.left_out.items())), key)


def _of_fold(progress: Progress, fold: int | None, items: Iterable, what: str) -> Iterable:
    return progress(items, what if fold is None else f"fold {fold + 1}, {what}")


def read_derivations(treebank: Treebank, tag: str) -> list[Derivation]:
    """The derivations of a treebank. InputError where it holds none."""
    try:
        return derivations_of(treebank, tag)
    except ValueError as error:
        hint = "give an .auto file; treebound convert --to ccg makes them"
        raise InputError(f"no CCG derivations ({error})", hint=hint) from None


@dataclass
class Task:
    """Sentences with the lexical categories of their charts, and the features of their derivations.

    counts    float64[2^bits] over all gold derivations
    learnt    of every sentence its number, and the derivation that is learnt from
    left_out  reason -> sentences
    rebuilt   sentences whose derivations are others over the same lexical categories
    """

    charts: Charts
    sentences: list[Sentence]
    counts: np.ndarray
    learnt: list[tuple[int, Derivation]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    rebuilt: int = 0

    @classmethod
    def prepare(
        cls,
        settings: Settings,
        grammar: Grammar,
        tagger: Supertagger,
        words: Words,
        derivations: list[Derivation],
        progress: Progress | None,
        tagged: Tagged | None = None,
    ) -> Task:
        """Find the beam of every sentence; `tagged` gives charts their categories, by default the tagger itself."""
        size = 1 << settings.chart_bits
        task = cls(Charts(grammar, np.zeros(size), settings.training_limit), [], np.zeros(size))
        tagged = tagged or Supertagged(tagger, words)
        listed = range(len(derivations))
        for s in progress(listed, "charts of gold derivations") if progress else listed:
            gold = [tagger.number[str(leaf.category)] for leaf in derivations[s].leaves()]
            try:
                task._add(settings, tagged, s, gold, derivations[s])
            except UnreachableError as error:
                task.left_out[str(error)] += 1
        return task

    def _add(self, settings: Settings, tagged: Tagged, s: int, gold: list[int], derivation: Derivation) -> None:
        derivation = self._reachable(tagged.words, s, np.array(gold, np.int32), derivation)
        for beta, cutoff in levels(settings.training_beams):
            sentence = sentence_of(tagged.words, s, with_gold(tagged.lattice(s, beta, cutoff), gold))
            if self.charts.chart(sentence) is not None:  # it may add rules, and so number them anew
                chart = gold_chart(self.charts.grammar, sentence, derivation)
                count_features(self.charts.grammar, sentence, chart, self.counts)
                self.sentences.append(sentence)
                self.learnt.append((s, derivation))
                return
        self.left_out["a chart over the limit"] += 1

    def _reachable(self, words: Words, s: int, gold: np.ndarray, derivation: Derivation) -> Derivation:
        """The derivation, or if no chart contains it the one of its lexical categories that shares most with it."""
        sentence = sentence_of(words, s, Lattice(np.arange(len(gold) + 1, dtype=np.int32), gold))
        try:
            gold_chart(self.charts.grammar, sentence, derivation)
        except UnreachableError:
            found = nearest(self.charts, words, s, gold, derivation)
            if found is None:
                raise
            self.rebuilt += 1
            return found
        return derivation

    def examples(self) -> list[Example]:
        """What is learnt from, as joint training takes it."""
        pairs = zip(self.learnt, self.sentences, strict=True)
        return [Example(number, sentence, derivation) for (number, derivation), sentence in pairs]

    def fit(self, settings: Settings, kept: Kept | None, progress: Progress | None) -> tuple[np.ndarray, list[dict]]:
        """float32[2^bits] weights, zero but for features of gold derivations, and a record a round."""
        used = np.flatnonzero(self.counts)
        observed, expected, evaluations = self.counts[used], np.zeros(len(self.counts)), 0

        def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal evaluations
            evaluations += 1
            self.charts.weights[used] = w
            expected[:] = 0.0
            total = 0.0
            parts = range(0, len(self.sentences), SHOWN)
            for start in progress(parts, f"parser, evaluation {evaluations}") if progress else parts:
                for sentence in self.sentences[start : start + SHOWN]:
                    packed = self.charts.chart(sentence)
                    assert packed is not None
                    total += packed.expect(expected)
            return total - float(w @ observed), expected[used] - observed

        best, history = fit(objective, len(used), settings.l2, settings.iterations, kept)
        weights = np.zeros(len(self.counts), np.float32)
        weights[used] = best
        return weights, history


def with_gold(choices: Lattice, gold: list[int]) -> Lattice:
    """The lattice with the gold category of every word in it. O(C)."""
    word = np.repeat(np.arange(len(gold)), np.diff(choices.first))
    pairs = np.unique(np.concatenate([word << 32 | choices.tags, (np.arange(len(gold)) << 32) | np.array(gold)]))
    first = np.searchsorted(pairs >> 32, np.arange(len(gold) + 1))
    return Lattice(first.astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32))
