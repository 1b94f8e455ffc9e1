"""One search, step by step: node after node of branch and bound in words, beside the tree that it has grown by then.

All steps stand below each other; the script of the pages shows one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from studies.site.show import NOTHING, typeset
from treebound.core.problem import Problem
from treebound.plots.search_tree import search_tree_svg
from treebound.scores.statement import problem

LIMIT = 24  #: nodes that are told; a list of hundreds tells nothing
NONE_YET = 1e15  #: bounds beyond it say that there is no tree, or none yet


class Steps:
    """The search of a record (`Parse.record`) of a sentence as an ordered list, a node an entry."""

    def __init__(self, record: Any, words: Sequence[str]):
        self.nodes, self.bounds, self.words = list(record.nodes), list(record.bounds), words

    def __repr__(self) -> str:
        return f"{len(self.nodes)} nodes, {len(self.bounds)} calls of the dynamic program"

    def _repr_html_(self) -> str:
        entries = []
        for i, node in enumerate(self.nodes[:LIMIT], 1):
            picture = search_tree_svg(self.nodes[:i], self.words).markup
            entries.append(f"<li><p>{typeset(escape(self.told(node)))}</p>\n<div class='scroll'>{picture}</div></li>")
        left = len(self.nodes) - LIMIT
        more = f"<p>{left} more nodes are not shown.</p>" if left > 0 else ""
        return f'<ol class="steps">{"".join(entries)}</ol>{more}'

    def told(self, node: dict[str, Any]) -> str:
        """What happens in a node: what it asks for, how its bound moves, and why it is left."""
        calls = [bound for bound in self.bounds if bound["node"] == node["id"]]
        asks = "All trees."
        if node["arc"] is not None:
            h, m = node["arc"]
            arc = f"{self.words[h - 1] if h else 'root'} → {self.words[m - 1]}"
            asks = f"Trees {'with' if node['value'] else 'without'} {arc}, of node {node['parent']}."
        if not calls:
            return f"{asks} No call is spent on it. {self._left(node, float('nan'))}"
        first, last = calls[0], calls[-1]
        span = f"call {first['call']}" if first is last else f"calls {first['call']} to {last['call']}"
        moved = _score(first["ub"]) if first is last else f"from {_score(first['ub'])} to {_score(last['ub'])}"
        best = _score(last["lb"])
        return f"{asks} Upper bound, {span}: {moved}; best tree so far: {best}. {self._left(node, last['lb'])}"

    def _left(self, node: dict[str, Any], best: float) -> str:
        if node["ub"] < -NONE_YET:
            return "No tree is left: closed."
        if node["status"] == "branched":
            below = next((n["arc"] for n in self.nodes if n["parent"] == node["id"]), None)
            if below is None:
                return "It is split."
            return f"Bound and tree are apart, so it is split on {self._name(below)}."
        if node["status"] == "closed":
            return "No tree in it scores more than the best one: closed."
        return f"{node['status']}."

    def _name(self, arc: Sequence[int]) -> str:
        h, m = arc
        return f"{self.words[h - 1] if h else 'root'} → {self.words[m - 1]}"


def _score(value: float) -> str:
    return f"{value:.3f}" if abs(value) < NONE_YET else NOTHING


def drawn(n: int, seed: int, rich: float = 0.5) -> Problem:
    """Scores drawn at random for n words, in thousandths: arcs, every two siblings and every chain of two arcs, these
    with deviation `rich` beside 1 of arcs. What a search does with them needs no model.
    """
    rng, size = np.random.default_rng(seed), n + 1

    def normal(scale: float, *axes: int) -> np.ndarray:
        return np.round(1000 * scale * rng.normal(size=axes)).astype(np.int64)

    h, s, m = np.ogrid[:size, :size, :size]
    siblings = np.where((h > 0) & (s < m) & (s > 0) & (h != s) & (h != m), normal(rich, size, size, size), 0)
    chains = np.where((h != s) & (h != m) & (s != m) & (s > 0) & (m > 0), normal(rich, size, size, size), 0)
    return problem(normal(1.0, size, size), siblings=siblings, grandparents=chains, unit=1000)
