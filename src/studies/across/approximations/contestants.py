"""Decoders that the stage `approximations` compares, with their options."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

EXACT = "branch and bound"


class Contestant(NamedTuple):
    """A decoder of the comparison: its registered name, fixed options, and options that params.yaml sets.

    `settings` maps an option of the decoder to the field of `Approximations` that has the value of the option.
    """

    decoder: str
    options: Mapping[str, Any] = MappingProxyType({})
    settings: Mapping[str, str] = MappingProxyType({})


CONTESTANTS: dict[str, Contestant] = {
    EXACT: Contestant("branch-and-bound", settings={"max_dp_calls": "calls"}),
    **{f"capped, {c}": Contestant("capped", {"calls": c}) for c in (1, 10, 100)},
    "backbone only": Contestant("backbone-only"),
    **{f"reranked, {k}": Contestant("rerank", {"k": k}) for k in (50, 500)},
    **{f"beam, {w}": Contestant("beam", {"width": w}) for w in (1, 8, 64)},
    "climbing": Contestant("greedy"),
    "Gibbs": Contestant("gibbs"),
    "random walk": Contestant("random-walk"),
    **{f"dual decomposition, {i}": Contestant("dual-decomposition", {"iterations": i}) for i in (30, 300)},
    "AD3": Contestant("ad3"),
    "belief propagation": Contestant("belief-propagation"),
    "linear relaxation": Contestant("linear-relaxation", settings={"time_limit": "seconds"}),
}
