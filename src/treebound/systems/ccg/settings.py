"""How a CCG parser is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from treebound.support.settings import Checked, Cost, option

Bits = Annotated[int, Field(ge=4, le=26)]
Iterations = Annotated[int, Field(ge=1, le=100_000)]
#: `beta:k` of some attempts
Beams = tuple[str, ...]


def levels(beams: tuple[str, ...]) -> tuple[tuple[float, int], ...]:
    """(beta, k) of every attempt. ValueError for what is none."""
    found = []
    for text in beams:
        beta, _, cutoff = text.partition(":")
        try:
            level = float(beta), int(cutoff)
        except ValueError:
            raise ValueError(f"{text!r} is no attempt; write beta:k, as 0.075:20") from None
        if not (0 <= level[0] <= 1 and 0 <= level[1] <= 1_000_000):
            raise ValueError(f"{text!r} is out of range; beta is 0 to 1, k 0 to 1000000")
        found.append(level)
    if not found:
        raise ValueError("no attempt; give one at least, as 0.075:20")
    return tuple(found)


def _checked(beams: Beams) -> Beams:
    levels(beams)
    return beams


Checked_beams = Annotated[Beams, AfterValidator(_checked)]

#: Auli & Lopez (2011), tables 1 and 3
ADAPTIVE = ("0.075:20", "0.03:20", "0.01:20", "0.005:20", "0.001:150")
REVERSE = ("0.001:150", "0.005:20", "0.01:20", "0.03:20", "0.075:20")
TRAINING = ("0.001:150", "0.001:20", "0.0045:20", "0.0055:20", "0.01:20", "0.05:20", "0.1:20")


@dataclass(frozen=True)
class Settings(Checked):
    """Of a supertagger and a parser by charts."""

    rules: Literal["seen", "all"] = option("seen", "seen: combinations of categories that TRAIN has; all: combinators.")
    chart_bits: Bits = option(22, "Log2 of the number of the parser's weights.")
    tag_bits: Bits = option(22, "Log2 of the number of the supertagger's weights.")
    tag_iterations: Iterations = option(50, "Iterations of L-BFGS of the supertagger, at most.")
    iterations: Iterations = option(50, "Iterations of L-BFGS of the parser, at most.")
    tag_l2: Cost = option(0.5, "What the squares of the supertagger's weights cost, by half.")
    l2: Cost = option(0.1, "What the squares of the parser's weights cost, by half.")
    training_beams: Checked_beams = option(
        TRAINING[1:],
        "beta:k of the attempts to make a chart for training, wide ones first; the paper's begin with 0.001:150.",
    )
    training_folds: Annotated[int, Field(ge=1, le=100)] = option(
        1, "Supertaggers that give charts for training their categories, each what it has not seen; 1: the one of all."
    )
    training_limit: Annotated[int, Field(ge=1, le=50_000_000)] = option(
        300_000, "Edges of the largest chart for training; a larger one is tried with the next beam."
    )
    joint_epochs: Annotated[int, Field(ge=0, le=1000)] = option(
        0, "Epochs of stochastic gradient descent on the joint model, once supertagger and parser are trained."
    )
    joint_rate: Annotated[float, Field(gt=0, le=100)] = option(0.5, "Of that: the first step's length.")
    joint_rounds: Annotated[int, Field(ge=1, le=1000)] = option(5, "Of that: iterations of belief propagation.")
    beams: Checked_beams = option(
        ADAPTIVE, "beta:k of the attempts to parse, narrow ones first, or wide ones: until there is a derivation."
    )
    limit: Annotated[int, Field(ge=1, le=50_000_000)] = option(1_000_000, "Edges of the largest chart for parsing.")
