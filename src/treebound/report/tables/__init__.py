"""The tables of the report: every figure as published, in the reference run and in this run, never mixed.

All take the `collect.Results` to show and the names of the corpora wanted (empty: all), and return DataFrames.
"""

from treebound.report.tables.ablation import ablation_ranking, ablation_table, ablations
from treebound.report.tables.comparison import (
    GAIN,
    accuracy,
    against_baseline,
    comparison,
    gains,
    headline,
    significance,
)
from treebound.report.tables.confidence import kept_table, list_table, tree_table, word_table
from treebound.report.tables.corpora import conversion, pruner, pruner_thresholds, sources
from treebound.report.tables.errors import errors
from treebound.report.tables.others import peers, tagging, variants
from treebound.report.tables.provenance import certificate, provenance, time_spent, training
from treebound.report.tables.repeats import multilingual, pictured, seeds, tags
from treebound.report.tables.rows import stacked, tour_row
from treebound.report.tables.speed import (
    accuracy_and_speed,
    benchmarked,
    by_system,
    length_table,
    lengths,
    pruning_table,
)
from treebound.report.tables.steps import step_arcs, step_epochs, step_table, step_tests, step_training, steps
from treebound.report.tables.tuning import tuned_sentences, tuning_table, tunings

__all__ = [
    "GAIN",
    "ablation_ranking",
    "ablation_table",
    "ablations",
    "accuracy",
    "accuracy_and_speed",
    "against_baseline",
    "benchmarked",
    "by_system",
    "certificate",
    "comparison",
    "conversion",
    "errors",
    "gains",
    "headline",
    "kept_table",
    "length_table",
    "lengths",
    "list_table",
    "multilingual",
    "peers",
    "pictured",
    "provenance",
    "pruner",
    "pruner_thresholds",
    "pruning_table",
    "seeds",
    "significance",
    "sources",
    "stacked",
    "step_arcs",
    "step_epochs",
    "step_table",
    "step_tests",
    "step_training",
    "steps",
    "tagging",
    "tags",
    "time_spent",
    "tour_row",
    "training",
    "tree_table",
    "tuned_sentences",
    "tuning_table",
    "tunings",
    "variants",
    "word_table",
]
