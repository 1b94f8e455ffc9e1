"""Options for decoding the joint model of supertagger and parser."""

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

#: default number of iterations; for belief propagation one gains nearly everything (Auli & Lopez 2011, table 4)
ITERATIONS = {"bp": 1, "dd": 25, "exact": 50}


@dataclass(frozen=True)
class Integration(Checked):
    """Options of `treebound parse` for the joint model."""

    integrate: Literal["none", "bp", "dd", "exact"] = option(
        "none",
        "Decoder of the joint model of supertagger and parser: bp, belief propagation; dd, dual decomposition; "
        "exact, branch and bound. `none` (default) uses the parser's scores only.",
    )
    iterations: Annotated[int, Field(ge=0, le=1_000_000)] = option(
        0,
        "Number of iterations of the joint decoder. 0 chooses the default: 1 for bp, 25 for dd, 50 per node for exact.",
    )
    nodes: Annotated[int, Field(ge=1, le=1_000_000)] = option(
        1000, "Largest number of nodes of the exact search. A search that reaches it returns status `limit`."
    )
    record: bool = option(False, "Store a proof with every derivation.")
    step: Step = option(
        "polyak",
        "Step size of dual decomposition: `polyak` (default) follows the gap; `published` is 0.5, halved whenever the "
        "bound rises.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step != "polyak" and self.integrate != "dd":
            raise InputError("only dual decomposition has steps", hint="use --integrate dd")
        if self.record and self.integrate == "none":
            raise InputError("only the joint model has proofs", hint="use --integrate exact, dd or bp")

    @property
    def decoder(self) -> Callable[[Joint], Analysis] | None:
        """Return the function that decodes a joint model; None for the parser alone."""
        return None if self.integrate == "none" else self._decode

    def _decode(self, joint: Joint) -> Analysis:
        """Decode a joint model with the chosen decoder."""
        rounds = self.iterations or ITERATIONS[self.integrate]
        result: tuple[Analysis, list[Node]] | None
        if self.integrate == "bp":
            result = decode(joint, rounds), []
        elif self.integrate == "dd":
            result = decompose(joint, rounds, self.step)
        else:
            result = search(joint, rounds, self.nodes)
        if result is None:  # cannot happen with finite weights
            raise InputError("the supertagger forbids every derivation", hint="train the model again")
        return replace(result[0], proof=proof(joint, *result)) if self.record else result[0]
