"""Training of a CCG parser: first the supertagger, then the log-linear model of derivations, both by L-BFGS.

The likelihood of a sentence is the probability of its gold derivation among all derivations of a chart (Clark & Curran
2007, section 5.1). The chart's lexical categories are the gold ones and those within the beam of the supertagger, or of
a supertagger that has not seen the sentence (`jackknife`). Beams are tried in order until the chart keeps within the
limit.

If no chart contains the gold derivation, because it is not in normal form, the derivation over the same lexical
categories that shares most with it is learnt instead. Sentences without one, and sentences whose charts exceed the
limit with every beam, are left out and counted.
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
from treebound.learning.conventions import conventions, training_meta
from treebound.learning.loop import Progress
from treebound.systems.ccg.chain import Lattice
from treebound.systems.ccg.charts import Charts, sentence_of
from treebound.systems.ccg.decoding import Supertagged
from treebound.systems.ccg.gold import UnreachableError, count_features, gold_chart
from treebound.systems.ccg.grammar import Grammar
from treebound.systems.ccg.jackknife import Jackknifed, jackknifed
from treebound.systems.ccg.joint_training import Example, JointTraining
from treebound.systems.ccg.model import CCGModel
from treebound.systems.ccg.optimise import TrainingCheckpoint, fit
from treebound.systems.ccg.oracle import nearest
from treebound.systems.ccg.rule_features import Sentence
from treebound.systems.ccg.settings import Settings, levels
from treebound.systems.ccg.supertagger import Supertagger, train_supertagger
from treebound.systems.ccg.words import Words, words_of
from treebound.treebanks.ccg.columns import derivations_of
from treebound.treebanks.ccg.derivation import Derivation

Tagged = Supertagged | Jackknifed
SHOWN = 100  #: sentences per step of the progress bar


def key_for(settings: Settings, train: Treebank) -> str:
    """Return the key of a training run: a digest of the settings and the training treebank."""
    return key_of(settings.as_dict(), [train])


def train_model(
    settings: Settings, train: Treebank, *, checkpoint: Path | None = None, progress: Progress | None = None
) -> CCGModel:
    """Train a model on a treebank whose columns hold derivations (`treebound.treebanks.ccg.columns`).

    InputError if the columns hold no derivations, or if none of them can be learnt.
    """
    meta, key = conventions(training_meta(train)), key_for(settings, train)
    derivations = read_derivations(train, meta["tag"])
    words = words_of(train, meta["tag"])
    cutoff, checkpoints, tag_history = min(cutoff for _, cutoff in levels(settings.beams)), list[Path](), list[dict]()

    def learn(treebank: Treebank, fold: int | None = None) -> Supertagger:
        """Train a supertagger on all sentences, or on the sentences outside one fold."""
        if checkpoint:
            checkpoints.append(checkpoint.with_name(checkpoint.name + (".tags" if fold is None else f".tags.{fold}")))
        tagger, history = train_supertagger(
            words_of(treebank, meta["tag"]),
            treebank.strings("deprel"),
            bits=settings.tag_bits,
            cutoff=cutoff,
            l2=settings.tag_l2,
            iterations=settings.tag_iterations,
            kept=(checkpoints[-1], key) if checkpoint else None,
            progress=progress and partial(_of_fold, progress, fold),
        )
        tag_history.extend({"part": "supertagger", **record} for record in (history if fold is None else ()))
        return tagger

    tagger = learn(train)
    tagged = jackknifed(train, words, tagger, settings.training_folds, learn)
    grammar = Grammar.read_off(derivations, tagger.categories, settings.rules == "all")
    seen_rules = grammar.stated()
    task = Task.prepare(settings, grammar, tagger, words, derivations, progress, tagged)
    if not task.sentences:
        reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(task.left_out.items()))
        raise InputError(
            f"no training derivation can be used ({reasons})", hint="check --training-beams and --training-limit"
        )
    weights, history = task.fit(settings, TrainingCheckpoint(checkpoint, key) if checkpoint else None, progress)
    jointly = checkpoint.with_name(checkpoint.name + ".joint") if checkpoint else None
    joint_history: list[dict] = []
    if settings.joint_epochs:
        training = JointTraining(task.charts, tagger, words, weights, task.examples())
        weights, tagger, joint_history = training.fit(
            settings, TrainingCheckpoint(jointly, key) if jointly else None, progress
        )
    for path in (checkpoint, jointly, *checkpoints):
        if path is not None:
            path.unlink(missing_ok=True)
    records = tag_history + [
        {"part": "parser", "sentences": len(task.sentences), "rebuilt": task.rebuilt, **r} for r in history
    ]
    records += [{"part": "joint", **record} for record in joint_history]
    return CCGModel(settings, meta, tagger, seen_rules, weights, records, dict(sorted(task.left_out.items())), key)


def _of_fold(progress: Progress, fold: int | None, items: Iterable, description: str) -> Iterable:
    """Show progress with the number of the fold in front of the description."""
    return progress(items, description if fold is None else f"fold {fold + 1}, {description}")


def read_derivations(treebank: Treebank, tag: str) -> list[Derivation]:
    """Return the derivations of a treebank. InputError if the treebank holds no derivations."""
    try:
        return derivations_of(treebank, tag)
    except ValueError as error:
        hint = "give an .auto file; treebound convert --to ccg writes such files"
        raise InputError(f"no CCG derivations ({error})", hint=hint) from None


@dataclass
class Task:
    """The training data of the parser: sentences with the categories of their charts, and features of gold derivations.

    counts    float64[2^bits], feature counts over all gold derivations;
    learnt    (number of the sentence, derivation that is learnt), one for each of `sentences`;
    left_out  reason -> number of sentences that are not learnt;
    rebuilt   number of sentences that learn another derivation over the same lexical categories
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
        """Find a beam for every sentence and return the training data.

        `tagged` gives the categories of charts; None takes the categories of `tagger`.
        """
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
        """Add sentence s with the categories of the first beam under which the chart keeps within the limit.

        If the chart exceeds the limit with every beam, count the sentence as left out. UnreachableError if no
        derivation over the gold categories can be learnt.
        """
        derivation = self._reachable(tagged.words, s, np.array(gold, np.int32), derivation)
        for beta, cutoff in levels(settings.training_beams):
            sentence = sentence_of(tagged.words, s, with_gold(tagged.lattice(s, beta, cutoff), gold))
            if self.charts.chart(sentence) is not None:  # may add rules, which changes their numbers
                chart = gold_chart(self.charts.grammar, sentence, derivation)
                count_features(self.charts.grammar, sentence, chart, self.counts)
                self.sentences.append(sentence)
                self.learnt.append((s, derivation))
                return
        self.left_out["a chart over the limit"] += 1

    def _reachable(self, words: Words, s: int, gold: np.ndarray, derivation: Derivation) -> Derivation:
        """Return `derivation` if a chart can contain it, else the most similar derivation with the same categories.

        UnreachableError if there is no derivation with these categories.
        """
        sentence = sentence_of(words, s, Lattice(np.arange(len(gold) + 1, dtype=np.int32), gold))
        try:
            gold_chart(self.charts.grammar, sentence, derivation)
        except UnreachableError:
            similar = nearest(self.charts, words, s, gold, derivation)
            if similar is None:
                raise
            self.rebuilt += 1
            return similar
        return derivation

    def examples(self) -> list[Example]:
        """Return the training examples in the form that joint training takes."""
        pairs = zip(self.learnt, self.sentences, strict=True)
        return [Example(number, sentence, derivation) for (number, derivation), sentence in pairs]

    def fit(
        self, settings: Settings, checkpoint: TrainingCheckpoint | None, progress: Progress | None
    ) -> tuple[np.ndarray, list[dict]]:
        """Return float32[2^bits] weights and one record per round; features without gold counts keep weight 0."""
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

        best, history = fit(objective, len(used), settings.l2, settings.iterations, checkpoint)
        weights = np.zeros(len(self.counts), np.float32)
        weights[used] = best
        return weights, history


def with_gold(choices: Lattice, gold: list[int]) -> Lattice:
    """Return the lattice with the gold category of every word added. O(number of categories)."""
    word = np.repeat(np.arange(len(gold)), np.diff(choices.first))
    pairs = np.unique(np.concatenate([word << 32 | choices.tags, (np.arange(len(gold)) << 32) | np.array(gold)]))
    first = np.searchsorted(pairs >> 32, np.arange(len(gold) + 1))
    return Lattice(first.astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32))
