"""Tables of gains over the baseline on many treebanks, from the reference's run on more corpora."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress

import pandas as pd

from studies.qian_liu_2013.comparison.headline import accuracies, mean_over_seeds, over_baseline
from studies.qian_liu_2013.comparison.remarks import against
from studies.qian_liu_2013.comparison.repeats import FIGURES
from studies.qian_liu_2013.comparison.tables import AGAINST, BASELINE
from studies.site import frames
from studies.site.collect import Results
from studies.site.pooled import pool, variance
from studies.site.rows import at, learners_of, main_rows, metrics_of, sweep
from studies.site.sentences import seeds_in_words
from studies.site.show import NOTE, NOTHING, typeset
from treebound.core.errors import InputError

CROSSING = "non-projective"  #: the system whose trees may cross
#: note of a corpus on which no system has a LAS
UNLABELLED = "not every word of the treebank has a label, so the systems predict heads alone and have no LAS"


def multilingual(results: Results | None) -> pd.DataFrame:
    """Return the systems of a run over many corpora. Rows: (language, corpus). Empty if there is no run.

    Columns of a treebank: the number of test sentences, and the share with crossing arcs (%). Columns of every system:
    UAS and LAS (%, means over seeds); the share of sentences (%) proved optimal with the seed of the run; and the gain
    in UAS over the baseline with its 95 % interval and number of seeds (`headline.over_baseline`). `attrs["learner"]`
    names the learner.
    """
    if results is None:
        return pd.DataFrame()
    data, converted = metrics_of(results), frames.convert(results)
    sources, test = converted.attrs["sources"], converted[converted["split"] == "test"].set_index("corpus")
    learner = results.params.learners[0]
    values = {name: accuracies(results, column) for name, column in FIGURES.items()}
    of_corpus = {corpus: main_rows(results.params, learner, corpus) for corpus in results.corpora}
    systems = dict.fromkeys(model for runs in of_corpus.values() for model in runs if model != BASELINE)
    gained = {
        model: over_baseline(results, learner, {corpus: model for corpus, runs in of_corpus.items() if model in runs})
        for model in systems
    }
    rows = {}
    for corpus, runs in of_corpus.items():
        counted = test.loc[corpus]
        share = 100 * counted["nonprojective_sentences"] / counted["sentences"]
        row: dict[tuple[str, str], float] = {("", "sentences"): int(counted["sentences"]), ("", "crossing, %"): share}
        for name in FIGURES:
            for model, run in runs.items():
                row[name, model] = mean_over_seeds(results, corpus, run, values[name])[0]
        for model, run in runs.items():
            metrics = data.loc[at(corpus, run)]
            row["proved optimal, %", model] = 100 * float(metrics["certified"]) / float(metrics["sentences"])
        for model in runs:
            if gain := gained.get(model, {}).get(corpus):
                group = model + AGAINST
                row |= {(group, "UAS"): gain.value, (group, "low"): gain.low, (group, "high"): gain.high}
                row[group, "seeds"] = gain.seeds
        rows[sources[corpus]["language"], corpus] = row
    index = pd.MultiIndex.from_tuples(list(rows), names=["language", "corpus"])
    columns = dict.fromkeys(column for row in rows.values() for column in row)
    table = pd.DataFrame(list(rows.values()), index=index, columns=pd.MultiIndex.from_tuples(columns))
    table.attrs["learner"] = learner
    return table


def gained(data: pd.DataFrame) -> pd.DataFrame:
    """Return the gains over the baseline of `multilingual` as text, with their intervals. Rows: corpora.

    There is one column per system. Its name has the number of seeds, unless that varies between corpora.
    """
    if data.empty:
        return data
    table = data[[("", "crossing, %")]].droplevel(0, axis=1).droplevel("language")
    for system, rows in against(data):
        ends = " [" + rows["low"].map("{:+.2f}".format) + ", " + rows["high"].map("{:+.2f}".format) + "]"
        texts = rows["difference"].map("{:+.2f}".format) + ends
        equal = rows["seeds"].nunique() == 1
        texts += "" if equal else " (" + rows["seeds"].map("{:.0f}".format) + ")"
        texts = texts.str.replace(" ", "\u00a0")  # an interval does not break
        name = f"{system} ({rows['seeds'].iloc[0]:.0f})" if equal else system
        table[name] = texts.map(typeset).droplevel("language").reindex(table.index).fillna(NOTHING)
    return table


def of_systems(data: pd.DataFrame, *groups: str) -> pd.DataFrame:
    """Return some groups of columns of `multilingual`, which may have no rows."""
    return data[list(groups)] if len(data) else data


def labelled(data: pd.DataFrame) -> pd.DataFrame:
    """Return LAS and the shares of proved trees of `multilingual`, which may have no rows. Rows: corpora.

    A corpus on which no system has a LAS has a note. The trainers leave out labels if some words have none.
    """
    if data.empty:
        return data
    table = data[["LAS", "proved optimal, %"]].droplevel("language")
    unlabelled = table["LAS"].isna().all(axis=1)
    notes = [UNLABELLED if missing else "" for missing in unlabelled]
    return table.join(pd.DataFrame({("", NOTE): notes}, table.index))


def pooled(data: pd.DataFrame) -> pd.DataFrame:
    """Return the mean gain over the baseline of each system with tested gains. Rows: systems.

    Columns: the mean with its 95 % interval over treebanks; the smallest and the largest mean if one language is left
    out; how many trainings each gain has; and the numbers of corpora, of corpora whose own interval is above 0, and of
    corpora whose interval is below 0.

    data  `multilingual`, which may have no rows
    """
    rows = {}
    for system, gained in against(data):
        values, languages = gained["difference"].astype(float), gained.index.get_level_values("language")
        without = [values[languages != name].mean() for name in languages.unique()] if languages.nunique() > 1 else []
        mean = pool(values, variance(gained["low"], gained["high"]).astype(float)).mean if len(values) > 1 else None
        rows[system] = {
            "mean": values.mean(),
            "low": float(mean.low) if mean is not None else float("nan"),
            "high": float(mean.high) if mean is not None else float("nan"),
            "lowest mean without one language": min(without, default=float("nan")),
            "highest": max(without, default=float("nan")),
            "trainings": seeds_in_words(gained["seeds"].droplevel("language")),
            "corpora": len(values),
            "above 0": int((gained["low"] > 0).sum()),
            "below 0": int((gained["high"] < 0).sum()),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("system")


def limit(results: Results | None) -> int:
    """Return the largest number of tree-oracle calls of a sentence over trees that may cross; 0 means no limit."""
    if results is None:
        return 0
    runs = (main_rows(results.params, results.params.learners[0], corpus) for corpus in results.corpora)
    decoders = {rows[CROSSING].decoder for rows in runs if CROSSING in rows}
    return max((results.params.decoders[name].max_dp_calls or 0 for name in decoders if name), default=0)


#: systems that `pictured` shows, besides the system that is decoded with every k
PICTURED = ("combined", CROSSING)


def pictured(results: Results, more: Results | None, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the data of the figure of gains over the baseline: with all factors, and with arcs that may cross.

    The figure is `site.charts.gains`. The systems are PICTURED and the system that is decoded with every k. Gains are
    means over seeds with their intervals, on every corpus of a run and of another run over more corpora. Columns:
    corpus, system, difference, low, high.
    """
    lines = []
    for run in (results, more):
        if run is None:
            continue
        models = list(PICTURED)
        with suppress(InputError):  # a run without a sweep over k adds no model
            models.append(sweep(run.params)[0].model)
        corpora = [corpus for corpus in run.corpora if run is more or not wanted or corpus in wanted]
        for model, learner in itertools.product(dict.fromkeys(models), learners_of(run.params)):
            gained = over_baseline(run, learner, dict.fromkeys(corpora, model))
            lines += [(c, f"{model}, {learner}", gain.value, gain.low, gain.high) for c, gain in gained.items()]
    data = pd.DataFrame(lines, columns=["corpus", "system", "difference", "low", "high"])
    order = {corpus: i for i, corpus in enumerate(c for run in (results, more) if run for c in run.corpora)}
    return data.sort_values("corpus", key=lambda names: names.map(order), kind="stable").reset_index(drop=True)
