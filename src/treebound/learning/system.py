"""Base classes with the parts of `treebound.core.system.System` that most systems share."""

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
    """A parser whose parses hold labels as positions in `names`; without labels `names` is empty."""

    names: Sequence[str] | Vocabulary = ()

    def label_names(self, parse: Parse) -> list[str]:
        """Return the n labels of a parse; each is `_` if the parse has no labels."""
        if parse.labels is None:
            return ["_"] * (len(parse.heads) - 1)
        return [self.names[i] for i in parse.labels[1:].tolist()]


class InBatches(Naming):
    """A parser that prepares the words of a whole treebank at once and divides them among workers.

    A subclass has the methods `words(treebank)` and `parse_words(words)`. `words(treebank).part(i, j)` must return the
    words of sentences i to j - 1.
    """

    words: Callable[[Treebank], Any]
    parse_words: Callable[[Any], list[Parse]]

    def parse(
        self, treebank: Treebank, workers: int = 1, progress: Progress | None = None, scheduler: str | None = None
    ) -> list[Parse]:
        """Parse a treebank and return one Parse per sentence, in order."""
        shared = self, self.words(treebank)
        return in_batches(_parsed, shared, len(treebank), workers=workers, scheduler=scheduler, progress=progress)


def _parsed(shared: tuple[InBatches, Any], part: tuple[int, int]) -> list[Parse]:
    """Parse the sentences part[0] to part[1] - 1; `shared` is the parser and the words of the treebank."""
    parser, words = shared
    return parser.parse_words(words.part(*part))


class Learned:
    """A system that learns trees.

    model         class of the system's models, which has `load(path)`
    parser_class  function or class that makes a parser from a model and options
    options       names of the options of `parser_class`; None if `parser_class` checks the options itself
    """

    model: type[Any]
    parser_class: Any
    options: tuple[str, ...] | None = ()
    trees = True
    attributes = True

    def adapted_settings(self, settings: Any, train: Treebank) -> Any:
        """Return the settings unchanged."""
        return settings

    def key(self, settings: Any, train: Treebank, dev: Treebank) -> str:
        """Return an empty key: a model is trained again whenever it is requested."""
        return ""

    def load(self, path: Path) -> Any:
        """Read a model file."""
        return self.model.load(path)

    def parser(self, model: Any, **options: Any) -> Any:
        """Return a parser for a model. Raises InputError for an unknown option."""
        if self.options is not None and (unknown := [name for name in options if name not in self.options]):
            known = f"; the options are {', '.join(self.options)}" if self.options else ""
            raise InputError(f"a parser of this model has no option {unknown[0]!r}", hint=f"leave it out{known}")
        return self.parser_class(model, **options)


class Labelled(Learned):
    """A system that learns labelled trees, independently of the development treebank."""

    def adapted_settings(self, settings: Any, train: Treebank) -> Any:
        """Return the settings unchanged. Raises InputError for a treebank without labels."""
        if not has_labels(train):
            raise InputError("not every word has a label", hint="train another system, for instance graph")
        return settings

    def report(self, model: Any, dev: Treebank) -> str:
        """Return UAS and LAS on the development treebank as text."""
        parser = self.parser(model)
        parses = parser.parse(dev)
        score = evaluate(dev, [p.heads for p in parses], [parser.label_names(p) for p in parses]).summary
        las = f", LAS {score['las']:.2f}" if "las" in score else ""
        return f"dev UAS {score['uas']:.2f}{las}"
