"""Sentences about the tables of sampling, computed from the tables' own data."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from treebound.report.collect import Results
from treebound.report.show import Remarks
from treebound.report.tables import sampling

NO_ROWS = Remarks(
    (
        "No run here has a parser that samples: list rows with `system: sampling` under `decode:` in params.yaml and "
        "run `python -m treebound.experiments.run`.",
    )
)
NO_CURVES = Remarks(
    ("No run here has sampling beside proved optima: `dvc repro score_time` makes it where params.yaml has the key.",)
)
#: rows that are compared: global features with none, with exact search, each way of learning
PAIRS = (
    ("sampling full", "sampling turbo"),
    ("sampling full", "combined"),
    ("sampling shared", "carreras+grandchild+sibling"),
    ("sampling full", "sampling full-neighbour"),
    ("sampling full", "sampling full-gold"),
    ("sampling small", "carreras+grandchild+sibling"),
)


def gains(results: Sequence[Results]) -> Remarks:
    """Who is ahead of whom, with McNemar's test over words."""
    said = []
    for r in results:
        for (corpus, row, other), line in sampling.gains(r, PAIRS).iterrows():
            said.append(
                f"On {corpus} ({r.name}) {row} has {line['difference']:+.2f} UAS against {other}, 99 % interval "
                f"[{line['low']:+.2f}, {line['high']:+.2f}], p = {line['p']:.2g} over {line['words']:.0f} words."
            )
    return Remarks(tuple(said))


def errors(details: pd.DataFrame) -> Remarks:
    """What the search is to blame for."""
    if not len(details):
        return Remarks(())
    share = details["search errors, %"].astype(float)
    if not share.max():
        return Remarks(("In no sentence the right tree scores more than the one found: all errors are the models'.",))
    return Remarks(
        (
            f"Search errs in {share.max():.2f} % of the sentences at most ({', '.join(share.idxmax())}): all other "
            "errors are the models'.",
        )
    )


def published_gains(table: pd.DataFrame) -> Remarks:
    """What the paper's table says of full features, sampling and reranking."""
    languages = table.drop(index="average")
    said = []
    for other in ("Turbo features", "Turbo parser", "top-50 reranker", "top-500 reranker"):
        gain = (languages["full features"] - languages[other]).dropna()
        said.append(
            f"Published: full features against {other} {gain.mean():+.2f} UAS on average, better in {(gain > 0).sum()} "
            f"of {len(gain)} languages."
        )
    return Remarks(tuple(said))


def curves(table: pd.DataFrame) -> Remarks:
    """What every method finds with its largest budget, and how many times as fast as branch and bound that is."""
    said = []
    for (run, corpus, space), of in table.groupby(level=["run", "corpus", "space"], sort=False):
        of = of.droplevel(["run", "corpus", "space"])
        exact = of.xs("branch-and-bound", level="method").iloc[0]
        for method in [m for m in sampling.METHODS if m in of.index.get_level_values("method")]:
            last = of.xs(method, level="method").iloc[-1]
            times = exact["CPU us / word"] / last["CPU us / word"]
            said.append(
                f"{corpus}, {space} ({run}): {method} finds {last['optima found, %']:.2f} % of {last['sentences']:.0f} "
                f"proved optima in {last['CPU us / word']:.0f} CPU us a word, {times:.2g} times the speed of the proof."
            )
    return Remarks(tuple(said))
