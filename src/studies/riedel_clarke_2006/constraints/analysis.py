"""Stage: measure the effect of each family of hard constraints on one fold, and count the gold trees that break it."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.common import folds, stage
from studies.common.params import Params
from studies.riedel_clarke_2006.constraints.derive import Gold
from studies.riedel_clarke_2006.constraints.measure import (
    BASELINE,
    CONSTRAINTS,
    System,
    baseline,
    compare,
    model_file,
    program,
    summaries,
)
from studies.riedel_clarke_2006.constraints.settings import Constraints
from treebound.constraints import load
from treebound.constraints.rows import Constraint, Selection, Variables
from treebound.core.treebank import Treebank
from treebound.decoders.exact.programs.incremental import chu_liu_edmonds
from treebound.features.tokens import TokenTable
from treebound.systems.constrained.model import LabelledModel, words_of

TREE = ("one-head", "no-cycles")


def families(corpus: str) -> list[str]:
    """Return the names of the constraint families of a corpus, without the families that every tree satisfies."""
    return [c.name for c in load(corpus) if c.name not in TREE]


def systems(corpus: str) -> dict[str, System]:
    """Return the systems to compare: Chu-Liu-Edmonds, all families, all families but one, and each family alone."""
    constraints = load(corpus)
    compared: dict[str, System] = {BASELINE: baseline, CONSTRAINTS: program(constraints)}
    for name in families(corpus):
        compared[f"without {name}"] = program([c for c in constraints if c.name != name])
    for name in families(corpus):
        compared[f"only {name}"] = program([c for c in constraints if c.name in (*TREE, name)])
    return compared


def breaks(constraint: Constraint, variables: Variables, selection: Selection) -> bool:
    """Return whether a labelled tree breaks a constraint family. selection: the arcs and labels of the tree."""
    chosen = variables.chosen(selection)
    return bool(constraint.violated(variables, selection)) or any(
        not row.holds(chosen) for row in constraint.start(variables)
    )


def broken_by(model: LabelledModel, held_out: Treebank, constraints: list[Constraint], k: int) -> list[dict[str, Any]]:
    """Count the trees that break each family.

    There are three counts: gold trees, trees of Chu-Liu-Edmonds, and sentences where both trees break the family.

    k  number of best labels that are kept for each arc
    """
    gold, table = Gold(held_out), TokenTable(held_out)
    by_gold = np.array([[breaks(c, v, s) for v, s in gold.made] for c in constraints])
    by_model = np.zeros(by_gold.shape, np.bool_)
    for i, sentence in enumerate(held_out):
        problem = model.problem(table, i, k, bool(held_out.meta.get("single_root", True)))
        tree, labels = chu_liu_edmonds(problem)
        variables = Variables.of(problem, words_of(sentence))
        by_model[:, i] = [breaks(c, variables, Selection(tree.heads, labels)) for c in constraints]
    return [
        {
            "family": c.name,
            "gold": int(in_gold.sum()),
            "baseline": int(in_model.sum()),
            "both": int((in_gold & in_model).sum()),
        }
        for c, in_gold, in_model in zip(constraints, by_gold, by_model, strict=True)
    ]


def run(params: Params, corpus: str) -> None:
    """Write the analysis of a corpus: sums by system, as in cross-validation, and one row per system and sentence."""
    settings = params.section(Constraints)
    _, held_out = folds.load(corpus, settings.analysed, params.slice)
    model = LabelledModel.load(model_file(corpus, settings.analysed))
    constraints = [c for c in load(corpus) if c.name not in TREE]
    broken = broken_by(model, held_out, constraints, settings.k)
    data = compare(model, held_out, settings.k, systems(corpus))
    stage.say(f"{corpus}: families")
    path = stage.PREDICTIONS / corpus / "constraint-analysis.csv"
    stage.write(path, data.to_csv(index=False, lineterminator="\n"))
    metrics = {"fold": settings.analysed, "sentences": len(held_out), "broken": broken, "systems": summaries(data)}
    stage.write_metrics(stage.METRICS / "constraint-analysis" / f"{corpus}.json", metrics)


if __name__ == "__main__":
    stage.main(run)
