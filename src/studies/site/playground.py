"""Explore one sentence: require and forbid arcs, leave factors out, prune harder, and watch the search.

    play = Playground(model, sentence)
    play.explore(k=5, without=["sibling"], forbid=[(2, 1)])
    play.widgets(taggers)         # the same with buttons and a text field for the sentence, in JupyterLab

Every result comes from the scored problem and the search that `treebound parse` uses. The options change the problem,
never the search, so that status and bound keep their meaning.
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
from studies.site.sentences import joined
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
ANY = [("(any)", -1)]  #: entry of a list of words that selects no word


def typed(sentence: str) -> Treebank:
    """Read one sentence from lines of form, lemma, coarse tag, fine tag and features.

    A column that is `_` or missing is unknown. Raises InputError for a line with more columns, and for a text without
    words.
    """
    rows = [line.split() for line in sentence.strip().splitlines()]
    if not rows:
        raise InputError("no words", hint="write one word per line: form, lemma, coarse tag, fine tag, features")
    for number, row in enumerate(rows, 1):
        if len(row) > 5:
            raise InputError(
                f"word {number} has {len(row)} columns", hint="give form, lemma, coarse tag, fine tag, features"
            )
    lines = ("\t".join([str(i), *row, *"_____"[len(row) :], "_", "_", "_", "_"]) for i, row in enumerate(rows, 1))
    return document.read(io.BytesIO(("\n".join(lines) + "\n\n").encode()), format="conllu", annotated=False).treebank


def tagged(text: str, taggers: Taggers) -> Treebank:
    """Read one sentence from plain text and tag it.

    Punctuation marks become words of their own. Raises InputError for a text without words.
    """
    return taggers.apply(typed("\n".join(re.findall(r"\w+(?:['’-]\w+)*|[^\w\s]", text))))


@dataclass(frozen=True)
class Explored:
    """A parse of a problem, with its drawings and tables.

    words      forms of the sentence
    unit       number of integer steps in a score of 1.0
    marked     arcs to mark in the tree
    condition  words that say how the problem was changed, for the caption of the tree; empty: it was not changed
    """

    words: Sequence[str]
    parse: Parse
    unit: float
    marked: Collection[Arc]
    condition: str = ""

    @cached_property
    def tree(self) -> Svg:
        """Draw the best tree with the margin of each word's arc below the word.

        The margin is the score difference between the best tree and the best tree without the arc.
        """
        confidence = self.parse.confidence
        margins = None if confidence is None or confidence.margins is None else confidence.margins
        tags = None if margins is None else [f"{margin / self.unit:.2f}" for margin in margins[1:]]
        drawn = tree_svg(self.words, self.parse.heads.tolist(), tags=tags, marked=self.marked or None)
        below = ", with the margin of each word below it" if tags else ""
        return replace(drawn, caption=f"Best tree{self.condition} of “{' '.join(self.words)}”{below}")

    @property
    def certificate(self) -> Table:
        """Return score, bound, status and work as a table."""
        return Table(certificate(self.parse, self.unit), "Score, bound and status of this tree", digits=4)

    @property
    def alternatives(self) -> Table:
        """Return the k best trees as a table. Raises ValueError if the parse has no list of trees."""
        return Table(
            tree_table(self.words, self.parse, self.unit),
            "The best trees of this sentence: score below the best tree, and words with another head",
            digits=3,
        )

    @property
    def arcs(self) -> Table:
        """Return every word with its head, margin and marginal as a table."""
        return Table(
            word_table(self.words, self.parse, self.unit),
            "Head of every word of this sentence, with its margin, its marginal and its next best head",
            digits=3,
        )

    @property
    def bounds(self) -> Svg:
        """Draw the upper and lower bound against the calls of the dynamic program."""
        trace = self.parse.record.bounds
        return as_svg(charts.bounds(trace), f"Upper and lower bound over {len(trace)} dynamic-program calls")

    def search(self, steps: int | None = None) -> Svg:
        """Draw the search tree after `steps` nodes; None: after all nodes."""
        nodes = self.parse.record.nodes
        return search_tree_svg(nodes[:steps], self.words)

    def work(self, best: Explored) -> Remarks:
        """Compare the work of this search with the work of the search for the same tree with its defaults."""
        calls, nodes = (
            [f"{explored.parse.work[key]:,} {noun}{'s' * (explored.parse.work[key] != 1)}" for explored in (best, self)]
            for key, noun in (("dp_calls", "call"), ("nodes", "node"))
        )
        return Remarks(
            (
                f"With its defaults, the search needs {calls[0]} of the dynamic program and {nodes[0]}. With these "
                f"options, it needs {calls[1]} and {nodes[1]}.",
            )
        )

    def lost(self, best: Explored, word: int, margin: float) -> Remarks:
        """Compare the best tree with this tree, which lacks one arc of the best tree, and state the margin of the arc.

        best    the unrestricted result
        word    the dependent of the missing arc
        margin  margin of the missing arc in the best tree
        """
        head = best.parse.heads[word]
        arc = f"{self.words[head - 1] if head else 'root'} → {self.words[word - 1]}"
        search = f"{best.parse.status}, {best.parse.work['dp_calls']} calls of the dynamic program"
        loss = f"{(best.parse.value - self.parse.value) / best.unit:.4f} less ({self.parse.status})"
        sentence = (
            f"The best tree of this sentence scores {best.parse.value / best.unit:.4f} ({search}). The best tree "
            f"without the least certain arc, {arc}, scores {loss}. The margin of the arc is {margin:.4f}."
        )
        return Remarks((sentence,))

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return self.tree._repr_mimebundle_() | {"text/plain": self.tree.alt}


class Playground:
    """A sentence with a model, whose problem can be changed and searched.

    sentence  typed lines (see `typed`), or a treebank, whose first sentence is taken
    k         candidate heads per word; None takes the number with which the model was trained
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
        """Return the scored problem with the changes that the arguments of `explore` request.

        Raises InputError for an unknown arc or family, or a pruned arc.
        """
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
            raise InputError(f"the pruner removed {h} → {m}", hint="raise k")
        heads = {m: h for h, m in require}
        excluded = np.array([arc in set(forbid) or heads.get(arc[1], arc[0]) != arc[0] for arc in arcs], bool)
        parts = {name: table for name, table in problem.parts.items() if name not in without}
        return replace(problem, arc=np.where(excluded, -np.inf, problem.arc), parts=parts)

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
        """Find the best tree of the changed problem, with margins and marginals, and the `trees` best trees.

        The margins, marginals and further trees are computed only if the best tree is proved.

        k        candidate heads per word; None: the value of the playground
        without  factor families to leave out
        require  arcs (head, modifier) that the tree must have; words are numbered from 1, the root is 0
        forbid   arcs that the tree must not have
        search   options of branch and bound, for instance `backbone="carreras"`

        Raises InputError if no tree satisfies the restrictions.
        """
        problem = self.problem(k or self.k, without, require, forbid)
        search.setdefault("space", self.model.spec.space)
        decoder = BranchAndBound(record=True, **search)
        parse = decoder.decode(problem)
        if parse.status == "infeasible":
            raise InputError(
                "no tree has all required arcs and no forbidden arc", hint="require or forbid less, or raise k"
            )
        if parse.certified:
            parse = Assess(margins=True, marginals=True, k=trees)(decoder, problem, parse)
        changes = {"with": require, "without": forbid}
        condition = "".join(f" {word} {_arcs(self.words, arcs)}" for word, arcs in changes.items() if arcs)
        return Explored(self.words, parse, problem.unit or 1.0, frozenset(require), condition)

    def widgets(self, taggers: Taggers | None = None) -> Any:
        """Return a widget of ipywidgets whose buttons call `explore`; see `Buttons`."""
        return Buttons(self, taggers).box


def _arcs(words: Sequence[str], arcs: Collection[Arc]) -> str:
    """Return the names of arcs: `root → saw and saw → her`."""
    return joined([f"{words[h - 1] if h else 'root'} → {words[m - 1]}" for h, m in arcs])


class Buttons:
    """Controls for `Playground.explore`: candidate heads, factors, a required and a forbidden arc, and search steps.

    taggers  taggers for a typed sentence; None: there is no text field for a sentence
    found    the displayed result; None if there is no tree, and `said` then states the reason
    """

    def __init__(self, play: Playground, taggers: Taggers | None = None):
        self.play, self.taggers = play, taggers
        self.found: Explored | None = None
        self.text = ui.Text(
            description="sentence", placeholder="type a sentence and press Enter", continuous_update=False
        )
        self.k = ui.IntSlider(min=1, max=1, description="heads k", continuous_update=False)
        self.factors = ui.SelectMultiple(options=play.families, value=play.families, description="factors")
        self.require, self.forbid = (
            tuple(ui.Dropdown(options=ANY, description=name) for name in (action, "→"))
            for action in ("require", "forbid")
        )
        self.steps = ui.IntSlider(value=1, min=1, max=1, description="nodes")
        self.said, self.shown = ui.Label(), ui.HTML()
        for control in (self.k, self.factors, *self.require, *self.forbid):
            control.observe(self.search, "value")
        self.steps.observe(self.show, "value")
        self.text.observe(self.type, "value")
        rows = ((self.k, self.steps), (self.factors,), self.require, self.forbid)
        line = [self.text] if taggers is not None else []
        self.box = ui.VBox([*line, *map(ui.HBox, rows), self.said, self.shown])
        self.start()

    def start(self) -> None:
        """Fill the lists with the words of the sentence, require and forbid no arc, and show the best tree."""
        n = len(self.play.words)
        words = [("root", 0), *((f"{i} {word}", i) for i, word in enumerate(self.play.words, 1))]
        self.starting = True  # setting the lists triggers events: search only once, at the end
        for heads, modifiers in (self.require, self.forbid):
            heads.options, modifiers.options = [*ANY, *words], [*ANY, *words[1:]]
        self.k.max, self.k.value = n, min(self.play.k or n, n)
        self.starting = False
        self.search()

    def type(self, _: Any = None) -> None:
        """Replace the sentence by the sentence that the user typed, with tags that the taggers predict."""
        assert self.taggers is not None
        try:
            self.play = Playground(self.play.model, tagged(self.text.value, self.taggers), self.play.k)
        except InputError as error:
            self.said.value = str(error)
        else:
            self.start()

    def search(self, _: Any = None) -> None:
        """Search with the chosen restrictions and show the result."""
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
        """Show tree, certificate, alternatives, bounds, and the search tree after the chosen number of nodes."""
        explored, parts = self.found, []
        if explored is not None:
            alternatives = [explored.alternatives] if explored.parse.certified else []
            tables = [table._repr_html_() for table in (explored.certificate, *alternatives)]
            parts = [explored.tree.markup, *tables, explored.bounds.markup, explored.search(self.steps.value).markup]
        self.shown.value = "\n".join(parts)
