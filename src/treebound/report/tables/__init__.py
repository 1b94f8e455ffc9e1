"""The tables of the report: every figure as published, in the reference run and in this run, never mixed.

All take the `collect.Results` to show and the names of the corpora wanted (empty: all), and return DataFrames.
"""

# ruff: noqa: F401 - what notebooks take from here

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
