"""The labelled model under hard constraints as a system."""

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
    """A labelled model with the integer program under its constraints (Riedel & Clarke 2006, section 3).

    valid    rules of the validator of Universal Dependencies that trees keep beside the model's own constraints: a name
             or file as for `treebound.constraints.ud.load`; None: no rules
    options  the others of OPTIONS, as for `IncrementalProgram`
    """

    def __init__(self, model: LabelledModel, valid: str | None = None, **options: Any):
        self.model, self.names = model, model.names
        rules = [] if valid is None else [hard.CONSTRAINTS["ud"](rules=valid, assume_empty=True)]
        self.decoder = IncrementalProgram([*hard.parse(model.constraints), *rules], **options)
        self.reads = tuple(name for name in ("upos", "xpos", "feats", "lemma") if name in self._seen())

    def _seen(self) -> set[str]:
        return {"upos", self.model.meta["tag"], self.model.meta["coarse"], *self.model.attributes}

    def parse(
        self,
        treebank: Treebank,
        workers: int = 1,
        progress: Progress | None = None,
        scheduler: str | None = None,
    ) -> list[Parse]:
        """The best tree of each sentence that keeps the constraints; `heuristic` where none does: the best tree.

        InputError, before anything is parsed, for a sentence whose arcs would not fit the limit of memory.
        """
        check_lengths(treebank, self.model.longest)
        given = self, treebank, TokenTable(under(self.model.meta, treebank))
        found = spread(_parsed, given, range(len(treebank)), workers=workers, scheduler=scheduler, short=True)
        return list(progress(found, "parse") if progress else found)

    def parsed(self, treebank: Treebank, table: TokenTable, i: int) -> Parse:
        """Sentence i."""
        problem = self.model.problem(table, i, self.model.spec.k, self.model.meta["single_root"])
        found = self.decoder.decode_labelled(problem, words_of(treebank[i]))
        if found.labels is not None:
            return replace(found, record=None)
        tree, labels = chu_liu_edmonds(problem)
        return replace(tree, labels=labels, bound=math.inf, status="heuristic")


def _parsed(given: tuple[Parser, Treebank, TokenTable], i: int) -> Parse:
    parser, treebank, table = given
    try:
        return parser.parsed(treebank, table, i)
    except TooLargeError as error:
        raise TooLargeError(f"sentence {i + 1}: {error.reason}", path=treebank.name, hint=error.hint) from None


class Constrained(Labelled):
    """`treebound.core.system.System`."""

    settings, model, finder, options = Settings, LabelledModel, Parser, OPTIONS

    def fitted(self, settings: Settings, train: Treebank) -> Settings:
        """As they are. InputError for a treebank without labels, and for constraints that are none."""
        _rules(settings)
        return super().fitted(settings, train)

    def key(self, settings: Settings, train: Treebank, dev: Treebank) -> str:
        """Of settings, constraints, templates and the training treebank."""
        return key_for(settings, train)

    def train(self, settings: Settings, train: Treebank, dev: Treebank, **how: Any) -> LabelledModel:
        """The model of the last epoch; dev is not looked at."""
        decoder = IncrementalProgram(_rules(settings)).decode_labelled if settings.in_loop else None
        return train_labelled(settings, train, decoder=decoder, **how)


def _rules(settings: Settings) -> list[Any]:
    name = settings.constraints
    return hard.parse(hard.text(name), name if Path(name).is_file() else f"{name}.toml") if name else list(hard.TREE)
