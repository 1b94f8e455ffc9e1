"""Show one sentence with its tree, the bounds of the search for it, and the check of the proof.

The sentence and its scores are ours, so that the first page needs neither a model nor a treebank.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np
import pandas as pd

import treebound
from studies.site import charts
from studies.site.show import as_csv, typeset
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.plots.svg import Svg, as_svg
from treebound.plots.tree import tree_svg

WORDS = ("We", "saw", "a", "bird", "with", "red", "wings", "near", "the", "old", "bridge", ".")
#: heads of a sensible analysis, whose arcs get a bonus; entry 0 is the root
SENSIBLE = (-1, 2, 0, 4, 2, 7, 7, 4, 11, 11, 11, 4, 2)
#: integer steps in a score of 1.0; bonus of a sensible arc; standard deviation of the scores of pairs; random seed
UNIT, BONUS, PAIRS, SEED = 100, 3.0, 0.7, 14

CAPTION = "A sentence with its best tree, and the bounds of the search for it"
SIZE = (5.2, 2.1)  #: width and height of the figure of bounds in inches, which is half as wide as a page


@dataclass(frozen=True)
class Example:
    """A decoded sentence, with its tree, the bounds of its search, and the faults that the checker finds.

    problem  the scored sentence
    parse    its best tree, with the record of the search
    faults   result of `treebound.check`; empty if the proof is right
    """

    problem: Problem
    parse: Parse
    faults: tuple[str, ...]

    @cached_property
    def tree(self) -> Svg:
        """Draw the best tree."""
        return tree_svg(WORDS, self.parse.heads.tolist())

    @cached_property
    def bounds(self) -> Svg:
        """Draw the upper and the lower bound of the search, call by call."""
        figure = charts.bounds(self.parse.record.bounds)
        figure.set_size_inches(*SIZE)
        figure.axes[0].set_xlabel("calls of the dynamic program; grey lines: next node")
        calls, nodes = self.parse.work["dp_calls"], self.parse.work["nodes"]
        alt = (
            f"The upper bound falls and the score of the best tree rises, until both are {self.parse.value / UNIT:.2f} "
            f"after {calls} dynamic programs in {nodes} nodes"
        )
        return as_svg(figure, alt)

    @property
    def says(self) -> str:
        """Describe the result in two sentences: score, bound, status and the answer of the checker."""
        parse = self.parse
        work = f"{parse.work['dp_calls']} dynamic programs in {parse.work['nodes']} nodes of the search tree"
        checked = "finds no fault in the proof" if not self.faults else f"finds faults: {'; '.join(self.faults)}"
        return (
            f"Status {parse.status}: after {work}, the tree scores {parse.value / UNIT:.2f} and the upper bound on all "
            f"trees is {parse.bound / UNIT:.2f}. The independent checker, which shares no code with the search, "
            f"{checked}."
        )

    def __repr__(self) -> str:
        return self.says

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        calls = pd.DataFrame(self.parse.record.bounds).set_index("call")  # ub and lb: upper and lower bound
        return {"text/plain": CAPTION, "text/html": self._repr_html_(), "text/csv": as_csv(calls.astype(float))}

    def _repr_html_(self) -> str:
        return (
            f'<figure class="pair"><div>{_scalable(self.tree.markup)}</div>'
            f"<div>{_scalable(self.bounds.markup)}</div>"
            f"<figcaption>{escape(typeset(self.says))}</figcaption></figure>"
        )


def _scalable(markup: str) -> str:
    """Return SVG markup without its title, which would cover the whole picture as a tooltip."""
    before, opened, inside = markup.partition("<title>")
    return before + inside.partition("</title>")[2] if opened else markup


def example() -> Example:
    """Decode and check the sentence. Arcs, pairs of siblings and chains of two arcs have random scores.

    The arcs of a sensible analysis get a bonus, so that the best tree is one that a reader accepts.
    """
    rng, size = np.random.default_rng(SEED), len(WORDS) + 1

    def drawn(scale: float, *axes: int) -> np.ndarray:
        return UNIT * scale * rng.normal(size=axes)

    scores = drawn(1.0, size, size)
    scores[SENSIBLE[1:], np.arange(1, size)] += UNIT * BONUS
    pairs, paths = np.triu(drawn(PAIRS, size, size, size), 1), drawn(PAIRS, size, size, size)
    arc, siblings, chains = (np.round(array).astype(np.int64) for array in (scores, pairs, paths))
    problem = treebound.problem(arc, siblings=siblings, grandparents=chains, unit=UNIT)
    parse = treebound.decode(arc, siblings=siblings, grandparents=chains, unit=UNIT, record=True)
    return Example(problem, parse, tuple(treebound.check(problem, parse)))
