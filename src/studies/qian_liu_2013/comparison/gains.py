"""Sentences about what the factors gain, computed from the very data that the tables beside them show."""

from __future__ import annotations

import pandas as pd

from studies.qian_liu_2013.comparison.remarks import against, over_corpora, over_seeds
from studies.qian_liu_2013.comparison.tables import PEERS
from studies.site.collect import THIS_RUN
from studies.site.published import QIAN_LIU, table
from studies.site.sentences import ONE_SEED, UNTESTED, Said, about, each, listing, span, told, unproved
from studies.site.show import Remarks

#: our models of the paper's rows that add one family to the baseline, and of the two families of the paper's title
FAMILIES = tuple(
    f"carreras+{name}"
    for name in (
        "grandchild",
        "great-grandchild",
        "sibling",
        "tri-sibling",
        "comb",
        "pattern",
        "grandchild+sibling",
    )
)


@about("This run has no tests of all factors against the baseline.")
def answer(gains: pd.DataFrame) -> Said:
    """What all factors gain: `tables.gains`."""
    for (name, learner), rows in each(gains, ["run", "learner"]):
        rows = rows.droplevel("system")
        yield (
            f"All factors less the Carreras baseline, UAS: {span(rows['difference'], '{:+.2f}')}; "
            f"{told(rows, short=True)} ({_run(str(name))}, learner {learner}, bootstrap over test sentences, one "
            "training each).",
            rows,
        )


@about()
def headline(data: pd.DataFrame, gains: pd.DataFrame, several: pd.DataFrame, more: pd.DataFrame) -> Said:
    """About `tables.headline`: what all factors gain, first, and what was proved.

    gains  `tables.gains`: of all learners, those of single corpora included
    several  `tables.seeds`; more: `tables.multilingual`. Each may have no rows
    """
    first, *others = answer(gains).sentences
    yield first, gains
    yield from over_seeds(several)
    yield from ((over_corpora(system, rows), rows) for system, rows in against(more)[:1])
    for name, rows in data.groupby(level=0, sort=False):
        proved, best = rows["proved optimal, %"].min(), rows["UAS, all factors"]
        share = "every tree of these rows is" if proved >= 100 else f"of each of these rows at least {proved:.1f} % are"
        yield (
            f"In {_run(str(name))} {share} proved optimal, and the fastest of them parses "
            f"{rows['words per CPU second'].max():,.0f} words per CPU second; the highest accuracy is "
            f"{best.max():.2f} ({listing(best.idxmax()[1:])}).",
            rows,
        )
    yield from ((one, gains) for one in others)


@about("This run has no tests against the baseline.")
def families(tested: pd.DataFrame, learner: str) -> Said:
    """About the rows of a learner in `tables.against_baseline`: what families bring alone, or two of them together."""
    rows = tested[
        (tested.index.get_level_values("learner") == learner) & tested.index.get_level_values("system").isin(FAMILIES)
    ]
    yield f"Some of the factors, UAS over our baseline: {told(rows)}. {ONE_SEED}", rows
    printed = table(QIAN_LIU, "comparison").set_index("id")[["PTB", "CTB"]]
    every = printed.loc["combined"] - printed.loc["baseline"]
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
    gap = (ours[1] - ours[0]).stack([0, 1], future_stack=True).dropna()
    return _learners(gap[~gap.droplevel(-2).index.duplicated()])  # a pair that two runs have is one


@about("The learners have no system in common.")
def _learners(gap: pd.Series) -> Said:
    corpora = listing(dict.fromkeys(gap.index.get_level_values(-1)))
    yield (
        f"MIRA minus perceptron is {gap.mean():+.2f} UAS on average of {len(gap)} pairs of the same system on the same "
        f"corpus ({corpora}), {span(gap.groupby(level=1, sort=False).mean(), '{:+.2f}')}. {ONE_SEED} {UNTESTED}"
    )


@about()
def exactness(data: pd.DataFrame) -> Said:
    """About `tables.accuracy`: of which rows every tree is proved."""
    proved = data.xs("proved, %", axis=1, level=1).stack().dropna()
    yield unproved(proved, f"all {len(proved)} rows"), proved


def _run(name: str) -> str:
    return name if name == THIS_RUN else f"the {name} run"
