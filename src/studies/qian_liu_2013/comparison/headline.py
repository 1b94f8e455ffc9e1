"""The headline: baseline, all factors and the best row of each treebank, as means over seeds with intervals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import nan

import pandas as pd

from studies.common.params import Row
from studies.qian_liu_2013.comparison.differences import differences
from studies.qian_liu_2013.comparison.tables import BASELINE
from studies.site import frames
from studies.site.claims.measured import Measured, over_seeds
from studies.site.collect import Results
from studies.site.rows import AT, at, corpora_of, learners_of, main_rows, metrics_of, seeds_of, sweep, whole
from studies.site.show import NOTE

#: systems of this project whose rows may be the best of a treebank, besides the graph-based ones
OTHER_SYSTEMS = ("transition", "sampling")
#: columns of `gains`: the mean over seeds in points, its 95 % interval, and the number of seeds
GAINED = ("difference", "low", "high", "seeds")
#: columns of `headline` for the gain of all factors, and for the gain of the best row
GAIN = ("gain, UAS", "low", "high", "seeds")
BEST_GAIN = ("gain of the best row, UAS", "low, best row", "high, best row", "seeds, best row")
BEST = ("best row", "UAS, best row", *BEST_GAIN)


def contenders(results: Results, corpus: str, learner: str) -> dict[str, Row]:
    """Return the rows among which the best row of a treebank is chosen, by name.

    These are the graph-based rows of the main comparison with this learner. For the first learner, all rows of
    OTHER_SYSTEMS with the tags of the treebank and the seed of the run are added.
    """
    params = results.params
    rows = main_rows(params, learner, corpus)
    if learner == params.learners[0]:
        other_rows = (
            row for row in params.rows_of(corpus) if row.system in OTHER_SYSTEMS and params.plain(corpus, row)
        )
        rows |= {row.name: row for row in other_rows}
    return rows


def accuracies(results: Results, column: str = "uas") -> dict[tuple[str, str], float]:
    """Map (corpus, row) to an accuracy in %, for every row of this project's systems.

    column  column of the metrics with the accuracy, for instance `uas`
    """
    by_row = {place: float(value) for place, value in metrics_of(results)[column].items()}
    for row in frames.of_systems(results, *OTHER_SYSTEMS):
        if not row.get("missing"):
            by_row[row["corpus"], row["row"]] = float(row[column])
    return by_row


def mean_over_seeds(
    results: Results, corpus: str, row: Row, values: Mapping[tuple[str, str], float]
) -> tuple[float, int]:
    """Return the mean of a row's accuracy over its seeds, and the number of seeds (0 if `values` has no accuracy).

    values  result of `accuracies`
    """
    places = (at(corpus, repeat) for repeat in seeds_of(results.params, corpus, row).values())
    known = [values[place] for place in places if place in values]
    return (sum(known) / len(known), len(known)) if known else (nan, 0)


def best(results: Results, corpus: str, learner: str, values: Mapping[tuple[str, str], float]) -> str:
    """Return the name of the row of `contenders` with the highest mean test accuracy, or "" if there is none.

    values  result of `accuracies`
    """
    means = {
        name: mean_over_seeds(results, corpus, row, values)[0]
        for name, row in contenders(results, corpus, learner).items()
    }
    known = {name: mean for name, mean in means.items() if mean == mean}
    return max(known, key=lambda name: known[name], default="")


def highest(results: Results, corpus: str, values: Mapping[tuple[str, str], float]) -> Row | None:
    """Return the row of this project with the highest mean test accuracy on a corpus, or None if there is none.

    The rows have the tags of the corpus and decode the whole test set, with any learner, search and number of
    candidate heads. `best` chooses among fewer rows.

    values  result of `accuracies`
    """
    params, known = results.params, {}
    for row in params.rows_of(corpus):
        own = whole(params, row) if row.system == "graph" else row.system in OTHER_SYSTEMS
        mean = mean_over_seeds(results, corpus, row, values)[0] if own and params.plain(corpus, row) else nan
        if mean == mean:
            known[row] = mean
    return max(known, key=lambda row: known[row], default=None)


def titles(results: Results, corpus: str) -> dict[str, str]:
    """Map the rows of a corpus to the names that pages show: row of params.yaml -> name.

    The main row of a graph-based model has the name of its model. In the names of the other rows of the model, the name
    of the model replaces the words that the names of all its rows begin with. Other parsers keep their names.
    """
    params = results.params
    rows = params.rows_of(corpus)
    of_model: dict[str, list[list[str]]] = {}
    for row in rows:
        if row.system == "graph":
            of_model.setdefault(row.model, []).append(row.name.split("-"))
    names = {}
    for row in rows:
        shared = _shared(of_model.get(row.model, []))
        changed = row.system == "graph" and shared
        names[row.name] = "-".join([row.model, *row.name.split("-")[shared:]]) if changed else row.name
    for model, row in main_rows(params, params.learners[0], corpus).items():
        if model not in names.values():
            names[row.name] = model
    return names


def _shared(names: Sequence[Sequence[str]]) -> int:
    """Count the words that all names begin with; 0 if there are no names."""
    return sum(1 for _ in itertools.takewhile(lambda words: len(set(words)) == 1, zip(*names, strict=False)))


def over_baseline(results: Results, learner: str, rows: Mapping[str, str]) -> dict[str, Measured]:
    """Return, for each corpus, the gain in UAS of one row over the baseline of the same learner, as a mean over seeds.

    `over_seeds` computes the mean of the differences between trainings of the same seed, and its interval. The variance
    between seeds is estimated from all corpora in `rows`, separately for each row. A row therefore has the same
    interval whichever rows the other corpora have.

    rows  corpus -> name of the row
    """
    chosen = [row for row in dict.fromkeys(rows.values()) if row not in ("", BASELINE)]
    data = differences(results, [("UAS", row, BASELINE) for row in chosen], wanted=list(rows)).reset_index()
    data = data[data["learner"] == learner]
    gains: dict[str, Measured] = {}
    for row, of_row in data.groupby("row", sort=False):
        by_seed = of_row.groupby("corpus", sort=False)[["difference", "low", "high"]]
        measured = over_seeds([(str(corpus), values.to_numpy(float)) for corpus, values in by_seed])
        gains |= {gain.place: gain for gain in measured if rows[gain.place] == row}
    return gains


def gains(results: Sequence[Results], wanted: Sequence[str] = (), models: Sequence[str] = ()) -> pd.DataFrame:
    """Return the gains of models over the baseline. Rows: (run, corpus, learner, system). Columns: GAINED.

    models  names of the models; empty means the model with all factors
    """
    keep = corpora_of(results, wanted)
    rows = {}
    for r in results:
        for learner, model in itertools.product(learners_of(r.params), models or [sweep(r.params)[0].model]):
            for corpus, gain in over_baseline(r, learner, dict.fromkeys(keep[r.name], model)).items():
                rows[r.name, corpus, learner, model] = (gain.value, gain.low, gain.high, gain.seeds)
    names = ["run", "corpus", "learner", "system"]
    index = pd.MultiIndex.from_tuples(list(rows) or [("", "", "", "")], names=names)[: len(rows)]
    return pd.DataFrame(list(rows.values()), index=index, columns=list(GAINED))


def headline(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the headline of each run, corpus and learner: accuracies, gains, speed and proofs.

    Accuracies and gains are means over seeds. A gain compares trainings of the same seed: columns GAIN (all factors)
    and BEST (the row with the highest UAS; the choice is made on the test set itself). Speed (NaN if it was not timed),
    proofs and DP calls belong to the model with all factors and the seed of the run. LAS is left out if no row has
    labels.
    """
    keep = corpora_of(results, wanted)
    rows = []
    for r in results:
        data = frames.decode(r).merge(frames.benchmark(r)[[*AT, "words_per_cpu_s"]], on=AT, how="left").set_index(AT)
        uas, las = accuracies(r), accuracies(r, "las")
        all_factors = sweep(r.params)[0].model
        learners = [name for name in r.params.learners if all_factors in main_rows(r.params, name)]
        chosen = {name: {corpus: best(r, corpus, name, uas) for corpus in keep[r.name]} for name in learners}
        gained = {name: over_baseline(r, name, dict.fromkeys(keep[r.name], all_factors)) for name in learners}
        gained_best = {name: over_baseline(r, name, chosen[name]) for name in learners}
        for corpus, learner in itertools.product(keep[r.name], learners):
            runs = contenders(r, corpus, learner)
            metrics = data.loc[at(corpus, runs[all_factors])]
            mean = {name: mean_over_seeds(r, corpus, run, uas)[0] for name, run in runs.items()}
            rows.append(
                {
                    "": r.name,
                    "corpus": corpus,
                    "learner": learner,
                    "UAS, Carreras": mean.get(BASELINE, nan),
                    "UAS, all factors": mean[all_factors],
                    **_gained(gained[learner].get(corpus), GAIN),
                    "best row": chosen[learner][corpus],
                    "UAS, best row": mean[chosen[learner][corpus]],
                    **_gained(gained_best[learner].get(corpus), BEST_GAIN),
                    "LAS, all factors": mean_over_seeds(r, corpus, runs[all_factors], las)[0],
                    "words per CPU second": metrics["words_per_cpu_s"],
                    "proved optimal, %": 100 * metrics["certified"] / metrics["sentences"],
                    "DP calls per sentence": metrics["dp_calls"] / metrics["sentences"],
                }
            )
    table = pd.DataFrame(rows).set_index(["", "corpus", "learner"])
    return table if table["LAS, all factors"].notna().any() else table.drop(columns="LAS, all factors")


def gain_table(data: pd.DataFrame) -> pd.DataFrame:
    """Return the gains of `headline`, with a note on every line whose best row has no gain."""
    without, itself = data["seeds, best row"] == 0, data["best row"] == BASELINE
    reasons = itself.map({True: "the best row is Carreras itself", False: "Carreras was not trained with these seeds"})
    return data[[*GAIN, *BEST_GAIN]].assign(**{NOTE: reasons.where(without, "")})


def _gained(gain: Measured | None, names: Sequence[str]) -> dict[str, float]:
    """Return a measured gain under four column names: value, low, high and number of seeds."""
    values = (nan, nan, nan, 0) if gain is None else (gain.value, gain.low, gain.high, gain.seeds)
    return dict(zip(names, values, strict=True))
