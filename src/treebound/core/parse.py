"""The result of a decoder: a tree and how much is proved about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Status = Literal["optimal", "gap", "heuristic", "limit", "infeasible"]


@dataclass(frozen=True)
class Confidence:
    """Margins, marginals and best trees that describe how certain a parse is; each is present only if it was requested.

    - `margins`: float64[n + 1] in the unit of `Parse.value`. The margin of a word is the score of the tree minus the
      score of the best tree without the word's arc. It is inf if every tree has the arc. It is nan at index 0, and for
      words whose margin is not proved.
    - `marginals`: float64[n + 1]. The probability of the word's arc in the log-linear model; nan at index 0 or if
      unknown.
    - `trees`: the best trees in order; the first is the tree itself.
    - `complete`: True if it is proved that no other tree scores more than the last of `trees`.
    """

    margins: np.ndarray | None = None
    marginals: np.ndarray | None = None
    trees: tuple[Parse, ...] = ()
    complete: bool = False


@dataclass(frozen=True)
class Parse:
    """A tree with its score and what is proved about it.

    - `heads`: int32[n + 1], heads[0] = -1.
    - `value`: score of the tree under the problem, in the problem's integer units if it has them.
    - `bound`: proved upper bound on the score of every tree. It equals `value` when optimal, and is inf when nothing is
      proved.
    - `status`: what is proved; see the list below.
    - `work`: counters of the decoder: `dp_calls`, `nodes`, `root_solved` and others.
    - `seconds`: wall seconds by phase. The phases are `features`, then `backbone` (writing the hypergraph) and
      `search`. Decoders that do not separate the last two report `decode`.
    - `labels`: int32[n + 1] label numbers, -1 for the root (`Model.label_names`); None if the model has no labels.
    - `record`: the stored search, if the decoder was set to record it (`branch_and_bound.record.SearchRecord`).
    - `confidence`: margins, marginals and the k best trees, if requested (`treebound.decoders.confidence`).

    Values of `status`:

    - `optimal`: the tree is proved to be the best one.
    - `gap`: the search ended with bound > value.
    - `limit`: the search reached a limit of nodes or dynamic-program calls, or met no allowed tree.
    - `heuristic`: the decoder proves nothing.
    - `infeasible`: no tree exists. All heads are then 0.

    Integer programs prove optimality only up to the floating-point tolerance of the solver.
    """

    heads: np.ndarray
    value: float
    bound: float
    status: Status
    work: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    labels: np.ndarray | None = None
    record: Any = None
    confidence: Confidence | None = None

    @classmethod
    def best(cls, heads: np.ndarray, value: float) -> Parse:
        """Return the parse of an optimal tree that one run of a dynamic program found.

        The method takes a sixth of the constructor's time. The remaining fields have their defaults, which are
        attributes of the class.
        """
        parse: Parse = object.__new__(cls)
        fields = parse.__dict__
        fields["heads"] = heads
        fields["value"] = fields["bound"] = value
        fields["status"] = "optimal"
        fields["work"] = {"dp_calls": 1}
        fields["seconds"] = {}
        return parse

    def with_labels(self, labels: np.ndarray) -> Parse:
        """Return a copy with labels, which shares all other fields.

        Parsers call it many times per second; it is faster than `dataclasses.replace`.
        """
        parse = object.__new__(Parse)
        parse.__dict__.update(self.__dict__, labels=labels)
        return parse

    @property
    def gap(self) -> float:
        """Return bound - value, which is 0.0 when the tree is optimal."""
        return max(0.0, self.bound - self.value)

    @property
    def certified(self) -> bool:
        """Return whether the tree is proved to be the best one."""
        return self.status == "optimal"
