"""Sentences about what the factors gain, computed from the very data that the tables beside them show.

A difference is said to be one where a paired bootstrap over the test sentences tells it from chance.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from treebound.report.collect import THIS_RUN
from treebound.report.show import Remarks, by_chance, said_p
from treebound.report.tables.comparison import OWN, PEERS
from treebound.report.tables.repeats import AGAINST

#: p below which a difference counts as told from chance
LEVEL = 0.05
#: the rows of the paper that add one family to the baseline -> our model
FAMILIES = {
    "all grandchild": "carreras+grandchild",
    "all great-grandchild": "carreras+great-grandchild",
    "all sibling": "carreras+sibling",
    "all tri-sibling": "carreras+tri-sibling",
    "comb": "carreras+comb",
    "hand-crafted": "carreras+pattern",
}
ALL_PAIRS = "carreras+grandchild+sibling"


def headline(data: pd.DataFrame, gains: pd.DataFrame, seeds: pd.DataFrame, more: pd.DataFrame) -> Remarks:
    """About `tables.headline`.

    gains  `tables.gains`: of all learners, those of single corpora included
    seeds  `tables.seeds`; more: `tables.multilingual`. Each may have no rows
    """
    said = []
    for name, rows in data.groupby(level=0, sort=False):
        best = rows.loc[rows["UAS, all factors"].idxmax()]
        proved = rows["proved optimal, %"].min()
        share = "every tree of these rows is" if proved >= 100 else f"of each of these rows at least {proved:.1f} % are"
        said.append(
            f"In {_run(str(name))} {share} proved optimal, and the fastest of them parses "
            f"{rows['words per CPU second'].max():,.0f} words per CPU second; "
            f"the highest accuracy is {best['UAS, all factors']:.2f} ({best.name[1]}, {best.name[2]})."
        )
    for (name, learner), rows in gains.groupby(level=["run", "learner"], sort=False):
        said.append(_gained(_run(str(name)), str(learner), rows.droplevel(["run", "learner", "system"])))
    if len(gains):
        said.append("Each of these is the difference of two trainings with one seed.")
    repeated = seeds["UAS over the baseline"].assign(seeds=seeds["", "seeds"]).dropna() if len(seeds) else seeds
    said += [
        f"Over {row['seeds']:.0f} seeds {system} ({learner}) is {row['mean']:+.2f} UAS from the baseline on {corpus}, "
        f"with a standard deviation of {row['deviation']:.2f} ({name})."
        for (name, corpus, learner, system), row in repeated.iterrows()
    ]
    for system, rows in _against(more):
        said.append(
            f"On {len(rows)} more corpora {system} is {rows['UAS'].mean():+.2f} from the baseline on average; "
            f"{_told(rows)}."
        )
        break  # the first system is that of all factors; the page of more languages has the others
    return Remarks(tuple(said))


def _gained(where: str, learner: str, rows: pd.DataFrame) -> str:
    """What all factors gain with one learner in one run, corpus by corpus; `rows`: TESTED by corpus."""
    sure = rows["p"] < LEVEL
    parts = [
        f"{corpus} {row['difference']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}], {said_p(row['p'])}"
        for corpus, row in rows.iterrows()
    ]
    return (
        f"All factors against the Carreras backbone in {where}, learner {learner}, UAS with its 95 % interval and p "
        f"of a bootstrap over test sentences: {'; '.join(parts)}. Told from chance at {100 * LEVEL:g} %: "
        f"{', '.join(map(str, rows.index[sure])) or 'none'} ({sure.sum()} of {len(rows)})."
    )


def _against(more: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """System -> UAS over the baseline and p, by corpus; of `tables.multilingual`."""
    for group in more.columns.unique(0) if len(more) else ():
        if group.endswith(AGAINST):
            yield group.removesuffix(AGAINST), more[group].droplevel("language")


def _told(rows: pd.DataFrame) -> str:
    """Which corpora are better and worse beyond chance; `rows`: UAS (a difference) and p by corpus."""
    sure = rows[rows["p"] < LEVEL]
    better, worse = (
        ", ".join(f"{corpus} ({gain:+.2f})" for corpus, gain in part["UAS"].items()) or "none"
        for part in (sure[sure["UAS"] > 0], sure[sure["UAS"] < 0])
    )
    return (
        f"with p < {LEVEL:g} it is better on {better} and worse on {worse}, and on {len(rows) - len(sure)} of "
        f"{len(rows)} not told from chance"
    )


def comparison(data: pd.DataFrame, tested: pd.DataFrame, learner: str) -> Remarks:
    """About `tables.comparison` of a learner: what the factors bring in the paper and here.

    tested  `tables.against_baseline`
    """
    printed = data["published"].droplevel(0)
    every = _row(printed, "all sibling + comb") - _row(printed, "baseline")
    said = [
        f"In the paper all non-local factors together bring {every['PTB']:+.2f} UAS over the baseline on English and "
        f"{every['CTB']:+.2f} on Chinese, without a test or an interval, and of the single families all-sibling brings "
        "most."
    ]
    ours = _ours(data)
    base = _row(ours, "baseline").dropna()
    if len(missing := sorted({corpus for _, corpus in ours.columns} - {corpus for _, corpus in base.index})):
        said.append(f"With this learner nothing was trained on {', '.join(missing)}.")
    by = tested[tested.index.get_level_values("learner") == learner].droplevel("learner")["p"]
    combined = _row(ours, "all sibling + comb") - base
    both = OWN[ALL_PAIRS]
    pairs = ours.loc[both] - base if both in ours.index else combined.iloc[:0]
    for gains, kind, model in ((combined, "The combined system", "combined"), (pairs, both, ALL_PAIRS)):
        if len(gains := gains.dropna()):
            listed = [_with_p(gain, place, model, by) for place, gain in gains.items()]
            said.append(f"{kind}, UAS over our baseline: {', '.join(listed)}.")
    said += _families(ours, base, by)
    return Remarks(tuple(said))


def _ours(data: pd.DataFrame) -> pd.DataFrame:
    return data.drop(columns=["published", ""], level=0).droplevel(0)


def _with_p(gain: float, place: tuple[str, str], model: str, by: pd.Series) -> str:
    """A difference on a corpus with its p, where it was tested; place: (run, corpus)."""
    name, corpus = place
    p = f", {said_p(by[name, corpus, model])}" if (name, corpus, model) in by.index else ", not tested"
    return f"{gain:+.2f} on {corpus} ({name}{p})"


def _families(ours: pd.DataFrame, base: pd.Series, by: pd.Series) -> list[str]:
    """The single families: which differences are told from chance."""
    gains = {name: (_row(ours, f"B&B + {name}") - base).dropna() for name in FAMILIES}
    rows = [(name, place, gain) for name, found in gains.items() for place, gain in found.items()]
    if not rows:
        return ["No run of ours has a family alone beside the baseline."]
    key = [by.get((*place, FAMILIES[name]), float("nan")) for name, place, _ in rows]
    sure = [(row, p) for row, p in zip(rows, key, strict=True) if p < LEVEL]
    said = []
    for kind, sign in (("above", 1), ("below", -1)):
        found = [f"{n} on {c} ({run}, {g:+.2f}, {said_p(p)})" for (n, (run, c), g), p in sure if g * sign > 0]
        said.append(f"Told from chance, {kind} the baseline: {', '.join(found) or 'no single family'}.")
    said.append(
        f"Of the {len(rows)} differences of single families {len(rows) - len(sure)} are not told from chance; of so "
        f"many tests {by_chance(len(rows), LEVEL)} would pass {100 * LEVEL:g} % by chance alone."
    )
    return said


def learners(perceptron: pd.DataFrame, mira: pd.DataFrame) -> Remarks:
    """About the tables of two learners: the same systems on the same corpora."""
    tables = (data[data.index.get_level_values(0) != PEERS] for data in (perceptron, mira))
    ours = [data.drop(columns=["published", ""], level=0) for data in tables]
    difference = (ours[1] - ours[0]).stack([0, 1], future_stack=True).dropna()
    if difference.empty:
        return Remarks(("The learners have no system in common.",))
    corpora = ", ".join(dict.fromkeys(difference.index.get_level_values(-1)))
    return Remarks(
        (
            f"Over the {len(difference)} pairs of the same system on the same corpus ({corpora}), MIRA minus "
            f"perceptron is {difference.mean():+.2f} UAS on average, from {difference.min():+.2f} to "
            f"{difference.max():+.2f}. Each figure is one training run with one seed, and these differences were not "
            "tested.",
        )
    )


def exactness(data: pd.DataFrame) -> Remarks:
    """About `tables.accuracy`: of which rows every tree is proved."""
    proved = data.xs("proved, %", axis=1, level=1).stack().dropna()
    left = proved[proved < 100]
    if left.empty:
        return Remarks((f"Every tree of all {len(proved)} rows is proved optimal for its model.",))
    said = [
        f"{share:.1f} % of {system} ({learner}, {corpus}, {name})"
        for (learner, system, corpus, name), share in left.items()
    ]
    return Remarks(
        (
            f"Every tree of {len(proved) - len(left)} of the {len(proved)} rows is proved optimal for its model. A "
            f"limit on the search left the others with fewer proofs: {', '.join(said)}. What these differ by may be "
            "the search's as well.",
        )
    )


def _run(name: str) -> str:
    return name if name == THIS_RUN else f"the {name} run"


def _row(data: pd.DataFrame, part: str) -> pd.Series:
    """The row whose label contains `part`."""
    return data[[part in str(label) for label in data.index]].iloc[0]
