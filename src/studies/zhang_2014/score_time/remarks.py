"""Sentences about sampling and proof, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.site.sentences import Said, about, each, span
from studies.zhang_2014.score_time.measure import LONG

NO_CURVES = "No run here has sampling beside proved optima: `dvc repro score_time` makes it where params.yaml has it."


@about(NO_CURVES)
def curves(table: pd.DataFrame) -> Said:
    """What every method finds with its largest budget, of all sentences and of long ones, and how many times as fast as
    branch and bound that is; `tables.score_time`.
    """
    keys = [name for name in table.index.names if name != "patience"]
    last = table.groupby(level=keys, sort=False).tail(1).droplevel("patience")
    proof = last.xs("branch-and-bound", level="method")["CPU us / word"]
    last = last.drop(index="branch-and-bound", level="method")
    speed = last["CPU us / word"].rdiv(proof.reindex(last.index.droplevel("method")).to_numpy())
    far = last["of long sentences, %"].dropna()
    long = f" and, in those of more than {LONG} words, {span(far, '{:.2f} %')}," if len(far) else ""
    yield (
        f"With the largest budget, sampling finds {span(last['optima found, %'], '{:.2f} %')} of the proved optima"
        f"{long} at {span(speed, '{:.2g}')} times the speed of the proof (means of the seeds, not tested).",
        last,
    )
    for (run, corpus, space), of in each(last.assign(speed=speed), ["run", "corpus", "space"]):
        found = (
            f"{name} finds {row['optima found, %']:.2f} %{_long(row)} at {row['speed']:.2g} times the proof's speed"
            for name, row in of.iterrows()
        )
        yield (
            f"Of {of['sentences'].iloc[0]:.0f} proved optima of {corpus}, {space} ({run}, largest budget, mean of "
            f"the seeds, not tested): {'; '.join(found)}.",
            of,
        )


def _long(row: pd.Series) -> str:
    """What is found in long sentences, where there are any."""
    return f" ({row['of long sentences, %']:.2f} % of the {row['long ones']:.0f} long)" if row["long ones"] else ""


@about(NO_CURVES)
def targets(table: pd.DataFrame) -> Said:
    """Which of the targets of `tables.targets` are met, and by what."""
    for (run, corpus, model), row in table.iterrows():
        wanted = (
            f"{row['target, %']:g} % of proved projective optima at {row['words / CPU s']:,.0f} words per CPU second, "
            f"{corpus}, {model} ({run})"
        )
        if not row["method"]:
            yield f"{wanted}: missed, nothing is as fast.", row
            continue
        sure = row["low"] >= row["target, %"] or row["high"] < row["target, %"]
        verdict = {"yes": "met", "no": "missed"}[row["met"]]
        verdict += "" if sure else ", though the target is inside the interval"
        yield (
            f"{wanted}: {verdict}. The most is {row['optima found, %']:.2f} % [{row['low']:.2f}, {row['high']:.2f}] of "
            f"{row['sentences']:.0f}{_long(row)}, by {row['method']} at {row['found at']:,.0f} words per CPU second.",
            row,
        )
    yield (
        "The targets are of whole test sets, and of features and decoding together; these are sentences evenly spaced "
        "over the test split, and decoding alone, with the method and the budget that came out best on them: what is "
        "met here need not be met by the whole.",
        table,
    )
