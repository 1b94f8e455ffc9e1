"""The labelled model with hard constraints as a system."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from treebound import constraints as hard
from treebound.core.limits import TooLargeError
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.decoders.exact.programs.incremental import IncrementalProgram, chu_liu_edmonds
from treebound.features.long_sentences import check_lengths
from treebound.features.tokens import TokenTable
from treebound.learning.conventions import under
from treebound.learning.loop import Progress
from treebound.learning.system import Labelled, Naming
from treebound.support.workers import spread
from treebound.systems.constrained.model import LabelledModel, key_for, train_labelled, words_of
from treebound.systems.constrained.settings import Settings

OPTIONS = ("valid", "formulation", "start", "relaxation", "space", "time_limit", "max_iterations")


class Parser(Naming):
    """A labelled model and the integer program under its constraints (Riedel & Clarke 2006, section 3).

    valid    rules of the validator of Universal Dependencies that trees must keep in addition to the model's own
             constraints: a name or file for `treebound.constraints.ud.load`; None adds no rules
    options  the OPTIONS except `valid`, passed to `IncrementalProgram`
    """

    def __init__(self, model: LabelledModel, valid: str | None = None, **options: Any):
        self.model, self.names = model, model.names
        rules = [] if valid is None else [hard.CONSTRAINTS["ud"](rules=valid, assume_empty=True)]
        self.decoder = IncrementalProgram([*hard.parse(model.constraints), *rules], **options)
        self.reads = tuple(name for name in ("upos", "xpos", "feats", "lemma") if name in self._seen())

    def _seen(self) -> set[str]:
        """Return the columns that constraints and features may read."""
        return {"upos", self.model.meta["tag"], self.model.meta["coarse"], *self.model.attributes}

    def parse(
        self,
        treebank: Treebank,
        workers: int = 1,
        progress: Progress | None = None,
        scheduler: str | None = None,
    ) -> list[Parse]:
        """Return the best tree of each sentence that satisfies the constraints.

        If no tree does, return the best unconstrained tree with status `heuristic`. InputError is raised before parsing
        if the arcs of a sentence would exceed the memory limit.
        """
        check_lengths(treebank, self.model.longest)
        shared = self, treebank, TokenTable(under(self.model.meta, treebank))
        parses = spread(_parsed, shared, range(len(treebank)), workers=workers, scheduler=scheduler, short=True)
        return list(progress(parses, "parse") if progress else parses)

    def parsed(self, treebank: Treebank, table: TokenTable, i: int) -> Parse:
        """Parse sentence i with the model's `k` best labels of every arc."""
        problem = self.model.problem(table, i, self.model.spec.k, self.model.meta["single_root"])
        parse = self.decoder.decode_labelled(problem, words_of(treebank[i]))
        if parse.labels is not None:
            return replace(parse, record=None)
        tree, labels = chu_liu_edmonds(problem)
        return replace(tree, labels=labels, bound=math.inf, status="heuristic")


def _parsed(shared: tuple[Parser, Treebank, TokenTable], i: int) -> Parse:
    """Parse sentence i in a worker process; TooLargeError names the sentence."""
    parser, treebank, table = shared
    try:
        return parser.parsed(treebank, table, i)
    except TooLargeError as error:
        raise TooLargeError(f"sentence {i + 1}: {error.reason}", path=treebank.name, hint=error.hint) from None


class Constrained(Labelled):
    """The constrained model as a system (`treebound.core.system.System`)."""

    settings, model, parser_class, options = Settings, LabelledModel, Parser, OPTIONS

    def adapted_settings(self, settings: Settings, train: Treebank) -> Settings:
        """Return the settings unchanged. InputError for a treebank without labels or for invalid constraints."""
        _rules(settings)
        return super().adapted_settings(settings, train)

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Return the key of a training run: a digest of settings, constraints, templates and training treebank."""
        return key_for(settings, train)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **options: Any) -> LabelledModel:
        """Train and return the model of the last epoch. The development treebank is not used."""
        decoder = IncrementalProgram(_rules(settings)).decode_labelled if settings.in_loop else None
        return train_labelled(settings, train, decoder=decoder, **options)


def _rules(settings: Settings) -> list[Any]:
    """Return the constraints that the settings name, or only the tree constraints if the settings name none."""
    name = settings.constraints
    return hard.parse(hard.text(name), name if Path(name).is_file() else f"{name}.toml") if name else list(hard.TREE)
