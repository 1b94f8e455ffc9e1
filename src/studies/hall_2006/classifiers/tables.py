"""Tables that compare learners of transitions: accuracy, training time, speed and significance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.hall_2006.classifiers.settings import Classifiers
from studies.site.collect import Results

LEVEL = 0.01  #: significance level of McNemar's test, as in the paper
SVM, MBL = "SVM", "MBL"  #: names of the two learners of the paper: support vector machines, memory-based learning
#: name of a learner in params.yaml -> its name in tables and figures; other learners keep their names
NAMES = {"quadratic": SVM, "memory": MBL, "branching": "branching SVM", "linear": "linear SVM"}

#: name of a setting -> its name in the paper, for settings that have another name there
IN_PAPER = {"svm_cost": "C", "neighbours": "k", "rare": "l"}


def cells(results: Results) -> pd.DataFrame:
    """Return the results of the stage `classifiers`, one row per corpus and cell (one training and its test).

    Columns: section, features, learner, share, accuracy and CPU seconds. `trainings` lists the CPU seconds of each
    training; it is NaN in older runs, which timed only one training. `missing` names a package that was not installed.
    The table is empty if the run lists no corpus.
    """
    rows = []
    for corpus in results.params.section(Classifiers).corpora:
        seconds = results.read("timing", "classifiers", f"{corpus}.json")
        figures = results.read("classifiers", f"{corpus}.json")["rows"]
        rows += [{"corpus": corpus, "missing": "", **a, **b} for a, b in zip(figures, seconds, strict=True)]
    names = ["corpus", "section", "features", "learner", "share", "missing", "uas", "las", "complete"]
    more = ["complete_labelled", "words", "sentences", "trained_words", "train_cpu_s", "parse_cpu_s", "trainings"]
    return pd.DataFrame(rows, columns=[*names, *more])


def tests(results: Results) -> pd.DataFrame:
    """Return the stored comparisons of two cells, one row per corpus and pair (see `measure.compared`).

    The columns difference, low and high are NaN in older runs, which did not store them.
    """
    rows = [
        {"corpus": corpus, **test}
        for corpus in results.params.section(Classifiers).corpora
        for test in results.read("classifiers", f"{corpus}.json")["tests"]
    ]
    names = ["corpus", "a", "b", "scored", "only_a", "only_b", "p", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=names)


def trainings(rows: pd.DataFrame) -> np.ndarray:
    """Return float64[n]: the CPU seconds of each of n trainings, summed over the sections.

    n is 1 if the run timed only one training.

    rows  rows of `cells` for one learner and feature model, one per section
    """
    if rows["trainings"].map(lambda seconds: isinstance(seconds, list)).all():
        return np.sum(np.array(rows["trainings"].tolist(), float), axis=0)
    return np.array([rows["train_cpu_s"].sum()], float)


def chosen(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the parameters that the search chose for each learner, with the size of the search.

    Rows: (run, corpus, learner). `points` counts the points of the grid. UAS and LAS are measured for the chosen point
    on the development sentences. The table is empty if no run searched.
    """
    rows = {}
    for r in results:
        for corpus in r.params.section(Classifiers).corpora:
            metrics = r.read("classifiers", f"{corpus}.json")
            if (wanted and corpus not in wanted) or not metrics.get("chosen"):
                continue
            search = metrics["search"]
            for learner, point in metrics["chosen"].items():
                entries = [entry for entry in search["points"] if entry["learner"] == learner]
                last = [entry for entry in entries if entry["round"] == entries[-1]["round"]]
                top = next(entry for entry in last if all(entry[name] == value for name, value in point.items()))
                rows[r.name, corpus, NAMES.get(learner, learner)] = {
                    "parameters": ", ".join(f"{IN_PAPER.get(name, name)} {value:g}" for name, value in point.items()),
                    "points": sum(entry["round"] == 1 for entry in entries),
                    "features": search["features"],
                    "training sentences": search["train"]["sentences"],
                    "dev sentences": search["dev"]["sentences"],
                    "dev UAS": top["uas"],
                    "dev LAS": top["las"],
                }
    if not rows:
        return pd.DataFrame()
    return pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(rows, names=["run", "corpus", "learner"]))


def summed(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Sum the cells over all sections, one row per run, corpus, feature model, learner and share.

    Accuracies are means weighted by words, and seconds are sums. Learners have the names NAMES. Further columns are
    tags (gold or predicted), tested (a description of the test sentences) and trainings (number of timed trainings).
    """
    parts = []
    for r in results:
        data = cells(r)
        data = data[data["corpus"].isin(wanted or set(data["corpus"]))]
        for key, group in data.groupby(["corpus", "features", "learner", "share"], sort=False):
            package, weights = group["missing"].max(), group["words"].to_numpy(float)
            mean = lambda name, group=group, w=weights: float(np.average(group[name].astype(float), weights=w))  # noqa: E731
            names = ("uas", "las", "complete", "complete_labelled")
            figures = dict.fromkeys(names, float("nan")) if package else {name: mean(name) for name in names}
            added = {
                name: float(group[name].sum()) for name in ("words", "trained_words", "train_cpu_s", "parse_cpu_s")
            }
            parts.append(dict(zip(("corpus", "features", "learner", "share"), key, strict=True)) | figures | added)
            parts[-1]["learner"] = NAMES.get(str(key[2]), key[2])
            parts[-1] |= {
                "run": r.name,
                "missing": package,
                "sections": len(group),
                "trainings": len(trainings(group)),
            }
            parts[-1] |= {"tags": r.params.tags_of(str(key[0])), "tested": _tested(group)}
    return pd.DataFrame(parts, columns=None if parts else ["run", "corpus", "features", "learner", "share", "missing"])


def _tested(rows: pd.DataFrame) -> str:
    """Describe in words the sentences on which some cells are tested. rows: rows of `cells`."""
    sections = sorted(rows["section"])
    count = f"{int(rows['sentences'].sum()):,} sentences" if rows["sentences"].notna().all() else "sentences"
    if sections == [-1]:
        return f"{count} of the test split"
    return f"{count} of section{'s' * (len(sections) > 1)} {', '.join(map(str, sections))} of ten sections"


def table(data: pd.DataFrame) -> pd.DataFrame:
    """Return the table of Hall et al. (2006): attachment scores, exact match, training time and speed. data: `summed`.

    AS is the attachment score and EM the share of sentences without an error; U is unlabelled and L is labelled.
    """
    if not len(data):
        return data
    data = data[data["share"] == 100].set_index(["run", "corpus", "features", "learner"])
    names = {"uas": "AS_U", "las": "AS_L", "complete": "EM_U", "complete_labelled": "EM_L"}
    out = data[list(names)].rename(columns=names)
    out["training, CPU s"] = data["train_cpu_s"]
    out["words / CPU s"] = data["words"] / data["parse_cpu_s"].where(data["parse_cpu_s"] > 0)
    out[""] = [f"{package} not installed" if package else "" for package in data["missing"]]
    return out if data["missing"].any() else out.drop(columns="")


def significance(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the difference in UAS between every two learners with the same features, its interval and its p-value.

    Rows: (run, corpus, features, first, second). The difference is the UAS of the first learner minus the UAS of the
    second, with an interval over sentences. Columns `only first` and `only second` count the words that only one
    learner attaches correctly, and p comes from McNemar's test. `better` names the learner that is significantly better
    at the level `LEVEL`.
    """
    rows = []
    for r in results:
        data = tests(r)
        for test in data[data["corpus"].isin(wanted or set(data["corpus"]))].itertuples():
            (first, features), (second, second_features) = str(test.a).split(), str(test.b).split()
            first, second = NAMES.get(first, first), NAMES.get(second, second)
            if features == second_features:
                better = first if test.only_a > test.only_b else second
                key = {"run": r.name, "corpus": test.corpus, "features": features, "first": first, "second": second}
                counts = {name: getattr(test, name) for name in ("difference", "low", "high")}
                if np.isnan(test.difference):
                    counts["difference"] = 100 * (test.only_a - test.only_b) / test.scored
                counts |= {"only first": test.only_a, "only second": test.only_b, "p": test.p}
                rows.append(key | counts | {"better": better if test.p < LEVEL else "–"})
    keys = ["run", "corpus", "features", "first", "second"]
    names = ["difference", "low", "high", "only first", "only second", "p", "better"]
    return pd.DataFrame(rows, columns=[*keys, *names]).set_index(keys)


def duel(data: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Compare memory-based learning with support vector machines, with the richest features of each corpus.

    Rows: (run, corpus, features). Columns: UAS (%), CPU seconds of training and words per CPU second of both learners;
    the number of timed trainings of each learner; and the UAS of SVM minus the UAS of MBL with its interval (INTERVAL)
    and p of McNemar's test, if the two were tested. Corpora without both learners are left out.

    data   result of `summed`; only cells with the whole training set count
    tests  result of `significance`
    """
    whole, lines = data[(data["share"] == 100) & (data["missing"] == "")], {}
    for key, rows in whole.groupby(["run", "corpus"], sort=False):
        features = str(rows["features"].iloc[-1])
        last = rows[rows["features"] == features].set_index("learner")
        if not {SVM, MBL} <= set(last.index):
            continue
        line = {f"{title}, {name}": last.loc[name, column] for title, column in _DUEL.items() for name in (SVM, MBL)}
        line["trainings"] = int(last.loc[[SVM, MBL], "trainings"].min())
        line |= {
            f"words / CPU s, {name}": last.loc[name, "words"] / last.loc[name, "parse_cpu_s"] for name in (SVM, MBL)
        }
        for pair, sign in (((SVM, MBL), 1), ((MBL, SVM), -1)):
            if (*key, features, *pair) in tests.index:
                test = tests.loc[(*key, features, *pair)]
                ends = sorted(sign * test[name] for name in ("low", "high"))
                line |= {"SVM minus MBL, UAS": sign * test["difference"], **dict(zip(INTERVAL, ends, strict=True))}
                line |= {"p": test["p"]}
        lines[(*key, features)] = line
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "", "")], names=["run", "corpus", "features"])[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)


#: columns of `best` about training times
TIMES = ["fastest training", "fastest, CPU s", "slowest training", "slowest, CPU s", "trainings"]
INTERVAL = ["low", "high"]  #: columns of `duel`: ends of the 95 % interval of the difference in UAS
_DUEL = {"UAS": "uas", "training, CPU s": "train_cpu_s"}  #: heading -> column of `summed`


def best(data: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Return the learner and the feature model with the highest UAS of each corpus, one row per run and corpus.

    data   result of `summed`; only cells with the whole training set count
    tests  result of `significance`

    Columns: tags, tested sentences, best learner, features and UAS (%). `other learners` counts the learners that are
    tested with the same features, and `significantly worse` counts those that the best learner beats at `LEVEL`. The
    last columns name the learners with the shortest and the longest training on these features, with their CPU seconds,
    and the number of trainings.
    """
    whole, lines = data[(data["share"] == 100) & (data["missing"] == "")], {}
    for key, rows in whole.groupby(["run", "corpus"], sort=False):
        row = rows.loc[rows["uas"].idxmax()]
        seconds = rows[rows["features"] == row["features"]].set_index("learner")["train_cpu_s"]
        pairs = [pair for pair in tests.index if pair[:3] == (*key, row["features"]) and row["learner"] in pair[3:]]
        lines[key] = {
            "tags": row["tags"],
            "tested on": row["tested"],
            "best learner": row["learner"],
            "features": row["features"],
            "UAS": row["uas"],
            "other learners": len(pairs),
            "significantly worse": int((tests.loc[pairs, "better"] == row["learner"]).sum()),
            "fastest training": seconds.idxmin(),
            "fastest, CPU s": seconds.min(),
            "slowest training": seconds.idxmax(),
            "slowest, CPU s": seconds.max(),
            "trainings": int(rows.loc[rows["features"] == row["features"], "trainings"].min()),
        }
    index = pd.MultiIndex.from_tuples(list(lines) or [("", "")], names=["run", "corpus"])[: len(lines)]
    return pd.DataFrame(list(lines.values()), index=index)
