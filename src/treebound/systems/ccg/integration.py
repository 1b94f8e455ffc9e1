"""How a parser decodes the joint model of supertagger and charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from treebound.checker.joint_proofs import Node
from treebound.core.errors import InputError
from treebound.support.settings import Checked, option
from treebound.systems.ccg.belief_propagation import decode
from treebound.systems.ccg.dual_decomposition import Step, decompose
from treebound.systems.ccg.joint import Analysis, Joint
from treebound.systems.ccg.joint_search import proof, search

#: iterations by default: one of belief propagation gains nearly everything (Auli & Lopez 2011, table 4)
ITERATIONS = {"bp": 1, "dd": 25, "exact": 50}


@dataclass(frozen=True)
class Integration(Checked):
    """Options of `treebound parse`."""

    integrate: Literal["none", "bp", "dd", "exact"] = option("none", "Decoder of the joint model, if any.")
    iterations: Annotated[int, Field(ge=0, le=1_000_000)] = option(0, "Of the decoder; 0: 1, 25, 50 of bp, dd, exact.")
    nodes: Annotated[int, Field(ge=1, le=1_000_000)] = option(1000, "Of a search, at most.")
    record: bool = option(False, "Keep the proofs.")
    step: Step = option(
        "polyak",
        "Step size of dd: `polyak` (default) follows the gap; `published` is 0.5, halved whenever the bound rises.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step != "polyak" and self.integrate != "dd":
            raise InputError("only dual decomposition has steps", hint="give --integrate dd")
        if self.record and self.integrate == "none":
            raise InputError("only the joint model has proofs", hint="give --integrate exact, dd or bp")

    @property
    def decoder(self) -> Callable[[Joint], Analysis] | None:
        """What decodes a joint model; None for the parser alone."""
        return None if self.integrate == "none" else self._decode

    def _decode(self, joint: Joint) -> Analysis:
        rounds = self.iterations or ITERATIONS[self.integrate]
        found: tuple[Analysis, list[Node]] | None
        if self.integrate == "bp":
            found = decode(joint, rounds), []
        elif self.integrate == "dd":
            found = decompose(joint, rounds, self.step)
        else:
            found = search(joint, rounds, self.nodes)
        if found is None:  # weights of a model are finite
            raise InputError("the supertagger forbids every derivation", hint="train the model again")
        return replace(found[0], proof=proof(joint, *found)) if self.record else found[0]
