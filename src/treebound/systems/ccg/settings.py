"""Training settings of a CCG parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from treebound.support.settings import Checked, Cost, option

Bits = Annotated[int, Field(ge=4, le=26)]
Iterations = Annotated[int, Field(ge=1, le=100_000)]
#: attempts to parse a sentence, each written `beta:k`: beam of the supertagger and cut-off of its dictionary
Beams = tuple[str, ...]


def levels(beams: tuple[str, ...]) -> tuple[tuple[float, int], ...]:
    """Return (beta, k) for each of `beams`, texts of the form `beta:k`.

    ValueError for a text of another form, for a number out of range, and if there is no text.
    """
    attempts = []
    for text in beams:
        beta, _, cutoff = text.partition(":")
        try:
            level = float(beta), int(cutoff)
        except ValueError:
            raise ValueError(f"{text!r} is no attempt; write beta:k, for instance 0.075:20") from None
        if not (0 <= level[0] <= 1 and 0 <= level[1] <= 1_000_000):
            raise ValueError(f"{text!r} is out of range; beta must be 0 to 1, k must be 0 to 1000000")
        attempts.append(level)
    if not attempts:
        raise ValueError("no attempt; give at least one, for instance 0.075:20")
    return tuple(attempts)


def _checked(beams: Beams) -> Beams:
    """Return `beams` unchanged. Raises the ValueError of `levels` for invalid texts."""
    levels(beams)
    return beams


Checked_beams = Annotated[Beams, AfterValidator(_checked)]

#: beams of Auli & Lopez (2011), tables 1 and 3
ADAPTIVE = ("0.075:20", "0.03:20", "0.01:20", "0.005:20", "0.001:150")
REVERSE = ("0.001:150", "0.005:20", "0.01:20", "0.03:20", "0.075:20")
TRAINING = ("0.001:150", "0.001:20", "0.0045:20", "0.0055:20", "0.01:20", "0.05:20", "0.1:20")


@dataclass(frozen=True)
class Settings(Checked):
    """Training settings of a supertagger and a chart parser."""

    rules: Literal["seen", "all"] = option(
        "seen",
        "Rules of the charts: seen combines two categories only if TRAIN combines them; "
        "all also applies the combinatory rules.",
    )
    chart_bits: Bits = option(22, "Base-2 logarithm of the number of weights of the parser.")
    tag_bits: Bits = option(22, "Base-2 logarithm of the number of weights of the supertagger.")
    tag_iterations: Iterations = option(50, "Largest number of L-BFGS iterations for the supertagger.")
    iterations: Iterations = option(50, "Largest number of L-BFGS iterations for the parser.")
    tag_l2: Cost = option(0.5, "L2 penalty of the supertagger: half this factor times the sum of squared weights.")
    l2: Cost = option(0.1, "L2 penalty of the parser: half this factor times the sum of squared weights.")
    training_beams: Checked_beams = option(
        TRAINING[1:],
        "Attempts to build the chart of a training sentence, each written beta:k, widest beam first. beta keeps the "
        "categories with at least beta times the best probability. Words seen k times or more have only the categories "
        "seen with their form. Auli & Lopez (2011) begin with 0.001:150.",
    )
    training_folds: Annotated[int, Field(ge=1, le=100)] = option(
        1,
        "Number of folds for jackknifing. The charts of each fold get their categories from a supertagger that "
        "was trained on the other folds. 1 uses one supertagger, trained on all sentences.",
    )
    training_limit: Annotated[int, Field(ge=1, le=50_000_000)] = option(
        300_000, "Largest number of edges of a training chart. Beyond it, the next of --training-beams is tried."
    )
    joint_epochs: Annotated[int, Field(ge=0, le=1000)] = option(
        0,
        "Number of epochs of joint training, which follows the separate training of supertagger and parser. "
        "0 omits joint training.",
    )
    joint_rate: Annotated[float, Field(gt=0, le=100)] = option(0.5, "Learning rate of the first joint epoch.")
    joint_rounds: Annotated[int, Field(ge=1, le=1000)] = option(
        5, "Number of iterations of belief propagation per sentence in joint training."
    )
    beams: Checked_beams = option(
        ADAPTIVE,
        "Attempts to parse a sentence, each written beta:k. beta keeps categories with at least beta times the best "
        "probability. Words seen k times or more have only categories seen with their form. "
        "Narrow-to-wide lists stop at the first derivation, wide-to-narrow lists at the first chart within --limit.",
    )
    limit: Annotated[int, Field(ge=1, le=50_000_000)] = option(
        1_000_000, "Largest number of edges of a chart in parsing. Larger charts are refused."
    )
