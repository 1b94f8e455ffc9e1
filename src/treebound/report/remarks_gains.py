"""Sentences about what the factors gain, computed from the very data that the tables beside them show."""

from __future__ import annotations

import pandas as pd

from treebound.report.collect import THIS_RUN
from treebound.report.remarks import against, over_seeds
from treebound.report.sentences import ONE_SEED, UNTESTED, Said, about, each, listing, span, told, unproved
from treebound.report.show import Remarks
from treebound.report.tables.comparison import OWN, PEERS

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
NO_TEST = ["low", "high", "p"]


@about("This run has no tests of all factors against the baseline.")
def answer(gains: pd.DataFrame) -> Said:
    """What all factors gain: `tables.gains`."""
    for (name, learner), rows in each(gains, ["run", "learner"]):
        rows = rows.droplevel("system")
        where = f"in {_run(str(name))}, learner {learner}, UAS by a bootstrap over test sentences"
        yield f"All factors against the Carreras backbone {where}: {told(rows)}. {ONE_SEED}", rows


@about()
def headline(data: pd.DataFrame, gains: pd.DataFrame, seeds: pd.DataFrame, more: pd.DataFrame) -> Said:
    """About `tables.headline`: what all factors gain, first, and what was proved.

    gains  `tables.gains`: of all learners, those of single corpora included
    seeds  `tables.seeds`; more: `tables.multilingual`. Each may have no rows
    """
    yield from ((one, gains) for one in answer(gains).sentences)
    yield from over_seeds(seeds)
    for system, rows in against(more)[:1]:  # all factors; the page of more languages has the other systems
        mean = rows["difference"].mean()
        yield f"On {len(rows)} more corpora {system} is {mean:+.2f} from the baseline on average; {told(rows)}.", rows
    for name, rows in data.groupby(level=0, sort=False):
        proved, best = rows["proved optimal, %"].min(), rows["UAS, all factors"]
        share = "every tree of these rows is" if proved >= 100 else f"of each of these rows at least {proved:.1f} % are"
        yield (
            f"In {_run(str(name))} {share} proved optimal, and the fastest of them parses "
            f"{rows['words per CPU second'].max():,.0f} words per CPU second; the highest accuracy is "
            f"{best.max():.2f} ({listing(best.idxmax()[1:])}).",
            rows,
        )


@about()
def comparison(data: pd.DataFrame, tested: pd.DataFrame, learner: str) -> Said:
    """About `tables.comparison` of a learner: what the factors bring in the paper and here.

    tested  `tables.against_baseline`
    """
    ours = data.drop(columns=["published", ""], level=0).droplevel(0)
    base = _row(ours, "baseline").dropna()
    rows = tested.xs(learner, level="learner").reindex(columns=NO_TEST)

    def gained(label: str, model: str) -> pd.DataFrame:
        """UAS over the baseline by corpus and run, with its test where there is one."""
        found = (_row(ours, label) - base).dropna() if any(label in str(row) for row in ours.index) else base.iloc[:0]
        keys = [(run, corpus, model) for run, corpus in found.index]
        test = rows.reindex(pd.MultiIndex.from_tuples(keys, names=rows.index.names)) if keys else rows.iloc[:0]
        places = [(corpus, run) for run, corpus in found.index]
        made = test.assign(difference=found.to_numpy())
        made.index = pd.MultiIndex.from_tuples(places, names=["corpus", "run"]) if places else test.index[:0]
        return made

    both = OWN[ALL_PAIRS]
    for kind, label, model in (
        ("The combined system", "all sibling + comb", "combined"),
        (both, both, ALL_PAIRS),
    ):
        if len(found := gained(label, model)):
            yield f"{kind}, UAS over our baseline: {told(found)}.", found
    single = {name: gained(f"B&B + {name}", model) for name, model in FAMILIES.items()}
    if single := {name: found for name, found in single.items() if len(found)}:
        rows_of = pd.concat(single, names=["family"])
        yield f"Single families, UAS over our baseline: {told(rows_of)}.", rows_of
    else:
        yield "No run of ours has a family alone beside the baseline."
    if missing := sorted({corpus for _, corpus in ours.columns} - {corpus for _, corpus in base.index}):
        yield f"With this learner nothing was trained on {listing(missing)}."
    printed = data["published"].droplevel(0)
    every = _row(printed, "all sibling + comb") - _row(printed, "baseline")
    yield (
        f"In the paper all non-local factors together bring {every['PTB']:+.2f} UAS over the baseline on English and "
        f"{every['CTB']:+.2f} on Chinese, without a test or an interval, and of the single families all-sibling brings "
        "most.",
        printed,
    )


def learners(perceptron: pd.DataFrame, mira: pd.DataFrame) -> Remarks:
    """About the tables of two learners: the same systems on the same corpora."""
    tables = (data[data.index.get_level_values(0) != PEERS] for data in (perceptron, mira))
    ours = [data.drop(columns=["published", ""], level=0) for data in tables]
    return _learners((ours[1] - ours[0]).stack([0, 1], future_stack=True).dropna())


@about("The learners have no system in common.")
def _learners(gap: pd.Series) -> Said:
    corpora = listing(dict.fromkeys(gap.index.get_level_values(-1)))
    by_system = gap.groupby(level=1, sort=False).mean()
    yield (
        f"Over the {len(gap)} pairs of the same system on the same corpus ({corpora}), MIRA minus perceptron is "
        f"{gap.mean():+.2f} UAS on average; system by system from {span(by_system, '{:+.2f}')}. {ONE_SEED} {UNTESTED}"
    )


@about()
def exactness(data: pd.DataFrame) -> Said:
    """About `tables.accuracy`: of which rows every tree is proved."""
    proved = data.xs("proved, %", axis=1, level=1).stack().dropna()
    yield unproved(proved, f"all {len(proved)} rows"), proved


def _run(name: str) -> str:
    return name if name == THIS_RUN else f"the {name} run"


def _row(data: pd.DataFrame, part: str) -> pd.Series:
    """The row of this label, or else the first whose label contains it."""
    return data.loc[part] if part in data.index else data[[part in str(label) for label in data.index]].iloc[0]
