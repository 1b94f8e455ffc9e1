"""An example sentence with the best tree of the parser and the best valid tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from treebound.constraints.ud import LabelledTree, load, violations
from treebound.core.parse import Parse
from treebound.core.treebank import Treebank
from treebound.plots.svg import Svg
from treebound.plots.tree import described, tree_svg
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.graph.validity import words_of


@dataclass(frozen=True)
class Example:
    """The best tree and the best valid tree of a sentence.

    sentence      a treebank of one sentence
    plain, valid  the parses without rules and with rules
    labels        the labels of the two parses, n strings each
    broken        ids of the rules that `plain` breaks, without duplicates
    unit          number of integer steps in a score of 1.0
    """

    sentence: Treebank
    plain: Parse
    valid: Parse
    labels: tuple[list[str], list[str]]
    broken: list[str]
    unit: float

    @property
    def changed(self) -> list[int]:
        """Return the words, counted from 1, whose head or label differs between the trees."""
        pairs = zip(*self.labels, strict=True)
        return [m for m, (a, b) in enumerate(pairs, 1) if a != b or self.plain.heads[m] != self.valid.heads[m]]

    def drawn(self, valid: bool) -> Svg:
        """Draw one of the trees, with labels under the words. Arcs that differ between the trees are highlighted."""
        heads = (self.valid if valid else self.plain).heads.tolist()
        marked = {(heads[m], m) for m in self.changed}
        words, about = self.sentence[0].strings("form"), described(self.sentence[0])
        drawn = tree_svg(words, heads, tags=self.labels[valid], about=about, marked=marked or None)
        name = "Best valid tree" if valid else "Best tree without the rules of the validator"
        return replace(drawn, caption=f"{name}: “{' '.join(words)}”")


def example(path: Path, sentence: Treebank) -> Example | None:
    """Parse a sentence with a model, without rules and with rules. Return None if there is no model at `path`."""
    if not path.is_file() or not path.stat().st_size:
        return None
    model = Model.load(path)
    plain, valid = (Parser(model, valid=rules).parse(sentence)[0] for rules in (None, "ud"))
    labels = model.label_names(plain), model.label_names(valid)
    names, space = model.labelling.names, model.spec.space
    heads = np.asarray(plain.heads, np.int32)
    tree = LabelledTree(words_of(sentence, 0), heads, ("", *labels[0]), tuple(names), space)
    broken = list(dict.fromkeys(violation.rule for violation in violations(load("ud").rules, tree)))
    return Example(sentence, plain, valid, labels, broken, model.unit)
