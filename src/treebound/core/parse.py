"""What a decoder returns: a tree and how much is proved about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Status = Literal["optimal", "gap", "heuristic", "limit", "infeasible"]


@dataclass(frozen=True)
class Confidence:
    """How sure a tree is, as far as it was asked for.

    margins    float64[n + 1]: score of the tree minus that of the best tree without the word's arc, in the unit of
               `Parse.value`; inf where there is no other tree, nan (and at index 0) where it is not proved
    marginals  float64[n + 1]: probability of the word's arc in the log-linear model; nan at index 0 or where unknown
    trees      the best trees in order, the tree itself first
    complete   it is proved that no other tree scores more than the last of `trees`
    """

    margins: np.ndarray | None = None
    marginals: np.ndarray | None = None
    trees: tuple[Parse, ...] = ()
    complete: bool = False


@dataclass(frozen=True)
class Parse:
    """One tree with its certificate.

    heads   int32[n + 1], heads[0] = -1
    value   score of the tree under the problem (in the problem's integer units where it has them)
    bound   proved upper bound on the score of every tree; equals `value` when optimal; inf when nothing is proved
    status  optimal: proved; gap: a search that ended with bound > value; limit: a node or DP-call limit was hit, or no
            tree was met that is allowed; heuristic: the decoder proves nothing; infeasible: no tree exists (heads are
            then all 0). Integer programs prove up to the tolerance of a solver in floating point, not exactly
    work    dp_calls, nodes, root_solved and whatever else the decoder counts
    seconds wall seconds by phase: features, then backbone (writing its hypergraph) and search, or decode for decoders
            that do not split their time
    labels  int32[n + 1] numbers of labels, -1 for the root (`Model.label_names`), where the model has any
    record  what the decoder was asked to remember of its search (`branch_and_bound.record.SearchRecord`)
    confidence  margins, marginals and the k best trees, where they were asked for (`treebound.decoders.confidence`)
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
        """Return an optimal tree that one run of a dynamic program found, in a sixth of the constructor's time.

        The fields that are left out have their defaults, which are attributes of the class.
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
        """The same with labels, sharing the rest; many times a second, so faster than `dataclasses.replace`."""
        parse = object.__new__(Parse)
        parse.__dict__.update(self.__dict__, labels=labels)
        return parse

    @property
    def gap(self) -> float:
        """bound - value; 0.0 when optimal."""
        return max(0.0, self.bound - self.value)

    @property
    def certified(self) -> bool:
        """True if the tree is proved to be the best one."""
        return self.status == "optimal"
