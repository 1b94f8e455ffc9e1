"""How a transition-based parser is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from treebound.support.settings import Checked, Cost, Epochs, Rate, Seed, option


@dataclass(frozen=True)
class Settings(Checked):
    """Of a parser by transitions. The names of `transitions` are those of `configuration.SYSTEMS`."""

    transitions: Literal["arc-eager", "arc-eager-rooted", "arc-standard", "arc-hybrid", "swap"] = option(
        "arc-eager", "arc-eager, arc-eager-rooted, arc-standard, arc-hybrid, or swap, whose trees may cross."
    )
    learning: Literal["static", "dynamic", "beam", "svm", "quadratic", "memory"] = option(
        "dynamic",
        "Perceptron of a static or dynamic oracle (only arc-eager and arc-hybrid have one), beam: of whole sequences, "
        "svm: LIBLINEAR, with scikit-learn; quadratic: LIBSVM's kernel, memory: TiMBL, greedy ones for few features "
        "such as F6.",
    )
    features: str = option(
        "auto",
        "Feature model: F1 to F6, zhang-nivre, zhang-nivre-coarse, zhang-nivre-morphology, or the last model of a file "
        "of yours. auto chooses by --attributes: zhang-nivre-morphology with feats, lemma or both, else "
        "zhang-nivre-coarse.",
    )
    epochs: Epochs = option(6, "Passes over TRAIN; the best one on DEV is kept.")
    bits: Annotated[int, Field(ge=4, le=24)] = option(18, "Log2 of the number of rows of weights.")
    beam: Annotated[int, Field(ge=1, le=1024)] = option(1, "Sequences of transitions in the beam; 1: greedy.")
    update: Literal["early", "max-violation"] = option(
        "max-violation", "early or max-violation: where --learning beam learns from a sequence."
    )
    explore: Annotated[float, Field(ge=0, le=1)] = option(
        0.9, "Chance of going on with the parser's own choice, of the dynamic oracle after the first epoch."
    )
    svm_cost: Rate | None = option(None, "C of support vector machines.  [default: 0.1 of svm, 0.5 of quadratic]")
    gamma: Rate = option(0.2, "Of the quadratic kernel (gamma x.y + r)^2.")
    r: Cost = option(0.6, "Of the quadratic kernel.")
    prediction: Literal["combined", "branching"] = option(
        "branching",
        "Of a quadratic kernel: transition and label at once, or its kind first and then its label.",
    )
    tolerance: Rate = option(0.1, "At which the training of a quadratic kernel stops.")
    neighbours: Annotated[int, Field(ge=1, le=1000)] = option(5, "k of memory-based learning.")
    rare: Annotated[int, Field(ge=1, le=1000)] = option(
        3, "l of memory-based learning: values seen less often are compared by overlap."
    )
    roots: Literal["several", "single"] = option(
        "single", "Of the trees found; single has no effect on arc-eager-rooted."
    )
    seed: Seed = option(1, "Of the order of sentences; equal seeds give equal models.")
