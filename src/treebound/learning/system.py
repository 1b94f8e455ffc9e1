"""What most systems do alike: the rest of a `treebound.core.system.System` is its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.core.vocabulary import Vocabulary
from treebound.learning.loop import Progress
from treebound.metrics.attachment import evaluate, has_labels
from treebound.support.workers import in_batches


class Naming:
    """A parser whose parses hold the numbers of their labels in `names`, if any."""

    names: Sequence[str] | Vocabulary = ()

    def label_names(self, parse: Parse) -> list[str]:
        """The n labels of a parse; `_` where it has none."""
        if parse.labels is None:
            return ["_"] * (len(parse.heads) - 1)
        return [self.names[i] for i in parse.labels[1:].tolist()]


class InBatches(Naming):
    """A parser of words that are made of a whole treebank at once, and that are cut into parts for workers.

    A subclass has `words(treebank)`, whose `part(i, j)` is that of the sentences from i to before j, and
    `parse_words(words)`.
    """

    words: Callable[[Treebank], Any]
    parse_words: Callable[[Any], list[Parse]]

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """One a sentence, in order."""
        given = self, self.words(treebank)
        return in_batches(_parsed, given, len(treebank), workers=workers, scheduler=scheduler, progress=progress)


def _parsed(given: tuple[InBatches, Any], part: tuple[int, int]) -> list[Parse]:
    """The sentences from part[0] to before part[1]."""
    parser, words = given
    return parser.parse_words(words.part(*part))


class Learned:
    """A system that learns trees.

    model    the class of its models, which has `load(path)`
    finder   what makes a parser of a model and options, its class for instance
    options  those that `finder` takes; None: it checks them itself
    """

    model: type[Any]
    finder: Any
    options: tuple[str, ...] | None = ()
    trees = True
    attributes = True

    def fitted(self, settings: Any, train: Treebank) -> Any:
        """As they are."""
        return settings

    def key(self, settings: Any, train: Treebank, dev: Treebank) -> str:
        """None: models are trained again where they are asked for again."""
        return ""

    def load(self, path: Path) -> Any:
        """Read a model file."""
        return self.model.load(path)

    def parser(self, model: Any, **options: Any) -> Any:
        """What parses by a model. InputError for an option that it does not have."""
        if self.options is not None and (unknown := [name for name in options if name not in self.options]):
            there = f"; there is {', '.join(self.options)}" if self.options else ""
            raise InputError(f"a parser of this model has no option {unknown[0]!r}", hint=f"leave it out{there}")
        return self.finder(model, **options)


class Labelled(Learned):
    """A system that learns labelled trees, whatever dev is like."""

    def fitted(self, settings: Any, train: Treebank) -> Any:
        """As they are. InputError for a treebank without labels."""
        if not has_labels(train):
            raise InputError("not every word has a label", hint="train another system, for instance graph")
        return settings

    def report(self, model: Any, dev: Treebank) -> str:
        """Scores on dev."""
        parser = self.parser(model)
        parses = parser.parse(dev)
        score = evaluate(dev, [p.heads for p in parses], [parser.label_names(p) for p in parses]).summary
        las = f", LAS {score['las']:.2f}" if "las" in score else ""
        return f"dev UAS {score['uas']:.2f}{las}"
