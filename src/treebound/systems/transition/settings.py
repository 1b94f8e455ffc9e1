"""Settings for the training of a transition-based parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from treebound.support.settings import Checked, Cost, Epochs, Rate, Seed, option


@dataclass(frozen=True)
class Settings(Checked):
    """Settings of a transition-based parser. The values of `transitions` are the keys of `configuration.SYSTEMS`."""

    transitions: Literal["arc-eager", "arc-eager-rooted", "arc-standard", "arc-hybrid", "swap"] = option(
        "arc-eager",
        "Transition system: arc-eager, arc-eager-rooted, arc-standard, arc-hybrid or swap. Only swap builds trees with "
        "crossing arcs.",
    )
    learning: Literal["static", "dynamic", "beam", "svm", "quadratic", "memory"] = option(
        "dynamic",
        "Learner: static, dynamic, beam, svm, quadratic or memory. A perceptron learns from a static oracle, from a "
        "dynamic oracle (arc-eager and arc-hybrid only), or from whole transition sequences (beam). The classifiers "
        "svm (LIBLINEAR, through scikit-learn), quadratic (LIBSVM's quadratic kernel) and memory (TiMBL) learn from a "
        "static oracle. With quadratic and memory the parser is greedy; choose a small feature model, for instance F6.",
    )
    features: str = option(
        "auto",
        "Feature model: F1 to F6, zhang-nivre, zhang-nivre-coarse, zhang-nivre-morphology, or the name of your own "
        "feature file (its last model). auto takes zhang-nivre-morphology if --attributes has feats or lemma, and "
        "zhang-nivre-coarse otherwise.",
    )
    epochs: Epochs = option(
        6, "Number of passes over TRAIN. The model of the pass with the best score on DEV is saved."
    )
    bits: Annotated[int, Field(ge=4, le=24)] = option(18, "Base-2 logarithm of the number of rows of weights.")
    beam: Annotated[int, Field(ge=1, le=1024)] = option(
        1, "Number of transition sequences in the beam. 1 parses greedily."
    )
    update: Literal["early", "max-violation"] = option(
        "max-violation",
        "Update rule of --learning beam. early updates where the gold sequence falls out of the beam; max-violation "
        "updates where the best sequence is furthest ahead of the gold sequence.",
    )
    explore: Annotated[float, Field(ge=0, le=1)] = option(
        0.9,
        "Probability that training with the dynamic oracle follows the parser's own choice after an error. It applies "
        "from the second epoch on.",
    )
    svm_cost: Rate | None = option(
        None, "Cost C of a training error of support vector machines. [default: 0.1 for svm, 0.5 for quadratic]"
    )
    gamma: Rate = option(0.2, "Factor gamma of the quadratic kernel (gamma x.y + r)^2.")
    r: Cost = option(0.6, "Constant r of the quadratic kernel (gamma x.y + r)^2.")
    prediction: Literal["combined", "branching"] = option(
        "branching",
        "Decisions of --learning quadratic. combined chooses transition and label at once; branching chooses the kind "
        "of transition first and then its label.",
    )
    tolerance: Rate = option(0.1, "Tolerance at which LIBSVM stops the training of a quadratic kernel.")
    neighbours: Annotated[int, Field(ge=1, le=1000)] = option(
        5, "Number of nearest distances in --learning memory. All instances at these distances vote (k of TiMBL)."
    )
    rare: Annotated[int, Field(ge=1, le=1000)] = option(
        3,
        "Frequency below which --learning memory compares feature values by equality only (L of TiMBL).",
    )
    roots: Literal["several", "single"] = option(
        "single",
        "Number of roots of a tree: single, or several. single has no effect on arc-eager-rooted.",
    )
    seed: Seed = option(1, "Random seed for the order of sentences. Equal seeds give equal models.")
