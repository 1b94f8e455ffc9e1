"""Sentences about sampling and proof, generated from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Sentences, about, each, span
from studies.zhang_2014.score_time.measure import LONG

NO_CURVES = "No run here has sampling beside proved optima: run `dvc repro score_time` if params.yaml lists that stage."


@about(NO_CURVES)
def curves(table: pd.DataFrame) -> Sentences:
    """Describe `tables.score_time`: the optima that each method finds with its largest budget, and its speed.

    The speed of a method is compared with the time of the proof.

    Long sentences are described separately if there are any.
    """
    keys = [name for name in table.index.names if name != "patience"]
    last = table.groupby(level=keys, sort=False).tail(1).droplevel("patience")
    proof = last.xs("branch-and-bound", level="method")["CPU us / word"]
    last = last.drop(index="branch-and-bound", level="method")
    speed = last["CPU us / word"].rdiv(proof.reindex(last.index.droplevel("method")).to_numpy())
    long_shares = last["of long sentences, %"].dropna()
    long = f" and {span(long_shares, '{:.2f} %')} in sentences of more than {LONG} words," if len(long_shares) else ""
    yield (
        f"With the largest budget, sampling finds {span(last['optima found, %'], '{:.2f} %')} of the proved optima"
        f"{long} at {span(speed, '{:.2g}')} times the speed of the proof (means of the seeds, not tested).",
        last,
    )
    for (run, corpus, space), rows in each(last.assign(speed=speed), ["run", "corpus", "space"]):
        parts = (
            f"{name} finds {row['optima found, %']:.2f} %{_long(row)} at {row['speed']:.2g} times the proof's speed"
            for name, row in rows.iterrows()
        )
        yield (
            f"Of {rows['sentences'].iloc[0]:.0f} proved optima of {corpus}, {space} ({run}, largest budget, mean of "
            f"the seeds, not tested): {'; '.join(parts)}.",
            rows,
        )


def _long(row: pd.Series) -> str:
    """Describe the share of optima found in long sentences. The text is empty if no sentence is long."""
    return f" ({row['of long sentences, %']:.2f} % of the {row['long ones']:.0f} long)" if row["long ones"] else ""


@about(NO_CURVES)
def targets(table: pd.DataFrame) -> Sentences:
    """Describe which of the targets of `tables.targets` are met, and by which method."""
    for (run, corpus, model), row in table.iterrows():
        target = (
            f"{row['target, %']:g} % of proved projective optima at {row['words / CPU s']:,.0f} words per CPU second, "
            f"{corpus}, {model} ({run})"
        )
        if not row["method"]:
            yield f"{target}: missed, no method is as fast.", row
            continue
        decided = row["low"] >= row["target, %"] or row["high"] < row["target, %"]
        verdict = {"yes": "met", "no": "missed"}[row["met"]]
        verdict += "" if decided else ", but the interval contains the target"
        yield (
            f"{target}: {verdict}. "
            f"The maximum is {row['optima found, %']:.2f} % [{row['low']:.2f}, {row['high']:.2f}] of "
            f"{row['sentences']:.0f}{_long(row)}, by {row['method']} at {row['found at']:,.0f} words per CPU second.",
            row,
        )
    yield (
        "The targets are about whole test sets, and about features and decoding together. The figures here are about "
        "sentences spaced evenly over the test split and about decoding alone, with the method and budget that are "
        "best on these sentences. A target that is met here need not be met on the whole test set.",
        table,
    )
