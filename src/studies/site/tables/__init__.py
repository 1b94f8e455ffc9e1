"""The tables of the report: every figure as published, in the reference run and in this run, never mixed.

All take the `collect.Results` to show and the names of the corpora wanted (empty: all), and return DataFrames.
"""

# ruff: noqa: F401 - what notebooks take from here

from studies.site.tables.ablation import ablation_ranking, ablation_table, ablations
from studies.site.tables.comparison import (
    GAIN,
    accuracy,
    against_baseline,
    comparison,
    gains,
    headline,
    significance,
)
from studies.site.tables.confidence import kept_table, list_table, tree_table, word_table
from studies.site.tables.corpora import conversion, pruner, pruner_thresholds, sources
from studies.site.tables.errors import errors
from studies.site.tables.others import peers, tagging, variants
from studies.site.tables.provenance import certificate, provenance, time_spent, training
from studies.site.tables.repeats import multilingual, pictured, seeds, tags
from studies.site.tables.rows import stacked, tour_row
from studies.site.tables.speed import (
    accuracy_and_speed,
    benchmarked,
    by_system,
    length_table,
    lengths,
    pruning_table,
)
from studies.site.tables.steps import step_arcs, step_epochs, step_table, step_tests, step_training, steps
from studies.site.tables.tuning import tuned_sentences, tuning_table, tunings
