"""Sentences about learners and feature models, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, each, listing, span

HOW = (
    "No run here compares classifiers, which the default run leaves out: list corpora under `classifiers:` in "
    "params.yaml (after `make classifiers`)."
)


@about(HOW)
def accuracy(data: pd.DataFrame, tests: pd.DataFrame) -> Said:
    """About `tables.summed`: who is ahead, and at what cost; tests: `tables.significance`."""
    whole = data[(data["share"] == 100) & (data["missing"] == "")]
    for (run, corpus), of in each(whole, ["run", "corpus"]):
        best = of.loc[of["las"].idxmax()]
        won = tests[tests["better"] == best["learner"]].index
        pairs = [key[3:] for key in won if key[:3] == (run, corpus, best["features"])]
        ahead = [learner for pair in pairs for learner in pair if learner != best["learner"]]
        seconds = of[of["features"] == best["features"]].set_index("learner")["train_cpu_s"]
        yield (
            f"On {corpus} {best['learner']} with {best['features']} has the highest LAS, {best['las']:.2f}; LAS was "
            "not tested. Heads alone, without labels, are significantly better than those of "
            f"{listing(ahead, 'nobody')} with the same features (McNemar's test over words, p < 0.01). "
            f"Training with {best['features']} takes {span(seconds, '{:,.0f} CPU s')} ({run}; one training each).",
            of,
        )
