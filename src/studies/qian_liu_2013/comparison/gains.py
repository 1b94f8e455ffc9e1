"""Sentences about the gains of factors, generated from the data of the tables on the same page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from studies.qian_liu_2013.comparison.remarks import counted
from studies.qian_liu_2013.comparison.tables import PEERS
from studies.site.claims.judge import Judged
from studies.site.collect import THIS_RUN
from studies.site.published import QIAN_LIU, table
from studies.site.sentences import (
    ONE_SEED,
    UNTESTED,
    Sentences,
    about,
    by_chance,
    difference,
    each,
    from_to,
    listing,
    mean_with_interval,
    seeds_in_words,
    span,
)
from studies.site.show import Remarks

#: models that add one factor family to the baseline, as rows of the paper do, and the model that adds two families
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


#: claim about a factor family -> name of the family in `by_family`
CLAIMED = {
    "grandchild": "grandchildren",
    "sibling": "pairs of siblings",
    "great-grandchild": "great-grandchildren",
    "tri-sibling": "triples of siblings",
    "comb": "combs",
    "hand-crafted": "hand-crafted patterns",
    "all-factors": "all together",
}
PRINTED = ("PTB", "CTB")  #: treebanks of the paper, in the order of the published effects of a claim


@about("This run has no gains of all factors over the baseline.")
def answer(gains: pd.DataFrame, everywhere: pd.DataFrame | None = None) -> Sentences:
    """Describe the gain of all factors over the baseline, with one sentence for each run and learner.

    gains       `headline.gains`
    everywhere  gains on these treebanks and on the treebanks of the reference's run on more corpora
                (`languages.tables.pictured`); None or empty: there are no more treebanks
    """
    for (name, learner), rows in each(gains, ["run", "learner"]):
        system = rows.index.get_level_values("system")[0]
        rows = rows.droplevel("system")
        mean, run = mean_with_interval(rows), f"{_run(str(name))}, learner {learner}"
        wide = _everywhere(everywhere, f"{system}, {learner}")
        count = f"{len(rows)} {'treebanks' if len(rows) > 1 else 'treebank'}"
        if len(wide) > len(rows):
            text = (
                f"Over all {len(wide)} treebanks of the reference run, all factors change the UAS of the Carreras "
                f"baseline by {mean_with_interval(wide)} points on average; over the {count} of this page, by "
                f"{mean}."
            )
        else:
            text = f"All factors change the UAS of the Carreras baseline by {mean} points on average over {count}."
        wins = counted(rows, "all factors are", most=0, what=("on", "treebanks"))
        seeds = "as means over seeds" if (rows["seeds"] > 1).any() else "with one seed each"
        tested = f" One by one, {seeds}, {wins}" if len(rows) > 1 else ""
        if len(rows) == 1 and len(wide) <= 1:
            text = (
                f"On {rows.index[0]}, all factors change the UAS of the Carreras baseline by {difference(rows.iloc[0])}"
            )
        yield f"{text}{tested} ({run}; {seeds_in_words(rows['seeds'])}).", rows


def _everywhere(data: pd.DataFrame | None, system: str) -> pd.DataFrame:
    """Return the rows of `languages.tables.pictured` of one system and learner, or an empty table."""
    return pd.DataFrame() if data is None or not len(data) else data[data["system"] == system]


CHOSEN = (
    "The best row is chosen on the test set itself, so its gain is too optimistic and is not a test. With other seeds "
    "another row may be the best."
)


@about("This run has no gains over the baseline.")
def families(gained: pd.DataFrame, learner: str) -> Sentences:
    """Describe the gains of single factor families, and of two families together, with one learner.

    gained  `headline.gains` of FAMILIES
    """
    rows = gained[gained.index.get_level_values("learner") == learner]
    if len(rows):
        yield (
            f"Models with some of the non-local factors and the learner {learner}, compared with our baseline in UAS: "
            f"{counted(rows, 'the model is')}"
            f"{f'; by chance alone, {by_chance(len(rows))} would be significant' if len(rows) > 1 else ''}; "
            f"{seeds_in_words(rows['seeds'])}.",
            rows,
        )
    printed = table(QIAN_LIU, "comparison").set_index("id")[["PTB", "CTB"]]
    gain = printed.loc["combined"] - printed.loc["baseline"]
    yield (
        f"In the paper all non-local factors together bring {gain['PTB']:+.2f} UAS over the baseline on English and "
        f"{gain['CTB']:+.2f} on Chinese, without a test or an interval. There, all-sibling brings the largest gain "
        "of the single families.",
        printed,
    )


@about()
def with_one_seed(gained: pd.DataFrame, tests: pd.DataFrame, learner: str) -> Sentences:
    """Set the gain of all factors with the seed of the run beside its mean over seeds, where a corpus has several.

    gained  `headline.gains` of one run and of the model with all factors
    tests   `tables.significance` of the run: differences in UAS with the seed of the run
    """
    means = gained[gained["seeds"] > 1].droplevel("run")
    alone = tests["difference"].reindex(means.index)
    both = means.assign(alone=alone).dropna(subset="alone")
    both = both[both.index.get_level_values("learner") == learner]
    if len(both):
        listed = listing(
            f"{corpus} {row['alone']:+.2f} and {row['difference']:+.2f} ({row['seeds']:.0f} seeds)"
            for (corpus, *_), row in both.iterrows()
        )
        yield (
            "The gain of all factors over the baseline with the seed of the run, as in this table, differs from its "
            f"mean over seeds, as at the top of the page: {listed}.",
            both,
        )


def by_family(judged: Mapping[str, Sequence[Judged]]) -> pd.DataFrame:
    """Return the pooled gain in UAS of each factor family over the baseline, from the claims about the families.

    judged  run -> verdicts on the claims of a page

    Rows: (run, family), with the families of CLAIMED. Columns: gain (points), low, high (95 % interval over treebanks),
    treebanks, and the gains that the paper prints for PTB and CTB. Families that a run has not measured are left out.
    """
    lines = {}
    for run, entries in judged.items():
        by_name = {entry.claim.name: entry for entry in entries if entry.claim is not None}
        for name, family in CLAIMED.items():
            entry = by_name.get(name)
            if entry is None or entry.effect is None or entry.claim is None:
                continue
            printed = dict(zip(PRINTED, entry.claim.effects, strict=False))
            lines[run, family] = {
                "gain": entry.effect.value,
                "low": entry.effect.low,
                "high": entry.effect.high,
                "treebanks": entry.effect.treebanks,
                **{f"{name}, published": printed.get(name, np.nan) for name in PRINTED},
            }
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "")], names=["run", "family"])[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)


def learners(perceptron: pd.DataFrame, mira: pd.DataFrame) -> Remarks:
    """Compare two learners on the same systems and corpora. Each argument is a result of `tables.comparison`."""
    tables = (data[data.index.get_level_values(0) != PEERS] for data in (perceptron, mira))
    measured = [data.drop(columns=["published", ""], level=0) for data in tables]
    gap = (measured[1] - measured[0]).stack([0, 1], future_stack=True).dropna()
    return _learners(gap[~gap.droplevel(-2).index.duplicated()])  # a pair that two runs have counts once


@about("The learners have no system in common.")
def _learners(gap: pd.Series) -> Sentences:
    """Describe the differences between two learners. gap: UAS with MIRA minus UAS with the perceptron."""
    corpora = listing(dict.fromkeys(gap.index.get_level_values(-1)))
    yield (
        f"UAS with MIRA minus UAS with the perceptron: mean {gap.mean():+.2f} over {len(gap)} pairs of the same "
        f"system and corpus ({corpora}); by system, "
        f"{span(gap.groupby(level=1, sort=False).mean(), '{:+.2f}')}. {ONE_SEED} {UNTESTED}"
    )


@about()
def exactness(data: pd.DataFrame) -> Sentences:
    """Describe `tables.accuracy`: the rows in which every tree is proved optimal."""
    proved = data.xs("proved, %", axis=1, level=1).stack().dropna()
    complete, others = proved[proved == 100], proved[proved < 100]
    if others.empty:
        yield f"Every tree of all {len(proved)} rows is proved optimal for its model.", proved
    else:
        yield (
            f"Every tree of {len(complete)} of {len(proved)} rows is proved optimal for its model. In the other "
            f"{len(others)}, a limit stopped some searches before the proof, which may affect UAS: "
            f"{from_to(others.clip(upper=99.9), '{:.1f}')} % of the trees are proved.",
            proved,
        )


def _run(name: str) -> str:
    """Return the name of a run in a form that fits into a sentence."""
    return name if name == THIS_RUN else f"the {name} run"
