"""Sentences about the tables of sampling, computed from the tables' own data."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.site.collect import Results
from studies.site.sentences import Said, about, difference, each, ranked, span, told
from studies.site.show import Remarks
from studies.site.tables import sampling
from studies.zhang_2014.score_time.measure import LONG

NO_CURVES = "No run here has sampling beside proved optima: `dvc repro score_time` makes it where params.yaml has it."
NO_TAGS = (
    "No run here chooses tags with trees, which the default run leaves out: list corpora under `tag_correction:` in "
    "params.yaml."
)
NO_LANGUAGES = "The reference run has no such part yet (`make reference`)."
LEVEL = 0.01  #: that of the intervals of `tables.sampling.gains`


def gains(results: Sequence[Results]) -> Remarks:
    """Who is ahead of whom, with McNemar's test over words; where no sentences are kept, accuracies alone."""
    data = pd.concat({r.name: sampling.gains(r, sampling.PAIRS) for r in results}, names=["run"])
    return _gains(data) if len(data) else accuracies(sampling.accuracy(results))


@about("No run here has a parser that samples: see rows with `system: sampling` under `decode:` in params.yaml.")
def accuracies(table: pd.DataFrame) -> Said:
    """About `tables.sampling.accuracy`."""
    sampled = table[table.filter(like="sampling").notna().any(axis=1)]
    for (run, corpus), row in sampled.drop(index="mean", level="corpus", errors="ignore").iterrows():
        yield f"UAS on {corpus} ({run}): {ranked(row)}", row


@about()
def _gains(data: pd.DataFrame) -> Said:
    for (run, row, other), of in each(data, ["run", "row", "other"]):
        yield (
            f"UAS of {row} against {other} ({run}; 99 % intervals of paired words and McNemar's p; words: "
            f"{span(of['words'], '{:,.0f}')}; one training each): {told(of, LEVEL)}.",
            of,
        )


@about(NO_LANGUAGES)
def languages(means: pd.DataFrame, gained: pd.DataFrame, table: pd.DataFrame) -> Said:
    """About the tables of `tables.languages`: who is ahead, and whether search or model is to blame where it is not."""
    for pair, mean in means.iterrows():
        yield (
            f"UAS of {pair.replace(' less ', ' less that of ')}, mean of {mean['languages']:.0f} languages "
            f"({mean['treebanks']:.0f} treebanks): {difference(mean)} (99 % interval of paired words; treebanks and "
            f"one training each as they are); ahead in {mean['ahead']:.0f}.",
            means,
        )
    for pair, of in each(gained, "pair"):
        yield f"{pair}, treebank by treebank (McNemar's p): {told(of.droplevel('language'), LEVEL)}.", of
    errors = table["search errors, %"].droplevel("language")
    yield (
        f"Search is to blame where the right tree scores more than the one found: in {span(errors, '{:.1f} %')} of the "
        "sentences of a treebank. In all others that are wrong the model itself scores a wrong tree above the right.",
        table,
    )


@about(NO_TAGS)
def corrections(table: pd.DataFrame) -> Said:
    """What choosing tags with trees gains: `tables.sampling.tag_correction`."""
    for (run, corpus), row in table.iterrows():
        tags, heads = row["corrected, %"] - row["tags, %"], row["UAS corrected"] - row["UAS"]
        yield (
            f"On {corpus} ({run}) {row['mended']:.0f} tags are mended and {row['spoilt']:.0f} spoilt, {tags:+.2f} "
            f"points (p {row['p, tags']:.2g}); UAS {heads:+.2f} ({row['gain from']:+.2f} to {row['to']:+.2f}), of "
            f"{row['UAS, right tags'] - row['UAS']:+.2f} with right tags.",
            row,
        )


@about(NO_CURVES)
def curves(table: pd.DataFrame) -> Said:
    """What every method finds with its largest budget, of all sentences and of long ones, and how many times as fast as
    branch and bound that is; `tables.sampling.score_time`.
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
    """Which of the targets of `tables.sampling.targets` are met, and by what."""
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
