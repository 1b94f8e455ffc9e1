"""A sentence to play with: require and forbid arcs, leave factors out, prune harder, and watch the search.

    play = Playground(model, sentence)
    play.explore(k=5, without=["sibling"], forbid=[(2, 1)])
    play.widgets(taggers)         # the same with buttons, in JupyterLab, and a line to type a sentence

Every answer comes from the same scored problem and search as `treebound parse`: what is taken away changes the problem,
never the search, so that status and bound mean what they always do.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import ipywidgets as ui
import numpy as np

from studies.site import charts
from studies.site.provenance import certificate, tree_table, word_table
from studies.site.show import Remarks, Table
from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.treebank import Treebank
from treebound.decoders.confidence import Assess
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.plots.search_tree import search_tree_svg
from treebound.plots.svg import Svg, as_svg
from treebound.plots.tree import tree_svg
from treebound.systems.graph.model import Model
from treebound.systems.graph.parser import Parser
from treebound.systems.tagging.several import Taggers
from treebound.treebanks import document

Arc = tuple[int, int]
ANY = [("(any)", -1)]  #: what a choice of words offers besides them


def typed(sentence: str) -> Treebank:
    """One sentence typed as lines of form, lemma, coarse tag, fine tag, features; `_`, or nothing, is not known.

    Raises InputError for a line of more columns, and where there is no word.
    """
    rows = [line.split() for line in sentence.strip().splitlines()]
    if not rows:
        raise InputError("no words", hint="give a word a line: form, lemma, coarse tag, fine tag, features")
    for number, row in enumerate(rows, 1):
        if len(row) > 5:
            raise InputError(
                f"word {number} has {len(row)} columns", hint="give form, lemma, coarse tag, fine tag, features"
            )
    lines = ("\t".join([str(i), *row, *"_____"[len(row) :], "_", "_", "_", "_"]) for i, row in enumerate(rows, 1))
    return document.read(io.BytesIO(("\n".join(lines) + "\n\n").encode()), format="conllu", annotated=False).treebank


def tagged(text: str, taggers: Taggers) -> Treebank:
    """One sentence in plain words; signs are words of their own, tags and all else are the taggers'.

    Raises InputError where there is no word.
    """
    return taggers.apply(typed("\n".join(re.findall(r"\w+(?:['’-]\w+)*|[^\w\s]", text))))


@dataclass(frozen=True)
class Explored:
    """A parse of a problem, with what there is to see of it."""

    words: Sequence[str]
    parse: Parse
    unit: float
    marked: Collection[Arc]

    @cached_property
    def tree(self) -> Svg:
        """The best tree; under each word its margin, what the best tree without the word's arc scores less."""
        confidence = self.parse.confidence
        margins = None if confidence is None or confidence.margins is None else confidence.margins
        tags = None if margins is None else [f"{margin / self.unit:.2f}" for margin in margins[1:]]
        return tree_svg(self.words, self.parse.heads.tolist(), tags=tags, marked=self.marked or None)

    @property
    def certificate(self) -> Table:
        """Score, bound, status and work."""
        return Table(certificate(self.parse, self.unit), "What the search says about this tree", digits=4)

    @property
    def alternatives(self) -> Table:
        """The k best trees. ValueError where they were not asked for."""
        return Table(tree_table(self.words, self.parse, self.unit), "The best trees", digits=3)

    @property
    def arcs(self) -> Table:
        """Every word with its head, margin and marginal."""
        return Table(word_table(self.words, self.parse, self.unit), "Every word's head and how sure it is", digits=3)

    @property
    def bounds(self) -> Svg:
        """Upper and lower bound over the calls of the dynamic program, as a figure."""
        trace = self.parse.record.bounds
        return as_svg(charts.bounds(trace), f"Upper and lower bound over {len(trace)} calls")

    def search(self, steps: int | None = None) -> Svg:
        """The search tree, as it is after so many nodes."""
        nodes = self.parse.record.nodes
        return search_tree_svg(nodes[:steps], self.words)

    def lost(self, best: Explored, word: int, margin: float) -> Remarks:
        """What this tree, which lacks the arc of a word, scores less than the best one, beside that arc's margin."""
        head = best.parse.heads[word]
        arc = f"{self.words[head - 1] if head else 'root'} → {self.words[word - 1]}"
        found = f"{best.parse.status}, {best.parse.work['dp_calls']} calls of the dynamic program"
        less = f"{(best.parse.value - self.parse.value) / best.unit:.4f} less ({self.parse.status})"
        said = (
            f"The best of all trees for this one sentence scores {best.parse.value / best.unit:.4f} ({found}); without "
            f"its least certain arc, {arc}, the best scores {less}; the margin of that arc is {margin:.4f}."
        )
        return Remarks((said,))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": self.tree._repr_svg_(), "text/plain": self.tree.alt}


class Playground:
    """A sentence and a model. `sentence`: typed lines (see `typed`) or a treebank, of which the first one is taken.

    families  the factor families that may be left out
    """

    def __init__(self, model: Model, sentence: str | Treebank, k: int | None = None):
        self.model = model
        self.sentence = typed(sentence) if isinstance(sentence, str) else sentence.select(np.zeros(1, np.int64))
        self.words = self.sentence[0].strings("form")
        self.k = k if k is not None else model.spec.k
        self.families = list(model.spec.families)

    def problem(
        self, k: int | None, without: Collection[str], require: Collection[Arc], forbid: Collection[Arc]
    ) -> Problem:
        """The scored problem, changed. InputError for an arc or a family that there is not."""
        if unknown := set(without) - set(self.families):
            raise InputError(f"no factors {min(unknown)!r}", hint=f"choose from {', '.join(self.families)}")
        n = len(self.words)
        for h, m in (*require, *forbid):
            if not (0 <= h <= n and 1 <= m <= n and h != m):
                raise InputError(f"no arc {h} → {m}", hint=f"words are numbered 1 to {n}, the root is 0")
        problem = Parser(self.model, k=k).problem(self.sentence, 0)
        arcs = list(zip(problem.head.tolist(), problem.mod.tolist(), strict=True))
        if pruned := set(require) - set(arcs):
            h, m = min(pruned)
            raise InputError(f"the pruner took {h} → {m} away", hint="raise k")
        heads = {m: h for h, m in require}
        out = np.array([arc in set(forbid) or heads.get(arc[1], arc[0]) != arc[0] for arc in arcs], bool)
        parts = {name: table for name, table in problem.parts.items() if name not in without}
        return replace(problem, arc=np.where(out, -np.inf, problem.arc), parts=parts)

    def explore(
        self,
        k: int | None = None,
        *,
        without: Collection[str] = (),
        require: Collection[Arc] = (),
        forbid: Collection[Arc] = (),
        trees: int = 0,
        **search: Any,
    ) -> Explored:
        """The best tree of the changed problem, with margins, and the `trees` best ones.

        k        candidate heads a word; None: as the playground was made
        require  arcs (head, modifier), words from 1, 0 is the root; forbid: the same
        search   options of branch and bound, `config="published"` for one
        Raises InputError where no tree is left.
        """
        problem = self.problem(k or self.k, without, require, forbid)
        search.setdefault("space", self.model.spec.space)
        decoder = BranchAndBound(record=True, **search)
        parse = decoder.decode(problem)
        if parse.status == "infeasible":
            raise InputError("no tree has all these arcs and none of those", hint="require or forbid less, or raise k")
        if parse.certified:
            parse = Assess(margins=True, marginals=True, k=trees)(decoder, problem, parse)
        return Explored(self.words, parse, problem.unit or 1.0, frozenset(require))

    def widgets(self, taggers: Taggers | None = None) -> Any:
        """`explore` with buttons, as a widget of ipywidgets: see `Buttons`."""
        return Buttons(self, taggers).box


class Buttons:
    """Candidate heads, factors, an arc to require and one to forbid, steps of the search, and what comes of them.

    taggers  of a sentence that is typed; None: there is no line to type one
    found    what is shown; None where there is no such tree, and `said` says why
    """

    def __init__(self, play: Playground, taggers: Taggers | None = None):
        self.play, self.taggers = play, taggers
        self.found: Explored | None = None
        self.text = ui.Text(description="sentence", placeholder="type one, then Enter", continuous_update=False)
        self.k = ui.IntSlider(min=1, max=1, description="heads k", continuous_update=False)
        self.factors = ui.SelectMultiple(options=play.families, value=play.families, description="factors")
        self.require, self.forbid = (
            tuple(ui.Dropdown(options=ANY, description=name) for name in (what, "→")) for what in ("require", "forbid")
        )
        self.steps = ui.IntSlider(value=1, min=1, max=1, description="nodes")
        self.said, self.shown = ui.Label(), ui.HTML()
        for one in (self.k, self.factors, *self.require, *self.forbid):
            one.observe(self.search, "value")
        self.steps.observe(self.show, "value")
        self.text.observe(self.type, "value")
        rows = ((self.k, self.steps), (self.factors,), self.require, self.forbid)
        line = [self.text] if taggers is not None else []
        self.box = ui.VBox([*line, *map(ui.HBox, rows), self.said, self.shown])
        self.start()

    def start(self) -> None:
        """Offer the words of the sentence, nothing required or forbidden, and show its best tree."""
        n = len(self.play.words)
        words = [("root", 0), *((f"{i} {word}", i) for i, word in enumerate(self.play.words, 1))]
        self.starting = True  # what is offered changes choice by choice: one search is enough
        for heads, modifiers in (self.require, self.forbid):
            heads.options, modifiers.options = [*ANY, *words], [*ANY, *words[1:]]
        self.k.max, self.k.value = n, min(self.play.k or n, n)
        self.starting = False
        self.search()

    def type(self, _: Any = None) -> None:
        """Take the typed sentence instead, with the taggers' tags."""
        assert self.taggers is not None
        try:
            self.play = Playground(self.play.model, tagged(self.text.value, self.taggers), self.play.k)
        except InputError as error:
            self.said.value = str(error)
        else:
            self.start()

    def search(self, _: Any = None) -> None:
        """Explore what is chosen, and show it."""
        if self.starting:
            return
        left_out = [name for name in self.play.families if name not in self.factors.value]
        require, forbid = ([(h.value, m.value)] * (min(h.value, m.value) >= 0) for h, m in (self.require, self.forbid))
        try:
            self.found = self.play.explore(self.k.value, without=left_out, require=require, forbid=forbid, trees=5)
            self.said.value = f"{self.found.parse.status}: {self.found.parse.value / self.found.unit:.4f}"
            self.steps.max = self.steps.value = len(self.found.parse.record.nodes)
        except InputError as error:
            self.found, self.said.value = None, str(error)
        self.show()

    def show(self, _: Any = None) -> None:
        """Tree, certificate, alternatives, bounds, and the search tree after as many nodes as are chosen."""
        found, seen = self.found, []
        if found is not None:
            alternatives = [found.alternatives] if found.parse.certified else []
            tables = [table._repr_html_() for table in (found.certificate, *alternatives)]
            seen = [found.tree.markup, *tables, found.bounds.markup, found.search(self.steps.value).markup]
        self.shown.value = "\n".join(seen)
