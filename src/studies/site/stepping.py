"""Describe a search of branch and bound node by node, each node with the part of the search tree that exists so far.

The page contains all steps one below the other; the script of the page shows one step at a time.
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

LIMIT = 24  #: largest number of nodes that are shown, since a list of hundreds of nodes is unreadable
NONE_YET = 1e15  #: a larger bound means that there is no tree, or no tree yet


class Steps:
    """The search that produced a record (`Parse.record`), as an ordered list with one entry per node."""

    def __init__(self, record: Any, words: Sequence[str]):
        self.nodes, self.bounds, self.words = list(record.nodes), list(record.bounds), words

    def __repr__(self) -> str:
        return f"{len(self.nodes)} nodes, {len(self.bounds)} calls of the dynamic program"

    def _repr_html_(self) -> str:
        entries = []
        for i, node in enumerate(self.nodes[:LIMIT], 1):
            picture = search_tree_svg(self.nodes[:i], self.words).markup
            entries.append(
                f"<li><p>{typeset(escape(self.describe(node)))}</p>\n<div class='scroll'>{picture}</div></li>"
            )
        hidden = len(self.nodes) - LIMIT
        note = f"<p>{hidden} more nodes are not shown.</p>" if hidden > 0 else ""
        return f'<ol class="steps">{"".join(entries)}</ol>{note}'

    def describe(self, node: dict[str, Any]) -> str:
        """Describe a node: its restriction, the change of its bound, and whether the search closes or splits it."""
        calls = [bound for bound in self.bounds if bound["node"] == node["id"]]
        restriction = "All trees of the sentence."
        if node["arc"] is not None:
            h, m = node["arc"]
            arc = f"{self.words[h - 1] if h else 'root'} → {self.words[m - 1]}"
            restriction = f"The trees of node {node['parent']} {'with' if node['value'] else 'without'} {arc}."
        if not calls:
            return f"{restriction} The dynamic program is not called. {self._outcome(node, float('nan'))}"
        first, last = calls[0], calls[-1]
        span = f"call {first['call']}" if first is last else f"calls {first['call']} to {last['call']}"
        change = _score(first["ub"]) if first is last else f"from {_score(first['ub'])} to {_score(last['ub'])}"
        best = _score(last["lb"])
        return (
            f"{restriction} Upper bound, {span}: {change}; score of the best tree so far: {best}. "
            f"{self._outcome(node, last['lb'])}"
        )

    def _outcome(self, node: dict[str, Any], best: float) -> str:
        """Describe whether the search closes or splits a node; `best` is the score of the best tree so far."""
        if node["ub"] < -NONE_YET:
            return "The node has no tree and is closed."
        if node["status"] == "branched":
            split_arc = next((n["arc"] for n in self.nodes if n["parent"] == node["id"]), None)
            if split_arc is None:
                return "The node is split."
            return f"The bound exceeds the best score, so the node is split on {self._name(split_arc)}."
        if node["status"] == "closed":
            return "No tree of the node scores more than the best tree, so the node is closed."
        return f"The status of the node is {node['status']}."

    def _name(self, arc: Sequence[int]) -> str:
        """Return an arc as text: the form of the head, an arrow, and the form of the dependent."""
        h, m = arc
        return f"{self.words[h - 1] if h else 'root'} → {self.words[m - 1]}"


def _score(value: float) -> str:
    """Format a score, or a dash if there is none yet."""
    return f"{value:.3f}" if abs(value) < NONE_YET else NOTHING


def drawn(n: int, seed: int, rich: float = 0.5) -> Problem:
    """Draw random integer scores with unit 1,000 for a sentence of n words, to show a search without a model.

    There are scores of arcs (standard deviation 1), of all pairs of siblings and of all chains of two arcs (standard
    deviation `rich`).
    """
    rng, size = np.random.default_rng(seed), n + 1

    def normal(scale: float, *axes: int) -> np.ndarray:
        return np.round(1000 * scale * rng.normal(size=axes)).astype(np.int64)

    h, s, m = np.ogrid[:size, :size, :size]
    siblings = np.where((h > 0) & (s < m) & (s > 0) & (h != s) & (h != m), normal(rich, size, size, size), 0)
    chains = np.where((h != s) & (h != m) & (s != m) & (s > 0) & (m > 0), normal(rich, size, size, size), 0)
    return problem(normal(1.0, size, size), siblings=siblings, grandparents=chains, unit=1000)
